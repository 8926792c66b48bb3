"""Bytes that the weights of MobileNetV2 take on each device, of a model in float16 and of one in float32. README.md says more.

Usage: device_weights.py [--kelvin PATH] [--devices ID,…] [--precision PRECISION] [--name NAME]
"""

import argparse
import os
import sys
from datetime import date

import layers
import report
from catalog import ROOT, shared
from contenders import ContenderFailed, Inputs, Kelvin, device

MODELS = {"float16": "MobileNetV2_f16.mlpackage", "float32": "MobileNetV2_f32.onnx"}
BAR = 0.55


def packed(arguments, unit, file):
    path = shared() / file
    if not path.exists():
        raise ContenderFailed(f"{path} is missing: name the folder of models with KELVIN_SHARED")
    every = len(os.sched_getaffinity(0))
    kelvin = Kelvin(arguments.kelvin, str(path), Inputs("", ()), unit, every, arguments.precision, every)
    return layers.profiled(kelvin, 0.01).packed


def compare(arguments, unit):
    about = device(arguments.kelvin, unit)
    found = {title: packed(arguments, unit, file) for title, file in MODELS.items()}
    ratio = found["float16"] / found["float32"]
    return {"device": f"{unit}, {about['name']}", "driver": about["driver"], "bytes": found, "ratio": ratio,
            "verdict": "met" if ratio <= BAR else f"above {BAR:.2f}"}


def markdown(result):
    rows = [f"Told {result['date']} by `kelvin profile` at precision {result['precision']}: the bytes of packed weights that a "
            "device holds.", "",
            "| Device | Driver | float16 model | float32 model | float16 / float32 | Held to | Verdict |",
            "|---|---|---|---|---|---|---|"]
    for each in result["comparisons"]:
        sizes = " | ".join(f"{size / 1e6:.2f} MB" for size in each["bytes"].values())
        rows.append(f"| {each['device']} | {each['driver']} | {sizes} | {each['ratio']:.3f} | at most {BAR:.2f} | "
                    f"{each['verdict']} |")
    return "\n".join(rows) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Compare the bytes of weights on devices.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to ask")
    parser.add_argument("--devices", default="vulkan:0,opencl:0")
    parser.add_argument("--precision", choices=("automatic", "full", "high", "low"), default="automatic")
    parser.add_argument("--name", default="device-weights", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    entries = [compare(arguments, unit) for unit in arguments.devices.split(",")]
    result = {"date": date.today().isoformat(), "precision": arguments.precision, "bar": BAR, "comparisons": entries}
    text = markdown(result)
    report.save(arguments.name, result, text)
    print(text, end="")


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"device_weights.py: {failure}")
