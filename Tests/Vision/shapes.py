"""Label maps, and what COCO's tools and GEOS make of them: masks as run lengths (pycocotools), outlines (shapely); writes shapes.json.

A map is rows of digits, a class each, "." where a model saw nothing. Outlines are the unions of pixels' squares; the positions of
a ring begin at its first one in order of x, then y, exteriors with a positive area by the shoelace formula, holes with a negative.
"""

import json
import pathlib

import numpy as np
from pycocotools import mask as coco
from shapely.geometry import box, polygon
from shapely.ops import unary_union

HERE = pathlib.Path(__file__).parent
UNSEEN = 255


def maps():
    random = np.random.default_rng(5)
    yield "one pixel", np.array([[3]])
    yield "one class", np.full((4, 7), 2)
    yield "a row", np.array([[0, 0, 1, 1, 1, 0, 2]])
    yield "a column", np.array([[1], [1], [0], [2], [2]])
    yield "nothing seen", np.full((3, 2), UNSEEN)
    yield "chessboard", np.indices((6, 5)).sum(axis=0) % 2
    ring = np.zeros((7, 9), int)
    ring[1:6, 1:8], ring[2:5, 2:7], ring[3, 4] = 1, 2, 1
    yield "rings within rings", ring
    # A region that touches itself at a corner around a hole, holes that touch, and a diamond of holes around an island.
    corner = np.ones((8, 14), int)
    corner[0, 4:] = corner[1, 0] = corner[2:4, 1:3] = corner[1, 3] = corner[4, 3] = 0
    corner[[3, 4, 4, 5], [9, 8, 10, 9]] = 0
    yield "corners that touch", corner
    closing = np.zeros((5, 5), int)
    closing[0:4, 0:4], closing[1:3, 1:3], closing[0, 3], closing[0, 4] = 1, 0, 0, 1
    closing[3, 3], closing[2, 3] = 0, 1
    yield "a ring that closes at a corner", closing
    for number, (height, width, share) in enumerate([(19, 23, 0.3), (31, 17, 0.5), (24, 24, 0.6)]):
        yield f"noise {number}", np.where(random.random((height, width)) < share, random.integers(1, 4, (height, width)), 0)
    y, x = np.mgrid[0:48, 0:64]
    blobs = ((np.hypot(x - 20, y - 22) < 15) * 1 + (np.hypot(x - 40, y - 26) < 18) * 2 - (np.hypot(x - 22, y - 22) < 5) * 1).clip(0)
    blobs[:, 60:] = UNSEEN
    yield "discs", blobs
    # Runs of more than 2^14 pixels, so that counts take four letters.
    wide = np.zeros((120, 280), int)
    wide[3:110, 270:], wide[50, 2] = 1, 2
    yield "long runs", wide


def rotated(ring):
    points = [tuple(map(int, point)) for point in ring.coords[:-1]]
    # GEOS keeps corners of pixels that lie on a straight edge.
    corners = [p for i, p in enumerate(points)
               if (p[0] - points[i - 1][0]) * (points[(i + 1) % len(points)][1] - p[1])
               != (p[1] - points[i - 1][1]) * (points[(i + 1) % len(points)][0] - p[0])]
    start = corners.index(min(corners))
    return corners[start:] + corners[:start]


def outlines(inside):
    squares = [box(x, y, x + 1, y + 1) for y, x in zip(*np.nonzero(inside))]
    union = unary_union(squares)
    parts = [polygon.orient(part, 1.0) for part in getattr(union, "geoms", [union])]
    assert union.is_valid
    return sorted([rotated(part.exterior), sorted(map(rotated, part.interiors))] for part in parts)


def plain_counts(inside):
    column_major = inside.ravel(order="F").astype(int)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], column_major]))).tolist() + [column_major.size]
    return np.diff([0] + edges).tolist()


def main():
    cases = []
    for name, labels in maps():
        classes = []
        for label in sorted(set(labels.ravel().tolist()) - {UNSEEN}):
            inside = labels == label
            encoded = coco.encode(np.asfortranarray(inside.astype(np.uint8)))
            counts = plain_counts(inside)
            again = coco.frPyObjects({"size": list(inside.shape), "counts": counts}, *inside.shape)
            assert again["counts"] == encoded["counts"]
            shapes = outlines(inside) if name != "long runs" else []
            classes.append({"class": label, "counts": counts, "compressed": encoded["counts"].decode(), "area": int(coco.area(encoded)),
                            "box": [int(v) for v in coco.toBbox(encoded)], "polygons": shapes})
        rows = ["".join("." if label == UNSEEN else str(label) for label in row) for row in labels]
        cases.append({"name": name, "rows": rows, "classes": classes})
    (HERE / "shapes.json").write_text("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
