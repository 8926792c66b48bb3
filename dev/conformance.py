#!/usr/bin/env python3
"""Runs coremltools' own tests and the standard ONNX backend suite on Kelvin, and compares their counts with the last
ones.

    dev/conformance.py [--write] [--timeout SECONDS] [--reasons COUNT] [--others FILE] [NAME…]
    dev/conformance.py --sample          some modules, which take less than a minute
    dev/conformance.py --page [--check]  writes the counts into docs/conformance.md, or fails where they are not in it

NAME is part of a module's name; the default is all. Each runs in a separate process, which is ended after
`--timeout`. `--reasons` is how many of each module's failures are shown; `--others` appends a line of JSON for every test
that does not pass. A test is *refused* if Kelvin reports that it lacks a feature, *failed* if it reports another error
or is wrong. Passes may only rise, except for tests that are skipped because a package is missing. Tests/Python/conformance.json
has the recorded counts, and --write replaces them for the modules that ran.

The package is this checkout's, the library $KELVIN_LIBRARY, and .build/release/libKelvinC.so unless set. The Python is
$KELVIN_PYTHON, or if unset one in .build/conformance with the packages of dev/conformance.txt.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESTS = ROOT / "Tests/Python"
BASELINE = TESTS / "conformance.json"
REQUIREMENTS = ROOT / "dev/conformance.txt"
PAGE = ROOT / "docs/conformance.md"
#: Modules of tests, by the package and the folder that they are in.
SUITES = {
    "converters.mil.mil.ops.tests": {
        "iOS14": (
            "activation", "control_flow", "conv", "elementwise_binary", "elementwise_unary", "image_resizing", "linear",
            "normalization", "pool", "random", "recurrent", "reduction", "scatter_gather", "tensor_operation",
            "tensor_transformation"),
        "iOS15": ("elementwise_unary", "image_resizing", "tensor_transformation"),
        "iOS16": (
            "constexpr_ops", "conv", "image_resizing", "scatter_gather", "tensor_operation", "tensor_transformation"),
        "iOS17": (
            "activation", "conv", "elementwise_unary", "image_resizing", "linear", "normalization", "quantization",
            "recurrent", "reduction", "scatter_gather", "tensor_operation", "tensor_transformation"),
        "iOS18": ("compression", "recurrent", "states", "tensor_transformation", "transformers"),
        "coreml_dialect": ("coreml_dialect",),
    },
    "test": {
        "ml_program": ("compression", "utils"),
        "ml_program.experimental": (
            "async_wrapper", "compute_plan_utils", "debugging_utils", "perf_utils", "remote_device",
            "torch_debugging_utils"),
        "neural_network": (
            "compiled_model", "custom_neural_nets", "model", "neural_networks", "nn_builder", "numpy_nn_layers",
            "quantization", "simple_nn_inference", "tf_numeric"),
        "optimize": ("utils",),
        "optimize.api": ("optimize_api",),
        "optimize.coreml": ("passes", "post_training_quantization"),
        "optimize.torch": ("api_surface", "base_optimizer"),
        "optimize.torch.conversion.joint": ("joint_compression_conversion",),
        "optimize.torch.conversion.palettization": ("palettization_conversion",),
        "optimize.torch.conversion.pruning": ("pruning_conversion",),
        "optimize.torch.conversion.quantization": ("quantization_conversion",),
        "optimize.torch.layerwise_compression": ("algorithms", "quant"),
        "optimize.torch.palettization": (
            "palettization_api", "palettization_utils", "palettizer", "post_training_palettization", "sensitive_k_means"),
        "optimize.torch.pruning": ("base_pruner", "magnitude_pruner", "pruning_scheduler"),
        "optimize.torch.quantization": (
            "configure", "coreml_quantizer", "learnable_fake_quantize", "observers", "post_training_quantization",
            "quantizer", "utils"),
        "optimize.torch.test_utils": (
            "fsdp_utils", "k_means", "metadata_utils", "optimizer_utils", "report_utils", "torch_utils",
            "validation_utils"),
    },
}
MODULES = {
    f"{group}.{name}": f"coremltools.{package}.{group}.test_{name}"
    for package, groups in SUITES.items() for group, names in groups.items() for name in names}
ONNX = "onnx"
SAMPLE = ("iOS14.linear", "iOS15.elementwise_unary", "iOS18.states", "ml_program.compression", "neural_network.model")
KINDS = ("passed", "failed", "refused", "skipped")


def interpreter():
    """Returns a Python with the packages that the suites need."""
    if "KELVIN_PYTHON" in os.environ:
        return os.environ["KELVIN_PYTHON"]
    folder = ROOT / ".build/conformance"
    python, stamp = folder / "bin/python", folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != REQUIREMENTS.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", REQUIREMENTS], check=True)
        stamp.write_text(REQUIREMENTS.read_text())
    return str(python)


def journal(file):
    """Returns the outcome of every test and its message, by name; None for a test that was running at the end."""
    tests = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        row = json.loads(line)
        known = tests.setdefault(row["test"], None)
        # A test that fails during teardown counts as failed.
        if "outcome" in row and (known is None or row["outcome"] in ("failed", "refused")):
            tests[row["test"]] = (row["outcome"], row["said"])
    return tests


def run(python, name, timeout):
    """Returns the outcomes of a module's tests, by name, and the reason if the run did not end by itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "journal"
        tests = [str(TESTS / "onnx_suite.py")] if name == ONNX else [
            "-p", "coremltools_conformance", "--pyargs", MODULES[name]]
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "Python"), str(TESTS)]), "PYTHONDONTWRITEBYTECODE": "1",
            "KELVIN_JOURNAL": str(file), "KELVIN_CACHE_DIR": f"{folder}/cache",
            "KELVIN_LIBRARY": os.environ.get("KELVIN_LIBRARY", str(ROOT / ".build/release/libKelvinC.so")),
            # Converted models are removed with the folder.
            "TMPDIR": folder,
            # NumPy's vectorized argsort orders equal elements otherwise than on a Mac, where tests compare the order.
            "NPY_DISABLE_CPU_FEATURES": "AVX2 AVX512F AVX512_SKX AVX512_ICL",
        }
        with open(f"{folder}/output", "wb") as output:
            try:
                status = subprocess.run(
                    [python, "-m", "pytest", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "conformance_journal", *tests],
                    cwd=folder, stdout=output, stderr=subprocess.STDOUT, check=False, env=environment, timeout=timeout).returncode
                trouble = None if status in (0, 1, 5) else f"ended with status {status}"
            except subprocess.TimeoutExpired:
                trouble = f"did not end within {timeout} s"
        results = journal(file)
        if trouble and not results:
            trouble += ": " + pathlib.Path(folder, "output").read_text(errors="replace")[-1000:]
        return {
            test: ended or ("failed", f"the run {trouble or 'ended'} in this test") for test, ended in results.items()}, trouble


