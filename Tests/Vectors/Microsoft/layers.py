"""Layers of floating-point numbers."""

import numpy as np

from formulas import convolution, gelu, gelu_tanh, group_norm, heads, relative_buckets, sigmoid, softmax
from nodes import DOMAIN, FLOAT, INT32, Numbers, case


def normalizations():
    n = Numbers("normalizations")
    x = n.floats(2, 3, 8)
    for index, skip in enumerate([n.floats(2, 3, 8), n.floats(1, 3, 8), n.floats(3, 8)]):
        case(f"skip_layer_normalization_{index}", "SkipLayerNormalization",
             [x, skip, n.floats(8), n.floats(8) if index else None, n.floats(8) if index == 1 else None],
             ["y", "", "", "sum"], fixed=[2, 3, 4], epsilon=1e-5)
        case(f"skip_simplified_{index}", "SkipSimplifiedLayerNormalization",
             [x, skip, n.floats(8), n.floats(8) if index else None], ["y", "", "", "sum"], fixed=[2, 3], epsilon=1e-6)
    case("skip_layer_normalization_flat", "SkipLayerNormalization", [n.floats(5, 8), n.floats(5, 8), n.floats(8)],
         fixed=[2])
    for domain in ["", DOMAIN]:
        y = x.astype(np.float64)
        root = 1 / np.sqrt((y ** 2).mean(-1, keepdims=True) + 1e-5)
        gamma = n.floats(8)
        case(f"simplified_layer_normalization_{'own' if domain else 'standard'}", "SimplifiedLayerNormalization",
             [x, gamma], ["y", "inverse"], fixed=[1], domain=domain, expected=[y * root * gamma, root])
    case("simplified_layer_normalization_axis", "SimplifiedLayerNormalization", [x, n.floats(3, 8)], fixed=[1],
         domain="", axis=1, epsilon=1e-3)
    ids, parts = n.integers(0, 9, (2, 5)), n.integers(0, 3, (2, 5))
    tables = [n.floats(9, 8), n.floats(7, 8), n.floats(3, 8)]
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    case("embed_layer_normalization_all", "EmbedLayerNormalization",
         [ids, parts, *tables, n.floats(8), n.floats(8), mask, n.integers(0, 7, (2, 5))], ["y", "ends", "sum"],
         fixed=[2, 3, 4, 5, 6], kinds=[FLOAT, INT32, FLOAT], epsilon=1e-5)
    case("embed_layer_normalization_shared_places", "EmbedLayerNormalization",
         [ids, parts, *tables, n.floats(8), n.floats(8), None, n.integers(0, 7, (1, 5))], ["y", "ends"],
         fixed=[2, 3, 4, 5, 6], kinds=[FLOAT, INT32])
    case("embed_layer_normalization_words", "EmbedLayerNormalization",
         [ids, None, tables[0], tables[1], None, n.floats(8), n.floats(8)], ["y", "ends"], fixed=[2, 3, 5, 6],
         kinds=[FLOAT, INT32])
    images, gamma, beta = n.floats(2, 3, 4, 8), n.floats(8), n.floats(8)
    silu = lambda x: x * sigmoid(x)  # noqa: E731
    first = (0, 3, 1, 2)
    case("group_norm_last", "GroupNorm", [images, gamma, beta], fixed=[1, 2], groups=4, activation=0,
         expected=[group_norm(images, 4, gamma, beta)])
    case("group_norm_first_silu", "GroupNorm", [images.transpose(first), gamma, beta], fixed=[1, 2], groups=2,
         activation=1, channels_last=0, epsilon=1e-3,
         expected=[silu(group_norm(images, 2, gamma, beta, 1e-3)).transpose(first)])
    for name, skip in [("whole", n.floats(2, 3, 4, 8)), ("pixel", n.floats(2, 1, 1, 8)), ("vector", n.floats(2, 8))]:
        bias = n.floats(8) if name != "whole" else None
        total = images + skip.reshape(2, *([1, 1] if skip.ndim == 2 else skip.shape[1:3]), 8)
        total = total + (0 if bias is None else bias)
        case(f"skip_group_norm_{name}", "SkipGroupNorm", [images, gamma, beta, skip, bias], ["y", "sum"],
             fixed=[1, 2, 4], groups=4, activation=1, expected=[silu(group_norm(total, 4, gamma, beta)), total])
    gamma, beta = n.floats(8), n.floats(8)
    y = x.astype(np.float64)
    normal = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
    case("layer_normalization", "LayerNormalization", [x, gamma, beta], fixed=[1, 2], expected=[normal * gamma + beta])
    halves = [array.astype(np.float16) for array in (x, n.floats(2, 3, 8), gamma, beta)]
    case("skip_layer_normalization_half", "SkipLayerNormalization", halves, ["y", "", "", "sum"], fixed=[2, 3],
         epsilon=1e-5, absolute=6e-3, relative=2e-3)


