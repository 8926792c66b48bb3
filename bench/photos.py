"""Photos as the input tensors of models."""

import os
import pathlib

import numpy as np
from PIL import Image

from catalog import ROOT

FOLDER = pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / ".." / "shared")) / "images" / "photos"


def every():
    return sorted(path.name for path in FOLDER.iterdir())


def tensor(name, shape, offset=127.5, scale=127.5):
    """A photo, stretched to NCHW `shape`, as (level - offset) / scale; gray for one channel."""
    _, channels, height, width = shape
    with Image.open(FOLDER / name) as file:
        image = file.convert("L" if channels == 1 else "RGB").resize((width, height), Image.Resampling.BILINEAR)
    levels = np.asarray(image, np.float32).reshape(height, width, channels)
    return np.ascontiguousarray((levels.transpose(2, 0, 1)[None] - np.float32(offset)) / np.float32(scale))
