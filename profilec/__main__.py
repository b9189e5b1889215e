"""The command `profilec`, installed or as `python -m profilec`, from its first import on.

Invariant: an interrupt ends it with status 130 and without a traceback, even while it is still being imported.
"""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command line of this process, and ends it with its status."""
    try:
        from profilec.cli.app import main as run

        run()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
