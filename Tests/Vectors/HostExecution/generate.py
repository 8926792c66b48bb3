"""Writes the vectors of ONNX loops and branches whose sizes are known for each iteration, or for the side that is
taken, each with several inputs that have other sizes.

Expected outputs come from ONNX Runtime. One model has one `.onnx` file and a `.kv` file for each set of inputs, in the
format that ../README.md describes. `programs.py` writes the ML Programs beside them, `networks.py` the neural networks.

    .venv/bin/pip install onnx==1.23.2 numpy==2.4.6 onnxruntime==1.31.1
    .venv/bin/python Tests/Vectors/HostExecution/generate.py
"""

import pathlib
import sys

import numpy as np
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from onnx_vectors import B, F, I, constant, node, value, write  # noqa: E402


def graph(name, nodes, inputs, outputs, initializers=()):
    return helper.make_graph(nodes, name, inputs, outputs, list(initializers))


def bags():
    """A slice in each iteration, from computed offsets, and its sum: a bag of embeddings. Without bags there are no
    iterations."""
    body = graph("body", [
        node("Gather", ["from", "i"], ["a"], axis=0), node("Gather", ["to", "i"], ["b"], axis=0),
        node("Unsqueeze", ["a", "front"], ["a1"]), node("Unsqueeze", ["b", "front"], ["b1"]),
        node("Slice", ["words", "a1", "b1", "front"], ["own"]), node("Gather", ["table", "own"], ["rows"], axis=0),
        node("ReduceSum", ["rows", "front"], ["row"], keepdims=0), node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, [])], [value("still", B, []), value("row", F, [3])],
        [constant("front", np.int64([0]))])
    return graph("bags", [
        node("Add", ["offsets", "none"], ["from"]), node("Shape", ["words"], ["end"]),
        node("Slice", ["from", "second", "last", "axis"], ["later"]), node("Concat", ["later", "end"], ["to"], axis=0),
        node("Shape", ["from"], ["counts"]), node("Squeeze", ["counts", "axis"], ["count"]),
        node("Loop", ["count", "always"], ["y"], name="each", body=body), node("Mul", ["y", "two"], ["z"])],
        [value("words", I, ["n"]), value("offsets", I, ["bags"])], [value("y", F, ["k", 3]), value("z", F, ["k", 3])],
        [constant("table", np.arange(30, dtype=np.float32).reshape(10, 3) / 7), constant("none", np.int64(0)),
         constant("second", np.int64([1])), constant("last", np.int64([1 << 40])), constant("axis", np.int64([0])),
         constant("always", np.array(True)), constant("two", np.float32(2))])


def found():
    """Each iteration counts elements, adds them up, and ends the loop if there are few."""
    body = graph("body", [
        node("Greater", ["x", "t"], ["mask"]), node("NonZero", ["mask"], ["at"]),
        node("Transpose", ["at"], ["pairs"], perm=[1, 0]), node("GatherND", ["x", "pairs"], ["above"]),
        node("ReduceSum", ["above"], ["sum"], keepdims=0), node("Add", ["t", "step"], ["next"]),
        node("Shape", ["above"], ["counts"]), node("Squeeze", ["counts"], ["count"]),
        node("Greater", ["count", "few"], ["more"])],
        [value("i", I, []), value("goes_on", B, []), value("t", F, [])],
        [value("more", B, []), value("next", F, []), value("sum", F, []), value("count", I, [])],
        [constant("step", np.float32(0.3)), constant("few", np.int64(2))])
    return graph("found", [
        node("Loop", ["limit", "start", "low"], ["t", "sums", "counts"], name="until few", body=body),
        node("Neg", ["sums"], ["z"])],
        [value("x", F, ["n"]), value("limit", I, []), value("start", B, []), value("low", F, [])],
        [value("t", F, []), value("z", F, ["k"]), value("counts", I, ["k"])])


