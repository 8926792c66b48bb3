#!/usr/bin/env python3
"""Writes ONNX models in forms that few exporters write, and the results of ONNX Runtime.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has the form of ../Parts/expected.json. If ONNX Runtime refuses a form that the
specification allows (`NUMPY`), the results are those of NumPy."""

import json
import pathlib
import struct
import zlib

import numpy as np
import onnxruntime
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper

FOLDER = pathlib.Path(__file__).parent
ML = "ai.onnx.ml"
FLOAT, INT32, INT64, UINT8, STRING = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8, TensorProto.STRING
R = np.random.default_rng(20261129)
onnxruntime.set_default_logger_severity(4)
expected = {}
node = helper.make_node


def value(array):
    array = np.asarray(array)
    if array.dtype.kind in "OU":
        return {"texts": [str(text) for text in array.ravel()]}
    return {"numbers": array.astype(float).ravel().tolist(), "shape": list(array.shape)}


def add(name, nodes, inputs, outputs, constants=None, opset=18, shapes=None, results=None):
    """`outputs`: element types by name, None for an output without a type. `results`: for each set of inputs, what NumPy
    gives where ONNX Runtime does not run the model."""
    cases = inputs if isinstance(inputs, list) else [inputs]
    cases = [{key: np.asarray(array) for key, array in case.items()} for case in cases]
    graph = helper.make_graph(
        nodes, name, [
            helper.make_tensor_value_info(key, helper.np_dtype_to_tensor_dtype(array.dtype), (shapes or {}).get(key, array.shape))
            for key, array in cases[0].items()],
        [ValueInfoProto(name=key) if kind is None else helper.make_tensor_value_info(key, kind, None) for key, kind in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), key) for key, array in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(ML, 2)], ir_version=9)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    try:
        options = onnxruntime.SessionOptions()
        # Fusions are what some of these models test.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        found = [dict(zip(outputs, session.run(list(outputs), case))) for case in cases]
    except Exception:
        assert results is not None, name
        found = None
    if results is not None:
        assert found is None, f"ONNX Runtime runs {name}"
        found = results
    expected[name] = [
        {"inputs": {key: value(array) for key, array in case.items()}, "outputs": {key: value(array) for key, array in result.items()}}
        for case, result in zip(cases, found)]


x = R.uniform(-2, 2, (2, 3, 4)).astype(np.float32)

# Outputs without a type, as tools write them that add an output by its name.
add("untyped_outputs", [
    node("Relu", ["x"], ["a"]), node("Shape", ["a"], ["s"]), node("ArgMax", ["a"], ["i"], axis=1), node("Less", ["x", "a"], ["b"]),
    node("Neg", ["a"], ["y"])], {"x": x}, {"y": FLOAT, "a": None, "s": None, "i": None, "b": None})
add("untyped_outputs_of_data", [node("NonZero", ["x"], ["p"]), node("Neg", ["x"], ["y"])], [
    {"x": np.float32([0, 1, 2])}, {"x": np.float32([0, 0, 2])}], {"p": None, "y": None})

