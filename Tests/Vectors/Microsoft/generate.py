"""Writes the vectors of operators of ONNX Runtime's domain `com.microsoft`: one node each, and what ONNX Runtime computes
on a processor, or the formulas of `formulas.py` for operators that it has for graphics processors only. README.md says more.

    .venv/bin/pip install onnx==1.23.2 onnxruntime==1.31.1 numpy==2.4.6
    .venv/bin/python Tests/Vectors/Microsoft/generate.py
"""

import pathlib
import sys
import zlib

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import kv  # noqa: E402  (of the directory above)
from formulas import *  # noqa: E402, F403

DOMAIN = "com.microsoft"


class Numbers:
    """Random numbers of a case by its name."""

    def __init__(self, name):
        self.generator = np.random.default_rng(zlib.crc32(name.encode()))

    def floats(self, *shape):
        return self.generator.standard_normal(shape).astype(np.float32)

    def scales(self, *shape):
        return self.generator.uniform(0.02, 0.1, shape).astype(np.float32)

    def integers(self, low, high, shape, kind=np.int32):
        return self.generator.integers(low, high, shape).astype(kind)

    def bytes(self, *shape, kind=np.uint8):
        limits = np.iinfo(kind)
        return self.generator.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)


def case(name, operator, operands, outputs=("y",), fixed=(), expected=None, kinds=None, domain=DOMAIN, opset=21,
         absolute=2e-6, relative=2e-5, attributes=None, **more):
    """One node. `operands` are arrays, None where one is left out; those of the numbers in `fixed` are initializers. What is
    expected is ONNX Runtime's answer where it is not given."""
    kind = lambda array: helper.np_dtype_to_tensor_dtype(array.dtype)  # noqa: E731
    names = ["" if array is None else f"x{index}" for index, array in enumerate(operands)]
    given = {name: array for index, (name, array) in enumerate(zip(names, operands)) if name and index not in fixed}
    constants = [numpy_helper.from_array(operands[index], names[index]) for index in fixed
                 if index < len(names) and names[index]]
    node = helper.make_node(operator, names, list(outputs), name="node", domain=domain, **more, **(attributes or {}))

    def model(results):
        graph = helper.make_graph(
            [node], name, [helper.make_tensor_value_info(key, kind(array), array.shape) for key, array in given.items()],
            results, constants)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, ir_version=10, opset_imports=opsets, producer_name="Kelvin vectors")

    wanted = [key for key in outputs if key]
    if expected is None:
        first = next(array for array in operands if array is not None)
        kinds = kinds or [kind(first)] * len(wanted)
        written = model([helper.make_tensor_value_info(key, number, None) for key, number in zip(wanted, kinds)])
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            written.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = session.run(None, given)
    else:
        expected = [np.asarray(array) for array in expected]
        expected = [array.astype(np.float32) if array.dtype == np.float64 else array for array in expected]
    written = model([helper.make_tensor_value_info(key, kind(array), array.shape)
                     for key, array in zip(wanted, expected)])
    (HERE / f"{name}.onnx").write_bytes(written.SerializeToString())
    header = {"case": name, "op": operator, "tolerance": {"absolute": absolute, "relative": relative}}
    (HERE / f"{name}.kv").write_bytes(kv.encode(header, list(given.items()), list(zip(wanted, expected))))