def growing():
    """The carried value grows in each iteration, from empty, by a piece of the data that grows too."""
    body = graph("body", [
        node("Cast", ["i"], ["number"], to=I), node("Add", ["number", "one"], ["end"]),
        node("Reshape", ["end", "row"], ["ends"]), node("Slice", ["x", "front", "ends", "front"], ["piece"]),
        node("Concat", ["before", "piece"], ["joined"], axis=0), node("Identity", ["joined"], ["after"]),
        node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, []), value("before", F, [None, 2])],
        [value("still", B, []), value("after", F, [None, 2])],
        [constant("one", np.int64(1)), constant("row", np.int64([1])), constant("front", np.int64([0]))])
    return graph("growing", [
        node("Loop", ["trips", "", "empty"], ["y"], name="collect", body=body), node("Relu", ["y"], ["z"])],
        [value("x", F, [5, 2]), value("trips", I, [])], [value("y", F, ["k", 2]), value("z", F, ["k", 2])],
        [constant("empty", np.zeros((0, 2), np.float32))])


def nested():
    """A host-executed loop in another, each reading values from two levels up; the inner iterations depend on data
    of the outer loop."""
    inner = graph("inner", [
        node("Add", ["j", "first"], ["width"]), node("Reshape", ["width", "row"], ["ends"]),
        node("Slice", ["line", "front", "ends", "front"], ["piece"]), node("ReduceSum", ["piece"], ["sum"], keepdims=0),
        node("Add", ["s", "sum"], ["t"]), node("Mul", ["t", "scale"], ["u"]), node("Identity", ["on"], ["on2"])],
        [value("j", I, []), value("on", B, []), value("s", F, [])], [value("on2", B, []), value("u", F, [])],
        [constant("row", np.int64([1])), constant("front", np.int64([0]))])
    outer = graph("outer", [
        node("Gather", ["x", "i"], ["line"], axis=0), node("Gather", ["trips", "i"], ["own"], axis=0),
        node("Gather", ["starts", "i"], ["first"], axis=0),
        node("Loop", ["own", "", "zero"], ["sum_of_line"], name="inside", body=inner),
        node("Less", ["sum_of_line", "most"], ["more"])],
        [value("i", I, []), value("goes_on", B, [])], [value("more", B, []), value("sum_of_line", F, [])],
        [constant("zero", np.float32(0))])
    return graph("nested", [
        node("Loop", ["count", "", ], ["y"], name="outside", body=outer)],
        [value("x", F, [4, 6]), value("trips", I, [4]), value("starts", I, [4]), value("scale", F, []),
         value("count", I, []), value("most", F, [])], [value("y", F, ["k"])])


def sequence():
    """A sequence of pieces that data ends, with no limit: each is as long as data says."""
    body = helper.make_graph([
        node("Gather", ["sizes", "n"], ["size"], axis=0), node("Reshape", ["size", "row"], ["sizes1"]),
        node("Slice", ["x", "front", "sizes1", "front"], ["piece"]), node("Mul", ["piece", "two"], ["twice"]),
        node("SequenceInsert", ["before", "twice"], ["after"]), node("Add", ["n", "one"], ["next"]),
        node("Less", ["next", "count"], ["more"])], "body",
        [value("i", I, []), value("goes_on", B, []), value("n", I, []),
         helper.make_tensor_sequence_value_info("before", F, None)],
        [value("more", B, []), value("next", I, []), helper.make_tensor_sequence_value_info("after", F, None)],
        [constant("row", np.int64([1])), constant("front", np.int64([0])), constant("one", np.int64(1)),
         constant("two", np.float32(2))])
    return graph("sequence", [
        node("SequenceEmpty", [], ["none"]), node("SequenceInsert", ["none", "x"], ["first"]),
        node("Greater", ["count", "zero"], ["any"]),
        node("Loop", ["", "any", "zero", "first"], ["n", "pieces"], name="pieces", body=body),
        node("ConcatFromSequence", ["pieces"], ["y"], axis=0), node("SequenceLength", ["pieces"], ["length"])],
        [value("x", F, [6]), value("sizes", I, ["m"]), value("count", I, [])],
        [value("y", F, ["k"]), value("length", I, [])], [constant("zero", np.int64(0))])


