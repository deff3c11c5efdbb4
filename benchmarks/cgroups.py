"""Control groups, which limit what processes may use; to make one takes root on Linux."""

import os
from contextlib import contextmanager
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")


@contextmanager
def control_group(controller, first, second):
    """Context with the file that takes the processes of a new group; None where none can be made.

    `first` and `second` are the limits by file name, in the two versions of control groups.
    """
    version_1 = (CGROUPS / controller).is_dir()
    group = (CGROUPS / controller if version_1 else CGROUPS) / f"hssvm-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        for file, limit in (first if version_1 else second).items():
            (group / file).write_text(str(limit))
        yield group / "cgroup.procs"
    finally:
        group.rmdir()
