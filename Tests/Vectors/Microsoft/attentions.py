"""Attentions, their masks and their caches."""

import numpy as np

from formulas import attention, heads, joined
from nodes import FLOAT, Numbers, case


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
    halves = [part.astype(np.float16) for part in operands[:3]] + operands[3:7] + [part.astype(np.float16) for part in turned]
    case("gqa_half", "GroupQueryAttention", halves, ["y", "key", "value"], fixed=[6, 7, 8], num_heads=count,
         kv_num_heads=shared, do_rotary=1, absolute=1e-2, relative=2e-3)