def open_rows():
    """As many rows as the data requests, without a limit in the model."""
    body = graph("body", [
        node("Mul", ["v", "half"], ["next"]), node("ReduceMax", ["next"], ["most"], keepdims=0),
        node("Greater", ["most", "one"], ["more"]), node("Add", ["next", "x"], ["row"])],
        [value("i", I, []), value("goes_on", B, []), value("v", F, [3])],
        [value("more", B, []), value("next", F, [3]), value("row", F, [3])],
        [constant("half", np.float32(0.5)), constant("one", np.float32(1))])
    return graph("open_rows", [
        node("Loop", ["", "start", "x"], ["y", "rows"], name="halve", body=body),
        node("ReduceSum", ["rows"], ["sum"], keepdims=0)],
        [value("x", F, [3]), value("start", B, [])], [value("y", F, [3]), value("rows", F, ["k", 3]), value("sum", F, [])])


def sides():
    """A branch in each iteration, with a data-dependent size on one side; its result is carried and is a row."""
    then = graph("then", [node("NonZero", ["line"], ["at"]), node("Cast", ["at"], ["places"], to=F),
                          node("ReduceSum", ["places"], ["p"], keepdims=0)], [], [value("p", F, [])])
    other = graph("other", [node("Neg", ["s"], ["q"])], [], [value("q", F, [])])
    body = graph("body", [
        node("Gather", ["x", "i"], ["line"], axis=0), node("ReduceMax", ["line"], ["most"], keepdims=0),
        node("Greater", ["most", "high"], ["is_high"]),
        node("If", ["is_high"], ["part"], name="choose", then_branch=then, else_branch=other),
        node("Add", ["s", "part"], ["t"]), node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, []), value("s", F, [])],
        [value("still", B, []), value("t", F, []), value("part", F, [])], [constant("high", np.float32(0.5))])
    return graph("sides", [node("Loop", ["trips", "", "seed"], ["s", "parts"], name="lines", body=body)],
                 [value("x", F, [4, 5]), value("trips", I, []), value("seed", F, [])],
                 [value("s", F, []), value("parts", F, ["k"])])


def scanned():
    """A reversed scan along the second axis, beside one along the first: each iteration counts elements."""
    body = graph("body", [
        node("Greater", ["column", "zero"], ["mask"]), node("Compress", ["column", "mask"], ["above"], axis=0),
        node("ReduceSum", ["above"], ["part"], keepdims=0), node("Add", ["s", "part"], ["t"]),
        node("Mul", ["pair", "t"], ["row"]), node("Identity", ["row"], ["same"])],
        [value("s", F, []), value("column", F, [3]), value("pair", F, [2])],
        [value("t", F, []), value("row", F, [2]), value("same", F, [2]), value("part", F, [])])
    return graph("scanned", [
        node("Scan", ["seed", "x", "pairs"], ["s", "rows", "same_rows", "parts"], name="columns", body=body, num_scan_inputs=2,
             scan_input_axes=[-1, 0], scan_input_directions=[1, 0], scan_output_axes=[1, 0, 0],
             scan_output_directions=[0, 1, 0]),
        node("Neg", ["rows"], ["y"])],
        [value("seed", F, []), value("x", F, [3, "n"]), value("pairs", F, ["n", 2])],
        [value("s", F, []), value("y", F, [2, "n"]), value("same_rows", F, ["n", 2]), value("parts", F, ["n"])],
        [constant("zero", np.float32(0))])


def sized():
    """A scan over sizes, inside a loop that carries the data: each size is the amount of data that its iteration
    takes."""
    inner = graph("inner", [
        node("Reshape", ["size", "row"], ["ends"]), node("Slice", ["v", "front", "ends", "front"], ["piece"]),
        node("ReduceSum", ["piece"], ["sum"], keepdims=0)], [value("size", I, [])], [value("sum", F, [])],
        [constant("row", np.int64([1])), constant("front", np.int64([0]))])
    body = graph("body", [
        node("Scan", ["sizes"], ["sums"], name="pieces", body=inner, num_scan_inputs=1), node("Mul", ["v", "half"], ["w"]),
        node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, []), value("v", F, [6])],
        [value("still", B, []), value("w", F, [6]), value("sums", F, ["m"])], [constant("half", np.float32(0.5))])
    return graph("sized", [node("Loop", ["trips", "", "x"], ["last", "y"], name="rounds", body=body)],
                 [value("x", F, [6]), value("sizes", I, ["m"]), value("trips", I, [])],
                 [value("last", F, [6]), value("y", F, ["k", "m"])])


