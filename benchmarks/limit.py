"""Runs with a limit on their time."""

import multiprocessing
import traceback

from benchmarks.data.cache import MissingData


def limited(seconds, run, *arguments):
    """``run(*arguments)``, a dictionary, from a process of its own.

    Where there is none to return it is ``{"stopped": seconds}`` or ``{"error": message}``. A
    process, because compiled loops such as LIBSVM's do not listen to anything else. A data set that
    is missing ends this process, too.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, run, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds):
            return {"stopped": seconds}
        found = receiver.recv()
    except EOFError:
        process.join()
        return {"error": f"the process ended with code {process.exitcode}"}
    finally:
        process.kill()
        process.join()
        receiver.close()
    if isinstance(found, MissingData):
        raise found
    return found


def _send(sender, run, arguments):
    try:
        sender.send(run(*arguments))
    except MissingData as missing:
        sender.send(missing)
    except Exception as error:  # whatever it is goes into the results, and the next run begins
        traceback.print_exc()
        sender.send({"error": f"{type(error).__name__}: {error}"})
