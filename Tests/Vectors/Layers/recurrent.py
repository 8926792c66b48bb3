"""Cases of recurrent layers, whose formulas are the cells of ../ONNX/recurrence.py; see layers.py.

As NeuralNetwork.proto has it, what goes into the functions of the gates is between -50 and 50, and so are cells where
the layer says nothing of their limit. A sequence that one reversed layer gives is in the order in which it was made.
"""

import pathlib
import sys

import numpy as np

from layers import case, f32

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "ONNX"))

from recurrence import gru_cell, lstm_cell, rnn_cell, run  # noqa: E402  (of ../ONNX)

STEPS, BATCH, SIZE, HIDDEN = 5, 2, 3, 4
LIMIT = 50.0
FUNCTIONS = {"SIGMOID": lambda x: 1 / (1 + np.exp(-x)), "TANH": np.tanh, "RELU": lambda x: np.maximum(x, 0),
             "LINEAR": lambda x: x, "SIGMOID_HARD": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
             "SCALED_TANH": lambda x: 1.7159 * np.tanh(2 / 3 * x)}
STATES = ["h", "c", "h_back", "c_back"]


def weights(gates, hidden=HIDDEN):
    """W, R and b of each gate."""
    return ({g: f32(hidden, SIZE) for g in gates}, {g: f32(hidden, hidden) for g in gates},
            {g: f32(hidden) for g in gates})


def blank(gates, bias, hidden=HIDDEN):
    return bias or {g: np.zeros(hidden) for g in gates}


def recurrent(name, step_makers, add, states, sequence=False, reverse=False, shows=False, legacy=False, inputs=None,
              hidden=HIDDEN):
    """`step_makers` make the step of each direction, which have `states` each; `shows` is whether they are inputs and
    outputs; `add` is told the names of both. Legacy networks have one step of one sequence, of shape [size]."""
    count = len(step_makers) * states
    keys = (STATES if states == 2 else STATES[:1])[:count] if shows else []
    steps, batch = (1, 1) if legacy else (STEPS, BATCH)
    shapes = {"x": (SIZE,) if legacy else (STEPS, BATCH, SIZE, 1, 1)}
    shapes |= {key: (hidden,) if legacy else (1, BATCH, hidden, 1, 1) for key in keys}
    outputs = [f"y{i}" for i in range(1 + count)] if shows else ["y"]

    def expected(x, *first):
        first = [part.reshape(batch, hidden) for part in first] or [np.zeros((batch, hidden))] * count
        found = [run(make(), x.reshape(steps, batch, SIZE), first[i * states:(i + 1) * states], reverse or i == 1)
                 for i, make in enumerate(step_makers)]
        if sequence:
            y = np.concatenate([results for results, _ in found], axis=2)
            y = y[::-1] if reverse else y
        else:
            y = np.concatenate([last[0] for _, last in found], axis=1)[None]
        parts = [y] + ([part[None] for _, last in found for part in last] if shows else [])
        return [part.reshape(-1) if legacy else part[..., None, None] for part in parts]

    case(name, shapes | (inputs or {}), expected, lambda nn: add(nn, ["x", *keys], outputs), legacy, len(outputs))


def simple(name, activation="TANH", bias=True, scale=1, says_factors=True, **options):
    w, r, b = weights("h")
    w, r, b = scale * w["h"], r["h"], b["h"] if bias else None

    def add(nn, inputs, outputs):
        nn.add_simple_rnn("r", r, w, b, HIDDEN, SIZE, activation, inputs, outputs, options.get("sequence", False),
                          options.get("reverse", False))
        if activation == "SCALED_TANH" and says_factors:
            function = nn.nn_spec.layers[-1].simpleRecurrent.activation.scaledTanh
            function.alpha, function.beta = 1.7159, 2 / 3

    def make():
        function = FUNCTIONS[activation] if says_factors else np.tanh
        return rnn_cell(w, r, np.zeros(HIDDEN) if b is None else b, function, LIMIT)

    recurrent(f"simpleRecurrent{name}", [make], add, 1, **options)


def gru(name, inner="SIGMOID", activation="TANH", bias=True, **options):
    w, r, b = weights("zrh")
    b = b if bias else None

    def add(nn, inputs, outputs):
        parts = [list(part.values()) if part else None for part in (r, w, b)]
        nn.add_gru("g", *parts, HIDDEN, SIZE, inputs, outputs, activation, inner, options.get("sequence", False),
                   options.get("reverse", False))

    def make():
        nothing = dict.fromkeys("zrh", 0)
        return gru_cell(w, r, blank("zrh", b), nothing, FUNCTIONS[inner], FUNCTIONS[activation], LIMIT)

    recurrent(f"gru{name}", [make], add, 1, **options)


