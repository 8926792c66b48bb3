"""Colour profiles made from published primaries and curves: just enough of ICC.1:2001 (version 2) to be read."""

import struct

import numpy as np

D50 = (0.9642, 1.0, 0.8249)
D65 = (0.3127, 0.3290)
D50_XY = (0.3457, 0.3585)
PRIMARIES = {
    "Display P3": (((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), D65),
    "Adobe RGB": (((0.640, 0.330), (0.210, 0.710), (0.150, 0.060)), D65),
    "ProPhoto": (((0.7347, 0.2653), (0.1596, 0.8404), (0.0366, 0.0001)), D50_XY),
}
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


def xyz(x, y):
    return np.array([x / y, 1, (1 - x - y) / y])


def colorants(name):
    """Columns: XYZ of the three primaries, adapted to D50 (Bradford)."""
    primaries, white = PRIMARIES[name]
    columns = np.stack([xyz(*p) for p in primaries], axis=1)
    columns = columns * np.linalg.solve(columns, xyz(*white))
    gains = (BRADFORD @ np.array(D50)) / (BRADFORD @ xyz(*white))
    return np.linalg.inv(BRADFORD) @ np.diag(gains) @ BRADFORD @ columns


def xyz_type(values):
    return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(v * 65536) for v in values))


def gamma(exponent):
    """A curve of one exponent, to 1/256."""
    return b"curv\0\0\0\0" + struct.pack(">IH", 1, round(exponent * 256))


def srgb_curve():
    x = np.arange(256) / 255
    y = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    return b"curv\0\0\0\0" + struct.pack(">I256H", 256, *np.round(y * 65535).astype(int))


def described(name):
    text = name.encode() + b"\0"
    return b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(78)


def profile(kind, space, connection, tags):
    """kind: mntr, prtr; space: "RGB ", "GRAY", "CMYK"; connection: "XYZ ", "Lab "."""
    tags = {"cprt": b"text\0\0\0\0none\0", "wtpt": xyz_type(D50), **tags}
    offset = 128 + 4 + 12 * len(tags)
    table, data = struct.pack(">I", len(tags)), b""
    for name, value in tags.items():
        value += bytes(-len(value) % 4)
        table += name.encode() + struct.pack(">II", offset + len(data), len(value))
        data += value
    size = offset + len(data)
    header = struct.pack(">I4sI4s4s4s", size, b"none", 0x02400000, kind.encode(), space.encode(), connection.encode())
    header += struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp" + bytes(28) + struct.pack(">3i", 63190, 65536, 54061)
    return header.ljust(128, b"\0") + table + data


def rgb(name):
    matrix = colorants(name)
    curve = {"Display P3": srgb_curve(), "Adobe RGB": gamma(563 / 256), "ProPhoto": gamma(1.8)}[name]
    return profile("mntr", "RGB ", "XYZ ", {
        "desc": described(name), **{f"{c}XYZ": xyz_type(matrix[:, i]) for i, c in enumerate("rgb")},
        **{f"{c}TRC": curve for c in "rgb"}})


def gray(exponent):
    return profile("mntr", "GRAY", "XYZ ", {"desc": described(f"Grey gamma {exponent}"), "kTRC": gamma(exponent)})


def cmyk(grid=5):
    """Inks that darken a little more than linearly and are not pure: a table of Lab (16 bits, version 2 encoding)."""
    levels = (np.arange(grid) / (grid - 1)) ** 0.8
    c, m, y, k = np.meshgrid(levels, levels, levels, levels, indexing="ij")
    rgb_light = np.stack([(1 - 0.95 * c) * (1 - 0.12 * m) * (1 - 0.02 * y), (1 - 0.25 * c) * (1 - 0.9 * m) * (1 - 0.08 * y),
                          (1 - 0.1 * c) * (1 - 0.35 * m) * (1 - 0.92 * y)], axis=-1) * (1 - 0.97 * k)[..., None]
    relative = (rgb_light @ colorants("Display P3").T) / np.array(D50)
    f = np.where(relative > (6 / 29) ** 3, np.cbrt(relative), relative / (3 * (6 / 29) ** 2) + 4 / 29)
    lab = np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)
    coded = np.stack([lab[..., 0] * 652.8, (lab[..., 1] + 128) * 256, (lab[..., 2] + 128) * 256], axis=-1)
    table = np.clip(np.round(coded), 0, 65535).astype(">u2").tobytes()
    ramp = struct.pack(">2H", 0, 65535)
    identity = struct.pack(">9i", *[65536 if i % 4 == 0 else 0 for i in range(9)])
    lut = (b"mft2\0\0\0\0" + bytes([4, 3, grid, 0]) + identity + struct.pack(">2H", 2, 2) + ramp * 4 + table + ramp * 3)
    return profile("prtr", "CMYK", "Lab ", {"desc": described("Four inks"), "A2B0": lut})
