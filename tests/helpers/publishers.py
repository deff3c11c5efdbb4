"""A server that stands in for the publishers of data sets, and files as they publish them."""

import bz2
import gzip
import io
import struct
import threading
import zipfile
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file

from benchmarks.data.formats import delimited, idx, libsvm


def publish(folder, parts, rows):
    """Write the files of all parts of a set; `rows` are X and y of each, labels as published."""
    for part, (X, y) in zip(parts, rows, strict=True):
        for file, content in zip(part.files, contents(part, X, y), strict=True):
            path = folder / file.url.partition("//")[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            if file.member:
                with zipfile.ZipFile(path, "a") as archive:
                    archive.writestr(file.member, packed(file.member, content))
            else:
                path.write_bytes(packed(path.name, content))


def packed(name, content):
    if name.endswith(".gz"):
        return gzip.compress(content, 1)
    return bz2.compress(content, 1) if name.endswith(".bz2") else content


def contents(part, X, y):
    """Unpacked content of every file of a part."""
    reader = getattr(part.reader, "func", part.reader)
    options = getattr(part.reader, "keywords", {})
    make = {libsvm: text, delimited: table, idx: images, None: pmlb}[reader]
    return make(X, y, options)


def text(X, y, options):
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=False)
    return [file.getvalue()]


def table(X, y, options):
    """Numbers with as many digits as they need, and a first line if the reader skips one."""
    target = options.get("target", -1) % (X.shape[1] + 1)
    columns = np.insert(X.astype(np.float64), target, y, axis=1)
    separator = options.get("delimiter") or " "
    head = options.get("header", 0) * "names of columns\n"
    rows = "\n".join(separator.join(f"{v:.9g}" for v in row) for row in columns.tolist())
    return [(head + rows + "\n").encode()]


def images(X, y, options):
    """X in 0...1."""
    side = round(X.shape[1] ** 0.5)
    pixels, labels = np.rint(255 * X).astype(np.uint8), y.astype(np.uint8)
    return [
        struct.pack(">4I", 0x803, len(y), side, side) + pixels.tobytes(),
        struct.pack(">2I", 0x801, len(y)) + labels.tobytes(),
    ]


def pmlb(X, y, options):
    frame = pd.DataFrame(X).assign(target=y)
    return [frame.to_csv(sep="\t", index=False).encode()]


class Handler(SimpleHTTPRequestHandler):
    """Files of a folder; `requested` are the paths that were asked for."""

    def __init__(self, *arguments, requested, **options):
        self.requested = requested
        super().__init__(*arguments, **options)

    def do_GET(self):
        self.requested.append(self.path)
        super().do_GET()

    def log_message(self, *arguments):
        pass


class Interrupted(Handler):
    """Sends the first half of a file, and hangs up."""

    def copyfile(self, source, outputfile):
        content = source.read()
        outputfile.write(content[: len(content) // 2])


@contextmanager
def serving(folder, handler=Handler):
    """Serve a folder; yields its address, and the list of what is asked for."""
    requested = []
    handler = partial(handler, directory=str(folder), requested=requested)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requested
        finally:
            server.shutdown()
            thread.join()
