"""The cases of operators.py: every numeric operator of ONNX and of ONNX Runtime's own domain, at a large size."""

from dataclasses import dataclass, field

import numpy as np
from onnx import helper

MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class Constant:
    """An input that is part of the model."""

    array: np.ndarray


@dataclass(frozen=True)
class Case:
    operator: str
    about: str
    inputs: tuple
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    domain: str = ""
    isRandom: bool = False

    @property
    def title(self):
        return f"{self.operator}, {self.about}" if self.about else self.operator


RANDOM = np.random.default_rng(71)


def normal(*shape):
    return RANDOM.standard_normal(shape, np.float32)


def positive(*shape):
    return RANDOM.random(shape, np.float32) * np.float32(0.9) + np.float32(0.05)


def integers(*shape, below=1000, kind=np.int64):
    return RANDOM.integers(0, below, shape).astype(kind)


def bytes8(*shape):
    return RANDOM.integers(0, 255, shape).astype(np.uint8)


def truth(*shape):
    return RANDOM.random(shape) < 0.5


def constant(values, kind=None):
    return Constant(np.asarray(values, kind))


def weights(*shape):
    return Constant(normal(*shape) / np.float32(np.sqrt(np.prod(shape[1:]))))


PLANE = (1, 64, 112, 112)
MATRIX = (1024, 1024)


def unary():
    for name in ("Abs Acos Asin Atan Ceil Cos Elu Erf Exp Floor Gelu HardSigmoid HardSwish IsInf IsNaN LeakyRelu Mish Neg "
                 "Relu Round Selu Shrink Sigmoid Sign Sin Sinh Cosh Softplus Softsign Tan Tanh ThresholdedRelu Celu Asinh "
                 "Atanh Swish").split():
        yield Case(name, "", (positive(*PLANE) if name in ("Acos", "Asin", "Atanh") else normal(*PLANE),))
    for name in ("Log", "Reciprocal", "Sqrt"):
        yield Case(name, "", (positive(*PLANE),))
    yield Case("Acosh", "", (positive(*PLANE) + np.float32(1),))
    yield Case("Not", "", (truth(*PLANE),))
    yield Case("BitwiseNot", "", (integers(*PLANE, kind=np.int32),))
    yield Case("Clip", "", (normal(*PLANE), constant(-1, np.float32), constant(1, np.float32)))
    yield Case("Cast", "to int32", (normal(*PLANE),), {"to": 6})
    yield Case("Cast", "to float16", (normal(*PLANE),), {"to": 10})
    yield Case("Cast", "int64 to float32", (integers(*PLANE),), {"to": 1})
    yield Case("Identity", "", (normal(*PLANE),))
    yield Case("PRelu", "by channel", (normal(*PLANE), Constant(normal(64, 1, 1))))


def binary():
    for name in "Add Sub Mul Div".split():
        yield Case(name, "", (normal(*PLANE), positive(*PLANE)))
        yield Case(name, "by channel", (normal(*PLANE), positive(64, 1, 1)))
    yield Case("Add", "int64", (integers(*PLANE), integers(*PLANE)))
    yield Case("Mul", "along the last axis", (normal(2048, 384), normal(2048, 1)))
    yield Case("Pow", "", (positive(*PLANE), positive(*PLANE)))
    yield Case("Pow", "squares", (normal(*PLANE), constant(2, np.float32)))
    yield Case("Mod", "of floats", (normal(*PLANE), positive(*PLANE)), {"fmod": 1})
    yield Case("Mod", "of integers", (integers(*PLANE), integers(*PLANE, below=100) + 1))
    yield Case("Div", "of integers", (integers(*PLANE), integers(*PLANE, below=100) + 1))
    for name in "Equal Less LessOrEqual Greater GreaterOrEqual".split():
        yield Case(name, "", (normal(*PLANE), normal(*PLANE)))
    yield Case("Equal", "int64", (integers(*PLANE), integers(*PLANE)))
    for name in "And Or Xor".split():
        yield Case(name, "", (truth(*PLANE), truth(*PLANE)))
    for name in "BitwiseAnd BitwiseOr BitwiseXor".split():
        yield Case(name, "", (integers(*PLANE, kind=np.int32), integers(*PLANE, kind=np.int32)))
    yield Case("BitShift", "", (integers(*PLANE, kind=np.uint32), integers(*PLANE, below=31, kind=np.uint32)),
               {"direction": "LEFT"})
    for name in "Max Min Sum Mean".split():
        yield Case(name, "of three", (normal(*PLANE), normal(*PLANE), normal(*PLANE)))
    yield Case("Where", "", (truth(*PLANE), normal(*PLANE), normal(*PLANE)))


