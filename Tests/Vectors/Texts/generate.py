#!/usr/bin/env python3
"""Writes ONNX models that move texts as ONNX moves numbers, and what ONNX Runtime computes, or ONNX's reference evaluator where
that lacks an operator on texts.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has, by the model's name, a list of cases with inputs and outputs by name:
`{"texts": […], "shape": […]}` or `{"numbers": […], "shape": […]}`, row-major. The script prints the models that the evaluator computes."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

FOLDER = pathlib.Path(__file__).parent
ML, MICROSOFT = "ai.onnx.ml", "com.microsoft"
STRING, INT64, BOOL, FLOAT = TensorProto.STRING, TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT
expected, evaluated = {}, []
node = helper.make_node


def texts(*items, shape=None):
    return np.array(items, dtype=object).reshape([len(items)] if shape is None else shape)


def value(array):
    array = np.asarray(array)
    if array.dtype.kind in "OU":
        return {"texts": [str(text) for text in array.ravel()], "shape": list(array.shape)}
    return {"numbers": [float(number) for number in array.ravel()], "shape": list(array.shape)}


def constant(name, array):
    array = np.asarray(array)
    if array.dtype == object:
        return helper.make_tensor(name, STRING, array.shape, [text.encode() for text in array.ravel()])
    return onnx.numpy_helper.from_array(array, name)


def integers(name, *values):
    return constant(name, np.array(values, np.int64))


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(nodes, outputs, inputs=(), initializers=()):
    """A sub-graph."""
    return helper.make_graph(nodes, "inside", [info(*entry) for entry in inputs], [info(*entry) for entry in outputs], list(initializers))


def build(name, nodes, inputs, outputs, cases, initializers=(), opset=21):
    domains = {"": opset, **{node.domain: 1 if node.domain == MICROSOFT else 4 for node in nodes if node.domain}}

    def model(ranks):
        """The model with free sizes where only the number of an output's axes is known."""
        shaped = [info(key, kind, ranks.get(key) if shape is None else shape) for key, kind, shape in outputs]
        main = helper.make_graph(nodes, name, [info(*entry) for entry in inputs], shaped, list(initializers))
        return helper.make_model(main, opset_imports=[helper.make_opsetid(*entry) for entry in domains.items()], ir_version=9)

    def runner(model):
        try:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run
        except Exception:
            evaluated.append(name)
            return ReferenceEvaluator(model).run

    names = [key for key, _, _ in outputs]
    run = runner(model({}))

    def plain(array):
        # The evaluator fills with zeros among the texts, where the text of Pad has empty texts.
        if np.asarray(array).dtype.kind not in "OU":
            return array
        return np.array(["" if text in (0, "0") else text for text in array.ravel()], object).reshape(array.shape)

    expected[name] = [
        {"inputs": {key: value(array) for key, array in case.items()},
         "outputs": {key: value(plain(array)) for key, array in zip(names, run(None, case))}} for case in cases]
    found = expected[name][0]["outputs"]
    whole = model({key: [None] * len(found[key]["shape"]) for key in names})
    onnx.checker.check_model(whole)
    (FOLDER / f"{name}.onnx").write_bytes(whole.SerializeToString())


SIX = texts(*"abcdef", shape=[2, 3])
WORDS = texts("größer", "", "e\u0301", "\u00e9", "red", "größer", "", "🦦", "red", "blue", "e\u0301", "x", shape=[3, 4])
X, Y = ("x", STRING, ["n", "m"]), ("y", STRING, ["k", "l"])
BOTH = [{"x": SIX}, {"x": WORDS}]

build(
    "sliced",
    [node("Slice", ["x", "start", "end", "axes", "steps"], ["y"]), node("Shape", ["y"], ["shape"]), node("Size", ["y"], ["size"]),
     node("Slice", ["x", "from", "far", "second"], ["z"])],
    [X, ("from", INT64, [1])], [Y, ("shape", INT64, [2]), ("size", INT64, []), ("z", STRING, ["n", "q"])],
    [{"x": array, "from": np.array([start], np.int64)} for array, start in [(SIX, 1), (WORDS, -2), (WORDS, 9)]],
    [integers("start", -1, 0), integers("end", -9, 9), integers("axes", 1, 0), integers("steps", -2, 1), integers("far", 99),
     integers("second", 1)])

build(
    "split", [node("Split", ["x"], ["a", "b"], axis=0, num_outputs=2), node("Split", ["x", "sizes"], ["c", "d"], axis=1)],
    [("x", STRING, [3, 4])], [(key, STRING, None) for key in "abcd"], [{"x": WORDS}], [integers("sizes", 1, 3)])

