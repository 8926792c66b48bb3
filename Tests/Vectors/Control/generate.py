"""Writes the vectors of ONNX's control flow: models with If, Loop and Scan, each with several inputs that take different ways.

Expected outputs come from ONNX Runtime, since ONNX's own evaluator lacks parts of Scan. One model has one `.onnx` file and a `.kv` file for each set of inputs, in
the format that ../README.md describes.

    .venv/bin/pip install onnx==1.23.2 numpy==2.4.6 onnxruntime==1.31.1
    .venv/bin/python Tests/Vectors/Control/generate.py
"""

import pathlib
import sys

import numpy as np
import onnx.parser
from onnx import helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from onnx_vectors import B, F, I, constant, node, value, write  # noqa: E402


def graph(name, nodes, inputs, outputs, initializers=()):
    return helper.make_graph(nodes, name, inputs, outputs, list(initializers))


def branches():
    """Both branches read outer values; one computes, the other passes a value through."""
    then = graph("then", [node("Mul", ["x", "factor"], ["t"]), node("Add", ["t", "shift"], ["t2"])], [],
                 [value("t2", F, [2, 3])], [constant("factor", np.float32(3))])
    other = graph("other", [node("Identity", ["x"], ["o"])], [], [value("o", F, [2, 3])])
    return graph("branches", [
        node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["positive"]),
        node("If", ["positive"], ["y"], name="choose", then_branch=then, else_branch=other),
        node("Relu", ["y"], ["z"]),
    ], [value("x", F, [2, 3]), value("shift", F, [3])], [value("z", F, [2, 3]), value("y", F, [2, 3])],
        [constant("zero", np.float32(0))])


def nested():
    """A branch in a branch, each reading values from two levels up."""
    inner_then = graph("inner_then", [node("Add", ["x", "w"], ["a"])], [], [value("a", F, [4])])
    inner_else = graph("inner_else", [node("Sub", ["x", "w"], ["b"])], [], [value("b", F, [4])])
    then = graph("then", [
        node("Mul", ["x", "x"], ["w"]),
        node("If", ["second"], ["c"], name="inner", then_branch=inner_then, else_branch=inner_else)],
        [], [value("c", F, [4])])
    other = graph("other", [node("Neg", ["x"], ["d"])], [], [value("d", F, [4])])
    return graph("nested", [node("If", ["first"], ["y"], name="outer", then_branch=then, else_branch=other)],
                 [value("x", F, [4]), value("first", B, []), value("second", B, [])], [value("y", F, [4])])


def accumulated():
    """A fixed number of iterations, two carried values that are swapped, an accumulated output."""
    body = graph("body", [
        node("Add", ["a", "b"], ["sum"]), node("Identity", ["b"], ["next_a"]), node("Mul", ["sum", "x"], ["row"]),
        node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, []), value("a", F, [2]), value("b", F, [2])],
        [value("still", B, []), value("next_a", F, [2]), value("sum", F, [2]), value("row", F, [2])])
    return graph("accumulated", [
        node("Loop", ["trips", "always", "a0", "b0"], ["a", "b", "rows"], name="fibonacci", body=body)],
        [value("x", F, [2]), value("a0", F, [2]), value("b0", F, [2])],
        [value("a", F, [2]), value("b", F, [2]), value("rows", F, [6, 2])], [constant("trips", np.int64(6)), constant("always", np.array(True))])


def data_dependent():
    """A number of iterations that depends on the data: a limit given at run time and a condition computed in the
    body."""
    body = graph("body", [
        node("Mul", ["v", "half"], ["next"]), node("ReduceMax", ["next"], ["most"], keepdims=0),
        node("Greater", ["most", "one"], ["more"]), node("Cast", ["i"], ["number"], to=F),
        node("Add", ["count", "unit"], ["next_count"])],
        [value("i", I, []), value("goes_on", B, []), value("v", F, [3]), value("count", F, [])],
        [value("more", B, []), value("next", F, [3]), value("next_count", F, [])],
        [constant("half", np.float32(0.5)), constant("one", np.float32(1)), constant("unit", np.float32(1))])
    return graph("data_dependent", [
        node("Loop", ["limit", "start", "x", "zero"], ["y", "count"], name="halve", body=body)],
        [value("x", F, [3]), value("limit", I, []), value("start", B, [])], [value("y", F, [3]), value("count", F, [])],
        [constant("zero", np.float32(0))])


