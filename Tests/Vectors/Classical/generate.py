#!/usr/bin/env python3
"""Writes ONNX's classical models and the results of scikit-learn, ONNX's reference evaluator or a plain recursive
traversal.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 scikit-learn==1.9.1 skl2onnx==1.20.0
    .venv/bin/python generate.py

`NAME.onnx` is a model; `expected.json` has the form of ../Parts/expected.json."""

import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

import trees

FOLDER = pathlib.Path(__file__).parent
ML = "ai.onnx.ml"
FLOAT, DOUBLE, INT64, STRING = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING
R = np.random.default_rng(20261126)
expected = {}


def value(array):
    array = np.asarray(array)
    if array.dtype.kind in "OU":
        return {"texts": [str(text) for text in array.ravel()]}
    return {"numbers": [None if np.isnan(x) else float(x) for x in array.ravel()], "shape": list(array.shape)}


def write(name, model, cases):
    """`cases`: inputs and outputs by name."""
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    expected[name] = [
        {"inputs": {k: value(v) for k, v in inputs.items()}, "outputs": {k: value(v) for k, v in outputs.items()}}
        for inputs, outputs in cases]


def build(kind, outputs, version, features=4, scalar=FLOAT, more=(), **attributes):
    node = helper.make_node(kind, ["x"], [name for name, _, _ in outputs], domain=ML, **attributes)
    graph = helper.make_graph(
        [node, *more], kind, [helper.make_tensor_value_info("x", scalar, ["n", features])],
        [helper.make_tensor_value_info(*output) for output in outputs])
    # The model declares only this domain.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(ML, version)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def rows(count, features=4, missing=0.0, grid=None):
    x = R.choice(grid, size=(count, features)) if grid is not None else R.normal(size=(count, features))
    return np.where(R.uniform(size=x.shape) < missing, np.nan, x).astype(np.float32)


def forest_attributes(forest, leaves):
    table = trees.numbered(forest)
    branch = [isinstance(node, tuple) for _, _, node, _, _ in table]
    attributes = {
        "nodes_treeids": [row[0] for row in table], "nodes_nodeids": [row[1] for row in table],
        "nodes_modes": [f"BRANCH_{row[2][0]}" if is_branch else "LEAF" for row, is_branch in zip(table, branch)],
        "nodes_featureids": [row[2][1] if is_branch else 0 for row, is_branch in zip(table, branch)],
        "nodes_values": [row[2][2] if is_branch else 0.0 for row, is_branch in zip(table, branch)],
        "nodes_missing_value_tracks_true": [int(is_branch and row[2][3]) for row, is_branch in zip(table, branch)],
        "nodes_truenodeids": [row[3] for row in table], "nodes_falsenodeids": [row[4] for row in table],
    }
    votes = [(row[0], row[1], target, weight) for row, is_branch in zip(table, branch) if not is_branch for target, weight in row[2]]
    for place, part in enumerate(["treeids", "nodeids", "ids", "weights"]):
        attributes[f"{leaves}_{part}"] = [vote[place] for vote in votes]
    return attributes


GRID = [-1.0, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0]
ALL = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ"]

# Every test, numbers that are missing, every aggregate.
for aggregate in ["SUM", "AVERAGE", "MIN", "MAX"]:
    forest = [trees.grow(R, 3, 4, 3, ALL, votes=3) for _ in range(3 if aggregate == "MIN" else 11)]
    base = [0.5, -1.0, 2.0]
    model = build("TreeEnsembleRegressor", [("y", FLOAT, ["n", 3])], 3, n_targets=3, aggregate_function=aggregate,
                  base_values=base, **forest_attributes(forest, "target"))
    cases = []
    for count in (1, 21):
        x = rows(count, missing=0.1, grid=GRID)
        cases.append(({"x": x}, {"y": np.array([trees.evaluate(forest, row, 3, aggregate, base) for row in x])}))
    write(f"tree_regressor_{aggregate.lower()}", model, cases)

# Double precision: thresholds that are not float32.
forest = [trees.grow(R, 5, 4, 1, ["LEQ", "LT"], values=[1 / 3, -0.1, 0.7, 1e-9]) for _ in range(5)]
attributes = forest_attributes(forest, "target")
for key in ("nodes_values", "target_weights"):
    attributes[f"{key}_as_tensor"] = helper.make_tensor(key, DOUBLE, [len(attributes[key])], attributes.pop(key))
model = build("TreeEnsembleRegressor", [("y", FLOAT, ["n", 1])], 3, scalar=DOUBLE, n_targets=1, **attributes)
x = R.choice([1 / 3, np.nextafter(1 / 3, 1), -0.1, np.nextafter(-0.1, 0), 0.7, 1e-9, 0.0], size=(40, 4))
write("tree_regressor_double", model, [({"x": x}, {"y": np.array([trees.evaluate(forest, row, 1) for row in x])})])

