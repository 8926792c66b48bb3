#!/usr/bin/env python3
"""Writes ONNX models with texts, maps and lists between their tensors, and what ONNX Runtime computes.

    python3 -m venv .venv && .venv/bin/pip install onnx onnxruntime scikit-learn skl2onnx pandas
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has, by the model's name, a list of cases with inputs and outputs by name:
`{"texts": […]}` row-major, `{"numbers": […], "shape": […]}` with null for what is no number, `{"map": {…}}` or `{"maps": [{…}]}`. Keys of maps are texts."""

import json
import pathlib

import numpy as np
import onnx
import onnxruntime
import pandas
from onnx import TensorProto, helper
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import DictVectorizer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import DictionaryType, FloatTensorType, StringTensorType

FOLDER = pathlib.Path(__file__).parent
ML = "ai.onnx.ml"
MICROSOFT = "com.microsoft"
OPSETS = {"": 17, ML: 4}
expected = {}


def value(array):
    if isinstance(array, dict):
        return {"map": {str(key): float(number) for key, number in array.items()}}
    if isinstance(array, list):
        return {"maps": [value(row)["map"] for row in array]}
    if array.dtype.kind in "OU":
        return {"texts": [str(text) for text in array.ravel()]}
    numbers = [None if np.isnan(number) else float(number) for number in array.ravel()]
    return {"numbers": numbers, "shape": list(array.shape)}


def write(name, model, cases):
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())
    session = onnxruntime.InferenceSession(str(FOLDER / f"{name}.onnx"), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    expected[name] = []
    for inputs in cases:
        results = session.run(None, inputs)
        expected[name].append({
            "inputs": {key: value(array) for key, array in inputs.items()},
            "outputs": {key: value(array) for key, array in zip(names, results)},
        })


def build(name, nodes, inputs, outputs, cases, initializers=(), opset=OPSETS[""]):
    def info(entry):
        key, kind, shape = entry
        return helper.make_tensor_value_info(key, kind, shape)

    graph = helper.make_graph(
        nodes, name, [entry if isinstance(entry, onnx.ValueInfoProto) else info(entry) for entry in inputs],
        [entry if isinstance(entry, onnx.ValueInfoProto) else info(entry) for entry in outputs], list(initializers))
    opsets = {**OPSETS, "": opset, **{MICROSOFT: 1 for node in nodes if node.domain == MICROSOFT}}
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid(domain, version) for domain, version in opsets.items()], ir_version=9)
    onnx.checker.check_model(model)
    write(name, model, cases)


def ml(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs, outputs, domain=ML, **attributes)


def texts(*items, shape=None):
    return np.array(items, dtype=object).reshape(shape or [len(items)])


def constant(name, array):
    return onnx.numpy_helper.from_array(np.asarray(array), name)


def maps(name, key):
    kind = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return helper.make_value_info(name, helper.make_sequence_type_proto(kind))


STRING, INT64, FLOAT = TensorProto.STRING, TensorProto.INT64, TensorProto.FLOAT
R = np.random.default_rng(20260822)
WORDS = ["red", "green", "blue", "grau", "größer"]

# Texts, a graph, texts, a graph: the sizes of both follow the number of texts.
table = R.normal(size=(len(WORDS) + 1, 4)).astype(np.float32)
build(
    "words_in_turn",
    [
        ml("LabelEncoder", ["words"], ["indices"], keys_strings=WORDS, values_int64s=range(len(WORDS)), default_int64=len(WORDS)),
        helper.make_node("Gather", ["table", "indices"], ["rows"], axis=0),
        helper.make_node("ArgMax", ["rows"], ["best"], axis=-1, keepdims=0),
        ml("LabelEncoder", ["best"], ["names"], keys_int64s=[0, 1, 2], values_strings=["north", "east", "south"], default_string="elsewhere"),
        ml("CategoryMapper", ["names"], ["codes"], cats_strings=["east", "north", "elsewhere"], cats_int64s=[20, 10, -5], default_int64=7),
        helper.make_node("Mul", ["codes", "codes"], ["squares"]),
    ],
    [("words", STRING, ["n"])], [("names", STRING, ["n"]), ("rows", FLOAT, ["n", 4]), ("squares", INT64, ["n"])],
    [{"words": texts("red")}, {"words": texts("blue", "nothing", "größer", "", "green", "red", "grau")}, {"words": texts("x", "red")}],
    [constant("table", table)])