def branch_in_loop():
    """A branch in each iteration, by the iteration's number."""
    then = graph("then", [node("Add", ["v", "x"], ["p"])], [], [value("p", F, [3])])
    other = graph("other", [node("Mul", ["v", "two"], ["q"])], [], [value("q", F, [3])])
    body = graph("body", [
        node("Mod", ["i", "modulus"], ["odd"]), node("Cast", ["odd"], ["is_odd"], to=B),
        node("If", ["is_odd"], ["next"], name="alternate", then_branch=then, else_branch=other),
        node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, []), value("v", F, [3])],
        [value("still", B, []), value("next", F, [3])],
        [constant("modulus", np.int64(2)), constant("two", np.float32(2))])
    return graph("branch_in_loop", [node("Loop", ["trips", "", "x"], ["y"], name="steps", body=body)],
                 [value("x", F, [3]), value("trips", I, [])], [value("y", F, [3])])


def scan():
    """A state and two scanned inputs, one of them backwards and along its second axis; the output moves to its
    second axis."""
    body = graph("body", [
        node("Add", ["s", "a"], ["t"]), node("Mul", ["t", "b"], ["row"])],
        [value("s", F, [2]), value("a", F, [2]), value("b", F, [2])], [value("t", F, [2]), value("row", F, [2])])
    return graph("scan", [
        node("Scan", ["s0", "xs", "ys"], ["s", "rows"], name="running", body=body, num_scan_inputs=2,
             scan_input_axes=[0, 1], scan_input_directions=[0, 1], scan_output_axes=[1])],
        [value("s0", F, [2]), value("xs", F, [5, 2]), value("ys", F, [2, 5])],
        [value("s", F, [2]), value("rows", F, [2, 5])])


def sequences():
    """Parts in a sequence, one taken, one put in, one left out, read inside a branch too; optional values."""
    then = graph("then", [node("SequenceAt", ["parts", "first"], ["t"])], [], [value("t", F, [3, 3])])
    other = graph("other", [node("SequenceAt", ["parts", "second"], ["o"])], [], [value("o", F, [3, 3])])
    return graph("sequences", [
        node("SplitToSequence", ["x", "three"], ["parts"]), node("SequenceAt", ["parts", "last"], ["rest"]),
        node("SequenceInsert", ["parts", "extra", "before_last"], ["fuller"]),
        node("SequenceInsert", ["fuller", "rest", "first"], ["longer"]),
        node("SequenceErase", ["longer", "second"], ["shorter"]), node("SequenceErase", ["shorter"], ["shortest"]),
        node("SequenceInsert", ["shortest", "extra"], ["all"]), node("ConcatFromSequence", ["all"], ["y"], axis=0),
        node("SequenceLength", ["longer"], ["length"]),
        node("Cast", ["length"], ["count"], to=F), node("Mul", ["extra", "count"], ["scaled"]),
        node("SplitToSequence", ["x", "sizes"], ["columns"], axis=1), node("SequenceAt", ["columns", "second"], ["column"]),
        node("SplitToSequence", ["x"], ["rows"], keepdims=0),
        node("ConcatFromSequence", ["rows"], ["transposed"], axis=-1, new_axis=1),
        node("SequenceConstruct", ["extra", "rest"], ["pair"]), node("SequenceAt", ["pair", "first"], ["picked"]),
        node("SequenceEmpty", [], ["nothing"]), node("SequenceInsert", ["nothing", "picked"], ["one"]),
        node("ConcatFromSequence", ["one"], ["same"], axis=0),
        node("If", ["takes_first"], ["chosen"], name="choose", then_branch=then, else_branch=other)],
        [value("x", F, [7, 3]), value("extra", F, [2, 3]), value("takes_first", B, [])],
        [value("y", F, [None, 3]), value("scaled", F, [2, 3]), value("column", F, [7, 2]), value("transposed", F, [3, 7]),
         value("same", F, [2, 3]), value("chosen", F, [3, 3])],
        [constant("three", np.int64(3)), constant("first", np.int64(0)), constant("second", np.int64(1)),
         constant("last", np.int64(-1)), constant("before_last", np.int64(-2)), constant("sizes", np.int64([1, 2]))])


