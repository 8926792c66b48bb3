"""Cases of signals, bits and pixels: windows and transforms, bitwise operators, and what resamples or moves parts of
images."""

import numpy as np

from cases import EXACT, SUMS, Values, add, floats, integers, scalar
from signals import largest, resample

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")


def whole(kind, *shape, seed=1):
    """Integers from the whole range of a type."""
    limits = np.iinfo(kind)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype=kind, endpoint=True)


def number(value):
    return np.array(value, np.int64)


for operator, kinds in (("BitwiseAnd", SIGNED + UNSIGNED), ("BitwiseOr", ("int8", "uint16", "int32", "uint64")),
                        ("BitwiseXor", ("uint8", "int16", "uint32", "int64"))):
    for kind in kinds:
        add(operator, ("a", whole(kind, 3, 5)), ("b", whole(kind, 5, seed=2)), opset=18, tolerance=EXACT)
for kind in SIGNED + UNSIGNED:
    add("BitwiseNot", ("x", whole(kind, 3, 5)), opset=18, tolerance=EXACT)
for direction in ("LEFT", "RIGHT"):
    for kind in UNSIGNED:
        amounts = np.array([0, 1, 3, np.iinfo(kind).bits - 1], kind)
        add("BitShift", ("x", whole(kind, 3, 4)), ("n", amounts), direction=direction, tolerance=EXACT)
    for kind in SIGNED + ("uint8", "uint64"):
        bits = np.iinfo(kind).bits
        amounts = [0, 1, bits - 1, bits, bits + 1, 100] + ([-1, -bits] if kind in SIGNED else [])
        add("BitShift", ("x", whole(kind, 3, 1)), ("n", np.array(amounts, kind)), direction=direction, opset=28,
            tolerance=EXACT)

for operator in ("HannWindow", "HammingWindow", "BlackmanWindow"):
    for size, attributes in ((10, {}), (7, {"periodic": 0}), (7, {"periodic": 1}), (10, {"periodic": 0})):
        add(operator, ("size", number(size)), constant=("size",), output_type="float32", **attributes)
add("HannWindow", ("size", np.array(9, np.int32)), constant=("size",), output_type="float64", output_datatype=11,
    tolerance=(1e-16, 1e-14))
for bands, length, rate, lower, upper in ((8, 16, 8192, 0, 4096), (5, 63, 16000, 130, 7600), (12, 32, 8000, 0, 4000)):
    add("MelWeightMatrix", ("bands", number(bands)), ("length", number(length)), ("rate", number(rate)),
        ("lower", scalar(lower)), ("upper", scalar(upper)), constant=("bands", "length", "rate", "lower", "upper"),
        output_type="float32")

REAL, COMPLEX = (2, 7, 3, 1), (2, 7, 3, 2)
for shape, length, attributes in (
    (REAL, None, {}), (REAL, None, {"axis": 2}), (COMPLEX, None, {"axis": 0}), (COMPLEX, None, {"inverse": 1}),
    (REAL, None, {"onesided": 1}), (REAL, 8, {"onesided": 1, "axis": 1}), (REAL, 5, {"axis": -3}),
    (COMPLEX, 9, {"inverse": 1}), (COMPLEX, 4, {"inverse": 1, "axis": 1}),
):
    operands = [("x", Values(shape))] + ([("length", number(length))] if length else [])
    add("DFT", *operands, constant=("length",), tolerance=SUMS, opset=17, **attributes)
for shape, length, axis, attributes in (
    (REAL, None, None, {}), (COMPLEX, None, 1, {}), (REAL, None, -4, {"onesided": 1}), (REAL, 8, 1, {"onesided": 1}),
    (COMPLEX, 5, 1, {"inverse": 1}), (COMPLEX, None, -2, {"inverse": 1}), (REAL, None, 1, {"inverse": 1}),
    ((2, 5, 2), None, None, {"inverse": 1, "onesided": 1}), ((2, 5, 2), 9, 1, {"inverse": 1, "onesided": 1}),
    ((2, 5, 2), 6, 1, {"inverse": 1, "onesided": 1}), ((4, 3, 2), 7, 0, {"inverse": 1, "onesided": 1}),
    ((17, 2), None, 0, {}),
):
    operands = [("x", Values(shape)), ("length", number(length) if length else None)]
    operands += [("axis", number(axis))] if axis is not None else []
    while operands[-1][1] is None:
        operands.pop()
    add("DFT", *operands, constant=("length", "axis"), tolerance=SUMS, opset=20, **attributes)
