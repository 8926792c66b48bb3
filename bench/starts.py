"""Compares a first result: a whole process of Kelvin with ONNX Runtime's session and first run. README.md says more.

Usage: starts.py [--kelvin PATH] [--rounds N] [--models NAME,…] [--threads N] [--name NAME]
"""

import argparse
import json
import os
import sys
import tempfile
from datetime import date

import comparing
import processes
import quiet
import report
from catalog import ROOT, TITLES, Case
from contenders import ContenderFailed, Kelvin, Peer, driver

# Limits of Kelvin's process relative to ONNX Runtime's session and first run: 1 for light models, less for heavy ones.
BARS = {"squeezenet": 1.0, "mobilenet_v2": 1.0, "mobilenet_v3": 1.0, "resnet50": 0.6, "densenet121": 0.6, "vit_b16": 0.6}
# The cost of a process before a session can be created, without Python and its imports, in seconds.
ALLOWANCE = 0.030


def of_kelvin(kelvin, cache):
    return processes.whole(kelvin, "--cache-dir", cache)


def of_onnxruntime(peer):
    """Measures ONNX Runtime's session and first run alone, plus the allowance; the memory is that of a Python
    process with the packages."""
    answer = processes.launched(peer.command(0), peer.processors)
    figures = json.loads(answer["lines"][-1])
    return {"start": figures["load"] + figures["first"] + ALLOWANCE, "peak": answer["peak"], **figures}


def compare(case, arguments, cache):
    path, inputs, threads = str(case.model()[0]), case.inputs(), arguments.threads
    kelvin = Kelvin(arguments.kelvin, path, inputs, "cpu", threads, "full", threads)
    peer = Peer("ONNX Runtime", "peer_onnxruntime.py", path, inputs, ("--threads", str(threads)), threads)
    agreement = comparing.difference(kelvin.outputs(), peer.outputs())
    turns = [lambda: of_kelvin(kelvin, cache), lambda: of_onnxruntime(peer)]
    # The first round fills caches on disk and the page cache.
    for turn in turns:
        turn()
    rounds, disturbed = comparing.interleaved(turns, arguments.rounds)
    ratios = {key: comparing.summary([one[key] / other[key] for one, other in zip(*rounds)]) for key in ("start", "peak")}
    entry = {"title": case.title, "bar": BARS.get(case.name), "agreement": agreement, "disturbedRounds": disturbed,
             "kelvin": medians(rounds[0]), "onnxruntime": medians(rounds[1]), "ratio": ratios,
             "rounds": [{"kelvin": one, "onnxruntime": other} for one, other in zip(*rounds)]}
    entry["verdict"] = verdict(entry)
    return entry


def medians(rounds):
    return {key: comparing.summary([each[key] for each in rounds])["median"] for key in rounds[0] if key != "version"}


def verdict(entry):
    if not entry["agreement"]["sameTop1"]:
        return "wrong output"
    if entry["bar"] is None:
        return "compared"
    return "met" if entry["ratio"]["start"]["median"] <= entry["bar"] else f"ratio above {entry['bar']:.1f}"


def cells(entry):
    kelvin, other = entry["kelvin"], entry["onnxruntime"]
    return [entry["title"], report.milliseconds(kelvin["start"]),
            f"{report.milliseconds(other['load'])} + {report.milliseconds(other['first'])}",
            report.spread(entry["ratio"]["start"]), "–" if entry["bar"] is None else f"at most {entry['bar']:.1f} ×",
            entry["verdict"], f"{kelvin['peak'] / 1e6:.0f} MB", f"{other['peak'] / 1e6:.0f} MB",
            report.spread(entry["ratio"]["peak"])]


def markdown(result):
    rows = [report.heading(result, f"{result['rounds']} rounds on {result['threads']} threads, interleaved, caches warm"), "",
            "| Model | Whole `kelvin predict` | ONNX Runtime: session + first run | Kelvin / (ONNX Runtime + "
            f"{report.milliseconds(ALLOWANCE)}), median (min to max) | Held to | Verdict | Peak memory, Kelvin | ONNX Runtime in "
            "Python | Kelvin / ONNX Runtime |", "|---|---|---|---|---|---|---|---|---|"]
    rows += [f"| {' | '.join(cells(entry))} |" for entry in result["comparisons"]]
    return "\n".join(rows + report.disturbed(result)) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Compare what a first result costs.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--models", default=",".join(BARS), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))))
    parser.add_argument("--name", default="starts", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    entries = []
    with tempfile.TemporaryDirectory() as cache:
        for name in arguments.models.split(","):
            case = Case(name)
            print(f"{case.title} …", file=sys.stderr, flush=True)
            entries.append(compare(case, arguments, cache))
            print("; ".join(cells(entries[-1])), flush=True)
    machine = report.machine([]) | {"kelvin": driver(arguments.kelvin)}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load, "rounds": arguments.rounds,
              "threads": arguments.threads, "allowance": ALLOWANCE, "comparisons": entries}
    report.save(arguments.name, result, markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"starts.py: {failure}")
