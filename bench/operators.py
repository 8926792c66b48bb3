"""Times every numeric operator of ONNX on the CPU device against ONNX Runtime, one thread each; README.md says more.

Usage: operators.py [--library PATH] [--rounds N] [--seconds N] [--only WORD,…] [--casts] [--before JSON] [--name NAME]
"""

import argparse
import json
import os
import sys
import tempfile
import time
from datetime import date

import numpy as np
import onnx
from onnx import helper, numpy_helper

import operator_cases
import operators_text
import quiet
import report
from catalog import ROOT

OPSET, IR = 23, 11
# The bytes from which an array that is given again is read in place (FeatureBinding.leastBorrowed).
IN_PLACE = 1 << 16
# The seconds from which one round is enough.
LONG = 1.0
# ONNX Runtime does not have the newest operator set for these.
OLDER = {"GroupNormalization": 21}
NEWER = {"CumProd": 26, "TensorScatter": 24, "Swish": 24}


def model(case):
    """Returns the bytes of a model of one operator, and the values of its inputs."""
    feed, constants, names = {}, [], []
    for place, value in enumerate(case.inputs):
        names.append(f"x{place}")
        if isinstance(value, operator_cases.Constant):
            constants.append(numpy_helper.from_array(np.asarray(value.array), names[-1]))
        else:
            feed[names[-1]] = value
    outputs = [f"y{place}" for place in range(case.outputs)]
    node = helper.make_node(case.operator, names, outputs, domain=case.domain, **case.attributes)
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
              for name, value in feed.items()]
    graph = helper.make_graph([node], "operator", inputs, [onnx.ValueInfoProto(name=name) for name in outputs], constants)
    opsets = [helper.make_opsetid("", OLDER.get(case.operator, NEWER.get(case.operator, OPSET)))]
    if case.domain:
        opsets.append(helper.make_opsetid(case.domain, 1))
    made = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
    inferred = onnx.shape_inference.infer_shapes(made).graph.output
    for output, found in zip(made.graph.output, inferred):
        # onnx knows no operators of other domains.
        kind = found.type.tensor_type.elem_type or inputs[0].type.tensor_type.elem_type
        output.type.tensor_type.elem_type = kind
        # Exporters write the shapes of outputs, unless they depend on values.
        shape = found.type.tensor_type.shape
        if found.type.tensor_type.HasField("shape") and all(size.HasField("dim_value") for size in shape.dim):
            output.type.tensor_type.shape.CopyFrom(shape)
    return made.SerializeToString(), feed


class Peer:
    def __init__(self, data):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])

    def run(self, feed):
        return self.session.run(None, feed)


class Kelvin:
    def __init__(self, data, case):
        import kelvin
        self.kelvin = kelvin
        self.model = kelvin.Model(data, units="cpu", threads=1, no_cache=True)
        self.names = [f"y{place}" for place in range(case.outputs)]
        # The memory of results is reused, as in ONNX Runtime: fresh pages would cost more than most operators.
        self.memory = None

    def run(self, feed):
        answer = self.model.predict(feed, outputs=self.memory)
        return [answer[name] for name in self.names]

    def keep(self, results, feed):
        """Writes the following results to these arrays, unless their sizes depend on data."""
        self.memory = dict(zip(self.names, results))
        try:
            self.run(feed)
        except self.kelvin.FeatureError:
            self.memory = None


    def about(self):
        """Returns the devices, the predicted seconds and the sources of the estimate."""
        document = self.model.plan().document
        sources = {c.get("source", "") for node in document["nodes"] for c in node["candidates"] if c["device"] == node["device"]}
        return {"devices": sorted({node["device"] for node in document["nodes"]}), "predicted": document["predicted"],
                "operators": [node["op"] for node in document["nodes"]], "sources": sorted(sources)}


class Copies:
    """The copies of inputs that a prediction makes before its operators run. Large arrays are read in place."""

    def __init__(self, feed):
        self.pairs = [(np.array(value), value) for value in feed.values() if value.nbytes < IN_PLACE]

    def run(self, _):
        for target, value in self.pairs:
            np.copyto(target, value)


def shortest(contender, feed, seconds):
    """Returns the shortest run in so many seconds."""
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        contender.run(feed)
        best = min(best, time.perf_counter() - start)
        if time.perf_counter() >= end:
            return best


def difference(ours, theirs):
    """Returns the largest difference over the largest magnitude, over all outputs; infinity for other shapes."""
    worst = 0.0
    for x, y in zip(ours, theirs):
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            return float("inf")
        x, y = x.astype(np.float64), y.astype(np.float64)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
        if not same.all():
            largest = np.nanmax(np.abs(y[np.isfinite(y)]), initial=0)
            worst = max(worst, float(np.nan_to_num(np.abs(x - y)[~same], nan=np.inf).max() / max(largest, 1e-30)))
    return worst


def measure(case, arguments):
    entry = {"operator": case.operator, "about": case.about, "domain": case.domain,
             "shapes": [list(getattr(value, "array", value).shape) for value in case.inputs]}
    data, feed = model(case)
    ours = theirs = None
    try:
        ours = Kelvin(data, case)
        first = ours.run(feed)
        entry |= ours.about()
        ours.keep([np.array(each) for each in first], feed)
    except Exception as error:
        return entry | {"error": str(error)[:300]}
    try:
        theirs = Peer(data)
        second = theirs.run(feed)
        entry["difference"] = None if case.isRandom else difference(first, second)
    except Exception as error:
        theirs, entry["peerError"] = None, str(error)[:200]
    contenders = {"prediction": ours, "peer": theirs, "inputs": Copies(feed)}
    for index in range(arguments.rounds):
        if index and entry["prediction"] > LONG:
            break
        for key, contender in contenders.items():
            if contender:
                seconds = shortest(contender, feed, arguments.seconds)
                entry[key] = min(seconds, entry.get(key, seconds))
    entry["kelvin"] = max(entry["prediction"] - entry["inputs"], 0)
    ours.model.close()
    return entry


def parse():
    parser = argparse.ArgumentParser(description="Compare every operator with ONNX Runtime.")
    parser.add_argument("--library", default=str(ROOT / ".build" / "release" / "libKelvinC.so"), help="the library to measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="the fewest seconds of a round")
    parser.add_argument("--only", default="", help="words of titles, separated by commas")
    parser.add_argument("--casts", action="store_true", help="measure the conversions between all types of elements instead")
    parser.add_argument("--before", help="results of an earlier build, whose times are shown too")
    parser.add_argument("--name", default="operators", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    load = quiet.warn()
    os.environ["KELVIN_LIBRARY"] = arguments.library
    sys.path.insert(0, str(ROOT / "Python"))
    entries = []
    # Without measurements of this machine, plans show the estimates that a new user sees.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_DATA_HOME"] = folder
        families = [operator_cases.casts] if arguments.casts else operator_cases.FAMILIES
        for case in operator_cases.cases([word for word in arguments.only.split(",") if word], families):
            entries.append(measure(case, arguments))
            print(operators_text.line(entries[-1]), flush=True)
    if arguments.before:
        with open(arguments.before) as file:
            before = {operators_text.title(entry): entry.get("kelvin") for entry in json.load(file)["cases"]}
        for entry in entries:
            entry["before"] = before.get(operators_text.title(entry))
    result = {"date": date.today().isoformat(), "machine": report.machine([]), "loadAverageBefore": load,
              "rounds": arguments.rounds, "seconds": arguments.seconds, "cases": entries}
    report.save(arguments.name, result, operators_text.markdown(result))


if __name__ == "__main__":
    main()
