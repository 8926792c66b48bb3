"""Writes the vectors of quantized operators and models; README.md describes them.

Expected outputs come from ONNX Runtime with all graph optimizations, whose integer kernels are exact on processors that
multiply 8-bit integers (VNNI) and for unsigned operands everywhere.
"""

import pathlib
import sys
import tempfile
import zlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

import models

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import kv  # noqa: E402  (of the directory above)

KIND = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "uint8": TensorProto.UINT8, "int8": TensorProto.INT8,
        "int16": TensorProto.INT16, "uint16": TensorProto.UINT16}


def save(name, model, inputs, integers, steps=0.0):
    """Runs a model and writes it with its inputs and outputs.

    `integers` names the operators that the model must have after passes; `steps` is the tolerance.
    """
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    outputs = list(zip(names, session.run(None, inputs)))
    (HERE / f"{name}.onnx").write_bytes(model.SerializeToString())
    header = {"case": name, "integers": sorted(integers), "tolerance": {"absolute": steps, "relative": 0}}
    (HERE / f"{name}.kv").write_bytes(kv.encode(header, list(inputs.items()), outputs))


def random(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def integers(generator, kind, shape):
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    if kind == "int32":
        low, high = -3000, 3000
    return generator.integers(low, high, size=shape, endpoint=True).astype(kind)


def node_case(name, operator, operands, given, outputs, integer_names=(), domain="", opset=21, steps=0.0, **attributes):
    """One node; `operands` pairs names with arrays (None: left out), `given` names those supplied at run time."""
    inputs = [helper.make_tensor_value_info(key, KIND[str(array.dtype)], array.shape)
              for key, array in operands if key in given]
    constants = [numpy_helper.from_array(array, key)
                 for key, array in operands if array is not None and key not in given]
    results = [helper.make_tensor_value_info(key, KIND[kind], None) for key, kind in outputs]
    node = helper.make_node(operator, [key if array is not None else "" for key, array in operands],
                            [key for key, _ in outputs], name="node", domain=domain, **attributes)
    model = helper.make_model(
        helper.make_graph([node], name, inputs, results, constants), ir_version=10,
        opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)],
        producer_name="Kelvin vectors")
    save(name, model, {key: array for key, array in operands if key in given}, integer_names, steps)


def scalar(value, kind="float32"):
    return np.array(value, kind)


def linear_nodes():
    for kind in ["uint8", "int8", "int16", "uint16"]:
        g = random(f"quantize {kind}")
        x = g.uniform(-5, 5, (2, 5, 7)).astype("float32")
        node_case(f"quantize_{kind}", "QuantizeLinear",
                  [("x", x), ("s", scalar(0.0371)), ("z", scalar(9, kind))], ["x"], [("y", kind)])
        node_case(f"dequantize_{kind}", "DequantizeLinear",
                  [("x", integers(g, kind, (2, 5, 7))), ("s", scalar(0.0371)), ("z", scalar(9, kind))], ["x"],
                  [("y", "float32")])
    g = random("axis")
    x = g.uniform(-5, 5, (2, 5, 7)).astype("float32")
    s = g.uniform(0.01, 0.1, 5).astype("float32")
    node_case("quantize_axis", "QuantizeLinear", [("x", x), ("s", s), ("z", integers(g, "uint8", 5))], ["x"],
              [("y", "uint8")], axis=1)
    node_case("quantize_ties", "QuantizeLinear",
              [("x", (np.arange(-40, 41) / 4).astype("float32")), ("s", scalar(0.5)), ("z", None)], ["x"],
              [("y", "uint8")])
    node_case("dequantize_axis", "DequantizeLinear",
              [("x", integers(g, "int8", (2, 5, 7))), ("s", s), ("z", integers(g, "int8", 5))], ["x"],
              [("y", "float32")], axis=-2)
    node_case("dequantize_blocks", "DequantizeLinear",
              [("x", integers(g, "int8", (4, 6))), ("s", g.uniform(0.01, 0.1, (4, 2)).astype("float32")),
               ("z", integers(g, "int8", (4, 2)))], ["x"], [("y", "float32")], axis=1, block_size=3)
    node_case("dequantize_int32", "DequantizeLinear",
              [("x", integers(g, "int32", (3, 7))), ("s", scalar(0.0123))], ["x"], [("y", "float32")])
    for name, low, high in [("mixed", -3, 5), ("positive", 1, 4), ("negative", -7, -1)]:
        node_case(f"dynamic_quantize_{name}", "DynamicQuantizeLinear",
                  [("x", random(name).uniform(low, high, (3, 11)).astype("float32"))], ["x"],
                  [("y", "uint8"), ("y_scale", "float32"), ("y_zero", "uint8")])


