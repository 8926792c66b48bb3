"""The cases of recurrent layers, whose formulas are the cells of ../ONNX/recurrence.py.

Gates lie in the order i, f, o, c of an LSTM and r, o, z of a GRU. The operations mean what coremltools' own tests hold
them to: a GRU resets before its product, `clip` bounds the cell before the output gate sees it through its peephole,
`scaled_tanh` without parameters is the hyperbolic tangent, and a sequence that is reversed alone is in the order in
which it was computed.
"""

import coremltools as ct
import numpy as np

from cases import SUMS, Values
from operations import add, values
from recurrence import gates, gru_cell, lstm_cell, rnn_cell, run

HALF = (5e-3, 5e-3)
FUNCTIONS = {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "tanh": np.tanh, "scaled_tanh": np.tanh, "linear": lambda x: x,
             "relu": lambda x: np.maximum(x, 0), "hard_sigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1)}
FUNCTIONS["sigmoid_hard"] = FUNCTIONS["hard_sigmoid"]


def wide(array):
    return array.astype(np.float64)


def cell_of_lstm(part, functions, clip):
    peepholes = gates("ifo", part["peephole"]) if "peephole" in part else None
    return lstm_cell(gates("ifoc", part["weight_ih"]), gates("ifoc", part["weight_hh"]), gates("ifoc", part["bias"]),
                     *functions, peepholes, cell_limit=np.inf if clip is None else float(clip))


def cell_of_gru(part, functions, _):
    """Its output gate is what other formats call the candidate."""
    matrices = [gates("rhz", part[name]) for name in ("weight_ih", "weight_hh", "bias")]
    nothing = {name: 0 for name in "rhz"}
    return gru_cell(*matrices, nothing, *functions)


def cell_of_rnn(part, functions, _):
    return rnn_cell(part["weight_ih"], part["weight_hh"], part["bias"], *functions)


OUTER, INNER = {"activation": "tanh"}, {"recurrent_activation": "sigmoid"}
KINDS = {"lstm": (4, cell_of_lstm, INNER | {"cell_activation": "tanh"} | OUTER), "gru": (3, cell_of_gru, INNER | OUTER),
         "rnn": (1, cell_of_rnn, OUTER)}


def recurrent(operator, steps=4, batch=3, size=5, hidden=3, bias=True, peephole=False, kind="float32", target=None,
              direction="forward", output_sequence=False, clip=None, starts_empty=False, **functions):
    """`starts_empty` is whether the first states are zeros in the program instead of inputs."""
    count, cell, usual = KINDS[operator]
    ways = ["", "_back"] if direction == "bidirectional" else [""]
    rows = count * hidden
    shapes = {"weight_ih": (rows, size), "weight_hh": (rows, hidden)} | ({"bias": (rows,)} if bias else {})
    shapes |= {"peephole": (3 * hidden,)} if peephole else {}
    constants = {name + way: values(31 * place + number, *shape).astype(kind) for place, way in enumerate(ways)
                 for number, (name, shape) in enumerate(shapes.items())}
    chosen = [FUNCTIONS[functions.get(name, function)] for name, function in usual.items()]
    states = ["initial_h", "initial_c"][:2 if operator == "lstm" else 1]
    state = (batch, hidden * len(ways))

    def formula(x, *first):
        first = first or [np.zeros(state)] * len(states)
        found = []
        for place, way in enumerate(ways):
            part = {"bias": np.zeros(rows)} | {name: wide(constants[name + way]) for name in shapes}
            columns = slice(place * hidden, (place + 1) * hidden)
            found.append(run(cell(part, chosen, clip), x, [each[:, columns] for each in first],
                             direction == "reverse" or way == "_back"))
        last = [np.concatenate(parts, axis=1) for parts in zip(*(ends for _, ends in found))]
        sequence = np.concatenate([results for results, _ in found], axis=2)
        if direction == "reverse":
            sequence = sequence[::-1]
        return (sequence if output_sequence else last[0][None], *last)

    inputs = [Values((steps, batch, size), kind=kind)]
    if starts_empty:
        constants |= {name: np.zeros(state, kind) for name in states}
    else:
        inputs += [Values(state, -1, 1, kind) for _ in states]
    constants |= {} if clip is None else {"clip": np.dtype(kind).type(clip)}
    constants |= {"direction": direction, "output_sequence": output_sequence} | functions
    add(operator, *inputs, names=("x", *states), formula=formula, target=target,
        tolerance=HALF if kind == "float16" else SUMS, **constants)


for operator in KINDS:
    for direction in ("forward", "reverse"):
        for output_sequence in (True, False):
            recurrent(operator, direction=direction, output_sequence=output_sequence)
    recurrent(operator, bias=False, output_sequence=True, starts_empty=True)
    recurrent(operator, hidden=11, steps=2, batch=1, output_sequence=True, target=ct.target.iOS15)
    recurrent(operator, kind="float16", output_sequence=True)
for output_sequence in (True, False):
    recurrent("lstm", direction="bidirectional", output_sequence=output_sequence)
recurrent("lstm", direction="bidirectional", bias=False, output_sequence=True, starts_empty=True)
recurrent("lstm", direction="bidirectional", peephole=True, output_sequence=True)
recurrent("lstm", peephole=True, output_sequence=True)
recurrent("lstm", clip=0.2, output_sequence=True)
recurrent("lstm", clip=0.2, peephole=True, output_sequence=True, direction="reverse")
recurrent("lstm", recurrent_activation="hard_sigmoid", cell_activation="relu", activation="linear",
          output_sequence=True)
recurrent("lstm", recurrent_activation="tanh", cell_activation="sigmoid", activation="hard_sigmoid")
recurrent("lstm", activation="scaled_tanh", clip=0.4, output_sequence=True)
recurrent("gru", recurrent_activation="tanh", activation="sigmoid", output_sequence=True)
recurrent("gru", recurrent_activation="hard_sigmoid", activation="relu", direction="reverse", output_sequence=True)
for function in ("relu", "sigmoid", "linear", "sigmoid_hard"):
    recurrent("rnn", activation=function, output_sequence=True)
