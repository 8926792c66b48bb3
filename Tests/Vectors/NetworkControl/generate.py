"""Writes networks with branches and loops, made by coremltools' NeuralNetworkBuilder, and what they must compute.

`<case>.mlmodel` is a network of the input `x`, three numbers, and perhaps `n`, one number; `<case>_<n>.kv` are its
inputs and outputs in the format of ../README.md. `Refused/` has networks that Kelvin does not run. The expected values are those of the same program in NumPy.

    .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python Tests/Vectors/NetworkControl/generate.py
"""

import pathlib
import sys

import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import kv  # noqa: E402

CASES = []
INPUTS = ([1, 2, 3], [-1, -2, 0.5], [0.25, 0, -0.125])


class Network:
    """A builder whose layers are lines: `net.add("y", "x", 2)` is `y = x + 2`, and names get numbers of their own."""

    count = 0

    def __init__(self, builder):
        self.builder = builder

    def name(self, kind):
        Network.count += 1
        return f"{kind}_{Network.count}"

    def add(self, output, x, number):
        self.builder.add_elementwise(self.name("add"), [x], output, "ADD", alpha=number)

    def scale(self, output, x, number):
        self.builder.add_elementwise(self.name("scale"), [x], output, "MULTIPLY", alpha=number)

    def sum(self, output, x, y):
        self.builder.add_add_broadcastable(self.name("sum"), [x, y], output)

    def total(self, output, x):
        self.builder.add_reduce_sum(self.name("total"), x, output, axes=[0], keepdims=True)

    def greater(self, output, x, number):
        self.builder.add_greater_than(self.name("greater"), [x], output, alpha=number)

    def less(self, output, x, number):
        self.builder.add_less_than(self.name("less"), [x], output, alpha=number)

    def copy(self, output, x):
        self.builder.add_copy(self.name("copy"), x, output)

    def number(self, output, value):
        self.builder.add_load_constant_nd(self.name("number"), output, np.array([value], np.float32), (1,))

    def branch(self, condition):
        branch = self.builder.add_branch(self.name("branch"), condition).branch
        return tuple(Network(NeuralNetworkBuilder(nn_spec=part)) for part in (branch.ifBranch, branch.elseBranch))

    def loop(self, trips=None, limit=None, condition=None):
        loop = self.builder.add_loop(self.name("loop"), input_name=limit, condition=condition, max_iterations=trips).loop
        return tuple(Network(NeuralNetworkBuilder(nn_spec=part)) for part in (loop.conditionNetwork, loop.bodyNetwork))

    def leave(self):
        self.builder.add_loop_break(self.name("break"))

    def next(self):
        self.builder.add_loop_continue(self.name("continue"))


def case(outputs, steps):
    """`function` builds the network and returns what NumPy computes of `x` and `n`; `steps` are values of n, or None."""
    def add(function):
        CASES.append((function, outputs, steps))
        return function
    return add


@case(["y"], [None])
def sides(net):
    """Both sides compute the same tensor under a name of their own each time."""
    net.total("t", "x")
    net.greater("c", "t", 0)
    then, other = net.branch("c")
    then.scale("u", "x", 3)
    then.add("v", "u", 1)
    other.add("v", "x", -1)
    net.add("y", "v", 0.5)
    return lambda x, n: [x * 3 + 1.5 if x.sum() > 0 else x - 0.5]


@case(["y", "z"], [None])
def one_side(net):
    """One side replaces what was there; a condition is a number that is hardly different from 0 or is not."""
    net.scale("v", "x", 2)
    net.total("t", "x")
    net.scale("small", "t", 1e-7)
    then, _ = net.branch("t")
    then.add("w", "v", 10)
    then.copy("v", "w")
    never, _ = net.branch("small")
    never.add("q", "v", 100)
    never.copy("v", "q")
    net.add("y", "v", 0)
    net.sum("z", "v", "x")
    return lambda x, n: [2 * x + 10 * (abs(x.sum()) > 1e-6), 3 * x + 10 * (abs(x.sum()) > 1e-6)]


