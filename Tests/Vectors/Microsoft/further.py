"""Vectors of rarely used features: groups of weights by index, low-precision tables, outputs of scores and caches,
as ONNX Runtime computes them."""

import ml_dtypes
import numpy as np
from onnx import TensorProto

from nodes import Numbers, case


def further():
    n = Numbers("further")
    rows, depth, block = 5, 48, 16
    for name, zero in [("middle", None), ("zeros", n.bytes(rows, 2))]:
        x, data, scales, groups = n.floats(3, depth), n.bytes(rows, 3, 8), n.scales(rows, 3), n.integers(0, 3, (depth,))
        expected = None
        # ONNX Runtime 1.32.0 takes the middle of the codes whatever zero points there are beside groups.
        if zero is not None:
            codes, zeros = [np.stack([packed & 15, packed >> 4], -1).reshape(rows, -1) for packed in (data, zero)]
            expected = [x.astype(np.float64) @ ((codes.astype(np.float64) - zeros[:, groups]) * scales[:, groups]).T]
        case(f"matmul_4_bits_groups_{name}", "MatMulNBits", [x, data, scales, zero, groups], fixed=[1, 2, 3, 4], N=rows,
             K=depth, bits=4, block_size=block, absolute=1e-5, expected=expected)
    for kind in [ml_dtypes.int4, ml_dtypes.uint4]:
        limits = ml_dtypes.iinfo(kind)
        table = n.integers(limits.min, limits.max, (6, 32)).astype(kind)
        zeros = n.integers(limits.min, limits.max, (6, 2)).astype(kind)
        for name, zero, places in [("", None, np.array([[2, 0, 5]], np.int64)), ("_zeros", zeros, np.array([4, 1], np.int32))]:
            case(f"gather_blocks_{np.dtype(kind).name}{name}", "GatherBlockQuantized", [table, places, n.scales(6, 2), zero],
                 fixed=[0, 2, 3], kinds=[TensorProto.FLOAT], block_size=16, gather_axis=0, quantize_axis=1)
        case(f"gather_blocks_{np.dtype(kind).name}_columns", "GatherBlockQuantized",
             [table, np.array([31, 2], np.int64), n.scales(6, 2), zeros], fixed=[0, 2, 3], kinds=[TensorProto.FLOAT],
             block_size=16, gather_axis=1, quantize_axis=1)
    case("qgemm_alpha", "QGemm",
         [n.bytes(3, 4), np.float32(0.1), np.uint8(3), n.bytes(4, 5), np.float32(0.2), np.uint8(5),
          n.integers(-99, 99, (5,))], fixed=[1, 2, 3, 4, 5, 6], kinds=[TensorProto.FLOAT], alpha=0.5, absolute=1e-5)
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.9], [-0.2, 0.1, 1.3, 0.5]], np.float32)
    case("crop_and_resize_nearest", "CropAndResize",
         [n.floats(2, 3, 5, 6), boxes, np.array([0, 1, 1], np.int32), np.array([3, 4], np.int32)], fixed=[3], mode="nearest",
         extrapolation_value=-2.5)
    for mode in [1, 2]:
        for softcap in [0.0, 3.0]:
            case(f"gqa_scores_{mode}_{int(softcap)}", "GroupQueryAttention",
                 [n.floats(1, 3, 64), n.floats(1, 3, 32), n.floats(1, 3, 32), None, None, np.array([2], np.int32),
                  np.array(3, np.int32)], ["y", "key", "value", "scores"], fixed=[6], num_heads=4, kv_num_heads=2,
                 qk_output=mode, softcap=softcap, absolute=5e-6)
    case("multi_head_placed", "MultiHeadAttention",
         [n.floats(2, 1, 8), n.floats(2, 1, 8), n.floats(2, 1, 8), None, None, None, n.floats(2, 2, 6, 4),
          n.floats(2, 2, 6, 4), np.array([3], np.int32)], ["y", "key", "value"], fixed=[8], num_heads=2, absolute=5e-6)
    x, skip, scale, shift = n.floats(2, 3, 8), n.floats(2, 3, 8), n.floats(8), n.floats(8)
    total = x.astype(np.float64) + skip
    mean, deviation = total.mean(-1, keepdims=True), 1 / np.sqrt(total.var(-1, keepdims=True) + 1e-5)
    case("skip_layer_statistics", "SkipLayerNormalization", [x, skip, scale, shift], ["y", "mean", "deviation", "sum"],
         fixed=[2, 3], epsilon=1e-5, expected=[(total - mean) * deviation * scale + shift, mean, deviation, total],
         absolute=5e-6)
