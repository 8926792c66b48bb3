#!/usr/bin/env python3
"""Writes Core ML pipelines with texts and dictionaries between their numbers, and what NumPy's formulas give.

    python3 -m venv .venv && .venv/bin/pip install coremltools numpy
    .venv/bin/python coreml.py

`coreml.json` has the form of `expected.json`, with `{"text": …}` and `{"number": …}` for single values."""

import json
import pathlib

import numpy as np
from coremltools.proto import FeatureTypes_pb2, Model_pb2

FOLDER = pathlib.Path(__file__).parent
DOUBLE = FeatureTypes_pb2.ArrayFeatureType.ArrayDataType.Value("DOUBLE")
expected = {}


def feature(description, name, kind, size=None):
    item = description.add()
    item.name = name
    if kind == "array":
        item.type.multiArrayType.dataType = DOUBLE
        item.type.multiArrayType.shape.append(size)
    elif kind == "dictionary":
        item.type.dictionaryType.stringKeyType.MergeFromString(b"")
    else:
        getattr(item.type, f"{kind}Type").MergeFromString(b"")


def describe(spec, inputs, outputs):
    spec.specificationVersion = 3
    for entry in inputs:
        feature(spec.description.input, *entry)
    for entry in outputs:
        feature(spec.description.output, *entry)
    return spec


def stage(pipeline, inputs, outputs):
    return describe(pipeline.pipeline.models.add(), inputs, outputs)


def write(name, spec, cases):
    (FOLDER / f"{name}.mlmodel").write_bytes(spec.SerializeToString())
    expected[name] = [{"inputs": inputs, "outputs": outputs} for inputs, outputs in cases]


WEIGHTS = [0.5, -2.0, 3.0]

# A dictionary, a vector, a number.
spec = describe(Model_pb2.Model(), [("words", "dictionary")], [("y", "double"), ("vector", "array", 3)])
model = stage(spec, [("words", "dictionary")], [("vector", "array", 3)])
model.dictVectorizer.stringToIndex.vector.extend(["a", "b", "c"])
model = stage(spec, [("vector", "array", 3)], [("y", "double")])
model.glmRegressor.weights.add().value.extend(WEIGHTS)
model.glmRegressor.offset.append(0.25)


def dictionary_case(words):
    vector = [words.get(key, 0.0) for key in "abc"]
    return ({"words": {"map": words}}, {"y": {"number": float(np.dot(WEIGHTS, vector) + 0.25)},
                                        "vector": {"numbers": vector, "shape": [3]}})


write("dictionary_vectorizer", spec, [
    dictionary_case(words) for words in ({"a": 1.5, "c": -2.0}, {}, {"b": 0.1, "strange": 7.0})])

# A text, an index, a linear model, a label, an index of the label, a number.
CODES = {"red": 2, "green": -1, "blue": 5}
ROWS = np.array([[1.0, -0.5], [-1.0, 2.0]])
OFFSETS = np.array([0.25, -0.5])
LABELS = ["cold", "mild", "hot"]
spec = describe(
    Model_pb2.Model(), [("color", "string"), ("size", "double")], [("label", "string"), ("z", "double"), ("code", "int64")])
spec.description.predictedFeatureName = "label"
model = stage(spec, [("color", "string")], [("index", "int64")])
for word, code in CODES.items():
    model.categoricalMapping.stringToInt64Map.map[word] = code
model = stage(spec, [("index", "int64"), ("size", "double")], [("x", "array", 2)])
for column in ("index", "size"):
    item = model.featureVectorizer.inputList.add()
    item.inputColumn, item.inputDimensions = column, 1
model = stage(spec, [("x", "array", 2)], [("label", "string"), ("p", "dictionary")])
model.description.predictedFeatureName, model.description.predictedProbabilitiesName = "label", "p"
for row in ROWS:
    model.glmClassifier.weights.add().value.extend(row)
model.glmClassifier.offset.extend(OFFSETS)
model.glmClassifier.stringClassLabels.vector.extend(LABELS)
model = stage(spec, [("label", "string")], [("code", "int64")])
for word, code in {"cold": 10, "hot": 30}.items():
    model.categoricalMapping.stringToInt64Map.map[word] = code
model.categoricalMapping.int64Value = -7
model = stage(spec, [("code", "int64")], [("z", "double")])
model.scaler.shiftValue.append(1.0)
model.scaler.scaleValue.append(0.5)


def label_case(color, size):
    scores = np.concatenate([[0.0], ROWS @ [CODES[color], size] + OFFSETS])
    label = LABELS[int(np.argmax(scores))]
    code = {"cold": 10, "hot": 30}.get(label, -7)
    return ({"color": {"text": color}, "size": {"number": size}},
            {"label": {"text": label}, "code": {"number": code}, "z": {"number": (code + 1) * 0.5}})


