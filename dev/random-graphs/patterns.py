"""Groups of nodes that passes recognize as one operator, and similar groups that they must not."""
import numpy as np

from drawing import kind, scalar
from layers import spatial


def nearly(g, number):
    """Returns a constant of a pattern, or one that breaks the pattern."""
    return scalar(g, number if g.chance.random() < 0.8 else number * 1.25)


@kind(3)
def spelled_activation(g):
    """Activations in the forms that exporters write, and similar groups."""
    x = g.pick(lambda v: not v.array.size or np.abs(v.array).max() < 20)
    form = g.chance.randrange(7)
    if form == 0:
        inner = g.node("Add", [g.node("Erf", [g.node("Div", [x, nearly(g, 2 ** 0.5)])]), nearly(g, 1)])
        return g.node("Mul", [g.node("Mul", [x, inner]), nearly(g, 0.5)])
    if form == 1:
        cube = g.node("Mul", [g.node("Pow", [x, scalar(g, 3)]), nearly(g, 0.044715)])
        inner = g.node("Tanh", [g.node("Mul", [g.node("Add", [x, cube]), nearly(g, (2 / np.pi) ** 0.5)])])
        return g.node("Mul", [g.node("Mul", [x, nearly(g, 0.5)]), g.node("Add", [inner, nearly(g, 1)])])
    if form == 2:
        return g.node("Mul", [x, g.node("Sigmoid", [g.node("Mul", [x, nearly(g, 1.702)]) if g.chance.random() < 0.5 else x])])
    if form == 3:
        inner = g.node("Clip", [g.node("Add", [x, nearly(g, 3)]), scalar(g, 0), nearly(g, 6)])
        return g.node("Div", [g.node("Mul", [x, inner]), nearly(g, 6)])
    if form == 4:
        return g.node("Mul", [x, g.node("Tanh", [g.node("Softplus", [x])])])
    if form == 5:
        return g.node("Max", [x, g.node("Mul", [x, scalar(g, g.chance.choice((0.1, -0.5, 1.5)))])])
    inner = g.node("Clip", [x, scalar(g, g.chance.choice((-1, 0))), None if g.chance.random() < 0.3 else scalar(g, 2)][:2])
    g.node("Clip", [inner, scalar(g, g.chance.choice((-3, -0.5, 1))), scalar(g, g.chance.choice((0.5, 1.5)))])


@kind(2)
def spelled_normalization(g):
    x = g.pick(lambda v: v.array.size and v.shape[-1] > 2 and v.array.std() > 0.1, ranks=(2, 3, 4))
    axes = [-1] if g.chance.random() < 0.8 else [x.rank - 1, x.rank - 2]
    if g.chance.random() < 0.15:
        axes = [0]
    mean = lambda v: g.node("ReduceMean", [v, g.constant(np.int64(axes))], keepdims=1)
    if g.chance.random() < 0.6:
        x = g.node("Sub", [x, mean(x)])
    square = g.node("Mul", [x, x]) if g.chance.random() < 0.4 else g.node("Pow", [x, scalar(g, 2)])
    root = g.node("Sqrt", [g.node("Add", [mean(square), scalar(g, 0.01)])])
    x = g.node("Div", [x, root]) if g.chance.random() < 0.6 else g.node("Mul", [x, g.node("Reciprocal", [root])])
    x = g.node("Mul", [x, g.leaf(x.shape[-1:], np.float32)])
    if g.chance.random() < 0.7:
        g.node("Add", [x, g.leaf(x.shape[-1:] if g.chance.random() < 0.8 else (1,), np.float32)])