@case(["y"], [None])
def fixed_trips(net):
    net.scale("v", "x", 1)
    _, body = net.loop(trips=5)
    body.scale("w", "v", 0.5)
    body.sum("u", "w", "x")
    body.copy("v", "u")
    net.add("y", "v", 1)

    def expected(x, n):
        v = x
        for _ in range(5):
            v = v / 2 + x
        return [v + 1]
    return expected


@case(["y", "last"], [1, 3, 6])
def given_trips(net):
    """As many iterations as an input says; a tensor that only the body computes is read after the loop."""
    net.scale("v", "x", 1)
    _, body = net.loop(limit="n")
    body.scale("w", "v", -0.5)
    body.add("u", "w", 1)
    body.copy("v", "u")
    net.add("y", "v", 0)
    net.add("last", "w", 0)

    def expected(x, n):
        v = x
        for _ in range(int(n[0])):
            w = v * -0.5
            v = w + 1
        return [v, w]
    return expected


@case(["y", "count"], [0.5, 4, 100])
def condition(net):
    """A condition network of its own, which reads what the body computes."""
    net.add("v", "n", 0)
    net.number("k", 0)
    test, body = net.loop(condition="goes_on")
    test.greater("goes_on", "v", 1)
    body.scale("w", "v", 0.5)
    body.copy("v", "w")
    body.add("l", "k", 1)
    body.copy("k", "l")
    net.sum("y", "v", "x")
    net.add("count", "k", 0)

    def expected(x, n):
        v, k = n, np.zeros(1)
        while v[0] > 1:
            v, k = v / 2, k + 1
        return [v + x, k]
    return expected


@case(["y"], [0.5, 4, 100])
def condition_and_trips(net):
    net.add("v", "n", 0)
    test, body = net.loop(trips=3, condition="goes_on")
    test.greater("goes_on", "v", 1)
    body.scale("w", "v", 0.5)
    body.copy("v", "w")
    net.sum("y", "v", "x")

    def expected(x, n):
        v, trips = n, 0
        while trips < 3 and v[0] > 1:
            v, trips = v / 2, trips + 1
        return [v + x]
    return expected


@case(["y", "count"], [0.5, 4, 100])
def leaving(net):
    """A break in one side of a branch, after which the iteration continues."""
    net.add("v", "n", 0)
    net.number("k", 0)
    _, body = net.loop(trips=4)
    body.add("l", "k", 1)
    body.copy("k", "l")
    body.less("c", "v", 2)
    then, other = body.branch("c")
    then.leave()
    other.scale("w", "v", 0.5)
    body.copy("v", "w")
    net.sum("y", "v", "x")
    net.add("count", "k", 0)

    def expected(x, n):
        v, k = n, np.zeros(1)
        for _ in range(4):
            k = k + 1
            if v[0] < 2:
                break
            v = v / 2
        return [v + x, k]
    return expected


@case(["y"], [0, 2, 5])
def skipping(net):
    """A continue, and a break inside the other side's own branch, in a loop with a condition of its own."""
    net.number("k", 0)
    net.scale("v", "x", 0)
    test, body = net.loop(condition="goes_on")
    test.less("goes_on", "k", 8)
    body.add("l", "k", 1)
    body.copy("k", "l")
    body.greater("late", "k", 3.5)
    body.builder.add_subtract_broadcastable(body.name("difference"), ["k", "n"], "d")
    then, other = body.branch("late")
    then.greater("past", "d", 2.5)
    inner, _ = then.branch("past")
    inner.add("e", "v", 1000)
    inner.copy("v", "e")
    inner.leave()
    then.add("f", "v", 100)
    then.copy("v", "f")
    other.builder.add_equal(other.name("equal"), ["d"], "same", alpha=0)
    skip, _ = other.branch("same")
    skip.next()
    other.sum("g", "v", "x")
    other.copy("v", "g")
    body.add("h", "v", 10)
    body.copy("v", "h")
    net.add("y", "v", 0)

    def expected(x, n):
        v, k = 0 * x, 0
        while k < 8:
            k += 1
            if k > 3.5:
                if k - n[0] > 2.5:
                    v = v + 1000
                    break
                v = v + 100
            else:
                if k - n[0] == 0:
                    continue
                v = v + x
            v = v + 10
        return [v]
    return expected


