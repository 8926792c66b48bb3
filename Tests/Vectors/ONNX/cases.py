"""The cases: operator, attributes, operands. Shapes are primes and ones where the operator allows it."""

from dataclasses import dataclass, field

import numpy as np

ELEMENTWISE = (2e-6, 1e-5)
SUMS = (1e-5, 1e-4)
EXACT = (0.0, 0.0)


@dataclass(frozen=True)
class Values:
    """Random values, uniform in [low, high) and of the given type; integers when the type is one."""

    shape: tuple
    low: float = -2.0
    high: float = 2.0
    kind: str = "float32"

    def draw(self, random):
        if np.dtype(self.kind).kind in "iu":
            return random.integers(int(self.low), int(self.high), self.shape).astype(self.kind)
        if self.kind == "bool":
            return random.random(self.shape) < 0.5
        return random.uniform(self.low, self.high, self.shape).astype(self.kind)


@dataclass(frozen=True)
class Case:
    """One node. `operands` pairs the node's inputs in order with what they hold; None omits an optional input.

    `omitted` are the places of outputs that the node does not name; `formula` is used instead of the operator's.
    """

    operator: str
    operands: tuple
    attributes: dict = field(default_factory=dict)
    tolerance: tuple = ELEMENTWISE
    constant: frozenset = frozenset()
    outputs: int = 1
    output_type: str | tuple | None = None
    opset: int | None = None
    omitted: frozenset = frozenset()
    formula: object = None


def integers(*values):
    return np.array(values, dtype=np.int64)


def floats(*values):
    return np.array(values, dtype=np.float32)


def scalar(value):
    return np.array(value, dtype=np.float32)


CASES = []


def add(operator, *operands, tolerance=ELEMENTWISE, constant=(), opset=None, output_type=None, outputs=1, omitted=(),
        formula=None, **attributes):
    """`operands` are (name, value) pairs."""
    CASES.append(Case(operator, operands, attributes, tolerance, frozenset(constant), outputs, output_type, opset,
                      frozenset(omitted), formula))


def conv(x, weight, bias=True, **attributes):
    operands = [("x", Values(x)), ("w", Values(weight, -1, 1))]
    if bias:
        operands.append(("b", Values(weight[:1])))
    add("Conv", *operands, constant=("w", "b"), tolerance=SUMS, **attributes)


