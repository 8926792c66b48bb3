"""Core ML models that are not networks, and pipelines of them: specifications and NumPy's formulas for what they give.

A case has inputs, the outputs of the graph (for a classifier its probabilities, for a detector boxes, scores and their
number) and the specification."""

import math

import numpy as np
from coremltools.proto import FeatureTypes_pb2, Model_pb2

CASES = []
DOUBLE = FeatureTypes_pb2.ArrayFeatureType.ArrayDataType.Value("DOUBLE")
R = np.random.default_rng(20260808)


def feature(description, name, kind, shape=None, optional=False):
    item = description.add()
    item.name = name
    item.type.isOptional = optional
    if kind == "array":
        item.type.multiArrayType.dataType = DOUBLE
        item.type.multiArrayType.shape.extend(shape or [])
    elif kind == "labels":
        item.type.dictionaryType.stringKeyType.MergeFromString(b"")
    else:
        getattr(item.type, f"{kind}Type").MergeFromString(b"")


def model(inputs, outputs, spec=None):
    spec = spec or Model_pb2.Model()
    spec.specificationVersion = 3
    for arguments in inputs:
        feature(spec.description.input, *arguments)
    for arguments in outputs:
        feature(spec.description.output, *arguments)
    return spec


def case(name, inputs, expected, spec):
    CASES.append((name, inputs, [np.asarray(array, np.float64) for array in expected], spec))


def vector(count, low=-2.0, high=2.0):
    return R.uniform(low, high, count).astype(np.float32)


def logit(x):
    return 1 / (1 + np.exp(-x))


def probit(x):
    return np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in np.atleast_1d(x)])


W, B = R.uniform(-1, 1, (3, 4)), R.uniform(-1, 1, 3)


def glm(target, rows, transform, encoding=None, labels=None):
    for row in W[:rows]:
        target.weights.add().value.extend(row)
    target.offset.extend(B[:rows])
    target.postEvaluationTransform = transform
    if labels:
        target.classEncoding = encoding
        target.stringClassLabels.vector.extend(labels)


for number, (transform, formula) in enumerate([(0, lambda s: s), (1, logit), (2, probit)]):
    x = vector(4)
    spec = model([("x", "array", [4])], [("y", "double")])
    glm(spec.glmRegressor, 1, transform)
    case(f"glmRegressor_{number + 1}", {"x": x}, [formula(W[:1] @ x.astype(float) + B[:1])], spec)


def classifier(name, rows, transform, encoding, labels, formula):
    x = vector(4)
    spec = model([("x", "array", [4])], [("label", "string"), ("p", "labels")])
    spec.description.predictedFeatureName, spec.description.predictedProbabilitiesName = "label", "p"
    glm(spec.glmClassifier, rows, transform, encoding, labels)
    case(name, {"x": x}, [formula(W[:rows] @ x.astype(float) + B[:rows])], spec)


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


classifier("glmClassifier_logit", 1, 0, 0, ["no", "yes"], lambda s: [1 - logit(s)[0], logit(s)[0]])
classifier("glmClassifier_probit", 1, 1, 0, ["no", "yes"], lambda s: [1 - probit(s)[0], probit(s)[0]])
classifier("glmClassifier_rest", 3, 0, 1, ["a", "b", "c"], lambda s: logit(s) / logit(s).sum())
classifier("glmClassifier_reference", 3, 0, 0, ["a", "b", "c", "d"], lambda s: softmax(np.concatenate([[0], s])))

x = vector(5)
spec = model([("x", "array", [5])], [("y", "array", [5])])
spec.scaler.shiftValue.extend([0.5, -1, 2, 0, 1])
spec.scaler.scaleValue.append(3)
case("scaler", {"x": x}, [(x.astype(float) + [0.5, -1, 2, 0, 1]) * 3], spec)

x = np.array([1, np.nan, 3, np.nan], np.float32)
spec = model([("x", "array", [4])], [("y", "array", [4])])
spec.imputer.imputedDoubleArray.vector.extend([5, 6, 7, 8])
spec.imputer.replaceDoubleValue = float("nan")
case("imputer", {"x": x}, [[1, 6, 3, 8]], spec)

