"""The `.kv` format of ../README.md."""

import json

import numpy as np


def encode(name, inputs, outputs, integers=(), steps=0.0):
    """The bytes of a file; `integers` names the operators that the model must have after passes, `steps` is the tolerance."""
    data = bytearray()

    def place(pairs):
        records = []
        for tensor, array in pairs:
            data.extend(bytes(-len(data) % 16))
            records.append({"name": tensor, "type": str(array.dtype), "shape": list(array.shape), "offset": len(data)})
            data.extend(np.ascontiguousarray(array).tobytes())
        return records

    header = {"case": name, "integers": sorted(integers), "tolerance": {"absolute": steps, "relative": 0},
              "inputs": place(inputs), "outputs": place(outputs)}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(12 + len(text)) % 64)
    return b"KVEC0001" + len(text).to_bytes(4, "little") + text + bytes(data)
