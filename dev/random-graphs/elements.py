"""Element-wise nodes."""
import numpy as np
from onnx import helper

from drawing import FLOATS, INTEGERS, Impossible, broadcasts, kind


SMOOTH = (
    "Exp", "Sigmoid", "Tanh", "Erf", "Elu", "Selu", "Celu", "Softplus", "Softsign", "HardSigmoid", "HardSwish", "Mish",
    "Gelu", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh", "LeakyRelu")


@kind(5)
def smooth(g):
    x = g.pick(lambda v: not v.array.size or np.abs(v.array).max() < 20)
    name = g.chance.choice(SMOOTH)
    options = {}
    if name == "Gelu":
        options["approximate"] = g.chance.choice(("none", "tanh"))
    if name in ("Elu", "Celu", "LeakyRelu", "HardSigmoid") and g.chance.random() < 0.5:
        options["alpha"] = 0.3
    g.node(name, [x], **options)


@kind(2)
def bounded(g):
    name, low, high = g.chance.choice((
        ("Log", 0.1, 1e4), ("Sqrt", 0.05, 1e4), ("Reciprocal", 0.1, 1e4), ("Acosh", 1.1, 1e3), ("Acos", -0.9, 0.9),
        ("Asin", -0.9, 0.9), ("Atanh", -0.9, 0.9), ("Tan", -1.2, 1.2)))
    inside = lambda v: v.array.size and v.array.min() >= low and v.array.max() <= high
    fits = [v for v in g.values if v.dtype == np.float32 and inside(v)]
    g.node(name, [g.chance.choice(fits) if fits else g.leaf(g.shape(), np.float32, low, min(high, low + 3))])


@kind(3)
def moved(g):
    name = g.chance.choice(("Abs", "Neg", "Relu", "Identity", "Clip", "Sign"))
    dtypes = (np.float32, np.int32, np.int64, np.float64) if name not in ("Relu",) else (np.float32,)
    x = g.pick(dtypes=dtypes, exact=name == "Sign")
    inputs = [x]
    if name == "Clip":
        bound = lambda number: g.constant(np.asarray(number, x.dtype)) if g.chance.random() < 0.8 else None
        inputs += [bound(-1), bound(2)]
        while inputs[-1] is None:
            inputs.pop()
    g.node(name, inputs, exact=True)


@kind(2)
def rounded(g):
    name = g.chance.choice(("Floor", "Ceil", "Round", "ThresholdedRelu", "Shrink", "IsNaN", "IsInf", "Hardmax"))
    x = g.pick(exact=True, ranks=(1, 2, 3, 4) if name == "Hardmax" else None)
    options = {"lambd": 0.5, "bias": 0.25} if name == "Shrink" else {"axis": g.axis(x)} if name == "Hardmax" else {}
    g.node(name, [x], exact=True, **options)


@kind(5)
def binary(g):
    name = g.chance.choice(("Add", "Sub", "Mul", "Add", "Mul", "Div", "Min", "Max", "Sum", "Mean", "Pow", "PRelu"))
    x = g.pick(dtypes=FLOATS if name in ("Add", "Sub", "Mul", "Max") else (np.float32,))
    if name == "Pow":
        fits = [v for v in g.values if v.dtype == np.float32 and v.array.size and v.array.min() > 0.1 and v.array.max() < 8]
        if g.chance.random() < 0.5 or not fits:
            return g.node(name, [x, g.constant(np.float32(g.chance.choice((2, 3, 1))))])
        return g.node(name, [g.chance.choice(fits), g.constant(np.float32(g.chance.choice((0.5, 1.7, -0.5))))])
    if name == "PRelu":
        shape = [1 if g.chance.random() < 0.4 else size for size in x.shape]
        return g.node(name, [x, g.leaf(shape, np.float32, known=True)])
    y = g.like(x, low=0.5 if name == "Div" else None, high=2.0)
    inputs = [x, y]
    if name in ("Min", "Max", "Sum", "Mean") and g.chance.random() < 0.4:
        inputs.append(g.like(x))
    if name in ("Add", "Sub", "Mul") and g.chance.random() < 0.3:
        inputs.reverse()
    g.node(name, inputs, exact=name in ("Min", "Max"))


@kind(3)
def integers(g):
    name = g.chance.choice(("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitShift"))
    dtypes = {
        "BitShift": (np.uint8, np.uint32, np.uint64), "Min": (np.int32, np.int64), "Max": (np.int32, np.int64),
        "BitwiseAnd": INTEGERS, "BitwiseOr": INTEGERS, "BitwiseXor": INTEGERS, "Mod": INTEGERS}.get(name, (np.int32, np.int64))
    x = g.pick(dtypes=dtypes)
    if name == "BitShift":
        return g.node(name, [x, g.like(x, low=0, high=4)], direction=g.chance.choice(("LEFT", "RIGHT")))
    y = g.like(x, low=1 if name in ("Div", "Mod") else None, high=5)
    g.node(name, [x, y])


@kind(1)
def remainders(g):
    x = g.pick(exact=True)
    g.node("Mod", [x, g.like(x, True, 0.7, 2.3)], fmod=1, exact=True)


@kind(3)
def compared(g):
    name = g.chance.choice(("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"))
    x = g.pick(dtypes=(np.float32, np.int32, np.int64, np.float64), exact=True)
    g.node(name, [x, g.like(x, True)])


@kind(2)
def logical(g):
    x = g.pick(dtypes=(np.bool_,))
    if g.chance.random() < 0.3:
        return g.node("Not", [x])
    g.node(g.chance.choice(("And", "Or", "Xor")), [x, g.like(x)])


@kind(2)
def chosen(g):
    condition = g.pick(dtypes=(np.bool_,))
    dtype = g.chance.choice((np.float32, np.float32, np.int64, np.int32))
    fits = [v for v in g.values if v.dtype == dtype and broadcasts(v.shape, condition.shape)]
    x = g.chance.choice(fits) if fits else g.leaf(condition.shape, dtype)
    others = [v for v in g.values if v.dtype == dtype and broadcasts(v.shape, np.broadcast_shapes(condition.shape, x.shape))]
    g.node("Where", [condition, x, g.chance.choice(others)], exact=True)


@kind(3)
def cast(g):
    target = g.chance.choice((np.float32, np.float32, np.float64, np.int32, np.int64, np.bool_, np.uint8, np.int8))
    x = g.pick(dtypes=(np.float32, np.float64, np.int32, np.int64, np.bool_, np.int8, np.uint8), exact=np.dtype(target).kind != "f")
    if np.dtype(target) == np.uint8 and x.array.size and x.array.min() < 0:
        raise Impossible
    if np.dtype(target).itemsize == 1 and target != np.bool_ and x.array.size and np.abs(x.array.astype(float)).max() > 120:
        raise Impossible
    if g.chance.random() < 0.2:
        return g.node("CastLike", [x, g.pick(dtypes=(target,))], exact=x.exact)
    g.node("Cast", [x], to=helper.np_dtype_to_tensor_dtype(np.dtype(target)), exact=True)