# Classes that no leaf votes for, and transforms.
for transform in ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]:
    forest = [trees.grow(R, 4, 4, 4, ["LEQ", "GT"], votes=4) for _ in range(7)]
    model = build(
        "TreeEnsembleClassifier", [("label", STRING, ["n"]), ("scores", FLOAT, ["n", 4])], 3,
        classlabels_strings=["a", "b", "c", "größer"], post_transform=transform, base_values=[0.25, 0.0, -0.25, 0.5],
        **forest_attributes(forest, "class"))
    x = rows(19)
    raw = np.array([trees.evaluate(forest, row, 4, base=[0.25, 0.0, -0.25, 0.5]) for row in x])
    power = np.exp(raw - raw.max(1, keepdims=True))
    scores = {"NONE": raw, "LOGISTIC": 1 / (1 + np.exp(-raw))}.get(transform, power / power.sum(1, keepdims=True))
    label = np.array(["a", "b", "c", "größer"])[raw.argmax(1)]
    write(f"tree_classifier_{transform.lower()}", model, [({"x": x}, {"label": label, "scores": scores})])

# Nodes that are branches alone, sets of members, several kinds of result.
for kind, scalar, count in [("float", FLOAT, 4), ("double", DOUBLE, 11)]:
    members = [trees.grow(R, 4, 4, 2, ALL + ["MEMBER"] * 3, values=GRID) for _ in range(count)]
    nodes, leaves, roots, sets = [], [], [], []

    def place(tree):
        if not isinstance(tree, tuple):
            leaves.append(tree[0])
            return len(leaves) - 1, 1
        own = len(nodes)
        nodes.append(None)
        if tree[0] == "MEMBER":
            sets.append((own, tree[2]))
        nodes[own] = (tree, place(tree[4]), place(tree[5]))
        return own, 0

    for tree in members:
        if isinstance(tree, tuple):
            roots.append(place(tree)[0])
        else:  # a leaf alone is a branch whose children are both that leaf
            roots.append(len(nodes))
            nodes.append((("LEQ", 0, 0.0, False), *[place(tree)] * 2))
    order = ["LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER"]
    constants = {
        "nodes_modes": (TensorProto.UINT8, [order.index(node[0][0]) for node in nodes]),
        "nodes_splits": (scalar, [0.0 if node[0][0] == "MEMBER" else node[0][2] for node in nodes]),
        "leaf_weights": (scalar, [weight for _, weight in leaves]),
        "membership_values": (scalar, [x for _, numbers in sorted(sets) for x in [*numbers, np.nan]]),
    }
    model = build(
        "TreeEnsemble", [("y", scalar, ["n", 2])], 5, scalar=scalar, n_targets=2, aggregate_function=1, post_transform=0,
        tree_roots=roots, nodes_featureids=[node[0][1] for node in nodes],
        nodes_missing_value_tracks_true=[int(node[0][3]) for node in nodes],
        nodes_truenodeids=[node[1][0] for node in nodes], nodes_trueleafs=[node[1][1] for node in nodes],
        nodes_falsenodeids=[node[2][0] for node in nodes], nodes_falseleafs=[node[2][1] for node in nodes],
        leaf_targetids=[target for target, _ in leaves],
        **{key: helper.make_tensor(key, kind_, [len(numbers)], numbers) for key, (kind_, numbers) in constants.items()})
    x = rows(17, missing=0.1, grid=GRID).astype(np.float32 if scalar == FLOAT else np.float64)
    y = np.array([trees.evaluate(members, row, 2) for row in x])
    write(f"tree_ensemble_{kind}", model, [({"x": x}, {"y": y})])

# Models converted from scikit-learn.
train = R.normal(size=(160, 4)).astype(np.float32)
classes = np.array(["low", "mid", "high"])[np.digitize(train @ [1.0, -2.0, 0.5, 0.25] + 0.3 * R.normal(size=160), [-1, 1])]
two = np.where(train[:, 0] * train[:, 1] + 0.1 * R.normal(size=160) > 0, 8, -3)
target = train @ [[1.0, 0.5], [2.0, -1.0], [-0.5, 0.25], [0.1, 0.0]] + [0.5, -0.25]
# float32 rows that are not too near to a boundary.
test = R.normal(size=(23, 4)).astype(np.float32)
test = test[np.abs(test @ [1.0, -2.0, 0.5, 0.25]).round(1) != 1.0]


def convert(model, name, outputs, options=None):
    converted = convert_sklearn(
        model, initial_types=[("x", FloatTensorType([None, 4]))], target_opset={"": 17, ML: 3}, options=options)
    # Names and orders are fixed, because the converter's are random; every run writes the same bytes.
    converted.graph.name = name
    for node in converted.graph.node:
        attributes = sorted(node.attribute, key=lambda attribute: attribute.name)
        del node.attribute[:]
        node.attribute.extend(attributes)
    made = [output.name for output in converted.graph.output]
    cases = [{"x": test[:1]}, {"x": test}]
    write(name, converted, [
        (inputs, dict(zip(made, outputs(model, inputs["x"]), strict=True))) for inputs in cases])