def guarded():
    """A loop that grows what it carries on one side of a branch, whose number of iterations is only known on that side."""
    body = graph("body", [
        node("Concat", ["before", "x"], ["after"], axis=0), node("Identity", ["goes_on"], ["still"])],
        [value("i", I, []), value("goes_on", B, []), value("before", F, [None])],
        [value("still", B, []), value("after", F, [None])])
    then = graph("then", [
        node("Gather", ["table", "count"], ["trips"], axis=0),
        node("Loop", ["trips", "", "x"], ["long"], name="grow", body=body)], [],
        [value("long", F, [None]), value("trips", I, [])])
    other = graph("other", [node("Neg", ["x"], ["short"]), node("Identity", ["ten"], ["none"])], [],
                  [value("short", F, [None]), value("none", I, [])])
    return graph("guarded", [
        node("Less", ["count", "four"], ["is_there"]),
        node("If", ["is_there"], ["chosen", "number"], name="side", then_branch=then, else_branch=other),
        node("Relu", ["chosen"], ["y"])],
        [value("x", F, ["n"]), value("count", I, [])], [value("y", F, ["k"]), value("number", I, [])],
        [constant("table", np.int64([2, 0, 3, 1])), constant("four", np.int64(4)), constant("ten", np.int64(10))])


def differing():
    """A branch that data decides, whose sides declare other sizes and compute no size; one passes its input on."""
    then = graph("then", [node("Concat", ["x", "x"], ["twice"], axis=0)], [], [value("twice", F, [6])])
    inner = graph("inner", [node("Identity", ["x"], ["plain"])], [], [value("plain", F, [3])])
    inner_other = graph("inner_other", [node("Unsqueeze", ["x", "front"], ["deep"])], [], [value("deep", F, [1, 3])])
    other = graph("other", [
        node("If", ["is_plain"], ["side"], name="inside", then_branch=inner, else_branch=inner_other)], [],
        [value("side", F, None)])
    return graph("differing", [
        node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["positive"]),
        node("Less", ["sum", "low"], ["is_plain"]),
        node("If", ["positive"], ["chosen"], name="outside", then_branch=then, else_branch=other),
        node("Reshape", ["chosen", "whole"], ["y"]), node("Shape", ["chosen"], ["sizes"])],
        [value("x", F, [3])], [value("y", F, ["k"]), value("sizes", I, ["rank"])],
        [constant("whole", np.int64([-1])), constant("zero", np.float32(0)), constant("low", np.float32(-1)), constant("front", np.int64([0]))])


def listed():
    """A branch that leaves a sequence: a loop makes it on one side, in pieces as long as data says, two whole ones are it on
    the other."""
    body = helper.make_graph([
        node("Gather", ["sizes", "i"], ["size"], axis=0), node("Reshape", ["size", "row"], ["ends"]),
        node("Slice", ["x", "front", "ends", "front"], ["piece"]), node("SequenceInsert", ["before", "piece"], ["after"]),
        node("Identity", ["goes_on"], ["still"])], "body",
        [value("i", I, []), value("goes_on", B, []), helper.make_tensor_sequence_value_info("before", F, None)],
        [value("still", B, []), helper.make_tensor_sequence_value_info("after", F, None)],
        [constant("row", np.int64([1])), constant("front", np.int64([0]))])
    then = graph("then", [
        node("SequenceEmpty", [], ["none"]), node("Loop", ["count", "", "none"], ["pieces"], name="pieces", body=body)],
        [], [helper.make_tensor_sequence_value_info("pieces", F, None)])
    other = graph("other", [node("SequenceConstruct", ["x", "x"], ["both"])], [],
                  [helper.make_tensor_sequence_value_info("both", F, None)])
    return graph("listed", [
        node("Greater", ["count", "zero"], ["any"]),
        node("If", ["any"], ["chosen"], name="side", then_branch=then, else_branch=other),
        node("ConcatFromSequence", ["chosen"], ["y"], axis=0), node("SequenceLength", ["chosen"], ["length"])],
        [value("x", F, [6]), value("sizes", I, ["m"]), value("count", I, [])],
        [value("y", F, ["k"]), value("length", I, [])], [constant("zero", np.int64(0))])


