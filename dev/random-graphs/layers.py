"""Nodes that are layers of networks."""
import numpy as np

from drawing import Impossible, kind


@kind(4)
def products(g):
    choice = g.chance.random()
    if choice < 0.6:
        x = g.pick(ranks=(1, 2, 2, 3, 4))
        inner, columns = x.shape[-1], g.chance.choice((1, 3, 4, 8))
        shape = g.chance.choice(((inner, columns), (inner,), (*x.shape[:-2], inner, columns), (1, 1, inner, columns)))
        return g.node("MatMul", [x, g.leaf(shape, np.float32)])
    if choice < 0.85:
        x = g.pick(ranks=(2,))
        transposed_x, transposed_y = g.chance.randint(0, 1), g.chance.randint(0, 1)
        (rows, inner), columns = x.shape[::-1] if transposed_x else x.shape, 4
        y = g.leaf((columns, inner) if transposed_y else (inner, columns), np.float32)
        inputs = [x, y]
        if g.chance.random() < 0.7:
            inputs.append(g.leaf(g.chance.choice(((columns,), (1, columns), (rows, 1), (rows, columns), ())), np.float32))
        return g.node("Gemm", inputs, transA=transposed_x, transB=transposed_y, alpha=g.chance.choice((None, 0.5)),
                      beta=g.chance.choice((None, 2.0)))
    x = g.pick(ranks=(2, 3))
    letters = "bij"[3 - x.rank:]
    y = g.leaf((x.shape[-1], 3), np.float32)
    g.node("Einsum", [x, y], equation=g.chance.choice((
        f"{letters},jk->{letters[:-1]}k", f"{letters},jk->k{letters[:-1]}", f"{letters},jk->{letters[0]}k", f"{letters},jk")))


def spatial(g, ranks=(3, 4, 4, 5)):
    """An image of some dimensions, each at least 3."""
    fits = [v for v in g.values if v.dtype == np.float32 and v.rank in ranks and v.array.size and min(v.shape[2:]) >= 3]
    if fits and g.chance.random() < 0.7:
        return g.chance.choice(fits)
    rank = g.chance.choice(ranks)
    return g.leaf((g.chance.choice((1, 2)), g.chance.choice((1, 2, 3, 4, 8)), *(
        g.chance.choice((3, 4, 5, 6)) for _ in range(rank - 2))), np.float32, known=False)


def window(g, x):
    dimensions = x.rank - 2
    kernel = [g.chance.randint(1, 3) for _ in range(dimensions)]
    options = {"kernel_shape": kernel}
    if g.chance.random() < 0.5:
        options["strides"] = [g.chance.randint(1, 2) for _ in kernel]
    automatic = g.chance.random()
    if automatic < 0.15:
        options["auto_pad"] = g.chance.choice(("SAME_UPPER", "SAME_LOWER", "VALID"))
    elif automatic < 0.6:
        options["pads"] = [g.chance.randint(0, size - 1) for size in kernel] + [g.chance.randint(0, size - 1) for size in kernel]
    if g.chance.random() < 0.2 and automatic >= 0.15:
        options["dilations"] = [g.chance.randint(1, 2) for _ in kernel]
    pads = options.get("pads", [0] * 2 * dimensions)
    for axis, (size, dilation) in enumerate(zip(kernel, options.get("dilations", [1] * dimensions))):
        # For a window that does not fit, ONNX Runtime gives some result or none, and other runtimes give an error.
        if (size - 1) * dilation >= x.shape[axis + 2] + pads[axis] + pads[axis + dimensions]:
            raise Impossible
    return kernel, options