def reductions():
    for name in "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare".split():
        yield Case(name, "last axis", (positive(1024, 1024), constant([1])))
        yield Case(name, "first axis", (positive(1024, 1024), constant([0])))
    yield Case("ReduceSum", "middle axis", (normal(64, 128, 128), constant([1])))
    yield Case("ReduceMean", "spatial axes", (normal(*PLANE), constant([2, 3])))
    yield Case("ReduceMean", "batch and spatial axes", (normal(8, 64, 56, 56), constant([0, 2, 3])))
    yield Case("ReduceMax", "int64", (integers(1024, 1024), constant([1])))
    for name in ("ArgMax", "ArgMin"):
        yield Case(name, "last axis", (normal(1024, 1024),), {"axis": 1})
        yield Case(name, "first axis", (normal(1024, 1024),), {"axis": 0})
    yield Case("ArgMax", "channels", (normal(1, 21, 256, 256),), {"axis": 1})
    for name in "Softmax LogSoftmax Hardmax".split():
        yield Case(name, "last axis", (normal(1024, 1024),), {"axis": -1})
        yield Case(name, "channels", (normal(1, 64, 112, 112),), {"axis": 1})
    for axis in (0, 1):
        yield Case("CumSum", f"axis {axis}", (normal(1024, 1024), constant(axis)))
        yield Case("CumProd", f"axis {axis}", (positive(1024, 1024) + np.float32(0.5), constant(axis)))
    yield Case("CumSum", "reversed, axis 0", (normal(1024, 1024), constant(0)), {"reverse": 1})
    yield Case("CumSum", "int64, axis 0", (integers(1024, 1024), constant(0)))


