"""The command line and the timing that every peer shares."""

import argparse
import json
import pathlib
import statistics
import time

import numpy as np

WARM_UP = 3
# The time in seconds after which no more inferences are timed, whatever number was requested.
LONGEST = 20.0


def parser(description):
    """Returns the parser of every peer: MODEL FOLDER [--threads N] --iterations N [--seconds N] [--outputs
    FILE.npz]. The folder has a file NAME.npy for each input."""
    options = argparse.ArgumentParser(description=description.splitlines()[0])
    options.add_argument("model")
    options.add_argument("folder")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--iterations", type=int, required=True, help="the fewest timed inferences; 0 for the first alone")
    options.add_argument("--seconds", type=float, default=0, help="the fewest seconds of them")
    options.add_argument("--outputs", help="an .npz file for the last inference's outputs")
    return options


def inputs(folder):
    """{input name: array}."""
    return {path.stem: np.load(path) for path in sorted(pathlib.Path(folder).glob("*.npy"))}


def measure(load, arguments, about):
    """Calls `load` once for a function that runs one inference, runs it, and prints the figures as one JSON line.

    Seconds: `load`, `first` (the first inference), `p50` of as many inferences as `arguments` ask for after WARM_UP more, or of
    those that begin within LONGEST.
    Returns the last inference's outputs.
    """
    begin = time.perf_counter()
    infer = load()
    loaded = time.perf_counter()
    outputs = infer()
    figures = {"load": loaded - begin, "first": time.perf_counter() - loaded}
    if arguments.iterations:
        for _ in range(WARM_UP):
            infer()
        seconds, begin = [], time.perf_counter()
        while (spent := time.perf_counter() - begin) < LONGEST and (
                len(seconds) < arguments.iterations or spent < arguments.seconds):
            start = time.perf_counter()
            outputs = infer()
            seconds.append(time.perf_counter() - start)
        figures["p50"] = statistics.median(seconds)
    print(json.dumps(figures | about), flush=True)
    return outputs