@kind(4)
def convolved(g):
    x = spatial(g)
    kernel, options = window(g, x)
    channels = x.shape[1]
    groups = g.chance.choice([count for count in (1, 1, 2, channels) if channels % count == 0])
    outputs = groups * g.chance.choice((1, 2, 3))
    transposed = g.chance.random() < 0.3
    if transposed and options.get("auto_pad", "").startswith("SAME") and max(options.get("strides", [1])) > 1:
        # If the stride is larger than the kernel, ONNX Runtime's result is smaller than the specification of the
        # operator says.
        options["auto_pad"] = "VALID"
    shape = (channels, outputs // groups, *kernel) if transposed else (outputs, channels // groups, *kernel)
    known = g.chance.random() < 0.85
    inputs = [x, g.leaf(shape, np.float32, known=known)]
    if g.chance.random() < 0.6:
        inputs.append(g.leaf((outputs,), np.float32, known=known))
    if transposed and "strides" in options and "auto_pad" not in options and g.chance.random() < 0.4:
        options["output_padding"] = [g.chance.randint(0, stride - 1) for stride in options["strides"]]
    g.node("ConvTranspose" if transposed else "Conv", inputs, group=groups, **options)


@kind(3)
def pooled(g):
    x = spatial(g)
    name = g.chance.choice(("MaxPool", "AveragePool", "AveragePool", "LpPool", "GlobalAveragePool", "GlobalMaxPool"))
    if name.startswith("Global"):
        return g.node(name, [x], exact=name == "GlobalMaxPool")
    _, options = window(g, x)
    if name != "LpPool" and "auto_pad" not in options:
        options["ceil_mode"] = g.chance.randint(0, 1)
    if name == "AveragePool":
        options["count_include_pad"] = g.chance.randint(0, 1)
    if name == "MaxPool" and g.chance.random() < 0.3 and x.exact and len(np.unique(x.array)) == x.array.size:
        return g.node(name, [x], 2, exact=True, **options)
    g.node(name, [x], exact=name == "MaxPool", **options)


@kind(4)
def normalized(g):
    name = g.chance.choice((
        "BatchNormalization", "InstanceNormalization", "LayerNormalization", "LayerNormalization", "GroupNormalization",
        "RMSNormalization", "LRN", "Softmax", "Softmax", "LogSoftmax", "LpNormalization", "MeanVarianceNormalization"))
    if name in ("Softmax", "LogSoftmax"):
        x = g.pick(ranks=(1, 2, 3, 4))
        return g.node(name, [x], axis=g.chance.choice((None, g.axis(x))))
    if name in ("LayerNormalization", "RMSNormalization"):
        x = g.pick(lambda v: v.array.size and v.array.std() > 0.1, ranks=(2, 3, 4))
        axis = g.chance.randint(1, x.rank - 1)
        shape = x.shape[axis:]
        if np.prod(shape) < 3:
            raise Impossible
        inputs = [x, g.leaf(shape, np.float32)]
        if name == "LayerNormalization" and g.chance.random() < 0.7:
            inputs.append(g.leaf(shape, np.float32))
        return g.node(name, inputs, axis=axis - (x.rank if g.chance.random() < 0.5 else 0), epsilon=1e-2)
    x = spatial(g, (3, 4)) if name not in ("LRN", "MeanVarianceNormalization") else spatial(g, (4,))
    channels = x.shape[1]
    if name == "LRN":
        return g.node(name, [x], size=g.chance.choice((1, 3, 5)), alpha=0.1, bias=1.5)
    if name in ("LpNormalization",):
        return g.node(name, [g.leaf(x.shape, np.float32, 0.3, 2)], axis=g.axis(x), p=g.chance.randint(1, 2))
    if name == "MeanVarianceNormalization":
        return g.node(name, [g.leaf((2, 3, 4, 5), np.float32)])
    vector = lambda low=None, high=None: g.leaf((channels,), np.float32, low, high, known=g.chance.random() < 0.8)
    if name == "BatchNormalization":
        return g.node(name, [x, vector(), vector(), vector(), vector(0.5, 2)], epsilon=1e-2)
    if name == "InstanceNormalization":
        return g.node(name, [x, vector(), vector()], epsilon=1e-2)
    groups = g.chance.choice([count for count in (1, 2, channels) if channels % count == 0])
    g.node(name, [x, vector(), vector()], num_groups=groups, epsilon=1e-2)


@kind(2)
def resized(g):
    x = spatial(g, (3, 4, 4, 5))
    mode = g.chance.choice(("nearest", "linear", "linear", "cubic")) if x.rank == 4 else g.chance.choice(("nearest", "linear"))
    scales = [1.0, 1.0] + [g.chance.choice((0.5, 2.0, 1.5, 1.0, 3.0)) for _ in x.shape[2:]]
    options = dict(mode=mode, coordinate_transformation_mode=g.chance.choice(
        ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric")))
    if mode == "nearest":
        options.update(coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    if mode == "cubic":
        options["cubic_coeff_a"] = g.chance.choice((-0.75, -0.5))
    if g.chance.random() < 0.5:
        return g.node("Resize", [x, None, g.constant(np.float32(scales))], **options)
    sizes = [int(size * scale) for size, scale in zip(x.shape, scales)]
    g.node("Resize", [x, None, None, g.constant(np.int64(sizes))], **options)


@kind(1)
def sampled(g):
    x = spatial(g, (4, 5))
    grid = g.leaf((x.shape[0], *(3 for _ in x.shape[2:]), x.rank - 2), np.float32, -1.2, 1.2)
    g.node("GridSample", [x, grid], mode=g.chance.choice(("linear", "linear", "cubic")) if x.rank == 4 else "linear",
           padding_mode=g.chance.choice(("zeros", "border", "reflection")), align_corners=g.chance.randint(0, 1))


@kind(2)
def recurrent(g):
    name, gates = g.chance.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    x = g.pick(ranks=(3,))
    hidden, directions = g.chance.choice((2, 3)), g.chance.choice((1, 1, 2))
    weight = lambda *shape: g.leaf(shape, np.float32, -0.5, 0.5, known=g.chance.random() < 0.9)
    inputs = [x, weight(directions, gates * hidden, x.shape[2]), weight(directions, gates * hidden, hidden)]
    if g.chance.random() < 0.7:
        inputs.append(weight(directions, 2 * gates * hidden))
        if g.chance.random() < 0.4:
            inputs += [g.constant(g.numbers.integers(1, x.shape[0] + 1, x.shape[1]).astype(np.int32))
                       if g.chance.random() < 0.5 else None, weight(directions, x.shape[1], hidden)]
    direction = "bidirectional" if directions == 2 else g.chance.choice(("forward", "reverse"))
    options = {"linear_before_reset": g.chance.randint(0, 1)} if name == "GRU" else {}
    g.node(name, inputs, 3 if name == "LSTM" else 2, hidden_size=hidden, direction=direction, **options)


@kind(2)
def quantized(g):
    x = g.pick(exact=True, ranks=(1, 2, 3, 4))
    dtype = g.chance.choice((np.uint8, np.int8))
    if g.chance.random() < 0.5:
        axis = g.axis(x)
        scale = g.constant((g.numbers.integers(1, 4, x.shape[axis]) / 16).astype(np.float32))
        zero = g.constant(g.numbers.integers(0, 5, x.shape[axis]).astype(dtype))
    else:
        axis, scale, zero = None, g.constant(np.float32(3 / 16)), g.constant(np.asarray(2, dtype))
    whole = g.node("QuantizeLinear", [x, scale, zero], axis=axis)
    g.node("DequantizeLinear", [whole, scale, zero], axis=axis)


@kind(1)
def of_integers(g):
    x = g.pick(dtypes=(np.uint8, np.int8), ranks=(2, 3))
    y = g.leaf((x.shape[-1], 4), x.dtype, known=g.chance.random() < 0.7)
    inputs = [x, y] + ([g.constant(np.asarray(2, x.dtype))] if g.chance.random() < 0.5 else [])
    g.node("MatMulInteger", inputs)


@kind(1)
def attention(g):
    heads, size = 2, 4
    rows, columns = g.chance.choice((3, 5)), g.chance.choice((3, 5, 6))
    leaf = lambda length: g.leaf((1, heads, length, size), np.float32, -1, 1, known=False)
    query, key, value = leaf(rows), leaf(columns), leaf(columns)
    if g.chance.random() < 0.5:
        return g.node("Attention", [query, key, value], is_causal=g.chance.randint(0, 1), scale=g.chance.choice((None, 0.3)))
    turned = g.node("Transpose", [key], perm=[0, 1, 3, 2], exact=True)
    scores = g.node("Mul", [g.node("MatMul", [query, turned]), g.constant(np.float32(0.5))])
    if g.chance.random() < 0.5:
        scores = g.node("Add", [scores, g.leaf((1, 1, rows, columns), np.float32)])
    g.node("MatMul", [g.node("Softmax", [scores], axis=-1), value])