def windows():
    """Convolutions and pools."""
    cube = (1, 32, 32, 56, 56)
    yield Case("Conv", "1 axis", (normal(1, 64, 8192), weights(64, 64, 3)), {"pads": [1, 1]})
    yield Case("Conv", "2 axes", (normal(1, 64, 56, 56), weights(64, 64, 3, 3)), {"pads": [1] * 4})
    yield Case("Conv", "2 axes, 7x7, stride 2", (normal(1, 3, 224, 224), weights(64, 3, 7, 7)), {"pads": [3] * 4, "strides": [2, 2]})
    yield Case("Conv", "2 axes, weights not constant", (normal(1, 64, 56, 56), normal(64, 64, 3, 3)), {"pads": [1] * 4})
    yield Case("Conv", "2 axes, dilation 2", (normal(1, 64, 56, 56), weights(64, 64, 3, 3)), {"pads": [2] * 4, "dilations": [2, 2]})
    yield Case("Conv", "2 axes, 8 groups", (normal(1, 64, 56, 56), weights(64, 8, 3, 3)), {"pads": [1] * 4, "group": 8})
    yield Case("Conv", "2 axes, depthwise", (normal(1, 64, 112, 112), weights(64, 1, 3, 3)), {"pads": [1] * 4, "group": 64})
    yield Case("Conv", "3 axes", (normal(1, 16, 16, 56, 56), weights(32, 16, 3, 3, 3)), {"pads": [1] * 6})
    yield Case("Conv", "3 axes, stride 2, from 3 channels", (normal(1, 3, 16, 112, 112), weights(32, 3, 3, 7, 7)), {"pads": [1, 3, 3] * 2, "strides": [1, 2, 2]})
    yield Case("Conv", "3 axes, 1x1x1", (normal(1, 64, 16, 28, 28), weights(64, 64, 1, 1, 1)))
    yield Case("Conv", "3 axes, 4 groups, dilation 2", (normal(1, 32, 16, 28, 28), weights(32, 8, 3, 3, 3)), {"pads": [2] * 6, "dilations": [2] * 3, "group": 4})
    yield Case("Conv", "3 axes, depthwise", (normal(1, 32, 16, 56, 56), weights(32, 1, 3, 3, 3)), {"pads": [1] * 6, "group": 32})
    yield Case("ConvInteger", "2 axes", (bytes8(1, 64, 56, 56), Constant(bytes8(64, 64, 3, 3))), {"pads": [1] * 4})
    yield Case("ConvInteger", "3 axes", (bytes8(1, 16, 16, 28, 28), Constant(bytes8(16, 16, 3, 3, 3))), {"pads": [1] * 6})
    yield Case("ConvTranspose", "1 axis", (normal(1, 64, 2048), weights(64, 32, 4)), {"strides": [2], "pads": [1, 1]})
    yield Case("ConvTranspose", "2 axes", (normal(1, 64, 28, 28), weights(64, 32, 4, 4)), {"strides": [2, 2], "pads": [1] * 4})
    yield Case("ConvTranspose", "3 axes", (normal(1, 32, 8, 28, 28), weights(32, 16, 4, 4, 4)), {"strides": [2] * 3, "pads": [1] * 6})
    yield Case("ConvTranspose", "3 axes, 2x2x2", (normal(1, 64, 8, 28, 28), weights(64, 32, 2, 2, 2)), {"strides": [2] * 3})
    for name in ("MaxPool", "AveragePool", "LpPool"):
        yield Case(name, "1 axis", (normal(1, 64, 16384),), {"kernel_shape": [3], "strides": [2]})
        yield Case(name, "2 axes", (normal(*PLANE),), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4})
        yield Case(name, "2 axes, 31x31", (normal(1, 64, 56, 56),), {"kernel_shape": [31, 31], "pads": [15] * 4})
        yield Case(name, "3 axes", (normal(*cube),), {"kernel_shape": [3] * 3})
        yield Case(name, "3 axes, stride 2, padded", (normal(*cube),), {"kernel_shape": [3] * 3, "strides": [2] * 3, "pads": [1] * 6})
    yield Case("AveragePool", "3 axes, counts padding", (normal(*cube),), {"kernel_shape": [3] * 3, "pads": [1] * 6, "count_include_pad": 1})
    yield Case("MaxPool", "2 axes, with indices", (normal(*PLANE),), {"kernel_shape": [2, 2], "strides": [2, 2]}, 2)
    yield Case("MaxPool", "2 axes, uint8", (bytes8(*PLANE),), {"kernel_shape": [3, 3], "strides": [2, 2]})
    yield Case("MaxPool", "3 axes, uint8", (bytes8(*cube),), {"kernel_shape": [3] * 3})
    yield Case("MaxPool", "3 axes, dilation 2", (normal(*cube),), {"kernel_shape": [3] * 3, "dilations": [2] * 3})
    for name in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield Case(name, "", (normal(1, 256, 56, 56),))
        yield Case(name, "3 axes", (normal(1, 64, 16, 28, 28),))
    x = normal(1, 64, 56, 56)
    spots = np.arange(56 * 56).reshape(56, 56)[::1] * 1
    top = (np.arange(64)[:, None, None] * 112 * 112 + (np.arange(56)[:, None] * 224 + np.arange(56) * 2)[None])[None]
    yield Case("MaxUnpool", "", (x, top.astype(np.int64)), {"kernel_shape": [2, 2], "strides": [2, 2]})
    yield Case("MaxRoiPool", "", (normal(1, 64, 56, 56), np.array([[0, i % 20, i % 13, 30 + i % 20, 40 + i % 13] for i in range(64)], np.float32)), {"pooled_shape": [7, 7]})
    yield Case("RoiAlign", "", (normal(1, 64, 56, 56), np.array([[i % 20, i % 13, 30 + i % 20, 40 + i % 13] for i in range(64)], np.float32), np.zeros(64, np.int64)), {"output_height": 7, "output_width": 7, "sampling_ratio": 2})
    yield Case("Col2Im", "", (normal(1, 64 * 9, 56 * 56), constant([56, 56]), constant([3, 3])), {"pads": [1] * 4})
    yield Case("Col2Im", "stride 2", (normal(1, 32 * 16, 56 * 56), constant([112, 112]), constant([4, 4])), {"pads": [1] * 4, "strides": [2, 2]})
    offset = normal(1, 18, 56, 56) * np.float32(0.5)
    yield Case("DeformConv", "", (normal(1, 64, 56, 56), weights(64, 64, 3, 3), offset, constant(np.zeros(64, np.float32)), positive(1, 9, 56, 56)), {"kernel_shape": [3, 3], "pads": [1] * 4})


