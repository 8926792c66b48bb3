#!/usr/bin/env python3
"""Writes Core ML's models that no converter makes, by their messages, and what the messages' comments say of them, in NumPy and
SciPy: Bayesian probit regression, items that are like others, and models that name another model's file.

    python3 -m venv .venv && .venv/bin/pip install coremltools==9.0 scipy "numpy<2.5"
    .venv/bin/python generate.py

`NAME.mlmodel` is a model; `expected.json` has the form of ../Parts/coreml.json. The files that `linked*.mlmodel` name are in `linked/` and
beside them."""

import json
import pathlib

import numpy as np
from coremltools.proto import FeatureTypes_pb2, Model_pb2
from scipy.stats import norm

FOLDER = pathlib.Path(__file__).parent
TYPES = FeatureTypes_pb2.ArrayFeatureType.ArrayDataType
R = np.random.default_rng(20261126)
expected = {}


def describe(inputs, outputs, optional=()):
    spec = Model_pb2.Model()
    spec.specificationVersion = 4
    for features, described in [(inputs, spec.description.input), (outputs, spec.description.output)]:
        for name, kind, *size in features:
            item = described.add()
            item.name = name
            item.type.isOptional = name in optional
            if kind == "array":
                item.type.multiArrayType.dataType = TYPES.Value("INT32" if size[0] == "int" else "DOUBLE")
                item.type.multiArrayType.shape.extend(size[1:])
            elif kind.startswith("map"):
                getattr(item.type.dictionaryType, "stringKeyType" if kind == "map" else "int64KeyType").MergeFromString(b"")
            elif kind.startswith("list"):
                getattr(item.type.sequenceType, "stringType" if kind == "list" else "int64Type").MergeFromString(b"")
            else:
                getattr(item.type, f"{kind}Type").MergeFromString(b"")
    return spec


def write(name, spec, cases, folder=FOLDER):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))
    if cases:
        expected[name] = [{"inputs": inputs, "outputs": outputs} for inputs, outputs in cases]


def probit():
    """Three features of four values each, one of which has no weight."""
    weights = {(feature, value): (R.normal(), R.uniform(0.5, 9)) for feature in range(3) for value in range(4)}
    del weights[1, 2]
    bias = -0.3, 2.5

    def spec(shape):
        spec = describe([("event", "array", "int", *shape), ("optimism", "double")],
                        [(name, "double") for name in ("click", "mean", "variance", "careful")])
        model = spec.bayesianProbitRegressor
        model.numberOfFeatures = 3
        model.bias.mean, model.bias.precision = bias
        for feature in range(3):
            own = model.features.add()
            own.featureId = feature
            for (number, value), (mean, precision) in weights.items():
                if number == feature:
                    entry = own.weights.add()
                    entry.featureValue = value
                    entry.featureWeight.mean, entry.featureWeight.precision = mean, precision
        model.regressionInputFeatureName, model.optimismInputFeatureName = "event", "optimism"
        model.meanOutputFeatureName, model.varianceOutputFeatureName = "mean", "variance"
        model.pessimisticProbabilityOutputFeatureName = "careful"
        return spec

    def case(event, pairs, shape):
        optimism = float(R.normal())
        known = [weights[pair] for pair in pairs if pair in weights]
        mean = bias[0] + sum(mean for mean, _ in known)
        variance = 1 / bias[1] + sum(1 / precision for _, precision in known)
        scale = np.sqrt(1 + variance)
        outputs = {"click": norm.cdf(mean / scale), "mean": mean, "variance": variance,
                   "careful": norm.cdf((mean + optimism * np.sqrt(variance)) / scale)}
        return ({"event": {"numbers": event, "shape": shape}, "optimism": {"number": optimism}},
                {name: {"number": float(number)} for name, number in outputs.items()})

    events = [[0, 0, 0], [3, 2, 1], [1, 3, 2], [2, 1, 9]]
    write("probit", spec([3]), [case(event, list(enumerate(event)), [3]) for event in events])
    pairs = [[(0, 1), (2, 3)], [(1, 2), (2, 0)], [(7, 1), (0, 0)]]
    write("probit_pairs", spec([2, 2]), [
        case([number for pair in event for number in pair], event, [2, 2]) for event in pairs])


NAMES = ["ant", "bee", "cat", "dog", "elk"]


def recommended(similar, shifts, given, count=5, only=None, without=None):
    totals = np.zeros(5)
    for item, score in given.items():
        for other, likeness in similar.get(item, {}).items():
            totals[other] += likeness * (score - shifts[other])
    left = given if without is None else without
    chosen = [item for item in np.argsort(-totals, kind="stable")
              if item not in left and (only is None or item in only)][:count]
    return [int(item) for item in chosen], totals