def activations():
    n = Numbers("activations")
    x, bias = n.floats(2, 3, 8), n.floats(8)
    case("gelu", "Gelu", [x])
    case("bias_gelu", "BiasGelu", [x, bias], fixed=[1])
    case("fast_gelu", "FastGelu", [x])
    case("fast_gelu_bias", "FastGelu", [x, bias], fixed=[1])
    case("quick_gelu", "QuickGelu", [x])
    case("quick_gelu_alpha", "QuickGelu", [x], alpha=0.7)
    w = n.floats(8, 6)
    shift, skip = n.floats(6), n.floats(2, 3, 8)
    case("gemm_fast_gelu", "GemmFastGelu", [x, w, shift], fixed=[1, 2],
         expected=[gelu_tanh(x.astype(np.float64) @ w + shift)])
    case("bias_add", "BiasAdd", [x, bias, skip], fixed=[1], expected=[x.astype(np.float64) + bias + skip])
    total = x.astype(np.float64) + bias
    case("bias_split_gelu", "BiasSplitGelu", [x, bias], fixed=[1], expected=[total[..., :4] * gelu(total[..., 4:])])
    scores = n.floats(2, 3, 4, 5)
    for name, shape, axis, inner in [("inner", (2, 1, 1, 5), 3, 1), ("outer", (4, 5), 3, 0), ("rows", (2, 1, 4, 5), 2, 1)]:
        mask = n.floats(*shape)
        sums = (scores.astype(np.float64) + mask).reshape(*scores.shape[:axis], -1)
        case(f"bias_softmax_{name}", "BiasSoftmax", [scores, mask], axis=axis, is_inner_broadcast=inner,
             expected=[softmax(sums).reshape(scores.shape)])


