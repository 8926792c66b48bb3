"""Compares two builds of Kelvin, or two precisions of one, in one run; README.md describes the measurements.

Usage: builds.py --before PATH [--after PATH] [--precisions BEFORE AFTER] [--rounds N] [--iterations N] [--models NAME,…] [--units UNIT,…] [--name NAME]
"""

import argparse
import os
import statistics
import sys
from dataclasses import dataclass
from datetime import date

import comparing
import processes
import quiet
import report
from catalog import ROOT, TITLES, Case
from contenders import ContenderFailed, Inputs, Kelvin

# The least duration of timed inferences in a round.
SECONDS = 1.0
FIGURES = {"p50": "inference", "first": "first inference", "start": "whole `predict`", "peak": "peak memory of it"}


@dataclass(frozen=True)
class Setting:
    """A model on one unit, as both builds run it."""

    title: str
    model: str
    inputs: Inputs
    units: str
    threads: int

    def contender(self, binary, precision):
        return Kelvin(binary, self.model, self.inputs, self.units, self.threads, precision, self.threads)


def settings(arguments):
    every = len(os.sched_getaffinity(0))
    for name in arguments.models.split(","):
        case = Case(name)
        path, inputs = str(case.model()[0]), case.inputs()
        for units in arguments.units.split(","):
            for threads in sorted({1, min(2, every)}) if units == "cpu" else [every]:
                yield Setting(f"{case.title}, {units}, {threads} thread{'s' if threads > 1 else ''}", path, inputs, units,
                              threads)


def measured(kelvin, iterations):
    return kelvin.round(iterations, SECONDS) | processes.whole(kelvin)


def compare(setting, arguments):
    """Runs both builds in turn, the order reversed every other round. A round that other processes disturbed is run
    again."""
    builds = [setting.contender(*which) for which in zip((arguments.before, arguments.after), arguments.precisions)]
    reference = builds[0].outputs()
    agreement = comparing.difference(builds[1].outputs(), reference)
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
    scale = max(float(abs(output).max()) for output in reference.values())
    return {"title": setting.title, "agreement": agreement | {"scale": scale}, "disturbedRounds": disturbed, "ratios": ratios,
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
        f"rounds of at least {result['iterations']} inferences and {SECONDS:g} s, interleaved. Each cell: median before → after, "
        "and the median (smallest to largest) of the paired ratios after / before.",
        "",
        f"Before: {result['before']}. After: {result['after']}.",
        "",
        "| Setting | " + " | ".join(title.capitalize() for title in FIGURES.values())
        + " | Largest difference of an output, of the largest output; same best class | Disturbed rounds, run again |",
        "|---|" + "---|" * (len(FIGURES) + 2),
    ]
    for entry in result["comparisons"]:
        cells = " | ".join(cell(figure, entry["ratios"][figure]) for figure in FIGURES)
        agrees = entry["agreement"]
        rows.append(f"| {entry['title']} | {cells} | {agrees['maxAbsolute']:.1e} of {agrees['scale']:.2g}; "
                    f"{'yes' if agrees['sameTop1'] else 'no'} | {entry['disturbedRounds']} |")
    means = ", ".join(f"{title} {statistics.geometric_mean(e['ratios'][f]['median'] for e in result['comparisons']):.3f}"
                      for f, title in FIGURES.items())
    rows += ["", f"Geometric means of the ratios: {means}."]
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Compare two builds of Kelvin.")
    parser.add_argument("--before", required=True, help="the binary that is the base of the ratios")
    parser.add_argument("--after", default=str(ROOT / ".build" / "release" / "kelvin"))
    parser.add_argument("--titles", nargs=2, help="what the two are, e.g. commits; precisions have their names otherwise")
    parser.add_argument("--precisions", nargs=2, default=(None, None), help="of the two: automatic, full or low")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=20, help="the fewest timed inferences in a round")
    parser.add_argument("--models", default="mobilenet_v2,resnet50", help=f"of {', '.join(TITLES)}")
    parser.add_argument("--units", default="cpu,vulkan:0,opencl:0")
    parser.add_argument("--name", default="builds", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    titles = arguments.titles or [p or t for p, t in zip(arguments.precisions, ("before", "after"))]
    entries = []
    for setting in settings(arguments):
        print(f"{setting.title} …", file=sys.stderr, flush=True)
        entries.append(compare(setting, arguments))
        print("; ".join(f"{FIGURES[f]} {cell(f, r)}" for f, r in entries[-1]["ratios"].items()), flush=True)
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "rounds": arguments.rounds,
              "iterations": arguments.iterations, "before": titles[0], "after": titles[1],
              "comparisons": entries}
    report.save(arguments.name, result, markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"builds.py: {failure}")
