"""Measures the time that Python and C add to a prediction: over the call of the library, and over Swift's. README.md
says more.

Usage: overhead.py [--swift PATH] [--rounds N] [--name NAME]

The library is the package's own, or what KELVIN_LIBRARY names.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from datetime import date

import numpy as np
import onnx

import comparing
import quiet
import report
from catalog import CACHE, ROOT, model_path
from contenders import HERE, ContenderFailed, run

sys.path.insert(0, str(ROOT / "Python"))
import kelvin  # noqa: E402

# The limit of seconds that Python adds to kelvin_predict.
BAR = 30e-6
WARM_UP = 20
# The bytes read between calls to make caches cold: about the weights of MobileNetV2.
COLD = 16 << 20


def tiny():
    """Writes a minimal model: eight numbers times a matrix, with a ReLU."""
    path = CACHE / "eight.onnx"
    weights = np.random.default_rng(1).uniform(-1, 1, (8, 8)).astype(np.float32)
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["x", "weights"], ["product"]), onnx.helper.make_node("Relu", ["product"], ["y"])],
        "eight", [onnx.helper.make_tensor_value_info("x", kind, [1, 8])],
        [onnx.helper.make_tensor_value_info("y", kind, [1, 8])], [onnx.numpy_helper.from_array(weights, "weights")])
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def cases():
    """Returns title, path, input with its shape, predictions a round, and bytes that are read before each."""
    return [("eight numbers", str(tiny()), "x=1x8", 3000, 0),
            ("eight numbers, 16 MB read before each call", str(tiny()), "x=1x8", 500, COLD),
            ("MobileNetV2, float32, two outputs", str(model_path("mobilenet_v2")[0]), "image=1x3x224x224", 200, 0)]


def build(folder):
    """Builds the timer of calls from C, and the C part of the package, with `cc` or the compiler named by CC."""
    library = os.path.join(folder, "overhead.so")
    compiler = os.environ.get("CC", "cc")
    own = [compiler, "-O2", "-shared", "-fPIC", "-I", str(ROOT / "Sources/CKelvin/include"), "-o", library,
           str(HERE / "overhead.c")]
    for command in (own, [str(ROOT / "dev/package/calls.sh")]):
        try:
            subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "CC": compiler})
        except FileNotFoundError as error:
            raise ContenderFailed(f"{command[0]} is not there: install a C compiler, or name one with CC") from error
        except subprocess.CalledProcessError as error:
            raise ContenderFailed(f"{' '.join(command)} failed:\n{error.stderr[-2000:]}") from error
    return library


def of_python(library, path, iterations, cold):
    options = ["--iterations", str(iterations), "--cold", str(cold)]
    command = [sys.executable, str(HERE / "overhead_round.py"), path, library, *options]
    return json.loads(run(command, 1).splitlines()[-1])


def of_swift(tool, path, shape, iterations):
    """The median of the Swift API's predictions, each with an array made before and a result made for it."""
    sizes = ["1"] * (WARM_UP + iterations)
    return statistics.median(map(float, run([tool, path, "cpu", "1", shape, *sizes], 1).split()[1 + WARM_UP:]))


def compare(case, library, arguments):
    title, path, shape, iterations, cold = case
    turns = [lambda: of_python(library, path, iterations, cold)]
    with_swift = arguments.swift and not cold
    if with_swift:
        turns.append(lambda: of_swift(arguments.swift, path, shape, iterations))
    rounds, disturbed = comparing.interleaved(turns, arguments.rounds)
    entry = {"title": title, "disturbedRounds": disturbed,
             **{key: comparing.summary([each[key] for each in rounds[0]]) for key in rounds[0][0]}}
    if with_swift:
        entry["swift"] = comparing.summary(rounds[1])
        entry["pythonOverSwift"] = comparing.summary([one["python"] - other for one, other in zip(*rounds)])
    over = [entry[key]["median"] for key in ("pythonMore", "lentMore")]
    entry["verdict"] = "compared" if cold else "met" if max(over) <= BAR else f"{1e6 * max(over):.0f} µs, above the bar"
    return entry


def microseconds(figures):
    if figures is None:
        return "–"
    return f"{1e6 * figures['median']:.1f} ({1e6 * figures['min']:.1f} to {1e6 * figures['max']:.1f})"


def markdown(result):
    columns = {"call": "`kelvin_predict`", "whole": "C, all of it", "python": "`predict`", "lent": "`predict`, output lent",
               "swift": "Swift", "pythonMore": "`predict` over `kelvin_predict`", "lentMore": "the same, output lent",
               "pythonOverSwift": "`predict` over Swift"}
    columns = {key: title for key, title in columns.items() if key in result["comparisons"][0]}
    rows = [report.heading(result, f"{result['rounds']} rounds on one processor and thread, interleaved"), "",
            f"Microseconds, medians of the rounds' medians (smallest to largest); held to {1e6 * BAR:.0f} over `kelvin_predict`.",
            "",
            f"| Model | {' | '.join(columns.values())} | Verdict |", "|---" * (len(columns) + 2) + "|"]
    rows += [f"| {entry['title']} | {' | '.join(microseconds(entry.get(key)) for key in columns)} | {entry['verdict']} |"
             for entry in result["comparisons"]]
    rows += ["", "`kelvin_predict` has features that are made once; *C, all of it* makes them for every prediction, gives "
             "them the array, finds the results and releases all, as Python does. Differences to C are medians over calls "
             "side by side in one process. After a model whose weights fill the caches, C's few instructions and Python's "
             "many come from memory again: the second row has the tiny model under such conditions."]
    if "swift" in columns:
        rows[-1] += " Swift is a process of its own, in the same rounds; its features are made before the clock begins."
    return "\n".join(rows + report.disturbed(result)) + "\n"


def parse():
    parser = argparse.ArgumentParser(description="Time what Python and C add to a prediction.")
    parser.add_argument("--swift", help="the program SizeBench, to set Swift beside; left out unless named")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--name", default="overhead", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    with tempfile.TemporaryDirectory() as folder:
        library = build(folder)
        entries = [compare(case, library, arguments) for case in cases()]
    cpu = next(device for device in kelvin.devices() if device.id == "cpu")
    result = {"date": date.today().isoformat(), "machine": report.machine([]) | {"kelvin": cpu.driver}, "loadAverageBefore": load,
              "rounds": arguments.rounds, "comparisons": entries}
    report.save(arguments.name, result, markdown(result))
    print(markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"overhead.py: {failure}")