conv((1, 3, 7, 5), (5, 3, 3, 3))
conv((1, 3, 11, 13), (7, 3, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
conv((2, 5, 7, 3), (3, 5, 1, 1))
conv((1, 13, 5, 7), (17, 13, 1, 1), bias=False)
conv((1, 7, 11, 13), (7, 1, 3, 3), group=7, pads=[1, 1, 1, 1])
conv((1, 7, 13, 7), (7, 1, 5, 5), group=7, pads=[2, 2, 2, 2], strides=[2, 2], bias=False)
conv((1, 6, 7, 7), (9, 2, 3, 3), group=3, pads=[1, 1, 1, 1])
conv((1, 3, 7, 7), (6, 1, 3, 3), group=3)
conv((1, 3, 13, 11), (5, 3, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3])
conv((1, 2, 7, 11), (3, 2, 3, 5), pads=[0, 1, 2, 3], strides=[2, 1])
conv((1, 3, 8, 9), (5, 3, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2])
conv((1, 3, 8, 9), (5, 3, 3, 3), auto_pad="SAME_LOWER", strides=[2, 2])
conv((1, 1, 1, 1), (1, 1, 1, 1))
conv((1, 4, 1, 17), (3, 4, 1, 3), pads=[0, 1, 0, 1])
conv((1, 3, 17, 17), (3, 3, 7, 7), strides=[2, 2], pads=[3, 3, 3, 3])
conv((1, 5, 7, 7), (7, 5, 1, 1), strides=[2, 2])
conv((3, 7, 5, 5), (7, 1, 3, 3), group=7, dilations=[2, 2], pads=[2, 2, 2, 2])
conv((1, 3, 19), (5, 3, 5), strides=[2], pads=[2, 1])
conv((1, 17, 5, 5), (13, 17, 3, 3), pads=[1, 1, 1, 1])

for attributes in (
    {"kernel_shape": [2, 2], "strides": [2, 2]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
    {"kernel_shape": [3, 2], "strides": [1, 2], "pads": [0, 1, 2, 0]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    {"kernel_shape": [3, 3], "dilations": [2, 2]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
):
    add("MaxPool", ("x", Values((1, 3, 11, 8), -9, -1)), tolerance=EXACT, **attributes)

for attributes in (
    {"kernel_shape": [2, 2], "strides": [2, 2]},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 0},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 0, "ceil_mode": 1},
    {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1, "ceil_mode": 1},
    {"kernel_shape": [3, 2], "strides": [1, 3], "pads": [0, 1, 2, 0]},
):
    add("AveragePool", ("x", Values((1, 3, 11, 8))), **attributes)

add("GlobalAveragePool", ("x", Values((2, 3, 11, 5))))
add("GlobalAveragePool", ("x", Values((1, 3, 1, 1))))

for a, b in (((7, 11), (11, 5)), ((1, 13), (13, 1)), ((3, 7, 5), (5, 11)), ((2, 1, 7, 3), (5, 3, 2)),
             ((11,), (11, 7)), ((5, 13), (13,)), ((17, 19), (19, 11))):
    add("MatMul", ("a", Values(a)), ("b", Values(b)), tolerance=SUMS)
add("MatMul", ("a", Values((1, 37))), ("b", Values((37, 19))), tolerance=SUMS, constant=("b",))

for a, b, c, attributes in (
    ((7, 11), (11, 5), (5,), {}),
    ((1, 13), (7, 13), (7,), {"transB": 1}),
    ((11, 7), (11, 3), (7, 1), {"transA": 1, "alpha": 0.5}),
    ((5, 3), (2, 5), (1, 2), {"transA": 1, "transB": 1, "alpha": 1.5, "beta": -0.25}),
    ((3, 5), (5, 7), None, {"alpha": -1.0}),
    ((3, 5), (5, 7), (), {"beta": 0.0}),
):
    operands = [("a", Values(a)), ("b", Values(b))] + ([("c", Values(c))] if c is not None else [])
    add("Gemm", *operands, constant=("b", "c"), tolerance=SUMS, **attributes)

for shape, attributes in (((1, 7, 5, 3), {}), ((2, 3, 11), {"epsilon": 0.01}), ((3, 5), {})):
    channels = shape[1:2]
    add("BatchNormalization", ("x", Values(shape)), ("scale", Values(channels)), ("b", Values(channels)),
        ("mean", Values(channels)), ("var", Values(channels, 0.1, 2)), constant=("scale", "b", "mean", "var"),
        **attributes)

for shape, axis in (((3, 11), -1), ((2, 5, 7), 1), ((7, 3), 0), ((1, 1), -1), ((1, 509), 1), ((2, 3, 5, 7), 2)):
    add("Softmax", ("x", Values(shape, -20, 20)), axis=axis)

BROADCASTS = [((3, 5, 7), (3, 5, 7)), ((2, 3, 1, 7), (5, 1)), ((1, 7, 5, 3), (1, 7, 1, 1)), ((5,), ()),
              ((1, 13), (11, 1))]
for operator in ("Add", "Sub", "Mul", "Div"):
    for a, b in BROADCASTS:
        add(operator, ("a", Values(a)), ("b", Values(b, 0.5, 3) if operator == "Div" else Values(b)))
for operator in ("Min", "Max"):
    for a, b in BROADCASTS[:3]:
        add(operator, ("a", Values(a)), ("b", Values(b)), tolerance=EXACT)
    add(operator, ("a", Values((3, 1))), ("b", Values((5,))), ("c", Values((7, 1, 1))), tolerance=EXACT)
for a, b in BROADCASTS[:3]:
    add("Pow", ("a", Values(a, 0.1, 3)), ("b", Values(b, -2, 3)))
add("Pow", ("a", Values((7, 3))), ("b", scalar(2)), constant=("b",))
add("Pow", ("a", Values((7, 3))), ("b", scalar(3)), constant=("b",))
add("Add", ("a", Values((3, 5), -9, 9, "int64")), ("b", Values((5,), -9, 9, "int64")), tolerance=EXACT)
add("Mul", ("a", Values((3, 5), -9, 9, "int32")), ("b", Values((3, 1), -9, 9, "int32")), tolerance=EXACT)
add("Div", ("a", np.array([-7, -1, 7, 6], np.int64)), ("b", np.array([2, 2, 2, -4], np.int64)), tolerance=EXACT)

WIDE, ODD = Values((3, 5, 7), -6, 6), Values((17,), -6, 6)
for operator, tolerance in (("Relu", EXACT), ("Abs", EXACT), ("Neg", EXACT), ("Floor", EXACT), ("Ceil", EXACT),
                            ("Sigmoid", ELEMENTWISE), ("Tanh", ELEMENTWISE), ("HardSwish", ELEMENTWISE),
                            ("Exp", (2e-6, 2e-5)), ("Erf", ELEMENTWISE), ("Softplus", ELEMENTWISE),
                            ("Softsign", ELEMENTWISE), ("Sin", ELEMENTWISE), ("Cos", ELEMENTWISE),
                            ("LeakyRelu", ELEMENTWISE), ("Elu", ELEMENTWISE), ("Selu", ELEMENTWISE),
                            ("HardSigmoid", ELEMENTWISE), ("Gelu", ELEMENTWISE)):
    add(operator, ("x", WIDE), tolerance=tolerance)
add("LeakyRelu", ("x", ODD), alpha=0.25)
add("Elu", ("x", ODD), alpha=1.5)
add("Selu", ("x", ODD), alpha=1.5, gamma=0.75)
add("HardSigmoid", ("x", ODD), alpha=0.1, beta=0.25)
add("Gelu", ("x", ODD), approximate="tanh")
add("Softplus", ("x", floats(-90, -20, -1, 0, 1, 20, 90)))
add("Sigmoid", ("x", floats(-90, -20, 0, 20, 90)))
add("Tanh", ("x", floats(-90, -1e-3, 0, 1e-3, 90)))
add("Round", ("x", floats(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, -0.4, 0.6, 1e9, 7)), tolerance=EXACT)
add("Round", ("x", WIDE), tolerance=EXACT)
for operator in ("Log", "Sqrt", "Reciprocal"):
    add(operator, ("x", Values((3, 7, 5), 0.05, 9)))
add("Reciprocal", ("x", floats(-8, -0.5, 0.25, 3)))
add("Clip", ("x", WIDE), ("min", scalar(0)), ("max", scalar(6)), constant=("min", "max"), tolerance=EXACT)
add("Clip", ("x", WIDE), ("min", None), ("max", scalar(1.5)), constant=("max",), tolerance=EXACT)
add("Clip", ("x", WIDE), ("min", scalar(-0.5)), constant=("min",), tolerance=EXACT)

for operator in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
                 "ReduceLogSumExp", "ReduceSumSquare"):
    tolerance = EXACT if operator in ("ReduceMax", "ReduceMin") else SUMS
    for shape, axes, keepdims in (((2, 5, 7, 3), (2, 3), 1), ((3, 11, 5), (1,), 0), ((5, 7), (0,), 1),
                                  ((3, 5, 2), (0, -1), 0), ((3, 7), None, 0)):
        operands, attributes = [("x", Values(shape))], {"keepdims": keepdims}
        if axes is not None and operator == "ReduceSum":
            operands.append(("axes", integers(*axes)))
        elif axes is not None:
            attributes["axes"] = list(axes)
        add(operator, *operands, constant=("axes",), tolerance=tolerance, **attributes)
add("ReduceMean", ("x", Values((3, 5, 7))), ("axes", integers(-1)), constant=("axes",), opset=18, tolerance=SUMS)

for shape, permutation in (((3, 7), None), ((2, 3, 5, 7), [0, 2, 3, 1]), ((2, 3, 5, 7), [3, 1, 0, 2]), ((5,), [0]),
                           ((1, 11, 1, 13), [2, 3, 0, 1]), ((2, 3, 2, 3, 5), [4, 0, 3, 1, 2])):
    add("Transpose", ("x", Values(shape)), tolerance=EXACT, **({"perm": permutation} if permutation else {}))

for axis, shapes in ((1, ((2, 3, 5), (2, 1, 5), (2, 7, 5))), (0, ((3,), (1,))), (-1, ((3, 2, 5), (3, 2, 11))),
                     (1, ((1, 5, 3, 3), (1, 3, 3, 3)))):
    add("Concat", *((f"x{i}", Values(shape)) for i, shape in enumerate(shapes)), tolerance=EXACT, axis=axis)

END = np.iinfo(np.int64).max
for shape, starts, ends, axes, steps in (
    ((7, 11), (1, 2), (5, 9), None, None),
    ((7, 11), (-3,), (END,), (0,), None),
    ((7, 11), (-1,), (-END,), (1,), (-1,)),
    ((5, 13, 3), (11, 0), (1, 3), (1, 2), (-3, 2)),
    ((1, 3, 7, 7), (0, 1), (100, -1), (-1, 2), (2, 3)),
):
    parts = [("starts", starts), ("ends", ends), ("axes", axes), ("steps", steps)]
    add("Slice", ("x", Values(shape)), *((n, integers(*v)) for n, v in parts if v is not None),
        constant=("starts", "ends", "axes", "steps"), tolerance=EXACT)

for mode, shape, pads in (("constant", (3, 5), (1, 0, 2, 3)), ("constant", (1, 3, 5, 7), (0, 0, 1, 2, 0, 1, 3, 0)),
                          ("reflect", (5, 7), (2, 3, 4, 1)), ("edge", (5, 3), (2, 3, 4, 1)),
                          ("constant", (5, 7), (-1, 2, 0, -3)), ("reflect", (1, 2, 3, 5), (0, 0, 1, 2, 0, 0, 2, 4))):
    value = [("value", scalar(-1.5))] if mode == "constant" and shape == (3, 5) else []
    add("Pad", ("x", Values(shape)), ("pads", integers(*pads)), *value, constant=("pads", "value"), tolerance=EXACT,
        mode=mode)

for shape, indices, axis in (((7, 3), integers(0, 6, -1, 2), 0), ((3, 5, 7), integers([4, -5], [0, -1]), 1),
                             ((5, 3), np.array(-2, np.int64), 0), ((2, 11), np.array([3, 3, 0], np.int32), -1)):
    add("Gather", ("x", Values(shape)), ("indices", indices), tolerance=EXACT, axis=axis)
add("Gather", ("x", Values((13, 5))), ("indices", integers(1, -13)), constant=("indices",), tolerance=EXACT, axis=0)

TYPE_NUMBER = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10}
for source, target in (("float32", "int32"), ("float32", "int64"), ("float32", "float16"), ("float16", "float32"),
                       ("int64", "float32"), ("int32", "int64"), ("uint8", "float32"), ("bool", "float32"),
                       ("float32", "bool"), ("int64", "int32")):
    low = 0 if source == "uint8" else -90
    add("Cast", ("x", Values((3, 7), low, 90, source)), tolerance=EXACT, output_type=target, to=TYPE_NUMBER[target])

for shape, repeats in (((3, 5), (2, 3)), ((1, 7, 1), (5, 1, 3)), ((2,), (7,))):
    add("Tile", ("x", Values(shape)), ("repeats", integers(*repeats)), constant=("repeats",), tolerance=EXACT)
for shape, target in (((3, 1), (3, 7)), ((1,), (5, 2)), ((5, 1, 3), (2, 1, 11, 1)), ((7,), (1, 1))):
    add("Expand", ("x", Values(shape)), ("shape", integers(*target)), constant=("shape",), tolerance=EXACT)

for shape, attributes in (((5, 7), {}), ((3, 11), {"axis": 1, "keepdims": 0}), ((2, 5, 3), {"axis": -2})):
    add("ArgMax", ("x", Values(shape)), tolerance=EXACT, **attributes)
add("ArgMax", ("x", floats(1, 3, 3, 2)), tolerance=EXACT, axis=0)
add("ArgMax", ("x", floats(1, 3, 3, 2)), tolerance=EXACT, axis=0, select_last_index=1)
