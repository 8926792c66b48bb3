"""Measures the error of Kelvin's products with constant weights, layer by layer, on the activations of photos.
README.md says more.

Usage: errors.py [--kelvin PATH] [--models NAME,…] [--photos FILE,…] [--threads N] [--name NAME]
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
from datetime import date

import numpy as np
import onnxruntime

import error_text
import packs
import photos
import products
import report
import single_layers
from catalog import ROOT, TITLES, model_path, shared
from contenders import ContenderFailed, Inputs, Kelvin, driver, run

MODELS = ("mobilenet_v2", "ultraface", "mnist", "resnet50", "densenet121", "squeezenet", "unet", "vit_b16")
# Models with real weights, and their preprocessing of photos.
FILES = {"ultraface": ("ultraface_version-RFB-320.onnx", "UltraFace RFB-320", {"offset": 127, "scale": 128}, "face.jpg"),
         "mnist": ("mnist.onnx", "MNIST", {"offset": 0, "scale": 1}, "mnist_nine.bmp")}
BAR = 2.0
PRECISIONS = ("full", "low")


class Subject:
    """A model, and its photos."""

    def __init__(self, name, photos):
        self.name, self.rule, self.photos = name, {}, photos
        if name in FILES:
            file, self.title, self.rule, *self.photos = FILES[name]
            self.path, self.weights = shared() / file, "trained"
        else:
            self.path, self.weights = model_path(name)
            self.title = TITLES[name]


class Binary:
    """The kelvin binary on the CPU."""

    def __init__(self, path, threads):
        self.path, self.threads = path, threads

    def predicted(self, model, feed, precision):
        """The outputs of one inference, and the layouts of packed weights by the weights' names."""
        with tempfile.TemporaryDirectory() as folder:
            for name, values in feed.items():
                np.save(os.path.join(folder, f"{name}.npy"), values)
            given = Inputs(folder, tuple((name, values.shape) for name, values in feed.items()))
            kelvin = Kelvin(self.path, str(model), given, "cpu", self.threads, precision, self.threads)
            cache = os.path.join(folder, "cache")
            command = [*kelvin.predict(os.path.join(folder, "outputs")), "--cache-dir", cache]
            answer = json.loads(run(command, self.threads))
            outputs = {name: np.load(value["file"]) for name, value in answer["outputs"].items()}
            return outputs, packs.layouts(cache)


def kernel(layouts, layer, x, *names):
    """Returns (name, whether operands are rounded), by the first of `names` that identifies the packed weights;
    (None, False) if none does."""
    found = next((layouts[name] for name in names if name in layouts), [])
    packed = [each for each in found if not each.startswith("dense")] or found
    if not packed:
        return None, False
    name, isRounded = packs.kernel(packed[0])
    isVector = not layer.isConvolution and x.size == x.shape[-1]
    return "vector" if isVector else name, isRounded


def way(layer, usual):
    """Returns the layout of a layer for which Kelvin takes the same kernel as in the network."""
    if not layer.isConvolution or usual is None:
        return None
    isBlocked = usual in ("blocks", "depthwise") or usual.startswith("Winograd")
    return "blocks" if isBlocked else usual if usual in ("planes", "rows") else None


def alone(binary, network, layers, arrays, precision, folder):
    """Returns the output and the kernel of each single layer, and the kernel in the network."""
    model, feed = network
    layouts = binary.predicted(model, feed, precision)[1]
    usual = [kernel(layouts, layer, x, layer.weightName, layer.name)[0] for layer, x in zip(layers, arrays)]
    ways = [way(layer, name) for layer, name in zip(layers, usual)]
    assembly = single_layers.Assembly(layers, arrays, ways)
    path = pathlib.Path(folder) / "layers.onnx"
    assembly.save(path)
    outputs, layouts = binary.predicted(path, assembly.feed, precision)
    for index, (layer, x, each) in enumerate(zip(layers, arrays, ways)):
        y, name = outputs[f"layer{index}_y"], f"layer{index}"
        taken = kernel(layouts, layer, x, single_layers.weight_name(name), name)
        yield y.transpose(0, 3, 1, 2) if each == "rows" else y, taken, usual[index]


