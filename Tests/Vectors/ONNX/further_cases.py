"""Further cases: resizing, normalization, comparison, positions, and the operators that attention is exported as."""

import numpy as np

from cases import ELEMENTWISE, EXACT, SUMS, Values, add, floats, integers, scalar

SMALL = Values((2, 3, 5), -2, 2)

for low, high, operators in ((-0.9, 0.9, ("Asin", "Acos", "Atanh", "Tan")), (-3, 3, ("Atan", "Sinh", "Cosh", "Asinh")),
                             (1.1, 4, ("Acosh",))):
    for operator in operators:
        add(operator, ("x", Values((3, 7), low, high)))
add("Sign", ("x", floats(-3, -0.0, 0, 2)), tolerance=EXACT)
add("Celu", ("x", SMALL), alpha=0.75)
add("Mish", ("x", SMALL), opset=18)
add("ThresholdedRelu", ("x", SMALL), alpha=0.5, tolerance=EXACT)
add("PRelu", ("x", Values((2, 3, 5))), ("slope", Values((3, 1))), constant=("slope",))
add("PRelu", ("x", Values((3, 5))), ("slope", Values((5,))))
add("LogSoftmax", ("x", Values((3, 11), -9, 9)), axis=-1)
add("Hardmax", ("x", Values((3, 7))), axis=1, tolerance=EXACT)

FACTORS, SIZES = floats(1, 1, 1.7, 2.37), integers(1, 2, 7, 4)
for mode in ("nearest", "linear"):
    for convention in ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"):
        tolerance = EXACT if mode == "nearest" else ELEMENTWISE
        opset = 19 if convention == "half_pixel_symmetric" else 13
        nearest = {"nearest_mode": "floor"} if mode == "nearest" and convention != "half_pixel" else {}
        if convention != "align_corners":
            add("Resize", ("x", Values((1, 2, 5, 7))), ("roi", None), ("scales", FACTORS), constant=("scales",),
                mode=mode, coordinate_transformation_mode=convention, tolerance=tolerance, opset=opset, **nearest)
        add("Resize", ("x", Values((1, 2, 5, 7))), ("roi", None), ("scales", None), ("sizes", SIZES),
            constant=("sizes",), mode=mode, coordinate_transformation_mode=convention, tolerance=tolerance, opset=opset,
            **nearest)
for nearest in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
    for scale in (2.0, 3.0, 0.5):
        add("Resize", ("x", Values((1, 1, 6, 4))), ("roi", None), ("scales", floats(1, 1, scale, scale)),
            constant=("scales",), mode="nearest", nearest_mode=nearest, opset=13, tolerance=EXACT)
add("Resize", ("x", Values((1, 2, 4, 6))), ("roi", None), ("scales", None), ("sizes", integers(9, 5)),
    constant=("sizes",), mode="linear", axes=[2, 3], keep_aspect_ratio_policy="not_larger", opset=18)
add("Resize", ("x", Values((1, 2, 4, 6))), ("roi", None), ("scales", None), ("sizes", integers(5, 9)),
    constant=("sizes",), mode="linear", axes=[3, 2], opset=18)
add("Resize", ("x", Values((1, 1, 5, 6))), ("roi", floats(0, 0, 0.2, 0.1, 1, 1, 0.8, 0.9)), ("scales", None),
    ("sizes", integers(1, 1, 3, 4)), constant=("roi", "sizes"), mode="linear",
    coordinate_transformation_mode="tf_crop_and_resize", opset=13)