build(
    "transposed",
    [node("Transpose", ["x"], ["y"]), node("Unsqueeze", ["y", "places"], ["z"]), node("Transpose", ["z"], ["u"], perm=[2, 0, 3, 1]),
     node("Squeeze", ["u", "last"], ["v"]), node("Flatten", ["u"], ["w"], axis=2)],
    [X], [Y, ("v", STRING, None), ("w", STRING, None)], BOTH, [integers("places", 0, 2), integers("last", 1)])

build(
    "repeated",
    [node("Shape", ["x"], ["sizes"]), node("Concat", ["two", "sizes"], ["wide"], axis=0), node("Expand", ["x", "wide"], ["y"]),
     node("Tile", ["x", "counts"], ["z"])],
    [X, ("counts", INT64, [2])], [("y", STRING, [2, "n", "m"]), ("z", STRING, None)],
    [{"x": SIX, "counts": np.array([2, 1], np.int64)}, {"x": WORDS, "counts": np.array([1, 3], np.int64)},
     {"x": WORDS, "counts": np.array([0, 3], np.int64)}],
    [integers("two", 2)])

build(
    "gathered",
    [node("GatherND", ["x", "places"], ["y"]), node("GatherElements", ["x", "rows"], ["z"], axis=0),
     node("Gather", ["x", "columns"], ["w"], axis=1), node("GatherND", ["x", "each"], ["v"], batch_dims=1)],
    [("x", STRING, [2, 3]), ("places", INT64, ["k", 2])], [("y", STRING, ["k"]), ("z", STRING, None), ("w", STRING, None), ("v", STRING, [2])],
    [{"x": SIX, "places": np.array(places, np.int64)} for places in ([[0, 2], [1, -1], [1, 0]], [[1, 1]])],
    [constant("rows", np.array([[1, 0, -1]], np.int64)), constant("columns", np.array([[2, 0], [-1, 1]], np.int64)),
     constant("each", np.array([[2], [0]], np.int64))])

for name, attributes in [("unique", {}), ("unique_unsorted", {"sorted": 0})]:
    build(
        name,
        [node("Unique", ["x"], ["y", "first", "back", "counts"], **attributes), node("Shape", ["y"], ["size"]),
         node("Expand", ["mark", "size"], ["marks"]), node("StringConcat", ["y", "marks"], ["z"])],
        [X], [("y", STRING, ["u"]), ("first", INT64, ["u"]), ("back", INT64, ["t"]), ("counts", INT64, ["u"]), ("z", STRING, ["u"])],
        [*BOTH, {"x": texts("b", "a", "b", "B", shape=[4, 1])}], [constant("mark", texts("!"))])

build(
    "unique_rows", [node("Unique", ["x"], ["y", "", "back"], axis=0)], [X], [Y, ("back", INT64, ["n"])],
    [{"x": texts("b", "a", "a", "z", "b", "a", "B", "a", shape=[4, 2])}])

build(
    "reshaped",
    [node("Shape", ["x"], ["sizes"]), node("Gather", ["sizes", "order"], ["turned"]), node("Reshape", ["x", "turned"], ["y"]),
     node("Constant", [], ["row"], value_ints=[-1]), node("Reshape", ["x", "row"], ["list"]),
     node("Reshape", ["x", "given"], ["z"])],
    [X, ("given", INT64, [3])], [Y, ("list", STRING, ["t"]), ("z", STRING, [None] * 3)],
    [{"x": SIX, "given": np.array([1, -1, 2], np.int64)}, {"x": WORDS, "given": np.array([2, 2, 3], np.int64)}],
    [integers("order", 1, 0)])

build(
    "chosen",
    [node("Equal", ["x", "wanted"], ["same"]), node("Where", ["same", "x", "none"], ["y"]),
     node("Where", ["flags", "names", "x"], ["z"]), node("Equal", ["y", "z"], ["again"]), node("Not", ["again"], ["other"])],
    [X, ("flags", BOOL, ["n", 1])], [Y, ("z", STRING, None), ("same", BOOL, None), ("other", BOOL, None)],
    [{"x": SIX, "flags": np.array([[True], [False]])}, {"x": WORDS[:, :3], "flags": np.array([[False], [True], [False]])}],
    [constant("wanted", texts("d", "", "\u00e9")), constant("none", texts("—", shape=[])), constant("names", texts("1", "2", "3", shape=[1, 3]))])