def ranks():
    """Sides give a number and a row of one, and the file declares neither; what is behind takes both."""
    def side(name, steps, result):
        return graph(name, steps, [], [helper.make_empty_tensor_value_info(result)])
    then = side("alone", [node("Identity", ["nothing"], ["a"])], "a")
    other = side("row", [node("Sub", ["count", "one"], ["less"]), node("Div", ["two", "less"], ["b"])], "b")
    return graph("ranks", [
        node("ReduceMax", ["x"], ["most"], keepdims=0), node("Reshape", ["most", "whole"], ["count"]),
        node("Equal", ["most", "first"], ["is_one"]),
        node("If", ["is_one"], ["step"], name="step", then_branch=then, else_branch=other),
        node("Mul", ["x", "step"], ["y"]), node("Shape", ["step"], ["shape"]), node("Size", ["shape"], ["rank"])],
        [value("x", F, [3])], [value("y", F, [3]), value("rank", I, [])],
        [constant("nothing", np.float32(0)), constant("one", np.float32([1])), constant("two", np.float32(2)),
         constant("first", np.float32(1)), constant("whole", np.int64([-1]))])


def undeclared(name, steps, *results):
    """A sub-graph whose outputs the file does not declare."""
    return graph(name, steps, [], [helper.make_tensor_value_info(result, F, None) for result in results])


def uneven():
    """In each trip a branch whose sides give other sizes or ranks, one of them by a branch of its own, and the file declares
    none; what it gives is added up, is carried, joined to what was there, and decides a shape behind the loop."""
    then = undeclared("then", [node("Slice", ["x", "front", "two"], ["part"])], "part")
    inner = undeclared("inner", [node("Concat", ["x", "x"], ["twice"], axis=0)], "twice")
    inner_other = undeclared("inner_other", [node("Reshape", ["x", "deep"], ["column"])], "column")
    other = undeclared("other", [
        node("If", ["is_even"], ["side"], name="inside", then_branch=inner, else_branch=inner_other),
        node("Neg", ["side"], ["less"])], "less")
    body = helper.make_graph([
        node("Mod", ["i", "three"], ["rest"]), node("Equal", ["rest", "zero"], ["is_third"]),
        node("Mod", ["i", "pair"], ["odd"]), node("Equal", ["odd", "zero"], ["is_even"]),
        node("If", ["is_third"], ["piece"], name="side", then_branch=then, else_branch=other),
        node("ReduceSum", ["piece"], ["sum"], keepdims=0), node("Reshape", ["piece", "row"], ["line"]),
        node("Concat", ["before", "line"], ["after"], axis=0), node("Identity", ["goes_on"], ["still"])], "body",
        [value("i", I, []), value("goes_on", B, []), value("before", F, None)],
        [value("still", B, []), value("after", F, None), value("sum", F, [])],
        [constant("three", np.int64(3)), constant("pair", np.int64(2)), constant("zero", np.int64(0))])
    return graph("uneven", [
        node("Loop", ["trips", "", "x"], ["y", "sums"], name="pieces", body=body), node("Shape", ["y"], ["size"]),
        node("Concat", ["two", "size"], ["sizes"], axis=0), node("Expand", ["y", "sizes"], ["z"])],
        [value("x", F, ["n"]), value("trips", I, [])],
        [value("y", F, ["k"]), value("sums", F, ["t"]), value("z", F, [2, "k"])],
        [constant("front", np.int64([0])), constant("two", np.int64([2])), constant("row", np.int64([-1])),
         constant("deep", np.int64([-1, 1, 1]))])


