#!/usr/bin/env python3
"""Writes Core ML's classical models and the results of scikit-learn, NumPy or a plain recursive traversal, in double
precision.

    python3 -m venv .venv && .venv/bin/pip install coremltools==9.0 scikit-learn==1.5.1 "numpy<2.3"
    .venv/bin/python coreml.py

`NAME.mlmodel` is a model; `coreml.json` has the form of ../Parts/coreml.json."""

import json
import math
import pathlib

import numpy as np
from coremltools.converters import sklearn as converter
from coremltools.proto import FeatureTypes_pb2, Model_pb2
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

import trees

FOLDER = pathlib.Path(__file__).parent
DOUBLE = FeatureTypes_pb2.ArrayFeatureType.ArrayDataType.Value("DOUBLE")
R = np.random.default_rng(20261127)
NAMES = ["a", "b", "c", "d"]
expected = {}


def write(name, spec, cases):
    (FOLDER / f"{name}.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))
    expected[name] = [{"inputs": inputs, "outputs": outputs} for inputs, outputs in cases]


def inputs(row):
    """Returns a feature for each number; a missing number is left out."""
    return {name: {"number": float(x)} for name, x in zip(NAMES, row) if not math.isnan(x)}


def entries(labels, scores):
    return {"map": {str(label): float(score) for label, score in zip(labels, scores)}}


# Rows of float32 numbers, as scikit-learn's trees see them.
train = R.normal(size=(160, 4)).astype(np.float32).astype(float)
test = R.normal(size=(6, 4)).astype(np.float32).astype(float)
classes = np.array(["low", "mid", "high"])[np.digitize(train @ [1.0, -2.0, 0.5, 0.25], [-1, 1])]
two = np.where(train[:, 0] * train[:, 1] + 0.1 * R.normal(size=160) > 0, 8, -3)
target = train @ [1.0, 2.0, -0.5, 0.1] + 0.1


def regressor(name, model, y=target):
    model.fit(train, y)
    write(name, converter.convert(model, NAMES, "y").get_spec(), [
        (inputs(row), {"y": {"number": float(model.predict([row])[0])}}) for row in test])


def classifier(name, model, y, scores=None):
    model.fit(train, y)
    spec = converter.convert(model, NAMES, "label").get_spec()
    label = spec.description.predictedFeatureName
    kind = "text" if y is classes else "number"
    cases = []
    for row in test:
        found = model.predict([row])[0]
        outputs = {label: {kind: str(found) if kind == "text" else int(found)}}
        if scores is not None:
            outputs[spec.description.predictedProbabilitiesName] = entries(model.classes_, scores(model, row))
        cases.append((inputs(row), outputs))
    write(name, spec, cases)


def probable(model, row):
    return model.predict_proba([row])[0]


def added(model, row):
    """Adds the shares of all trees: coremltools converts trees of more than two classes unchanged, and Core ML adds
    them."""
    return model.n_estimators * probable(model, row)


def sigmoid(model, row):
    """Returns the probabilities of two classes by the only sigmoid, which scikit-learn's libsvm couples nonetheless."""
    # libsvm's decision is for the first class, scikit-learn's for the second.
    first = 1 / (1 + np.exp(model._probA[0] * -model.decision_function([row])[0] + model._probB[0]))
    return [first, 1 - first]


regressor("linear", LinearRegression())
regressor("forest", RandomForestRegressor(7, max_depth=4, random_state=0))
regressor("boosting", GradientBoostingRegressor(n_estimators=9, random_state=1))
for kernel in ["rbf", "poly", "sigmoid", "linear"]:
    regressor(f"svr_{kernel}", SVR(kernel=kernel, degree=2, coef0=0.5, C=2, epsilon=0.3))
regressor("pipeline", Pipeline([
    ("scale", StandardScaler()), ("normalize", Normalizer("l2")), ("boosting", GradientBoostingRegressor(n_estimators=5, random_state=2))]))
classifier("logistic", LogisticRegression(multi_class="ovr"), classes, probable)
classifier("logistic_two", LogisticRegression(multi_class="ovr"), two, probable)
classifier("forest_classes", RandomForestClassifier(9, max_depth=4, random_state=3), classes, added)
classifier("forest_two", RandomForestClassifier(9, max_depth=4, random_state=3), two, probable)
classifier("boosting_two", GradientBoostingClassifier(n_estimators=6, random_state=4), two, probable)
classifier("svc", SVC(probability=True, random_state=5), classes, probable)
classifier("svc_two", SVC(kernel="poly", degree=3, coef0=1, probability=True, random_state=5), two, sigmoid)
classifier("svc_votes", NuSVC(kernel="sigmoid", gamma=0.1, nu=0.3), classes)


def describe(inputs, outputs, spec=None):
    spec = spec or Model_pb2.Model()
    spec.specificationVersion = 4
    for features, described in [(inputs, spec.description.input), (outputs, spec.description.output)]:
        for name, kind, *size in features:
            item = described.add()
            item.name = name
            if kind == "array":
                item.type.multiArrayType.dataType = DOUBLE
                item.type.multiArrayType.shape.append(size[0])
            elif kind == "labels":
                item.type.dictionaryType.stringKeyType.MergeFromString(b"")
            else:
                getattr(item.type, f"{kind}Type").MergeFromString(b"")
    return spec


MODES = {"LEQ": 0, "LT": 1, "GTE": 2, "GT": 3, "EQ": 4, "NEQ": 5}


def plant(parameters, forest, targets, base):
    """Numbers trees and nodes with ids that do not begin at 0 and are not consecutive."""
    parameters.numPredictionDimensions = targets
    parameters.basePredictionValue.extend(base)
    for tree, own, content, if_true, if_false in trees.numbered(forest):
        node = parameters.nodes.add()
        node.treeId, node.nodeId = 3 * tree + 5, 7 * own + 2
        if isinstance(content, tuple):
            node.nodeBehavior = MODES[content[0]]
            node.branchFeatureIndex, node.branchFeatureValue, node.missingValueTracksTrueChild = content[1:4]
            node.trueChildNodeId, node.falseChildNodeId = 7 * if_true + 2, 7 * if_false + 2
        else:
            node.nodeBehavior = 6
            for index, weight in content:
                vote = node.evaluationInfo.add()
                vote.evaluationIndex, vote.evaluationValue = index, weight


GRID = [-1.0, -0.1, 0.0, 1 / 3, 0.7, 1.0]
grid = R.choice(GRID, size=(12, 4))
grid[R.uniform(size=grid.shape) < 0.15] = np.nan

# Every test, missing numbers, thresholds that are not float32.
forest = [trees.grow(R, 5, 4, 1, list(MODES), values=GRID) for _ in range(9)]
spec = describe([(name, "double") for name in NAMES], [("y", "double")])
for item in spec.description.input:
    item.type.isOptional = True
plant(spec.treeEnsembleRegressor.treeEnsemble, forest, 1, [0.1])
write("tree_tests", spec, [
    (inputs(row), {"y": {"number": trees.evaluate(forest, row, 1, base=[0.1], strict=True)[0]}}) for row in grid])

# Several numbers, out of two features.
forest = [trees.grow(R, 4, 4, 3, ["LEQ", "GT"], votes=2, values=GRID) for _ in range(5)]
spec = describe([("v", "array", 3), ("d", "double")], [("y", "array", 3)])
plant(spec.treeEnsembleRegressor.treeEnsemble, forest, 3, [0.1, 0.2, 0.3])
write("tree_numbers", spec, [
    ({"v": {"numbers": list(row[:3]), "shape": [3]}, "d": {"number": row[3]}},
     {"y": {"numbers": trees.evaluate(forest, row, 3, base=[0.1, 0.2, 0.3]), "shape": [3]}})
    for row in R.choice(GRID, size=(7, 4))])

# A class without its own score, and a softmax of all.
LABELS = ["red", "green", "blue"]
for name, transform, targets in [("tree_reference", 3, 2), ("tree_softmax", 1, 3)]:
    forest = [trees.grow(R, 4, 4, targets, ["LEQ"], votes=2, values=GRID) for _ in range(6)]
    spec = describe([("x", "array", 4)], [("label", "string"), ("p", "labels")])
    spec.description.predictedFeatureName, spec.description.predictedProbabilitiesName = "label", "p"
    model = spec.treeEnsembleClassifier
    plant(model.treeEnsemble, forest, targets, [0.0] * targets)
    model.postEvaluationTransform = transform
    model.stringClassLabels.vector.extend(LABELS)
    cases = []
    for row in R.choice(GRID, size=(7, 4)):
        scores = np.array([0.0] * (3 - targets) + trees.evaluate(forest, row, targets))
        shares = np.exp(scores) / np.exp(scores).sum()
        cases.append(({"x": {"numbers": list(row), "shape": [4]}},
                      {"label": {"text": LABELS[scores.argmax()]}, "p": entries(LABELS, shares)}))
    write(name, spec, cases)

# Vectors of which most numbers are 0, counted from 1.
vectors = np.where(R.uniform(size=(6, 4)) < 0.5, R.normal(size=(6, 4)), 0)
alpha, gamma = R.normal(size=6), 0.4
spec = describe([("x", "array", 4)], [("y", "double")])
model = spec.supportVectorRegressor
model.kernel.rbfKernel.gamma = gamma
model.rho = 0.3
model.coefficients.alpha.extend(alpha)
for vector in vectors:
    item = model.sparseSupportVectors.vectors.add()
    for index in np.flatnonzero(vector):
        node = item.nodes.add()
        node.index, node.value = int(index) + 1, vector[index]
write("svr_sparse", spec, [
    ({"x": {"numbers": list(row), "shape": [4]}},
     {"y": {"number": float(alpha @ np.exp(-gamma * ((vectors - row) ** 2).sum(1)) - 0.3)}}) for row in test])

# Samples, by how near they are; some rows are samples.
samples = train[:40].astype(np.float32)
labels = np.array(["north", "east", "south"])[R.integers(3, size=40)]
rows = [*test, samples[7].astype(float)]
for name, weights, kind in [("neighbors", "uniform", "linearIndex"), ("neighbors_distance", "distance", "singleKdTreeIndex")]:
    found = KNeighborsClassifier(5, weights=weights, algorithm="brute").fit(samples, labels)
    spec = describe([("x", "array", 4)], [("label", "string"), ("p", "labels")])
    spec.description.predictedFeatureName, spec.description.predictedProbabilitiesName = "label", "p"
    model = spec.kNearestNeighborsClassifier
    getattr(model.nearestNeighborsIndex, kind).MergeFromString(b"")
    model.nearestNeighborsIndex.squaredEuclideanDistance.MergeFromString(b"")
    model.nearestNeighborsIndex.numberOfDimensions = 4
    for sample in samples:
        model.nearestNeighborsIndex.floatSamples.add().vector.extend(sample)
    model.stringClassLabels.vector.extend(labels)
    model.numberOfNeighbors.defaultValue = 5
    model.numberOfNeighbors.range.minValue, model.numberOfNeighbors.range.maxValue = 1, 40
    getattr(model, "uniformWeighting" if weights == "uniform" else "inverseDistanceWeighting").MergeFromString(b"")
    write(name, spec, [
        ({"x": {"numbers": list(row), "shape": [4]}},
         {"label": {"text": str(found.predict([row])[0])}, "p": entries(found.classes_, found.predict_proba([row])[0])})
        for row in rows])

# A number that float32 cannot represent: 1 · 1 + 2 · 1 + 0.1.
spec = describe([("a", "double"), ("b", "double")], [("y", "double")])
spec.glmRegressor.weights.add().value.extend([1.0, 2.0])
spec.glmRegressor.offset.append(0.1)
write("linear_exact", spec, [({"a": {"number": a}, "b": {"number": b}}, {"y": {"number": a + 2 * b + 0.1}}) for a, b in ((1.0, 1.0), (0.1, 0.7), (1e9, 1e-9))])

# A chain of transformers, each in double precision, and an array at its end.
spec = describe([("a", "double"), ("v", "array", 3)], [("y", "array", 2)])
spec.pipeline.names.extend(["join", "impute", "scale", "normalize", "choose"])
part = describe([("a", "double"), ("v", "array", 3)], [("joined", "array", 4)], spec.pipeline.models.add())
for column, size in [("v", 3), ("a", 1)]:
    item = part.featureVectorizer.inputList.add()
    item.inputColumn, item.inputDimensions = column, size
part = describe([("joined", "array", 4)], [("whole", "array", 4)], spec.pipeline.models.add())
part.imputer.imputedDoubleArray.vector.extend([0.1, 0.2, 0.3, 0.4])
part.imputer.replaceDoubleValue = float("nan")
part = describe([("whole", "array", 4)], [("scaled", "array", 4)], spec.pipeline.models.add())
part.scaler.shiftValue.extend([0.1, -0.2, 0.3, 0.0])
part.scaler.scaleValue.append(1 / 3)
part = describe([("scaled", "array", 4)], [("unit", "array", 4)], spec.pipeline.models.add())
part.normalizer.normType = 2
part = describe([("unit", "array", 4)], [("y", "array", 2)], spec.pipeline.models.add())
part.arrayFeatureExtractor.extractIndex.extend([3, 1])
cases = []
for row in [[0.1, None, 0.7, 1 / 3], [-1.0, 2.5, None, 1e-3]]:
    x = np.array([fill if number is None else number for number, fill in zip(row, [0.1, 0.2, 0.3, 0.4])])
    x = (x + [0.1, -0.2, 0.3, 0.0]) * (1 / 3)
    x /= np.sqrt((x ** 2).sum())
    cases.append(({"a": {"number": row[3]}, "v": {"numbers": row[:3], "shape": [3]}}, {"y": {"numbers": [x[3], x[1]], "shape": [2]}}))
write("transformers", spec, cases)

lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "coreml.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
