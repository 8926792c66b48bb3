#!/usr/bin/env python3
"""Writes ONNX models whose inputs, outputs and loops have sequences of tensors, and what ONNX Runtime computes.

    python3 -m venv .venv && .venv/bin/pip install onnx onnxruntime
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has, by the model's name, a list of cases with inputs and outputs by name: an array
is `{"numbers": […], "shape": […]}`, a sequence `{"arrays": […]}`; an input that is left out is not there."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).parent
F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
expected = {}


def tensor(name, kind=F, shape=None):
    return helper.make_tensor_value_info(name, kind, shape)


def sequence(name, kind=F):
    return helper.make_tensor_sequence_value_info(name, kind, None)


def optional(name):
    inner = helper.make_sequence_type_proto(helper.make_tensor_type_proto(F, None))
    return helper.make_value_info(name, helper.make_optional_type_proto(inner))


def constant(name, values, kind=np.int64):
    return onnx.numpy_helper.from_array(np.array(values, kind), name)


def value(found):
    if isinstance(found, list):
        return {"arrays": [value(array) for array in found]}
    found = np.asarray(found)
    return {"numbers": [float(number) for number in found.ravel()], "shape": list(found.shape)}


def write(name, nodes, inputs, outputs, cases, initializers=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="Kelvin vectors")
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected[name] = []
    for given in cases:
        results = session.run(None, given)
        expected[name].append({
            "inputs": {key: value(item) for key, item in given.items() if item is not None},
            "outputs": {key: value(item) for key, item in zip(names, results)},
        })


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 4 - 1


def insert():
    """One more tensor at a place that an input gives, the last of them, how many there are."""
    nodes = [
        node("SequenceInsert", ["given", "x", "place"], ["longer"]), node("SequenceAt", ["longer", "last"], ["tail"]),
        node("Add", ["tail", "one"], ["more"]), node("SequenceLength", ["longer"], ["count"]),
        node("SequenceErase", ["given"], ["shorter"]),
    ]
    cases = [
        {"given": [floats(2, 3), floats(4)], "x": floats(2), "place": np.array(place)} for place in (0, 1, -1, 2)
    ] + [{"given": [floats(1)], "x": floats(3) * 2, "place": np.array(0)}]
    write("insert", nodes, [sequence("given"), tensor("x", F, ["n"]), tensor("place", I, [])], [
        sequence("longer"), tensor("more"), tensor("count", I, []), sequence("shorter")], cases,
        [constant("last", -1), constant("one", 1, np.float32)])


def split():
    """A tensor in parts, and back."""
    nodes = [
        node("SplitToSequence", ["x", "sizes"], ["parts"], axis=1),
        node("SplitToSequence", ["x"], ["columns"], axis=1, keepdims=0),
        node("ConcatFromSequence", ["parts"], ["whole"], axis=1), node("Identity", ["columns"], ["same"]),
    ]
    write("split", nodes, [tensor("x", F, [2, 6])], [
        sequence("parts"), sequence("same"), tensor("whole", F, [2, 6])], [{"x": floats(2, 6)}],
        [constant("sizes", [1, 3, 2])])


def squared():
    """The same for each element, beside one tensor for all."""
    body = helper.make_graph(
        [node("Mul", ["a", "a"], ["square"]), node("Add", ["square", "b"], ["sum"]), node("Shape", ["a"], ["sizes"])],
        "body", [tensor("a"), tensor("b")], [tensor("sum"), tensor("sizes", I)])
    nodes = [node("SequenceMap", ["given", "offset"], ["sums", "shapes"], body=body)]
    cases = [{"given": given, "offset": np.array([0.5], np.float32)} for given in (
        [floats(3), floats(2, 2), floats(1)], [floats(5)])]
    write("squared", nodes, [sequence("given"), tensor("offset", F, [1])], [
        sequence("sums"), sequence("shapes", I)], cases)


def grown():
    """A loop that appends a longer part of a tensor in each iteration, and counts its elements."""
    body = helper.make_graph([
        node("Add", ["trip", "one"], ["end"]), node("Unsqueeze", ["end", "first"], ["ends"]),
        node("Slice", ["x", "first", "ends"], ["part"]), node("SequenceInsert", ["before", "part"], ["after"]),
        node("SequenceLength", ["after"], ["length"]), node("Identity", ["condition"], ["goes_on"]),
    ], "body", [tensor("trip", I, []), tensor("condition", B, []), sequence("before")], [
        tensor("goes_on", B, []), sequence("after"), tensor("length", I, [])])
    nodes = [node("Loop", ["trips", "", "given"], ["parts", "lengths"], body=body)]
    cases = [{"trips": np.array(trips), "given": given, "x": floats(5)} for trips, given in (
        (3, [floats(2)]), (1, []), (5, [floats(1, 1), floats(2)]))]
    write("grown", nodes, [tensor("trips", I, []), sequence("given"), tensor("x", F, [5])], [
        sequence("parts"), tensor("lengths", I, ["n"])], cases, [constant("one", 1), constant("first", [0])])


def chosen():
    """Sides of a branch with different tensors."""
    then = helper.make_graph([node("SequenceConstruct", ["x", "y"], ["two"])], "then", [], [sequence("two")])
    otherwise = helper.make_graph([node("SequenceConstruct", ["y"], ["one"])], "otherwise", [], [sequence("one")])
    nodes = [node("If", ["condition"], ["result"], then_branch=then, else_branch=otherwise)]
    cases = [{"condition": np.array(side), "x": floats(2), "y": floats(3)} for side in (True, False)]
    write("chosen", nodes, [tensor("condition", B, []), tensor("x", F, [2]), tensor("y", F, [3])], [
        sequence("result")], cases)


def maybe():
    """An optional sequence."""
    then = helper.make_graph([
        node("OptionalGetElement", ["given"], ["found"]), node("SequenceInsert", ["found", "x"], ["two"])],
        "then", [], [sequence("two")])
    otherwise = helper.make_graph([node("SequenceConstruct", ["x"], ["one"])], "otherwise", [], [sequence("one")])
    nodes = [
        node("OptionalHasElement", ["given"], ["is_there"]),
        node("If", ["is_there"], ["result"], then_branch=then, else_branch=otherwise)]
    cases = [{"given": [floats(3), floats(1)], "x": floats(2)}, {"given": None, "x": floats(2)}]
    write("maybe", nodes, [optional("given"), tensor("x", F, [2])], [
        tensor("is_there", B, []), sequence("result")], cases)


def found():
    """Tensors whose sizes are found in data, between graphs."""
    nodes = [
        node("NonZero", ["x"], ["places"]), node("Cast", ["places"], ["numbers"], to=F),
        node("SequenceConstruct", ["numbers", "x"], ["both"]), node("SequenceAt", ["both", "zero"], ["numbers_again"]),
        node("ReduceSum", ["numbers_again"], ["sum"], keepdims=0)]
    cases = [{"x": np.array(x, np.float32)} for x in ([0, 3, 0, 4], [1, 2, 3, 4])]
    write("found", nodes, [tensor("x", F, [4])], [sequence("both"), tensor("sum", F, [])], cases, [constant("zero", 0)])


for make in (insert, split, squared, grown, chosen, maybe, found):
    make()
lines = ",\n".join(f'"{name}": {json.dumps(made)}' for name, made in expected.items())
(FOLDER / "expected.json").write_text(f"{{\n{lines}\n}}\n")