# Long transforms are split into shorter ones, also twice.
for shape, length, axis, attributes in (
    ((2, 48, 2), None, 1, {}), ((2, 60, 1), None, 1, {"onesided": 1}), ((2, 60, 2), None, 1, {"inverse": 1}),
    ((3, 39, 2), 76, 1, {"inverse": 1, "onesided": 1}), ((3, 50, 2), 99, 1, {"inverse": 1, "onesided": 1}),
    ((50, 2, 1), 74, 0, {}), ((1, 2048, 1), None, 1, {"onesided": 1}),
):
    operands = [("x", Values(shape)), ("length", number(length) if length else None), ("axis", number(axis))]
    add("DFT", *operands, constant=("length", "axis"), tolerance=SUMS, opset=20, **attributes)

WINDOW = ("window", Values((5,), 0.1, 1))
for signal, step, window, length, onesided in (
    ((2, 16, 1), 3, None, 6, 1), ((2, 16, 1), 2, WINDOW, None, 1), ((1, 17, 1), 4, WINDOW, 5, 0),
    ((2, 14, 2), 3, WINDOW, 5, 0), ((1, 13, 1), 5, None, 8, 1),
):
    operands = [("signal", Values(signal)), ("step", number(step)), window or ("window", None)]
    operands += [("length", number(length))] if length else []
    add("STFT", *operands, constant=("step", "length", *(["window"] if length else [])), tolerance=SUMS,
        onesided=onesided)

for theta, size in (((2, 2, 3), (2, 3, 4, 5)), ((1, 2, 3), (1, 1, 2, 7)), ((1, 3, 4), (1, 2, 3, 4, 2))):
    for attributes in ({}, {"align_corners": 1}):
        add("AffineGrid", ("theta", Values(theta)), ("size", integers(*size)), constant=("size",), opset=20,
            **attributes)
for shape, sizes, attributes in (((5, 7), (3, 4), {}), ((4, 3), (7, 8), {}), ((2, 7, 4), (4, 7), {"axes": [1, 2]}),
                                 ((5, 2, 6), (2, 9), {"axes": [-3, -1]}), ((3, 4, 5), (4,), {"axes": [-1]})):
    kind = "int32" if len(sizes) == 1 else "float32"
    add("CenterCropPad", ("x", Values(shape, -9, 9, kind)), ("shape", integers(*sizes)), constant=("shape",), opset=18,
        tolerance=EXACT, **attributes)
