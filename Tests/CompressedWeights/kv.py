"""Writes `.kv` files, as Tests/Vectors/README.md describes them."""

import json
import struct
from pathlib import Path

import numpy as np

folder = Path(__file__).parent


def write(name, tensors, inputs=()):
    """Expected tensors, and the inputs they belong to, as pairs of a name and an array."""
    data = b""

    def entries(pairs):
        nonlocal data
        rows = []
        for key, value in pairs:
            value = np.ascontiguousarray(value)
            data += b"\0" * (-len(data) % 16)
            rows.append({"name": key, "type": value.dtype.name, "shape": list(value.shape), "offset": len(data)})
            data += value.tobytes()
        return rows

    header = {"case": name, "tolerance": {"absolute": 0, "relative": 0}}
    header["inputs"] = entries(inputs)
    header["outputs"] = entries(tensors)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(12 + len(text)) % 64)
    (folder / f"{name}.kv").write_bytes(b"KVEC0001" + struct.pack("<I", len(text)) + text + data)
