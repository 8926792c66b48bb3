"""Compares two builds of Kelvin in one run; README.md says what is measured.

Usage: builds.py --before PATH [--after PATH] [--rounds N] [--iterations N] [--models NAME,…] [--units UNIT,…] [--name NAME]
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date

import peers
import quiet
import report
from contenders import ContenderFailed, Kelvin

FIGURES = {"p50": "inference", "first": "first inference", "start": "whole `predict`", "peak": "peak memory of it"}


@dataclass(frozen=True)
class Setting:
    """A model on one unit, as both builds run it."""

    title: str
    model: str
    units: str
    threads: int

    def contender(self, binary, tensor):
        return Kelvin(binary, self.model, tensor, self.units, self.threads, None, self.threads)


def settings(arguments):
    every = len(os.sched_getaffinity(0))
    for name in arguments.models.split(","):
        path, _ = peers.model_path(name)
        for units in arguments.units.split(","):
            for threads in sorted({1, min(2, every)}) if units == "cpu" else [every]:
                yield Setting(f"{peers.TITLES[name]}, {units}, {threads} thread{'s' if threads > 1 else ''}", str(path),
                              units, threads)


def whole(kelvin):
    """Seconds and peak bytes of one process that loads, predicts once and writes its outputs, caches warm."""
    allowed = sorted(os.sched_getaffinity(0))[:kelvin.processors]
    with tempfile.TemporaryDirectory() as folder:
        command = [kelvin.binary, "predict", kelvin.model, "--input", f"image={kelvin.tensor}", "--output-dir", folder,
                   *kelvin.options()]
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: os.sched_setaffinity(0, allowed))
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise ContenderFailed(f"exit status {process.returncode}: {' '.join(command)}")
    return {"start": seconds, "peak": usage.ru_maxrss * 1024}


def measured(kelvin, iterations):
    return {**kelvin.round(iterations), **whole(kelvin)}


def compare(setting, arguments, tensor):
    """Runs both builds in turn, the order reversed every other round; a round that others disturbed is run again."""
    builds = [setting.contender(binary, tensor) for binary in (arguments.before, arguments.after)]
    reference = builds[0].outputs()
    agreement = peers.difference(builds[1].outputs(), reference)
    for build in builds:
        measured(build, 1)
    rounds, disturbed = [], 0
    while len(rounds) < arguments.rounds:
        pair = [None, None]
        with quiet.Window() as window:
            for which in (0, 1) if len(rounds) % 2 == 0 else (1, 0):
                pair[which] = measured(builds[which], arguments.iterations)
        if window.others <= quiet.LIMIT or disturbed >= 2 * arguments.rounds:
            rounds.append({"before": pair[0], "after": pair[1], "others": window.others})
        else:
            disturbed += 1
    ratios = {}
    for figure in FIGURES:
        each = [r["after"][figure] / r["before"][figure] for r in rounds]
        ratios[figure] = {"median": statistics.median(each), "min": min(each), "max": max(each),
                          "before": statistics.median(r["before"][figure] for r in rounds),
                          "after": statistics.median(r["after"][figure] for r in rounds)}
    return {"title": setting.title, "agreement": agreement, "disturbedRounds": disturbed, "ratios": ratios,
            "rounds": rounds}


def shown(figure, value):
    return f"{value / 1e6:.0f} MB" if figure == "peak" else report.milliseconds(value)


def cell(figure, ratio):
    return (f"{shown(figure, ratio['before'])} → {shown(figure, ratio['after'])}: "
            f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})")


def markdown(result):
    about = result["machine"]
    rows = [
        f"Measured {result['date']} on {about['processors']} processors of {about['processor']}; {result['rounds']} "
        f"rounds of {result['iterations']} inferences, interleaved. Each cell: median before → after, and the median "
        "(smallest to largest) of the paired ratios after / before.",
        "",
        f"Before: {result['before']}. After: {result['after']}.",
        "",
        "| Setting | " + " | ".join(title.capitalize() for title in FIGURES.values())
        + " | Largest difference of an output | Disturbed rounds, run again |",
        "|---|" + "---|" * (len(FIGURES) + 2),
    ]
    for entry in result["comparisons"]:
        cells = " | ".join(cell(figure, entry["ratios"][figure]) for figure in FIGURES)
        rows.append(f"| {entry['title']} | {cells} | {entry['agreement']['maxAbsolute']:.1e} | "
                    f"{entry['disturbedRounds']} |")
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Compare two builds of Kelvin.")
    parser.add_argument("--before", required=True, help="the binary that is the base of the ratios")
    parser.add_argument("--after", default=str(peers.ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--titles", nargs=2, default=("before", "after"), help="what the two builds are, e.g. commits")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=20, help="timed inferences in a round")
    parser.add_argument("--models", default="mobilenet_v2,resnet50", help=f"of {', '.join(peers.TITLES)}")
    parser.add_argument("--units", default="cpu,vulkan:0,opencl:0")
    parser.add_argument("--name", default="builds", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    tensor = peers.input_tensor()
    entries = []
    for setting in settings(arguments):
        print(f"{setting.title} …", file=sys.stderr, flush=True)
        entries.append(compare(setting, arguments, tensor))
        print("; ".join(f"{FIGURES[f]} {cell(f, r)}" for f, r in entries[-1]["ratios"].items()), flush=True)
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "rounds": arguments.rounds,
              "iterations": arguments.iterations, "before": arguments.titles[0], "after": arguments.titles[1],
              "comparisons": entries}
    report.save(arguments.name, result, markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"builds.py: {failure}")
