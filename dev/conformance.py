#!/usr/bin/env python3
"""Runs coremltools' own tests and the standard ONNX backend suite on Kelvin, and compares their counts with the last ones.

    dev/conformance.py [--write] [NAME…]     NAME: part of a module's name; all of them unless said

Needs a Python with coremltools, onnx and pytest, and Kelvin's package in it ($KELVIN_PYTHON, python3 unless set). A test
is *refused* where Kelvin says that it lacks something, *failed* where it says anything else or is wrong. Passes may only
rise: Tests/Python/conformance.json has what there were; --write replaces it for the modules that ran.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESTS = ROOT / "Tests/Python"
BASELINE = TESTS / "conformance.json"
#: What Kelvin says of a model that it cannot run yet.
REFUSALS = (
    "UnsupportedError", "that Kelvin lacks", "expected a constant", "Kelvin does not", "not supported", "is not run",
    "no kernel")
OPERATIONS = "coremltools.converters.mil.mil.ops.tests"
RELEASES = {
    "iOS14": (
        "activation", "control_flow", "conv", "elementwise_binary", "elementwise_unary", "image_resizing", "linear",
        "normalization", "pool", "random", "recurrent", "reduction", "scatter_gather", "tensor_operation",
        "tensor_transformation"),
    "iOS15": ("elementwise_unary", "image_resizing", "tensor_transformation"),
    "iOS16": ("constexpr_ops", "conv", "image_resizing", "scatter_gather", "tensor_operation", "tensor_transformation"),
    "iOS17": (
        "activation", "conv", "elementwise_unary", "image_resizing", "linear", "normalization", "quantization",
        "recurrent", "reduction", "scatter_gather", "tensor_operation", "tensor_transformation"),
    "iOS18": ("compression", "recurrent", "states", "tensor_transformation", "transformers"),
}
MODULES = {
    f"{release}.{name}": f"{OPERATIONS}.{release}.test_{name}" for release, names in RELEASES.items() for name in names}


def count(report):
    """How many tests ended how, by a report of pytest's."""
    counts = collections.Counter()
    reasons = collections.Counter()
    for case in xml.parse(report).getroot().iter("testcase"):
        trouble = case.find("failure")
        if trouble is None:
            trouble = case.find("error")
        if trouble is None:
            counts["skipped" if case.find("skipped") is not None else "passed"] += 1
            continue
        text = (trouble.get("message") or "") + (trouble.text or "")
        refused = any(words in text for words in REFUSALS)
        counts["refused" if refused else "failed"] += 1
        if not refused:
            reasons[(trouble.get("message") or "").split("\n")[0][:160]] += 1
    return dict(counts), reasons


def run(python, module):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        tests = [str(TESTS / "onnx_suite.py")] if module is None else ["-p", "coremltools_conformance", "--pyargs", module]
        subprocess.run(
            [python, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", f"--junitxml={report}", *tests],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])})
        return count(report) if report.exists() else (None, None)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("names", nargs="*")
    arguments = arguments.parse_args()
    python = os.environ.get("KELVIN_PYTHON", sys.executable)
    known = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    modules = {**MODULES, "onnx": None}
    fallen = []
    for name, module in modules.items():
        if arguments.names and not any(part in name for part in arguments.names):
            continue
        counts, reasons = run(python, module)
        if counts is None:
            fallen.append(f"{name}: its tests did not run")
            continue
        print(f"{name}: " + ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())), flush=True)
        for reason, number in reasons.most_common(5):
            print(f"    {number} × {reason}")
        before = known.get(name, {}).get("passed", 0)
        if counts.get("passed", 0) < before:
            fallen.append(f"{name}: {counts.get('passed', 0)} passed, {before} did before")
        if arguments.write:
            known[name] = counts
            BASELINE.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    if fallen and not arguments.write:
        sys.exit("\n".join(fallen))


if __name__ == "__main__":
    main()