def layout():
    yield Case("Transpose", "matrix", (normal(*MATRIX),), {"perm": [1, 0]})
    yield Case("Transpose", "planes to rows", (normal(*PLANE),), {"perm": [0, 2, 3, 1]})
    yield Case("Transpose", "rows to planes", (normal(1, 112, 112, 64),), {"perm": [0, 3, 1, 2]})
    yield Case("Transpose", "heads", (normal(1, 512, 12, 64),), {"perm": [0, 2, 1, 3]})
    yield Case("Transpose", "all axes reversed", (normal(16, 32, 48, 32),), {"perm": [3, 2, 1, 0]})
    for mode in ("DCR", "CRD"):
        yield Case("DepthToSpace", mode, (normal(1, 256, 56, 56),), {"blocksize": 2, "mode": mode})
    yield Case("SpaceToDepth", "", (normal(1, 64, 112, 112),), {"blocksize": 2})
    yield Case("Concat", "channels", (normal(1, 64, 56, 56),) * 1 + (normal(1, 64, 56, 56),), {"axis": 1})
    yield Case("Concat", "last axis", (normal(2048, 128), normal(2048, 256)), {"axis": 1})
    yield Case("Split", "last axis", (normal(2048, 384), constant([128, 128, 128])), {"axis": 1}, 3)
    yield Case("Slice", "last axis", (normal(1024, 1024), constant([100]), constant([900]), constant([1])))
    yield Case("Slice", "steps of 2", (normal(1, 64, 112, 112), constant([0, 0]), constant([112, 112]), constant([2, 3]), constant([2, 2])))
    yield Case("Slice", "reversed", (normal(1024, 1024), constant([-1]), constant([-2000]), constant([1]), constant([-1])))
    for mode in ("constant", "reflect", "edge", "wrap"):
        yield Case("Pad", mode, (normal(*PLANE), constant([0, 0, 3, 3, 0, 0, 3, 3])), {"mode": mode})
    yield Case("Expand", "rows", (normal(1, 1024), constant([1024, 1024])))
    yield Case("Expand", "columns", (normal(1024, 1), constant([1024, 1024])))
    yield Case("Tile", "", (normal(1, 64, 28, 28), constant([1, 2, 2, 2])))
    yield Case("Reshape", "", (normal(*PLANE), constant([64, -1])))
    yield Case("Flatten", "", (normal(*PLANE),))
    yield Case("Trilu", "", (normal(*MATRIX),))
    yield Case("ReverseSequence", "", (normal(256, 16, 256), integers(16, below=255) + 1), {"time_axis": 0, "batch_axis": 1})
    yield Case("CenterCropPad", "", (normal(1, 64, 112, 112), constant([100, 120])), {"axes": [2, 3]})
    yield Case("EyeLike", "", (normal(*MATRIX),))
    yield Case("OneHot", "", (integers(2048, below=512), constant(512), constant([0, 1], np.float32)))
    yield Case("Range", "", (constant(0, np.float32), constant(1 << 20, np.float32), constant(1, np.float32)))