def product_nodes():
    for x_kind, w_kind in [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")]:
        tag = f"{x_kind}_{w_kind}"
        g = random(tag)
        x, w = integers(g, x_kind, (1, 6, 9, 8)), integers(g, w_kind, (7, 6, 3, 3))
        zero = 131 if x_kind == "uint8" else 3
        w_scale = g.uniform(0.001, 0.002, 7).astype("float32")
        if x_kind == "uint8":
            node_case(f"conv_integer_{tag}", "ConvInteger",
                      [("x", x), ("w", w), ("xz", scalar(zero, x_kind)), ("wz", scalar(2, w_kind))], ["x"],
                      [("y", "int32")], ["convolution_integer"], pads=[1, 1, 1, 1], strides=[2, 1])
        wz = np.zeros(7, w_kind) if w_kind == "int8" else scalar(127, w_kind)
        node_case(f"qlinear_conv_{tag}", "QLinearConv",
                  [("x", x), ("xs", scalar(0.02)), ("xz", scalar(zero, x_kind)), ("w", w),
                   ("ws", w_scale if w_kind == "int8" else w_scale[0]), ("wz", wz), ("ys", scalar(0.05)),
                   ("yz", scalar(zero - 5, x_kind)), ("b", integers(g, "int32", 7))], ["x"], [("y", x_kind)],
                  ["convolution_integer"], pads=[1, 0, 1, 2])
        dw = integers(g, w_kind, (6, 1, 3, 3))
        node_case(f"qlinear_conv_depthwise_{tag}", "QLinearConv",
                  [("x", x), ("xs", scalar(0.02)), ("xz", scalar(zero, x_kind)), ("w", dw), ("ws", scalar(0.0107)),
                   ("wz", scalar(0 if w_kind == "int8" else 130, w_kind)), ("ys", scalar(0.05)),
                   ("yz", scalar(zero, x_kind))], ["x"], [("y", x_kind)], ["convolution_integer"], group=6,
                  pads=[1, 1, 1, 1], strides=[2, 2])
        a, b = integers(g, x_kind, (2, 5, 33)), integers(g, w_kind, (33, 19))
        node_case(f"matmul_integer_{tag}", "MatMulInteger",
                  [("a", a), ("b", b), ("az", scalar(zero, x_kind)), ("bz", integers(g, w_kind, 19))], ["a", "az"],
                  [("y", "int32")], ["matmul_integer"])
        node_case(f"qlinear_matmul_{tag}", "QLinearMatMul",
                  [("a", a), ("as", scalar(0.02)), ("az", scalar(zero, x_kind)), ("b", b), ("bs", scalar(0.0031)),
                   ("bz", scalar(4, w_kind)), ("ys", scalar(0.06)), ("yz", scalar(zero, x_kind))], ["a"],
                  [("y", x_kind)], ["matmul_integer"])
        node_case(f"qgemm_{tag}", "QGemm",
                  [("a", a[0]), ("as", scalar(0.02)), ("az", scalar(zero, x_kind)), ("b", b), ("bs", scalar(0.0031)),
                   ("bz", scalar(4, w_kind)), ("c", integers(g, "int32", 19)), ("ys", scalar(0.06)),
                   ("yz", scalar(zero, x_kind))], ["a"], [("y", x_kind)], ["matmul_integer"], "com.microsoft")
    g = random("dynamic")
    node_case("dynamic_quantize_matmul", "DynamicQuantizeMatMul",
              [("a", g.uniform(-2, 3, (4, 20)).astype("float32")), ("b", integers(g, "int8", (20, 9))),
               ("bs", scalar(0.013)), ("bz", scalar(1, "int8")), ("bias", g.uniform(-1, 1, 9).astype("float32"))],
              ["a"], [("y", "float32")], ["linear_integer"], "com.microsoft", steps=2e-6)


def elementwise_nodes():
    for kind in ["uint8", "int8"]:
        g = random(f"elementwise {kind}")
        a, b = integers(g, kind, (2, 3, 8, 9)), integers(g, kind, (2, 3, 8, 9))
        parameters = [("as", scalar(0.0213)), ("az", scalar(7, kind))], [("bs", scalar(0.0378)), ("bz", scalar(3, kind))]
        result = [("ys", scalar(0.047)), ("yz", scalar(11, kind))]
        for operator in ["QLinearAdd", "QLinearMul"]:
            node_case(f"{operator.lower()}_{kind}", operator,
                      [("a", a), *parameters[0], ("b", b), *parameters[1], *result], ["a", "b"], [("y", kind)],
                      ["binary_integer"], "com.microsoft")
        node_case(f"qlinear_concat_{kind}", "QLinearConcat",
                  [*result, ("a", a), *parameters[0], ("b", b), *parameters[1]], ["a", "b"], [("y", kind)], [],
                  "com.microsoft", axis=1)
        node_case(f"qlinear_global_average_pool_{kind}", "QLinearGlobalAveragePool", [("a", a), *parameters[0], *result],
                  ["a"], [("y", kind)], ["convolution_integer"], "com.microsoft", channels_last=0)
        node_case(f"qlinear_average_pool_{kind}", "QLinearAveragePool", [("a", a), *parameters[0], *result], ["a"],
                  [("y", kind)], [], "com.microsoft", steps=1.0, kernel_shape=[3, 3], strides=[2, 2],
                  channels_last=0)


def quantized_models():
    """Small float models through ONNX Runtime's quantizer."""
    kinds = {"u8": quantization.QuantType.QUInt8, "s8": quantization.QuantType.QInt8}
    formats = {"qdq": quantization.QuantFormat.QDQ, "qoperator": quantization.QuantFormat.QOperator}
    for stem, build in models.MODELS.items():
        g = random(stem)
        float_model, inputs, integer_names = build(g)
        with tempfile.TemporaryDirectory() as folder:
            source, target = f"{folder}/float.onnx", f"{folder}/quantized.onnx"
            onnx.save(float_model, source)
            for layout in formats:
                for x_kind, w_kind, per_channel in [("u8", "s8", True), ("u8", "u8", False), ("s8", "s8", False)]:
                    quantization.quantize_static(
                        source, target, models.Calibration(inputs, g), quant_format=formats[layout],
                        activation_type=kinds[x_kind], weight_type=kinds[w_kind], per_channel=per_channel)
                    save(f"{stem}_{layout}_{x_kind}{w_kind}", onnx.load(target), inputs, integer_names)
            quantization.quantize_dynamic(source, target, weight_type=quantization.QuantType.QUInt8)
            save(f"{stem}_dynamic", onnx.load(target), inputs, [], 2e-5)


def main():
    for old in HERE.glob("*.onnx"):
        old.unlink()
        old.with_suffix(".kv").unlink(missing_ok=True)
    linear_nodes()
    product_nodes()
    elementwise_nodes()
    quantized_models()
    files = [*HERE.glob("*.onnx"), *HERE.glob("*.kv")]
    print(f"{len(files) // 2} cases, {sum(file.stat().st_size for file in files)} bytes")


if __name__ == "__main__":
    main()
