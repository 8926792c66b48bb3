#!/usr/bin/env python3
"""Writes the results of pycocotools, scikit-learn, statsmodels and SciPy for random answers, as expected values of
the tests.

    generate.py      needs pycocotools, scikit-learn, scipy and statsmodels; writes beside itself
"""
import contextlib
import io
import json
import pathlib

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from scipy.stats import binomtest
from sklearn import metrics
from statsmodels.stats.proportion import proportion_confint

HERE = pathlib.Path(__file__).parent
random = np.random.default_rng(20261126)


def boxes():
    """Images with boxes, some found, some doubly, some not at all; crowds among them."""
    images = []
    for _ in range(40):
        truths, found = [], []
        for _ in range(random.integers(0, 7)):
            x, y = random.uniform(0, 300, 2).round(2)
            width, height = (random.uniform(8, 60, 2) * random.choice([0.5, 1, 3])).round(2)
            label, crowd = int(random.integers(0, 4)), bool(random.random() < 0.1)
            truths.append({"label": label, "box": [x, y, width, height], "area": round(width * height * 0.8, 2), "crowd": crowd})
            for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
                moved = np.array([x, y, width, height]) + random.normal(0, 0.08, 4) * [width, height, width, height]
                found.append({
                    "label": label if random.random() < 0.9 else int(random.integers(0, 5)),
                    "confidence": round(float(random.random()), 2), "box": [round(float(v), 2) for v in np.abs(moved)]})
        images.append({"truths": truths, "detections": found})
    return images


def detection(images):
    annotations, results = [], []
    for number, image in enumerate(images, 1):
        for truth in image["truths"]:
            annotations.append({
                "id": len(annotations) + 1, "image_id": number, "category_id": truth["label"], "bbox": truth["box"],
                "area": truth["area"], "iscrowd": int(truth["crowd"])})
        for found in image["detections"]:
            results.append({
                "image_id": number, "category_id": found["label"], "bbox": found["box"], "score": found["confidence"]})
    truth = COCO()
    truth.dataset = {
        "info": {}, "images": [{"id": n + 1} for n in range(len(images))], "annotations": annotations,
        "categories": [{"id": n, "name": str(n)} for n in range(5)]}
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    names = ["mean", "atHalf", "atThreeQuarters", "small", "medium", "large", None, None, "recall"]
    precision = evaluation.eval["precision"][:, :, :, 0, 2]
    by_class = {str(n): float(precision[:, :, n].mean()) for n in range(5) if precision[:, :, n].min() > -1}
    return {name: float(value) for name, value in zip(names, evaluation.stats) if name} | {"byClass": by_class}


def classification():
    truths = random.integers(0, 6, 400)
    scores = random.dirichlet(np.ones(6), 400)
    scores[np.arange(400), truths] += random.uniform(0, 0.8, 400)
    scores = (scores / scores.sum(1, keepdims=True)).astype(np.float32)
    said = scores.argmax(1)
    precision, recall, _, _ = metrics.precision_recall_fscore_support(truths, said, labels=range(6), zero_division=0)
    curve = metrics.precision_recall_curve(truths == 2, scores[:, 2])
    return {
        "truths": truths.tolist(), "scores": [[float(v) for v in row] for row in scores],
        "top1": metrics.accuracy_score(truths, said),
        "top5": metrics.top_k_accuracy_score(truths, scores, k=5, labels=range(6)),
        "balanced": metrics.balanced_accuracy_score(truths, said), "precision": precision.tolist(), "recall": recall.tolist(),
        "confusion": metrics.confusion_matrix(truths, said).tolist(),
        "curve": {"precision": curve[0][:-1].tolist(), "recall": curve[1][:-1].tolist(), "thresholds": [float(v) for v in curve[2]]}}


def proportions():
    return [
        {"hits": hits, "trials": trials, "interval": proportion_confint(hits, trials, method="wilson")}
        for hits, trials in [(0, 1), (1, 1), (3, 10), (50, 100), (991, 1000), (0, 50)]]


def mcnemar():
    return [
        {"onlyFirst": b, "onlySecond": c, "probability": binomtest(min(b, c), b + c, 0.5).pvalue}
        for b, c in [(0, 1), (5, 5), (10, 2), (40, 21), (300, 240), (0, 12)]]


if __name__ == "__main__":
    images = boxes()
    document = {
        "images": images, "detection": detection(images), "classification": classification(),
        "proportions": proportions(), "mcnemar": mcnemar()}
    (HERE / "evaluation.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")