def indexing():
    yield Case("Gather", "rows", (normal(30000, 384), integers(2048, below=30000)), {"axis": 0})
    yield Case("Gather", "columns", (normal(1024, 1024), integers(1024, below=1024)), {"axis": 1})
    yield Case("Gather", "scalars", (normal(1 << 20), integers(1 << 20, below=1 << 20)), {"axis": 0})
    for axis in (0, 1):
        yield Case("GatherElements", f"axis {axis}", (normal(*MATRIX), integers(*MATRIX, below=1024)), {"axis": axis})
    yield Case("GatherND", "scalars", (normal(*MATRIX), integers(1 << 20, 2, below=1024)))
    yield Case("GatherND", "rows", (normal(64, 64, 256), integers(8192, 2, below=64)))
    for axis in (0, 1):
        order = np.argsort(RANDOM.random(MATRIX), axis=axis)
        yield Case("ScatterElements", f"axis {axis}", (normal(*MATRIX), order, normal(*MATRIX)), {"axis": axis})
    yield Case("ScatterElements", "add", (normal(*MATRIX), integers(*MATRIX, below=1024), normal(*MATRIX)), {"axis": 1, "reduction": "add"})
    rows = RANDOM.permutation(16384)[:8192, None]
    yield Case("ScatterND", "rows", (normal(16384, 128), rows, normal(8192, 128)))
    flat = RANDOM.permutation(1 << 20)[:1 << 19]
    yield Case("ScatterND", "scalars", (normal(*MATRIX), np.stack([flat >> 10, flat & 1023], 1), normal(1 << 19)))
    yield Case("ScatterND", "add", (normal(16384, 128), integers(8192, 1, below=16384), normal(8192, 128)), {"reduction": "add"})
    yield Case("TensorScatter", "", (normal(4, 8, 1024, 64), normal(4, 8, 16, 64), integers(4, below=1000)))
    yield Case("TopK", "5 of 1024", (normal(1024, 1024), constant([5])), {"axis": 1}, 2)
    yield Case("TopK", "100 of a million", (normal(1, 1 << 20), constant([100])), {"axis": 1}, 2)
    yield Case("TopK", "1000 of 1024, first axis", (normal(1024, 256), constant([1000])), {"axis": 0}, 2)
    yield Case("TopK", "all of a million", (normal(1, 1 << 20), constant([1 << 20])), {"axis": 1}, 2)
    yield Case("NonZero", "", (truth(*MATRIX),))
    yield Case("Compress", "", (normal(1 << 20), truth(1 << 20)), {"axis": 0})
    yield Case("Unique", "", (integers(1 << 18, below=10000),), {}, 4)
    boxes = np.concatenate([positive(1, 4000, 2) * 100, positive(1, 4000, 2) * 100 + 10], 2).astype(np.float32)
    yield Case("NonMaxSuppression", "4000 boxes", (boxes, positive(1, 4, 4000), constant([100]), constant([0.5], np.float32), constant([0.1], np.float32)))
    yield Case("Det", "", (normal(256, 32, 32),))