for number, norm in enumerate([lambda v: np.abs(v).max(), lambda v: np.abs(v).sum(), lambda v: np.sqrt((v ** 2).sum())]):
    x = vector(5)
    spec = model([("x", "array", [5])], [("y", "array", [5])])
    spec.normalizer.normType = number
    case(f"normalizer_{number + 1}", {"x": x}, [x.astype(float) / norm(x.astype(float))], spec)

x = vector(6)
spec = model([("x", "array", [6])], [("y", "array", [2])])
spec.arrayFeatureExtractor.extractIndex.extend([4, 1])
case("arrayFeatureExtractor", {"x": x}, [x[[4, 1]]], spec)

spec = model([("x", "int64")], [("y", "array", [3])])
spec.oneHotEncoder.int64Categories.vector.extend([7, 2, 5])
case("oneHotEncoder", {"x": np.array([2], np.int64)}, [[0, 1, 0]], spec)

a, b = np.array([1.5], np.float32), vector(3)
spec = model([("a", "double"), ("b", "array", [3])], [("y", "double")])
stages = spec.pipelineRegressor.pipeline
first = model([("a", "double"), ("b", "array", [3])], [("v", "array", [4])], stages.models.add())
for name, count in [("a", 1), ("b", 3)]:
    column = first.featureVectorizer.inputList.add()
    column.inputColumn, column.inputDimensions = name, count
glm(model([("v", "array", [4])], [("y", "double")], stages.models.add()).glmRegressor, 1, 0)
spec.description.predictedFeatureName = "y"
case("pipeline", {"a": a, "b": b}, [W[:1] @ np.concatenate([a, b]).astype(float) + B[:1]], spec)


def overlap(a, b):
    low = np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    high = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2)
    shared = np.prod(np.maximum(high - low, 0))
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)


def suppressed(boxes, scores, iou, least, per_class):
    order = sorted((i for i in range(len(boxes)) if scores[i].max() >= least), key=lambda i: -scores[i].max())
    kept = []
    for i in order:
        if all(overlap(boxes[i], boxes[j]) <= iou or (per_class and scores[i].argmax() != scores[j].argmax()) for j in kept):
            kept.append(i)
    return kept


for per_class in [False, True]:
    count, classes = 12, 3
    boxes = np.concatenate([R.uniform(0.3, 0.7, (count, 2)), R.uniform(0.2, 0.5, (count, 2))], 1).astype(np.float32)
    scores = R.uniform(0, 1, (count, classes)).astype(np.float32)
    spec = model([("raw", "array", [count, classes]), ("corners", "array", [count, 4]),
                  ("iouThreshold", "double", None, True), ("confidenceThreshold", "double", None, True)],
                 [("confidence", "array"), ("coordinates", "array")])
    nms = spec.nonMaximumSuppression
    nms.confidenceInputFeatureName, nms.coordinatesInputFeatureName = "raw", "corners"
    nms.iouThresholdInputFeatureName, nms.confidenceThresholdInputFeatureName = "iouThreshold", "confidenceThreshold"
    nms.confidenceOutputFeatureName, nms.coordinatesOutputFeatureName = "confidence", "coordinates"
    nms.iouThreshold, nms.confidenceThreshold = 0.45, 0.25
    nms.stringClassLabels.vector.extend(["a", "b", "c"])
    nms.pickTop.perClass = per_class
    kept = suppressed(boxes.astype(float), scores.astype(float), 0.3, 0.5, per_class)
    padded = [np.zeros((1, count, 4)), np.zeros((1, count, classes))]
    padded[0][0, :len(kept)], padded[1][0, :len(kept)] = boxes[kept], scores[kept]
    case(f"nonMaximumSuppression_{'class' if per_class else 'all'}",
         {"raw": scores, "corners": boxes, "iouThreshold": np.array([0.3], np.float32),
          "confidenceThreshold": np.array([0.5], np.float32)}, padded + [[len(kept)]], spec)
