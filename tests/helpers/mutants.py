"""Model files with something changed: bytes, members, the document, headers, arrays."""

import io
import json
import warnings
import zipfile
from copy import deepcopy

import numpy as np

NASTY = [
    None, True, -1, 0, 1, 2, 3, 7, 1000, 2**31, 2**63, -(2**63), 10**400, 0.0, -1.5, 1e-320, 1e308,
    float("nan"), float("inf"), "", "x", "X", "abc", "leafwise", "expansion", "dense", "csr_array",
    "csr_matrix", "SVC", "SVCCV", "object", "str", "int64", "float64", "exact", "Polynomial",
    "Linear", "__class__", [], [0], [[1, 2], [3]], {}, {"float": "nan"}, {"float": "inf"},
    {"tuple": [1]}, {"dict": [[[], 1]]}, {"dict": [1]}, {"array": [], "dtype": "int64"},
    {"array": [1, 2], "dtype": "float64"}, {"array": [[1]], "dtype": "object"},
    {"array": ["a", "b", "c"], "dtype": "str"}, {"array": [1e300], "dtype": "float16"},
    {"object": "Gaussian", "fields": {"gamma": -1}}, {"object": "Gaussian", "fields": {}},
    {"object": "Polynomial", "fields": {"gamma": 1.0, "degree": 2**31 - 1}},
    {"object": "Polynomial", "fields": {"gamma": 1.0, "degree": 2.5}},
    {"object": "Cells", "fields": {"size": -1}}, {"object": "Cells", "fields": {"n_trees": 10**30}},
    {"object": "NestedNystroem", "fields": {}}, {"object": "os.system", "fields": {"command": "x"}},
]  # fmt: skip

HEADER_PARTS = [
    b"<f4", b"<f8", b"<i4", b"<i8", b"|O", b"|b1", b"<U4", b">f8", b"<c16", b"<f2", b"False",
    b"True", b"shape", b"(", b")", b",", b"-1", b"0", b"1", b"2", b"99999999999", b"\n", b" ", b"{",
    b"}", b"__import__('os')",
]  # fmt: skip


def unzipped(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(info.filename, archive.read(info)) for info in archive.infolist()]


def zipped(members, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", compression) as archive:
        warnings.simplefilter("ignore", UserWarning)  # two members of one name
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return file.getvalue()


def bytes_changed(content, rng):
    content = bytearray(content)
    begin = int(rng.integers(len(content)))
    length = int(rng.integers(1, 64))
    match rng.integers(6):
        case 0:
            for _ in range(rng.integers(1, 9)):
                content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        case 1:
            del content[begin:]
        case 2:
            del content[begin : begin + length]
        case 3:
            content[begin:begin] = content[begin : begin + length]
        case 4:
            content[begin : begin + length] = rng.bytes(length)
        case 5:  # the directory of a zip archive is at its end
            content[-rng.integers(1, min(300, len(content)))] = rng.integers(256)
    return bytes(content)


def members_changed(content, rng):
    members = unzipped(content)
    i, j = rng.integers(len(members), size=2)
    compression = zipfile.ZIP_STORED
    match rng.integers(6):
        case 0:
            del members[i]
        case 1:
            members.append(members[i])
        case 2:
            members[i], members[j] = (members[i][0], members[j][1]), (members[j][0], members[i][1])
        case 3:
            members.append(("more.npy", members[i][1]))
        case 4:
            members[i] = (members[i][0], bytes_changed(members[i][1], rng))
        case 5:
            compression = zipfile.ZIP_DEFLATED
    return zipped(members, compression)


def _places(value):
    """All (container, key) of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


def document_changed(content, rng):
    members = unzipped(content)
    document = json.loads(members[0][1])
    for _ in range(rng.integers(1, 3)):
        places = list(_places(document))
        container, key = places[rng.integers(len(places))]
        if rng.random() < 0.2:
            del container[key]
        elif rng.random() < 0.3:
            other, other_key = places[rng.integers(len(places))]
            container[key] = deepcopy(other[other_key])
        else:
            container[key] = deepcopy(NASTY[rng.integers(len(NASTY))])
    members[0] = ("model.json", json.dumps(document).encode())
    return zipped(members)


def header_changed(content, rng):
    members = unzipped(content)
    i = rng.integers(1, len(members))
    name, member = members[i]
    header, data = member[10:128], member[128:]
    old, new = (HEADER_PARTS[k] for k in rng.integers(len(HEADER_PARTS), size=2))
    if rng.random() < 0.5:
        shape = ", ".join(str(rng.choice([0, 1, 2, 5, 10**6, 10**12])) for _ in range(3))
        old, new = header[header.index(b"(") : header.index(b")")], b"(" + shape.encode()
    header = header.replace(old, new)
    if rng.random() < 0.8:
        header = header.rstrip(b" \n").ljust(117) + b"\n"
    size = len(header) if rng.random() < 0.9 else int(rng.integers(2**16))
    members[i] = (name, member[:8] + size.to_bytes(2, "little") + header + data)
    return zipped(members)


def arrays_changed(content, rng):
    members = unzipped(content)
    for _ in range(rng.integers(1, 3)):
        i = rng.integers(1, len(members))
        file = io.BytesIO(members[i][1])
        array = _array_changed(np.lib.format.read_array(file, allow_pickle=False), rng)
        file = io.BytesIO()
        np.lib.format.write_array(file, np.ascontiguousarray(array), version=(1, 0))
        members[i] = (members[i][0], file.getvalue())
    return zipped(members)


def _array_changed(array, rng):
    kind = rng.integers(7)
    if kind == 0:
        return array[: rng.integers(array.shape[0] + 1)]
    if kind == 1:
        return np.concatenate([array, array[: rng.integers(1, 4)]])
    if kind == 2:
        return array.T if rng.random() < 0.5 else array.reshape(1, *array.shape)
    if kind == 3:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(["<f4", "<f8", "<i4", "<i8"]))
    if kind == 4:
        return array.ravel() if array.ndim > 1 else array[::-1]
    if array.size == 0:
        return array
    array = array.copy()
    wild = [-1, 0, 1, 2, 3, 100, 2**31 - 1, -(2**31)]
    if array.dtype == np.int64:
        wild += [2**31, 2**63 - 1, -(2**63)]
    if array.dtype.kind == "f":
        wild += [1e30, -1e-40, np.nan, np.inf, -np.inf, np.finfo(array.dtype).max]
    for _ in range(rng.integers(1, 4)):
        array.flat[rng.integers(array.size)] = wild[rng.integers(len(wild))]
    return array


CHANGES = (bytes_changed, members_changed, document_changed, header_changed, arrays_changed)
