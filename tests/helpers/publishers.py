"""A server that stands in for the publishers of data sets, and files as they publish them."""

import bz2
import datetime
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

from benchmarks.data.converters import kddcup99, power
from benchmarks.data.formats import delimited, idx, libsvm
from benchmarks.datasets import dense


def publish(folder, parts, rows):
    """Write the files of all parts of a set; `rows` are X and y of each, labels as published."""
    for part, (X, y) in zip(parts, rows, strict=True):
        made = contents(part, X, y)  # of the files that no other part has
        for file, content in zip(part.files, made, strict=len(made) > 1):
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
    if name.endswith(".Z"):
        return compressed(content)
    return bz2.compress(content, 1) if name.endswith(".bz2") else content


def compressed(content):
    """What the Unix command compress makes of bytes, without its code that empties the table."""
    known, width, widest = {bytes([i]): i for i in range(256)}, 9, 16
    groups, group, found = [], [], b""

    def end_group(n_bits):
        codes = sum(code << k * width for k, code in enumerate(group))
        groups.append(codes.to_bytes((n_bits + 7) // 8, "little"))
        group.clear()

    for byte in content:
        longer = found + bytes([byte])
        if longer in known:
            found = longer
            continue
        group.append(known[found])
        if len(known) + 1 > (1 << width) - 1 and width < widest:
            end_group(8 * width)
            width += 1
        elif len(group) == 8:
            end_group(8 * width)
        if len(known) + 1 < 1 << widest:
            known[longer] = len(known) + 1  # 256 is the code that is left out
        found = longer[-1:]
    group.append(known[found])
    end_group(len(group) * width)
    return b"\x1f\x9d" + bytes([0x80 | widest]) + b"".join(groups)


def contents(part, X, y):
    """Unpacked content of every file of a part."""
    reader = getattr(part.reader, "func", part.reader)
    options = getattr(part.reader, "keywords", {})
    make = {
        libsvm: text, delimited: table, idx: images, None: pmlb, kddcup99: connections,
        power: household,
    }[reader]  # fmt: skip
    return make(X, y, options)


def text(X, y, options):
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=False)
    return [file.getvalue()]


def table(X, y, options):
    """Numbers with as many digits as they need, and a first line if the reader skips one."""
    target = options.get("target", -1) % (X.shape[1] + 1)
    columns = np.insert(dense(X).astype(np.float64), target, y, axis=1)
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


def connections(X, y, options):
    """KDD Cup 1999, with numbers for names."""
    X, columns = dense(X), []
    for first, last in ((38, 41), (41, 108), (108, 119)):
        columns.append([f"category {i:03}" for i in X[:, first:last].argmax(axis=1)])
    frame = pd.DataFrame(X[:, :38])
    for place, column in enumerate(columns, 1):
        frame.insert(place, f"category {place}", column)
    frame["label"] = np.where(y > 0, "smurf.", "normal.")
    return [frame.to_csv(index=False, header=False).encode()]


def household(X, y, options):
    """With rows before, after and without values."""
    lines = [
        "Date;Time;Global_active_power;Global_reactive_power;Voltage;Global_intensity;"
        "Sub_metering_1;Sub_metering_2;Sub_metering_3",
        "31/12/2006;23:59:00;2.5;0.1;240;10;0;1;17.0",
        "28/4/2007;00:21:00;?;?;?;?;?;?;",
    ]
    for (day, _, minute, reactive, *rest), target in zip(X.tolist(), y.tolist(), strict=True):
        date = datetime.date(2007, 1, 1) + datetime.timedelta(day)
        time = f"{int(minute) // 60:02}:{int(minute) % 60:02}:00"
        values = [target, reactive, rest[0], 4.6, *rest[1:]]
        numbers = ";".join(f"{v:.9g}" for v in values)
        lines.append(f"{date.day}/{date.month}/2007;{time};{numbers}")
    lines.append("1/7/2007;00:00:00;2.5;0.1;240;10;0;1;17.0")
    return ["\n".join(lines).encode()]


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
        thread = threading.Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", requested
        finally:
            server.shutdown()
            thread.join()
