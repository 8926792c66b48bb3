"""Cases of sequences: recurrent layers, attention to what came before, rotary embeddings, caches, and the losses and
gates that such models are trained with."""

import numpy as np

from cases import EXACT, SUMS, Values, add, floats, integers

HALF = (1e-3, 2e-3)
ROWS = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(operator, steps=4, batch=2, size=5, hidden=3, bias=True, state=False, cell=False, peepholes=False,
              lengths=None, constant=("w", "r", "b", "p"), outputs=None, omitted=(), opset=None, **attributes):
    """`state` and `cell` are whether the first ones are given; a layer's last outputs are its last states."""
    ways = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = ROWS[operator] * hidden
    is_batch_first = attributes.get("layout", 0)
    first = (batch, ways, hidden) if is_batch_first else (ways, batch, hidden)
    operands = [("x", Values((batch, steps, size) if is_batch_first else (steps, batch, size))),
                ("w", Values((ways, rows, size), -1, 1)), ("r", Values((ways, rows, hidden), -1, 1)),
                ("b", Values((ways, 2 * rows), -1, 1) if bias else None),
                ("lengths", np.array(lengths, np.int32) if lengths else None), ("h", Values(first) if state else None)]
    if operator == "LSTM":
        operands += [("c", Values(first) if cell else None),
                     ("p", Values((ways, 3 * hidden), -1, 1) if peepholes else None)]
    while operands[-1][1] is None:
        operands.pop()
    add(operator, *operands, constant=constant, outputs=outputs or (3 if operator == "LSTM" else 2), omitted=omitted,
        opset=opset, tolerance=SUMS, hidden_size=hidden, **attributes)


BOTH = {"direction": "bidirectional"}
STATES = {"state": True, "cell": True}
LONG, SHORTER = {"steps": 5, "batch": 3}, {"lengths": [5, 2, 3]}
recurrent("LSTM")
recurrent("LSTM", hidden=11, bias=False, **STATES)
recurrent("LSTM", direction="reverse", **STATES)
recurrent("LSTM", **STATES, **BOTH)
recurrent("LSTM", **LONG, **SHORTER)
recurrent("LSTM", direction="reverse", **LONG, **SHORTER, **STATES)
recurrent("LSTM", **LONG, **SHORTER, **STATES, **BOTH)
recurrent("LSTM", peepholes=True, **STATES)
recurrent("LSTM", peepholes=True, opset=7, **BOTH)
recurrent("LSTM", clip=0.75, **STATES)
recurrent("LSTM", clip=0.75, peepholes=True, **LONG, **SHORTER, **BOTH)
recurrent("LSTM", input_forget=1)
recurrent("LSTM", input_forget=1, peepholes=True, opset=22, **STATES)
recurrent("LSTM", activations=["HardSigmoid", "ScaledTanh", "Affine"], activation_alpha=[0.25, 1.25, 0.75],
          activation_beta=[0.4, 0.5, 0.1])
recurrent("LSTM", activations=["Sigmoid", "LeakyRelu", "Softsign"], activation_alpha=[0.1])
recurrent("LSTM", activations=["Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign", "Elu"],
          activation_alpha=[0.3, 0.5], activation_beta=[0.4], **BOTH)
recurrent("LSTM", layout=1, **STATES, **BOTH)
recurrent("LSTM", layout=1, direction="reverse", **LONG, **SHORTER)
recurrent("LSTM", constant=(), peepholes=True, **STATES)
recurrent("LSTM", constant=("w", "r", "b", "lengths"), **LONG, **SHORTER, **BOTH)
recurrent("LSTM", outputs=1)
recurrent("LSTM", outputs=2, omitted=(0,), **BOTH)
recurrent("LSTM", steps=1, batch=1, hidden=7, opset=22, **STATES)

for before in (0, 1):
    recurrent("GRU", linear_before_reset=before)
    recurrent("GRU", linear_before_reset=before, hidden=11, bias=False, state=True)
    recurrent("GRU", linear_before_reset=before, direction="reverse", state=True)
    recurrent("GRU", linear_before_reset=before, state=True, **LONG, **SHORTER, **BOTH)
    recurrent("GRU", linear_before_reset=before, clip=0.75, state=True)
    recurrent("GRU", linear_before_reset=before, layout=1, state=True, **BOTH)
recurrent("GRU", **LONG, **SHORTER)
recurrent("GRU", direction="reverse", **LONG, **SHORTER, state=True)
recurrent("GRU", activations=["HardSigmoid", "ScaledTanh"], activation_alpha=[0.25, 1.25], activation_beta=[0.4, 0.5])
recurrent("GRU", activations=["Sigmoid", "LeakyRelu", "HardSigmoid", "Softsign"], activation_alpha=[0.1, 0.3],
          activation_beta=[0.4], **BOTH)