def products():
    yield Case("MatMul", "constant", (normal(512, 768), weights(768, 768)))
    yield Case("MatMul", "of two inputs", (normal(512, 768), normal(768, 768)))
    yield Case("MatMul", "batches", (normal(12, 384, 64), normal(12, 64, 384)))
    yield Case("MatMul", "a vector", (normal(1, 4096), weights(4096, 4096)))
    yield Case("Gemm", "both transposed", (normal(512, 512), normal(512, 512), normal(512)), {"transA": 1, "transB": 1})
    yield Case("MatMulInteger", "", (bytes8(512, 768), Constant(bytes8(768, 768))))
    yield Case("QLinearMatMul", "", (bytes8(512, 768), constant(0.02, np.float32), constant(128, np.uint8), Constant(bytes8(768, 768)), constant(0.01, np.float32), constant(127, np.uint8), constant(0.3, np.float32), constant(128, np.uint8)))
    yield Case("QLinearConv", "", (bytes8(1, 64, 56, 56), constant(0.02, np.float32), constant(128, np.uint8), Constant(bytes8(64, 64, 3, 3)), constant(0.01, np.float32), constant(127, np.uint8), constant(0.3, np.float32), constant(128, np.uint8)), {"pads": [1] * 4})
    yield Case("Einsum", "bij,bjk->bik", (normal(8, 256, 256), normal(8, 256, 256)), {"equation": "bij,bjk->bik"})
    yield Case("Einsum", "bhid,bhjd->bhij", (normal(1, 12, 384, 64), normal(1, 12, 384, 64)), {"equation": "bhid,bhjd->bhij"})
    yield Case("Attention", "", (normal(1, 12, 384, 64), normal(1, 12, 384, 64), normal(1, 12, 384, 64)))
    yield Case("RotaryEmbedding", "", (normal(1, 12, 512, 64), Constant(normal(512, 32)), Constant(normal(512, 32)), constant(np.arange(512)[None])))


def normalizations():
    one, zero = constant(np.ones(64, np.float32)), constant(np.zeros(64, np.float32))
    yield Case("BatchNormalization", "", (normal(*PLANE), one, zero, zero, one))
    yield Case("InstanceNormalization", "", (normal(*PLANE), one, zero))
    yield Case("GroupNormalization", "", (normal(*PLANE), one, zero), {"num_groups": 8})
    yield Case("LayerNormalization", "", (normal(2048, 768), constant(np.ones(768, np.float32)), constant(np.zeros(768, np.float32))))
    yield Case("RMSNormalization", "", (normal(2048, 768), constant(np.ones(768, np.float32))))
    yield Case("LpNormalization", "L1", (normal(2048, 768),), {"p": 1, "axis": 1})
    yield Case("LpNormalization", "L2", (normal(2048, 768),), {"axis": 1})
    yield Case("MeanVarianceNormalization", "", (normal(8, 64, 56, 56),))
    yield Case("LRN", "", (normal(*PLANE),), {"size": 5})
    yield Case("SoftmaxCrossEntropyLoss", "", (normal(2048, 512), integers(2048, below=512)))
    yield Case("NegativeLogLikelihoodLoss", "", (normal(2048, 512), integers(2048, below=512)))


def quantization():
    scale, zero = constant(0.02, np.float32), constant(128, np.uint8)
    yield Case("QuantizeLinear", "", (normal(*PLANE), scale, zero))
    yield Case("DequantizeLinear", "", (bytes8(*PLANE), scale, zero))
    scales, zeros = Constant(positive(64)), Constant(bytes8(64))
    yield Case("QuantizeLinear", "by channel", (normal(*PLANE), scales, zeros), {"axis": 1})
    yield Case("DequantizeLinear", "by channel", (bytes8(*PLANE), scales, zeros), {"axis": 1})
    yield Case("QuantizeLinear", "last axis", (normal(2048, 512), Constant(positive(512)), Constant(bytes8(512))), {"axis": 1})
    yield Case("DequantizeLinear", "last axis", (bytes8(2048, 512), Constant(positive(512)), Constant(bytes8(512))), {"axis": 1})
    yield Case("DequantizeLinear", "blocks of 32, last axis", (bytes8(2048, 512), Constant(positive(2048, 16)), Constant(bytes8(2048, 16))), {"axis": 1, "block_size": 32})
    yield Case("DequantizeLinear", "blocks of 32, first axis", (bytes8(2048, 512), Constant(positive(64, 512)), Constant(bytes8(64, 512))), {"axis": 0, "block_size": 32})
    yield Case("QuantizeLinear", "blocks of 32, last axis", (normal(2048, 512), Constant(positive(2048, 16)), Constant(bytes8(2048, 16))), {"axis": 1, "block_size": 32})
    yield Case("DynamicQuantizeLinear", "", (normal(*PLANE),), {}, 3)


