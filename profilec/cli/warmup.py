"""`profilec warmup`: compiles all kernels now, so that nobody waits for them later."""

from __future__ import annotations

from profilec.cli import terminal


def warmup() -> None:
    """Compile all kernels and keep their machine code, for instance while a container's image is built."""
    from profilec.warm import warmup as warm

    directory, seconds, n_compiled = warm()
    if directory is None:
        terminal.stop("the kernels cannot be kept: name a directory that can be written to with NUMBA_CACHE_DIR")
    done = f"{n_compiled} kernels compiled in {seconds:.1f} s" if n_compiled else "all kernels were compiled already"
    print(f"{done}; kept in {directory}")
