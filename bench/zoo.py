"""Compares Kelvin with ONNX Runtime and OpenVINO on networks of timm that a seed draws, and names the kinds of layers that lose the
most time against the machine's limits. README.md says more.

Usage: zoo.py [--seed N] [--count N] [--kelvin PATH] [--threads N] [--rounds N] [--seconds N] [--budget SECONDS] [--name NAME]; in an
environment that also has torch, timm and onnxscript.
"""

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from datetime import date

import numpy as np
import onnx

import comparing
import layers
import quiet
import report
import rooflines
import walls
import zoo_networks
from catalog import CACHE, ROOT
from contenders import ContenderFailed, Inputs, Kelvin, Peer, driver

MEAN_BAR, BAR = 0.8, 1.1
# The largest difference from ONNX Runtime, relative to the largest output.
LIMIT = 1e-3
WORST = 20


def exported(name, seed):
    """The network's file and its inputs, made on first use."""
    folder = CACHE / "zoo"
    folder.mkdir(parents=True, exist_ok=True)
    path, inputs = folder / f"{name}.onnx", folder / name
    if not path.exists():
        zoo_networks.export(name, seed, path)
    shape = tuple(each.dim_value for each in onnx.load(path, load_external_data=False).graph.input[0].type.tensor_type.shape.dim)
    inputs.mkdir(exist_ok=True)
    np.save(inputs / "image.npy", np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32))
    return str(path), Inputs(str(inputs), (("image", shape),))


def measured(name, arguments, program):
    """The ratio of a network to the better peer, and its layers against the machine's limits."""
    path, inputs = exported(name, arguments.seed)
    threads = arguments.threads
    kelvin = Kelvin(arguments.kelvin, path, inputs, "cpu", threads, "full", threads)
    peers = [Peer(title, f"peer_{short}.py", path, inputs, ("--threads", str(threads)), threads)
             for title, short in (("ONNX Runtime CPU", "onnxruntime"), ("OpenVINO CPU", "openvino"))]
    largest = max(float(abs(values).max()) for values in peers[0].outputs().values())
    entry = comparing.compare(
        {"title": name, "kelvin": kelvin, "peers": peers, "reference": peers[0], "weights": "seeded random", "bar": BAR, "firstBar": None,
         "limit": LIMIT * max(largest, 1)}, arguments.rounds, 10, arguments.seconds)
    network, limits = layers.profiled(kelvin, arguments.budget).layers, walls.measure(program, threads)
    return entry | {"layers": rooflines.folded(network, limits), "operations": sum(each.definedOperations for each in network),
                    "rate": limits.operations}


def kind(layer):
    """The operator of a layer with what decides its kernel: its window, and the channels of a group."""
    shape = layer["shapes"].split(", ")[1] if ", " in layer["shapes"] else ""
    few = shape.split("x")[1] if layer["operator"].startswith("convolution") and shape.count("x") == 3 else ""
    return layer["operator"].partition(" +")[0] + (f", {few} channels" if few and int(few) <= 64 else "")


def kinds(entries):
    """The kinds of layers with the most time lost, as shares of the time of their networks."""
    found = defaultdict(lambda: {"networks": set(), "lost": 0.0, "seconds": 0.0, "operations": 0.0, "worst": None})
    for entry in entries:
        whole = sum(layer["count"] * layer["seconds"] for layer in entry["layers"])
        for layer in entry["layers"]:
            row, seconds = found[kind(layer)], layer["count"] * layer["seconds"]
            row["networks"].add(entry["title"])
            row["lost"] += layer["lost"] / whole
            row["seconds"] += seconds
            row["operations"] += layer["count"] * layer["operations"]
            if row["worst"] is None or layer["lost"] / whole > row["worst"][0]:
                row["worst"] = layer["lost"] / whole, entry["title"], layer["shapes"], layer["gap"]
    rows = [{"kind": name, **row, "networks": len(row["networks"])} for name, row in found.items()]
    return sorted(rows, key=lambda row: -row["lost"])[:WORST]