@case(["y", "k"], [1, 4])
def nested(net):
    """A loop in a loop; the inner one's break leaves the outer one alone."""
    net.scale("v", "x", 1)
    net.number("k", 0)
    _, outer = net.loop(trips=3)
    outer.number("inner_trip", 0)
    _, inner = outer.loop(limit="n")
    inner.add("i", "inner_trip", 1)
    inner.copy("inner_trip", "i")
    inner.greater("c", "inner_trip", 2.5)
    then, _ = inner.branch("c")
    then.leave()
    inner.add("w", "v", 1)
    inner.copy("v", "w")
    outer.sum("l", "k", "inner_trip")
    outer.copy("k", "l")
    outer.scale("u", "v", 0.5)
    outer.copy("v", "u")
    net.add("y", "v", 0)

    def expected(x, n):
        v, k = x, 0
        for _ in range(3):
            trip = 0
            for _ in range(int(n[0])):
                trip += 1
                if trip > 2.5:
                    break
                v = v + 1
            k += trip
            v = v / 2
        return [v, np.array([k])]
    return expected


@case(["y"], [-1, 0, 2])
def given_fewer_than_none(net):
    """A negative number of iterations gives none."""
    net.scale("v", "x", 1)
    _, body = net.loop(limit="n")
    body.add("w", "v", 1)
    body.copy("v", "w")
    net.sum("y", "v", "x")
    return lambda x, n: [2 * x + max(n[0], 0)]


@case(["y"], [0, 3])
def left_behind_a_change(net):
    """A side changes a tensor and leaves the iteration; the following layers would have computed it again."""
    net.scale("v", "x", 1)
    _, body = net.loop(trips=2)
    then, _ = body.branch("n")
    then.add("u", "v", 10)
    then.copy("v", "u")
    then.next()
    body.number("one", 1)
    body.sum("w", "x", "one")
    body.copy("v", "w")
    net.scale("y", "v", 2)
    return lambda x, n: [2 * (x + 20 if n[0] else x + 1)]


@case(["y", "seen"], [0, 1, 3])
def condition_with_a_loop(net):
    """The condition's network has a loop, and what it computes is read in the body and behind the loop."""
    net.number("k", 0)
    net.scale("v", "x", 1)
    test, body = net.loop(condition="goes_on")
    test.number("seen", 0)
    _, inner = test.loop(limit="n")
    inner.sum("more", "seen", "k")
    inner.copy("seen", "more")
    test.less("goes_on", "seen", 4)
    test.less("early", "k", 3)
    test.builder.add_multiply_broadcastable(test.name("both"), ["goes_on", "early"], "again")
    test.copy("goes_on", "again")
    body.add("l", "k", 1)
    body.copy("k", "l")
    body.greater("late", "seen", 2)
    then, _ = body.branch("late")
    then.next()
    body.sum("w", "v", "seen")
    body.copy("v", "w")
    net.sum("y", "v", "k")

    def expected(x, n):
        v, k = x, 0
        while True:
            seen = k * n[0]
            if not (seen < 4 and k < 3):
                return [v + k, np.array([seen])]
            k += 1
            if seen > 2:
                continue
            v = v + seen
    return expected


@case(["y"], [0, 2])
def read_where_computed(net):
    """One side alone computes a tensor; it is read if that side was taken."""
    then, _ = net.branch("n")
    then.add("v", "x", 1)
    again, other = net.branch("n")
    again.scale("u", "v", 3)
    other.scale("u", "x", -1)
    net.add("y", "u", 0)
    return lambda x, n: [3 * (x + 1) if n[0] else -x]


