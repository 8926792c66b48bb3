"""Measures the time that the modules of Frameworks add to predictions, over Kelvin's own calls. README.md says more.

Usage: frameworks_overhead.py [--tool .build/release/FrameworksBench] [--rounds N] [--name NAME]
"""

import argparse
import collections
import statistics
import sys
from datetime import date

import comparing
import quiet
import report
from contenders import HERE, ContenderFailed, run

ROOT = HERE.parent
# The limit of seconds that the modules add to a prediction.
BAR = 20e-6
MODELS = [str(ROOT / "Tests/Vectors/Layers/innerProduct.mlmodel"), str(ROOT / "Examples/Digits/Digits.mlpackage")]
ITERATIONS = 3000
TITLES = {
    "prediction": ("`MLModel.prediction`, features made once", "`Model.prediction`"),
    "features": ("`MLMultiArray`, `MLDictionaryFeatureProvider`, `MLModel.prediction`, one number read",
                 "`MultiArray`, `DictionaryFeatureProvider`, `Model.prediction`, one number read"),
    "request": ("`VNImageRequestHandler.perform`, one class read", "`ImageRequestHandler.perform`, one class read"),
}


def measured(tool):
    """Returns the medians of one process: those of each way, and that of the differences."""
    *lines, driver = run([tool, *MODELS, str(ITERATIONS)], 1).splitlines()
    pairs = collections.defaultdict(list)
    for line in lines:
        name, *seconds = line.split()
        pairs[name].append(tuple(map(float, seconds)))
    return {"driver": driver, **{
        name: {"kelvin": statistics.median(one for one, _ in both), "apple": statistics.median(other for _, other in both),
               "more": statistics.median(other - one for one, other in both)} for name, both in pairs.items()}}


def microseconds(figures):
    return f"{1e6 * figures['median']:.1f} ({1e6 * figures['min']:.1f} to {1e6 * figures['max']:.1f})"


def markdown(result):
    rows = [report.heading(result, f"{result['rounds']} rounds of {ITERATIONS} calls on one processor and thread, interleaved"),
            "", f"Microseconds, medians of the rounds' medians (smallest to largest); held to {1e6 * BAR:.0f} more.", "",
            "| Frameworks | Kelvin | Frameworks | Kelvin | More | Verdict |", "|---|---|---|---|---|---|"]
    rows += [f"| {' | '.join(TITLES[entry['name']])} | {microseconds(entry['apple'])} | {microseconds(entry['kelvin'])} | "
             f"{microseconds(entry['more'])} | {entry['verdict']} |" for entry in result["comparisons"]]
    rows += ["", "Both ways use the same loaded model, in one process. *More* is the median of the differences of calls of one "
             "iteration. The array model is an inner product, and the image model classifies 64 x 64 pixels into ten classes."]
    return "\n".join(rows + report.disturbed(result)) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Time what the modules of Frameworks add to predictions.")
    parser.add_argument("--tool", default=str(ROOT / ".build/release/FrameworksBench"))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--name", default="frameworks-overhead", help="results/NAME.json and results/NAME.md are written")
    arguments = parser.parse_args()
    load = quiet.warn()
    (rounds,), disturbed = comparing.interleaved([lambda: measured(arguments.tool)], arguments.rounds)
    entries = []
    for name in TITLES:
        entry = {"name": name, "disturbedRounds": disturbed}
        entry |= {key: comparing.summary([each[name][key] for each in rounds]) for key in ("kelvin", "apple", "more")}
        more = entry["more"]["median"]
        entries.append(entry | {"verdict": "met" if more <= BAR else f"{1e6 * more:.0f} µs, above the bar"})
    result = {"date": date.today().isoformat(), "machine": report.machine([]) | {"kelvin": rounds[0]["driver"]},
              "loadAverageBefore": load, "rounds": arguments.rounds, "comparisons": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"frameworks_overhead.py: {failure}")
