"""How every peer is timed."""

import json
import statistics
import time

WARM_UP = 3


def measure(load, iterations, about):
    """Calls `load` once for a function that runs one inference, runs it, and prints the figures as one JSON line.

    Seconds: `load`, `first` (the first inference), `p50` of `iterations` inferences after WARM_UP more. Returns the
    last inference's outputs.
    """
    begin = time.perf_counter()
    infer = load()
    loaded = time.perf_counter()
    outputs = infer()
    first = time.perf_counter() - loaded
    for _ in range(WARM_UP):
        infer()
    seconds = []
    for _ in range(iterations):
        start = time.perf_counter()
        outputs = infer()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"load": loaded - begin, "first": first, "p50": statistics.median(seconds), **about}), flush=True)
    return outputs
