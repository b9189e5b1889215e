"""`profilec warmup`: compiles all kernels now, so that nobody waits for them later."""

from __future__ import annotations


def warmup() -> None:
    """Compile all kernels and keep their machine code, for instance while a container's image is built."""
    from profilec.warm import warmup as warm

    directory, seconds = warm()
    print(
        f"kernels compiled in {seconds:.1f} s, kept in {directory}"
        if directory
        else f"compiled in {seconds:.1f} s, not kept"
    )
