import sys
import threading

import pytest
from threadpoolctl import ThreadpoolController

from hssvm import _threads
from hssvm._threads import serial_blas


@pytest.fixture(autouse=True)
def known_blas():
    if not blas_threads():
        pytest.skip("threadpoolctl does not know this BLAS, such as Accelerate of macOS")


def blas_threads():
    libraries = ThreadpoolController().select(user_api="blas").info()
    return {library["num_threads"] for library in libraries}


def test_the_last_one_out_restores_the_blas_threads():
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        assert blas_threads() == {2}
        entered, leave = threading.Event(), threading.Event()

        def other():
            with serial_blas():
                entered.set()
                leave.wait(10)

        thread = threading.Thread(target=other)
        with serial_blas():
            thread.start()
            assert entered.wait(10)
            assert blas_threads() == {1}
        assert blas_threads() == {1}  # the other thread is still inside
        leave.set()
        thread.join()
        assert blas_threads() == {2}


def interrupted_at(step):
    """Run a shared setting, with an interrupt before the line `step` of it; whether it came."""
    lines = 0

    def trace(frame, event, _):
        nonlocal lines
        if frame.f_code.co_filename != _threads.__file__:
            return None
        if event == "line":
            lines += 1
            if lines == step:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with serial_blas():
            pass
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_at_any_line_restores_the_blas_threads(monkeypatch):
    # One of its own: between the end of a block and the release of its lock no signal is handled,
    # but a trace can raise there, and the lock would stay taken for later tests.
    monkeypatch.setattr(_threads, "_serial", _threads.SharedSetting())
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        step = 1
        while interrupted_at(step):
            assert blas_threads() == {2}, f"interrupted at line {step}"
            with serial_blas():
                assert blas_threads() == {1}
            assert blas_threads() == {2}
            step += 1
        assert step > 10