build(
    "category_mapper",
    [ml("CategoryMapper", ["codes"], ["names"], cats_strings=["a", "b"], cats_int64s=[5, -9], default_string="?")],
    [("codes", INT64, ["n", 2])], [("names", STRING, ["n", 2])],
    [{"codes": np.array([[5, -9], [0, 5]], np.int64)}])

build(
    "label_encoder_floats",
    [
        ml("LabelEncoder", ["x"], ["y"], keys_floats=[1.5, float("nan"), -0.0], values_strings=["half", "none", "zero"], default_string="other"),
        ml("LabelEncoder", ["y"], ["z"], keys_strings=["half", "none"], values_floats=[0.5, 2.25], default_float=-1.0),
    ],
    [("x", FLOAT, ["n"])], [("y", STRING, ["n"]), ("z", FLOAT, ["n"])],
    [{"x": np.array([1.5, np.nan, 0.0, 7, 1.5], np.float32)}])

build(
    "label_encoder_tensors",
    [ml("LabelEncoder", ["x"], ["y"], keys_tensor=constant("keys", np.array([3, 4], np.int64)),
        values_tensor=constant("values", np.array(["three", "four"], dtype=object)),
        default_tensor=constant("other", np.array(["many"], dtype=object)))],
    [("x", INT64, ["n"])], [("y", STRING, ["n"])], [{"x": np.array([4, 3, 9], np.int64)}])

for kind, keys, labels in [("strings", STRING, {"classlabels_strings": ["no", "yes", "maybe"]}), ("integers", INT64, {"classlabels_int64s": [7, -1, 300]})]:
    build(
        f"zip_map_{kind}",
        [helper.make_node("Softmax", ["x"], ["p"], axis=-1), ml("ZipMap", ["p"], ["entries"], **labels)],
        [("x", FLOAT, ["n", 3])], [maps("entries", keys), ("p", FLOAT, ["n", 3])],
        [{"x": R.normal(size=(rows, 3)).astype(np.float32)} for rows in (1, 4)])

build(
    "one_hot_texts",
    [ml("OneHotEncoder", ["x"], ["y"], cats_strings=["a", "b", "c"], zeros=1)],
    [("x", STRING, ["n", 2])], [("y", FLOAT, ["n", 2, 3])],
    [{"x": texts("a", "c", "z", "b", shape=[2, 2])}])

build(
    "columns_of_texts",
    [
        helper.make_node("Gather", ["x", "second"], ["column"], axis=1),
        helper.make_node("Reshape", ["column", "flat"], ["list"]),
        helper.make_node("Identity", ["list"], ["y"]),
        helper.make_node("ArgMin", ["scores"], ["least"], axis=-1, keepdims=0),
        ml("ArrayFeatureExtractor", ["names", "least"], ["named"]),
    ],
    [("x", STRING, ["n", 3]), ("scores", FLOAT, ["m", 2])], [("y", STRING, ["n"]), ("named", STRING, [1, "m"])],
    [{"x": texts(*"abcdef", shape=[2, 3]), "scores": R.normal(size=(3, 2)).astype(np.float32)}],
    [constant("second", np.array([-2], np.int64)), constant("flat", np.array([-1], np.int64)),
     constant("names", np.array(["first", "second"], dtype=object))])