FLOAT, INT32, INT64, UINT8, INT8 = 1, 6, 7, 2, 3


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
    case("layer_normalization_standard_simplified_axis", "SimplifiedLayerNormalization", [x, n.floats(3, 8)], fixed=[1],
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


def merged_attention():
    n = Numbers("merged attention")
    batch, length, heads_ = 2, 4, 2
    x, w, bias = n.floats(batch, length, 6), n.floats(6, 24), n.floats(24)
    masks = {
        "none": None, "lengths": np.array([3, 4], np.int32), "ranges": np.array([3, 4, 1, 0], np.int32),
        "starts": np.array([2, 4, 0, 4, 8, 0, 4, 8], np.int32), "dummy": np.ones((batch, 1), np.int32),
        "keys": np.array([[1, 0, 1, 1], [1, 1, 1, 0]], np.int32), "scores": n.integers(0, 2, (batch, length, length)),
    }
    for name, mask in masks.items():
        for causal in [0, 1]:
            case(f"attention_mask_{name}_{causal}", "Attention", [x, w, bias, mask], fixed=[1, 2], num_heads=heads_,
                 unidirectional=causal)
    case("attention_filter", "Attention", [x, w, bias, np.array([[0, 0, 0, 0], [1, 0, 0, 0]], np.int32)], fixed=[1, 2],
         num_heads=heads_, mask_filter_value=-3.0, scale=0.3)
    # ONNX Runtime's kernel for processors needs a bias.
    parts = [heads(part, heads_) for part in np.split(x.astype(np.float64) @ w, 3, -1)]
    case("attention_plain", "Attention", [x, w], fixed=[1], num_heads=heads_, expected=[joined(attention(*parts))])
    case("attention_weights_given", "Attention", [x, w, bias], num_heads=heads_)
    case("attention_sizes", "Attention", [x, n.floats(6, 28), n.floats(28), masks["keys"]], fixed=[1, 2],
         num_heads=heads_, qkv_hidden_sizes=[8, 8, 12])
    case("attention_bias", "Attention", [x, w, bias, masks["keys"], None, n.floats(1, heads_, length, length)],
         fixed=[1, 2], num_heads=heads_, unidirectional=1)
    past = n.floats(2, batch, heads_, 3, 4)
    case("attention_past", "Attention", [x, w, bias, None, past], ["y", "present"], fixed=[1, 2], num_heads=heads_,
         unidirectional=1)
    case("attention_past_mask", "Attention",
         [x, w, bias, n.integers(0, 2, (batch, length + 3)), past], ["y", "present"], fixed=[1, 2], num_heads=heads_, unidirectional=1)
    case("attention_present", "Attention", [x, w, bias], ["y", "present"], fixed=[1, 2], num_heads=heads_)
    whole = np.tril(np.ones((batch, 1, 6, 6), np.int32))
    parts = [heads(part, heads_) for part in np.split(x.astype(np.float64) @ w + bias, 3, -1)]
    mask = np.where(whole[:, :, :length, :length] > 0, 0, -10000)
    case("attention_mask_places", "Attention", [x, w, bias, whole], fixed=[1, 2], num_heads=heads_,
         expected=[joined(attention(*parts, mask))])
    for kind, zero in [(np.uint8, 3), (np.int8, -2)]:
        for columns in [1, 24]:
            name = f"q_attention_{np.dtype(kind).name}_{columns}"
            weights, codes = n.bytes(6, 24, kind=kind), n.bytes(batch, length, 6)
            scale = n.scales(columns) / 8 if columns > 1 else n.scales() / 8
            zeros = np.full(columns, zero, kind) if columns > 1 else np.array(zero, kind)
            case(name, "QAttention",
                 [codes, weights, bias, np.array(0.01, np.float32), scale, masks["lengths"], np.array(120, np.uint8), zeros],
                 fixed=[1, 2, 3, 4, 6, 7], kinds=[FLOAT], num_heads=heads_, unidirectional=1, absolute=1e-5)
    case("q_attention_past", "QAttention",
         [codes, weights, bias, np.array(0.01, np.float32), np.array(0.003, np.float32), None, np.array(120, np.uint8),
          np.array(1, np.int8), past], ["y", "present"], fixed=[1, 2, 3, 4, 6, 7], kinds=[FLOAT, FLOAT], num_heads=heads_,
         absolute=1e-5)


def multi_head_attention():
    n = Numbers("multi-head attention")
    batch, queries, keys, count = 2, 3, 5, 2
    q, k, v = n.floats(batch, queries, 8), n.floats(batch, keys, 8), n.floats(batch, keys, 12)
    operator = "MultiHeadAttention"
    case("mha_apart", operator, [q, k, v], num_heads=count)
    case("mha_bias", operator, [q, k, v, n.floats(28)], fixed=[3], num_heads=count, scale=0.4)
    case("mha_lengths", operator, [q, k, v, None, np.array([2, 5], np.int32)], num_heads=count)
    case("mha_padding", operator, [q, k, v, None, n.integers(0, 2, (batch, keys))], num_heads=count)
    case("mha_padding_scores", operator, [q, k, v, None, n.integers(0, 2, (batch, queries, keys))], num_heads=count)
    case("mha_attention_bias", operator, [q, k, v, None, n.integers(0, 2, (batch, keys)), n.floats(1, count, queries, keys)],
         num_heads=count)
    k, v = n.floats(batch, queries, 8), n.floats(batch, queries, 8)
    case("mha_causal", operator, [q, k, v, None, np.array([[0, 1, 1], [1, 1, 0]], np.int32)], num_heads=count,
         unidirectional=1)
    past = [n.floats(batch, count, 4, 4), n.floats(batch, count, 4, 4)]
    case("mha_past", operator, [q, k, v, None, None, None, *past], ["y", "key", "value"], num_heads=count,
         unidirectional=1)
    case("mha_past_masked", operator,
         [q, k, v, n.floats(24), n.integers(0, 2, (batch, 7)), n.floats(batch, count, queries, 7), *past],
         ["y", "key", "value"], num_heads=count)
    case("mha_present", operator, [q, k, v], ["y", "key", "value"], num_heads=count)
    cache = [n.floats(batch, count, keys, 4), n.floats(batch, count, keys, 4)]
    case("mha_cache", operator, [q, *cache], num_heads=count)
    stacked = n.floats(batch, queries, count, 3, 4)
    parts = [stacked[:, :, :, index].reshape(batch, queries, 8).astype(np.float64) for index in range(3)]
    bias = n.floats(24)
    with_bias = [heads(part + own, count) for part, own in zip(parts, np.split(bias, 3))]
    case("mha_stacked", operator, [stacked, None, None, bias], fixed=[3], num_heads=count,
         expected=[joined(attention(*with_bias))])
    pairs = n.floats(batch, keys, count, 2, 4)
    own = [heads(pairs[:, :, :, index].reshape(batch, keys, 8).astype(np.float64), count) for index in range(2)]
    case("mha_pairs", operator, [q, pairs], num_heads=count,
         expected=[joined(attention(heads(q.astype(np.float64), count), *own))])

    operator = "DecoderMaskedMultiHeadAttention"
    q, k, v = n.floats(batch, 1, 8), n.floats(batch, 1, 8), n.floats(batch, 1, 8)
    room = [n.floats(batch, count, 6, 4), n.floats(batch, count, 6, 4)]
    length = np.array([3], np.int32)
    case("decoder_attention_shared", operator, [q, k, v, None, None, *room, length], ["y", "key", "value"], fixed=[7],
         num_heads=count, past_present_share_buffer=1)
    case("decoder_attention_masked", operator,
         [q, k, v, np.array([[1, 1, 0, 1], [0, 1, 1, 1]], np.int32), n.floats(1, count, 1, 4), *room, length, None, None,
          n.floats(24)], ["y", "key", "value"], fixed=[7, 10], num_heads=count, past_present_share_buffer=1)
    case("decoder_attention_cross", operator, [q, n.floats(batch, count, keys, 4), n.floats(batch, count, keys, 4),
                                               n.integers(0, 2, (batch, keys))], num_heads=count)
    merged = n.floats(batch, 1, 24)
    parts = [heads(part.astype(np.float64), count) for part in np.split(merged, 3, -1)]
    grown = [np.concatenate([old[:, :, :3], part], 2) for old, part in zip(room, parts[1:])]
    case("decoder_attention_merged", operator, [merged, None, None, None, None, room[0][:, :, :3].copy(),
                                                room[1][:, :, :3].copy()], ["y", "key", "value"], num_heads=count,
         expected=[joined(attention(parts[0], *grown)), *grown])

    # Two samples of 3 and 2 tokens in rows of 4.
    offsets = np.array([[0, 1, 2, 4], [5, 3, 6, 7]], np.int32)
    tokens, counts = [n.floats(5, 8), n.floats(5, 8), n.floats(5, 12)], np.array([0, 3, 5], np.int32)
    bias, score_bias = n.floats(28), n.floats(1, count, 4, 4)

    def packed(parts, score_bias):
        rows = []
        for start, end in zip(counts, counts[1:]):
            own = [heads(part[None, start:end].astype(np.float64), count) for part in parts]
            mask = 0 if score_bias is None else score_bias[:, :, :end - start, :end - start]
            rows.append(joined(attention(*own, mask))[0])
        return np.concatenate(rows)

    operator = "PackedMultiHeadAttention"
    case("packed_attention_apart", operator, [*tokens, bias, offsets, counts, score_bias], fixed=[3], num_heads=count,
         expected=[packed([part + own for part, own in zip(tokens, np.split(bias, [8, 16]))], score_bias)])
    stacked = n.floats(5, count, 3, 4)
    case("packed_attention_stacked", operator, [stacked, None, None, None, offsets, counts], num_heads=count,
         expected=[packed([stacked[:, :, index].reshape(5, 8) for index in range(3)], None)])


def group_query_attention():
    n = Numbers("group query attention")
    count, shared, width = 4, 2, 16
    cosines, sines = n.floats(16, 8), n.floats(16, 8)

    def group(name, queries, total, rows=None, batch=1, lengths=None, used=None, more=(), merged=False, **attributes):
        """`rows` of a past, of which those behind `used` are zeros."""
        sizes = [count * width, shared * width, shared * width]
        parts = [n.floats(batch, queries, size) for size in sizes]
        operands = [np.concatenate(parts, -1), None, None] if merged else parts
        past = [None, None]
        if rows is not None:
            past = [n.floats(batch, shared, rows, width) for _ in range(2)]
            for sample in range(batch):
                for cache in past:
                    end = (total if lengths is None else lengths[sample]) - queries if used is None else used
                    cache[sample, :, end:] = 0
        lengths = [total] * batch if lengths is None else lengths
        operands += [*past, np.array(lengths, np.int32) - 1, np.array(total, np.int32), *more]
        case(name, "GroupQueryAttention", operands, ["y", "key", "value"], fixed=[6, 7, 8], num_heads=count,
             kv_num_heads=shared, absolute=5e-6, **attributes)

    turned = [cosines, sines]
    group("gqa_prompt", 5, 5)
    group("gqa_prompt_batch", 4, 4, batch=2)
    group("gqa_prompt_turned", 5, 5, more=turned, do_rotary=1)
    group("gqa_prompt_pairs", 5, 5, more=turned, do_rotary=1, rotary_interleaved=1, merged=True)
    group("gqa_prompt_places", 3, 3, batch=2, more=[*turned, np.array([[4, 9, 9], [1, 2, 3]], np.int64)], do_rotary=1)
    group("gqa_prompt_room", 3, 3, rows=8, used=0, more=turned, do_rotary=1)
    group("gqa_step", 1, 6, rows=5, more=turned, do_rotary=1)
    group("gqa_step_batch", 1, 6, rows=5, batch=2, more=turned, do_rotary=1)
    group("gqa_step_ragged", 1, 6, rows=5, batch=3, lengths=[4, 6, 2], more=turned, do_rotary=1)
    group("gqa_step_room", 1, 4, rows=8, more=turned, do_rotary=1)
    group("gqa_step_room_ragged", 1, 5, rows=8, batch=2, lengths=[3, 5], more=turned, do_rotary=1, merged=True)
    group("gqa_step_places", 1, 4, rows=3, batch=2, more=[*turned, np.array([[7], [2]], np.int64)], do_rotary=1)
    group("gqa_chunk", 3, 7, rows=4, more=turned, do_rotary=1)
    group("gqa_chunk_room", 3, 7, rows=9, more=turned, do_rotary=1)
    group("gqa_window_prompt", 6, 6, local_window_size=3)
    group("gqa_window_step", 1, 8, rows=7, local_window_size=3)
    group("gqa_window_ragged", 1, 8, rows=7, batch=2, lengths=[8, 5], local_window_size=3)
    group("gqa_cap", 4, 4, softcap=1.5, scale=0.7)
    group("gqa_smooth", 1, 5, rows=4, smooth_softmax=1)
    nothing = [None, None, None]
    group("gqa_bias", 3, 5, rows=2, more=[*nothing, n.floats(1, count, 3, 5)], softcap=2.0)
    group("gqa_sink", 3, 3, batch=2, more=[*nothing, None, n.floats(count)], local_window_size=2)
    group("gqa_any_order", 4, 4, causal=0)

    # Each head of queries and keys through a norm before it is turned: kernels for graphics processors alone.
    queries = 3
    parts = [n.floats(1, queries, size * width).astype(np.float64) for size in [count, shared, shared]]
    norms = [n.floats(width), n.floats(width)]
    q, k, v = [heads(part, size) for part, size in zip(parts, [count, shared, shared])]
    q, k = [part / np.sqrt((part ** 2).mean(-1, keepdims=True) + 1e-6) * norm for part, norm in zip([q, k], norms)]

    def turn(x):
        c, s = cosines[:queries], sines[:queries]
        a, b = x[..., :8], x[..., 8:]
        return np.concatenate([a * c - b * s, a * s + b * c], -1)

    q, k = turn(q), turn(k)
    mask = np.where(np.tri(queries) > 0, 0, -np.inf)
    result = joined(attention(q, np.repeat(k, count // shared, 1), np.repeat(v, count // shared, 1), mask))
    operands = [part.astype(np.float32) for part in parts]
    operands += [None, None, np.array([2], np.int32), np.array(3, np.int32), *turned, *nothing[:2], None, None, None, *norms]
    case("gqa_norms", "GroupQueryAttention", operands, ["y", "key", "value"], fixed=[6, 7, 8, 14, 15], num_heads=count,
         kv_num_heads=shared, do_rotary=1, expected=[result, k, v], absolute=5e-6)


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


def main():
    for old in [*HERE.glob("*.onnx"), *HERE.glob("*.kv")]:
        old.unlink()
    for family in [normalizations, activations, products, rotary, merged_attention, multi_head_attention,
                   group_query_attention, weights, quantized_layers, others, mixtures]:
        family()
    files = [*HERE.glob("*.onnx"), *HERE.glob("*.kv")]
    print(f"{len(files) // 2} cases, {sum(file.stat().st_size for file in files)} bytes")


if __name__ == "__main__":
    main()
