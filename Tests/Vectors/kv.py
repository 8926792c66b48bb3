"""The `.kv` format of README.md, which every generator of vectors writes."""

import json

import numpy as np


def encode(header, inputs, outputs):
    """The bytes of a file: the header's entries, then inputs and outputs as pairs of a name and an array."""
    data = bytearray()

    def place(pairs):
        records = []
        for name, array in pairs:
            array = np.asarray(array)
            data.extend(bytes(-len(data) % 16))
            records.append({"name": name, "type": str(array.dtype), "shape": list(array.shape), "offset": len(data)})
            data.extend(np.ascontiguousarray(array).tobytes())
        return records

    text = json.dumps(header | {"inputs": place(inputs), "outputs": place(outputs)}, separators=(",", ":")).encode()
    text += b" " * (-(12 + len(text)) % 64)
    return b"KVEC0001" + len(text).to_bytes(4, "little") + text + bytes(data)