def compared(layer, x, references, result):
    """Returns the errors of a layer, divided by those allowed for its kind of operands."""
    y, (taken, isRounded), usual = result
    error, base = products.error(y, references["exact"]), references["rounded" if isRounded else "sgemm"]
    return {"name": layer.name.removesuffix("/MatMulAddFusion"), "shape": layer.described(x), "terms": layer.terms, "kernel": taken,
            "kernelInNetwork": usual, "isRounded": isRounded, "kelvin": error, "base": base,
            "ratio": products.rounded(error["relative"] / base["relative"]) if base["relative"] else None}


def referred(layer, x):
    exact = products.exact(layer, x)
    return {"exact": exact, "sgemm": products.error(products.by_sgemm(layer, x), exact),
            "rounded": products.error(products.of_bfloat16(layer, x), exact)}


def measured(subject, binary):
    """Returns the errors of all its layers by precision, each for the photo with the largest ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{subject.name}.onnx"
        model = single_layers.simplified(subject.path, path)
        by_photo = [of_photo(subject, photo, binary, path, model) for photo in subject.photos]
    worst = {precision: [max(same, key=lambda each: each["ratio"] or 0) for same in zip(*(each[precision] for each in by_photo))]
             for precision in PRECISIONS}
    return {"name": subject.name, "title": subject.title, "weights": subject.weights, "layers": worst}


def of_photo(subject, photo, binary, path, model):
    (name, shape), = single_layers.inputs(model)
    feed = {name: photos.tensor(photo, shape, **subject.rule)}
    layers = single_layers.layers(model)
    values = single_layers.activations(model, sorted({layer.input for layer in layers}), feed)
    arrays = [values[layer.input] for layer in layers]
    layers = [single_layers.padded(*each) for each in zip(layers, arrays)]
    references = [referred(layer, x) for layer, x in zip(layers, arrays)]
    found = {}
    for precision in PRECISIONS:
        results = alone(binary, (path, feed), layers, arrays, precision, path.parent)
        found[precision] = [compared(*each) | {"photo": photo} for each in zip(layers, arrays, references, results)]
    return found


def named(binary):
    """Returns the best class of each photo by MobileNetV2, according to ONNX Runtime and Kelvin."""
    path = model_path("mobilenet_v2")[0]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for photo in photos.every():
        feed = {"image": photos.tensor(photo, (1, 3, 224, 224))}
        expected = dict(zip(("logits", "probs"), session.run(["logits", "probs"], feed)))
        best = np.sort(expected["probs"][0])[::-1]
        entry = {"photo": photo, "expected": int(expected["logits"].argmax()), "probability": float(best[0]),
                 "margin": float(best[0] - best[1])}
        for precision in PRECISIONS:
            logits = binary.predicted(path, feed, precision)[0]["logits"]
            entry[precision] = {"best": int(logits.argmax()), **products.error(logits, expected["logits"].astype(np.float64))}
        yield entry


def parse():
    parser = argparse.ArgumentParser(description="Compare the errors of layers with those of OpenBLAS.")
    parser.add_argument("--kelvin", default=str(ROOT / ".build" / "release" / "kelvin"), help="the binary to measure")
    parser.add_argument("--models", default=",".join(MODELS), help=f"of {', '.join(TITLES)}, {', '.join(FILES)}")
    parser.add_argument("--photos", default="parrot.jpg,cat_720p.jpg", help="what models are given, but for faces and digits")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--name", default="errors", help="results/NAME.json and results/NAME.md are written")
    return parser.parse_args()


def main():
    arguments = parse()
    binary = Binary(arguments.kelvin, arguments.threads)
    models = []
    for name in arguments.models.split(","):
        subject = Subject(name, arguments.photos.split(","))
        print(f"{subject.title} …", file=sys.stderr, flush=True)
        models.append(measured(subject, binary))
        print(error_text.account(models[-1], BAR), flush=True)
    machine = report.machine([]) | {"kelvin": driver(arguments.kelvin), "reference": products.library()}
    result = {"date": date.today().isoformat(), "machine": machine, "threads": arguments.threads, "bar": BAR, "models": models,
              "top1": list(named(binary))}
    report.save(arguments.name, result, error_text.markdown(result))


if __name__ == "__main__":
    try:
        main()
    except ContenderFailed as failure:
        sys.exit(f"errors.py: {failure}")
