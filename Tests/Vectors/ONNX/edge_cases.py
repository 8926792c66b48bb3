"""Cases at the edges: integers that float32 does not hold and that do not fit a type, masks that hide whole rows, and
not-a-number and infinity where they decide."""

import numpy as np

from cases import ELEMENTWISE, EXACT, SUMS, TYPE_NUMBER, Values, add, floats, integers

ODD = 16_777_217
TYPE_NUMBER |= {"uint16": 4, "int16": 5, "float64": 11, "uint32": 12, "uint64": 13}

QUERY, KEY = Values((2, 2, 3, 5)), Values((2, 2, 7, 5))
ATTENTION = [("q", QUERY), ("k", KEY), ("v", KEY)]
CACHE = [("past_k", None), ("past_v", None)]
MASK = np.random.default_rng(8).random((3, 7)) < 0.6
MASK[1] = False
HIDDEN = np.where(MASK, np.float32(0.5), np.float32(-np.inf))


def attention(mask=None, counts=None, opset=24, **attributes):
    operands = ATTENTION + [("m", mask)]
    if counts:
        operands += CACHE + [("n", integers(*counts))]
    while operands[-1][1] is None:
        operands.pop()
    add("Attention", *operands, opset=opset, tolerance=SUMS, **attributes)


attention(counts=(4, 7))
attention(counts=(4, 7), is_causal=1)
attention(counts=(2, 0), is_causal=1)
attention(MASK, counts=(4, 7))
attention(HIDDEN, counts=(5, 6), is_causal=1)
attention(MASK, opset=23)
attention(HIDDEN, opset=23)
attention(MASK, opset=23, is_causal=1)
attention(MASK[:, :5])
attention(HIDDEN[:, :6])
attention(opset=25, left_window_size=1, right_window_size=2)
attention(counts=(4, 7), opset=25, left_window_size=1, is_causal=1)

for operator in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", "ReduceSum", "ReduceMean",
                 "ReduceMax", "ReduceMin", "ReduceProd"):
    low = 0.1 if operator == "ReduceLogSum" else -3
    add(operator, ("x", Values((3, 5), low, 3)), opset=18, noop_with_empty_axes=1)
for operator in ("ReduceL1", "ReduceSumSquare"):
    add(operator, ("x", Values((3, 5), -9, 9, "int32")), opset=18, noop_with_empty_axes=1, tolerance=EXACT,
        output_type="int32")
add("ReduceL1", ("x", np.array(-3, np.float32)), opset=18, tolerance=EXACT)

WIDE = integers(0, -1, 127, 128, 255, 256, 300, -129, 32768, -32769, 65536, 2**31, -2**31 - 1, 2**32 + 5, 2**53 + 1,
                -2**53 - 3, 2**63 - 1, -2**63)
for target in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64", "bool", "float64"):
    add("Cast", ("x", WIDE), tolerance=EXACT, output_type=target, to=TYPE_NUMBER[target])
for source in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64"):
    with np.errstate(over="ignore"):
        values = WIDE.astype(source)
    for target in ("int8", "uint8", "int32", "int64"):
        if target != source:
            add("Cast", ("x", values), tolerance=EXACT, output_type=target, to=TYPE_NUMBER[target])
TRUNCATED = floats(-0.9, 0.9, 1.5, -1.5, 126.99, -128, 2.5)
for target in ("int8", "int16", "int32", "int64"):
    add("Cast", ("x", TRUNCATED), tolerance=EXACT, output_type=target, to=TYPE_NUMBER[target])

