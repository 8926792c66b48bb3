"""Measures the difference of networks' outputs between a device and the CPU device. README.md says more.

Usage: gpu_agreement.py [--kelvin PATH] [--device ID] [--models NAME,…] [--name NAME]
"""

import argparse
import os
import sys
from datetime import date

import comparing
import report
from catalog import ROOT, TITLES, Case
from contenders import ContenderFailed, Kelvin, device

MODELS = ("squeezenet", "mobilenet_v2", "resnet50", "vit_b16", "minilm", "unet")
# The limits of the largest absolute difference by precision; other precisions are for information.
LIMITS = {"full": 1e-3}
PRECISIONS = ("full", "low")


def compare(arguments, name):
    case, every = Case(name), len(os.sched_getaffinity(0))
    path, inputs = str(case.model()[0]), case.inputs()

    def outputs(unit, precision):
        return Kelvin(arguments.kelvin, path, inputs, unit, every, precision, every).outputs()

    reference = outputs("cpu", "full")
    scale = max(float(abs(values).max()) for values in reference.values())
    for precision in PRECISIONS:
        agrees = comparing.difference(outputs(arguments.device, precision), reference)
        yield {"title": case.title, "precision": precision, "scale": scale, **agrees, "limit": LIMITS.get(precision),
               "verdict": verdict(agrees, LIMITS.get(precision))}


def verdict(agrees, limit):
    if limit is None:
        return "compared"
    return "met" if agrees["sameTop1"] and agrees["maxAbsolute"] <= limit else "wrong output"


def markdown(result):
    rows = ["Against Kelvin's CPU device at precision full, for the same input.", "",
            "| Network | Precision on the device | Largest difference | Of the largest output | Same top-1 | At most | Verdict |",
            "|---|---|---|---|---|---|---|"]
    for each in result["comparisons"]:
        limit = "–" if each["limit"] is None else f"{each['limit']:.0e}"
        rows.append(f"| {each['title']} | {each['precision']} | {each['maxAbsolute']:.1e} | {each['scale']:.2g} | "
                    f"{'yes' if each['sameTop1'] else 'no'} | {limit} | {each['verdict']} |")
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Compare a device's outputs with the CPU's.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to run")
    parser.add_argument("--device", default="vulkan:0")
    parser.add_argument("--models", default=",".join(MODELS), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--name", default="gpu-agreement", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    about = device(arguments.kelvin, arguments.device)
    entries = [entry for name in arguments.models.split(",") for entry in compare(arguments, name)]
    result = {"date": date.today().isoformat(), "device": about["name"], "driver": about["driver"], "comparisons": entries}
    text = markdown(result)
    report.save(arguments.name, result, text)
    print(text, end="")
    if any(entry["verdict"] == "wrong output" for entry in entries):
        sys.exit("gpu_agreement.py: the device answers something else than the CPU")


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"gpu_agreement.py: {failure}")