def counted():
    """Returns the recorded counts, by module."""
    return json.loads(BASELINE.read_text()) if BASELINE.exists() else {}


def fall(counts, before):
    """Returns the number of a module's tests that no longer pass; a test that is skipped instead does not count."""
    skipped = counts.get("skipped", 0) - before.get("skipped", 0)
    return before.get("passed", 0) - counts.get("passed", 0) - max(skipped, 0)


def measure(names, known, arguments):
    """Runs modules and returns those with fewer passes than recorded."""
    python = interpreter()
    fallen = []
    for name in names:
        results, trouble = run(python, name, arguments.timeout)
        if trouble:
            fallen.append(f"{name}: its tests {trouble}")
        counts = collections.Counter(outcome for outcome, _ in results.values())
        print(f"{name}: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]), flush=True)
        reasons = collections.Counter(said for outcome, said in results.values() if outcome == "failed")
        for reason, number in reasons.most_common(arguments.reasons):
            print(f"    {number} × {reason[:200]}", flush=True)
        if arguments.others:
            with open(arguments.others, "a", encoding="utf-8") as file:
                for test, (outcome, said) in results.items():
                    if outcome != "passed":
                        print(json.dumps({"module": name, "test": test, "outcome": outcome, "said": said}), file=file)
        before = known.get(name, {})
        if fall(counts, before) > 0:
            fallen.append(f"{name}: {counts['passed']} passed, {before['passed']} did before")
        if arguments.write and counts:
            # The file is read again, because two runs may be in progress.
            written = {**counted(), name: {kind: counts[kind] for kind in KINDS if counts[kind]}}
            BASELINE.write_text(json.dumps(written, indent=2, sort_keys=True) + "\n")
    return fallen


def suite(name):
    """Returns the page's name of a module's suite."""
    if name == ONNX:
        return "ONNX backend suite"
    folder = name.split(".")[0]
    return f"`test/{folder}`" if folder in ("ml_program", "neural_network", "optimize") else "`mil/ops/tests`"


def tables(known):
    """Returns the counts as in the page: of each suite, and of each module."""
    names = [name for name in (*MODULES, ONNX) if name in known]
    totals = {}
    for name in names:
        totals.setdefault(suite(name), collections.Counter()).update(known[name])
    head = "| {} | passed | failed | refused | skipped | passed of what is not refused |\n|---|--:|--:|--:|--:|--:|"
    lines = [head.format("suite")]
    lines += [row(name, counts) for name, counts in totals.items()]
    lines += [row("all", sum(totals.values(), collections.Counter())), "", head.format("module")]
    return "\n".join(lines + [row(f"`{name}`", known[name]) for name in names])


def row(name, counts):
    run = counts.get("passed", 0) + counts.get("failed", 0)
    share = f"{100 * counts.get('passed', 0) / run:.1f} %" if run else "–"
    return f"| {name} | " + " | ".join(f"{counts.get(kind, 0):,}" for kind in KINDS) + f" | {share} |"


def write_page(known, checks):
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- counts -->\n")
    _, end, after = rest.partition("<!-- end of counts -->\n")
    made = f"{before}<!-- counts -->\n{tables(known)}\n{end}{after}"
    if checks and made != text:
        sys.exit(f"{PAGE.relative_to(ROOT)} has other counts than {BASELINE.relative_to(ROOT)}: run dev/conformance.py --page")
    PAGE.write_text(made, encoding="utf-8")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--timeout", type=float, default=3600)
    arguments.add_argument("--reasons", type=int, default=5)
    arguments.add_argument("--others", type=pathlib.Path)
    arguments.add_argument("--sample", action="store_true")
    arguments.add_argument("--page", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("names", nargs="*")
    arguments = arguments.parse_args()
    known = counted()
    if arguments.page:
        return write_page(known, arguments.check)
    names = SAMPLE if arguments.sample else [
        name for name in (*MODULES, ONNX) if not arguments.names or any(part in name for part in arguments.names)]
    fallen = measure(names, known, arguments)
    if fallen and not arguments.write:
        sys.exit("\n".join(fallen))


if __name__ == "__main__":
    main()