for kind in ("int32", "int64"):
    large = np.array([ODD, -ODD, np.iinfo(kind).max, np.iinfo(kind).min, 3], kind)
    for operator in ("Add", "Sub", "Mul"):
        add(operator, ("a", large), ("b", np.array([ODD, 2, 2, 1, -5], kind)), tolerance=EXACT)
    add("Clip", ("x", np.array([0, ODD - 1, ODD, ODD + 1, 2 * ODD], kind)), ("min", np.array(ODD, kind)),
        ("max", np.array(2 * ODD - 1, kind)), constant=("min", "max"), tolerance=EXACT)
    add("Clip", ("x", np.array([-5, 7, 300], kind)), ("min", np.array(0, kind)), ("max", np.array(255, kind)),
        constant=("min", "max"), tolerance=EXACT)
    add("Range", ("a", np.array(ODD, kind)), ("b", np.array(ODD + 9, kind)), ("c", np.array(2, kind)),
        constant=("a", "b", "c"), tolerance=EXACT)
    add("Pad", ("x", Values((2, 3), -9, 9, kind)), ("pads", integers(1, 0, 2, 1)), ("value", np.array(ODD, kind)),
        constant=("pads", "value"), tolerance=EXACT, mode="constant")
    add("Pad", ("x", Values((4, 3), -9, 9, kind)), ("pads", integers(-1, 2, 0, -1)), ("value", np.array(-ODD, kind)),
        constant=("pads", "value"), tolerance=EXACT, mode="constant")
    add("OneHot", ("i", integers(0, 4, -1)), ("depth", np.array(5, np.int64)), ("values", np.array([-ODD, ODD], kind)),
        constant=("depth", "values"), tolerance=EXACT, output_type=kind)
    add("Expand", ("x", np.array([ODD], kind)), ("shape", integers(2, 3)), constant=("x", "shape"), tolerance=EXACT,
        output_type=kind)
BEYOND = 2**53 + 1
add("Expand", ("x", integers(BEYOND)), ("shape", integers(2, 3)), constant=("x", "shape"), tolerance=EXACT,
    output_type="int64")
add("Range", ("a", np.array(BEYOND, np.int64)), ("b", np.array(BEYOND + 5, np.int64)), ("c", np.array(2, np.int64)),
    constant=("a", "b", "c"), tolerance=EXACT)
add("Clip", ("x", integers(0, BEYOND + 2, 2**60)), ("min", np.array(BEYOND, np.int64)),
    ("max", np.array(BEYOND + 1, np.int64)), constant=("min", "max"), tolerance=EXACT)

DOUBLE = Values((3, 5), kind="float64")
FINE = (0.0, 1e-15)
add("Clip", ("x", DOUBLE), ("min", np.array(-0.1)), ("max", np.array(0.7)), constant=("min", "max"), tolerance=EXACT)
add("Pad", ("x", DOUBLE), ("pads", integers(1, 0, 0, 2)), ("value", np.array(0.1)), constant=("pads", "value"),
    mode="constant", tolerance=EXACT)
add("Range", ("a", np.array(0.1)), ("b", np.array(1.05)), ("c", np.array(0.1)), constant=("a", "b", "c"),
    tolerance=FINE)
add("PRelu", ("x", DOUBLE), ("slope", np.array([0.1])), constant=("slope",), tolerance=FINE)
add("Mean", ("a", DOUBLE), ("b", DOUBLE), ("c", DOUBLE), tolerance=FINE)

for kind in ("float32", "float16", "float64"):
    add("ThresholdedRelu", ("x", np.array([-np.inf, -1, 0, 0.5, 0.5004883, 2], kind)), alpha=0.5, tolerance=EXACT)
add("ThresholdedRelu", ("x", floats(-np.inf, -2, 0, 1e-30, 2)), alpha=0.0, tolerance=EXACT)

UNORDERED = floats([1, np.nan, 3, np.nan], [np.nan, 2, 1, 0], [np.inf, 1, -np.inf, np.nan], [1, 3, 3, 1])
for operator in ("ArgMax", "ArgMin"):
    for attributes in ({"axis": 1}, {"axis": 1, "select_last_index": 1}, {"axis": 0}):
        add(operator, ("x", UNORDERED), tolerance=EXACT, **attributes)
