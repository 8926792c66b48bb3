"""Cases of element types that few models have: integers and truth values where operators blend, scale or shift, operands of
two types, and batch normalization that trains."""

import numpy as np

from cases import ELEMENTWISE, EXACT, SUMS, Values, add, floats, integers

SMALL = {"int8": (-9, 9), "uint8": (0, 19), "int16": (-99, 99), "uint16": (0, 199), "int32": (-99, 99), "uint32": (0, 99),
         "int64": (-99, 99), "uint64": (0, 99)}


def whole(shape, kind):
    return Values(shape, *SMALL[kind], kind)


for kind, attributes in (("int32", {}), ("uint64", {"transB": 1}), ("int64", {"alpha": 3.0, "beta": -2.0, "transA": 1}),
                         ("uint32", {"alpha": 2.0})):
    a, b = ((4, 3) if "transA" in attributes else (3, 4)), ((5, 4) if "transB" in attributes else (4, 5))
    add("Gemm", ("a", whole(a, kind)), ("b", whole(b, kind)), ("c", whole((5,), kind)), tolerance=EXACT,
        output_type=kind, **attributes)


def gemm(a, b, c, alpha, beta):
    """Truncates to an integer once."""
    return np.trunc(np.float32(alpha) * (a @ b) + np.float32(beta) * c).astype(a.dtype)


add("Gemm", ("a", whole((3, 4), "int32")), ("b", whole((4, 5), "int32")), ("c", whole((3, 1), "int32")), tolerance=EXACT,
    formula=gemm, alpha=0.5, beta=1.25)
for kind, mode, antialias, sizes in (("uint8", "linear", 0, (1, 1, 7, 5)), ("int16", "cubic", 0, (1, 1, 6, 8)),
                                     ("int64", "linear", 1, (1, 1, 2, 2)), ("int32", "linear", 0, (1, 1, 8, 8))):
    add("Resize", ("x", whole((1, 1, 4, 4), kind)), ("roi", None), ("scales", None), ("sizes", integers(*sizes)),
        constant=("sizes",), mode=mode, antialias=antialias, opset=19, tolerance=EXACT, output_type=kind)
add("Resize", ("x", whole((1, 1, 5, 6), "uint8")), ("roi", floats(0, 0, -0.2, 0.1, 1, 1, 0.8, 1.4)), ("scales", None),
    ("sizes", integers(1, 1, 6, 7)), constant=("roi", "sizes"), mode="linear", opset=13, tolerance=EXACT,
    output_type="uint8", coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=9.0)