@case(["y"], [0, 1, 2, 4])
def kept_from_a_trip_before(net):
    """Some iterations compute a tensor, later ones and layers after the loop read it; an iteration may end before it
    does."""
    net.number("k", 0)
    net.scale("y", "x", 0)
    _, body = net.loop(trips=4)
    body.add("l", "k", 1)
    body.copy("k", "l")
    body.builder.add_equal(body.name("equal"), ["k", "n"], "now")
    then, _ = body.branch("now")
    then.add("v", "x", 7)
    then.next()
    body.builder.add_greater_than(body.name("past"), ["k", "n"], "past")
    body.greater("there", "n", 0.5)
    body.builder.add_multiply_broadcastable(body.name("both"), ["past", "there"], "use")
    use, _ = body.branch("use")
    use.sum("more", "y", "v")
    use.copy("y", "more")

    def expected(x, n):
        return [(x + 7) * (4 - n[0]) if n[0] else 0 * x]
    return expected


@case(["y"], [0, 2])
def left_early(net):
    """A tensor that is read after a loop, whose only iteration may end before it is computed: zeros then."""
    _, body = net.loop(trips=1)
    then, _ = body.branch("n")
    then.next()
    body.add("w", "x", 1)
    net.add("y", "w", 0.5)
    return lambda x, n: [0 * x + 0.5 if n[0] else x + 1.5]


@case(["y"], [0, 2])
def many_one_sided(net):
    """Many tensors that one side alone computes, all read where that side was taken."""
    names = [f"v{number}" for number in range(70)]
    for name in names:
        then, _ = net.branch("n")
        then.add(name, "x", 1)
    net.builder.add_elementwise(net.name("sum"), names, "y", "ADD")
    return lambda x, n: [70 * (x + 1) if n[0] else 0 * x]


@case(["y"], [0, 3, 9])
def many_breaks(net):
    """The layers after many branches that may leave the loop are on a side of each."""
    net.scale("y", "x", 1)
    _, body = net.loop(trips=2)
    for number in range(8):
        body.add("w", "y", 1)
        body.copy("y", "w")
        body.builder.add_equal(body.name("equal"), ["y", "n"], f"c{number}")
        body.total(f"t{number}", f"c{number}")
        then, _ = body.branch(f"t{number}")
        then.leave() if number % 2 else then.next()

    def expected(x, n):
        y = x
        for _ in range(2):
            for number in range(8):
                y = y + 1
                if (y == n[0]).any():
                    if number % 2:
                        return [y]
                    break
        return [y]
    return expected


REFUSED = []


def refused(function):
    """A network that Kelvin does not run."""
    REFUSED.append(function)
    return function


@refused
def break_outside(net):
    net.add("y", "x", 1)
    net.leave()


def main():
    for old in [*HERE.glob("*.mlmodel"), *HERE.glob("*.kv"), *HERE.glob("Refused/*")]:
        old.unlink()
    for function, outputs, steps in CASES:
        name = function.__name__
        features = [("x", datatypes.Array(3))] + ([("n", datatypes.Array(1))] if steps[0] is not None else [])
        builder = NeuralNetworkBuilder(features, [(output, None) for output in outputs], disable_rank5_shape_mapping=True)
        expected = function(Network(builder))
        (HERE / f"{name}.mlmodel").write_bytes(builder.spec.SerializeToString(deterministic=True))
        number = 0
        for x in INPUTS:
            for step in steps:
                inputs = [("x", np.array(x, np.float32))] + ([("n", np.array([step], np.float32))] if step is not None else [])
                results = expected(np.array(x, np.float64), np.array([step or 0], np.float64))
                pairs = [(key, np.asarray(value).astype(np.float32)) for key, value in zip(outputs, results, strict=True)]
                header = {"case": f"{name}_{number}", "tolerance": {"absolute": 1e-6, "relative": 1e-6}}
                (HERE / f"{name}_{number}.kv").write_bytes(kv.encode(header, inputs, pairs))
                number += 1
    (HERE / "Refused").mkdir(exist_ok=True)
    for function in REFUSED:
        builder = NeuralNetworkBuilder([("x", datatypes.Array(3))], [("y", None)], disable_rank5_shape_mapping=True)
        function(Network(builder))
        (HERE / f"Refused/{function.__name__}.mlmodel").write_bytes(builder.spec.SerializeToString(deterministic=True))


main()
