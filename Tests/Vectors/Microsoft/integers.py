"""Weights and layers of integers, and mixtures of experts, which may have such weights."""

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

from formulas import experts, routes, sigmoid
from nodes import FLOAT, INT8, INT32, UINT8, Numbers, case


def packed_codes(codes, bits):
    """Codes of a few bits along the last axis in bytes, the first in the lowest bits; a last byte is filled with zeros."""
    count = 8 // bits
    filled = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % count)])
    parts = filled.reshape(*codes.shape[:-1], -1, count).astype(np.uint32)
    return (parts << (bits * np.arange(count, dtype=np.uint32))).sum(-1).astype(np.uint8)


def weights():
    n = Numbers("weights")
    rows = 5
    for bits in [4, 8]:
        for depth, block in [(32, 16), (40, 16), (64, 32), (96, 32)]:
            blocks = -(-depth // block)
            codes = n.integers(0, 1 << bits, (rows, blocks * block))
            codes[:, depth:] = 1 << (bits - 1)
            data = packed_codes(codes, bits).reshape(rows, blocks, -1)
            scales, x = n.scales(rows, blocks), n.floats(2, 3, depth)
            zeros = n.integers(0, 1 << bits, (rows, blocks))
            half = n.floats(rows, blocks) + (1 << (bits - 1))
            for name, zero in [("middle", None), ("packed", packed_codes(zeros, bits)), ("floats", half)]:
                offset = {"middle": 1 << (bits - 1), "packed": zeros, "floats": half}[name]
                real = (codes - np.repeat(np.broadcast_to(offset, zeros.shape), block, 1)) * np.repeat(scales, block, 1)
                bias = n.floats(rows) if name == "packed" else None
                y = x.astype(np.float64) @ real[:, :depth].T + (0 if bias is None else bias)
                case(f"matmul_{bits}_bits_{depth}_{block}_{name}", "MatMulNBits", [x, data, scales, zero, None, bias],
                     fixed=[1, 2, 3, 5], N=rows, K=depth, bits=bits, block_size=block, expected=[y],
                     absolute=1e-5 if bits == 4 else 2e-4)
    # The kernel with whole blocks agrees with the formula above.
    case("matmul_4_bits_kernel", "MatMulNBits", [n.floats(3, 64), n.bytes(rows, 2, 16), n.scales(rows, 2), n.bytes(rows, 1)],
         fixed=[1, 2, 3], N=rows, K=64, bits=4, block_size=32, absolute=1e-5)
    case("matmul_4_bits_flat", "MatMulNBits",
         [n.floats(3, 64), n.bytes(rows, 2, 16), n.scales(rows * 2), n.bytes(rows)],
         fixed=[1, 2, 3], N=rows, K=64, bits=4, block_size=32, absolute=1e-5)
    codes, scales, x = n.integers(0, 16, (rows, 64)), n.scales(rows, 2).astype(np.float16), n.floats(3, 64).astype(np.float16)
    real = (codes - 8) * np.repeat(scales.astype(np.float64), 32, 1)
    case("matmul_4_bits_half", "MatMulNBits", [x, packed_codes(codes, 4).reshape(rows, 2, 16), scales], fixed=[1, 2], N=rows,
         K=64, bits=4, block_size=32, expected=[(x.astype(np.float64) @ real.T).astype(np.float16)], absolute=1e-2,
         relative=2e-3)
    for kind in [0, 1]:
        for depth, block in [(32, 16), (16, 32)]:
            case(f"matmul_bnb4_{kind}_{depth}_{block}", "MatMulBnb4",
                 [n.floats(2, depth), n.bytes(6 * depth // 2), n.scales(6 * depth // block)], fixed=[1, 2], N=6, K=depth,
                 block_size=block, quant_type=kind)
    ids = np.array([[0, 3, 6], [6, 1, 2]], np.int64)
    for bits in [4, 8]:
        codes = n.integers(0, 1 << bits, (7, 32))
        zeros = n.integers(0, 1 << bits, (7, 2))
        for name, zero in [("middle", None), ("zeros", packed_codes(zeros, bits))]:
            case(f"gather_{bits}_bits_{name}", "GatherBlockQuantized",
                 [packed_codes(codes, bits), ids, n.scales(7, 2), zero], fixed=[0, 2, 3], kinds=[FLOAT], bits=bits,
                 block_size=16, quantize_axis=1, gather_axis=0)
    case("gather_4_bits_part", "GatherBlockQuantized",
         [packed_codes(n.integers(0, 16, (7, 3, 24)), 4), ids, n.scales(7, 3, 2)], fixed=[0, 2], kinds=[FLOAT],
         block_size=16, quantize_axis=-1)


def convolutions():
    n = Numbers("quantized convolutions")
    for kind in [np.uint8, np.int8]:
        zero, scale = lambda value: np.array(value, kind), lambda value: np.array(value, np.float32)  # noqa: E731
        filters, bias = n.bytes(6, 3, 3, 2, kind=np.int8), n.integers(-500, 500, (6,))
        for name, x, last in [("last", n.bytes(2, 7, 5, 3, kind=kind), 1), ("first", n.bytes(2, 3, 7, 5, kind=kind), 0)]:
            case(f"qlinear_conv_{name}_{np.dtype(kind).name}", "QLinearConv",
                 [x, scale(0.02), zero(7), filters, n.scales(6), np.zeros(6, np.int8), scale(0.3), zero(11), bias],
                 fixed=[1, 2, 3, 4, 5, 6, 7, 8], channels_last=last, strides=[2, 1], pads=[1, 0, 1, 1], absolute=1.0,
                 relative=0.0)


def quantized_layers():
    n = Numbers("quantized layers")
    for kind in [np.uint8, np.int8]:
        name = np.dtype(kind).name
        zero = lambda value: np.array(value, kind)  # noqa: E731
        scale = lambda value: np.array(value, np.float32)  # noqa: E731
        x = n.bytes(2, 5, 6, 4, kind=kind)
        case(f"qlinear_average_pool_last_{name}", "QLinearAveragePool",
             [x, scale(0.02), zero(7), scale(0.03), zero(11)], fixed=[1, 2, 3, 4], channels_last=1, kernel_shape=[3, 2],
             strides=[2, 1], pads=[1, 0, 1, 1], absolute=1.0, relative=0.0)
        case(f"qlinear_global_average_pool_last_{name}", "QLinearGlobalAveragePool",
             [x, scale(0.02), zero(7), scale(0.03), zero(11)], fixed=[1, 2, 3, 4], channels_last=1, absolute=1.0,
             relative=0.0)
        for opset, axis in [(13, 1), (12, 2), (13, -1)]:
            case(f"qlinear_softmax_{name}_{opset}_{axis % 4}", "QLinearSoftmax",
                 [x, scale(0.02), zero(7), scale(1 / 256), zero(0 if kind == np.uint8 else -128)], fixed=[1, 2, 3, 4],
                 axis=axis, absolute=1.0, relative=0.0, attributes={"opset": opset})
        case(f"qlinear_where_{name}", "QLinearWhere",
             [n.integers(0, 2, (5, 1, 4), bool), x, scale(0.02), zero(7), n.bytes(6, 4, kind=kind), scale(0.03), zero(2),
              scale(0.04), zero(5)], fixed=[2, 3, 5, 6, 7, 8], kinds=[UINT8 if kind == np.uint8 else INT8], absolute=1.0,
             relative=0.0)
        real = (x.astype(np.float64) - 7) * 0.02
        limits = np.iinfo(kind)
        for axes, kept in [([1, 2], 0), ([-1], 1)]:
            mean = real.mean(tuple(axes), keepdims=bool(kept))
            case(f"qlinear_reduce_mean_{name}_{kept}", "QLinearReduceMean",
                 [x, scale(0.02), zero(7), scale(0.01), zero(11)], fixed=[1, 2, 3, 4], axes=axes, keepdims=kept,
                 expected=[np.clip(np.rint(mean / 0.01) + 11, limits.min, limits.max).astype(kind)], absolute=1.0,
                 relative=0.0)
    convolutions()
    ids, parts = n.integers(0, 9, (2, 5)), n.integers(0, 3, (2, 5))
    tables = [n.bytes(9, 8), n.bytes(7, 8), n.bytes(3, 8), n.bytes(8), n.bytes(8)]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    numbers = [np.array(value, np.float32) for value in [0.02, 0.03, 0.01, 0.015, 0.025]]
    zeros = [np.array(value, np.uint8) for value in [120, 3, 7, 128, 90]]
    case("q_embed_layer_normalization", "QEmbedLayerNormalization", [ids, parts, *tables, mask, *numbers, *zeros],
         ["y", "ends"], fixed=[*range(2, 7), *range(8, 18)], kinds=[FLOAT, INT32], absolute=1e-5)

    # ONNX Runtime's own LSTM of what the weights stand for: the quantized one rounds its operands too.
    directions, size, hidden = 2, 5, 3
    for columns in [1, 4 * hidden]:
        w, r = n.bytes(directions, size, 4 * hidden, kind=np.int8), n.bytes(directions, hidden, 4 * hidden, kind=np.int8)
        shape = (directions, columns) if columns > 1 else (directions,)
        scales, zeros = [n.scales(*shape) / 30 for _ in range(2)], [n.integers(-3, 4, shape, np.int8) for _ in range(2)]
        real = [(codes - zero.reshape(directions, 1, -1).astype(np.float32)) * own.reshape(directions, 1, -1)
                for codes, zero, own in zip([w, r], zeros, scales)]
        x, bias = n.floats(4, 2, size), n.floats(directions, 8 * hidden)
        graph = helper.make_graph(
            [helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], direction="bidirectional", hidden_size=hidden)],
            "lstm", [helper.make_tensor_value_info("x", FLOAT, x.shape)],
            [helper.make_tensor_value_info(key, FLOAT, None) for key in "yhc"],
            [numpy_helper.from_array(real[0].swapaxes(1, 2).copy(), "w"),
             numpy_helper.from_array(real[1].swapaxes(1, 2).copy(), "r"), numpy_helper.from_array(bias, "b")])
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 14)])
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        case(f"dynamic_quantize_lstm_{columns}", "DynamicQuantizeLSTM",
             [x, w, r, bias, None, None, None, None, scales[0], zeros[0], scales[1], zeros[1]], ["y", "h", "c"],
             fixed=[1, 2, 3, 8, 9, 10, 11], direction="bidirectional", hidden_size=hidden,
             expected=session.run(None, {"x": x}))