# Products of vectors, and zero points of every form.
matrix, vector = R.integers(0, 256, (3, 4)).astype(np.uint8), R.integers(-128, 128, 4).astype(np.int8)
wide = R.integers(-128, 128, (4, 2)).astype(np.int8)
stack, stacks = R.integers(0, 256, (2, 3, 4)).astype(np.uint8), R.integers(-128, 128, (2, 4, 3)).astype(np.int8)
U, S = np.uint8, np.int8
for name, a, b, zeros in [
        ("2_1", matrix, vector, {"az": U(3)}), ("1_2", matrix[0], wide, {}), ("1_1", matrix[0], vector, {"az": U(2), "bz": S(1)}),
        ("1_3", matrix[0], stacks, {"bz": S(-5)}), ("3_1", stack, vector, {"az": U(1), "bz": S(1)}), ("3_2", stack, wide, {}),
        ("1_2_columns", matrix[0], wide, {"bz": S([1, 2])}), ("2_2_columns", matrix, wide, {"bz": S([1, 2])}),
        ("2_2_row", matrix, wide, {"bz": S([[1, 2]])}), ("2_2_one", matrix, wide, {"az": U([1]), "bz": S([2])}),
        ("3_3_columns", stack, stacks, {"bz": S([[[1, 2, 3]], [[4, 5, 6]]])}), ("1_3_columns", matrix[0], stacks, {"bz": S([[[1, 2, 3]], [[4, 5, 6]]])}),
        ("NUMPY_2_2_rows", matrix, wide, {"az": U([1, 2, 3])}), ("NUMPY_2_2_column", matrix, wide, {"az": U([[1], [2], [3]]), "bz": S(3)}),
        ("NUMPY_3_3_rows", stack, stacks, {"az": U([[[1], [2], [3]], [[4], [5], [6]]])})]:
    az, bz = (zeros.get(key, 0) for key in ("az", "bz"))
    rows = np.reshape(az, (-1, 1)) if np.ndim(az) == 1 and np.size(az) > 1 else az
    numpy = [{"y": ((a.astype(np.int32) - np.int32(rows)) @ (b.astype(np.int32) - np.int32(bz))).astype(np.int32)}]
    given = ["a", "b", "az" if "az" in zeros else "", "bz" if "bz" in zeros else ""]
    add(f"matmul_integer_{name}", [node("MatMulInteger", given, ["y"])], {"a": a, "b": b}, {"y": INT32}, zeros, 10,
        results=numpy if name.startswith("NUMPY") else None)
scales = {"as": np.float32(0.5), "bs": np.float32(0.25), "ys": np.float32(16), "az": U(100), "bz": S(3), "yz": U(128)}
for name, a, b in [("2_1", matrix, vector), ("1_2", matrix[0], wide), ("1_1", matrix[0], vector), ("1_3", matrix[0], stacks)]:
    add(f"qlinear_matmul_{name}", [node("QLinearMatMul", ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"])], {"a": a, "b": b}, {
        "y": UINT8}, scales, 10)
image, filters = R.integers(0, 256, (1, 2, 4, 5)).astype(np.uint8), R.integers(0, 256, (3, 2, 2, 2)).astype(np.uint8)
for name, zeros in [
        ("none", {}), ("scalar", {"xz": U(7)}), ("one", {"xz": U([7])}), ("weight", {"xz": U(7), "wz": U(9)}),
        ("weight_one", {"xz": U(7), "wz": U([9])}), ("NUMPY_weights", {"xz": U(7), "wz": U([9, 8, 7])})]:
    given = ["x", "w", *(["xz"] if "xz" in zeros else []), *(["wz"] if "wz" in zeros else [])]
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.int32) - np.int32(zeros.get("xz", 0)), (2, 2), (2, 3))
    centered = filters.astype(np.int32) - np.reshape(np.int32(zeros.get("wz", 0)), (-1, 1, 1, 1))
    numpy = [{"y": np.einsum("nchwij,ocij->nohw", windows, centered)}]
    add(f"conv_integer_{name}", [node("ConvInteger", given, ["y"])], {"x": image}, {"y": INT32}, {"w": filters} | zeros, 10,
        results=numpy if name.startswith("NUMPY") else None)

# Sizes that round to 0, and axes without elements.
picture = R.uniform(-1, 1, (1, 2, 3, 5)).astype(np.float32)
for mode in ("nearest", "linear", "cubic"):
    add(f"resize_nothing_{mode}", [node("Resize", ["x", "", "s"], ["y"], mode=mode)], {"x": picture}, {"y": FLOAT}, {
        "s": np.float32([1, 1, 0.3, 0.4])})
add("resize_nothing_10", [node("Resize", ["x", "s"], ["y"])], {"x": picture}, {"y": FLOAT}, {"s": np.float32([1, 1, 0.5, 0.1])}, 10)
add("resize_nothing_cropped", [
    node("Resize", ["x", "r", "s"], ["y"], mode="linear", coordinate_transformation_mode="tf_crop_and_resize")], {"x": picture}, {
        "y": FLOAT}, {"s": np.float32([1, 1, 0.3, 1]), "r": np.float32([0, 0, 0, 0, 1, 1, 1, 1])})