@kind(3)
def layered(g):
    """A convolution or a product with the operators that are usually fused into it."""
    if g.chance.random() < 0.5:
        x = spatial(g, (4,))
        count = g.chance.choice((2, 3, 4))
        groups = g.chance.choice([n for n in (1, 1, x.shape[1]) if count % n == 0])
        inputs = [x, g.leaf((count, x.shape[1] // groups, *g.chance.choice(((1, 1), (3, 3), (1, 3)))), np.float32, known=True)]
        if g.chance.random() < 0.5:
            inputs.append(g.leaf((count,), np.float32, known=True))
        y = g.node("Conv", inputs, group=groups)
        vector = lambda low=None, high=None: g.leaf((count,), np.float32, low, high, known=True)
        if g.chance.random() < 0.5:
            y = g.node("BatchNormalization", [y, vector(), vector(), vector(), vector(0.5, 2)], epsilon=1e-2)
        form = (count, 1, 1)
    else:
        x = g.pick(ranks=(2, 3))
        count = g.chance.choice((3, 8))
        y = g.node("MatMul", [x, g.leaf((x.shape[-1], count), np.float32, known=True)])
        form = (count,)
    for _ in range(g.chance.randint(1, 4)):
        step = g.chance.choice(("Add", "Mul", "Sub", "Relu", "Sigmoid", "Tanh", "Clip", "sum", "LeakyRelu", "PRelu", "HardSwish"))
        if step in ("Add", "Mul", "Sub", "PRelu"):
            operands = [y, g.leaf(g.chance.choice((form, form, y.shape, (1,), ())), np.float32, known=True)]
            if step == "Sub" and g.chance.random() < 0.5:
                operands.reverse()
            y = g.node(step, operands)
        elif step == "sum":
            y = g.node("Add", [y, g.like(y)])
        elif step == "Clip":
            y = g.node(step, [y, scalar(g, -1), scalar(g, 2)])
        else:
            y = g.node(step, [y])


@kind(2)
def turned(g):
    """Transpositions around nodes that do not depend on the order of axes, and around nodes that do."""
    x = g.pick(lambda v: v.array.size, ranks=(3, 4))
    order = list(range(x.rank))
    g.chance.shuffle(order)
    y = g.node("Transpose", [x], perm=order, exact=True)
    for _ in range(g.chance.randint(0, 3)):
        step = g.chance.choice(("Relu", "Tanh", "Softmax", "ReduceMean", "Add", "Concat", "Squeeze", "Pad", "Slice"))
        if step == "Softmax":
            y = g.node(step, [y], axis=g.axis(y))
        elif step == "ReduceMean":
            y = g.node(step, [y, g.constant(np.int64([g.axis(y)]))], keepdims=1)
        elif step == "Add":
            y = g.node(step, [y, g.leaf([g.chance.choice((1, size)) for size in y.shape], np.float32)])
        elif step == "Concat":
            y = g.node(step, [y, y], axis=g.axis(y), exact=True)
        elif step == "Pad":
            y = g.node(step, [y, g.constant(np.int64(g.numbers.integers(0, 2, 2 * y.rank)))], exact=True)
        elif step == "Slice":
            axis = g.axis(y)
            y = g.node(step, [y, g.constant(np.int64([0])), g.constant(np.int64([2])), g.constant(np.int64([axis]))], exact=True)
        elif step != "Squeeze":
            y = g.node(step, [y])
    back = [order.index(axis) for axis in range(x.rank)]
    if g.chance.random() < 0.3:
        g.chance.shuffle(back)
    y = g.node("Transpose", [y], perm=back, exact=True)
    if g.chance.random() < 0.4:
        g.node("Reshape", [y, g.constant(np.int64([y.shape[0], -1]))], exact=True)


@kind(2)
def quantized_layer(g):
    """A layer between quantizations, with weights of its own that are dequantized."""
    dtype = g.chance.choice((np.uint8, np.int8))
    def through(x, step):
        scale, zero = scalar(g, step), g.constant(np.asarray(g.chance.choice((0, 3)), dtype))
        return g.node("DequantizeLinear", [g.node("QuantizeLinear", [x, scale, zero]), scale, zero])
    rows = g.chance.random() < 0.5
    # The scales are between eighths, so that roundings are unambiguous.
    x = through(g.leaf((2, 3, 5, 5) if not rows else (4, 6), np.float32, known=False), 3 / 16)
    count = 4
    shape = (count, 3, 3, 3) if not rows else (6, count)
    axis = 0 if not rows else 1
    weights = g.constant(g.numbers.integers(-9, 9, shape).astype(np.int8))
    if g.chance.random() < 0.5:
        scale = g.constant((g.numbers.integers(1, 5, count) / 32).astype(np.float32))
        zero = g.constant(np.zeros(count, np.int8))
    else:
        axis, scale, zero = None, scalar(g, 1 / 16), g.constant(np.int8(0))
    weights = g.node("DequantizeLinear", [weights, scale, zero], axis=axis)
    y = g.node("Conv", [x, weights], pads=[1, 1, 1, 1]) if not rows else g.node("MatMul", [x, weights])
    if g.chance.random() < 0.5:
        y = g.node("Add", [y, g.leaf((count, 1, 1) if not rows else (count,), np.float32, known=True)])
    if g.chance.random() < 0.5:
        g.node("Relu", [y])


@kind(1)
def split_heads(g):
    """Attention of several heads as exporters write it."""
    rows, heads, size = g.chance.choice((3, 5)), 2, 4
    x = g.leaf((2, rows, heads * size), np.float32, -1, 1, known=False)
    def head(turns):
        y = g.node("MatMul", [x, g.leaf((heads * size, heads * size), np.float32, -0.5, 0.5, known=True)])
        if g.chance.random() < 0.5:
            y = g.node("Add", [y, g.leaf((heads * size,), np.float32, known=True)])
        y = g.node("Reshape", [y, g.constant(np.int64([0, 0, heads, size] if g.chance.random() < 0.5 else [2, -1, heads, size]))])
        return g.node("Transpose", [y], perm=[0, 2, 3, 1] if turns else [0, 2, 1, 3])
    scores = g.node("MatMul", [head(False), head(True)])
    scores = g.node("Div", [scores, scalar(g, 2)]) if g.chance.random() < 0.5 else g.node("Mul", [scores, scalar(g, 0.5)])
    choice = g.chance.random()
    if choice < 0.3:
        scores = g.node("Add", [scores, g.leaf(g.chance.choice(((1, 1, rows, rows), (2, 1, 1, rows), (rows, rows))), np.float32)])
    elif choice < 0.6:
        mask = g.leaf((1, 1, rows, rows), np.bool_, known=g.chance.random() < 0.5)
        scores = g.node("Where", [mask, scores, scalar(g, -1e4 if g.chance.random() < 0.5 else -1)])
    y = g.node("MatMul", [g.node("Softmax", [scores], axis=g.chance.choice((-1, -1, 3, 2))), head(False)])
    g.node("Reshape", [g.node("Transpose", [y], perm=[0, 2, 1, 3]), g.constant(np.int64([0, 0, -1]))])
