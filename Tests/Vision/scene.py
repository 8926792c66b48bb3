"""The expected results of this folder's models, computed with NumPy and the geometry of Tests/Images; writes scene.png and expected.json.

The image, 48 x 32, is made of blocks. `segmenter` gives each place the nearest of four colours; `detector` takes an image of
32 x 32 apart into 4 x 4 cells, whose mean red, green and blue are the scores of a box each, and ends in non-maximum suppression.
"""

import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Images"))
from geometry import RULES, UPRIGHT, fit  # noqa: E402

WIDTH, HEIGHT = 48, 32
CLASSES = [(0, 0, 0), (220, 30, 30), (30, 200, 40), (40, 60, 230)]
LABELS = ["background", "red thing", "--", "blue thing"]
COLORS = ["#000000", "#804000", "#00A0A0", "#F0E040"]
SEGMENTER = (24, 16)
DETECTOR = (32, 32)
OBJECTS = ["red", "green", "blue"]
IOU_THRESHOLD, CONFIDENCE_THRESHOLD = 0.25, 0.4
# Of `thresholds`, for each object: precision, then recall, as (threshold, value); the thresholds differ, and have no order.
CURVES = [
    ([(0.1, 0.5), (0.3, 0.75), (0.6, 0.875), (0.8, 1.0)], [(0.1, 1.0), (0.3, 0.75), (0.6, 0.5), (0.8, 0.25)]),
    ([(0.75, 0.5), (0.5, 0.625), (0.25, 0.25)], [(0.2, 0.875), (0.4, 0.375), (0.7, 0.125)]),
    ([(0.05, 0.125)], [(0.05, 1.0), (0.5, 0.0)]),
]


def scene():
    image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    image[4:16, 4:20] = CLASSES[1]
    image[16:28, 16:44] = CLASSES[2]
    image[2:12, 30:46] = CLASSES[3]
    return image


def anchors():
    """Centre x, centre y, width, height of each cell's box, in shares of the model's image; boxes overlap their neighbours'."""
    rows, columns = np.mgrid[0:4, 0:4]
    sizes = [0.25 + 0.04 * ((columns + rows) % 3), 0.25 + 0.03 * (rows % 4)]
    boxes = np.stack([(columns + 0.5) / 4, (rows + 0.5) / 4, *sizes], axis=-1)
    return boxes.reshape(16, 4).astype(np.float32)


def weights():
    """Scores whose largest is that of the nearest colour: w = colour, b = -|colour|^2 / 2, in units of 1/255.

    Each class is a little behind the one before, so that no pixel halfway between two colours is left to rounding.
    """
    colors = np.array(CLASSES) / 255
    return colors.astype(np.float32), (-(colors**2).sum(axis=1) / 2 - 0.01 * np.arange(4)).astype(np.float32)


def nearest(pixels):
    w, b = weights()
    return (pixels / 255 @ w.T + b).argmax(axis=-1)


def target_of(rule, wide, high, columns, rows):
    """A function from points of the upright image to points of the target, by the documented geometry."""
    turned = "Rotation" in rule
    w, h = (high, wide) if turned else (wide, high)
    if "Fill" in rule:
        drawn = (columns, rows)
    else:
        scale = (max if rule == "centerCrop" else min)(columns / w, rows / h)
        drawn = tuple(max(1, int(np.floor(scale * side + 0.5))) for side in (w, h))
    inset = tuple(int((side - d) / 2) for side, d in zip((columns, rows), drawn))

    def target(x, y):
        u, v = (y, wide - x) if turned else (x, y)
        return inset[0] + u * drawn[0] / w, inset[1] + v * drawn[1] / h

    def source(x, y):
        u, v = (x - inset[0]) * w / drawn[0], (y - inset[1]) * h / drawn[1]
        return (wide - v, u) if turned else (u, v)

    return target, source


def red_or_not(pixels):
    """1 where the second colour is nearer than the first."""
    w, b = weights()
    return (pixels / 255 @ (w[1] - w[0]) + b[1] - b[0] > 0).astype(int)


def segmented(image, rule, decide=nearest):
    """Rows of digits, a class each; "." where a crop kept the image from the model."""
    columns, rows = SEGMENTER
    labels = decide(fit(image, rule, columns, rows))
    high, wide = image.shape[:2]
    target, _ = target_of(rule, wide, high, columns, rows)
    lines = []
    for y in range(high):
        points = [target(x + 0.5, y + 0.5) for x in range(wide)]
        lines.append("".join(str(labels[int(v), int(u)]) if 0 <= u < columns and 0 <= v < rows else "." for u, v in points))
    return lines


def overlap(a, b):
    low = np.maximum(a[:2] - a[2:] / 2, b[:2] - b[2:] / 2)
    high = np.minimum(a[:2] + a[2:] / 2, b[:2] + b[2:] / 2)
    both = np.prod(np.maximum(high - low, 0))
    return both / (np.prod(a[2:]) + np.prod(b[2:]) - both)


def detected(image, rule, region=None):
    """Labels and boxes [x, y, width, height] in shares of the whole upright image, from its lower left corner."""
    columns, rows = DETECTOR
    high, wide = image.shape[:2]
    x0, y0, w, h = region or (0, 0, wide, high)
    seen = fit(image[y0 : y0 + h, x0 : x0 + w], rule, columns, rows).astype(np.float64) / 255
    scores = seen.reshape(4, 8, 4, 8, 3).mean(axis=(1, 3)).reshape(16, 3)
    boxes = anchors().astype(np.float64)
    kept = []
    for index in np.argsort(-scores.max(axis=1), kind="stable"):
        if scores[index].max() > CONFIDENCE_THRESHOLD and all(
                overlap(boxes[index], boxes[other]) <= IOU_THRESHOLD for other in kept):
            kept.append(index)
    _, source = target_of(rule, w, h, columns, rows)
    results = []
    for index in kept:
        cx, cy, bw, bh = boxes[index] * [columns, rows, columns, rows]
        corners = np.array([source(cx - bw / 2, cy - bh / 2), source(cx + bw / 2, cy + bh / 2)]) + [x0, y0]
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        box = [left / wide, 1 - bottom / high, (right - left) / wide, (bottom - top) / high]
        results.append({"box": box, "scores": dict(zip(OBJECTS, scores[index]))})
    return results


def main():
    from PIL import Image

    image = scene()
    Image.fromarray(image).save(HERE / "scene.png")
    expected = {"labels": LABELS, "colors": COLORS, "classColors": ["#%02X%02X%02X" % c for c in CLASSES], "segment": [],
                "redOrNot": segmented(image, "scaleToFill", red_or_not), "curves": CURVES, "detect": []}
    for rule in RULES:
        for orientation in (1, 6):
            upright = UPRIGHT[orientation](image)
            expected["segment"].append({"rule": rule, "orientation": orientation, "rows": segmented(upright, rule)})
            expected["detect"].append({"rule": rule, "orientation": orientation, "region": None,
                                       "objects": detected(upright, rule)})
    region = (12, 8, 36, 24)  # from the top left, in pixels
    for rule in RULES:
        expected["detect"].append({"rule": rule, "orientation": 1, "region": region, "objects": detected(image, rule, region)})
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