def sides_of_one():
    """Sides that give the same where there is one element, the usual size, and other sizes where there are more. One that is
    meant for four elements cannot be written for others."""
    then = undeclared("then", [node("Slice", ["x", "front", "one"], ["a"])], "a")
    other = undeclared("other", [node("Neg", ["x"], ["b"])], "b")
    squared = undeclared("squared", [node("Reshape", ["x", "square"], ["c"]), node("ReduceMax", ["c"], ["d"], axes=[0], keepdims=0)], "d")
    plain = undeclared("plain", [node("Concat", ["x", "x"], ["e"], axis=0)], "e")
    return graph("sides_of_one", [
        node("If", ["is_first"], ["chosen"], name="side", then_branch=then, else_branch=other),
        node("If", ["is_square"], ["form"], name="form", then_branch=squared, else_branch=plain),
        node("Exp", ["chosen"], ["y"]), node("ReduceSum", ["form"], ["z"], keepdims=1), node("Size", ["form"], ["size"])],
        [value("x", F, ["n"]), value("is_first", B, []), value("is_square", B, [])],
        [value("y", F, ["k"]), value("z", F, [1]), value("size", I, [])],
        [constant("front", np.int64([0])), constant("one", np.int64([1])), constant("square", np.int64([2, 2]))])


def doubled_rows():
    """The carried value doubles by another operator than Concat, up to a limit that stands for none, with a row for
    each iteration."""
    body = helper.make_graph([
        node("Tile", ["before", "two"], ["after"]), node("Size", ["after"], ["size"]),
        node("Less", ["size", "most"], ["more"]), node("ReduceSum", ["after"], ["sum"], keepdims=0)], "body",
        [value("i", I, []), value("goes_on", B, []), value("before", F, ["before.0"])],
        [value("more", B, []), value("after", F, ["after.0"]), value("sum", F, [])])
    return graph("doubled_rows", [
        node("Loop", ["ever", "start", "x"], ["y", "sums"], name="double", body=body)],
        [value("x", F, [3]), value("start", B, []), value("most", I, [])], [value("y", F, ["k"]), value("sums", F, ["t"])],
        [constant("two", np.int64([2])), constant("ever", np.int64((1 << 63) - 1))])


