"""What happens to a file, link, device or folder that has the name of the new file."""

import os
import signal
import socket
import stat
import subprocess
import sys

import numpy as np
import pytest
from helpers.platforms import posix
from numpy.testing import assert_array_equal

import hssvm
from hssvm import HSS
from hssvm.persistence import replace
from hssvm.persistence.replace import replacing


@pytest.fixture(params=["unnamed", "named"], autouse=True)
def way(request, monkeypatch, tmp_path):
    """Both kinds of file that may be written to first."""
    if request.param == "named":
        monkeypatch.setattr(replace, "_open_unnamed", lambda *args: None)
    elif (unnamed := replace._open_unnamed(tmp_path, 0o600)) is None:
        pytest.skip("there are no files without a name here")
    else:
        unnamed.close()
    return request.param


def put(path, content=b"new"):
    with replacing(path) as file:
        file.write(content)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o660, 0o777])
def test_a_file_keeps_its_mode_and_owner(mode, tmp_path, umask):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 1234, 5678)
    before = path.stat()
    with replacing(path) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode  # no moment with another
        file.write(b"new")
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode, before.st_uid, before.st_gid
    )  # fmt: skip
    assert names(tmp_path) == ["a"]


@posix
def test_a_new_file_respects_the_umask(tmp_path, umask):
    put(tmp_path / "a")
    assert mode_of(tmp_path / "a") == 0o666 & ~umask


@posix
def test_an_owner_that_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    def refuse(*args):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    put(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert mode_of(tmp_path / "a") == 0o640


@posix
@pytest.mark.parametrize("exists", [True, False])
def test_links_are_followed(exists, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if exists:
        (elsewhere / "a").write_bytes(b"old")
        (elsewhere / "a").chmod(0o600)
    (tmp_path / "second").symlink_to(elsewhere / "a")
    (tmp_path / "first").symlink_to("second")
    put(tmp_path / "first")
    assert (tmp_path / "first").is_symlink() and (tmp_path / "second").is_symlink()
    assert (elsewhere / "a").read_bytes() == b"new"
    assert names(elsewhere) == ["a"] and names(tmp_path) == ["elsewhere", "first", "second"]
    assert not exists or mode_of(elsewhere / "a") == 0o600


@posix
def test_a_loop_of_links_is_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError):
        put(tmp_path / "a")
    assert names(tmp_path) == ["a", "b"]


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def make_null(path):
    try:  # never /dev/null itself: root could replace it
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        pytest.skip("only root makes devices")


@posix
@pytest.mark.parametrize(
    "make", [make_fifo, make_socket, make_null], ids=["fifo", "socket", "device"]
)
@pytest.mark.parametrize("linked", [False, True])
def test_other_nodes_are_refused(make, linked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # paths of sockets are short
    make("a")
    kind = stat.S_IFMT((tmp_path / "a").stat().st_mode)
    path = tmp_path / "a"
    if linked:
        path = tmp_path / "link"
        path.symlink_to("a")
    with pytest.raises(OSError, match=f"{path.name} is a device, pipe or socket; pass the name"):
        put(path)
    assert stat.S_IFMT((tmp_path / "a").stat().st_mode) == kind
    assert names(tmp_path) == (["a", "link"] if linked else ["a"])


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError, match="a is a folder; pass the name of a file"):
        put(tmp_path / "a")
    assert names(tmp_path) == ["a"]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="a is not a folder"):
        put(tmp_path / "a" / "b")


def test_a_write_protected_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *args: False)  # root may write anything
    with pytest.raises(PermissionError, match="a is write-protected"):
        put(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"old"


SAVE = """
import sys, time
import numpy as np
import hssvm

real = np.lib.format.write_array

def slow(file, array, **options):
    real(file, array, **options)
    print("writing", flush=True)
    time.sleep(60)

np.lib.format.write_array = slow
hssvm.load(sys.argv[1]).save(sys.argv[2])
"""


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_a_process_that_is_killed_leaves_nothing(name, before, way, tmp_path, rng):
    if way == "named":
        pytest.skip("a killed process cannot remove what has a name")
    X = rng.standard_normal((3000, 2))
    model = hssvm.SVC(approximation=HSS(), tol=0.1, random_state=0).fit(X, np.hypot(*X.T) < 1)
    model.save(tmp_path / "model")
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "a"
    if before is not None:
        path.write_bytes(before)
    command = [sys.executable, "-c", SAVE, tmp_path / "model", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"writing\n"
        number = getattr(signal, name)
        process.send_signal(number)
        assert process.wait(timeout=30) == -number
    assert names(folder) == ([] if before is None else ["a"])
    assert before is None or path.read_bytes() == before
    model.save(path)
    assert_array_equal(hssvm.load(path).predict(X), model.predict(X))
