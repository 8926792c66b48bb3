"""BMP files of kinds that Pillow reads and does not write, from the format's description: Microsoft, "Bitmap Storage"."""

import struct

import numpy as np


def file(width, height, bits, rows, *, compression=0, palette=b"", masks=b"", header=40, used=0):
    """A file with the given stored rows. `masks` follow the header of 40 bytes, or are in longer ones."""
    if header == 12:
        info = struct.pack("<I4H", 12, width, height, 1, bits)
    else:
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(rows), 2835, 2835, used, 0)
        info += masks
        if header > 40:
            info += bytes(header - len(info))
    start = 14 + len(info) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(rows), 0, 0, start) + info + palette + rows


def padded(row):
    return row + bytes(-len(row) % 4)


def stored(rows):
    """Rows from the bottom up, each padded to four bytes."""
    return b"".join(padded(bytes(row)) for row in rows[::-1])


def packed(row, bits):
    """Indices of fewer than 8 bits, the first in the high bits."""
    return np.packbits(np.unpackbits(row.astype(np.uint8)[:, None], axis=1)[:, 8 - bits:].ravel()).tobytes()


def table(colors, size=4):
    return b"".join(bytes([b, g, r, 0][:size]) for r, g, b in colors)


def runs8(indices):
    """RLE8 with runs, absolute parts and jumps over indices of zero."""
    out = b""
    for y in range(len(indices) - 1, -1, -1):
        row, x = indices[y], 0
        while x < len(row):
            run = 1
            while x + run < len(row) and row[x + run] == row[x]:
                run += 1
            if row[x] == 0 and x + run < len(row):
                out += bytes([0, 2, run, 0])
                x += run
            elif run > 1 or len(row) - x < 3:
                out += bytes([run, row[x]])
                x += run
            else:
                part = bytes(row[x:x + 3])
                out += bytes([0, 3]) + part + b"\0"
                x += 3
        out += b"\0\0"
    return out + b"\0\1"


def runs4(indices):
    """RLE4 with runs of two alternating indices and absolute parts of five."""
    out = b""
    for row in indices[::-1]:
        x = 0
        while x < len(row):
            run = min(2, len(row) - x)
            while x + run < len(row) and row[x + run] == row[x + run - 2]:
                run += 1
            if run > 2 or len(row) - x < 5:
                out += bytes([run, row[x] << 4 | (row[x + 1] if run > 1 else 0)])
                x += run
            else:
                part = packed(row[x:x + 5], 4)
                out += bytes([0, 5]) + part + bytes(len(part) % 2)
                x += 5
        out += b"\0\0"
    return out + b"\0\1"


def files(rgb, alpha, indices, colors):
    """Name to bytes, of an image (height x width x 3), its alpha, and an image of up to 16 indices with their colors."""
    height, width = indices.shape
    r, g, b = (rgb[..., channel].astype(np.uint32) for channel in range(3))
    two = (indices % 2).astype(np.uint8)

    def words(values, kind):
        return stored([row.astype(kind).tobytes() for row in values])

    masks = struct.pack("<4I", 0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    yield "rle8.bmp", file(width, height, 8, runs8(indices), compression=1, palette=table(colors), used=len(colors))
    yield "rle4.bmp", file(width, height, 4, runs4(indices), compression=2, palette=table(colors), used=len(colors))
    yield "bits1.bmp", file(width, height, 1, stored([packed(row, 1) for row in two]), palette=table(colors[:2]))
    yield "bits4.bmp", file(
        width, height, 4, stored([packed(row, 4) for row in indices]), palette=table(colors), used=len(colors))
    yield "os2.bmp", file(
        width, height, 8, stored(list(indices)), header=12, palette=table(colors + [(0, 0, 0)] * (256 - len(colors)), 3))
    yield "rgb555.bmp", file(width, height, 16, words(r >> 3 << 10 | g >> 3 << 5 | b >> 3, "<u2"))
    yield "rgb565.bmp", file(
        width, height, 16, words(r >> 3 << 11 | g >> 2 << 5 | b >> 3, "<u2"), compression=3,
        masks=struct.pack("<3I", 0xF800, 0x7E0, 0x1F))
    yield "rgb32.bmp", file(width, height, 32, words(0xA5 << 24 | r << 16 | g << 8 | b, "<u4"))
    yield "alpha.bmp", file(
        width, height, 32, words(alpha.astype(np.uint32) << 24 | r << 16 | g << 8 | b, "<u4"), compression=3,
        header=124, masks=masks)
    yield "top_down.bmp", file(
        width, -height, 24, b"".join(padded(row[:, ::-1].tobytes()) for row in rgb))
