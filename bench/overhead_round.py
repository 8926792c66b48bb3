"""One round of overhead.py: the same prediction from C and from Python, in turn, in one process.

Usage: overhead_round.py MODEL OVERHEAD.so --iterations N [--cold BYTES]

Prints one JSON line: medians in seconds of each way to call, and of what Python takes more than the C call beside it.
"""

import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Python"))
import kelvin  # noqa: E402
from kelvin import _library  # noqa: E402
from kelvin.values import Features, described  # noqa: E402

WARM_UP = 20


def calls(path, model, given, target):
    """Returns each kind of call by its name: a function that returns its seconds."""
    ctypes.CDLL(_library._path(), ctypes.RTLD_GLOBAL)
    timed = ctypes.CDLL(path)
    for function in (timed.overhead_call, timed.overhead_whole):
        function.restype = ctypes.c_double
    (name, array), = given.items()
    names = (ctypes.c_char_p * len(target))(*(name.encode() for name in target))
    inputs, outputs = Features(), Features()
    inputs.set(name, array)
    handles = [ctypes.c_void_p(handle) for handle in (model._handle, inputs.handle, outputs.handle)]
    view, sizes = described(array)

    def call(held=(inputs, outputs)):
        return timed.overhead_call(*handles)

    def whole(held=(array, sizes)):
        return timed.overhead_whole(handles[0], name.encode(), view, names, ctypes.c_size_t(len(names)))

    def python():
        begin = time.perf_counter()
        model.predict(given)
        return time.perf_counter() - begin

    def lent():
        begin = time.perf_counter()
        model.predict(given, outputs=target)
        return time.perf_counter() - begin
    return {"call": call, "whole": whole, "python": python, "lent": lent}


def main():
    parser = argparse.ArgumentParser(description="Time a prediction from C and from Python.")
    parser.add_argument("model")
    parser.add_argument("library")
    parser.add_argument("--iterations", type=int, required=True)
    parser.add_argument("--cold", type=int, default=0, help="so much memory is read before each call")
    arguments = parser.parse_args()
    model = kelvin.Model(arguments.model, units="cpu", threads=1)
    random = np.random.default_rng(1)
    given = {name: random.uniform(-1, 1, feature.shape).astype(feature.dtype) for name, feature in model.inputs.items()}
    target = {name: np.zeros_like(value) for name, value in model.predict(given).items()}
    ways = calls(arguments.library, model, given, target)
    seconds, memory = {name: [] for name in ways}, np.ones(arguments.cold // 8)
    order = np.random.default_rng(2)
    for _ in range(WARM_UP + arguments.iterations):
        # A call that runs twice in a row still has its code in the caches, so each call follows each of the others
        # equally often.
        for name in order.permutation(list(ways)):
            memory.sum()
            seconds[name].append(ways[name]())
    if min(map(min, seconds.values())) < 0:
        sys.exit(f"overhead_round.py: {arguments.model}: a prediction from C failed")
    seconds = {name: values[WARM_UP:] for name, values in seconds.items()}
    more = {f"{name}More": statistics.median(one - other for one, other in zip(seconds[name], seconds["call"]))
            for name in ("whole", "python", "lent")}
    print(json.dumps({name: statistics.median(values) for name, values in seconds.items()} | more))


if __name__ == "__main__":
    main()
