#!/usr/bin/env python3
"""Draws random ONNX graphs, runs them on Kelvin, and compares with ONNX Runtime's CPU.

    dev/random-graphs.py [--seed SEED] [--count COUNT] [--keep FOLDER] [--reasons COUNT] [--only SEED]

Graphs have 5 to 30 nodes over values of rank 0 to 5 of float, double, integer and boolean types, broadcast, with several
outputs; inputs have open sizes in some. Graph number N is drawn from SEED + N alone, so that `--only` draws one again. A
graph that Kelvin computes otherwise is cut down to the fewest nodes that still differ, and kept in FOLDER with its inputs
and what ONNX Runtime says; one that it refuses is counted by what it lacks.

What rounds, compares or orders reads values that are exact: inputs, and what is moved or counted out of them.

The package is this checkout's; the library is $KELVIN_LIBRARY, and .build/release/libKelvinC.so unless set. The Python is
that which runs this, and needs onnx and onnxruntime.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = pathlib.Path(__file__).resolve().parents[1]
OPSET = 23
#: The largest difference that counts as equal, of the output's range.
TOLERANCE = 2e-4
#: Of what is drawn, no value is larger: products of them stay finite.
LARGEST = 2e4
FLOATS = (np.float32, np.float64)
INTEGERS = (np.int64, np.int32, np.int8, np.uint8)
QUIET = onnxruntime.SessionOptions()
QUIET.log_severity_level = 4
QUIET.intra_op_num_threads = 1
QUIET.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


class Value:
    """A tensor of a graph: its name, what it holds, and whether that is exact."""

    def __init__(self, name, array, exact, known=False):
        self.name, self.array, self.exact, self.known = name, array, exact, known

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def shape(self):
        return self.array.shape

    @property
    def rank(self):
        return self.array.ndim


class Impossible(Exception):
    """There is nothing to draw this node from, or what it would give is not fit to compare."""


def computed(model, inputs):
    """What ONNX Runtime gives."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), QUIET, ["CPUExecutionProvider"])
    return session.run(None, inputs)


def info(name, array, sizes=None):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), sizes or array.shape)