recurrent("GRU", activations=["Sigmoid", "Affine"], activation_alpha=[0.5], activation_beta=[0.1], opset=22)
recurrent("GRU", layout=1, direction="reverse", **LONG, **SHORTER)
recurrent("GRU", constant=(), state=True, linear_before_reset=1)
recurrent("GRU", outputs=2, omitted=(0,), opset=7, **BOTH)

recurrent("RNN")
recurrent("RNN", hidden=11, bias=False, state=True)
recurrent("RNN", direction="reverse", state=True)
recurrent("RNN", state=True, **BOTH)
recurrent("RNN", state=True, **LONG, **SHORTER)
recurrent("RNN", direction="reverse", **LONG, **SHORTER)
recurrent("RNN", **LONG, **SHORTER, **BOTH)
recurrent("RNN", clip=0.75, state=True)
recurrent("RNN", activations=["Relu", "Softsign"], **BOTH)
for name, alpha, beta in (("Affine", [0.5], [0.1]), ("LeakyRelu", [0.1], []), ("ThresholdedRelu", [0.4], []),
                          ("ScaledTanh", [1.25], [0.5]), ("HardSigmoid", [0.25], [0.4]), ("Elu", [0.75], []),
                          ("Softplus", [], []), ("Sigmoid", [], [])):
    recurrent("RNN", activations=[name], **({"activation_alpha": alpha} if alpha else {}),
              **({"activation_beta": beta} if beta else {}))
recurrent("RNN", layout=1, **LONG, **SHORTER, state=True, **BOTH)
recurrent("RNN", constant=(), state=True, opset=22)
recurrent("RNN", outputs=2, omitted=(0,), opset=7)


def raw_scores(q, k, v, mask=None, softcap=0.0, qk_matmul_output_mode=0, **_):
    """Attention of few heads, whose scores are shown as they are before the cap; the evaluator shows capped ones."""
    scores = np.einsum("nhid,nhjd->nhij", q, k) / np.sqrt(q.shape[-1])
    shares = np.exp(softcap * np.tanh(scores / softcap) + (0 if mask is None else mask))
    return np.einsum("nhij,nhjd->nhid", shares / shares.sum(-1, keepdims=True), v), k, v, scores


QUERY, KEY, VALUE = Values((2, 4, 3, 5)), Values((2, 2, 3, 5)), Values((2, 2, 3, 7))
PAST = [("past_k", Values((2, 2, 4, 5))), ("past_v", Values((2, 2, 4, 7)))]
ADDED = ("m", Values((3, 7)))
GROUPED = [("q", QUERY), ("k", KEY), ("v", VALUE)]
FLAT = [("q", Values((2, 3, 20))), ("k", Values((2, 3, 10))), ("v", Values((2, 3, 14)))]
ALONE = [("q", Values((1, 2, 3, 5))), ("k", Values((1, 2, 7, 5))), ("v", Values((1, 2, 7, 4)))]
SEEN = np.random.default_rng(9).random((3, 7)) < 0.6
SEEN[1] = False


def attention(*operands, opset=24, **attributes):
    add("Attention", *operands, opset=opset, tolerance=SUMS, **attributes)


attention(*GROUPED, ("m", None), *PAST, outputs=3)
attention(*GROUPED, ("m", None), *PAST, outputs=3, is_causal=1)
attention(*GROUPED, ADDED, *PAST, outputs=3, is_causal=1, scale=0.3)
attention(*GROUPED, ("m", SEEN), *PAST, outputs=4, qk_matmul_output_mode=3, is_causal=1)
attention(*GROUPED, ("m", None), *PAST, outputs=4, opset=23)
attention(*FLAT, ("m", None), *PAST, outputs=3, is_causal=1, q_num_heads=4, kv_num_heads=2)
attention(*FLAT, ADDED, *PAST, outputs=4, q_num_heads=4, kv_num_heads=2, softcap=1.5, qk_matmul_output_mode=2)
attention(*GROUPED, ("m", None), *PAST, outputs=3, opset=25, left_window_size=2, is_causal=1)
attention(*ALONE, softcap=0.75)
attention(*ALONE, ADDED, softcap=1.5, is_causal=1, opset=23)
attention(*ALONE, ADDED, softcap=1.5, outputs=4, omitted=(1, 2), formula=raw_scores)
attention(*ALONE, ADDED, outputs=4, omitted=(1, 2), qk_matmul_output_mode=0)
for mode in (1, 2, 3):
    attention(*ALONE, ADDED, softcap=1.5, outputs=4, omitted=(1, 2), qk_matmul_output_mode=mode)
attention(*ALONE, ("m", SEEN), outputs=4, omitted=(1, 2), qk_matmul_output_mode=3)