def classified(model, x):
    return model.predict(x), model.predict_proba(x)


def predicted(model, x):
    y = model.predict(x)
    return [y.reshape(len(x), -1)]


plain = {"zipmap": False}
forest = RandomForestClassifier(12, max_depth=4, random_state=0).fit(train, classes)
convert(forest, "sklearn_forest", classified, {id(forest): plain})
for name, model in [
    ("sklearn_forest_two", RandomForestClassifier(9, max_depth=4, random_state=1).fit(train, two)),
    ("sklearn_boosting_two", GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=2).fit(train, two)),
    ("sklearn_boosting", GradientBoostingClassifier(n_estimators=5, max_depth=3, random_state=2).fit(train, classes)),
    ("sklearn_logistic", LogisticRegression().fit(train, classes)),
    ("sklearn_logistic_two", LogisticRegression().fit(train, two)),
]:
    convert(model, name, classified, {id(model): plain})
convert(RandomForestRegressor(7, max_depth=5, random_state=3).fit(train, target), "sklearn_forest_numbers", predicted)
convert(GradientBoostingRegressor(n_estimators=9, random_state=4).fit(train, target[:, 0]), "sklearn_boosting_number", predicted)
convert(LinearRegression().fit(train, target), "sklearn_linear", predicted)
for kernel in ["rbf", "poly", "sigmoid", "linear"]:
    convert(SVR(kernel=kernel, degree=2, coef0=0.5, C=0.2).fit(train, target[:, 0]), f"sklearn_svr_{kernel}", predicted)
for name, model in [
    ("sklearn_svc", SVC(kernel="rbf", probability=True, random_state=5).fit(train, classes)),
    ("sklearn_svc_poly", SVC(kernel="poly", degree=3, coef0=1, probability=True, random_state=5).fit(train, classes)),
]:
    convert(model, name, classified, {id(model): plain})
convert(OneClassSVM(nu=0.4).fit(train), "sklearn_one_class", lambda model, x: [
    model.predict(x).reshape(-1, 1), model.decision_function(x).reshape(-1, 1)])
pipeline = make_pipeline(
    SimpleImputer(), StandardScaler(), Normalizer("l2"), GradientBoostingRegressor(n_estimators=5, random_state=6))
train[R.uniform(size=train.shape) < 0.05] = np.nan
test[3, 1] = test[5, 0] = np.nan
convert(pipeline.fit(train, target[:, 1]), "sklearn_imputed", predicted)

# Operators alone, by ONNX's reference evaluator.
for name, model in [
    ("svm_two", build(
        "SVMClassifier", [("label", INT64, ["n"]), ("scores", FLOAT, ["n", 2])], 1, classlabels_ints=[4, 9],
        coefficients=[0.5, 1.0, -0.75, -0.75], kernel_type="RBF", kernel_params=[0.3, 0.0, 0.0], post_transform="NONE",
        rho=[0.1], support_vectors=R.normal(size=16).round(2).tolist(), vectors_per_class=[2, 2])),
    ("binarizer", build("Binarizer", [("y", FLOAT, ["n", 4])], 1, threshold=0.25)),
    ("normalizer_l1", build("Normalizer", [("y", FLOAT, ["n", 4])], 1, norm="L1")),
    ("imputer", build("Imputer", [("y", FLOAT, ["n", 4])], 1, imputed_value_floats=[1.0, 2.0, 3.0, 4.0], replaced_value_float=0.5)),
]:
    x = rows(9, grid=GRID)
    results = ReferenceEvaluator(model).run(None, {"x": x})
    write(name, model, [({"x": x}, dict(zip([output.name for output in model.graph.output], results)))])

# A leaf that is named thrice for the one target, as skl2onnx writes the leaves that rows come to: its first vote counts.
forest = [trees.grow(np.random.default_rng(7), 4, 4, 1, ["LEQ"]) for _ in range(2)]
attributes = forest_attributes(forest, "target")
for key in ("target_treeids", "target_nodeids", "target_ids", "target_weights"):
    votes = attributes[key]
    attributes[key] = [vote for vote in votes for _ in range(3)]
attributes["target_weights"] = [weight + vote for vote, weight in zip([0.0, 1.0, 2.0] * len(votes), attributes["target_weights"])]
model = build("TreeEnsembleRegressor", [("y", FLOAT, ["n", 1])], 3, n_targets=1, **attributes)
x = np.random.default_rng(8).normal(size=(12, 4)).astype(np.float32)
write("tree_regressor_repeated", model, [({"x": x}, {"y": np.array([trees.evaluate(forest, row, 1) for row in x])})])

lines = [f"{json.dumps(name)}: {json.dumps(cases, ensure_ascii=False)}" for name, cases in expected.items()]
(FOLDER / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
