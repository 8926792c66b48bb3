"""Counts how often the measured time of a model lies within the error that its plan states, with and without other load.

Usage: prediction_intervals.py [--kelvin PATH] [--count N] [--seed N] [--name NAME]. README.md says more.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import crowd
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT.parent / "shared"))
MODELS = ["mnist.onnx", "SqueezeNetFP16.mlmodel", "MobileNetV2_f32.onnx", "ultraface_version-RFB-320.onnx",
          "DeepLabV3Int8LUT.mlmodel"]
THREADS = [1, 2]
# Half of the predictions are made without other load, the others beside one or two programs that only compute.
OTHERS = [0, 0, 1, 2]
WORKLOAD = {"format": "kelvin-workload", "version": 1, "name": "warm", "kind": "one-shot", "coldStarts": 0, "starts": 1,
            "iterations": 12, "rounds": 6, "warmSeconds": 1}


class Kelvin:
    def __init__(self, program, folder):
        self.program, self.cache = program, folder
        self.workload = pathlib.Path(folder) / "warm.json"
        self.workload.write_text(json.dumps(WORKLOAD))

    def run(self, verb, model, threads, *options):
        command = [self.program, verb, str(SHARED / "models" / model), "--units", "cpu", "--threads", str(threads), "--json",
                   "--cache-dir", self.cache, *options]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def prediction(self, model, threads):
        plan = self.run("plan", model, threads)
        return plan["predicted"], plan["predictionError"]["share"]

    def measured(self, model, threads):
        result = self.run("bench", model, threads, "--workload", str(self.workload))
        return result["configurations"][0]["warm"]["p50"]


def entries(kelvin, count, seed):
    for model in MODELS:
        for threads in THREADS:
            kelvin.run("profile", model, threads, "--budget", "3")
    dice = random.Random(seed)
    for number in range(count):
        model, threads, others = dice.choice(MODELS), dice.choice(THREADS), dice.choice(OTHERS)
        with crowd.Crowd(others):
            predicted, share = kelvin.prediction(model, threads)
            measured = kelvin.measured(model, threads)
        yield {"model": model, "threads": threads, "others": others, "predicted": predicted, "share": share,
               "measured": measured, "isInside": abs(measured / predicted - 1) <= share}
        print(f"{number + 1} of {count}", end="\r", file=sys.stderr)


def row(title, entries):
    if not entries:
        return f"| {title} | 0 | – | – | – |"
    inside = sum(e["isInside"] for e in entries) / len(entries)
    off = statistics.median(abs(e["measured"] / e["predicted"] - 1) for e in entries)
    stated = statistics.median(e["share"] for e in entries)
    return f"| {title} | {len(entries)} | {100 * inside:.0f} % | {100 * stated:.0f} % | {100 * off:.0f} % |"


def markdown(result):
    found = result["entries"]
    rows = [report.heading(result, f"seed {result['seed']}"), "",
            "`measured` is the median of warm predictions in a process of its own, right after the prediction. Added load only",
            "computes.", "", "| predictions | count | inside | median stated error | median error |", "|---|--:|--:|--:|--:|",
            row("all", found)]
    for others, title in ((0, "without added load"), (1, "beside one other program"), (2, "beside two other programs")):
        rows.append(row(title, [e for e in found if e["others"] == others]))
    for model in MODELS:
        for threads in THREADS:
            here = [e for e in found if (e["model"], e["threads"]) == (model, threads)]
            rows.append(row(f"{model}, {threads} thread{'s' if threads > 1 else ''}", here))
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Compare the stated errors of predictions with what models take.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--count", type=int, default=200, help="the number of predictions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="prediction-intervals", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = list(entries(Kelvin(arguments.kelvin, folder), arguments.count, arguments.seed))
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "seed": arguments.seed, "entries": found}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failure:
        sys.exit(f"prediction_intervals.py: {' '.join(failure.cmd)} ended with {failure.returncode}: {failure.stderr.strip()}")
