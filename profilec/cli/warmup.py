"""`profilec warmup`: compiles all kernels now, so that nobody waits for them later."""

from __future__ import annotations

import typer

from profilec.cli import terminal


def warmup() -> None:
    """Compile all kernels and keep their machine code, for instance while a container's image is built."""
    from profilec.warm import warmup as warm

    directory, seconds, n_compiled = warm()
    done = f"{n_compiled} kernels compiled in {seconds:.1f} s" if n_compiled else "all kernels were compiled already"
    if directory is None:
        hint = "name a directory that can be written to, and has room, with NUMBA_CACHE_DIR"
        terminal.say(f"error: {done}, and could not be kept; {hint}", "red")
        raise typer.Exit(terminal.FINDINGS)
    print(f"{done}; kept in {directory}")