# Operators on strings.
LINES = ["The quick  brown fox", "", "größer", " a  b c", "x,y,,z,", "The END"]
build(
    "split_texts",
    [
        helper.make_node("StringSplit", ["x"], ["words", "counts"]),
        helper.make_node("StringSplit", ["x"], ["two", "some"], maxsplit=1),
        helper.make_node("StringSplit", ["y"], ["fields", "commas"], delimiter=","),
    ],
    [("x", STRING, ["n", 2]), ("y", STRING, ["m"])],
    [("words", STRING, ["n", 2, "w"]), ("counts", INT64, ["n", 2]), ("two", STRING, ["n", 2, "t"]), ("some", INT64, ["n", 2]),
     ("fields", STRING, ["m", "f"]), ("commas", INT64, ["m"])],
    [{"x": texts(*LINES, shape=[3, 2]), "y": texts("x,y,,z,", "none", ",")}, {"x": texts("", "  ", shape=[1, 2]), "y": texts("a,b")}],
    opset=20)

build(
    "joined_texts",
    [
        helper.make_node("StringConcat", ["x", "y"], ["both"]),
        helper.make_node("StringConcat", ["before", "both"], ["named"]),
        helper.make_node("RegexFullMatch", ["named"], ["matched"], pattern=r"no\. [a-z]+(-\d{1,3})?ß?"),
        helper.make_node("Cast", ["matched"], ["flags"], to=INT64),
    ],
    [("x", STRING, ["n", 1]), ("y", STRING, [3])], [("named", STRING, ["n", 3]), ("flags", INT64, ["n", 3])],
    [{"x": texts("a", "Größe", "", shape=[3, 1]), "y": texts("b-12", "-1234", "ß")}],
    [constant("before", np.array(["no. "], dtype=object))], opset=20)

for name, attributes in [
        ("stop_words", {"stopwords": ["the", "Fox"], "case_change_action": "UPPER", "is_case_sensitive": 0}),
        ("stop_words_by_case", {"stopwords": ["the", "Fox"], "case_change_action": "LOWER", "is_case_sensitive": 1}),
        ("no_stop_words", {})]:
    build(
        name, [helper.make_node("StringNormalizer", ["x"], ["y"], locale="C", **attributes)], [("x", STRING, [1, "n"])],
        [("y", STRING, [1, "m"])],
        [{"x": texts("The", "quick", "fox", "the", "Fox", shape=[1, 5])}, {"x": texts("the", "Fox", shape=[1, 2])}])

# Both spellings of what a token is, and characters. ONNX Runtime's normalizer of texts beside them would need a locale.
TOKENS = dict(domain=MICROSOFT, pad_value="#", mark=0)
build(
    "tokenized_texts",
    [
        helper.make_node("Concat", ["x", "y", "last"], ["all"], axis=1),
        helper.make_node("Flatten", ["all"], ["row"], axis=0),
        helper.make_node("Squeeze", ["row", "first"], ["list"]),
        helper.make_node("Tokenizer", ["list"], ["words"], mincharnum=2, tokenexp="[a-zß-ü]+|[0-9]+-?[0-9]*", **TOKENS),
        helper.make_node("Tokenizer", ["x"], ["parts"], mincharnum=1, separators=["[, ]+", "--?"], **{**TOKENS, "mark": 1}),
        helper.make_node("Tokenizer", ["list"], ["letters"], mincharnum=1, separators=[""], **TOKENS),
        helper.make_node("Unsqueeze", ["list", "first"], ["again"]),
    ],
    [("x", STRING, ["n", 2]), ("y", STRING, ["n", 1])],
    [("words", STRING, ["m", "w"]), ("parts", STRING, ["n", 2, "p"]), ("letters", STRING, ["m", "l"]), ("again", STRING, [1, "m"])],
    [{"x": texts("a größer 12-345-6", "", "-x, y--z w-", "no", shape=[2, 2]), "y": texts("über b", ",", shape=[2, 1])}],
    [constant("last", np.array([["end"], ["of it"]], dtype=object)), constant("first", np.array([0], np.int64))])

