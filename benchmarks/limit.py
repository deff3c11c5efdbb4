"""Runs with a limit on their time."""

import multiprocessing
import traceback


def limited(seconds, run, *arguments):
    """``run(*arguments)``, a dictionary, from a process of its own.

    Where there is none to return it is ``{"stopped": seconds}`` or ``{"error": message}``. A
    process, because compiled loops such as LIBSVM's do not listen to anything else.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, run, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return {"stopped": seconds}
        return receiver.recv()
    except EOFError:
        process.join()
        return {"error": f"the process ended with code {process.exitcode}"}
    finally:
        process.kill()
        process.join()
        receiver.close()


def _send(sender, run, arguments):
    try:
        sender.send(run(*arguments))
    except Exception as error:  # whatever it is goes into the results, and the next run begins
        traceback.print_exc()
        sender.send({"error": f"{type(error).__name__}: {error}"})