def markdown(result):
    threads = f"{result['threads']} thread{'s' if result['threads'] > 1 else ''}"
    entries = sorted(result["comparisons"], key=lambda entry: -entry["ratio"]["median"])
    over = sum(entry["ratio"]["median"] > BAR for entry in entries)
    rows = ["# A zoo of networks", "",
            report.heading(result, f"{result['rounds']} rounds of at least {result['seconds']:g} s, interleaved, on {threads}"), "",
            f"`bench/zoo.py --seed {result['seed']} --count {result['count']}` draws networks of timm from random families and exports "
            "them with random weights, batch 1.", "",
            f"Geometric mean of Kelvin / best peer: **{result['geometricMean']:.2f}** (bar {MEAN_BAR}). {over} of {len(entries)} networks "
            f"are above {BAR}.", "",
            "| network | Gop | Kelvin | ONNX Runtime | OpenVINO | Kelvin / best, median (min to max) | of the peak | verdict |",
            "|---|--:|--:|--:|--:|---|--:|---|"]
    for entry in entries:
        times = [each["p50"] for each in entry["contenders"]]
        rows.append(f"| {entry['title']} | {entry['operations'] / 1e9:.2f} | {' | '.join(map(report.milliseconds, times))} | "
                    f"{report.spread(entry['ratio'])} | {100 * entry['operations'] / times[0] / entry['rate']:.0f} % | {entry['verdict']} |")
    rows += ["", f"## The {len(result['kinds'])} kinds of layers that lose most", "",
             "Lost is time above the floor (rooflines.md says how it is counted), as the share of the time of its network, summed over "
             "networks. A kind is an operator with its window, and with up to 64 the channels of each sum.", "",
             "| kind | networks | lost, % | Gop/s | where it loses most |", "|---|--:|--:|--:|---|"]
    for row in result["kinds"]:
        share, network, shapes, gap = row["worst"]
        rate = f"{row['operations'] / row['seconds'] / 1e9:.1f}" if row["operations"] else "–"
        rows.append(f"| {row['kind']} | {row['networks']} | {100 * row['lost']:.1f} | {rate} | {network}: {shapes}, "
                    f"{f'{gap:.1f} × its floor, ' if gap else ''}{100 * share:.1f} % |")
    if result["failed"]:
        rows += ["", "## Not compared", "", *(f"- {name}: {reason}" for name, reason in result["failed"].items())]
    return "\n".join(rows + report.disturbed(result)) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Compare Kelvin with its peers on networks drawn by a seed.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a round")
    parser.add_argument("--budget", type=float, default=2, help="seconds of profiling of a network")
    parser.add_argument("--name", default="zoo", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = quiet.warn()
    entries, failed = [], {}
    names = zoo_networks.drawn(arguments.seed, arguments.count)
    with tempfile.TemporaryDirectory() as folder:
        program = walls.build(folder)
        for name in names:
            try:
                entries.append(measured(name, arguments, program))
                print(report.line(entries[-1]), flush=True)
            except Exception as error:  # an exporter or a peer may fail in any way; the page says how
                failed[name] = (str(error).strip().splitlines() or [type(error).__name__])[-1][:160]
                print(f"{name}: {failed[name]}", file=sys.stderr, flush=True)
    if not entries:
        raise ContenderFailed("no network was compared")
    ratios = [entry["ratio"]["median"] for entry in entries]
    machine = report.machine([]) | {"kelvin": driver(arguments.kelvin)}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load,
              **{key: getattr(arguments, key) for key in ("seed", "count", "threads", "rounds", "seconds", "budget")},
              "geometricMean": statistics.geometric_mean(ratios), "kinds": kinds(entries), "failed": failed, "comparisons": entries}
    report.save(arguments.name, result, markdown(result))
    print(f"geometric mean {result['geometricMean']:.3f}")


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"zoo.py: {failure}")