for policy, size in [("not_larger", [2, 10]), ("not_smaller", [2, 10]), ("not_smaller", [0, 50])]:
    add(f"resize_{policy}_{size[0]}", [
        node("Resize", ["x", "", "", "s"], ["y"], mode="nearest", axes=[2, 3], keep_aspect_ratio_policy=policy)], {
            "x": R.uniform(-1, 1, (1, 1, 2, 100)).astype(np.float32)}, {"y": FLOAT}, {"s": np.int64(size)})
batches = [{"x": np.zeros((n, 2, 5, 7), np.float32) + np.arange(7, dtype=np.float32)} for n in (2, 0, 1)]
for mode in ("nearest", "linear", "cubic"):
    add(f"resize_batch_{mode}", [
        node("Shape", ["x"], ["s"]), node("Mul", ["s", "k"], ["t"]), node("Resize", ["x", "", "", "t"], ["y"], mode=mode)], batches, {
            "y": FLOAT}, {"k": np.int64([1, 1, 2, 2])}, shapes={"x": ["n", 2, 5, 7]})
add("resize_batch_scales", [node("Resize", ["x", "", "k"], ["y"], mode="linear")], batches, {"y": FLOAT}, {
    "k": np.float32([1, 1, 2, 2])}, shapes={"x": ["n", 2, 5, 7]})

# A graph that is built for the side that an input chooses.
sides = {
    "then_branch": helper.make_graph([node("Concat", ["x", "x"], ["t"], axis=0)], "t", [], [helper.make_tensor_value_info("t", FLOAT, None)]),
    "else_branch": helper.make_graph([node("Identity", ["x"], ["e"])], "e", [], [helper.make_tensor_value_info("e", FLOAT, None)])}
add("uneven_branch", [node("If", ["c"], ["y"], **sides)], [
    {"c": np.array(chosen), "x": np.float32([1, 2, 3])} for chosen in (True, False)], {"y": FLOAT})

# Paddings before windows, of which only zeros may become the padding of a convolution, and none that of a maximum.
square, weights = R.uniform(-2, -1, (1, 2, 5, 6)).astype(np.float32), R.uniform(-1, 1, (3, 2, 3, 3)).astype(np.float32)
for form, more, number in [
        ("zero", {}, 0), ("one", {}, 1), ("reflect", {"mode": "reflect"}, 0), ("edge", {"mode": "edge"}, 0), ("wrap", {"mode": "wrap"}, 0)]:
    for kind, given, attributes in [
            ("Conv", ["w"], {"pads": [1, 0, 1, 0]}), ("MaxPool", [], {"kernel_shape": [3, 3]}),
            ("AveragePool", [], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]})]:
        add(f"pad_{form}_{kind.lower()}", [
            node("Pad", ["x", "p", "v"], ["q"], **more), node(kind, ["q", *given], ["y"], **attributes)], {"x": square}, {"y": FLOAT}, {
                "p": np.int64([0, 0, 1, 2, 0, 0, 2, 1]), "v": np.float32(number)} | ({"w": weights} if given else {}), 19)
add("pad_cropped_conv", [node("Pad", ["x", "p"], ["q"]), node("Conv", ["q", "w"], ["y"])], {"x": square}, {"y": FLOAT}, {
    "p": np.int64([0, 0, -1, 1, 0, 0, 2, -1]), "w": weights}, 19)
# Two changes of shape, of which the second one may keep sizes or mean empty axes.
for zero in (0, 1):
    size = [0, -1] if zero == 0 else [0, 7]
    rows = np.zeros((0, 3), np.float32) if zero else np.ones((2, 6), np.float32)
    add(f"reshape_twice_{zero}", [
        node("Reshape", ["x", "a"], ["q"], allowzero=zero), node("Reshape", ["q", "b"], ["y"], allowzero=zero)], {"x": rows}, {
            "y": FLOAT}, {"a": np.int64([0, 5] if zero else [3, 4]), "b": np.int64(size)}, shapes={"x": ["n", rows.shape[1]]})

