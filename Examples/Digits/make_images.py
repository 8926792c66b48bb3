"""Writes images/, held-out digits as PNG and JPEG files of several sizes, and expected.json beside them.

expected.json contains, for every image, the true digit and the result of Digits.onnx in ONNX Runtime after center-crop
preprocessing. The preprocessing applies the EXIF orientation, scales the short side to 64 (bilinear with half-pixel
centers, no antialiasing), keeps the middle of the long side, and rounds the values. The file also contains the
probabilities for one input tensor given by a formula.
"""

import json
import pathlib

import numpy as np
import onnxruntime
import torch
from PIL import Image, ImageOps

from digits import LABELS, SEED, SIZE, render, split

HERE = pathlib.Path(__file__).parent
IMAGES = HERE / "images"
COUNT = 36
SIZES = [(64, 64), (160, 120), (97, 131), (200, 200), (128, 128), (240, 135)]
ORIENTATION = 0x0112
STORED_ROTATED = {20: (6, Image.Transpose.ROTATE_90), 25: (3, Image.Transpose.ROTATE_180),
                  31: (6, Image.Transpose.ROTATE_90)}


def choose(truths, held_out):
    """Returns COUNT held-out digits, alternating between the classes."""
    by_class = [[int(i) for i in held_out if truths[i] == c] for c in range(10)]
    return [by_class[k % 10][k // 10] for k in range(COUNT)]


def write(pixels, position, stem):
    """Writes the first 20 images as PNG and the others as JPEG, some of them rotated with an EXIF orientation."""
    image = Image.fromarray(pixels)
    if position < 20:
        path = IMAGES / f"{stem}.png"
        image.save(path, optimize=True)
        return path
    path = IMAGES / f"{stem}.jpg"
    exif = Image.Exif()
    if position in STORED_ROTATED:
        orientation, turn = STORED_ROTATED[position]
        image = image.transpose(turn)
        exif[ORIENTATION] = orientation
    image.save(path, quality=90, exif=exif)
    return path


def taps(source, target, scale):
    """Returns the lower index, the upper index and the weight of the upper for each target sample, centered on the
    source."""
    offset = (source * scale - target) / 2
    position = (np.arange(target) + offset + 0.5) / scale - 0.5
    low = np.floor(position).astype(int)
    return low.clip(0, source - 1), (low + 1).clip(0, source - 1), position - low


def center_crop(path):
    """Returns the [1, 3, 64, 64] float32 pixel values of the image at `path`."""
    with Image.open(path) as image:
        pixels = np.asarray(ImageOps.exif_transpose(image).convert("RGB"), dtype=np.float64)
    height, width = pixels.shape[:2]
    scale = SIZE / min(height, width)
    low, high, weight = taps(height, SIZE, scale)
    pixels = pixels[low] * (1 - weight)[:, None, None] + pixels[high] * weight[:, None, None]
    low, high, weight = taps(width, SIZE, scale)
    pixels = pixels[:, low] * (1 - weight)[None, :, None] + pixels[:, high] * weight[None, :, None]
    return np.round(pixels).transpose(2, 0, 1)[None].astype(np.float32)


def formula_tensor():
    """Returns the tensor image[0, c, y, x] = (7 y + 13 x + 31 c + x y) mod 256."""
    c, y, x = np.meshgrid(np.arange(3), np.arange(SIZE), np.arange(SIZE), indexing="ij")
    return ((7 * y + 13 * x + 31 * c + x * y) % 256)[None].astype(np.float32)


def main():
    glyphs, truths, _, held_out = split()
    generator = torch.Generator().manual_seed(SEED + 2)
    IMAGES.mkdir(exist_ok=True)
    for old in IMAGES.iterdir():
        old.unlink()
    session = onnxruntime.InferenceSession(HERE / "Digits.onnx", providers=["CPUExecutionProvider"])
    records = []
    for position, index in enumerate(choose(truths, held_out)):
        width, height = SIZES[position % len(SIZES)]
        truth = int(truths[index])
        pixels = render(glyphs[index:index + 1], height, width, generator)[0].permute(1, 2, 0).numpy()
        path = write(pixels.astype(np.uint8), position, f"{truth}_{index:04d}")
        probabilities = session.run(None, {"image": center_crop(path)})[0][0]
        records.append({"file": path.name, "truth": LABELS[truth], "label": LABELS[int(probabilities.argmax())],
                        "probability": round(float(probabilities.max()), 5)})
    tensor = session.run(None, {"image": formula_tensor()})[0][0]
    expected = {
        "images": sorted(records, key=lambda r: r["file"]),
        "tensor": {"formula": "image[0, c, y, x] = (7 y + 13 x + 31 c + x y) mod 256", "shape": [1, 3, SIZE, SIZE],
                   "probabilities": {label: float(f"{p:.7g}") for label, p in zip(LABELS, tensor)}},
    }
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    right = sum(r["label"] == r["truth"] for r in records)
    print(f"{right} of {COUNT} image files read correctly")


if __name__ == "__main__":
    main()
