import threading

from threadpoolctl import ThreadpoolController

from hssvm._threads import serial_blas


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