def mapped():
    """Of each element of a sequence what is not 0, beside weights that are the same for all; and each element as it is or twice,
    by its sum."""
    places = helper.make_graph([
        node("NonZero", ["piece"], ["at"]), node("Squeeze", ["at", "front"], ["places"]),
        node("Gather", ["weights", "places"], ["found"], axis=0)], "places",
        [value("piece", F, [None]), value("weights", F, [None])], [value("found", F, [None])], [constant("front", np.int64([0]))])
    choice = helper.make_graph([
        node("ReduceSum", ["part"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["is_positive"]),
        node("If", ["is_positive"], ["chosen"], name="side",
             then_branch=undeclared("then", [node("Concat", ["part", "part"], ["twice"], axis=0)], "twice"),
             else_branch=undeclared("other", [node("Identity", ["part"], ["same"])], "same"))], "choice",
        [value("part", F, [None])], [value("chosen", F, [None])], [constant("zero", np.float32(0))])
    return graph("mapped", [
        node("SplitToSequence", ["x", "sizes"], ["pieces"], axis=0),
        node("SequenceMap", ["pieces", "w"], ["all_found"], name="places", body=places),
        node("SequenceMap", ["all_found"], ["all_chosen"], name="choice", body=choice),
        node("ConcatFromSequence", ["all_found"], ["y"], axis=0), node("ConcatFromSequence", ["all_chosen"], ["z"], axis=0),
        node("SequenceLength", ["all_chosen"], ["length"])],
        [value("x", F, ["n"]), value("sizes", I, ["m"]), value("w", F, ["k"])],
        [value("y", F, ["a"]), value("z", F, ["b"]), value("length", I, [])])


def inputs_of(name, random):
    def floats(*shape, shift=0.0):
        return (random.uniform(-1, 1, shape) + shift).astype(np.float32)
    if name == "bags":
        return [{"words": np.int64(w), "offsets": np.int64(o).reshape(-1)}
                for w, o in (([1, 2, 3, 4, 5], [0, 2, 3]), ([9, 9], [0, 0]), ([3], []), ([4, 0, 8], [0]))]
    if name == "found":
        return [{"x": floats(n), "limit": np.int64(limit), "start": np.array(start), "low": np.float32(low)}
                for n, limit, start, low in ((12, 9, True, -1), (30, 3, True, -1), (7, 9, False, 0), (5, 9, True, 2))]
    if name == "growing":
        return [{"x": floats(5, 2), "trips": np.int64(n)} for n in (3, 0, 7, 1)]
    if name == "nested":
        return [{"x": floats(4, 6), "trips": np.int64(t), "starts": np.int64(s), "scale": np.float32(0.5),
                 "count": np.int64(n), "most": np.float32(most)}
                for t, s, n, most in (([2, 0, 3, 1], [1, 2, 0, 5], 4, 9), ([1, 1, 1, 1], [6, 5, 4, 3], 2, 9),
                                      ([4, 4, 4, 4], [1, 1, 1, 1], 4, -9), ([1, 1, 1, 1], [1, 1, 1, 1], 0, 9))]
    if name == "sequence":
        return [{"x": floats(6), "sizes": np.int64(s), "count": np.int64(n)}
                for s, n in (([2, 0, 5], 3), ([6], 1), ([1], 0), ([3, 3, 1, 2], 2))]
    if name == "open_rows":
        return [{"x": floats(3, shift=s), "start": np.array(b)} for s, b in ((20, True), (0, True), (900, True), (2, True))]
    if name == "scanned":
        return [{"seed": np.float32(0.25), "x": floats(3, n, shift=s), "pairs": floats(n, 2)}
                for n, s in ((4, 0), (1, 0), (7, -1), (2, 1))]
    if name == "sized":
        return [{"x": floats(6), "sizes": np.int64(s), "trips": np.int64(n)}
                for s, n in (([2, 0, 5], 3), ([6], 1), ([1, 1, 2, 3], 2))]
    if name == "guarded":
        return [{"x": floats(n), "count": np.int64(c)} for n, c in ((3, 0), (2, 9), (4, 1), (1, 2), (3, 100))]
    if name == "ranks":
        return [{"x": np.float32(x)} for x in ([0.5, 1, -1], [0.5, 3, 2], [-4, -2, -3])]
    if name == "uneven":
        return [{"x": floats(n), "trips": np.int64(t)} for n, t in ((3, 5), (1, 0), (1, 1), (4, 3), (2, 2))]
    if name == "sides_of_one":
        return [{"x": floats(n), "is_first": np.array(a), "is_square": np.array(b)}
                for n, a, b in ((1, True, False), (3, True, False), (3, False, False), (4, True, True), (4, False, False), (1, False, False))]
    if name == "mapped":
        return [{"x": np.round(floats(sum(s)), 0), "sizes": np.int64(s), "w": floats(max(s))} for s in ([2, 3], [1, 4, 2], [6])]
    if name == "doubled_rows":
        return [{"x": floats(3), "start": np.array(s), "most": np.int64(m)} for s, m in ((True, 12), (True, 4), (False, 5), (True, 90))]
    if name == "differing":
        return [{"x": floats(3, shift=s)} for s in (1, -1, -0.3, 0.9)]
    if name == "listed":
        return [{"x": floats(6), "sizes": np.int64(s), "count": np.int64(n)}
                for s, n in (([2, 0, 5], 3), ([6], 1), ([1], 0), ([3, 3, 1, 2], 2))]
    return [{"x": floats(4, 5), "trips": np.int64(n), "seed": np.float32(0.5)} for n in (4, 2, 1)]


if __name__ == "__main__":
    write(
        HERE, (bags, found, growing, nested, sequence, open_rows, sides, scanned, sized, guarded, differing, listed,
              ranks, uneven, sides_of_one, doubled_rows, mapped), inputs_of)