def batched_scan():
    """A scan of operator set 8: of samples, each with a state and two sequences, one of them backwards."""
    body = helper.make_graph([
        node("Add", ["s", "x"], ["t"]), node("Mul", ["t", "y"], ["row"])], "body",
        [value("s", F, [2]), value("x", F, [2]), value("y", F, [2])], [value("t", F, [2]), value("row", F, [2])])
    return helper.make_graph([
        node("Scan", ["", "s0", "xs", "ys"], ["s", "rows"], name="each", body=body, num_scan_inputs=2, directions=[0, 1])],
        "batched_scan", [value("s0", F, [3, 2]), value("xs", F, [3, 5, 2]), value("ys", F, [3, 5, 2])],
        [value("s", F, [3, 2]), value("rows", F, [3, 5, 2])])


def functions():
    """Functions of the model: called in a branch, and with a branch and a loop inside, with local names."""
    model = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["" : 17, "own" : 1]>
        functions (float[3] x, bool first, bool second) => (float[3] y, float[3] z) {
            y = If (first) <
                then_branch = then () => (float[3] a) { a = own.bent <slope: float = 0.5> (x, second) },
                else_branch = other () => (float[3] b) { b = own.added (x) }>
            z = own.bent (y, second)
        }
        <domain: "own", opset_import: ["" : 17]>
        bent <slope: float = 0.25> (x, positive) => (y) {
            w = Sub (x, x)
            u = Add (w, x)
            y = If (positive) <
                then_branch = then () => (float[3] a) { a = LeakyRelu <alpha: float = @slope> (u) },
                else_branch = other () => (float[3] b) { a = Neg (u) b = Mul (a, x) }>
        }
        <domain: "own", opset_import: ["" : 17, "own" : 1]>
        added (x) => (y) {
            trips = Constant <value_int: int = 3> ()
            always = Cast <to: int = 9> (trips)
            y = Loop (trips, always, x) <body = body (int64 i, bool goes_on, float[3] v) => (bool still, float[3] next) {
                still = Identity (goes_on)
                no = Not (still)
                turned = own.bent (v, no)
                next = Add (turned, x)
            }>
        }""")
    return model.graph, list(model.functions)


def inputs_of(name, random):
    """Sets of inputs that take different paths through the model."""
    def floats(*shape, shift=0.0):
        return (random.uniform(-1, 1, shape) + shift).astype(np.float32)
    if name == "branches":
        return [{"x": floats(2, 3, shift=s), "shift": floats(3)} for s in (2, -2)]
    if name == "functions":
        return [{"x": floats(3), "first": np.array(a), "second": np.array(b)}
                for a, b in ((True, True), (True, False), (False, True))]
    if name == "nested":
        return [{"x": floats(4), "first": np.array(a), "second": np.array(b)}
                for a, b in ((True, True), (True, False), (False, True))]
    if name == "accumulated":
        return [{"x": floats(2), "a0": floats(2), "b0": floats(2)}]
    if name == "data_dependent":
        return [{"x": floats(3, shift=s), "limit": np.int64(n), "start": np.array(b)}
                for s, n, b in ((20, 100, True), (20, 3, True), (20, 0, True), (20, 9, False), (0.5, 9, True))]
    if name == "branch_in_loop":
        return [{"x": floats(3), "trips": np.int64(n)} for n in (0, 1, 5)]
    if name == "sequences":
        return [{"x": floats(7, 3), "extra": floats(2, 3), "takes_first": np.array(b)} for b in (True, False)]
    if name == "batched_scan":
        return [{"s0": floats(3, 2), "xs": floats(3, 5, 2), "ys": floats(3, 5, 2)}]
    return [{"s0": floats(2), "xs": floats(5, 2), "ys": floats(2, 5)}]


if __name__ == "__main__":
    write(HERE, (branches, nested, accumulated, data_dependent, branch_in_loop, scan, batched_scan, sequences, functions),
          inputs_of, opsets={"batched_scan": 8}, full_check=True)
