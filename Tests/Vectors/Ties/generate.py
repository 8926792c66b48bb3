#!/usr/bin/env python3
"""Writes classifiers whose scores tie, and the results of exact arithmetic.

    python3 -m venv .venv && .venv/bin/pip install onnx==1.23.2 onnxruntime==1.32.0 coremltools==9.0
    .venv/bin/python generate.py

`expected.json` and `coreml.json` have the form of ../Parts/expected.json. A forest of n trees votes with 1/n, which is
rounded in the file; the exact sum of its votes is k/n. Labels and scores are those of k/n. ONNX Runtime adds float32
numbers, so it agrees for few trees only, and the script checks these."""

import json
import pathlib
from fractions import Fraction

import numpy as np
import onnx
import onnxruntime
from coremltools.proto import FeatureTypes_pb2, Model_pb2
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).parent
ML = "ai.onnx.ml"
COUNTS = [2, 6, 10, 12, 14, 18, 20, 22, 36, 50, 100]
TREES = max(COUNTS)
expected = {}


def value(array):
    array = np.asarray(array, float)
    return {"numbers": array.ravel().tolist(), "shape": list(array.shape)}


def forest(count, votes):
    """Returns attributes of trees, the i-th of which asks whether feature i is more than 0.5.

    `votes(answer)`: the classes that a tree votes for."""
    nodes = {"treeids": [], "nodeids": [], "modes": [], "featureids": [], "values": [], "truenodeids": [], "falsenodeids": []}
    leaves = {"treeids": [], "nodeids": [], "ids": [], "weights": []}
    for tree in range(count):
        for row in [(tree, 0, "BRANCH_LEQ", tree, 0.5, 1, 2), (tree, 1, "LEAF", 0, 0.0, 0, 0), (tree, 2, "LEAF", 0, 0.0, 0, 0)]:
            for key, item in zip(nodes, row):
                nodes[key].append(item)
        for answer in (0, 1):
            for target, weight in votes(answer):
                for key, item in zip(leaves, (tree, answer + 1, target, weight)):
                    leaves[key].append(item)
    return {f"nodes_{k}": v for k, v in nodes.items()} | {f"class_{k}": v for k, v in leaves.items()}


def write(name, nodes, outputs, x, results):
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", x.shape[1]])],
        [helper.make_tensor_value_info(*output) for output in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(ML, 3)], ir_version=9)
    onnx.checker.check_model(model)
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))
    expected[name] = [{"inputs": {"x": value(x)}, "outputs": {key: value(result) for key, result in results.items()}}]
    return dict(zip(results, onnxruntime.InferenceSession(model.SerializeToString()).run(list(results), {"x": x})))


# The first k features are 1.
yes = sorted({0, 1, 2, *[n // 2 for n in COUNTS], *[n // 2 + 1 for n in COUNTS], *COUNTS})
x = np.array([[float(i < k) for i in range(TREES)] for k in yes], np.float32)
nodes, outputs, results = [], [], {}
for n in COUNTS:
    shares = [min(Fraction(k, n), Fraction(1)) for k in yes]
    for form, votes in [("one", lambda answer: [(0, answer / n)]), ("each", lambda answer: [(0, 0.0), (answer, 1 / n)])]:
        # Two classes with votes for one of them, and four classes.
        labels = [3, 8] if form == "one" else [3, 8, 9, 10]
        names = [f"{form}_{n}", f"{form}_{n}_scores"]
        nodes.append(helper.make_node(
            "TreeEnsembleClassifier", ["x"], names, domain=ML, classlabels_int64s=labels, post_transform="NONE",
            **forest(n, votes)))
        outputs += [(names[0], TensorProto.INT64, ["n"]), (names[1], TensorProto.FLOAT, ["n", len(labels)])]
        results[names[0]] = [8 if share > Fraction(1, 2) else 3 for share in shares]
        results[names[1]] = [[float(1 - share), float(share), *[0.0] * (len(labels) - 2)] for share in shares]
found = write("votes", nodes, outputs, x, results)
for name, result in found.items():
    if int(name.split("_")[1]) <= 18:
        assert np.allclose(result, results[name], atol=1e-6), name

# Scores that are equal in float32 and differ in the last bits of double precision.
x = np.array([[0.1, 0.7], [0.3, 0.1], [0.0, 0.0], [1.0, 1.0]], np.float32)
weights = np.array([[3.0, 0.1], [0.1, 3.0], [1.5, 1.5]], np.float32)
weights = np.concatenate([weights, np.nextafter(weights[:1], np.float32(np.inf))])
scores = (x.astype(float) @ weights.T.astype(float)).astype(np.float32)
node = helper.make_node(
    "LinearClassifier", ["x"], ["label", "scores"], domain=ML, coefficients=weights.ravel().tolist(), intercepts=[0.0] * 4,
    classlabels_ints=[5, 6, 7, 8], post_transform="NONE")
write("linear", [node], [("label", TensorProto.INT64, ["n"]), ("scores", TensorProto.FLOAT, ["n", 4])], x, {
    "label": [[5, 6, 7, 8][row.argmax()] for row in scores], "scores": scores})
(FOLDER / "expected.json").write_text(json.dumps(expected, indent=None) + "\n")

# Core ML's trees are in double precision, in which other numbers of trees do not add up to 1.
coreml = {}
for n in [18, 22, 36, 49, 100]:
    spec = Model_pb2.Model(specificationVersion=4)
    item = spec.description.input.add(name="x")
    item.type.multiArrayType.dataType = FeatureTypes_pb2.ArrayFeatureType.ArrayDataType.Value("DOUBLE")
    item.type.multiArrayType.shape.append(n)
    spec.description.output.add(name="label").type.int64Type.SetInParent()
    spec.description.output.add(name="p").type.dictionaryType.int64KeyType.SetInParent()
    spec.description.predictedFeatureName, spec.description.predictedProbabilitiesName = "label", "p"
    classifier = spec.treeEnsembleClassifier
    classifier.int64ClassLabels.vector.extend([3, 8])
    parameters = classifier.treeEnsemble
    parameters.numPredictionDimensions = 1
    parameters.basePredictionValue.append(0.0)
    for tree in range(n):
        parameters.nodes.add(
            treeId=tree, nodeId=0, nodeBehavior=0, branchFeatureIndex=tree, branchFeatureValue=0.5, trueChildNodeId=1,
            falseChildNodeId=2)
        for answer in (0, 1):
            leaf = parameters.nodes.add(treeId=tree, nodeId=1 + answer, nodeBehavior=6)
            leaf.evaluationInfo.add(evaluationIndex=0, evaluationValue=answer / n)
    name = f"votes_{n}"
    (FOLDER / f"{name}.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))
    coreml[name] = []
    for k in [0, n // 2, n // 2 + 1, n]:
        share = Fraction(k, n)
        coreml[name].append({
            "inputs": {"x": value([float(i < k) for i in range(n)])},
            "outputs": {"label": {"number": 8 if share > Fraction(1, 2) else 3},
                        "p": {"map": {"3": float(1 - share), "8": float(share)}}}})
(FOLDER / "coreml.json").write_text(json.dumps(coreml) + "\n")