class Drawing:
    """A graph under way."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.values, self.nodes, self.inputs, self.initializers = [], [], {}, {}
        self.counter = 0

    # Values

    def name(self, stem="v"):
        self.counter += 1
        return f"{stem}{self.counter}"

    def numbered(self, shape, dtype, low=None, high=None):
        dtype = np.dtype(dtype)
        if dtype == bool:
            return self.numbers.random(shape) < 0.5
        if dtype.kind in "iu":
            low = (0 if dtype.kind == "u" else -6) if low is None else low
            return self.numbers.integers(low, 7 if high is None else high, shape).astype(dtype)
        # Eighths that are no halves: comparisons and roundings of them are clear.
        return ((self.numbers.integers(-16, 16, shape) * 2 + 1) / 8 if low is None else self.numbers.uniform(
            low, high, shape)).astype(dtype)

    def constant(self, array):
        """A known value."""
        array = np.asarray(array)
        name = self.name("c")
        self.initializers[name] = array
        return Value(name, array, True, True)

    def leaf(self, shape, dtype, low=None, high=None, known=None):
        array = self.numbered(tuple(shape), dtype, low, high)
        if known if known is not None else self.chance.random() < 0.4:
            value = self.constant(array)
        else:
            name = self.name("x")
            self.inputs[name] = array
            value = Value(name, array, True)
        self.values.append(value)
        return value

    def shape(self, rank=None):
        rank = self.chance.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5)) if rank is None else rank
        sizes = [self.chance.choice((1, 2, 3, 3, 4, 5, 7)) for _ in range(rank)]
        while np.prod(sizes, dtype=int) > 600:
            sizes[self.chance.randrange(rank)] = 2
        return tuple(sizes)

    def pick(self, test=lambda value: True, dtypes=(np.float32,), exact=False, ranks=None):
        """A value there is, the late ones likelier, or a new one."""
        fits = [
            value for value in self.values
            if value.dtype in dtypes and (value.exact or not exact) and (ranks is None or value.rank in ranks)
            and value.array.size <= 3000 and test(value)]
        if fits and self.chance.random() < 0.85:
            return fits[max(self.chance.randrange(len(fits)), self.chance.randrange(len(fits)))]
        for _ in range(20):
            value = self.leaf(self.shape(None if ranks is None else self.chance.choice(ranks)), self.chance.choice(dtypes))
            if test(value):
                return value
        raise Impossible

    def like(self, value, exact=False, low=None, high=None):
        """A value that broadcasts with another, of its type."""
        fits = [
            other for other in self.values
            if other.dtype == value.dtype and other is not value and (other.exact or not exact) and low is None
            and broadcasts(other.shape, value.shape)]
        if fits and self.chance.random() < 0.7:
            return self.chance.choice(fits)
        shape = [1 if self.chance.random() < 0.3 else size for size in value.shape]
        return self.leaf(shape[self.chance.randint(0, len(shape)) if self.chance.random() < 0.3 else 0:], value.dtype, low, high)

    def axis(self, value):
        axis = self.chance.randrange(value.rank)
        return axis - value.rank if self.chance.random() < 0.3 else axis

    def axes(self, value):
        axes = [axis for axis in range(value.rank) if self.chance.random() < 0.5]
        return [axis - value.rank if self.chance.random() < 0.3 else axis for axis in axes]

    # Nodes

    def node(self, kind, inputs, outputs=1, exact=False, bodies=(), **attributes):
        """Adds a node whose results are fit to compare."""
        attributes = {key: value for key, value in attributes.items() if value is not None}
        names = [self.name() for _ in range(outputs)]
        made = helper.make_node(kind, ["" if item is None else item.name for item in inputs], names, **attributes)
        given = {item.name: item for item in (*inputs, *bodies) if item is not None}
        model = helper.make_model(helper.make_graph(
            [made], "g", [info(name, item.array) for name, item in given.items()],
            [onnx.ValueInfoProto(name=name) for name in names]), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        try:
            arrays = computed(model, {name: item.array for name, item in given.items()})
        # What ONNX Runtime lacks or does not take is not drawn.
        except Exception as error:
            if "--explain" in sys.argv:
                print(kind, str(error)[:300], file=sys.stderr)
            raise Impossible from error
        for array in arrays:
            if not isinstance(array, np.ndarray) or array.size > 20000 or array.dtype.kind not in "fiub":
                raise Impossible
            if array.size and (not np.isfinite(array).all() or np.abs(array.astype(np.float64)).max() > LARGEST):
                raise Impossible
        self.nodes.append(made)
        sound = exact and all(item is None or item.exact for item in (*inputs, *bodies))
        known = all(item is None or item.known for item in (*inputs, *bodies))
        results = [Value(name, array, sound or array.dtype.kind in "iub", known) for name, array in zip(names, arrays)]
        self.values += results
        return results[0]


def broadcasts(first, second):
    return all(a == b or 1 in (a, b) for a, b in zip(first[::-1], second[::-1]))


KINDS = {}


def kind(weight=1):
    def add(function):
        KINDS[function.__name__] = (function, weight)
        return function
    return add


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
    g.node("Slice", [x, *(g.constant(np.clip(np.array(item, dtype=object), bounds.min, bounds.max).astype(kind_of)) for item in inputs)],
           exact=True)


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


def known_or_not(g, array):
    """Indices that are known or an input; they are no values to draw from."""
    if g.chance.random() < 0.6:
        return g.constant(array)
    name = g.name("i")
    g.inputs[name] = array
    return Value(name, array, True)


@kind(2)
def scattered(g):
    x = g.pick(lambda v: v.array.size > 0, ranks=(1, 2, 3, 4))
    reduction = g.chance.choice(("none", "add", "mul", "max", "min"))
    if g.chance.random() < 0.5:
        axis = g.axis(x)
        shape = tuple(
            min(length, 2) if index == axis % x.rank else g.chance.randint(1, length) for index, length in enumerate(x.shape))
        # Each place once: the order of writes to one is nobody's.
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
        return g.node(name, [x, g.constant(np.int64(5)), g.constant(np.float32([0, 1.5]))], axis=g.chance.choice((-1, 0)), exact=True)
    if name == "EyeLike":
        return g.node(name, [g.pick(ranks=(2,))], k=g.chance.randint(-1, 1), exact=True)
    if name == "CumSum":
        x = g.pick(dtypes=(np.float32, np.int64), ranks=(1, 2, 3))
        return g.node(name, [x, g.constant(np.int64(g.axis(x)))], exclusive=g.chance.randint(0, 1), reverse=g.chance.randint(0, 1))
    if name == "ReverseSequence":
        x = g.pick(ranks=(2, 3))
        lengths = g.numbers.integers(1, x.shape[0] + 1, x.shape[1])
        return g.node(name, [x, g.constant(lengths)], time_axis=0, batch_axis=1, exact=True)
    # Equal numbers have an order of their own.
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
        inner, rows, columns = (x.shape[0] if transposed_x else x.shape[1]), x.shape[1 - transposed_x] if not transposed_x else x.shape[1], 4
        rows = x.shape[1] if transposed_x else x.shape[0]
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
    """A picture of some dimensions, each at least 3."""
    fits = [v for v in g.values if v.dtype == np.float32 and v.rank in ranks and min(v.shape[2:]) >= 3]
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
        # A window that does not fit has some result or none in ONNX Runtime, and is an error elsewhere.
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
        # Where the stride is larger than the kernel, ONNX Runtime's result is smaller than the text of the operator says.
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


def scalar(g, number):
    return g.constant(np.float32(number))


def nearly(g, number):
    """A constant that a pattern has, or one that makes it another."""
    return scalar(g, number if g.chance.random() < 0.8 else number * 1.25)


@kind(3)
def spelled_activation(g):
    """Activations as exporters write them out, and others that look alike."""
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
    """A convolution or a product with what is usually fused into it."""
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
    """Transpositions around what does not mind them, and around what does."""
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
    # Steps between eighths: no rounding is a matter of luck.
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


def inner(g, nodes, inputs, outputs):
    return helper.make_graph(nodes, g.name("b"), inputs, outputs)


@kind(2)
def branched(g):
    """An If whose branches read what is outside of them."""
    condition = g.leaf((), np.bool_)
    x = g.pick(ranks=(1, 2, 3))
    left, right = g.name(), g.name()
    blank = lambda name: onnx.ValueInfoProto(name=name, type=helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    then = inner(g, [helper.make_node(g.chance.choice(("Sigmoid", "Neg")), [x.name], [left])], [], [blank(left)])
    other = inner(g, [helper.make_node("Mul", [x.name, x.name], [right])], [], [blank(right)])
    g.node("If", [condition], bodies=[x], then_branch=then, else_branch=other)


@kind(2)
def looped(g):
    """A Loop that carries a value and stacks another."""
    x = g.pick(lambda v: not v.array.size or np.abs(v.array).max() < 50, ranks=(0, 1, 2, 3))
    count = g.constant(np.int64(g.chance.randint(1, 4))) if g.chance.random() < 0.6 else known_or_not(
        g, np.asarray(g.chance.randint(1, 4), np.int64))
    names = {key: g.name() for key in ("step", "go", "on", "carried", "next", "row", "number")}
    body = inner(g, [
        helper.make_node("Identity", [names["go"]], [names["on"]]),
        helper.make_node("Cast", [names["step"]], [names["number"]], to=TensorProto.FLOAT),
        helper.make_node("Add", [names["carried"], names["number"]], [names["next"]]),
        helper.make_node("Tanh", [names["next"]], [names["row"]])], [
            helper.make_tensor_value_info(names["step"], TensorProto.INT64, ()),
            helper.make_tensor_value_info(names["go"], TensorProto.BOOL, ()),
            helper.make_tensor_value_info(names["carried"], TensorProto.FLOAT, x.shape)], [
                helper.make_tensor_value_info(names["on"], TensorProto.BOOL, ()),
                helper.make_tensor_value_info(names["next"], TensorProto.FLOAT, x.shape),
                helper.make_tensor_value_info(names["row"], TensorProto.FLOAT, x.shape)])
    g.node("Loop", [count, g.constant(np.asarray(True)) if g.chance.random() < 0.6 else None, x], 2, body=body)


@kind(1)
def scanned(g):
    x = g.pick(ranks=(2, 3))
    start = g.leaf(x.shape[1:], np.float32)
    names = {key: g.name() for key in ("carried", "row", "next", "out")}
    body = inner(g, [
        helper.make_node("Add", [names["carried"], names["row"]], [names["next"]]),
        helper.make_node("Sigmoid", [names["next"]], [names["out"]])], [
            info(names["carried"], start.array), info(names["row"], start.array)], [
                info(names["next"], start.array), info(names["out"], start.array)])
    g.node("Scan", [start, x], 2, body=body, num_scan_inputs=1, scan_input_directions=[g.chance.randint(0, 1)])


def drawn(seed):
    """A model and its inputs."""
    g = Drawing(seed)
    names = list(KINDS)
    weights = [KINDS[name][1] for name in names]
    wanted, tries = g.chance.randint(5, 30), 0
    g.leaf(g.shape(g.chance.choice((2, 3, 4))), np.float32, known=False)
    while len(g.nodes) < wanted and tries < 200:
        tries += 1
        try:
            KINDS[g.chance.choices(names, weights)[0]][0](g)
        except Impossible:
            continue
    made = {name for node in g.nodes for name in node.output}
    read = set(outer_reads(g.nodes))
    arrays = {value.name: value.array for value in g.values}
    outputs = [name for node in g.nodes for name in node.output if name not in read or g.chance.random() < 0.15]
    outputs = [name for name in outputs if name in arrays and name in made] or [g.nodes[-1].output[0]]
    opens = g.chance.random() < 0.25
    return assembled(g.nodes, {n: a for n, a in g.inputs.items() if n in read}, g.initializers, outputs, arrays, opens), {
        n: a for n, a in g.inputs.items() if n in read}


def outer_reads(nodes):
    """Names that nodes and the graphs inside them read."""
    for node in nodes:
        yield from node.input
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield from outer_reads(attribute.g.node)


def assembled(nodes, inputs, initializers, outputs, arrays, opens=False):
    read = set(outer_reads(nodes))
    sizes = lambda name, array: [f"{name}_{index}" for index in range(array.ndim)] if opens else array.shape
    graph = helper.make_graph(
        nodes, "random", [info(name, array, sizes(name, array)) for name, array in inputs.items()],
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(arrays[name].dtype), [
            f"{name}_{index}" for index in range(arrays[name].ndim)] if opens else arrays[name].shape) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in initializers.items() if name in read])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def differ(found, wanted):
    """How a result differs from what it should be, or None."""
    found = np.asarray(found)
    if found.shape != wanted.shape:
        return f"shape {found.shape} for {wanted.shape}"
    if found.dtype != wanted.dtype:
        return f"type {found.dtype} for {wanted.dtype}"
    if not wanted.size:
        return None
    if wanted.dtype.kind != "f":
        return None if np.array_equal(found, wanted) else f"{int((found != wanted).sum())} of {wanted.size} differ"
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "not a number in other places"
    scale = max(np.ptp(b[np.isfinite(b)]) if np.isfinite(b).any() else 0, np.abs(b[np.isfinite(b)]).max(initial=0) * 0.05, 1e-2)
    with np.errstate(invalid="ignore"):
        apart = np.where(a == b, 0, np.abs(a - b))
    worst = np.nanmax(apart, initial=0) / scale
    return None if worst <= TOLERANCE else f"{worst:.1e} of the range"


def tried(model, inputs):
    """How a graph ends on Kelvin: passed, differs, failed or refused, and what was said."""
    import kelvin
    from kelvin.onnx import InferenceSession, SessionOptions
    try:
        wanted = computed(model, inputs)
    # Reduction tries graphs that are none.
    except Exception as error:
        return "invalid", str(error)
    options = SessionOptions()
    options.kelvin = {"precision": "full", "no_cache": True}
    try:
        found = InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, inputs)
    except kelvin.UnsupportedError as error:
        return "refused", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    for item, got, right in zip(model.graph.output, found, wanted):
        if (said := differ(got, right)) is not None:
            return "differs", f"{item.name}: {said}"
    return "passed", ""


def isolated(model, inputs):
    """As `tried`, in a process that may die."""
    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder), model, inputs)
        try:
            ran = subprocess.run(
                [sys.executable, __file__, "--try", folder], capture_output=True, text=True, check=False, timeout=60)
        except subprocess.TimeoutExpired:
            return "failed", "did not end within 60 s"
        if ran.returncode:
            return "failed", f"ended with {ran.returncode}: {ran.stderr[-300:]}"
        return tuple(json.loads(ran.stdout.splitlines()[-1]))


def save(folder, model, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "inputs.npz", **inputs)


def restore(folder):
    with np.load(folder / "inputs.npz") as file:
        return onnx.load(folder / "model.onnx"), {name: file[name] for name in file.files}


def reduced_to(model, inputs, kinds, attempt):
    """The fewest nodes that still end so: what is cut off becomes an input."""
    arrays = everything(model, inputs)
    opens = any(size.dim_param for item in model.graph.input for size in item.type.tensor_type.shape.dim)
    constants = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    best = None

    def ends(nodes, outputs, opens):
        made = {name for node in nodes for name in node.output}
        read = set(outer_reads(nodes))
        given = {n: a for n, a in arrays.items() if n in read and n not in made and n not in constants}
        candidate = assembled(nodes, given, constants, outputs, arrays, opens)
        return (candidate, given) if attempt(candidate, given)[0] in kinds else None

    nodes, outputs = list(model.graph.node), [item.name for item in model.graph.output]
    for name in outputs:
        if (kept := ends(nodes, [name], opens)) is not None:
            best, outputs = kept, [name]
            break
    changed = True
    while changed and len(nodes) > 1:
        changed = False
        for index in reversed(range(len(nodes))):
            rest = nodes[:index] + nodes[index + 1:]
            made = {name for node in rest for name in node.output}
            read = set(outer_reads(rest))
            leaves = [name for name in outputs if name in made] or [
                name for node in rest for name in node.output if name not in read and name in arrays]
            if leaves and (kept := ends(rest, leaves, opens)) is not None:
                best, nodes, outputs, changed = kept, rest, leaves, True
    if opens and (kept := ends(nodes, outputs, False)) is not None:
        best = kept
    return best or (model, inputs)


def everything(model, inputs):
    """All values of a graph, by ONNX Runtime."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    names = [name for node in model.graph.node for name in node.output if name]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return {**inputs, **dict(zip(names, computed(copy, inputs)))}