def mixtures():
    n = Numbers("mixtures")
    tokens, count, width, inner = 5, 4, 16, 32
    x, router = n.floats(tokens, width), n.floats(tokens, count)
    first, second = n.floats(count, inner, width) / 4, n.floats(count, width, inner) / 4
    biases = n.floats(count, inner), n.floats(count, width)
    near = {"absolute": 1e-5}
    for name in ["relu", "silu", "identity", "gelu"]:
        case(f"moe_{name}", "MoE", [x, router, first, biases[0], second, biases[1]], fixed=[2, 3, 4, 5], k=2,
             activation_type=name, normalize_routing_weights=1, **near)
    case("moe_shares", "MoE", [x, router, first, None, second], fixed=[2, 4], k=3, activation_type="relu", **near)
    case("moe_three_axes", "MoE", [x[None], router, first, None, second], fixed=[2, 4], k=1, activation_type="relu", **near)
    wide, wide_bias = n.floats(count, 2 * inner, width) / 4, n.floats(count, 2 * inner)
    limits = {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 1.5, "activation_type": "swiglu"}
    operands = [x, router, wide, wide_bias, second, biases[1]]
    case("moe_swiglu_pairs", "MoE", operands, fixed=[2, 3, 4, 5], k=2, swiglu_fusion=1, normalize_routing_weights=1,
         **limits, **near)

    def swiglu(rows):
        g, l = np.minimum(rows[:, :inner], 1.5), np.clip(rows[:, inner:], -1.5, 1.5)
        return g * sigmoid(1.702 * g) * (l + 1)

    case("moe_swiglu_halves", "MoE", operands, fixed=[2, 3, 4, 5], k=2, swiglu_fusion=2, **limits, **near,
         expected=[experts(x.astype(np.float64), routes(router, 2, False), [wide, wide_bias, second, biases[1]], swiglu)])
    third = n.floats(count, inner, width) / 4
    gated = lambda rows: rows[:, :inner] * sigmoid(rows[:, :inner]) * rows[:, inner:]  # noqa: E731
    both = np.concatenate([first, third], 1)
    case("moe_gate", "MoE", [x, router, first, None, second, None, third], fixed=[2, 4, 6], k=2, activation_type="silu",
         expected=[experts(x.astype(np.float64), routes(router, 2, False),
                           [both, np.zeros((count, 2 * inner)), second, np.zeros((count, width))], gated)], **near)

    def quantized(name, bits, block, has_zeros, **more):
        codes = [n.integers(0, 1 << bits, shape) for shape in [(count, inner, width), (count, width, inner)]]
        sizes = [(rows.shape[2] // block if block else 1) for rows in codes]
        scales = [n.scales(*rows.shape[:2], size) / (1 << bits) * 4 for rows, size in zip(codes, sizes)]
        zeros = [n.integers(0, 1 << bits, scale.shape) if has_zeros else np.full(scale.shape, 1 << (bits - 1))
                 for scale in scales]
        real = [(rows - np.repeat(zero, rows.shape[2] // size, 2)) * np.repeat(scale, rows.shape[2] // size, 2)
                for rows, scale, zero, size in zip(codes, scales, zeros, sizes)]
        given = scales if block else [scale[..., 0] for scale in scales]
        packed = [packed_codes(zero if block else zero[..., 0], bits) for zero in zeros] if has_zeros else [None, None]
        operands = [x, router, packed_codes(codes[0], bits), given[0], biases[0], packed_codes(codes[1], bits), given[1],
                    biases[1], None, None, None, *packed]
        result = experts(x.astype(np.float64), routes(router, 2, True), [real[0], biases[0], real[1], biases[1]],
                         lambda rows: rows * sigmoid(rows))
        more = {"block_size": block} if block else {}
        case(name, "QMoE", operands, fixed=[2, 3, 4, 5, 6, 7, 11, 12], k=2, activation_type="silu",
             expert_weight_bits=bits, normalize_routing_weights=1, expected=[result], absolute=2e-5, **more)

    for bits in [4, 8]:
        quantized(f"qmoe_{bits}_bits_rows", bits, 0, False)
        quantized(f"qmoe_{bits}_bits_blocks", bits, 16, False)
        quantized(f"qmoe_{bits}_bits_zeros", bits, 16, True)
        quantized(f"qmoe_{bits}_bits_row_zeros", bits, 0, True)
    codes = [n.bytes(count, inner, width // 2), n.bytes(count, width, inner // 2)]
    scales = [n.scales(count, inner), n.scales(count, width)]
    case("qmoe_kernel", "QMoE", [x, router, codes[0], scales[0], biases[0], codes[1], scales[1], biases[1]],
         fixed=[2, 3, 4, 5, 6, 7], k=2, activation_type="silu", expert_weight_bits=4, normalize_routing_weights=1,
         absolute=2e-5)