def products():
    n = Numbers("products")
    x, w, bias = n.floats(1, 4, 7, 6), n.floats(6, 2, 3, 3), n.floats(6)
    for name, parameters in [("Relu", None), ("Sigmoid", None), ("Tanh", None), ("LeakyRelu", [0.2]),
                             ("Clip", [-0.5, 0.75]), ("HardSigmoid", [0.3, 0.4])]:
        more = {} if parameters is None else {"activation_params": parameters}
        case(f"fused_conv_{name.lower()}", "FusedConv", [x, w, bias], fixed=[1, 2], group=2, pads=[1, 0, 1, 1],
             strides=[2, 1], activation=name, **more)
    case("fused_conv_sum", "FusedConv", [x, w, bias, n.floats(1, 6, 7, 6)], fixed=[1, 2], group=2, pads=[1, 1, 1, 1],
         activation="Relu")
    case("fused_conv_plain", "FusedConv", [x, w], fixed=[1], group=2)
    filters = n.floats(6, 4, 3, 2)
    plain = convolution(x, filters, [2, 1], [1, 0, 1, 1])
    last = (0, 2, 3, 1)
    for name, own in [("first", filters), ("last", filters.transpose(last))]:
        case(f"nhwc_conv_{name}", "NhwcConv", [x.transpose(last), own, bias], fixed=[1, 2], strides=[2, 1],
             pads=[1, 0, 1, 1], expected=[plain.transpose(last) + bias])
    added = n.floats(*plain.transpose(last).shape)
    case("nhwc_fused_conv", "NhwcFusedConv", [x.transpose(last), filters, bias, added], fixed=[1, 2], strides=[2, 1],
         pads=[1, 0, 1, 1], activation="Relu", expected=[np.maximum(plain.transpose(last) + bias + added, 0)])
    a, b, c = n.floats(3, 5), n.floats(5, 4), n.floats(4)
    case("fused_gemm_relu", "FusedGemm", [a, b, c], fixed=[1, 2], activation="Relu")
    case("fused_gemm_leaky", "FusedGemm", [a.T.copy(), b.T.copy(), n.floats(3, 1)], fixed=[1], activation="LeakyRelu",
         activation_alpha=0.3, alpha=0.5, beta=1.5, transA=1, transB=1)
    case("fused_gemm_hard_sigmoid", "FusedGemm", [a, b], activation="HardSigmoid", activation_alpha=0.1,
         activation_beta=0.6)
    case("fused_matmul_alpha", "FusedMatMul", [n.floats(2, 3, 5), n.floats(2, 5, 4)], alpha=0.25)
    case("fused_matmul_transposed", "FusedMatMul", [n.floats(2, 5, 3), n.floats(2, 4, 5)], transA=1, transB=1)
    case("fused_matmul_vectors", "FusedMatMul", [n.floats(5), n.floats(2, 4, 5)], transA=1, transB=1)
    case("fused_matmul_weights", "FusedMatMul", [n.floats(2, 3, 5), n.floats(4, 5)], fixed=[1], transB=1, alpha=2.0)
    case("fused_matmul_batches", "FusedMatMul", [n.floats(3, 2, 5), n.floats(5, 2, 4)], transBatchA=1, transBatchB=1)
    case("fused_matmul_batches_four", "FusedMatMul", [n.floats(3, 2, 4, 5), n.floats(6, 2, 4, 5)], transBatchA=1,
         transBatchB=1, transB=1)
    case("fused_matmul_batch_transposed", "FusedMatMul", [n.floats(5, 2, 3), n.floats(2, 5, 4)], transBatchA=1, transA=1)
    case("transpose_matmul", "TransposeMatMul", [n.floats(2, 5, 3), n.floats(2, 5, 4)], transA=1)
    a, b = n.floats(2, 3, 5), n.floats(5, 4)
    case("fused_matmul_activation", "FusedMatMulActivation", [a, b], activation="Tanh", alpha=0.5,
         expected=[np.tanh(0.5 * (a.astype(np.float64) @ b))])
    case("matmul_integer16", "MatMulInteger16", [n.integers(-9000, 9000, (3, 5), np.int16),
                                                 n.integers(-9000, 9000, (5, 4), np.int16)], kinds=[INT32], absolute=0,
         relative=0)


def rotary():
    n = Numbers("rotary")
    cosines, sines = n.floats(12, 4), n.floats(12, 4)
    places = n.integers(0, 12, (2, 3), np.int64)
    for interleaved in [0, 1]:
        for name, x in [("flat", n.floats(2, 3, 16)), ("heads", n.floats(2, 2, 3, 8))]:
            case(f"rotary_{name}_{interleaved}", "RotaryEmbedding", [x, places, cosines, sines], fixed=[2, 3],
                 interleaved=interleaved)
            case(f"rotary_{name}_from_{interleaved}", "RotaryEmbedding",
                 [x, np.array([5], np.int64), cosines, sines], fixed=[2, 3], interleaved=interleaved)
    case("rotary_part", "RotaryEmbedding", [n.floats(2, 3, 16), places, cosines[:, :2].copy(), sines[:, :2].copy()],
         fixed=[2, 3], num_heads=2, rotary_embedding_dim=4)
    case("rotary_part_heads", "RotaryEmbedding",
         [n.floats(2, 2, 3, 8), places, cosines[:, :2].copy(), sines[:, :2].copy()], num_heads=2, rotary_embedding_dim=4,
         interleaved=1)