def work(arguments):
    """One process of several graphs: says before each which it is."""
    for number in range(arguments.first, arguments.first + arguments.count):
        print(json.dumps({"begun": number}), flush=True)
        model, inputs = drawn(arguments.seed + number)
        outcome, said = tried(model, inputs)
        operators = sorted({node.op_type for node in model.graph.node})
        print(json.dumps({"graph": number, "outcome": outcome, "said": said, "nodes": len(model.graph.node),
                          "operators": operators}), flush=True)


def measure(arguments):
    """Graphs in processes of many; what dies takes one graph with it."""
    counts, reasons, operators, faults = collections.Counter(), collections.Counter(), collections.Counter(), []
    number, end = 0, arguments.count
    while number < end:
        chunk = min(100, end - number)
        with subprocess.Popen(
                [sys.executable, __file__, "--work", str(number), "--count", str(chunk), "--seed", str(arguments.seed)],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            begun = None
            for line in process.stdout:
                row = json.loads(line)
                if "begun" in row:
                    begun = row["begun"]
                    continue
                counts[row["outcome"]] += 1
                operators.update(row["operators"])
                begun = None
                if row["outcome"] == "refused":
                    reasons[row["said"].strip()] += 1
                elif row["outcome"] != "passed":
                    faults.append((row["graph"], row["outcome"], row["said"]))
                    print(f"graph {row['graph']}: {row['outcome']}: {row['said'][:300]}", flush=True)
        if begun is not None:
            counts["failed"] += 1
            faults.append((begun, "failed", f"the process ended with {process.returncode}"))
            print(f"graph {begun}: the process ended with {process.returncode}", flush=True)
            number = begun + 1
        else:
            number += chunk
    for graph, outcome, said in faults:
        model, inputs = drawn(arguments.seed + graph)
        attempt = isolated if "ended" in said else tried
        least, given = reduced_to(model, inputs, (outcome,), attempt)
        folder = arguments.keep / f"{arguments.seed + graph}"
        save(folder, least, given)
        print(f"{folder}: {', '.join(node.op_type for node in least.graph.node)}: {attempt(least, given)[1][:300]}", flush=True)
    for reason, count in reasons.most_common(arguments.reasons):
        print(f"    {count} × {reason[:300]}")
    print(f"seed {arguments.seed}, {arguments.count} graphs of {len(operators)} operators: " + ", ".join(
        f"{count} {outcome}" for outcome, count in counts.most_common()))
    return counts["differs"] + counts["failed"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int)
    arguments.add_argument("--count", type=int, default=2000)
    arguments.add_argument("--keep", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "random-graphs")
    arguments.add_argument("--reasons", type=int, default=20)
    arguments.add_argument("--only", type=int)
    arguments.add_argument("--explain", action="store_true")
    arguments.add_argument("--work", dest="first", type=int)
    arguments.add_argument("--try", dest="tried", type=pathlib.Path)
    arguments = arguments.parse_args()
    os.environ.setdefault("KELVIN_LIBRARY", str(ROOT / ".build/release/libKelvinC.so"))
    sys.path.insert(0, str(ROOT / "Python"))
    if arguments.tried:
        return print(json.dumps(tried(*restore(arguments.tried))))
    if arguments.only is not None:
        model, inputs = drawn(arguments.only)
        save(arguments.keep / str(arguments.only), model, inputs)
        print(onnx.printer.to_text(model))
        return print(*tried(model, inputs))
    if arguments.seed is None:
        arguments.seed = random.randrange(1_000_000) * 10_000
    if arguments.first is not None:
        return work(arguments)
    print(f"seed {arguments.seed}", flush=True)
    if measure(arguments):
        sys.exit(1)


if __name__ == "__main__":
    main()
