"""Recurrent layers in float64, step by step and sequence by sequence: of ONNX, and the cells that others are made of.

ONNX's reference evaluator passes over the lengths of sequences, clipping, coupled gates and most functions besides the
usual ones, so these follow the text of the operators. The arguments of the gates' functions are clipped, not the argument
of an LSTM's last function; a sequence that has ended keeps its state and gives zeros.
"""

import numpy as np

FUNCTIONS = {
    "Relu": lambda x: np.maximum(x, 0), "Tanh": np.tanh, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Affine": lambda x, alpha, beta: alpha * x + beta,
    "LeakyRelu": lambda x, alpha=0.01: np.where(x >= 0, x, alpha * x),
    "ThresholdedRelu": lambda x, alpha=1.0: np.where(x >= alpha, x, 0),
    "ScaledTanh": lambda x, alpha, beta: alpha * np.tanh(beta * x),
    "HardSigmoid": lambda x, alpha=0.2, beta=0.5: np.clip(alpha * x + beta, 0, 1),
    "Elu": lambda x, alpha=1.0: np.where(x >= 0, x, alpha * np.expm1(x)),
    "Softsign": lambda x: x / (1 + np.abs(x)), "Softplus": lambda x: np.logaddexp(0, x)}
WITH_ALPHA = {"Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"}
WITH_BETA = {"Affine", "ScaledTanh", "HardSigmoid"}


def gates(order, stacked):
    """The blocks of rows that lie above each other, by the letter of the gate."""
    return dict(zip(order, np.split(stacked, len(order))))


def lstm_cell(w, r, b, f, g, h, p=None, limit=np.inf, couples=False, cell_limit=np.inf):
    """A step of gates i, o, f and c; `p` are the peepholes of the first three."""
    def step(x, state):
        hidden, cell = state

        def gate(name, function, seen):
            through = p[name] * seen if p else 0
            return function(np.clip(w[name] @ x + r[name] @ hidden + b[name] + through, -limit, limit))

        let_in = gate("i", f, cell)
        keep = 1 - let_in if couples else gate("f", f, cell)
        new = g(np.clip(w["c"] @ x + r["c"] @ hidden + b["c"], -limit, limit))
        cell = np.clip(keep * cell + let_in * new, -cell_limit, cell_limit)
        return [gate("o", f, cell) * h(cell), cell]
    return step


def gru_cell(w, r, wb, rb, f, g, limit=np.inf, resets_after=False):
    """A step of gates z, r and h, which resets before or after the product with what was."""
    def step(x, state):
        hidden = state[0]

        def gate(name):
            return f(np.clip(w[name] @ x + r[name] @ hidden + wb[name] + rb[name], -limit, limit))

        update, reset = gate("z"), gate("r")
        if resets_after:
            old = reset * (r["h"] @ hidden + rb["h"])
        else:
            old = r["h"] @ (reset * hidden) + rb["h"]
        new = g(np.clip(w["h"] @ x + old + wb["h"], -limit, limit))
        return [(1 - update) * new + update * hidden]
    return step


def rnn_cell(w, r, b, f, limit=np.inf):
    return lambda x, state: [f(np.clip(w @ x + r @ state[0] + b, -limit, limit))]


def run(step, x, state, reverse=False, lengths=None):
    """All steps over x, [steps, batch, size]: [steps, batch, hidden] at the places of x, and the last states."""
    lengths = [x.shape[0]] * x.shape[1] if lengths is None else lengths
    results = np.zeros((*x.shape[:2], state[0].shape[-1]))
    last = [np.array(part) for part in state]
    for row, length in enumerate(lengths):
        own = [part[row] for part in last]
        for place in reversed(range(length)) if reverse else range(length):
            own = step(x[place, row], own)
            results[place, row] = own[0]
        for part, value in zip(last, own):
            part[row] = value
    return results, last


def _functions(names, alphas, betas):
    """Parameters go, in order, to the functions that have them."""
    alphas, betas, made = list(alphas), list(betas), []
    for name in names:
        parameters = {}
        if name in WITH_ALPHA and alphas:
            parameters["alpha"] = alphas.pop(0)
        if name in WITH_BETA and betas:
            parameters["beta"] = betas.pop(0)
        made.append(lambda x, f=FUNCTIONS[name], p=parameters: f(x, **p))
    return made


def _operator(cell, names, x, lengths, states, hidden_size, direction, activations, alphas, betas, layout):
    """One operator of ONNX; `cell` makes a step from the number of a direction and its functions."""
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    functions = _functions(activations or names * len(backward), alphas, betas)
    if layout:
        x, states = x.swapaxes(0, 1), [part if part is None else part.swapaxes(0, 1) for part in states]
    shape = (len(backward), x.shape[1], hidden_size)
    states = [np.zeros(shape) if part is None else part for part in states]
    found = []
    for way, reverse in enumerate(backward):
        own = functions[way * len(names):(way + 1) * len(names)]
        found.append(run(cell(way, own), x, [part[way] for part in states], reverse, lengths))
    results = np.stack([sequence for sequence, _ in found], axis=1)
    last = [np.stack(parts) for parts in zip(*(state for _, state in found))]
    if layout:
        return (results.transpose(2, 0, 1, 3), *(part.swapaxes(0, 1) for part in last))
    return (results, *last)


def lstm(x, w, r, b=None, lengths=None, h=None, c=None, p=None, hidden_size=None, direction="forward", activations=None,
         activation_alpha=(), activation_beta=(), clip=np.inf, input_forget=0, layout=0):
    b = np.zeros((len(w), 8 * hidden_size)) if b is None else b

    def cell(way, functions):
        bias = gates("iofc", sum(np.split(b[way], 2)))
        peepholes = None if p is None else gates("iof", p[way])
        return lstm_cell(gates("iofc", w[way]), gates("iofc", r[way]), bias, *functions, peepholes, clip, input_forget)

    return _operator(cell, ["Sigmoid", "Tanh", "Tanh"], x, lengths, [h, c], hidden_size, direction, activations,
                     activation_alpha, activation_beta, layout)


def gru(x, w, r, b=None, lengths=None, h=None, hidden_size=None, direction="forward", activations=None,
        activation_alpha=(), activation_beta=(), clip=np.inf, linear_before_reset=0, layout=0):
    b = np.zeros((len(w), 6 * hidden_size)) if b is None else b

    def cell(way, functions):
        biases = [gates("zrh", half) for half in np.split(b[way], 2)]
        return gru_cell(gates("zrh", w[way]), gates("zrh", r[way]), *biases, *functions, clip, linear_before_reset)

    return _operator(cell, ["Sigmoid", "Tanh"], x, lengths, [h], hidden_size, direction, activations, activation_alpha,
                     activation_beta, layout)


def rnn(x, w, r, b=None, lengths=None, h=None, hidden_size=None, direction="forward", activations=None,
        activation_alpha=(), activation_beta=(), clip=np.inf, layout=0):
    b = np.zeros((len(w), 2 * hidden_size)) if b is None else b

    def cell(way, functions):
        return rnn_cell(w[way], r[way], sum(np.split(b[way], 2)), *functions, clip)

    return _operator(cell, ["Tanh"], x, lengths, [h], hidden_size, direction, activations, activation_alpha,
                     activation_beta, layout)


FORMULAS = {"LSTM": lstm, "GRU": gru, "RNN": rnn}