def others():
    n = Numbers("others")
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.3, 0.7, 0.9], [-0.2, 0.1, 1.3, 0.5], [0.9, 0.8, 0.1, 0.2]], np.float32)
    for name, size in [("square", [3, 3]), ("single", [1, 4])]:
        case(f"crop_and_resize_{name}", "CropAndResize",
             [n.floats(2, 3, 5, 6), boxes, np.array([0, 1, 1, 0], np.int32), np.array(size, np.int32)], fixed=[3],
             extrapolation_value=-2.5, absolute=1e-5)
    grid = (n.generator.uniform(-1.2, 1.2, (2, 3, 4, 2))).astype(np.float32)
    for mode, padding in [("bilinear", "zeros"), ("nearest", "border"), ("bicubic", "reflection")]:
        case(f"grid_sample_{mode}", "GridSample", [n.floats(2, 3, 5, 6), grid], mode=mode, padding_mode=padding,
             align_corners=1, absolute=2e-5)
    x = n.floats(2, 3, 8)
    spectrum = np.fft.rfft(x.astype(np.float64))
    case("rfft", "Rfft", [x], signal_ndim=1, expected=[np.stack([spectrum.real, spectrum.imag], -1)])
    parts = n.floats(2, 5, 2)
    signal = np.fft.irfft(parts[..., 0].astype(np.float64) + 1j * parts[..., 1])
    case("irfft", "Irfft", [parts], signal_ndim=1, expected=[signal])
    for size in [1, 3, 6]:
        x = n.floats(2, size, size)
        case(f"inverse_{size}", "Inverse", [x], expected=[np.linalg.inv(x.astype(np.float64))], absolute=2e-5, relative=1e-4)
    case("inverse_swapped", "Inverse", [np.array([[0, 2, 0], [1, 0, 0], [0, 0, -4]], np.float32)])
    a, b = n.floats(4, 6), n.floats(3, 6)
    for metric in ["sqeuclidean", "euclidean"]:
        case(f"cdist_{metric}", "CDist", [a, b], metric=metric, absolute=1e-5)
    ids = n.integers(0, 4, (3, 12), np.int64)
    for size in [1, 2, 3, 13]:
        case(f"ngram_{size}", "NGramRepeatBlock", [ids, n.floats(3, 5)], kinds=[FLOAT], ngram_size=size)
    x = n.floats(3, 4)
    case("trilu", "Trilu", [x, np.array(1, np.int64)], fixed=[1], upper=0)
    case("pad", "Pad", [x, np.array([[1, 0, 2, 1]], np.int64), np.array([0.5], np.float32)], fixed=[1, 2])
    case("pad_reflect", "Pad", [x, np.array([1, 2, 0, 1], np.int64)], fixed=[1], mode="reflect")
    case("gather_nd", "GatherND", [x, np.array([[0, 1], [2, 3]], np.int64)])
    case("expand_dims", "ExpandDims", [x, np.array(-1, np.int32)], fixed=[1])
    case("range", "Range", [np.array(2, np.int64), np.array(9, np.int64)], fixed=[0, 1])
    case("range_step", "Range", [np.array([1.5], np.float32), np.array([-1], np.float32), np.array([-0.5], np.float32)],
         fixed=[0, 1, 2])
    for name, bidirectional, count, limit, length in [("both", 1, 16, 20, 12), ("before", 0, 8, 16, 24)]:
        table = n.floats(count, 3)
        buckets = relative_buckets(count, limit, bidirectional, length, length)
        case(f"relative_position_bias_{name}", "RelativePositionBias",
             [table, np.array([length], np.int64), np.array([length], np.int64)], fixed=[1, 2], max_distance=limit,
             is_bidirectional=bidirectional, expected=[table.reshape(3, count)[:, buckets][None]])
    query, shift, position = n.floats(2, 4, 6), n.floats(6), n.floats(1, 2, 4, 4)
    weight, bias, scale = n.floats(3, 8), n.floats(8), n.floats(1, 2, 1, 1)
    sums = (heads((query + shift).astype(np.float64), 2) @ weight + bias).reshape(2, 2, 4, 2, 4).sum(-1)
    u, r = np.split(sigmoid(sums), 2, -1)
    case("gated_relative_position_bias", "GatedRelativePositionBias", [query, shift, position, weight, bias, scale],
         fixed=[1, 3, 4, 5], num_heads=2, expected=[(u * (r * scale - 1) + 2) * position])