PLACES = integers([0, 3, 6, 2], [5, 5, 1, 4])
HEADS, TURNED = Values((2, 3, 4, 6)), Values((2, 4, 12))


def rotary(x, pairs, places=None, constant=(), **attributes):
    table = Values((7, pairs) if places is not None else (2, 4, pairs), -1, 1)
    operands = [("x", x), ("cos", table), ("sin", table)] + ([("places", places)] if places is not None else [])
    add("RotaryEmbedding", *operands, constant=constant, opset=23, **attributes)


rotary(HEADS, 3)
rotary(HEADS, 3, PLACES, constant=("cos", "sin"))
rotary(HEADS, 3, PLACES, interleaved=1)
rotary(HEADS, 2, PLACES, rotary_embedding_dim=4)
rotary(HEADS, 2, interleaved=1, rotary_embedding_dim=4)
rotary(TURNED, 3, PLACES, constant=("cos", "sin"), num_heads=2)
rotary(TURNED, 3, num_heads=2, interleaved=1)
rotary(TURNED, 2, PLACES, num_heads=2, interleaved=1, rotary_embedding_dim=4)
rotary(TURNED, 1, num_heads=3, rotary_embedding_dim=2)

for cache, update, places, attributes in (
    ((2, 7, 3), (2, 2, 3), (1, 5), {}),
    ((2, 2, 5, 3), (2, 2, 3, 3), (0, 2), {"mode": "linear"}),
    ((2, 2, 5, 3), (2, 2, 3, 3), (3, 4), {"mode": "circular"}),
    ((3, 5, 2, 2), (3, 2, 2, 2), (4, 0, 3), {"mode": "circular", "axis": 1}),
    ((2, 3, 6), (2, 3, 2), (4, 1), {"axis": -1}),
    ((2, 7, 3), (2, 4, 3), None, {}),
):
    operands = [("cache", Values(cache)), ("update", Values(update))]
    add("TensorScatter", *operands, *([("places", integers(*places))] if places else []), opset=24, tolerance=EXACT,
        **attributes)

NORMALIZED = {"tolerance": SUMS, "outputs": 3}
add("LayerNormalization", ("x", Values((2, 3, 7))), ("s", Values((7,))), ("b", Values((7,))), constant=("s", "b"),
    **NORMALIZED)
add("LayerNormalization", ("x", Values((3, 4, 5))), ("s", Values((4, 5))), axis=1, epsilon=0.01, **NORMALIZED)
add("LayerNormalization", ("x", Values((3, 11))), ("s", Values((11,))), ("b", Values((11,))), omitted=(1,),
    **NORMALIZED)
add("LayerNormalization", ("x", Values((3, 11), kind="float16")), ("s", Values((11,), kind="float16")),
    constant=("s",), output_type=("float16", "float32", "float32"), outputs=3, tolerance=HALF)
add("Dropout", ("x", Values((3, 5))), outputs=2, tolerance=EXACT)
add("Dropout", ("x", Values((3, 5))), ("ratio", floats(0.3).reshape(())), ("training", np.array(False)), outputs=2,
    constant=("ratio", "training"), tolerance=EXACT, opset=22)
add("Dropout", ("x", Values((2, 3, 4))), ("ratio", floats(0.3).reshape(())), outputs=2, tolerance=EXACT, opset=12)

SCORES = {(3, 5): [4, 0, 2], (2, 5, 3): [[1, 4, 2], [2, 0, 3]], (2, 4, 3, 2): [[[0, 7], [3, 1], [7, 2]]] * 2}
for reduction in ("none", "sum", "mean"):
    for shape, weighted, ignored in (((3, 5), False, None), ((2, 5, 3), True, None), ((2, 5, 3), True, 2),
                                     ((2, 4, 3, 2), False, 7), ((3, 5), False, 0)):
        kind = np.int32 if ignored == 0 else np.int64
        operands = [("x", Values(shape)), ("target", np.array(SCORES[shape], kind))]
        operands += [("weight", Values(shape[1:2], 0.1, 2))] if weighted else []
        attributes = {"reduction": reduction} | ({} if ignored is None else {"ignore_index": ignored})
        constant = ("weight",) if ignored is None else ()
        add("NegativeLogLikelihoodLoss", *operands, constant=constant, tolerance=SUMS, **attributes)
        add("SoftmaxCrossEntropyLoss", *operands, constant=constant, tolerance=SUMS,
            outputs=1 if ignored is None and not weighted else 2, **attributes)

