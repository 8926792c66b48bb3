"""The models to compare: their names, their inputs, and the sizes that can be changed."""

import os
import pathlib
from dataclasses import dataclass

import numpy as np

import models
from contenders import HERE, ContenderFailed, Inputs

CACHE = HERE / "cache"
ROOT = HERE.parent
TITLES = {"squeezenet": "SqueezeNet 1.1", "mobilenet_v2": "MobileNetV2", "mobilenet_v3": "MobileNetV3-L",
          "efficientnet_b0": "EfficientNet-B0", "resnet50": "ResNet-50", "densenet121": "DenseNet-121", "unet": "U-Net",
          "regnet_y": "RegNetY-400MF", "shufflenet_v2": "ShuffleNetV2", "convnext_tiny": "ConvNeXt-T",
          "vit_b16": "ViT-B/16", "detr_resnet50": "DETR-ResNet-50", "minilm": "MiniLM-L6",
          "mobilenet_v2_int8": "MobileNetV2, 8-bit integers", "resnet50_int8": "ResNet-50, 8-bit integers",
          "minilm_int8": "MiniLM-L6, dynamic 8-bit integers", "gpt2_int4": "products of a token of GPT-2, 4-bit weights"}
QUANTIZED = ("_int8", "_int4")
FLOAT = [name for name in TITLES if not name.endswith(QUANTIZED)]
SHARED = {"mobilenet_v2": "MobileNetV2_f32.onnx", "mobilenet_v2_int8": "MobileNetV2_int8_qdq.onnx"}
SIZE = 224
# Models with sizes of their own, and models of a fixed size with the reason.
OWN_SIZE = {"detr_resnet50": 448}
FIXED = {"vit_b16": "its positions are those of 224x224", "shufflenet_v2": "its reshapes are those of 224x224",
         "detr_resnet50": "its positions are those of 448x448", "minilm": "it takes words, not images", "minilm_int8": "it takes words, not images",
         "gpt2_int4": "it takes a row, not images"}
TOKENS = 128
WORDS = {"minilm": 30522, "minilm_int8": 30522, "encoder": 8192}
ROWS = {"gpt2_int4": 768}
SEED = 1


@dataclass(frozen=True)
class Case:
    """A model as it is run: the number of items at once, and the size of images."""

    name: str
    batch: int = 1
    size: int = SIZE

    @property
    def title(self):
        batch = f", batch {self.batch}" if self.batch != 1 else ""
        return TITLES.get(self.name, self.name) + batch + (f", {self.size}x{self.size}" if self.size != SIZE else "")

    @property
    def isQuantized(self):
        return self.name.endswith(QUANTIZED)

    def obstacle(self):
        """The reason why the model cannot be run this way; None if it can."""
        if self.size != SIZE and self.name in FIXED:
            return FIXED[self.name]
        if self.name == "mobilenet_v2_int8" and not (shared() / SHARED[self.name]).exists():
            return f"{shared() / SHARED[self.name]} is missing"
        return None

    def model(self):
        """(path, where its weights come from)."""
        if self.obstacle():
            raise ContenderFailed(f"{self.title} cannot be run: {self.obstacle()}")
        if self.name in SHARED and (shared() / SHARED[self.name]).exists():
            path, weights = (shared() / SHARED[self.name]).resolve(), "ImageNet"
        else:
            path, weights = models.build(CACHE, self.name), "seeded random"
        return (path if self.size == SIZE else models.resized(CACHE, path, self.size)), weights

    def arrays(self):
        """Returns the inputs by name: images and rows of uniform values in -1...1, words of a uniform choice of which the
        last item's last quarter is masked."""
        random = np.random.default_rng(SEED)
        if self.name in ROWS:
            return {"x": random.uniform(-1, 1, (self.batch, ROWS[self.name])).astype(np.float32)}
        if self.name not in WORDS:
            side = OWN_SIZE.get(self.name, self.size)
            return {"image": random.uniform(-1, 1, (self.batch, 3, side, side)).astype(np.float32)}
        ids = random.integers(0, WORDS[self.name], (self.batch, TOKENS))
        if self.name == "encoder":
            return {"ids": ids}
        mask = np.ones_like(ids)
        mask[-1, TOKENS * 3 // 4:] = 0
        return {"ids": ids, "mask": mask}

    def inputs(self):
        """Writes the inputs as files, one for each input."""
        folder = CACHE / "inputs" / f"{self.name}-{self.batch}-{self.size}"
        folder.mkdir(parents=True, exist_ok=True)
        arrays = self.arrays()
        for name, values in arrays.items():
            np.save(folder / f"{name}.npy", values)
        return Inputs(str(folder), tuple((name, values.shape) for name, values in arrays.items()))


def shared():
    return pathlib.Path(os.environ.get("KELVIN_SHARED", ROOT / ".." / "shared")) / "models"


def model_path(name):
    """Returns (path, where its weights come from) of the named model at its usual size."""
    return Case(name).model()
