"""Networks with integer weights: those that ONNX Runtime's quantizers make from networks with seeded random weights, and one of
random codes."""

import pathlib
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from convolutional_models import resnet50
from transformer_models import minilm

CALIBRATED = 4


class Images:
    """A few seeded images, by which the quantizer finds the ranges of values, one at a time, then None."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        self.left = [random.uniform(-1, 1, (1, 3, 224, 224)).astype(np.float32) for _ in range(CALIBRATED)]

    def get_next(self):
        return {"image": self.left.pop()} if self.left else None


def resnet50_int8(seed=8):
    """ResNet-50 with QuantizeLinear and DequantizeLinear around computing operators: weights of int8 with a scale
    for each output channel, values between of uint8. The softmax stays float32."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "quantized.onnx"
        quantize_static(resnet50(), path, Images(seed), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                        op_types_to_quantize=["Conv", "Relu", "MaxPool", "Add", "GlobalAveragePool", "Gemm"])
        model = onnx.load(path)
    onnx.checker.check_model(model)
    return model


def minilm_int8():
    """MiniLM-L6 whose linear layers quantize their rows when they run, by their own range."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory() as folder:
        plain, quantized = pathlib.Path(folder) / "plain.onnx", pathlib.Path(folder) / "quantized.onnx"
        onnx.save(minilm(), plain)
        quantize_dynamic(plain, quantized, weight_type=QuantType.QInt8, per_channel=True)
        return onnx.load(quantized)


def gpt2_int4(seed=9, layers=12, width=768, words=50272, block=32):
    """The products of a token of GPT-2 without their attention, with weights of 4 bits in blocks: input "x" [1, 768], output
    "scores" [1, 50272]."""
    random = np.random.default_rng(seed)
    nodes, constants = [], []

    def constant(name, values):
        constants.append(numpy_helper.from_array(values, name))
        return name

    def product(x, depth, columns, name):
        codes = random.integers(0, 256, (columns, depth // block, block // 2), dtype=np.uint8)
        scales = random.uniform(0.002, 0.012, columns * depth // block).astype(np.float32)
        operands = [x, constant(f"{name}_codes", codes), constant(f"{name}_scales", scales)]
        nodes.append(helper.make_node("MatMulNBits", operands, [name], domain="com.microsoft", K=depth, N=columns, bits=4,
                                      block_size=block))
        return name

    def applied(operator, inputs, name):
        nodes.append(helper.make_node(operator, inputs, [name]))
        return name

    bounds = [constant(name, np.array([value], np.int64)) for name, value in (("first", 0), ("last", width), ("axis", 1))]
    x = "x"
    for layer in range(layers):
        joined = product(x, width, 3 * width, f"joined{layer}")
        output = product(applied("Slice", [joined, *bounds], f"value{layer}"), width, width, f"output{layer}")
        rise = applied("Tanh", [product(output, width, 4 * width, f"rise{layer}")], f"hidden{layer}")
        x = applied("Tanh", [applied("Add", [product(rise, 4 * width, width, f"fall{layer}"), x], f"sum{layer}")], f"x{layer}")
    product(x, width, words, "scores")
    graph = helper.make_graph(
        nodes, "gpt2_int4", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, width])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, words])], constants)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)
