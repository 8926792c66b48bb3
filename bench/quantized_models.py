"""Networks in 8-bit integers, quantized by ONNX Runtime's static quantizer from those with seeded random weights."""

import pathlib
import tempfile

import numpy as np
import onnx

from convolutional_models import resnet50

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