def lstm(name, ways=1, functions=("SIGMOID", "TANH", "TANH"), bias=True, peepholes=False, couples=False, forgets=False,
         threshold=50000.0, hidden=HIDDEN, **options):
    """The builder takes gates in the order i, f, o, c."""
    parts = [(*weights("ifoc", hidden), {g: f32(hidden) for g in "ifo"}) for _ in range(ways)]
    lists = [[list(part.values()) for part in way] for way in parts]
    w, r, b, p = zip(*lists)
    b = b if bias else (None,) * ways
    p = p if peepholes else (None,) * ways

    def add(nn, inputs, outputs):
        shared = dict(zip(("inner_activation", "cell_state_update_activation", "output_activation"), functions))
        shared |= dict(output_all=options.get("sequence", False), forget_bias=forgets,
                       coupled_input_forget_gate=couples, cell_clip_threshold=threshold)
        if ways == 1:
            nn.add_unilstm("l", r[0], w[0], b[0], hidden, SIZE, inputs, outputs, peep=p[0],
                           reverse_input=options.get("reverse", False), **shared)
        else:
            nn.add_bidirlstm("l", r[0], w[0], b[0], r[1], w[1], b[1], hidden, SIZE, inputs, outputs, peep=p[0],
                             peep_back=p[1], **shared)

    def maker(way):
        own_w, own_r, own_b, own_p = parts[way]
        own_b = {g: part.astype(float) for g, part in blank("ifoc", own_b if bias else None, hidden).items()}
        own_b["f"] += 1 if forgets else 0
        return lambda: lstm_cell(own_w, own_r, own_b, *(FUNCTIONS[name] for name in functions),
                                 own_p if peepholes else None, LIMIT, couples, threshold or LIMIT)

    recurrent(f"{'uni' if ways == 1 else 'bi'}DirectionalLSTM{name}", [maker(way) for way in range(ways)], add, 2,
              hidden=hidden, **options)


for add in (simple, gru, lstm):
    add("")
    add("_sequence", sequence=True, shows=True)
    add("_reverse", sequence=True, reverse=True, shows=True)
    add("_reverse_last", reverse=True, shows=True)
    add("_no_bias", bias=False, sequence=True)
    add("_legacy", legacy=True, shows=True)
for activation in ("RELU", "SIGMOID", "LINEAR", "SIGMOID_HARD", "SCALED_TANH"):
    simple(f"_{activation.lower()}", activation, sequence=True)
simple("_limited", "LINEAR", scale=60, shows=True)
gru("_hard", "SIGMOID_HARD", "RELU", sequence=True)
gru("_tanh", "TANH", "SIGMOID", shows=True)

lstm("_wide", hidden=11, sequence=True)
lstm("_hard", functions=("SIGMOID_HARD", "LINEAR", "RELU"), sequence=True)
lstm("_peepholes", peepholes=True, sequence=True, shows=True)
lstm("_coupled", couples=True, sequence=True)
lstm("_coupled_peepholes", couples=True, peepholes=True, reverse=True, shows=True)
lstm("_forgets", forgets=True, sequence=True)
lstm("_forgets_no_bias", forgets=True, bias=False, sequence=True)
lstm("_clipped", threshold=0.2, peepholes=True, sequence=True, shows=True)
lstm("_limited", threshold=0.0, functions=("SIGMOID", "TANH", "LINEAR"), forgets=True, shows=True, sequence=True,
     inputs={"c": f32(1, BATCH, HIDDEN, 1, 1, low=-90, high=90)})
lstm("", 2)
lstm("_sequence", 2, sequence=True, shows=True)
lstm("_last", 2, shows=True)
lstm("_no_bias", 2, bias=False, sequence=True)
lstm("_peepholes", 2, peepholes=True, sequence=True)
lstm("_coupled", 2, couples=True, forgets=True, sequence=True)
lstm("_clipped", 2, threshold=0.2, peepholes=True, sequence=True, shows=True)
lstm("_hard", 2, functions=("SIGMOID_HARD", "RELU", "TANH"), sequence=True)
# The factors that the format names for a function whose own are left out.
simple("_scaled_tanh_unset", "SCALED_TANH", sequence=True, says_factors=False)
