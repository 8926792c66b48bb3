#!/usr/bin/env python3
"""Draws random ONNX graphs, runs them on Kelvin, and compares with ONNX Runtime's CPU.

    dev/random-graphs [--seed SEED] [--count COUNT] [--keep FOLDER] [--reasons COUNT] [--only SEED]

Graphs have 5 to 30 nodes over values of rank 0 to 5 of float, double, integer and boolean types, broadcast, with several
outputs; inputs have open sizes in some. Graph number N is drawn from SEED + N alone, so that `--only` draws one again. A
graph with another result from Kelvin is reduced to the fewest nodes that still differ, and kept in FOLDER with its inputs
and ONNX Runtime's results; a graph that Kelvin refuses is counted by the missing feature.

Nodes that round, compare or order read exact values: inputs, and values that are moved or counted from them.

The package is this checkout's; the library is $KELVIN_LIBRARY, and .build/release/libKelvinC.so unless set. The Python is
that which runs this, and needs onnx and onnxruntime.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import onnx

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "Python"), str(HERE)]

from comparing import isolated, reduced_to, restore, save, tried  # noqa: E402
from drawing import drawn  # noqa: E402
import elements, layout, layers, patterns, control  # noqa: E401, E402, F401: each adds kinds of nodes, in this order


def work(arguments):
    """Runs several graphs in one process, and prints the number of each before it starts."""
    for number in range(arguments.first, arguments.first + arguments.count):
        print(json.dumps({"begun": number}), flush=True)
        model, inputs = drawn(arguments.seed + number)
        outcome, said = tried(model, inputs)
        operators = sorted({node.op_type for node in model.graph.node})
        print(json.dumps({"graph": number, "outcome": outcome, "said": said, "nodes": len(model.graph.node),
                          "operators": operators}), flush=True)


def measure(arguments):
    """Runs graphs in processes of many; a process that dies fails only the graph that it was running."""
    counts, reasons, operators, faults = collections.Counter(), collections.Counter(), collections.Counter(), []
    number, end = 0, arguments.count
    while number < end:
        chunk = min(100, end - number)
        with subprocess.Popen(
                [sys.executable, HERE, "--work", str(number), "--count", str(chunk), "--seed", str(arguments.seed)],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            begun = None
            for line in process.stdout:
                row = json.loads(line)
                if "begun" in row:
                    begun = row["begun"]
                    continue
                counts[row["outcome"]] += 1
                operators.update(row["operators"])
                begun = None
                if row["outcome"] == "refused":
                    reasons[row["said"].strip()] += 1
                elif row["outcome"] != "passed":
                    faults.append((row["graph"], row["outcome"], row["said"]))
                    print(f"graph {row['graph']}: {row['outcome']}: {row['said'][:300]}", flush=True)
        if begun is not None:
            counts["failed"] += 1
            faults.append((begun, "failed", f"the process ended with {process.returncode}"))
            print(f"graph {begun}: the process ended with {process.returncode}", flush=True)
            number = begun + 1
        else:
            number += chunk
    for graph, outcome, said in faults:
        model, inputs = drawn(arguments.seed + graph)
        attempt = isolated if "ended" in said else tried
        least, given = reduced_to(model, inputs, (outcome,), attempt)
        folder = arguments.keep / f"{arguments.seed + graph}"
        save(folder, least, given)
        print(f"{folder}: {', '.join(node.op_type for node in least.graph.node)}: {attempt(least, given)[1][:300]}", flush=True)
    for reason, count in reasons.most_common(arguments.reasons):
        print(f"    {count} × {reason[:300]}")
    print(f"seed {arguments.seed}, {arguments.count} graphs of {len(operators)} operators: " + ", ".join(
        f"{count} {outcome}" for outcome, count in counts.most_common()))
    return counts["differs"] + counts["failed"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int)
    arguments.add_argument("--count", type=int, default=2000)
    arguments.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "random-graphs")
    arguments.add_argument("--reasons", type=int, default=20)
    arguments.add_argument("--only", type=int)
    arguments.add_argument("--explain", action="store_true")
    arguments.add_argument("--work", dest="first", type=int)
    arguments.add_argument("--try", dest="tried", type=pathlib.Path)
    arguments = arguments.parse_args()
    os.environ.setdefault("KELVIN_LIBRARY", str(ROOT / ".build/release/libKelvinC.so"))
    if arguments.tried:
        return print(json.dumps(tried(*restore(arguments.tried))))
    if arguments.only is not None:
        model, inputs = drawn(arguments.only)
        save(arguments.keep / str(arguments.only), model, inputs)
        print(onnx.printer.to_text(model))
        return print(*tried(model, inputs))
    if arguments.seed is None:
        arguments.seed = random.randrange(1_000_000) * 10_000
    if arguments.first is not None:
        return work(arguments)
    print(f"seed {arguments.seed}", flush=True)
    if measure(arguments):
        sys.exit(1)


if __name__ == "__main__":
    main()