POOL = {"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 4, 3, 2, 5, 7], "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]}
WEIGHTS = [2.0, 0.5, 1.0, 3.0, 1.5, 0.25, 9.0]
for name, attributes in [
        ("term_counts", {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 3}),
        ("term_weights", {"mode": "IDF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0, "weights": WEIGHTS}),
        ("weighted_term_counts", {"mode": "TFIDF", "min_gram_length": 2, "max_gram_length": 2, "max_skip_count": 5, "weights": WEIGHTS})]:
    build(
        name, [helper.make_node("TfIdfVectorizer", ["x"], ["y"], **POOL, **attributes)], [("x", INT64, ["n", 12])],
        [("y", FLOAT, ["n", 8])],
        [{"x": np.array([[1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8], [5, 5, 6, 7, 8, 6, 7, 7, 7, 8, 2, 3]], np.int64)}])

build(
    "term_counts_of_texts",
    [helper.make_node(
        "TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=1, max_gram_length=3, max_skip_count=1,
        ngram_counts=[0, 2, 4], ngram_indexes=[1, 0, 3, 2], pool_strings=["new", "york", "new", "york", "new", "york", "city"])],
    [("x", STRING, ["n"])], [("y", FLOAT, [4])],
    [{"x": texts("new", "york", "city", "new", "old", "york", "new")}, {"x": texts("nothing")}])

build(
    "numbers_of_texts",
    [
        helper.make_node("Cast", ["x"], ["numbers"], to=FLOAT),
        helper.make_node("Cast", ["whole"], ["integers"], to=INT64),
        helper.make_node("Cast", ["integers"], ["again"], to=STRING),
    ],
    [("x", STRING, ["n"]), ("whole", STRING, ["m"])],
    [("numbers", FLOAT, ["n"]), ("integers", INT64, ["m"]), ("again", STRING, ["m"])],
    [{"x": texts("1.5", "-2e-3", "1E8", "7"), "whole": texts("9223372036854775807", "-12")}])

numbers = helper.make_value_info("x", helper.make_map_type_proto(INT64, helper.make_tensor_type_proto(FLOAT, [])))
for name, attributes in [("dense_map", {"map_form": "DENSE"}), ("sparse_map", {"map_form": "SPARSE", "max_map": 6})]:
    build(
        name, [ml("CastMap", ["x"], ["y"], cast_to="TO_FLOAT", **attributes)], [numbers], [("y", FLOAT, [1, "n"])],
        [{"x": {4: 2.5, 1: -1.0, 0: 3.0}}])

# Models converted from scikit-learn's pipelines.
count = 120
colors = R.choice(["red", "green", "blue"], count)
sizes = R.normal(size=count).astype(np.float32)
frame = pandas.DataFrame({"color": colors, "size": sizes})
classes = np.where((colors == "red") | (sizes > 1), "hot", np.where(colors == "blue", "cold", "mild"))
initial = [("color", StringTensorType([None, 1])), ("size", FloatTensorType([None, 1]))]


def rows(*pairs):
    return {"color": texts(*[color for color, _ in pairs], shape=[len(pairs), 1]),
            "size": np.array([[size] for _, size in pairs], np.float32)}


for name, encoder, unknown in [("sklearn_one_hot", OneHotEncoder(handle_unknown="ignore"), "violet"), ("sklearn_ordinal", OrdinalEncoder(), "blue")]:
    pipeline = make_pipeline(
        ColumnTransformer([("color", encoder, ["color"]), ("size", StandardScaler(), ["size"])]),
        MLPClassifier((5,), max_iter=400, random_state=0)).fit(frame, classes)
    model = convert_sklearn(pipeline, initial_types=initial, target_opset={"": 17, ML: 3})
    write(name, model, [rows(("red", 0.5)), rows(("blue", -1.0), (unknown, 2.0), ("green", 0.25))])

entries = [{"a": 1.0, "b": 2.0}, {"b": 3.0, "c": 1.0}] * 20
pipeline = make_pipeline(DictVectorizer(sparse=False), MLPClassifier((4,), max_iter=200, random_state=0)).fit(entries, [3, 8] * 20)
model = convert_sklearn(
    pipeline, initial_types=[("entries", DictionaryType(StringTensorType([1]), FloatTensorType([])))], target_opset={"": 17, ML: 3})
write("sklearn_dictionary", model, [{"entries": {"a": 1.0, "b": 2.0}}, {"entries": {"c": 4.0, "strange": 9.0}}, {"entries": {"b": -1.5}}])

lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
