"""Finds the kernels that Kelvin used, from the names in the cache of packed weights."""

import pathlib
import re
import struct

HEADER = struct.Struct("<8sIIQ32s")
PLACE = struct.Struct("<QQQQ")
DERIVED = re.compile(r"/transposed_\w+$")


def keys(file):
    """Returns the keys of the regions of a pack file (PackFile.swift): a weight's name, `#`, a hash, `/` and a
    layout."""
    data = file.read_bytes()
    magic, _, count, _, _ = HEADER.unpack_from(data)
    if magic != b"KELVPACK":
        raise ValueError(f"{file} is no pack file")
    place = HEADER.size
    for _ in range(count):
        length = int.from_bytes(data[place:place + 4], "little")
        yield data[place + 4:place + 4 + length].decode()
        place += 4 + length + PLACE.size


def layouts(cache):
    """Returns the layouts of the weights by their names, from a cache that one model wrote. Weights that were
    transposed when the model was read have their node's name."""
    found = {}
    for file in pathlib.Path(cache).glob("models/*/*.pack"):
        for key in keys(file):
            weight, _, layout = key.rpartition("/")
            found.setdefault(DERIVED.sub("", weight.partition("#")[0]), []).append(layout)
    return found


def kernel(layout):
    """Describes the kernel of a layout of convolutions or products."""
    rounded = "-bf16" in layout
    words = layout.replace("-bf16", "").replace("-f32", "")
    if words.startswith("winograd-"):
        tile = words.split("-")[1]
        name = f"Winograd F({tile}×{tile})"
    elif words.startswith("lines"):
        name = "depthwise"
    elif words.startswith("blocks"):
        name = "planes" if words.endswith("planes") else "blocks"
    elif words.startswith("dense"):
        name = "dense"
    else:
        name = "rows" if "-k" in words else "windows"
    return name, rounded
