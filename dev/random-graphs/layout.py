"""Nodes that move, find, count and add up elements."""
import numpy as np
from onnx import TensorProto, numpy_helper

from drawing import Impossible, Value, kind, known_or_not


ANY = (np.float32, np.float32, np.int64, np.int32, np.bool_)


@kind(4)
def reshaped(g):
    x = g.pick(lambda v: v.array.size > 0, dtypes=ANY)
    name = g.chance.choice(("Reshape", "Reshape", "Flatten", "Unsqueeze", "Squeeze", "Transpose", "Transpose"))
    if name == "Reshape":
        sizes, rest = [], x.array.size
        for divisor in (2, 3, 5, 7, 4):
            if rest % divisor == 0 and g.chance.random() < 0.5:
                sizes.append(divisor)
                rest //= divisor
        sizes.append(rest)
        g.chance.shuffle(sizes)
        if g.chance.random() < 0.4:
            sizes[g.chance.randrange(len(sizes))] = -1
        return g.node(name, [x, g.constant(np.int64(sizes))], exact=True)
    if name == "Flatten":
        return g.node(name, [x], axis=g.chance.randint(-x.rank, x.rank), exact=True)
    if name == "Unsqueeze":
        count = g.chance.randint(1, 2)
        if x.rank + count > 5:
            raise Impossible
        return g.node(name, [x, g.constant(np.int64(g.chance.sample(range(x.rank + count), count)))], exact=True)
    if name == "Squeeze":
        ones = [axis for axis, size in enumerate(x.shape) if size == 1]
        if g.chance.random() < 0.3:
            return g.node(name, [x], exact=True)
        if not ones:
            raise Impossible
        return g.node(name, [x, g.constant(np.int64([g.chance.choice(ones)]))], exact=True)
    order = list(range(x.rank))
    g.chance.shuffle(order)
    g.node(name, [x], perm=order if x.rank and g.chance.random() < 0.9 else None, exact=True)


@kind(3)
def shaped_by_values(g):
    """Sizes that are computed from those of another value, as exporters write them."""
    x = g.pick(lambda v: v.array.size > 0, dtypes=ANY, ranks=(1, 2, 3, 4))
    sizes = g.node("Shape", [x], start=g.chance.choice((None, 0, -1)), end=None)
    choice = g.chance.random()
    if choice < 0.3:
        whole = g.node("Shape", [x])
        others = [v for v in g.values if v.array.size == x.array.size and v is not x and v.dtype.kind == "f"]
        if others:
            return g.node("Reshape", [g.chance.choice(others), whole], exact=True)
        return g.node("ConstantOfShape", [whole], value=numpy_helper.from_array(np.array([3], np.float32)))
    if choice < 0.6:
        first = g.node("Gather", [g.node("Shape", [x]), g.constant(np.int64(0))])
        first = g.node("Unsqueeze", [first, g.constant(np.int64([0]))])
        joined = g.node("Concat", [first, g.constant(np.int64([-1]))], axis=0)
        return g.node("Reshape", [x, joined], exact=True)
    if choice < 0.8:
        return g.node("Range", [g.constant(np.int64(0)), g.node("Size", [x]), g.constant(np.int64(2))])
    g.node("Cast", [sizes], to=TensorProto.FLOAT, exact=True)


@kind(3)
def joined(g):
    x = g.pick(dtypes=ANY, ranks=(1, 2, 3, 4, 5))
    axis = g.axis(x)
    at = axis % x.rank
    fits = [
        v for v in g.values if v.dtype == x.dtype and v.rank == x.rank
        and v.shape[:at] + v.shape[at + 1:] == x.shape[:at] + x.shape[at + 1:]]
    g.node("Concat", [x, *g.chance.choices(fits, k=g.chance.randint(0, 2))], axis=axis, exact=True)


