"""The machine's limits, measured by walls.c: multiply-adds in float32, and bytes from each level of its memory."""

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

from contenders import HERE, ContenderFailed, run

CACHES = pathlib.Path("/sys/devices/system/cpu/cpu0/cache")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
LEVELS = ("L2", "L3", "memory")


def cache_sizes():
    """Bytes of the first processor's caches of levels 2 and 3."""
    sizes = {}
    for index in CACHES.glob("index*"):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        if kind in ("Unified", "Data"):
            sizes[f"L{level}"] = int(size[:-1]) * UNITS[size[-1]]
    if not {"L2", "L3"} <= sizes.keys():
        raise ContenderFailed(f"{CACHES} does not tell the sizes of caches of levels 2 and 3")
    return {level: sizes[level] for level in ("L2", "L3")}


@dataclass(frozen=True)
class Walls:
    """The limits of a number of threads: `operations` a second (a multiply-add is two), and by level `bandwidth` in
    bytes a second and `sizes`."""

    threads: int
    vectors: str
    operations: float
    bandwidth: dict
    sizes: dict

    def level(self, used):
        """Returns the fastest level into which this many bytes fit."""
        return next((level for level, size in self.sizes.items() if used <= size), "memory")


def build(folder):
    """Builds the measuring program, compiled by `cc` or the compiler named by CC."""
    program = os.path.join(folder, "walls")
    command = [os.environ.get("CC", "cc"), "-O2", "-pthread", "-o", program, str(HERE / "walls.c"), "-lm"]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise ContenderFailed(f"{command[0]} is not there: install a C compiler, or name one with CC") from error
    except subprocess.CalledProcessError as error:
        raise ContenderFailed(f"{' '.join(command)} failed:\n{error.stderr[-2000:]}") from error
    return program


def measure(program, threads, vector=64):
    """Measures once, with vectors of at most `vector` bytes: each level by a working set that fits well into it, and
    not into the level before it."""
    sizes = cache_sizes()
    sets = [threads * sizes["L2"] // 2, sizes["L3"] // 4, 8 * sizes["L3"]]
    answer = json.loads(run([program, str(threads), str(vector), *map(str, sets)], threads))
    rates = [max(each["read"], each["copied"]) for each in answer["sets"]]
    return Walls(threads, answer["vectors"], answer["operations"], dict(zip(LEVELS, rates)),
                 {"L2": threads * sizes["L2"], "L3": sizes["L3"]})


def highest(measured):
    """Returns the highest value of each limit over all measurements."""
    first = measured[0]
    bandwidth = {level: max(each.bandwidth[level] for each in measured) for level in LEVELS}
    return Walls(first.threads, first.vectors, max(each.operations for each in measured), bandwidth, first.sizes)
