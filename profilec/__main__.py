"""`python -m profilec` is the command `profilec`."""

from profilec.cli.app import main

main()
