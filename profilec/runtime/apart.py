"""Calling kernels that return arrays.

Numba makes an array for Python by calling Python, and does not look whether that raised. In the main thread it may: the
handler of a signal that came meanwhile, as Ctrl-C's, runs there. The process then ends with a segmentation fault.
Kernels that return numbers, and write into arrays that they are given, need none of this.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread, current_thread, main_thread
from types import FunctionType
from typing import Any


def apart(kernel: Callable[..., Any], *arguments: Any) -> Any:
    """What a kernel returns, called in a thread that no signal's handler runs in.

    An interrupt leaves the kernel to end by itself; its result is lost.
    """
    if current_thread() is not main_thread() or isinstance(kernel, FunctionType):  # not compiled
        return kernel(*arguments)
    returned: list[Any] = []
    raised: list[BaseException] = []

    def call() -> None:
        try:
            returned.append(kernel(*arguments))
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=call, name="profilec kernel", daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return returned[0]