# Places that are in sub-graphs, constants there and around them, sizes that differ by side.
build(
    "branches",
    [node("ReduceSum", ["number"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["isMore"]),
     node("Slice", ["x", "from", "to"], ["first"]),
     node("If", ["isMore"], ["y"],
          then_branch=graph([node("Constant", [], ["some"], value=constant("", texts("more", shape=[1, 1]))),
                             node("Concat", ["some", "first", "around"], ["then"], axis=1)],
                            [("then", STRING, [1, 5])]),
          else_branch=graph([node("Identity", ["x"], ["else"])], [("else", STRING, [2, 3])])),
     node("If", ["isMore"], ["word"],
          then_branch=graph([node("Constant", [], ["yes"], value_string="yes")], [("yes", STRING, [])]),
          else_branch=graph([], [("no", STRING, [])], initializers=[constant("no", texts("no", shape=[]))]))],
    [("x", STRING, [2, 3]), ("number", FLOAT, ["k"])], [("y", STRING, None), ("word", STRING, [])],
    [{"x": SIX, "number": np.array([number], np.float32)} for number in (1, -1)],
    [constant("zero", np.float32(0)), integers("from", 0), integers("to", 1), constant("around", texts("and so on", shape=[1, 1]))])

TRIP = [("i", INT64, []), ("goesOn", BOOL, [])]
build(
    "loops",
    [node("Loop", ["count", "", "x"], ["y", "rows"],
          body=graph(
              [node("Identity", ["goesOn"], ["on"]), node("Concat", ["kept", "mark"], ["longer"], axis=0),
               node("Gather", ["x", "i"], ["row"]), node("Equal", ["row", "\u00e9"], ["same"]), node("Where", ["same", "mark", "row"], ["shown"]),
               node("Slice", ["shown", "begin", "end"], ["only"])],
              [("on", BOOL, []), ("longer", STRING, None), ("only", STRING, [1])], [*TRIP, ("kept", STRING, None)],
              [constant("mark", texts("+")), integers("begin", 0), integers("end", 1)]))],
    [("x", STRING, ["n"]), ("count", INT64, [])], [("y", STRING, ["m"]), ("rows", STRING, ["k", 1])],
    [{"x": texts("e\u0301", "\u00e9", "c"), "count": np.array(count, np.int64)} for count in (3, 1, 0)],
    [constant("\u00e9", texts("\u00e9", shape=[]))])

build(
    "scanned",
    [node("Scan", ["last", "x"], ["end", "pairs"], num_scan_inputs=1,
          body=graph([node("Identity", ["row"], ["next"]), node("Concat", ["before", "row"], ["pair"], axis=0)],
                     [("next", STRING, ["m"]), ("pair", STRING, None)], [("before", STRING, ["m"]), ("row", STRING, ["m"])]))],
    [("last", STRING, ["m"]), X], [("end", STRING, ["m"]), ("pairs", STRING, ["n", "p"])],
    [{"last": texts("-", "=", ""), "x": SIX}])

build(
    "lists",
    [node("SplitToSequence", ["x"], ["parts"], axis=0), node("SequenceConstruct", ["x", "all"], ["both"]),
     node("SequenceInsert", ["parts", "all", "first"], ["more"]), node("SequenceAt", ["more", "last"], ["y"]),
     node("ConcatFromSequence", ["more"], ["z"], axis=0), node("SequenceLength", ["both"], ["count"]),
     node("StringNormalizer", ["words"], ["upper"], case_change_action="UPPER", locale="C"),
     node("Unsqueeze", ["upper", "first"], ["row"]), node("SequenceEmpty", [], ["none"], dtype=STRING),
     node("SequenceInsert", ["none", "x"], ["one"]), node("SequenceInsert", ["one", "row"], ["two"]),
     node("SequenceErase", ["two", "first0"], ["left"]), node("SequenceAt", ["left", "first0"], ["w"])],
    [("x", STRING, ["n", 3]), ("words", STRING, ["w"])],
    [("y", STRING, None), ("z", STRING, None), ("count", INT64, []), ("w", STRING, None)],
    [{"x": SIX, "words": texts("otter", "Fox")}],
    [constant("all", texts("1", "2", "3", shape=[1, 3])), integers("first", 0), constant("first0", np.int64(0)), constant("last", np.int64(-1))])

build(
    "placed",
    [node("ScatterElements", ["x", "where", "new"], ["y"], axis=1), node("ScatterND", ["x", "rows", "line"], ["z"])],
    [("x", STRING, [2, 3])], [("y", STRING, None), ("z", STRING, None)], [{"x": SIX}],
    [constant("where", np.array([[2, 0], [1, -1]], np.int64)), constant("new", texts("1", "2", "3", "", shape=[2, 2])),
     constant("rows", np.array([[1]], np.int64)), constant("line", texts("r", "s", "t", shape=[1, 3]))])

for name, steps, extra in [
        ("centred", [node("CenterCropPad", ["x", "sizes"], ["y"], axes=[1])], [integers("sizes", 5)]),
        ("padded", [node("Pad", ["x", "edges", "dots"], ["y"]), node("Pad", ["x", "edges"], ["z"])],
         [integers("edges", 0, 1, 1, 0), constant("dots", texts("..", shape=[]))]),
        ("reversed", [node("ReverseSequence", ["x", "lengths"], ["y"], batch_axis=0, time_axis=1)], [integers("lengths", 2, 3)]),
        ("upper", [node("Trilu", ["x"], ["y"])], [])]:
    build(name, steps, [("x", STRING, [2, 3])], [(step.output[0], STRING, None) for step in steps], [{"x": SIX}], extra)

build(
    "compressed", [node("Compress", ["x", "which"], ["y"], axis=1), node("Compress", ["x", "some"], ["z"])],
    [("x", STRING, [2, 3]), ("which", BOOL, [3])], [("y", STRING, None), ("z", STRING, None)],
    [{"x": SIX, "which": np.array(which)} for which in ([True, False, True], [False, False, True])],
    [constant("some", np.array([False, True, True, False]))])

build(
    "one_hot", [node("OneHot", ["hot", "depth", "words"], ["y"])], [("hot", INT64, ["n"]), ("words", STRING, [2])],
    [("y", STRING, None)], [{"hot": np.array([0, 2], np.int64), "words": texts("off", "on")}], [constant("depth", np.int64(3))])

# Texts that are computed between those that are moved: places go on from list to list.
build(
    "levels",
    [node("Slice", ["x", "from", "to"], ["few"]), node("StringConcat", ["few", "x"], ["long"]),
     node("Transpose", ["long"], ["turned"]), node("Concat", ["turned", "few"], ["all"], axis=0),
     node("Tile", ["all", "twice"], ["wide"]), node("StringConcat", ["wide", "end"], ["y"]), node("Where", ["yes", "few", "y"], ["z"])],
    [("x", STRING, [3, 3])], [("y", STRING, None), ("z", STRING, None)], [{"x": WORDS[:, :3]}],
    [integers("from", 0), integers("to", 1), integers("twice", 2, 1), constant("end", texts(".")), constant("yes", np.arange(8).reshape(8, 1) % 3 == 1)])

build(
    "known",
    [node("Constant", [], ["y"], value_strings=["a", "b"]), node("Identity", ["names"], ["z"]), node("Reshape", ["names", "column"], ["w"]),
     node("Tile", ["names", "count"], ["v"]), node("StringNormalizer", ["names"], ["u"], case_change_action="UPPER", locale="C")],
    [("count", INT64, [1])], [(key, STRING, None) for key in "yzwvu"], [{"count": np.array([2], np.int64)}],
    [constant("names", texts("one", "two")), integers("column", -1, 1)])

build(
    "hashed",
    [node("MurmurHash3", ["x"], ["y"], domain=MICROSOFT), node("MurmurHash3", ["x"], ["z"], domain=MICROSOFT, seed=42, positive=0),
     node("MurmurHash3", ["k"], ["w"], domain=MICROSOFT, positive=0), node("Cast", ["y"], ["v"], to=INT64)],
    [X, ("k", INT64, ["n"])], [("v", INT64, None), ("z", TensorProto.INT32, None), ("w", TensorProto.INT32, None)],
    [{"x": WORDS, "k": np.array([0, -1, 1 << 40], np.int64)}])

build(
    "nothing", [node("Slice", ["x", "from", "from"], ["y"]), node("Transpose", ["y"], ["z"]), node("Concat", ["x", "none"], ["w"], axis=0)],
    [X], [Y, ("z", STRING, None), ("w", STRING, None)], [{"x": SIX}], [integers("from", 0), constant("none", texts(shape=[0, 3]))])

# Texts of two levels that are equal, where texts are compared.
build(
    "compared",
    [node("Transpose", ["x"], ["t"]), node("StringConcat", ["t", "nothing"], ["c"]), node("Where", ["some", "c", "t"], ["y"]),
     node("Equal", ["y", "t"], ["same"]), node("Slice", ["c", "one", "two"], ["z"]), node("StringConcat", ["z", "end"], ["w"])],
    [X], [("y", STRING, None), ("same", BOOL, None), ("z", STRING, None), ("w", STRING, None)], BOTH,
    [constant("nothing", texts("")), constant("some", np.array([[True]])), integers("one", 1), integers("two", 2), constant("end", texts("."))])

# A name that Kelvin might make of another one.
build(
    "named", [node("Transpose", ["x"], ["t"]), node("Add", ["x#places", "x#places"], ["s"]), node("Unique", ["x"], ["u"], name="u"),
              node("Unique", ["w"], ["v"], name="u")],
    [("x", STRING, [2, 2]), ("w", STRING, [3]), ("x#places", INT64, [2, 2])], [("t", STRING, None), ("s", INT64, None), ("u", STRING, None), ("v", STRING, None)],
    [{"x": texts(*"daca", shape=[2, 2]), "w": texts(*"zyz"), "x#places": np.array([[10, 20], [30, 40]], np.int64)}])

# Of one text, the usual size, the first two cannot be made, nor the parts of rows.
build(
    "open",
    [node("Reshape", ["x", "pairs"], ["y"]), node("Slice", ["x", "last", "far", "zero", "last"], ["r"]), node("Reshape", ["r", "pairs"], ["z"]),
     node("Split", ["x", "parts"], ["a", "b"], axis=0)],
    [("x", STRING, ["n"])], [(key, STRING, None) for key in "yzab"], [{"x": SIX.reshape(6)}],
    [integers("pairs", -1, 2), integers("last", -1), integers("far", -99), integers("zero", 0), integers("parts", 2, 4)])

build(
    "chosen_columns", [node("Gather", ["x", "columns"], ["some"], axis=1), node("Split", ["some", "parts"], ["y", "z"], axis=1)],
    [("x", STRING, ["n", 3]), ("columns", INT64, ["k"])], [("y", STRING, None), ("z", STRING, None)],
    [{"x": SIX, "columns": np.array([2, 0, 2], np.int64)}, {"x": WORDS[:, :3], "columns": np.array([1, 1, -1], np.int64)}],
    [integers("parts", 1, 2)])

build(
    "optional",
    [node("Optional", ["x"], ["maybe"]), node("Identity", ["maybe"], ["same"]), node("OptionalGetElement", ["same"], ["y"]),
     node("OptionalHasElement", ["maybe"], ["is_there"]), node("StringConcat", ["y", "dots"], ["z"])],
    [X], [("y", STRING, ["n", "m"]), ("is_there", BOOL, []), ("z", STRING, None)], BOTH, [constant("dots", texts(".."))])

none = node("Constant", [], ["none"], value_strings=[""])
none.attribute[0].strings.clear()
build("empty", [none, node("Concat", ["x", "none"], ["y"], axis=0)], [("x", STRING, ["n"])], [("y", STRING, None)], [{"x": texts("a", "b")}])

build(
    "unread", [node("Relu", ["f"], ["y"])], [("x", STRING, ["n"]), ("f", FLOAT, [2])], [("y", FLOAT, [2])],
    [{"x": texts("a"), "f": np.array([-1, 2], np.float32)}])
build("constant", [], [("x", STRING, [1])], [("c", STRING, [2])], [{"x": texts("a")}], [constant("c", texts("b", "d"))])

# Sides of other sizes and ranks, which the file does not declare.
build(
    "uneven",
    [node("If", ["is_part"], ["y"], then_branch=graph([node("Slice", ["x", "zero", "one"], ["p"])], [("p", STRING, None)]),
          else_branch=graph([node("If", ["is_whole"], ["q"], then_branch=graph([node("Reshape", ["x", "whole"], ["r"])], [("r", STRING, None)]),
                                  else_branch=graph([node("Concat", ["x", "more"], ["s"], axis=0)], [("s", STRING, None)]))], [("q", STRING, None)])),
     node("StringConcat", ["y", "end"], ["z"]), node("Shape", ["z"], ["sizes"]), node("Expand", ["end", "sizes"], ["w"])],
    [X, ("is_part", BOOL, []), ("is_whole", BOOL, [])], [("z", STRING, None), ("w", STRING, None)],
    [{"x": SIX, "is_part": np.array(p), "is_whole": np.array(w)} for p, w in ((True, False), (False, True), (False, False))],
    [integers("zero", 0), integers("one", 1), integers("whole", -1), constant("more", texts("p", "q", "r", shape=[1, 3])), constant("end", texts("."))])

# A node that no output depends on reads a size across a host operation that makes strings.
build(
    "unused",
    [node("Transpose", ["x"], ["t"]), node("Shape", ["t"], ["sizes"]), node("StringConcat", ["t", "end"], ["y"]), node("Transpose", ["y"], ["z"]),
     node("Reshape", ["y", "sizes"], ["unused"]), node("Transpose", ["unused"], ["unused2"])],
    [X], [("z", STRING, None)], BOTH, [constant("end", texts("."))])

# Texts and names that are equal only by Unicode's canonical equivalence: all are different.
COMPOSED, DECOMPOSED = "\u00e9", "e\u0301"
BOTH_FORMS = {"x": texts(COMPOSED, DECOMPOSED, "k", "\u212a")}
X4 = ("x", STRING, [4])
pool = [DECOMPOSED, COMPOSED, "K", "\u212a"]

build("equivalent_encoder",
      [node("LabelEncoder", ["x"], ["y"], domain=ML, keys_strings=[COMPOSED, "K"], values_floats=[2.0, 3.0], default_float=-7.0)],
      [X4], [("y", FLOAT, [4])], [BOTH_FORMS])
build("equivalent_decoder",
      [node("LabelEncoder", ["n"], ["t"], domain=ML, keys_int64s=[0, 1], values_strings=[COMPOSED, DECOMPOSED], default_string=""),
       node("LabelEncoder", ["t"], ["y"], domain=ML, keys_strings=[COMPOSED, DECOMPOSED], values_int64s=[5, 6], default_int64=-1)],
      [("n", INT64, [3])], [("t", STRING, [3]), ("y", INT64, [3])], [{"n": np.array([1, 0, 2], np.int64)}])
build("equivalent_mapper", [node("CategoryMapper", ["x"], ["y"], domain=ML, cats_strings=pool, cats_int64s=[1, 2, 3, 4])],
      [X4], [("y", INT64, [4])], [BOTH_FORMS])
build("equivalent_one_hot", [node("OneHotEncoder", ["x"], ["y"], domain=ML, cats_strings=pool)], [X4], [("y", FLOAT, [4, 4])], [BOTH_FORMS])
build("equivalent_terms",
      [node("TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0],
            ngram_indexes=[0, 1, 2, 3], pool_strings=pool)],
      [X4], [("y", FLOAT, [4])], [BOTH_FORMS])
build("equivalent_stop_words",
      [node("StringNormalizer", ["x"], ["y"], case_change_action="NONE", is_case_sensitive=1, stopwords=[COMPOSED, "K"])],
      [X4], [("y", STRING, None)], [BOTH_FORMS])
build("equivalent_labels",
      [node("LinearClassifier", ["f"], ["y", "scores"], domain=ML, classlabels_strings=[COMPOSED, DECOMPOSED, "K"],
            coefficients=[1.0, 0.0, 0.0, 1.0, -1.0, -1.0], intercepts=[0.0, 0.0, 0.0], post_transform="NONE"),
       node("LabelEncoder", ["y"], ["z"], domain=ML, keys_strings=[DECOMPOSED, COMPOSED], values_int64s=[1, 2], default_int64=-1)],
      [("f", FLOAT, ["n", 2])], [("y", STRING, ["n"]), ("scores", FLOAT, ["n", 3]), ("z", INT64, ["n"])],
      [{"f": np.array([[2, 1], [1, 2], [-1, -1]], np.float32)}])

# Values, a dimension, a node and a weight with such names.
build("equivalent_names",
      [node("Add", ["x", COMPOSED], ["a" + COMPOSED], name="n" + COMPOSED), node("Mul", ["a" + COMPOSED, DECOMPOSED], ["a" + DECOMPOSED], name="n" + DECOMPOSED),
       node("Sub", ["a" + DECOMPOSED, "a" + COMPOSED], ["y"]), node("Add", ["w", "K"], ["\u212a"]), node("Mul", ["\u212a", "K"], ["z"])],
      [("x", FLOAT, [COMPOSED]), ("w", FLOAT, [DECOMPOSED])], [("y", FLOAT, None), ("z", FLOAT, None)],
      [{"x": np.array([1, 2], np.float32), "w": np.array([1, 2, 3], np.float32)}],
      [constant(COMPOSED, np.float32(10)), constant(DECOMPOSED, np.float32(3)), constant("K", np.float32(4))])

print("by the reference evaluator:", ", ".join(evaluated))
lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
