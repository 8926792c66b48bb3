#!/usr/bin/env python3
"""Measures the time of segmenting an image besides the model's own time, as one page of Markdown. README.md says
more.

Usage: segmentation.py MODEL FILE… [--level 3] [--iterations 30] [--tool .build/release/ImageBench]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
from datetime import date

import quiet
import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
BAR = 0.060
STEPS = ["decoding", "model, with fitting and map", "overlay", "overlay as PNG", "map as PNG"]


def measured(tool, model, level, iterations, files):
    """For each file its iterations: seconds of the model alone, then of each step."""
    command = [tool, "segment", model, level, iterations, *files]
    lines = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [(int(number), [float(word) for word in words]) for number, *words in map(str.split, lines)]
    return [[words for number, words in rows if number == index] for index in range(len(files))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="+")
    parser.add_argument("--level", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--tool", type=pathlib.Path, default=ROOT / ".build/release/ImageBench")
    arguments = parser.parse_args()
    load = quiet.warn()
    with quiet.Window() as window:
        results = measured(arguments.tool, arguments.model, arguments.level, arguments.iterations, arguments.files)
    processor = report.machine([])["processor"]
    print(f"Measured {date.today()} on {os.cpu_count()} processors of {processor} by `bench/segmentation.py`, medians of "
          f"{arguments.iterations} iterations in one process, PNG level {arguments.level}; load average before: {load:.1f}; others "
          f"took {window.others:.0%} of the processors.\n")
    print(f"{arguments.model.name}; `added` is the median, over the iterations, of all steps less the model alone, which is given an "
          "image of its own size just before.\n")
    print("| image | model alone | " + " | ".join(STEPS) + " | added | nine of ten |\n|---|" + "---|" * (len(STEPS) + 3))
    worst = 0
    for path, rows in zip(arguments.files, results):
        added = sorted(sum(steps) - alone for alone, *steps in rows)
        worst = max(worst, statistics.median(added))
        cells = [report.milliseconds(statistics.median(column)) for column in zip(*rows)]
        print(f"| {path.name} | " + " | ".join(cells) + f" | {report.milliseconds(statistics.median(added))} | {report.milliseconds(added[len(added) * 9 // 10])} |")
    print(f"\nHeld to: decoding to overlay adds at most {report.milliseconds(BAR)}: {'met' if worst <= BAR else 'missed'}.")


if __name__ == "__main__":
    main()