def items():
    similar = {0: {1: 0.5, 2: 0.25}, 1: {0: 0.5, 3: 0.75, 4: 0.125}, 2: {0: 0.25, 4: 1.0}, 3: {1: 0.75}}
    shifts = [0.0, 0.5, 0.0, -1.0, 0.25]

    def fill(model):
        for item, others in similar.items():
            entry = model.itemItemSimilarities.add()
            entry.itemId, entry.itemScoreAdjustment = item, shifts[item]
            for other, likeness in others.items():
                like = entry.similarItemList.add()
                like.itemId, like.similarityScore = other, likeness
        # An item that is similar to no other, but has its own score adjustment.
        entry = model.itemItemSimilarities.add()
        entry.itemId, entry.itemScoreAdjustment = 4, shifts[4]
        model.itemInputFeatureName, model.numRecommendationsInputFeatureName = "seen", "count"
        model.itemRestrictionInputFeatureName, model.itemExclusionInputFeatureName = "only", "without"
        model.recommendedItemListOutputFeatureName, model.recommendedItemScoreOutputFeatureName = "best", "scores"

    spec = describe([("seen", "map"), ("count", "int64"), ("only", "list"), ("without", "list")],
                    [("best", "list"), ("scores", "map")], optional=("count", "only", "without"))
    fill(spec.itemSimilarityRecommender)
    spec.itemSimilarityRecommender.itemStringIds.vector.extend(NAMES)
    cases = []
    for given, count, only, without in [
            ({0: 2.0, 3: -1.0}, None, None, None), ({1: 1.0}, 2, None, None), ({1: 3.0, 2: 0.5}, None, [0, 4], None),
            ({0: 1.0, 1: 1.0, 2: 1.0}, 4, None, [3]), ({}, 3, None, None)]:
        best, totals = recommended(similar, shifts, given, 5 if count is None else count, only, without)
        inputs = {"seen": {"map": {NAMES[item]: score for item, score in given.items()}}}
        if count is not None:
            inputs["count"] = {"number": count}
        for name, listed in (("only", only), ("without", without)):
            if listed is not None:
                inputs[name] = {"texts": [NAMES[item] for item in listed]}
        cases.append((inputs, {"best": {"texts": [NAMES[item] for item in best]},
                               "scores": {"map": {NAMES[item]: float(totals[item]) for item in best}}}))
    # An unknown item has no influence.
    best, totals = recommended(similar, shifts, {1: 1.0})
    cases.append(({"seen": {"map": {"bee": 1.0, "yak": 9.0}}}, {"best": {"texts": [NAMES[item] for item in best]}}))
    write("items", spec, cases)

    # Items by their numbers, of which a list is given.
    spec = describe([("seen", "list64")], [("scores", "map64")])
    fill(spec.itemSimilarityRecommender)
    cases = []
    for given in ([0], [1, 2], [3, 1]):
        best, totals = recommended(similar, shifts, {item: 1.0 for item in given})
        cases.append(({"seen": {"numbers": given}}, {"scores": {"map": {str(item): float(totals[item]) for item in best}}}))
    write("items_numbered", spec, cases)


def linked():
    """A scaler that lies below the models that name it: as one's own, and as a stage in front of a sum."""
    scaler = describe([("x", "array", "double", 3)], [("y", "array", "double", 3)])
    shift, scale = [1.0, -2.0, 0.5], [2.0, 0.25, -1.0]
    scaler.scaler.shiftValue.extend(shift)
    scaler.scaler.scaleValue.extend(scale)
    write("scaler", scaler, None, FOLDER / "linked")

    def link(model):
        model.linkedModel.linkedModelFile.linkedModelFileName.defaultValue = "scaler.mlmodelc"
        model.linkedModel.linkedModelFile.linkedModelSearchPath.defaultValue = "elsewhere:linked"

    rows = R.normal(size=(3, 3))
    scaled = (rows + shift) * scale
    alone = describe([("x", "array", "double", 3)], [("y", "array", "double", 3)])
    link(alone)
    write("linked", alone, [
        ({"x": {"numbers": list(row), "shape": [3]}}, {"y": {"numbers": list(result), "shape": [3]}})
        for row, result in zip(rows, scaled)])
    pipeline = describe([("x", "array", "double", 3)], [("sum", "double")])
    first, second = pipeline.pipelineRegressor.pipeline.models.add(), pipeline.pipelineRegressor.pipeline.models.add()
    first.CopyFrom(alone)
    second.CopyFrom(describe([("y", "array", "double", 3)], [("sum", "double")]))
    second.glmRegressor.weights.add().value.extend([1.0, 1.0, 1.0])
    second.glmRegressor.offset.append(0.125)
    write("linked_stage", pipeline, [
        ({"x": {"numbers": list(row), "shape": [3]}}, {"sum": {"number": float(result.sum() + 0.125)}})
        for row, result in zip(rows, scaled)])


probit()
items()
linked()
(FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