LABEL_CASES = [
    label_case(*pair) for pair in (("red", 0.5), ("green", 3.0), ("green", -4.0), ("blue", 0.0), ("green", 0.0), ("green", -0.4))]
write("labels_in_the_middle", spec, LABEL_CASES)

# The same as converters' own functions join models, which do not say which feature is the label: read by a model behind the
# classifier, and the last of all.
spec.description.ClearField("predictedFeatureName")
write("unnamed_label_in_the_middle", spec, LABEL_CASES)
del spec.pipeline.models[3:], spec.description.output[1:]
write("unnamed_label", spec, [(inputs, {"label": outputs["label"]}) for inputs, outputs in LABEL_CASES])

# A recurrent layer's first state, which may be left out and has no value in the file.
spec = describe(Model_pb2.Model(), [("x", "array", 1), ("h", "array", 2)], [("y", "array", 2), ("state", "array", 2)])
spec.description.input[1].type.isOptional = True
layer = spec.neuralNetwork.layers.add()
layer.name = "recurrent"
layer.input.extend(["x", "h"])
layer.output.extend(["y", "state"])
layer.simpleRecurrent.inputVectorSize, layer.simpleRecurrent.outputVectorSize = 1, 2
layer.simpleRecurrent.activation.linear.alpha = 1
INPUT, RECURSION = [0.5, -1.5], [[0.25, -1.0], [2.0, 0.5]]
layer.simpleRecurrent.weightMatrix.floatValue.extend(INPUT)
layer.simpleRecurrent.recursionMatrix.floatValue.extend(np.ravel(RECURSION))


def state_case(x, h=None):
    y = (np.multiply(INPUT, x) + np.array(RECURSION) @ (h or [0, 0])).tolist()
    given = {} if h is None else {"h": {"numbers": h, "shape": [2]}}
    return ({"x": {"numbers": [x], "shape": [1]}} | given, {name: {"numbers": y, "shape": [2]} for name in ("y", "state")})


write("state_left_out", spec, [state_case(2.0), state_case(-1.0, [1.0, -2.0])])

# A classifier that is to be trained yet: it has a label for that.
spec = describe(Model_pb2.Model(), [("x", "array", 2)], [("label", "string"), ("p", "dictionary")])
spec.description.predictedFeatureName, spec.description.predictedProbabilitiesName = "label", "p"
neighbors = spec.kNearestNeighborsClassifier
neighbors.nearestNeighborsIndex.numberOfDimensions = 2
neighbors.nearestNeighborsIndex.linearIndex.MergeFromString(b"")
neighbors.nearestNeighborsIndex.squaredEuclideanDistance.MergeFromString(b"")
neighbors.numberOfNeighbors.defaultValue = 3
neighbors.numberOfNeighbors.range.minValue, neighbors.numberOfNeighbors.range.maxValue = 1, 3
neighbors.stringClassLabels.MergeFromString(b"")
neighbors.defaultStringLabel = "unknown"
neighbors.uniformWeighting.MergeFromString(b"")
write("untrained_neighbors", spec, [
    ({"x": {"numbers": [1.0, 2.0], "shape": [2]}}, {"label": {"text": "unknown"}, "p": {"map": {"unknown": 0.0}}})])

# A text, a vector, a number.
spec = describe(Model_pb2.Model(), [("color", "string")], [("y", "double")])
model = stage(spec, [("color", "string")], [("vector", "array", 3)])
model.oneHotEncoder.stringCategories.vector.extend(["red", "green", "blue"])
model.oneHotEncoder.handleUnknown = 1
model = stage(spec, [("vector", "array", 3)], [("y", "double")])
model.glmRegressor.weights.add().value.extend(WEIGHTS)
model.glmRegressor.offset.append(0.25)
write("one_hot_encoder", spec, [
    ({"color": {"text": color}}, {"y": {"number": WEIGHTS[["red", "green", "blue"].index(color)] + 0.25 if color != "violet" else 0.25}})
    for color in ("red", "blue", "violet")])

# Whole numbers to texts, with nothing else.
spec = describe(Model_pb2.Model(), [("code", "int64")], [("name", "string")])
spec.categoricalMapping.int64ToStringMap.map[404] = "not found"
spec.categoricalMapping.int64ToStringMap.map[-1] = "größer"
spec.categoricalMapping.strValue = "?"
write("categorical_mapping", spec, [
    ({"code": {"number": code}}, {"name": {"text": name}}) for code, name in ((404, "not found"), (-1, "größer"), (7, "?"))])

lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "coreml.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
