"""Models whose outputs are the heads of detectors, seeded, and the objects in them, by NumPy and torchvision's suppression.

Every model takes an image of 64 x 48 and leaves the same numbers whatever it shows. NAME.json describes the head, where there is
one; expected.json has for each the objects that are kept, the surest first, and where those of `yolov8` lie on scene.png under
every crop-and-scale rule.

    pip install numpy==2.2.6 onnx==1.23.2 pillow==13.0.0 torch==2.7.0 torchvision==0.22.0 && python generate.py
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torchvision.ops import batched_nms

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent.parent / "Images"))
import scene  # noqa: E402
from geometry import RULES, UPRIGHT  # noqa: E402

WIDTH, HEIGHT = 64, 48
LABELS = ["otter", "heron", "reed"]
K = len(LABELS)
STRIDES = [8, 16]
ANCHORS = [[[10, 12], [20, 9]], [[24, 30], [40, 22]]]
random = np.random.default_rng(15)


def sigmoid(x):
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def normal(*shape, scale=1.5, mean=0.0):
    return (random.standard_normal(shape) * scale + mean).astype(np.float32)


def kept(boxes, scores, head, everything=True):
    """Objects of boxes (left, top, right, bottom) whose largest score reaches the head's confidence."""
    boxes, scores = np.asarray(boxes, np.float64), np.asarray(scores, np.float64)
    known = np.where(np.isnan(scores), -np.inf, scores)
    best, label = known.max(axis=1), known.argmax(axis=1)
    usable = np.isfinite(boxes).all(axis=1) & (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
    chosen = np.flatnonzero((best >= head["confidence"]) & usable)
    tensors = [torch.from_numpy(values[chosen]) for values in (boxes, best, label)]
    order = batched_nms(*tensors, head["iou"]).numpy()
    return [{"label": LABELS[label[i]], "confidence": best[i], "box": boxes[i].tolist(),
             "scores": [None if np.isnan(s) else s for s in scores[i]] if everything else None}
            for i in chosen[order][: head.get("maximum", 300)]]


def corners(center):
    center = np.asarray(center, np.float64)
    return np.concatenate([center[:, :2] - center[:, 2:] / 2, center[:, :2] + center[:, 2:] / 2], axis=1)


def rows_of(count):
    """Boxes by centre and size, some around the same places."""
    places = random.uniform([5, 5], [WIDTH - 5, HEIGHT - 5], (count // 4, 2))
    centers = places[random.integers(0, len(places), count)] + random.normal(0, 1.5, (count, 2))
    return np.concatenate([centers, random.uniform(8, 20, (count, 2))], axis=1).astype(np.float32)


def cells(stride):
    y, x = np.mgrid[0 : -(-HEIGHT // stride), 0 : -(-WIDTH // stride)]
    return y, x


def anchor_maps(family):
    """Raw maps [A, H, W, 5 + K] for each stride, and the boxes and scores they mean."""
    maps, boxes, scores = [], [], []
    for stride, anchors in zip(STRIDES, ANCHORS):
        y, x = cells(stride)
        raw = normal(len(anchors), *y.shape, 5 + K, scale=1.2)
        raw[..., 4] += 0.7
        maps.append(raw)
        wide = raw.astype(np.float64)
        for a, anchor in enumerate(anchors):
            if family == "yolov3":
                center = (sigmoid(wide[a, ..., :2]) + np.stack([x, y], -1)) * stride
                size = np.exp(wide[a, ..., 2:4]) * anchor
            else:
                center = (sigmoid(wide[a, ..., :2]) * 2 - 0.5 + np.stack([x, y], -1)) * stride
                size = (sigmoid(wide[a, ..., 2:4]) * 2) ** 2 * anchor
            boxes.append(corners(np.concatenate([center, size], -1).reshape(-1, 4)))
            scores.append((sigmoid(wide[a, ..., 5:]) * sigmoid(wide[a, ..., 4:5])).reshape(-1, K))
    return maps, np.concatenate(boxes), np.concatenate(scores)


def write(name, arrays, head=None, metadata=None):
    nodes = [helper.make_node("ReduceMean", ["pixels"], ["mean"], axes=[0, 1, 2, 3], keepdims=0),
             helper.make_node("Mul", ["mean", "zero"], ["nothing"])]
    values, outputs = [numpy_helper.from_array(np.float32(0), "zero")], []
    for output, array in arrays.items():
        values.append(numpy_helper.from_array(array, f"{output}_is"))
        if array.dtype == np.float32:
            nodes.append(helper.make_node("Add", [f"{output}_is", "nothing"], [output]))
        else:
            nodes.append(helper.make_node("Identity", [f"{output}_is"], [output]))
        outputs.append(helper.make_tensor_value_info(output, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, [1, 3, HEIGHT, WIDTH])], outputs, values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="")
    for key, value in (metadata or {}).items():
        model.metadata_props.add(key=key, value=value)
    onnx.checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")
    if head:
        document = {"format": "kelvin-head", "version": 1, **head}
        (HERE / f"{name}.json").write_text(json.dumps(document) + "\n")


def placed(objects):
    """Returns the boxes of the objects with the highest scores on scene.png, as [x, y, width, height] in shares of it from its lower left corner."""
    places = []
    for rule in RULES:
        for orientation in (1, 6):
            high, wide = UPRIGHT[orientation](scene.scene()).shape[:2]
            _, source = scene.target_of(rule, wide, high, WIDTH, HEIGHT)
            boxes = []
            for found in objects[:4]:
                a, b, c, d = found["box"]
                points = np.array([source(a, b), source(c, d)])
                (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
                boxes.append([left / wide, 1 - bottom / high, (right - left) / wide, (bottom - top) / high])
            places.append({"rule": rule, "orientation": orientation, "boxes": boxes})
    return places


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return round(float(value), 6) if isinstance(value, (float, np.floating)) else value


def main():
    expected = {}
    limits = {"confidence": 0.3, "iou": 0.4}
    common = {"labels": LABELS, "normalization": "0:1", **limits}
    anchored = {"strides": STRIDES, "anchors": ANCHORS, **common}

    maps, boxes, scores = anchor_maps("yolov3")
    planes = [m.transpose(0, 3, 1, 2).reshape(1, -1, *m.shape[1:3]) for m in maps]
    write("yolov3", {"coarse": planes[1], "fine": planes[0]}, {"family": "yolov3", **anchored})
    expected["yolov3"] = kept(boxes, scores, limits)
    last = [p.transpose(0, 2, 3, 1).copy() for p in planes]
    write("yolov3_last", {"a": last[0], "b": last[1]},
          {"family": "yolov3", "outputs": ["a", "b"], "layout": "channels-last", **anchored, "perClass": True})
    expected["yolov3_last"] = expected["yolov3"]
    maps, boxes, scores = anchor_maps("yolov5")
    write("yolov5_maps", {"large": maps[0][None], "small": maps[1][None]}, {"family": "yolov5", **anchored})
    expected["yolov5_maps"] = kept(boxes, scores, limits)

    rows = rows_of(60)
    presence, classes = random.uniform(0.3, 1, (60, 1)).astype(np.float32), random.uniform(0, 1, (60, K)).astype(np.float32)
    write("yolov5", {"output": np.concatenate([rows, presence, classes], 1)[None]}, {"family": "yolov5", **common})
    expected["yolov5"] = kept(corners(rows), presence.astype(np.float64) * classes, limits)

    rows, classes = rows_of(60), random.uniform(0, 0.9, (60, K)).astype(np.float32)
    classes[3], classes[7, 1], rows[11, 0], rows[12, 2] = np.nan, np.nan, np.inf, np.nan
    table = np.concatenate([rows, classes], 1)
    write("yolov8", {"output0": table.T[None].copy()}, {"family": "yolov8", **common})
    expected["yolov8"] = kept(corners(rows), classes, limits)
    write("yolov8_last", {"output0": table[None]}, {"family": "yolov8", **common})
    expected["yolov8_last"] = expected["yolov8"]
    names = "{" + ", ".join(f"{i}: '{name}'" for i, name in enumerate(LABELS)) + "}"
    write("yolov8_named", {"output0": table.T[None].copy()}, metadata={"task": "detect", "names": names})
    expected["yolov8_named"] = kept(corners(rows), classes, {"confidence": 0.25, "iou": 0.45})

    found = np.concatenate([corners(rows_of(20)), random.uniform(0, 1, (20, 1)), random.integers(0, K, (20, 1))], 1)
    found = found.astype(np.float32)
    write("yolov10", {"output0": found[None]}, {"family": "yolov10", **common, "iou": 1})
    one_hot = np.where(np.arange(K) == found[:, 5:], found[:, 4:5], -np.inf)
    expected["yolov10"] = kept(found[:, :4], one_hot, {"confidence": 0.3, "iou": 1}, everything=False)

    raw, boxes = [], []
    for stride in STRIDES:
        y, x = cells(stride)
        offsets = normal(y.size, 4, scale=0.6)
        raw.append(np.concatenate([offsets, random.uniform(0, 1, (y.size, 1 + K))], 1).astype(np.float32))
        wide = offsets.astype(np.float64)
        boxes.append(np.concatenate([(wide[:, :2] + np.stack([x.ravel(), y.ravel()], 1)) * stride, np.exp(wide[:, 2:]) * stride], 1))
    raw, boxes = np.concatenate(raw), np.concatenate(boxes)
    write("yolox", {"output": raw[None]}, {"family": "yolox", "strides": STRIDES, **common})
    expected["yolox"] = kept(corners(boxes), raw[:, 5:].astype(np.float64) * raw[:, 4:5], limits)

    rows = corners(rows_of(40)).astype(np.float32)
    shares = (rows / [WIDTH, HEIGHT, WIDTH, HEIGHT]).astype(np.float32)
    classes = random.uniform(0, 1, (40, 1 + K)).astype(np.float32)
    write("separate", {"scores": classes[None], "boxes": shares[None]},
          {"family": "boxes", "unit": "shares", "background": "first", **common})
    pixels = shares.astype(np.float64) * [WIDTH, HEIGHT, WIDTH, HEIGHT]
    expected["separate"] = kept(pixels, classes[:, 1:], limits)
    yx = np.concatenate([rows[:, 1::-1], rows[:, 3:1:-1]], 1)
    write("separate_yx", {"places": yx[None].copy(), "logits": np.log(classes / (1 - classes)).T[None].astype(np.float32).copy()},
          {"family": "boxes", "boxes": "places", "scores": "logits", "box": "corners-yx", "activation": "sigmoid",
           "perClass": False, **{**common, "labels": ["nothing"] + LABELS}, "background": "first"})
    best = np.argmax(classes[:, 1:], 1)
    order = torch.ops.torchvision.nms(torch.from_numpy(rows.astype(np.float64)), torch.from_numpy(classes[:, 1:].max(1).astype(np.float64)), 0.4)
    expected["separate_yx"] = [
        {"label": LABELS[best[i]], "confidence": float(classes[i, 1:].max()), "box": rows[i].tolist(), "scores": classes[i, 1:].tolist()}
        for i in order.tolist() if classes[i, 1:].max() >= 0.3]

    logits, rows = normal(30, K + 1, scale=2.5), (rows_of(30) / [WIDTH, HEIGHT, WIDTH, HEIGHT]).astype(np.float32)
    write("detr", {"pred_logits": logits[None], "pred_boxes": rows[None]})
    powers = np.exp(logits.astype(np.float64))
    expected["detr"] = kept(
        corners(rows.astype(np.float64) * [WIDTH, HEIGHT, WIDTH, HEIGHT]), (powers / powers.sum(1, keepdims=True))[:, :K],
        {"confidence": 0.25, "iou": 1})

    rows, classes = corners(rows_of(12)).astype(np.float32), random.integers(0, K, 12)
    certain = random.uniform(0, 1, 12).astype(np.float32)
    write("suppressed", {"2081": rows, "2083": classes.astype(np.int64), "2082": certain})
    expected["suppressed"] = kept(
        rows, np.where(np.arange(K) == classes[:, None], certain[:, None], -np.inf), {"confidence": 0.25, "iou": 1}, everything=False)
    document = {"heads": expected, "placed": placed(expected["yolov8"])}
    for name, objects in expected.items():
        assert len(objects) > 3, name
    (HERE / "expected.json").write_text(json.dumps(rounded(document)) + "\n")


if __name__ == "__main__":
    main()
