#!/usr/bin/env python3
"""Rows a second of kelvin predict --csv, and its memory, as one page of Markdown.

Usage: tables.py [--rows 1000000] [--work DIR] [--kelvin PATH]     needs a release build

The models are those of Tests/Vectors/Classical and, where ../shared (or $KELVIN_SHARED) is there, a linear model of thirteen
features. Numbers have four decimals. A run is a whole process, from file to file; the fastest of three stands. Beside it stands
what writing the same bytes takes alone (cp), and Python's csv reading them without doing anything.
"""

import argparse
import csv
import math
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
from datetime import date

import quiet
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / ".." / "shared"))
VECTORS = ROOT / "Tests/Vectors/Classical"
RATE, GROWTH = 200_000, 1.2
MODELS = [
    (SHARED / "models/boston_linear.mlmodel", [str(i) for i in range(1, 14)], "linear, 13 numbers"),
    (VECTORS / "linear.mlmodel", list("abcd"), "linear, 4 numbers"),
    (VECTORS / "logistic.mlmodel", list("abcd"), "logistic, 4 numbers, 3 classes"),
    (VECTORS / "forest_classes.mlmodel", list("abcd"), "forest, 4 numbers, 3 classes"),
    (VECTORS / "pipeline.mlmodel", list("abcd"), "scaler, normalizer and boosted trees, 4 numbers"),
]


def make_table(path, names, count):
    draw = random.Random(1)
    rows = [",".join(f"{draw.uniform(-3, 3):.4f}" for _ in names) for _ in range(5000)]
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for index in range(count):
            file.write(rows[index % len(rows)] + "\n")


def timed(command):
    """Seconds, and the most memory that was resident, in MB."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if status:
        raise SystemExit(f"{command} ended with {status}")
    return seconds, usage.ru_maxrss / 1024


def read_alone(path):
    began = time.monotonic()
    with open(path, newline="") as file:
        for _ in csv.reader(file):
            pass
    return time.monotonic() - began


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--work")
    options.add_argument("--kelvin", default=str(ROOT / ".build/release/kelvin"))
    options = options.parse_args()
    load = quiet.warn()
    print(f"Measured {date.today()} on {os.cpu_count()} processors of {report.machine([])['processor']} by `bench/tables.py`, "
          f"{options.rows:,} rows, the fastest of three runs; load average before: {load:.1f}.\n")
    print("| model | rows/s | of a tenth of the rows | memory | memory of a tenth | cp alone | Python's csv alone |")
    print("|---|---|---|---|---|---|---|")
    slowest, growth = math.inf, 0
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        whole, tenth, output = (pathlib.Path(folder) / name for name in ("in.csv", "tenth.csv", "out.csv"))
        for model, names, label in MODELS:
            if not model.exists():
                continue
            make_table(whole, names, options.rows)
            make_table(tenth, names, options.rows // 10)
            results = []
            for table in (whole, tenth):
                command = [options.kelvin, "predict", str(model), "--csv", str(table), "--output", str(output), "--units", "cpu"]
                results.append(min(timed(command) for _ in range(3)))
            growth = max(growth, results[0][1] / results[1][1])
            if label.startswith("linear"):
                slowest = min(slowest, options.rows / results[0][0])
            began = time.monotonic()
            shutil.copyfile(whole, output)
            copied = time.monotonic() - began
            rates = [f"{rows / seconds:,.0f}" for rows, (seconds, _) in zip((options.rows, options.rows // 10), results)]
            print(f"| {label} | {rates[0]} | {rates[1]} | {results[0][1]:.0f} MB | {results[1][1]:.0f} MB "
                  f"| {copied:.2f} s | {read_alone(whole):.2f} s |", flush=True)
    print(f"\nHeld to {RATE:,} rows/s for a linear model: {'met' if slowest >= RATE else 'missed'}. "
          f"Held to memory that does not grow with the table, at most {GROWTH} of a tenth's: "
          f"{'met' if growth <= GROWTH else 'missed'}.")


if __name__ == "__main__":
    main()