def sampling():
    plane, cube = normal(1, 32, 56, 56), normal(1, 16, 16, 28, 28)
    for mode in ("nearest", "linear", "cubic"):
        for transform in ("half_pixel", "align_corners"):
            yield Case("Resize", f"{mode}, {transform}", (plane, constant([], np.float32), constant([1, 1, 2, 2], np.float32)), {"mode": mode, "coordinate_transformation_mode": transform})
        yield Case("Resize", f"{mode}, 3 axes", (cube, constant([], np.float32), constant([1, 1, 2, 2, 2], np.float32)), {"mode": mode}) if mode != "cubic" else None
        yield Case("Resize", f"{mode}, to 0.4", (normal(*PLANE), constant([], np.float32), constant([1, 1, 0.4, 0.4], np.float32)), {"mode": mode})
        if mode != "nearest":
            yield Case("Resize", f"{mode}, to 0.4, antialias", (normal(*PLANE), constant([], np.float32), constant([1, 1, 0.4, 0.4], np.float32)), {"mode": mode, "antialias": 1})
    y, x = np.meshgrid(np.linspace(-1, 1, 56), np.linspace(-1, 1, 56), indexing="ij")
    grid = (np.stack([x, y], -1)[None] + RANDOM.standard_normal((1, 56, 56, 2)) * 0.1).astype(np.float32)
    for mode in ("linear", "nearest", "cubic"):
        for padding in ("zeros", "border", "reflection"):
            yield Case("GridSample", f"{mode}, {padding}", (normal(1, 64, 56, 56), grid), {"mode": mode, "padding_mode": padding})
    grid3 = RANDOM.uniform(-1, 1, (1, 16, 28, 28, 3)).astype(np.float32)
    yield Case("GridSample", "linear, 3 axes", (normal(1, 16, 16, 28, 28), grid3), {"mode": "linear"})
    yield Case("AffineGrid", "", (normal(1, 2, 3), constant([1, 3, 512, 512])))


def recurrence():
    x = normal(64, 8, 128)
    for name, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, count in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            yield Case(name, direction, (x, weights(count, gates * 128, 128), weights(count, gates * 128, 128)), {"hidden_size": 128, "direction": direction}, 2)
    yield Case("LSTM", "one item", (normal(128, 1, 256), weights(1, 1024, 256), weights(1, 1024, 256)), {"hidden_size": 256}, 2)
    yield Case("GRU", "resets after the product", (x, weights(1, 384, 128), weights(1, 384, 128)), {"hidden_size": 128, "linear_before_reset": 1}, 2)


def signals():
    yield Case("DFT", "1024 points", (normal(64, 1024, 1), constant(1024)), {})
    yield Case("DFT", "1000 points", (normal(64, 1000, 1), constant(1000)), {})
    yield Case("DFT", "1024 points, complex", (normal(64, 1024, 2), constant(1024)), {})
    yield Case("DFT", "1024 points, inverse", (normal(64, 1024, 2), constant(1024)), {"inverse": 1})
    yield Case("DFT", "16384 points", (normal(4, 16384, 1), constant(16384)), {})
    yield Case("STFT", "", (normal(1, 65536, 1), constant(256), constant(np.hanning(1024).astype(np.float32))), {"onesided": 1})
    for name in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield Case(name, "", (constant(1 << 18),))
    yield Case("MelWeightMatrix", "", (constant(128), constant(2048), constant(16000), constant(0.0, np.float32), constant(8000.0, np.float32)))


