"""Measures the error of plans' predicted times, on one device and on several. README.md says more.

Usage: predictions.py [--kelvin PATH] [--units SET ...] [--budget SECONDS] [--also NAME=PATH ...] [--name NAME]
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import models
import report
from catalog import CACHE, model_path
from sizes import devices

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT.parent / "shared"))
FILES = {"squeezenet": "SqueezeNetFP16.mlmodel", "deeplab_v3": "DeepLabV3Int8LUT.mlmodel"}


def cases(also):
    """Returns models by name, without the missing ones."""
    found = {"mobilenet_v2": model_path("mobilenet_v2")[0], "resnet50": models.build(CACHE, "resnet50")}
    for name, file in FILES.items():
        if (SHARED / "models" / file).exists():
            found[name] = SHARED / "models" / file
    for entry in also:
        name, _, path = entry.partition("=")
        found[name] = path
    return {name: str(path) for name, path in found.items()}


def measure(kelvin, path, units, budget):
    with tempfile.TemporaryDirectory() as cache:
        command = [kelvin, "profile", path, "--units", units, "--budget", str(budget), "--json", "--cache-dir", cache]
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def entry(name, units, profile):
    checks = [{key: check[key] for key in ("plan", "nodes", "predicted", "measured", "samples", "isUndisturbed")}
              for check in profile["checks"]]
    return {"model": name, "units": units, "checks": checks, "accuracy": profile["accuracy"],
            "verdict": profile.get("trial", {}).get("reason")}


def percent(share, sign=False):
    return "–" if share is None else f"{100 * share:{'+' if sign else ''}.1f} %"


def markdown(result):
    rows = [f"Measured {result['date']} on {result['machine']['processors']} processors of "
            f"{result['machine']['processor']}{result['machine']['devices']}; {result['budget']:g} s a device; "
            f"load average before: {result['loadAverageBefore']:.2f}.", "",
            "| Model | Units | One device: median, largest | Mixed: median, largest, mean | Mixes | Tried |",
            "|---|---|---|---|---|---|"]
    for item in result["entries"]:
        one, mixed = (item["accuracy"].get(key) or {} for key in ("single", "mixed"))
        rows.append(f"| {item['model']} | {item['units']} | {percent(one.get('median'))}, {percent(one.get('largest'))} | "
                    f"{percent(mixed.get('median'))}, {percent(mixed.get('largest'))}, {percent(mixed.get('bias'), True)} | "
                    f"{mixed.get('plans', 0)} | {item['verdict'] or ''} |")
    for key, title in (("single", "one device"), ("mixed", "mixed")):
        known = [item["accuracy"][key] for item in result["entries"] if item["accuracy"].get(key)]
        if known:
            rows += ["", f"Over all, {title}: median of the medians {percent(statistics.median(a['median'] for a in known))}, "
                         f"largest error {percent(max(a['largest'] for a in known))}."]
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Compare predictions of plans with what they take.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--units", action="append", help="a set of devices; repeatable")
    parser.add_argument("--budget", type=float, default=6)
    parser.add_argument("--also", action="append", default=[], help="NAME=PATH of another model; repeatable")
    parser.add_argument("--name", default="predictions", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    sets = arguments.units or ["cpu,opencl:0", "cpu,vulkan:0,opencl:0"]
    entries = []
    for units in sets:
        for name, path in cases(arguments.also).items():
            entries.append(entry(name, units, measure(arguments.kelvin, path, units, arguments.budget)))
            print(markdown({"date": "", "machine": {"processors": 0, "processor": "", "devices": ""}, "budget": 0,
                            "loadAverageBefore": load, "entries": entries[-1:]}).splitlines()[4], file=sys.stderr)
    machine = report.machine([]) | {"devices": devices(arguments.kelvin, {u for s in sets for u in s.split(",")})}
    result = {"date": date.today().isoformat(), "machine": machine, "loadAverageBefore": load,
              "budget": arguments.budget, "entries": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failure:
        sys.exit(f"predictions.py: {' '.join(failure.cmd)} ended with {failure.returncode}: {failure.stderr.strip()}")