def sampled(x, grid, **attributes):
    """Rounds the interpolated value to the nearest integer; the evaluator truncates its coefficients to integers."""
    from onnx import helper
    from onnx.reference import ReferenceEvaluator
    shapes = [helper.make_tensor_value_info(name, 1, None) for name in ("x", "grid")]
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], **attributes)
    model = helper.make_model(helper.make_graph([node], "g", shapes, [helper.make_empty_tensor_value_info("y")]),
                              opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    result = ReferenceEvaluator(model).run(None, {"x": x.astype(np.float64), "grid": grid.astype(np.float64)})[0]
    return (result > 0.5) if x.dtype == bool else np.round(result).astype(x.dtype)


GRID = Values((1, 3, 4, 2), -1.1, 1.1)
add("GridSample", ("x", whole((1, 2, 5, 4), "uint8")), ("grid", GRID), mode="linear", formula=sampled, opset=20,
    tolerance=EXACT)
add("GridSample", ("x", whole((1, 2, 5, 4), "int64")), ("grid", GRID), mode="cubic",
    formula=sampled, opset=20, tolerance=EXACT)
add("GridSample", ("x", Values((1, 2, 5, 4), kind="bool")), ("grid", GRID), mode="linear", formula=sampled, opset=20,
    tolerance=EXACT)
add("Shrink", ("x", whole((4, 5), "int16")), bias=1.5, lambd=2.5, tolerance=EXACT, output_type="int16")
add("Shrink", ("x", whole((4, 5), "uint8")), bias=1.25, lambd=3.0, tolerance=EXACT, output_type="uint8")


def any_of_blocks(x, image, block, **attributes):
    result = np.zeros((x.shape[0], x.shape[1] // int(np.prod(block)), *image), bool)
    columns = image[1] - block[1] + 1
    for place in range(x.shape[2]):
        row, column = divmod(place, columns)
        part = x[:, :, place].reshape(x.shape[0], -1, *block)
        result[:, :, row:row + block[0], column:column + block[1]] |= part
    return result


add("Col2Im", ("x", Values((1, 8, 6), kind="bool")), ("image", integers(3, 4)), ("block", integers(2, 2)),
    constant=("image", "block"), formula=any_of_blocks, opset=18, tolerance=EXACT)

Q, K, V = Values((1, 2, 3, 4)), Values((1, 2, 5, 4)), Values((1, 2, 5, 3), kind="float16")
add("Attention", ("q", Q), ("k", K), ("v", V), opset=24, tolerance=SUMS)
add("Attention", ("q", Q), ("k", K), ("v", V), ("mask", None), ("past_k", Values((1, 2, 2, 4))),
    ("past_v", Values((1, 2, 2, 3), kind="float16")), outputs=3, output_type=("float32", "float32", "float16"), opset=24,
    is_causal=1, tolerance=SUMS)


def masked(q, k, v, mask, is_causal):
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / 2 + mask
    scores = np.where(np.tril(np.ones(scores.shape[-2:])) > 0, scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", shares / shares.sum(-1, keepdims=True), v)


for kind in ("uint16", "int8"):
    add("Attention", ("q", Q), ("k", K), ("v", Values((1, 2, 5, 3))), ("mask", Values((3, 5), 0, 3, kind)), opset=24,
        is_causal=1, formula=masked, tolerance=SUMS)

STATISTICS = (("s", Values((3,))), ("b", Values((3,))), ("mean", Values((3,))), ("var", Values((3,), 0.5, 2)))
add("BatchNormalization", ("x", Values((2, 3, 4, 5))), *STATISTICS, training_mode=1, momentum=0.75, epsilon=0.01, outputs=3,
    opset=15, tolerance=SUMS)


def older(x, s, b, mean, var, momentum, epsilon=1e-5):
    axes, column = (0, *range(2, x.ndim)), (-1, *[1] * (x.ndim - 2))
    own, spread = x.mean(axis=axes), x.var(axis=axes)
    y = (x - own.reshape(column)) / np.sqrt(spread.reshape(column) + epsilon) * s.reshape(column) + b.reshape(column)
    return y, mean * momentum + own * (1 - momentum), var * momentum + spread * (1 - momentum), own, spread


add("BatchNormalization", ("x", Values((2, 3, 7))), *STATISTICS, momentum=0.8, outputs=5, opset=9, formula=older,
    tolerance=SUMS)


def by_element(x, s, b, mean, var, spatial, epsilon=1e-5):
    return (x - mean) / np.sqrt(var + epsilon) * s + b


ELEMENT = (3, 2, 2)
add("BatchNormalization", ("x", Values((2, *ELEMENT))), ("s", Values(ELEMENT)), ("b", Values(ELEMENT)),
    ("mean", Values(ELEMENT)), ("var", Values(ELEMENT, 0.5, 2)), spatial=0, opset=7, formula=by_element, tolerance=SUMS)

for reduction, formula in (("add", np.logical_or.at), ("max", np.logical_or.at), ("mul", np.logical_and.at),
                           ("min", np.logical_and.at)):
    def scattered(x, places, updates, reduction, axis=0, formula=formula):
        result = x.copy()
        formula(result, (places, np.arange(x.shape[1])[None]), updates)
        return result

    add("ScatterElements", ("x", Values((4, 3), kind="bool")), ("places", np.array([[0, 1, 2], [3, 1, 0]])),
        ("updates", Values((2, 3), kind="bool")), reduction=reduction, formula=scattered, opset=18, tolerance=EXACT)

add("QLinearConv", ("x", Values((1, 2, 5, 5), 0, 255, "uint8")), ("x_scale", floats(0.05)), ("x_zero", np.uint8([7])),
    ("w", Values((3, 2, 3, 3), -99, 99, "int8")), ("w_scale", floats(0.01)), ("w_zero", np.int8([0])),
    ("y_scale", floats(0.4)), ("y_zero", np.int8([3])), constant=("w",), tolerance=(1.0, 0.0), output_type="int8")
add("QuantizeLinear", ("x", Values((3, 4), -99, 99)), ("scale", np.int32(3)), ("zero", np.int8(2)), opset=23,
    output_type="int8", tolerance=EXACT)
add("Dropout", ("x", Values((3, 4))), ("ratio", np.float32(0)), ("training", np.array(True)), constant=("ratio", "training"),
    outputs=2, output_type=("float32", "bool"), tolerance=EXACT)