def random():
    yield Case("RandomUniform", "", (), {"shape": [1 << 20]}, isRandom=True)
    yield Case("RandomNormal", "", (), {"shape": [1 << 20]}, isRandom=True)
    yield Case("RandomUniformLike", "", (normal(*PLANE),), isRandom=True)
    yield Case("RandomNormalLike", "", (normal(*PLANE),), isRandom=True)
    yield Case("Bernoulli", "", (positive(*PLANE),), isRandom=True)
    yield Case("Multinomial", "", (np.log(positive(64, 1000)),), {"sample_size": 100, "dtype": 7}, isRandom=True)


def microsoft():
    def case(name, about, inputs, attributes=None, outputs=1):
        return Case(name, about, inputs, attributes or {}, outputs, MICROSOFT)

    ones, zeros = constant(np.ones(768, np.float32)), constant(np.zeros(768, np.float32))
    for name in ("FastGelu", "QuickGelu", "BiasGelu", "Gelu"):
        inputs = (normal(2048, 768),) + ((Constant(normal(768)),) if name == "BiasGelu" else ())
        yield case(name, "ONNX Runtime", inputs)
    yield case("SkipLayerNormalization", "", (normal(4, 512, 768), normal(4, 512, 768), ones, zeros))
    yield case("SkipSimplifiedLayerNormalization", "", (normal(4, 512, 768), normal(4, 512, 768), ones))
    packed = RANDOM.integers(0, 255, (768, 24, 16)).astype(np.uint8)
    yield case("MatMulNBits", "4 bits", (normal(128, 768), Constant(packed), Constant(positive(768 * 24))), {"K": 768, "N": 768, "bits": 4, "block_size": 32})
    yield case("MatMulNBits", "4 bits, a vector", (normal(1, 768), Constant(packed), Constant(positive(768 * 24))), {"K": 768, "N": 768, "bits": 4, "block_size": 32})
    yield case("FusedMatMul", "", (normal(512, 768), normal(768, 768)), {"alpha": 0.5, "transB": 1})
    yield case("MultiHeadAttention", "", (normal(1, 384, 768), normal(1, 384, 768), normal(1, 384, 768)), {"num_heads": 12})
    yield case("DynamicQuantizeMatMul", "", (normal(256, 768), Constant(bytes8(768, 768)), constant(0.01, np.float32), constant(128, np.uint8)))
    yield case("QLinearAdd", "", (bytes8(*PLANE), constant(0.02, np.float32), constant(128, np.uint8), bytes8(*PLANE), constant(0.01, np.float32), constant(127, np.uint8), constant(0.03, np.float32), constant(128, np.uint8)))
    yield case("Inverse", "", (normal(64, 32, 32) + 8 * np.eye(32, dtype=np.float32),))


FAMILIES = (unary, binary, reductions, windows, layout, indexing, products, normalizations, quantization, sampling,
            recurrence, signals, random, microsoft)


def casts():
    """A million elements for each pair of types, all within the range of each type."""
    kinds = [np.dtype(name) for name in ("float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool").split()]
    for source in kinds:
        values = RANDOM.integers(0, 100, 1_000_000).astype(source)
        for target in kinds:
            if source != target:
                yield Case("Cast", f"{source} to {target}", (values,), {"to": int(helper.np_dtype_to_tensor_dtype(target))})


def cases(only=None, families=FAMILIES):
    """Returns the cases whose titles contain one of the words."""
    for family in families:
        for case in family():
            if case is not None and (not only or any(word in case.title for word in only)):
                yield case
