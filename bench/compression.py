#!/usr/bin/env python3
"""Compares copies of a model with smaller weights, by `kelvin compress` and by coremltools: the processor time, the squared
error of the weights, and whether coremltools reads Kelvin's copies as Kelvin does.

Usage: compression.py [--kelvin PATH] [--model PACKAGE] [--rounds N] [--name NAME]; in an environment with coremltools 9, numpy
and scikit-learn. README.md says more.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import numpy

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARED = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT.parent / "shared"))
FORMS = ["palette-8", "palette-6", "palette-4", "palette-2", "int8"]

# One copy by coremltools; prints the processor time of the compression alone.
PEER = """
import resource, sys, logging
import coremltools as ct, coremltools.optimize.coreml as cto
source, target, form = sys.argv[1:]
model = ct.models.MLModel(source, skip_model_load=True)
before = resource.getrusage(resource.RUSAGE_SELF)
if form == "int8":
    config = cto.OptimizationConfig(global_config=cto.OpLinearQuantizerConfig(mode="linear_symmetric", weight_threshold=2048))
    copy = cto.linear_quantize_weights(model, config)
else:
    config = cto.OptimizationConfig(global_config=cto.OpPalettizerConfig(
        mode="kmeans", nbits=int(form.split("-")[1]), weight_threshold=2048))
    copy = cto.palettize_weights(model, config)
after = resource.getrusage(resource.RUSAGE_SELF)
copy.save(target)
print("SECONDS", after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
"""


def constants(package):
    """Every constant and compressed weight of a package as coremltools decodes it, by name, without its suffixes."""
    import coremltools as ct
    from coremltools.converters.mil.frontend.milproto.load import load

    model = ct.models.MLModel(str(package), skip_model_load=True)
    program = load(model.get_spec(), model.get_spec().specificationVersion, str(model.weights_dir))
    found = {}
    for operation in program.functions["main"].operations:
        if operation.op_type.startswith("constexpr"):
            value = operation.materialized_val_inference()
        elif operation.op_type == "const":
            value = operation.outputs[0].val
        else:
            continue
        if isinstance(value, numpy.ndarray) and value.dtype in (numpy.float16, numpy.float32):
            name = operation.outputs[0].name
            for suffix in ("_palettized", "_quantized"):
                name = name.removesuffix(suffix)
            found[name] = value.astype(numpy.float64)
    return found


def relative_error(original, copy):
    """The squared error of the weights that differ, by the sum of their squares, and their number."""
    names = [name for name in original if name in copy and original[name].size >= 2048 and original[name].ndim > 1]
    error = sum(((original[name] - copy[name].reshape(original[name].shape)) ** 2).sum() for name in names)
    return error / sum((original[name] ** 2).sum() for name in names), len(names)


def spent(command):
    """The processor time of a program and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kelvin", default=str(ROOT / ".build/release/kelvin"))
    parser.add_argument("--model", default=str(SHARED / "models/MobileNetV2_f16.mlpackage"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--name", default="compression")
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    original = constants(asked.model)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            ours, plain, theirs = [], [], []
            mine, peers = f"{folder}/kelvin.mlpackage", f"{folder}/peer.mlpackage"
            for number in range(asked.rounds):
                for path in (mine, peers):
                    shutil.rmtree(path, ignore_errors=True)
                seconds, _ = spent([asked.kelvin, "compress", asked.model, mine, "--form", "original"])
                plain.append(seconds)
                shutil.rmtree(mine)
                seconds, _ = spent([asked.kelvin, "compress", asked.model, mine, "--form", form])
                ours.append(seconds)
                # A peer's round takes up to two minutes.
                if number == 0:
                    _, output = spent([sys.executable, "-c", PEER, asked.model, peers, form])
                    theirs.append(float(output.split("SECONDS")[1]))
                    peer_error, _ = relative_error(original, constants(peers))
            decoded = constants(mine)
            error, count = relative_error(original, decoded)
            stated = json.loads(subprocess.run(
                [asked.kelvin, "compress", asked.model, f"{folder}/again.mlpackage", "--form", form, "--json"],
                capture_output=True, text=True, check=True).stdout)
            shutil.rmtree(f"{folder}/again.mlpackage")
            worst = max(
                abs(weight["relativeError"] - ((original[weight["name"]] - decoded[weight["name"]].reshape(
                    original[weight["name"]].shape)) ** 2).sum() / (original[weight["name"]] ** 2).sum())
                for weight in stated["weights"])
            rows.append({
                "form": form, "weights": count, "kelvinSeconds": statistics.median(ours),
                "kelvinPlainSeconds": statistics.median(plain), "peerSeconds": statistics.median(theirs),
                "kelvinError": error, "peerError": peer_error, "statedErrorDifference": worst, "bytes": stated["bytes"]})
            print(json.dumps(rows[-1]), file=sys.stderr)
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "model": pathlib.Path(asked.model).name, "rounds": asked.rounds, "rows": rows}
    lines = ["# Compression against coremltools 9.0", "",
             report.heading(result, f"{asked.rounds} rounds of Kelvin and one of coremltools for each form"), "",
             f"The model is {result['model']}. Time is processor time. For coremltools it is that of the compression alone. For Kelvin it "
             "is that of the whole command, and that of the coding: the command's, less that of a copy with the original weights, which "
             "reads and writes the model. The ratios are coremltools' time by both. The error is the squared error of all weights by the "
             "sum of their squares, as coremltools decodes both copies.", "",
             "| form | command | coding | coremltools | ratios | error, Kelvin | error, coremltools | bytes |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        coding = row["kelvinSeconds"] - row["kelvinPlainSeconds"]
        lines.append(
            f"| {row['form']} | {row['kelvinSeconds']:.2f} s | {coding:.2f} s | {row['peerSeconds']:.1f} s | "
            f"{row['peerSeconds'] / row['kelvinSeconds']:.0f}, {row['peerSeconds'] / coding:.0f} | {row['kelvinError']:.3e} | "
            f"{row['peerError']:.3e} | {row['bytes']:,} |")
    largest = max(row["statedErrorDifference"] for row in rows)
    lines += ["", f"The errors that Kelvin states for single weights differ from coremltools' decoding by at most {largest:.1e}.", ""]
    report.save(asked.name, result, "\n".join(lines))


if __name__ == "__main__":
    main()
