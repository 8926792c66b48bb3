"""A graph under construction: its values, and nodes that ONNX Runtime computes as they are drawn."""
import random
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

OPSET = 23
#: Of what is drawn, no value is larger: products of them stay finite.
LARGEST = 2e4
FLOATS = (np.float32, np.float64)
INTEGERS = (np.int64, np.int32, np.int8, np.uint8)
QUIET = onnxruntime.SessionOptions()
QUIET.log_severity_level = 4
QUIET.intra_op_num_threads = 1
QUIET.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


class Value:
    """A tensor of a graph: its name, its contents, and whether they are exact."""

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
    """No value exists for this node's inputs, or its result would not be comparable."""


def computed(model, inputs):
    """Returns ONNX Runtime's results."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), QUIET, ["CPUExecutionProvider"])
    return session.run(None, inputs)


def info(name, array, sizes=None):
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), sizes or array.shape)


class Drawing:
    """A graph under construction."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.values, self.empty, self.nodes, self.inputs, self.initializers = [], [], [], {}, {}
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
        # Odd eighths: comparisons and roundings of them are unambiguous.
        return ((self.numbers.integers(-16, 16, shape) * 2 + 1) / 8 if low is None else self.numbers.uniform(
            low, high, shape)).astype(dtype)

    def constant(self, array):
        """A known value."""
        array = np.asarray(array)
        name = self.name("c")
        self.initializers[name] = array
        return Value(name, array, True, True)

    def leaf(self, shape, dtype, low=None, high=None, known=None):
        # A declared input size of 0 means any size.
        if 0 in shape:
            raise Impossible
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
        """Returns an existing value, later ones with higher probability, or a new one."""
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
        """Adds a node whose results are comparable."""
        attributes = {key: value for key, value in attributes.items() if value is not None}
        names = [self.name() for _ in range(outputs)]
        made = helper.make_node(kind, ["" if item is None else item.name for item in inputs], names, **attributes)
        given = {item.name: item for item in (*inputs, *bodies) if item is not None}
        model = helper.make_model(helper.make_graph(
            [made], "g", [info(name, item.array) for name, item in given.items()],
            [onnx.ValueInfoProto(name=name) for name in names]), opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
        try:
            arrays = computed(model, {name: item.array for name, item in given.items()})
        # Nodes that ONNX Runtime lacks or rejects are not drawn.
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
        # Empty results are compared, but not used as inputs.
        self.values += [value for value in results if value.array.size]
        self.empty += [value for value in results if not value.array.size]
        return results[0]


def broadcasts(first, second):
    return all(a == b or 1 in (a, b) for a, b in zip(first[::-1], second[::-1]))


KINDS = {}


def kind(weight=1):
    def add(function):
        KINDS[function.__name__] = (function, weight)
        return function
    return add


def known_or_not(g, array):
    """Indices that are known or an input; they are no values to draw from."""
    if g.chance.random() < 0.6:
        return g.constant(array)
    name = g.name("i")
    g.inputs[name] = array
    return Value(name, array, True)


def scalar(g, number):
    return g.constant(np.float32(number))


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
    arrays = {value.name: value.array for value in (*g.values, *g.empty)}
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
