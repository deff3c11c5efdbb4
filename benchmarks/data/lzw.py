"""Files of the old Unix command compress (.Z), which Python does not read.

The codes are for strings: 256 bytes, then every string followed by the first byte of the next one,
in the order of their occurrence. Codes have 9 bits, lowest first, and one more when these no longer
suffice; code 256 empties the table. Groups of 8 codes are whole bytes, and a change of the width
ends a group.
"""

import io

CLEAR = 256
MAGIC = b"\x1f\x9d"


def unpacked(file):
    """A file of the bytes that an opened file has packed."""
    return io.BytesIO(unpack(file.read()))


def unpack(content):
    """The bytes that were compressed."""
    if content[:2] != MAGIC or len(content) < 3:
        raise ValueError("not a file of compress")
    widest, clears = content[2] & 31, content[2] & 128
    n_initial = 257 if clears else 256
    table = [bytes([i % 256]) for i in range(n_initial)]
    width, position, previous, found = 9, 3, b"", []
    while position < len(content):
        group = content[position : position + width]
        position += width
        codes = int.from_bytes(group, "little")
        for k in range(8 * len(group) // width):
            code = codes >> k * width & (1 << width) - 1
            if clears and code == CLEAR:
                del table[n_initial:]
                width, previous = 9, b""
                break
            if code > len(table) or (code == len(table) and not previous):
                raise ValueError("damaged")
            if previous and len(table) < 1 << widest:
                start = table[code] if code < len(table) else previous
                table.append(previous + start[:1])
            previous = table[code]
            found.append(previous)
            if len(table) == 1 << width and width < widest:
                width += 1
                break
    return b"".join(found)
