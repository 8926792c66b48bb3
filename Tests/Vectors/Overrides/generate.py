#!/usr/bin/env python3
"""Writes ONNX models whose initialisers are inputs too, and what ONNX Runtime computes with and without values for them.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has, by the model's name, a list of cases with inputs and outputs by name:
`{"texts": […], "shape": […]}` or `{"numbers": […], "shape": […]}`, row-major. `listed.onnx` is of version 3 of the format, in
which all initialisers are inputs and none can be given."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent
FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
R = np.random.default_rng(20261127)
expected = {}
node = helper.make_node


def texts(*items):
    return np.array(items, dtype=object)


def value(array):
    if array.dtype.kind in "OU":
        return {"texts": [str(text) for text in array.ravel()], "shape": list(array.shape)}
    return {"numbers": [float(number) for number in array.ravel()], "shape": list(array.shape)}


def floats(*shape):
    return R.normal(size=shape).astype(np.float32)


def build(name, nodes, inputs, outputs, constants, cases, ir_version=8, opset=14):
    """`constants`: by name, an array, and whether it is an input too."""
    kinds = {"f": FLOAT, "i": INT64, "O": STRING}
    listed = [
        helper.make_tensor_value_info(key, kinds[array.dtype.kind], array.shape)
        for key, (array, is_input) in constants.items() if is_input]
    tensors = [
        helper.make_tensor(key, STRING, array.shape, [text.encode() for text in array.ravel()])
        if array.dtype == object else numpy_helper.from_array(array, key) for key, (array, _) in constants.items()]
    graph = helper.make_graph(
        nodes, name, listed + [helper.make_tensor_value_info(*entry) for entry in inputs],
        [helper.make_tensor_value_info(*entry) for entry in outputs], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    onnx.checker.check_model(model)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected[name] = [
        {"inputs": {key: value(array) for key, array in case.items()},
         "outputs": {key: value(array) for key, array in zip(names, session.run(None, case))}} for case in cases]


X = floats(2, 3)
build(
    "affine", [node("Mul", ["x", "scale"], ["scaled"]), node("Add", ["scaled", "offset"], ["y"])],
    [("x", FLOAT, ["n", 3])], [("y", FLOAT, ["n", 3])],
    {"scale": (floats(3), True), "offset": (floats(3), True), "unused": (floats(2), True)},
    [{"x": X}, {"x": X, "scale": floats(3)}, {"x": X, "scale": floats(3)}, {"x": X, "offset": floats(3)},
     {"x": floats(4, 3), "offset": floats(3), "scale": floats(3)}, {"x": X, "unused": floats(2)}, {"x": X}])

IMAGE = floats(1, 3, 7, 7)
build(
    "convolution",
    [node("Conv", ["x", "weights", "bias"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
     node("BatchNormalization", ["c", "gain", "shift", "mean", "variance"], ["n"]), node("Relu", ["n"], ["r"]),
     node("GlobalAveragePool", ["r"], ["p"]), node("Flatten", ["p"], ["f"]), node("Gemm", ["f", "dense", "last"], ["y"], transB=1)],
    [("x", FLOAT, [1, 3, 7, 7])], [("y", FLOAT, [1, 2])],
    {"weights": (floats(4, 3, 3, 3), True), "bias": (floats(4), True), "gain": (floats(4), True), "shift": (floats(4), False),
     "mean": (floats(4), False), "variance": (np.abs(floats(4)) + 0.5, False), "dense": (floats(2, 4), True), "last": (floats(2), False)},
    [{"x": IMAGE}, {"x": IMAGE, "weights": floats(4, 3, 3, 3)}, {"x": IMAGE, "gain": floats(4), "bias": floats(4)},
     {"x": IMAGE, "dense": floats(2, 4)}])

# Sizes follow from what is given.
build(
    "sizes", [node("Reshape", ["x", "shape"], ["r"]), node("Transpose", ["r"], ["y"])], [("x", FLOAT, [2, 3])],
    [("y", FLOAT, ["a", "b"])], {"shape": (np.array([3, 2], np.int64), True)},
    [{"x": X}, {"x": X, "shape": np.array([1, -1], np.int64)}, {"x": X, "shape": np.array([6, 1], np.int64)}])

build(
    "endings", [node("StringConcat", ["x", "ending"], ["y"])], [("x", STRING, ["n"])], [("y", STRING, ["n"])],
    {"ending": (texts("!"), True)}, [{"x": texts("a", "b")}, {"x": texts("a", "b"), "ending": texts("?")}], opset=20)

build(
    "listed", [node("Mul", ["x", "scale"], ["y"])], [("x", FLOAT, [2, 3])], [("y", FLOAT, [2, 3])], {"scale": (floats(3), True)},
    [{"x": X}], ir_version=3, opset=8)

lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