for shape, image, block, attributes in (
    ((2, 12, 12), (5, 4), (2, 2), {}),
    ((1, 12, 6), (5, 5), (3, 2), {"strides": [2, 2], "pads": [0, 1, 0, 1]}),
    ((1, 4, 20), (6, 7), (2, 2), {"dilations": [2, 2]}),
    ((1, 8, 12), (5, 5), (2, 2), {"dilations": [1, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}),
    ((1, 8, 12), (3, 4, 3), (2, 2, 2), {}),
):
    add("Col2Im", ("x", Values(shape)), ("image", integers(*image)), ("block", integers(*block)),
        constant=("image", "block"), opset=18, **attributes)


def unpooled(shape, spatial, strides, reach=None, seed=3):
    """A place in the whole result for each element: the corner of its window or, within `reach`, another one."""
    random = np.random.default_rng(seed)
    places = np.zeros(shape, np.int64)
    for index in np.ndindex(*shape):
        offset = [random.integers(r) for r in reach] if reach else [0] * len(spatial)
        inside = [i * s + o for i, s, o in zip(index[2:], strides, offset)]
        places[index] = np.ravel_multi_index((*index[:2], *inside), (*shape[:2], *spatial))
    return places


for shape, spatial, wanted, attributes in (
    ((2, 2, 2, 3), (4, 6), None, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ((1, 3, 4), (8,), None, {"kernel_shape": [2], "strides": [2]}),
    ((1, 2, 3, 2), (5, 3), None, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((1, 1, 2, 2), (4, 4), (1, 1, 5, 4), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ((1, 1, 2, 2), (4, 4), (1, 1, 5, 6), {"kernel_shape": [2, 2], "strides": [2, 2]}),
):
    reach = None if "pads" in attributes else attributes["kernel_shape"]
    operands = [("x", Values(shape)), ("places", unpooled(shape, spatial, attributes["strides"], reach))]
    operands += [("shape", integers(*wanted))] if wanted else []
    add("MaxUnpool", *operands, constant=("shape",), tolerance=EXACT, **attributes)

for shape, attributes in (
    ((1, 3, 6, 5), {"kernel_shape": [2, 3]}),
    ((1, 2, 7, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 2]}),
    ((1, 2, 8, 7), {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1}),
    ((1, 2, 7, 9), {"kernel_shape": [2, 3], "dilations": [2, 2]}),
    ((2, 3, 9), {"kernel_shape": [4], "strides": [2]}),
):
    opset = 18 if "ceil_mode" in attributes or "dilations" in attributes else None
    add("LpPool", ("x", Values(shape)), p=3, opset=opset, tolerance=SUMS, **attributes)
for shape, pads, kind in (((3, 4), (1, 2, 0, 3), "float32"), ((2, 3, 5), (0, 1, 2, 1, 0, 4), "float32"),
                          ((3,), (4, 5), "int64")):
    add("Pad", ("x", Values(shape, -9, 9, kind)), ("pads", integers(*pads)), constant=("pads",), opset=19, mode="wrap",
        tolerance=EXACT)
for operator in ("ReduceMax", "ReduceMin"):
    for shape, axes, attributes in (((3, 5), (1,), {}), ((2, 3, 4), (0, -1), {"keepdims": 0}), ((3, 2), None, {})):
        add(operator, ("x", Values(shape, kind="bool")), *([("axes", integers(*axes))] if axes else []),
            constant=("axes",), opset=20, tolerance=EXACT, **attributes)


def resize(shape, sizes=None, scales=None, opset=19, **attributes):
    operands = [("x", Values(shape)), ("roi", None), ("scales", floats(*scales) if scales else None)]
    operands += [("sizes", integers(*sizes))] if sizes else []
    add("Resize", *operands, constant=("scales", "sizes"), opset=opset, formula=resample, **attributes)


CUBIC = {"mode": "cubic"}
for convention in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
    resize((1, 2, 5, 6), (1, 2, 8, 4), opset=13, coordinate_transformation_mode=convention, **CUBIC)
resize((1, 1, 5, 6), scales=(1, 1, 1.6, 2.25), cubic_coeff_a=-0.5, **CUBIC)
resize((1, 1, 7, 6), scales=(1, 1, 0.6, 0.8), **CUBIC)
resize((1, 1, 5, 6), (1, 1, 8, 9), exclude_outside=1, opset=13, **CUBIC)
resize((1, 1, 5, 6), (1, 1, 3, 4), exclude_outside=1, cubic_coeff_a=-0.5, **CUBIC)
resize((1, 2, 5, 6), (9, 4), axes=[2, 3], coordinate_transformation_mode="half_pixel_symmetric", **CUBIC)
resize((1, 2, 7), (1, 2, 10), **CUBIC)
resize((3, 4, 5), (5, 4, 7), **CUBIC)
add("Resize", ("x", Values((1, 1, 5, 6))), ("roi", floats(0, 0, 0.2, 0.1, 1, 1, 0.8, 0.9)), ("scales", None),
    ("sizes", integers(1, 1, 4, 7)), constant=("roi", "sizes"), opset=19, formula=resample,
    coordinate_transformation_mode="tf_crop_and_resize", **CUBIC)
for mode in ("linear", "cubic"):
    smooth = {"mode": mode, "antialias": 1}
    resize((1, 2, 8, 7), (1, 2, 3, 4), **smooth)
    resize((1, 1, 9, 8), scales=(1, 1, 0.6, 0.4), opset=18, **smooth)
    resize((1, 1, 4, 5), (1, 1, 7, 8), **smooth)
    resize((1, 1, 9, 4), (1, 1, 4, 7), exclude_outside=1, **smooth)
    resize((1, 2, 10), (1, 2, 3), **smooth)
    resize((1, 1, 9, 8), (1, 1, 4, 3), coordinate_transformation_mode="align_corners", **smooth)
resize((1, 1, 9, 8), (1, 1, 4, 3), cubic_coeff_a=-0.5, exclude_outside=1, antialias=1, **CUBIC)

for shape, attributes in (
    ((2, 3, 7, 6), {"kernel_shape": [2, 3]}),
    ((1, 2, 7, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((1, 2, 7, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 2], "storage_order": 1}),
    ((2, 2, 8, 7), {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1}),
    ((1, 2, 9), {"kernel_shape": [3], "dilations": [2]}),
    ((1, 2, 4, 5, 3), {"kernel_shape": [2, 2, 2], "storage_order": 1}),
):
    add("MaxPool", ("x", Values(shape)), outputs=2, output_type=("float32", "int64"), tolerance=EXACT,
        formula=largest, **attributes)
# Few values, so that windows have several largest elements.
add("MaxPool", ("x", (np.arange(60).reshape(1, 1, 6, 10) * 7 % 3).astype(np.float32)), outputs=2,
    output_type=("float32", "int64"), tolerance=EXACT, formula=largest, kernel_shape=[3, 3])

for shape, filters, groups, parts, masked, biased, attributes in (
    ((2, 4, 6, 5), (6, 4, 3, 3), 1, 1, False, False, {}),
    ((1, 4, 7, 6), (6, 2, 3, 2), 2, 2, True, True, {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    ((1, 6, 6, 7), (3, 6, 2, 2), 1, 3, True, False, {"dilations": [2, 1], "pads": [1, 1, 1, 1]}),
):
    spatial = [(size + sum(attributes.get("pads", [0] * 4)[axis::2]) - attributes.get("dilations", [1, 1])[axis] *
                (filters[2 + axis] - 1) - 1) // attributes.get("strides", [1, 1])[axis] + 1
               for axis, size in enumerate(shape[2:])]
    elements = filters[2] * filters[3]
    add("DeformConv", ("x", Values(shape)), ("w", Values(filters)),
        ("offset", Values((shape[0], 2 * parts * elements, *spatial), -1.5, 1.5)),
        ("b", Values(filters[:1]) if biased else None),
        ("mask", Values((shape[0], parts * elements, *spatial), 0, 1) if masked else None),
        constant=("w", "b"), opset=19, tolerance=SUMS, kernel_shape=list(filters[2:]), group=groups,
        offset_group=parts, **attributes)

for equation, shapes in (("ii->i", [(4, 4)]), ("ii", [(5, 5)]), ("...ii->...i", [(2, 3, 4, 4)]),
                         ("iji,jk->ki", [(3, 4, 3), (4, 5)]), ("iii->i", [(3, 3, 3)])):
    add("Einsum", *((f"x{i}", Values(shape)) for i, shape in enumerate(shapes)), equation=equation, tolerance=SUMS)

for shape in ((1, 1), (2, 2), (3, 3), (2, 3, 4, 4), (5, 5)):
    add("Det", ("x", Values(shape)), tolerance=SUMS)

for order in (1, 2, 3):
    add("GlobalLpPool", ("x", Values((2, 3, 4, 5))), tolerance=SUMS, p=order,
        formula=lambda x, p: (np.abs(x) ** p).sum((2, 3), keepdims=True) ** (1 / p))

# Regions that lie outside the input in part, or wholly.
for mode, corners in (("linear", (-0.3, 0.2, 0.8, 1.4)), ("nearest", (0.1, 1.2, 1.6, -0.4)), ("linear", (1.5, 0, 2, 1))):
    start, end = corners[:2], corners[2:]
    add("Resize", ("x", Values((1, 2, 5, 6))), ("roi", floats(0, 0, *start, 1, 1, *end)), ("scales", None),
        ("sizes", integers(1, 2, 7, 8)), constant=("roi", "sizes"), opset=13, mode=mode, extrapolation_value=10.0,
        coordinate_transformation_mode="tf_crop_and_resize")
