#!/usr/bin/env python3
"""Writes models of operator sets 1 to 9, and the results of NumPy's formulas.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has the form of ../Parts/expected.json. ONNX Runtime has kernels for some of these
operators only; where it has them, the script checks that it agrees."""

import json
import math
import pathlib

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent
R = np.random.default_rng(20261128)
onnxruntime.set_default_logger_severity(4)
expected = {}
agreed = []


def value(array):
    array = np.asarray(array)
    return {"numbers": array.astype(float).ravel().tolist(), "shape": list(array.shape)}


def add(name, opset, nodes, inputs, outputs, constants=None, ir_version=3):
    """`nodes`: operator, inputs, outputs, attributes. `outputs`: what NumPy gives, by name."""
    constants = {key: np.asarray(array) for key, array in (constants or {}).items()}
    inputs = {key: np.asarray(array) for key, array in inputs.items()}

    def info(key, array):
        return helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), np.shape(array))

    graph = helper.make_graph(
        [helper.make_node(kind, given, made, **attributes) for kind, given, made, attributes in nodes], name,
        # Before version 4 of the file format every initializer is an input.
        [info(key, array) for key, array in (inputs | constants).items()],
        [info(key, array) for key, array in outputs.items()],
        [numpy_helper.from_array(array, key) for key, array in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    expected[name] = [{
        "inputs": {key: value(array) for key, array in inputs.items()},
        "outputs": {key: value(array) for key, array in outputs.items()}}]
    try:
        results = onnxruntime.InferenceSession(model.SerializeToString()).run(list(outputs), inputs)
    except Exception:
        return
    for (key, array), result in zip(outputs.items(), results):
        np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-5, err_msg=f"{name}, {key}")
    agreed.append(name)


def floats(*shape, low=-2, high=2):
    return R.uniform(low, high, shape).astype(np.float32)


x = floats(2, 3, 4, 5)

# Broadcasting from an axis on, before set 7.
for kind, function in [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", np.divide)]:
    for form, shape, aligned, attributes in [
            ("channel", (3,), (3, 1, 1), {"broadcast": 1, "axis": 1}), ("inner", (3, 4), (3, 4, 1), {"broadcast": 1, "axis": 1}),
            ("batch", (2,), (2, 1, 1, 1), {"broadcast": 1, "axis": 0}), ("last", (4, 5), (4, 5), {"broadcast": 1}),
            ("negative", (4,), (4, 1), {"broadcast": 1, "axis": -2}), ("scalar", (), (), {"broadcast": 1, "axis": 1})]:
        for opset in (1, 6) if form == "channel" else (6,):
            y = floats(*shape, low=0.5)
            add(f"{kind.lower()}_{form}_{opset}", opset, [(kind, ["x", "y"], ["z"], attributes)], {"x": x}, {
                "z": function(x, y.reshape(aligned))}, {"y": y})
y = floats(3)
base = floats(2, 3, 4, low=0.5)
add("pow_channel", 6, [("Pow", ["x", "y"], ["z"], {"broadcast": 1, "axis": 1})], {"x": base, "y": y}, {
    "z": base ** y.reshape(3, 1)})
numbers, others = R.integers(-2, 3, (2, 3, 4)).astype(np.int32), R.integers(-2, 3, (3,)).astype(np.int32)
add("equal_channel", 6, [("Equal", ["x", "y"], ["z"], {"broadcast": 1, "axis": 1})], {"x": numbers, "y": others}, {
    "z": numbers == others.reshape(3, 1)})
for kind, function in [("Less", np.less), ("Greater", np.greater)]:
    add(f"{kind.lower()}_channel", 6, [(kind, ["x", "y"], ["z"], {"broadcast": 1, "axis": 1})], {"x": base, "y": y}, {
        "z": function(base, y.reshape(3, 1))})
truths, more = R.uniform(size=(2, 3, 4)) < 0.5, R.uniform(size=(3,)) < 0.5
for kind, function in [("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)]:
    add(f"{kind.lower()}_channel", 6, [(kind, ["x", "y"], ["z"], {"broadcast": 1, "axis": 1})], {"x": truths, "y": more}, {
        "z": function(truths, more.reshape(3, 1))})
add("prelu_channels", 6, [("PRelu", ["x", "s"], ["z"], {})], {"x": x}, {
    "z": np.where(x < 0, x * np.float32([0.5, 2, -1]).reshape(3, 1, 1), x)}, {"s": np.float32([0.5, 2, -1])})
a, b, c = floats(3, 4), floats(4, 2), floats(2)
for opset in (1, 6):
    add(f"gemm_{opset}", opset, [("Gemm", ["a", "b", "c"], ["y"], {"broadcast": 1, "alpha": 0.5, "beta": 2.0})], {"a": a}, {
        "y": 0.5 * (a @ b) + 2 * c}, {"b": b, "c": c})

# Attributes that changed.
for name, number in [("INT32", np.int32), ("int64", np.int64), ("DOUBLE", np.float64), ("BOOL", np.bool_), ("UINT8", np.uint8)]:
    z = np.abs(x) if name == "UINT8" else x
    add(f"cast_{name.lower()}", 5, [("Cast", ["x"], ["y"], {"to": name})], {"x": z}, {"y": z.astype(number)})
add("concat", 3, [("Concat", ["x", "x"], ["y"], {})], {"x": x}, {"y": np.concatenate([x, x], 1)})
add("concat_4", 4, [("Concat", ["x", "x"], ["y"], {"axis": 3})], {"x": x}, {"y": np.concatenate([x, x], 3)})
pads = [0, 0, 1, 2, 0, 0, 3, 0]
padded = np.pad(x, [(0, 0), (0, 0), (1, 3), (2, 0)], constant_values=1.5)
add("pad_1", 1, [("Pad", ["x"], ["y"], {"paddings": pads, "value": 1.5})], {"x": x}, {"y": padded})
add("pad_2", 2, [("Pad", ["x"], ["y"], {"pads": pads, "value": 1.5})], {"x": x}, {"y": padded})
add("pad_reflect", 2, [("Pad", ["x"], ["y"], {"pads": pads, "mode": "reflect"})], {"x": x}, {
    "y": np.pad(x, [(0, 0), (0, 0), (1, 3), (2, 0)], mode="reflect")})
for opset in (1, 6):
    parts = {"a": x[:, :1], "b": x[:, 1:]}
    add(f"split_{opset}", opset, [("Split", ["x"], ["a", "b"], {"axis": 1, "split": [1, 2]})], {"x": x}, parts)
add("split_input", 1, [("Split", ["x", "s"], ["a", "b"], {"axis": 1})], {"x": x}, {"a": x[:, :1], "b": x[:, 1:]}, {
    "s": np.int64([1, 2])})
add("slice", 1, [("Slice", ["x"], ["y"], {"starts": [1, -3], "ends": [9, -1], "axes": [1, 3]})], {"x": x}, {"y": x[:, 1:, :, -3:-1]})
add("reshape", 1, [("Reshape", ["x"], ["y"], {"shape": [0, -1], "consumed_inputs": [0, 0]})], {"x": x}, {"y": x.reshape(2, -1)})
for opset in (1, 6):
    add(f"clip_{opset}", opset, [("Clip", ["x"], ["y"], {"min": -0.5, "max": 1.0})], {"x": x}, {"y": np.clip(x, -0.5, 1)})
add("clip_below", 6, [("Clip", ["x"], ["y"], {"min": 0.25})], {"x": x}, {"y": np.maximum(x, np.float32(0.25))})
add("tile", 1, [("Tile", ["x", "tiles", "axis"], ["y"], {})], {"x": x}, {"y": np.tile(x, (1, 1, 3, 1))}, {
    "tiles": np.float32(3), "axis": np.float32(2)})
add("tile_6", 6, [("Tile", ["x", "repeats"], ["y"], {})], {"x": x}, {"y": np.tile(x, (1, 2, 1, 2))}, {
    "repeats": np.int64([1, 2, 1, 2])})
add("upsample", 1, [("Upsample", ["x"], ["y"], {"width_scale": 3.0, "height_scale": 2.0, "mode": "nearest"})], {"x": x}, {
    "y": x.repeat(2, 2).repeat(3, 3)})
add("upsample_7", 7, [("Upsample", ["x"], ["y"], {"scales": [1.0, 1.0, 2.0, 3.0], "mode": "nearest"})], {"x": x}, {
    "y": x.repeat(2, 2).repeat(3, 3)})
top = np.sort(x, -1)[..., ::-1][..., :2]
add("top", 1, [("TopK", ["x"], ["y", "i"], {"k": 2})], {"x": x}, {"y": top, "i": np.argsort(-x, -1)[..., :2].astype(np.int64)})
for opset, (alpha, gamma) in [(1, (1.6732, 1.0507)), (6, (1.67326319217681884765625, 1.05070102214813232421875))]:
    add(f"selu_{opset}", opset, [("Selu", ["x"], ["y"], {})], {"x": x}, {
        "y": (gamma * np.where(x > 0, x, alpha * (np.exp(x.astype(float)) - 1))).astype(np.float32)})
windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))
for opset, order in [(1, 2.0), (2, 2), (1, 3.0)]:
    add(f"lp_pool_{opset}_{int(order)}", opset, [("LpPool", ["x"], ["y"], {"kernel_shape": [2, 2], "p": order})], {"x": x}, {
        "y": (np.abs(windows) ** order).sum((-1, -2)) ** np.float32(1 / order)})
    add(f"global_lp_pool_{opset}_{int(order)}", opset, [("GlobalLpPool", ["x"], ["y"], {"p": order})], {"x": x}, {
        "y": (np.abs(x) ** order).sum((2, 3), keepdims=True) ** np.float32(1 / order)})

# Attributes that say where memory may be reused, or that the model is not trained.
scale, shift, mean, variance = floats(3), floats(3), floats(3), floats(3, low=0.5)
parameters = {"s": scale, "b": shift, "m": mean, "v": variance}
normal = (scale.reshape(3, 1, 1) * (x - mean.reshape(3, 1, 1)) / np.sqrt(variance.reshape(3, 1, 1) + 1e-5) + shift.reshape(3, 1, 1))
add("batch_normalization_1", 1, [("BatchNormalization", ["x", *parameters], ["y"], {
    "is_test": 1, "consumed_inputs": [0, 0, 0, 1, 1]})], {"x": x}, {"y": normal.astype(np.float32)}, parameters)
add("batch_normalization_6", 6, [("BatchNormalization", ["x", *parameters], ["y"], {"is_test": 1})], {"x": x}, {
    "y": normal.astype(np.float32)}, parameters)
each = {key: floats(3, 4, 5, low=0.5) for key in parameters}
add("batch_normalization_elements", 6, [("BatchNormalization", ["x", *each], ["y"], {"is_test": 1, "spatial": 0})], {"x": x}, {
    "y": (each["s"] * (x - each["m"]) / np.sqrt(each["v"] + 1e-5) + each["b"]).astype(np.float32)}, each)
for opset, more in [(1, {"consumed_inputs": [0]}), (6, {})]:
    add(f"dropout_{opset}", opset, [("Dropout", ["x"], ["y"], {"is_test": 1, "ratio": 0.5} | more)], {"x": x}, {"y": x})
    positive = np.abs(x) + np.float32(0.1)
    for kind, function, given in [
            ("Relu", lambda z: np.maximum(z, 0), x), ("Sigmoid", lambda z: 1 / (1 + np.exp(-z)), x), ("Tanh", np.tanh, x),
            ("Exp", np.exp, x), ("Log", np.log, positive), ("Sqrt", np.sqrt, positive), ("Abs", np.abs, x), ("Neg", np.negative, x),
            ("Floor", np.floor, x), ("Ceil", np.ceil, x), ("Reciprocal", lambda z: 1 / z, positive),
            ("LeakyRelu", lambda z: np.where(z < 0, np.float32(0.01) * z, z), x),
            ("Elu", lambda z: np.where(z < 0, np.exp(z) - 1, z), x),
            ("HardSigmoid", lambda z: np.clip(np.float32(0.2) * z + np.float32(0.5), 0, 1), x)]:
        add(f"{kind.lower()}_{opset}", opset, [(kind, ["x"], ["y"], more)], {"x": given}, {"y": function(given)})
    for kind, function in [("Sum", np.add), ("Max", np.maximum), ("Min", np.minimum), ("Mean", lambda p, q: (p + q) / 2)]:
        add(f"{kind.lower()}_{opset}", opset, [(kind, ["x", "z"], ["y"], more)], {"x": x, "z": -x[::-1]}, {
            "y": function(x, -x[::-1]).astype(np.float32)})

# Axes that were flattened.
def softmax(z, axis):
    rows = z.reshape(math.prod(z.shape[:axis]), -1)
    power = np.exp(rows - rows.max(1, keepdims=True))
    return (power / power.sum(1, keepdims=True)).reshape(z.shape)


add("softmax", 1, [("Softmax", ["x"], ["y"], {})], {"x": x}, {"y": softmax(x, 1)})
add("softmax_2", 6, [("Softmax", ["x"], ["y"], {"axis": 2})], {"x": x}, {"y": softmax(x, 2)})

# In a branch.
def info(name):
    return helper.make_tensor_value_info(name, TensorProto.INT32, [2, 3, 4, 5])


sides = {
    key: helper.make_graph(
        [helper.make_node("Cast", ["x"], [key], to="INT32")] if key == "t" else
        [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Cast", ["n"], [key], to="INT32")], key, [], [info(key)])
    for key in ("t", "e")}
add("branch", 5, [("If", ["c"], ["y"], {"then_branch": sides["t"], "else_branch": sides["e"]})], {
    "c": np.array(False), "x": x}, {"y": (-x).astype(np.int32)})

# Experimental operators.
image = floats(2, 3, 5, 6)
add("image_scaler", 1, [("ImageScaler", ["x"], ["y"], {"scale": 0.5, "bias": [1.0, -2.0, 3.0]})], {"x": image}, {
    "y": np.float32(0.5) * image + np.float32([1, -2, 3]).reshape(3, 1, 1)})
add("crop", 1, [("Crop", ["x"], ["y"], {"border": [1, 2, 2, 1]})], {"x": image}, {"y": image[:, :, 2:4, 1:4]})
add("crop_to", 1, [("Crop", ["x"], ["y"], {"border": [1, 2, 0, 0], "scale": [2, 4]})], {"x": image}, {"y": image[:, :, 2:4, 1:5]})
add("affine", 1, [("Affine", ["x"], ["y"], {"alpha": 0.5, "beta": -1.0})], {"x": x}, {"y": np.float32(0.5) * x - 1})
add("scale", 1, [("Scale", ["x"], ["y"], {"scale": -1.5})], {"x": x}, {"y": np.float32(-1.5) * x})
add("parametric_softplus", 1, [("ParametricSoftplus", ["x"], ["y"], {"alpha": 2.0, "beta": 0.5})], {"x": x}, {
    "y": 2 * np.log1p(np.exp(np.float32(0.5) * x))})
add("scaled_tanh", 1, [("ScaledTanh", ["x"], ["y"], {"alpha": 2.0, "beta": 0.5})], {"x": x}, {"y": 2 * np.tanh(np.float32(0.5) * x)})
add("thresholded_relu", 1, [("ThresholdedRelu", ["x"], ["y"], {"alpha": 0.5})], {"x": x}, {"y": np.where(x > 0.5, x, 0)})
add("dynamic_slice", 1, [("DynamicSlice", ["x", "s", "e", "a"], ["y"], {})], {"x": x}, {"y": x[:, 1:3, :, 2:4]}, {
    "s": np.int64([1, 2]), "e": np.int64([3, 4]), "a": np.int64([1, 3])})
for name, attributes, axes in [
        ("channels", {}, (0, 2, 3)), ("all", {"across_channels": 1}, (0, 1, 2, 3)), ("centered", {"normalize_variance": 0}, (0, 2, 3))]:
    centered = x - x.mean(axes, keepdims=True)
    divisor = 1 if name == "centered" else x.std(axes, keepdims=True)
    add(f"mean_variance_{name}", 1, [("MeanVarianceNormalization", ["x"], ["y"], attributes)], {"x": x}, {"y": centered / divisor})

lines = [f"{json.dumps(name)}: {json.dumps(cases)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{len(expected)} models; ONNX Runtime runs {len(agreed)} of them and agrees")