# float16 beside float32, where the specification has a type for each. All results are exact.
halves = np.float16([[0.25, 1, 4], [16, 2.25, 64]])
F16 = TensorProto.FLOAT16
add("mixed_power", [node("Pow", ["x", "e"], ["y"])], {"x": halves}, {"y": F16}, {"e": np.float32([0.5, 2, -1])})
add("mixed_integer_power", [node("Pow", ["x", "e"], ["y"])], {"x": halves}, {"y": F16}, {"e": np.int64(2)})
add("mixed_quantization", [node("QuantizeLinear", ["x", "s", "z"], ["y"])], {"x": halves}, {"y": UINT8}, {
    "s": np.float32(0.25), "z": U(3)}, 23)
add("mixed_resizing", [node("Resize", ["x", "", "s"], ["y"], mode="nearest")], {"x": halves.reshape(1, 1, 2, 3)}, {"y": F16}, {
    "s": np.float32([1, 1, 2, 3])})
add("mixed_sampling", [node("GridSample", ["x", "g"], ["y"], mode="nearest")], {"x": halves.reshape(1, 1, 2, 3)}, {"y": F16}, {
    "g": np.float32([[[[-1, -1], [0, 1], [0.9, -0.4]]]])})
add("mixed_choice", [node("OneHot", ["i", "d", "v"], ["y"])], {"i": np.int64([2, 0])}, {"y": F16}, {
    "d": np.float32(3), "v": np.float16([0.5, 2])})

# Host operations of constants.
y = {"x": np.float32([[1, 2], [3, 4]])}
copy = node("Identity", ["x"], ["y"])
encoder = dict(domain=ML, default_string="?", keys_int64s=[0, 1], values_strings=["a", "b"])
add("label_encoder_of_initializer", [node("LabelEncoder", ["z"], ["s"], **encoder), copy], y, {"s": STRING, "y": FLOAT}, {
    "z": np.int64([0, 1, 7])})
add("label_encoder_of_initializer_twice", [
    node("LabelEncoder", ["z"], ["s"], **encoder), node("Add", ["z", "z"], ["d"]), node("LabelEncoder", ["z"], ["t"], **encoder),
    copy], y, {"s": STRING, "t": STRING, "d": INT64, "y": FLOAT}, {"z": np.int64([[0, 1], [7, 1]])})
add("trees_of_initializer", [
    node("TreeEnsembleRegressor", ["z"], ["t"], domain=ML, n_targets=1, nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2],
         nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_featureids=[0] * 3, nodes_values=[0.5, 0.0, 0.0],
         nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0], target_nodeids=[1, 2],
         target_ids=[0, 0], target_weights=[1.0, 2.0]), node("Add", ["x", "t"], ["y"])], y, {"y": FLOAT}, {
             "z": np.float32([[0], [1]])})
add("text_of_initializer", [node("Cast", ["z"], ["s"], to=STRING), copy], y, {"s": STRING, "y": FLOAT}, {"z": np.int64([5, -6])})


def png(pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


pixels = R.integers(0, 256, (3, 4, 3)).astype(np.uint8)
add("decoded_initializer", [node("ImageDecoder", ["z"], ["p"]), copy], y, {"p": UINT8, "y": FLOAT}, {
    "z": np.frombuffer(png(pixels), np.uint8)}, 20, results=[{"p": pixels, "y": y["x"]}])
add("decoded_constant", [
    node("Constant", [], ["z"], value=numpy_helper.from_array(np.frombuffer(png(pixels), np.uint8))), node("ImageDecoder", ["z"], ["p"]), copy],
    y, {"p": UINT8, "y": FLOAT}, opset=20, results=[{"p": pixels, "y": y["x"]}])

lines = [f"{json.dumps(name)}: {json.dumps(cases)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