@kind(2)
def split(g):
    x = g.pick(dtypes=ANY, ranks=(1, 2, 3, 4, 5))
    axis = g.axis(x)
    size = x.shape[axis]
    if size < 2:
        raise Impossible
    if g.chance.random() < 0.5:
        first = g.chance.randint(1, size - 1)
        return g.node("Split", [x, g.constant(np.int64([first, size - first]))], 2, axis=axis, exact=True)
    count = g.chance.randint(2, min(size, 4))
    if (count - 1) * -(-size // count) >= size:
        raise Impossible
    g.node("Split", [x], count, axis=axis, num_outputs=count, exact=True)


@kind(3)
def sliced(g):
    x = g.pick(dtypes=ANY, ranks=(1, 2, 3, 4, 5))
    axes = g.axes(x) or [0]
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = g.chance.choice((1, 1, 2, -1, -2, 3))
        start = g.chance.randint(-size, size - 1) if step > 0 else g.chance.choice((size - 1, -1, 100))
        starts.append(start)
        ends.append(g.chance.choice((size, 2 ** 63 - 1, 1000)) if step > 0 else g.chance.choice((-1000, -2 ** 63, -size - 1)))
        steps.append(step)
    inputs = [starts, ends, axes] + ([steps] if any(step != 1 for step in steps) or g.chance.random() < 0.3 else [])
    kind_of = g.chance.choice((np.int64, np.int64, np.int32))
    bounds = np.iinfo(kind_of)
    known = [g.constant(np.clip(np.array(item, dtype=object), bounds.min, bounds.max).astype(kind_of)) for item in inputs]
    g.node("Slice", [x, *known], exact=True)


@kind(4)
def gathered(g):
    name = g.chance.choice(("Gather", "Gather", "GatherElements", "GatherND"))
    x = g.pick(lambda v: v.array.size > 0, dtypes=ANY, ranks=(1, 2, 3, 4))
    type_of = g.chance.choice((np.int64, np.int32)) if name != "GatherND" else np.int64
    if name == "GatherND":
        batch = g.chance.randint(0, x.rank - 1)
        depth = g.chance.randint(1, x.rank - batch)
        shape = (*x.shape[:batch], g.chance.randint(1, 3), depth)
        rows = [g.numbers.integers(-size, size, shape[:-1]) for size in x.shape[batch:batch + depth]]
        return g.node(name, [x, known_or_not(g, np.stack(rows, -1).astype(type_of))], batch_dims=batch, exact=True)
    axis = g.axis(x)
    size = x.shape[axis]
    shape = g.shape(g.chance.choice((0, 1, 1, 2))) if name == "Gather" else tuple(
        g.chance.randint(1, 4) if index == axis % x.rank else g.chance.randint(1, length)
        for index, length in enumerate(x.shape))
    g.node(name, [x, known_or_not(g, g.numbers.integers(-size, size, shape).astype(type_of))], axis=axis, exact=True)


@kind(2)
def scattered(g):
    x = g.pick(lambda v: v.array.size > 0, ranks=(1, 2, 3, 4))
    reduction = g.chance.choice(("none", "add", "mul", "max", "min"))
    if g.chance.random() < 0.5:
        axis = g.axis(x)
        shape = tuple(
            min(length, 2) if index == axis % x.rank else g.chance.randint(1, length) for index, length in enumerate(x.shape))
        # Each index occurs once, because the order of writes to one element is not defined.
        rows = np.argsort(g.numbers.random((*shape[:axis % x.rank], x.shape[axis], *shape[axis % x.rank + 1:])), axis)
        indices = np.take(rows, range(shape[axis]), axis).astype(np.int64)
        return g.node("ScatterElements", [x, known_or_not(g, indices), g.leaf(shape, np.float32)], axis=axis, reduction=reduction)
    depth = g.chance.randint(1, x.rank)
    places = np.prod(x.shape[:depth], dtype=int)
    flat = g.numbers.permutation(places)[:g.chance.randint(1, 3)]
    indices = np.stack(np.unravel_index(flat, x.shape[:depth]), -1).astype(np.int64)
    g.node("ScatterND", [x, known_or_not(g, indices), g.leaf((len(flat), *x.shape[depth:]), np.float32)], reduction=reduction)


@kind(3)
def spread(g):
    name = g.chance.choice(("Expand", "Tile", "Pad", "Pad"))
    x = g.pick(lambda v: 0 < v.array.size < 400, dtypes=ANY if name != "Pad" else (np.float32, np.int64), ranks=(1, 2, 3, 4))
    if name == "Expand":
        sizes = [size if size > 1 else g.chance.choice((1, 3)) for size in x.shape]
        if g.chance.random() < 0.3 and len(sizes) < 5:
            sizes.insert(0, 2)
        elif g.chance.random() < 0.3:
            sizes[0] = 1
        return g.node(name, [x, g.constant(np.int64(sizes))], exact=True)
    if name == "Tile":
        return g.node(name, [x, g.constant(np.int64([g.chance.choice((1, 1, 2, 3)) for _ in x.shape]))], exact=True)
    mode = g.chance.choice(("constant", "constant", "reflect", "edge", "wrap"))
    bound = lambda size: g.chance.randint(0, 2 if mode in ("constant", "edge") else max(size - 1, 0))
    pads = [bound(size) for size in x.shape] + [bound(size) for size in x.shape]
    if mode in ("constant", "edge") and g.chance.random() < 0.2:
        at = g.chance.randrange(len(pads))
        pads[at] = -1 if x.shape[at % x.rank] > 1 and mode == "constant" else pads[at]
    inputs = [x, g.constant(np.int64(pads))]
    if mode == "constant" and g.chance.random() < 0.5:
        inputs.append(g.constant(np.asarray(2, x.dtype)))
    g.node(name, inputs, mode=mode, exact=True)


@kind(1)
def blocks(g):
    x = g.pick(ranks=(4,))
    if g.chance.random() < 0.5 and x.shape[1] % 4 == 0:
        return g.node("DepthToSpace", [x], blocksize=2, mode=g.chance.choice(("DCR", "CRD")), exact=True)
    x = g.leaf((1, g.chance.choice((1, 2)), 4, 6), np.float32) if x.shape[2] % 2 or x.shape[3] % 2 else x
    g.node("SpaceToDepth", [x], blocksize=2, exact=True)


@kind(2)
def triangles(g):
    x = g.pick(dtypes=(np.float32, np.int64), ranks=(2, 3, 4))
    inputs = [x] + ([g.constant(np.int64(g.chance.randint(-2, 2)))] if g.chance.random() < 0.6 else [])
    g.node("Trilu", inputs, upper=g.chance.randint(0, 1), exact=True)


@kind(2)
def of_data_sizes(g):
    name = g.chance.choice(("NonZero", "Compress", "Unique"))
    if name == "NonZero":
        return g.node(name, [g.pick(dtypes=(np.bool_, np.int64), exact=True, ranks=(1, 2, 3))])
    if name == "Compress":
        x = g.pick(dtypes=(np.float32, np.int64), ranks=(1, 2, 3))
        axis = g.axis(x)
        keep = g.numbers.random(x.shape[axis]) < 0.6
        return g.node(name, [x, known_or_not(g, keep)], axis=axis, exact=True)
    x = g.pick(dtypes=(np.float32, np.int64), exact=True, ranks=(1, 2))
    g.node(name, [x], g.chance.choice((1, 4)), sorted=g.chance.randint(0, 1), exact=True)


@kind(2)
def counted(g):
    name = g.chance.choice(("OneHot", "TopK", "ArgMax", "ArgMin", "CumSum", "EyeLike", "ReverseSequence"))
    if name == "OneHot":
        x = g.leaf(g.shape(g.chance.choice((0, 1, 2))), np.int64, -3, 5)
        return g.node(name, [x, g.constant(np.int64(5)), g.constant(np.float32([0, 1.5]))], axis=g.chance.choice((-1, 0)),
                      exact=True)
    if name == "EyeLike":
        return g.node(name, [g.pick(ranks=(2,))], k=g.chance.randint(-1, 1), exact=True)
    if name == "CumSum":
        x = g.pick(dtypes=(np.float32, np.int64), ranks=(1, 2, 3))
        return g.node(name, [x, g.constant(np.int64(g.axis(x)))], exclusive=g.chance.randint(0, 1),
                      reverse=g.chance.randint(0, 1))
    if name == "ReverseSequence":
        x = g.pick(ranks=(2, 3))
        lengths = g.numbers.integers(1, x.shape[0] + 1, x.shape[1])
        return g.node(name, [x, g.constant(lengths)], time_axis=0, batch_axis=1, exact=True)
    # The order of equal numbers is not defined, so all numbers differ.
    shape = g.shape(g.chance.choice((1, 2, 3)))
    name_of, array = g.name("x"), g.numbers.permutation(int(np.prod(shape))).reshape(shape).astype(np.float32) / 8
    g.inputs[name_of] = array
    x = Value(name_of, array, True)
    axis = g.axis(x)
    if name == "TopK":
        count = g.chance.randint(1, x.shape[axis])
        return g.node(name, [x, g.constant(np.int64([count]))], 2, axis=axis, largest=g.chance.randint(0, 1), exact=True)
    g.node(name, [x], axis=axis, keepdims=g.chance.randint(0, 1), select_last_index=g.chance.randint(0, 1))


@kind(5)
def reduced(g):
    name = g.chance.choice(("Sum", "Sum", "Mean", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare", "LogSum"))
    dtypes = (np.float32, np.float32, np.int32, np.int64) if name in ("Sum", "Max", "Min", "Prod") else (np.float32,)
    x = g.pick(dtypes=dtypes)
    if name == "LogSum":
        x = g.leaf(x.shape, np.float32, 0.5, 2)
    axes = g.axes(x)
    inputs = [x] + ([g.constant(np.int64(axes))] if axes or g.chance.random() < 0.4 else [])
    g.node("Reduce" + name, inputs, keepdims=g.chance.choice((None, 0, 1)), noop_with_empty_axes=g.chance.choice((None, 0, 1)),
           exact=name in ("Max", "Min"))