for x, weight, attributes in (
    ((1, 3, 5, 4), (3, 2, 3, 3), {}),
    ((1, 3, 5, 4), (3, 2, 3, 3), {"strides": [2, 3], "pads": [1, 0, 1, 2], "output_padding": [1, 1]}),
    ((2, 4, 3, 3), (4, 3, 2, 2), {"strides": [2, 2], "group": 2}),
    ((1, 2, 4, 5), (2, 3, 3, 3), {"dilations": [2, 2]}),
    ((1, 2, 3, 3), (2, 2, 3, 3), {"strides": [3, 2], "output_shape": [10, 8], "output_padding": [1, 1]}),
    ((1, 2, 3, 3), (2, 2, 3, 3), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ((1, 2, 7), (2, 3, 4), {"strides": [2]}),
):
    bias = weight[1] * attributes.get("group", 1)
    add("ConvTranspose", ("x", Values(x)), ("w", Values(weight, -1, 1)), ("b", Values((bias,))), constant=("w", "b"),
        tolerance=SUMS, **attributes)

add("LRN", ("x", Values((1, 7, 3, 2))), size=3, alpha=0.5, beta=0.6, bias=1.5)
add("LRN", ("x", Values((2, 5, 3, 1))), size=4)
for shape, axis in (((2, 5, 11), -1), ((2, 3, 5), 1), ((7, 13), -1)):
    parameters = shape[axis:]
    add("LayerNormalization", ("x", Values(shape)), ("s", Values(parameters)), ("b", Values(parameters)),
        constant=("s", "b"), axis=axis, tolerance=SUMS)
add("LayerNormalization", ("x", Values((3, 4, 5))), ("s", Values((5,))), axis=1, epsilon=0.01, tolerance=SUMS)
add("InstanceNormalization", ("x", Values((2, 3, 5, 4))), ("s", Values((3,))), ("b", Values((3,))),
    constant=("s", "b"), tolerance=SUMS)
add("GroupNormalization", ("x", Values((2, 6, 5, 3))), ("s", Values((6,))), ("b", Values((6,))), constant=("s", "b"),
    num_groups=3, tolerance=SUMS, opset=21)
add("RMSNormalization", ("x", Values((2, 3, 7))), ("s", Values((7,))), constant=("s",), tolerance=SUMS, opset=23)
add("MeanVarianceNormalization", ("x", Values((2, 3, 5, 4))), axes=[0, 2, 3], tolerance=SUMS)
add("LpNormalization", ("x", Values((3, 7))), axis=-1, p=2)
add("LpNormalization", ("x", Values((3, 7))), axis=0, p=1)

for operator in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
    add(operator, ("a", Values((5, 7), -3, 3, "int32")), ("b", Values((7,), -3, 3, "int32")), tolerance=EXACT)
    add(operator, ("a", floats(-1, 0, 1.5, 2)), ("b", floats(0, 0, 1, 3)), tolerance=EXACT)
for operator in ("And", "Or", "Xor"):
    add(operator, ("a", Values((3, 5), kind="bool")), ("b", Values((5,), kind="bool")), tolerance=EXACT)
add("Not", ("x", Values((3, 5), kind="bool")), tolerance=EXACT)
add("IsNaN", ("x", floats(0, np.nan, np.inf, -1)), tolerance=EXACT)
add("IsInf", ("x", floats(0, np.nan, np.inf, -np.inf)), tolerance=EXACT, output_type="bool")
add("IsInf", ("x", floats(0, np.nan, np.inf, -np.inf)), tolerance=EXACT, output_type="bool", detect_negative=0)
add("Where", ("c", Values((3, 1, 5), kind="bool")), ("a", Values((7, 1))), ("b", scalar(-1)), tolerance=EXACT,
    output_type="float32")
add("Mod", ("a", integers(-7, 7, -7, 7, 6)), ("b", integers(3, 3, -3, -3, 2)), tolerance=EXACT)
add("Mod", ("a", floats(-7.5, 7.5, -7.5, 7.5)), ("b", floats(2, 2, -2, -2)), fmod=1, tolerance=EXACT)

add("TopK", ("x", Values((3, 7))), ("k", integers(3)), constant=("k",), outputs=2, tolerance=EXACT)
add("TopK", ("x", floats([1, 5, 5, 2], [3, 3, 3, 3])), ("k", integers(4)), constant=("k",), outputs=2, largest=0,
    tolerance=EXACT)
add("TopK", ("x", Values((5, 2, 3))), ("k", integers(2)), constant=("k",), outputs=2, axis=0, tolerance=EXACT)
for attributes in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
    add("CumSum", ("x", Values((3, 7))), ("axis", np.array(1, np.int64)), constant=("axis",), **attributes)
    add("CumProd", ("x", Values((3, 7))), ("axis", np.array(1, np.int64)), constant=("axis",), opset=26, **attributes)
    add("CumProd", ("x", Values((2, 5, 3), -9, 9, "int32")), ("axis", np.array(-2, np.int32)), constant=("axis",),
        opset=26, tolerance=EXACT, **attributes)
add("GatherElements", ("x", Values((4, 3))), ("i", integers([0, -1, 2], [3, 1, -4])), axis=0, tolerance=EXACT)
add("GatherElements", ("x", Values((2, 5))), ("i", integers([4, 0, -5], [1, 1, 2])), axis=1, tolerance=EXACT)
add("GatherND", ("x", Values((3, 4, 5))), ("i", integers([0, 1], [2, -1])), tolerance=EXACT)
add("GatherND", ("x", Values((2, 4, 5))), ("i", integers([1], [3])), batch_dims=1, tolerance=EXACT)
for reduction in ("none", "add", "mul", "max", "min"):
    add("ScatterElements", ("x", Values((3, 5))), ("i", integers([1, -1], [0, 0])), ("u", Values((2, 2))), axis=1,
        opset=18, tolerance=EXACT if reduction in ("max", "min") else ELEMENTWISE,
        **({} if reduction == "none" else {"reduction": reduction}))
    add("ScatterND", ("x", Values((4, 3))), ("i", integers([1], [-1])), ("u", Values((2, 3))), opset=18,
        **({} if reduction == "none" else {"reduction": reduction}))
for axis in (-1, 0):
    add("OneHot", ("i", integers([0, 4], [-1, 7])), ("depth", np.array(5, np.int64)), ("values", floats(0.5, 2)),
        constant=("depth", "values"), axis=axis, tolerance=EXACT, output_type="float32")
for attributes in ({"upper": 1}, {"upper": 0}):
    add("Trilu", ("x", Values((2, 5, 4))), ("k", np.array(-1, np.int64)), constant=("k",), tolerance=EXACT,
        **attributes)
add("Trilu", ("x", Values((4, 6))), tolerance=EXACT)
add("EyeLike", ("x", Values((4, 5))), k=1, tolerance=EXACT)
add("Range", ("a", np.array(3, np.int64)), ("b", np.array(-4, np.int64)), ("c", np.array(-2, np.int64)),
    constant=("a", "b", "c"), tolerance=EXACT)
add("ReverseSequence", ("x", Values((4, 3, 2))), ("n", integers(1, 4, 2)), tolerance=EXACT)

for equation, shapes in (("bij,bjk->bik", ((2, 3, 5), (2, 5, 7))), ("bhid,bhjd->bhij", ((1, 2, 3, 5), (1, 2, 7, 5))),
                         ("ij->ji", ((3, 5),)), ("i,j->ij", ((3,), (5,))), ("ij,ij->i", ((3, 5), (3, 5))),
                         ("nchw,nwhu->nchu", ((2, 3, 5, 4), (2, 4, 5, 7))), ("...ij,jk->...ik", ((2, 3, 5), (5, 2))),
                         ("ij,jk,kl->il", ((2, 3), (3, 5), (5, 4))), ("bij->b", ((2, 3, 5),)),
                         ("hd,bld->blh", ((3, 5), (2, 4, 5)))):
    add("Einsum", *((f"x{i}", Values(shape)) for i, shape in enumerate(shapes)), equation=equation, tolerance=SUMS)
add("Einsum", ("x", Values((2, 3, 5))), ("w", Values((5, 7))), constant=("w",), equation="abc,cd->abd", tolerance=SUMS)

QUERY, KEY = Values((1, 2, 3, 5)), Values((1, 2, 7, 5))
add("Attention", ("q", QUERY), ("k", KEY), ("v", Values((1, 2, 7, 4))), opset=23, tolerance=SUMS)
add("Attention", ("q", QUERY), ("k", KEY), ("v", KEY), ("m", Values((3, 7))), opset=23, tolerance=SUMS, scale=0.3)
add("Attention", ("q", Values((2, 4, 6))), ("k", Values((2, 5, 6))), ("v", Values((2, 5, 6))), opset=23, tolerance=SUMS,
    q_num_heads=2, kv_num_heads=2)