WIDE = Values((3, 7), -4, 4)
add("Swish", ("x", WIDE), opset=24)
add("Swish", ("x", WIDE), opset=24, alpha=1.5)
add("SwiGLU", ("a", WIDE), ("b", WIDE), opset=28)
add("SwiGLU", ("a", Values((2, 3, 5))), ("b", Values((2, 3, 5))), opset=28, alpha=1.702)
add("Shrink", ("x", Values((3, 7))), tolerance=EXACT)
add("Shrink", ("x", floats(-2, -0.75, -0.5, 0, 0.5, 0.75, 2)), lambd=0.5, bias=0.25, tolerance=EXACT)
add("Shrink", ("x", Values((3, 5), -9, 9, "int32")), lambd=2.0, bias=1.0, tolerance=EXACT, output_type="int32")

# Two key heads of three numbers, which two queries each share.
LINEAR = [("q", Values((2, 4, 12))), ("k", Values((2, 4, 6), -1, 1)), ("v", Values((2, 4, 10)))]
LINEAR_PAST = ("s", Values((2, 2, 3, 5)))
DECAY, RATE = ("g", Values((2, 4, 6), -1, 0)), ("beta", Values((2, 4, 2), 0, 1))


def linear_attention(*operands, rule, **attributes):
    add("LinearAttention", *LINEAR, *operands, opset=27, outputs=2, tolerance=SUMS, q_num_heads=4, kv_num_heads=2,
        update_rule=rule, **attributes)


linear_attention(LINEAR_PAST, rule="linear")
linear_attention(LINEAR_PAST, DECAY, rule="gated", scale=0.75)
linear_attention(LINEAR_PAST, ("g", Values((2, 4, 2), -1, 0)), ("beta", Values((2, 4, 1), 0, 1)), rule="gated_delta")
linear_attention(("s", None), ("g", None), RATE, rule="delta")
add("LinearAttention", ("q", Values((1, 1, 6))), ("k", Values((1, 1, 3))), ("v", Values((1, 1, 4))), opset=27, outputs=2,
    tolerance=SUMS, q_num_heads=2, kv_num_heads=1, update_rule="linear")

CHANNELS, FILTERS = ("x", Values((2, 3, 5))), ("w", Values((3, 1, 4)))
for operands, attributes in (
    ([], {}), ([("b", Values((3,))), ("past", Values((2, 3, 3)))], {"activation": "silu"}),
    ([("b", None), ("past", Values((2, 3, 3)))], {}),
):
    add("CausalConvWithState", CHANNELS, FILTERS, *operands, opset=27, outputs=2, tolerance=SUMS, **attributes)
add("CausalConvWithState", ("x", Values((1, 3, 2))), FILTERS, constant=("w",), opset=27, outputs=2, tolerance=SUMS)


def box_maxima(x, boxes, pooled_shape, spatial_scale=1.0):
    """The pooling of Fast R-CNN as ONNX Runtime has it; ONNX's evaluator has none."""
    height, width = pooled_shape
    result = np.zeros((len(boxes), x.shape[1], height, width))
    for number, (image, *corners) in enumerate(boxes):
        left, top, right, bottom = (int(np.floor(corner * spatial_scale + 0.5)) for corner in corners)
        rows, columns = max(bottom - top + 1, 1) / height, max(right - left + 1, 1) / width
        for i in range(height):
            for j in range(width):
                part = x[int(image), :, max(top + int(np.floor(i * rows)), 0):max(top + int(np.ceil((i + 1) * rows)), 0),
                         max(left + int(np.floor(j * columns)), 0):max(left + int(np.ceil((j + 1) * columns)), 0)]
                if part.size:
                    result[number, :, i, j] = part.max((1, 2))
    return result


BOXES = np.array([[0, 0, 0, 8, 7], [1, 2.2, 1.4, 5.6, 9.3], [0, 7, 6, 3, 2], [1, 12, 12, 20, 20]], np.float32)
for attributes in ({"pooled_shape": [2, 3]}, {"pooled_shape": [3, 2], "spatial_scale": 0.5}):
    add("MaxRoiPool", ("x", Values((2, 3, 8, 9))), ("boxes", BOXES), opset=16, tolerance=EXACT, formula=box_maxima,
        **attributes)

# Boxes inside, across the border and outside, of one pixel and less, of the second image first.
BOXES = np.array([[1, 1.5, 6.25, 5], [-3, -2, 4, 9], [30, 30, 40, 44], [2, 2, 2.5, 2.25]], np.float32)
for attributes in (
        {"mode": "max", "output_height": 2, "output_width": 3, "sampling_ratio": 2},
        {"mode": "max", "output_height": 3, "output_width": 2, "sampling_ratio": 3, "spatial_scale": 0.5,
         "coordinate_transformation_mode": "output_half_pixel"},
        {"mode": "avg", "output_height": 3, "output_width": 2, "sampling_ratio": 2, "spatial_scale": 0.75}):
    add("RoiAlign", ("x", Values((2, 3, 8, 9))), ("boxes", BOXES), ("images", np.array([1, 0, 1, 0], np.int64)), opset=16,
        tolerance=SUMS, **attributes)
