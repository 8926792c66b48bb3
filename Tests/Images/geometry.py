"""Writes geometry.txt: how images are turned, cropped and scaled, computed whole in float64 from the documented rules.

A line is `WIDTH HEIGHT ORIENTATION RULE X Y W H COLUMNS ROWS HEX`: a stored RGB image whose channel c at (x, y) is
(x * x * 7 + y * 23 + x * y * 3 + c * 71) mod 256, its EXIF orientation, the crop-and-scale rule, the region of the upright
image in pixels from its top left, the target's size, and the target's bytes (row, column, channel).

The rules, for a source of w x h and a target of W x H: centerCrop scales by max(W/w, H/h), scaleToFit by min(W/w, H/h), both
draw s * side rounded to a pixel (at least one) and centre it, the smaller half of an odd remainder first; scaleToFill scales
each side on its own; the other two turn the region 90 degrees counter-clockwise first. Target pixel p of a drawn axis samples
at (p + 1/2) * side / drawn - 1/2, clamped, linearly between neighbours, without a filter when shrinking. Uncovered pixels are
zero. Values are rounded to the nearest.
"""

import math
import pathlib

import numpy as np

RULES = ["centerCrop", "scaleToFit", "scaleToFill", "scaleToFitPlus90CCWRotation", "scaleToFillPlus90CCWRotation"]
UPRIGHT = {
    1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: np.rot90(p, 2), 4: lambda p: p[::-1],
    5: lambda p: p.transpose(1, 0, 2), 6: lambda p: np.rot90(p, -1), 7: lambda p: np.rot90(p, 2).transpose(1, 0, 2),
    8: lambda p: np.rot90(p),
}


def stored(width, height):
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return (x * x * 7 + y * 23 + x * y * 3 + c * 71) % 256


def resample(image, axis, drawn):
    side = image.shape[axis]
    source = np.clip((np.arange(drawn) + 0.5) * side / drawn - 0.5, 0, side - 1)
    near = np.floor(source).astype(int)
    share = (source - near).reshape([-1 if i == axis else 1 for i in range(3)])
    far = np.minimum(near + 1, side - 1)
    return image.take(near, axis) * (1 - share) + image.take(far, axis) * share


def fit(image, rule, columns, rows):
    if "Rotation" in rule:
        image = np.rot90(image)
    height, width = image.shape[:2]
    across, down = columns / width, rows / height
    if "Fill" in rule:
        wide, high = columns, rows
    else:
        scale = max(across, down) if rule == "centerCrop" else min(across, down)
        wide, high = (max(1, math.floor(scale * side + 0.5)) for side in (width, height))
    drawn = resample(resample(image.astype(np.float64), 1, wide), 0, high)
    target = np.zeros((rows, columns, 3))
    left, top = (int((target_side - side) / 2) for target_side, side in ((columns, wide), (rows, high)))
    x0, y0 = max(left, 0), max(top, 0)
    x1, y1 = min(left + wide, columns), min(top + high, rows)
    target[y0:y1, x0:x1] = drawn[y0 - top : y1 - top, x0 - left : x1 - left]
    return np.floor(target + 0.5).astype(np.uint8)


def main():
    random = np.random.default_rng(7)
    lines = []
    for case in range(80):
        width, height = random.integers(1, 30, 2)
        columns, rows = random.integers(1, 14, 2)
        orientation, rule = case % 8 + 1, RULES[case % 5]
        upright = UPRIGHT[orientation](stored(width, height))
        high, wide = upright.shape[:2]
        x, y, w, h = 0, 0, wide, high
        if case % 3 == 1:
            x, y = random.integers(0, wide), random.integers(0, high)
            w, h = random.integers(1, wide - x + 1), random.integers(1, high - y + 1)
        pixels = fit(upright[y : y + h, x : x + w], rule, columns, rows)
        numbers = " ".join(map(str, (width, height, orientation, rule, x, y, w, h, columns, rows)))
        lines.append(f"{numbers} {pixels.tobytes().hex()}\n")
    (pathlib.Path(__file__).parent / "geometry.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
