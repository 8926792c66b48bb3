#!/usr/bin/env python3
"""Trains a small vision transformer on scikit-learn's handwritten digits, and writes it as an ML Program with two labelled sets
of images that the training has not seen.

Usage: digits_transformer.py FOLDER; in an environment with coremltools 9, jax, pillow and scikit-learn. FOLDER then has
Digits.mlpackage, search.csv, test.csv and the images. Training takes about two minutes on one core.
"""
import pathlib
import sys

import coremltools as ct
import jax
import jax.numpy as jnp
import numpy as np
from coremltools.converters.mil import Builder as mb
from PIL import Image
from sklearn.datasets import load_digits

SEED = 51
PATCH, TOKENS, WIDTH, HEADS, LAYERS, HIDDEN = 2, 16, 64, 4, 4, 128
# 1,797 images: these many to train, to search and to compare.
TRAINING, SEARCH = 797, 300


def initial():
    generator = np.random.default_rng(SEED)

    def matrix(outputs, inputs):
        return jnp.asarray(generator.normal(0, inputs ** -0.5, (outputs, inputs)), jnp.float32)

    def layer():
        return {"scale1": jnp.ones(WIDTH), "shift1": jnp.zeros(WIDTH), "scale2": jnp.ones(WIDTH), "shift2": jnp.zeros(WIDTH),
                **{name: matrix(WIDTH, WIDTH) for name in ("query", "key", "value", "output")},
                "up": matrix(HIDDEN, WIDTH), "upBias": jnp.zeros(HIDDEN), "down": matrix(WIDTH, HIDDEN), "downBias": jnp.zeros(WIDTH)}

    return {"patch": matrix(WIDTH, PATCH * PATCH), "position": 4 * matrix(TOKENS, WIDTH), "layers": [layer() for _ in range(LAYERS)],
            "scale": jnp.ones(WIDTH), "shift": jnp.zeros(WIDTH), "head": matrix(10, WIDTH), "headBias": jnp.zeros(10)}


def normalized(x, scale, shift):
    centered = x - x.mean(-1, keepdims=True)
    return centered / jnp.sqrt((centered ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def logits(weights, images):
    """The scores of N images of 8 x 8 levels from 0 to 1."""
    count = images.shape[0]
    patches = images.reshape(count, 4, PATCH, 4, PATCH).transpose(0, 1, 3, 2, 4).reshape(count, TOKENS, -1)
    x = patches @ weights["patch"].T + weights["position"]
    for layer in weights["layers"]:
        y = normalized(x, layer["scale1"], layer["shift1"])
        query, key, value = ((y @ layer[name].T).reshape(count, TOKENS, HEADS, -1).transpose(0, 2, 1, 3)
                             for name in ("query", "key", "value"))
        shares = jax.nn.softmax(query @ key.transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5)
        x = x + (shares @ value).transpose(0, 2, 1, 3).reshape(count, TOKENS, WIDTH) @ layer["output"].T
        y = normalized(x, layer["scale2"], layer["shift2"])
        x = x + jax.nn.gelu(y @ layer["up"].T + layer["upBias"], approximate=False) @ layer["down"].T + layer["downBias"]
    return normalized(x, weights["scale"], weights["shift"]).mean(1) @ weights["head"].T + weights["headBias"]


def train(images, labels, epochs=200, batch=32):
    def loss(weights, x, y):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits(weights, x)), y[:, None], 1).mean()

    @jax.jit
    def step(weights, first, second, x, y, number, rate):
        gradient = jax.grad(loss)(weights, x, y)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradient)
        weights = jax.tree.map(
            lambda w, m, v: w - rate * (m / (1 - 0.9 ** number) / (jnp.sqrt(v / (1 - 0.99 ** number)) + 1e-8) + 0.01 * w),
            weights, first, second)
        return weights, first, second

    generator = np.random.default_rng(SEED)
    weights = initial()
    first = second = jax.tree.map(jnp.zeros_like, weights)
    steps, number = epochs * (len(images) // batch), 0
    for _ in range(epochs):
        order = generator.permutation(len(images))
        for start in range(0, len(order) - batch + 1, batch):
            chosen = order[start:start + batch]
            # Half of the batches are shifted by up to one pixel.
            down, right = generator.integers(0, 3, 2) if number % 2 else (1, 1)
            x = np.pad(images[chosen], ((0, 0), (1, 1), (1, 1)))[:, down:down + 8, right:right + 8]
            number += 1
            rate = 2e-3 * min(1, number / 100) * (1 - number / steps)
            weights, first, second = step(weights, first, second, x, labels[chosen], float(number), rate)
    return weights


def program(weights):
    weights = jax.tree.map(lambda value: np.asarray(value, np.float32), weights)

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 1, 8, 8))], opset_version=ct.target.iOS16)
    def main(image):
        x = mb.reshape(x=image, shape=[1, 4, PATCH, 4, PATCH])
        x = mb.reshape(x=mb.transpose(x=x, perm=[0, 1, 3, 2, 4]), shape=[1, TOKENS, PATCH * PATCH])
        x = mb.add(x=mb.linear(x=x, weight=weights["patch"]), y=weights["position"][None])

        def norm(x, scale, shift):
            return mb.layer_norm(x=x, axes=[-1], gamma=scale, beta=shift, epsilon=1e-5)

        def heads(x):
            return mb.transpose(x=mb.reshape(x=x, shape=[1, TOKENS, HEADS, WIDTH // HEADS]), perm=[0, 2, 1, 3])

        for number, layer in enumerate(weights["layers"]):
            def linear(x, name, bias=None):
                return mb.linear(x=x, weight=layer[name], **({} if bias is None else {"bias": layer[bias]}), name=f"{name}_{number}")

            y = norm(x, layer["scale1"], layer["shift1"])
            query, key, value = (heads(linear(y, name)) for name in ("query", "key", "value"))
            scores = mb.mul(x=mb.matmul(x=query, y=key, transpose_y=True), y=np.float32((WIDTH // HEADS) ** -0.5))
            y = mb.matmul(x=mb.softmax(x=scores, axis=-1), y=value)
            y = mb.reshape(x=mb.transpose(x=y, perm=[0, 2, 1, 3]), shape=[1, TOKENS, WIDTH])
            x = mb.add(x=x, y=linear(y, "output"))
            y = norm(x, layer["scale2"], layer["shift2"])
            y = linear(mb.gelu(x=linear(y, "up", "upBias"), mode="EXACT"), "down", "downBias")
            x = mb.add(x=x, y=y)
        x = mb.reduce_mean(x=norm(x, weights["scale"], weights["shift"]), axes=[1])
        return mb.softmax(x=mb.linear(x=x, weight=weights["head"], bias=weights["headBias"]), axis=-1, name="probabilities")

    return ct.convert(
        main, source="milinternal", convert_to="mlprogram", minimum_deployment_target=ct.target.iOS16,
        compute_precision=ct.precision.FLOAT16, classifier_config=ct.ClassifierConfig([str(digit) for digit in range(10)]),
        inputs=[ct.ImageType(name="image", shape=(1, 1, 8, 8), scale=1 / 240, color_layout=ct.colorlayout.GRAYSCALE)],
        skip_model_load=True)


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "images").mkdir(parents=True, exist_ok=True)
    digits = load_digits()
    order = np.random.default_rng(SEED).permutation(len(digits.target))
    images, labels = digits.images[order].astype(np.float32) / 16, digits.target[order].astype(np.int32)
    weights = train(images[:TRAINING], labels[:TRAINING])
    found = np.asarray(jnp.argmax(logits(weights, images[TRAINING:]), -1))
    print(f"right for {100 * (found == labels[TRAINING:]).mean():.1f} % of {len(found)} images that were not trained on")
    program(weights).save(str(folder / "Digits.mlpackage"))
    for name, places in (("search", range(TRAINING, TRAINING + SEARCH)), ("test", range(TRAINING + SEARCH, len(order)))):
        lines = ["image,label"]
        for place in places:
            path = folder / "images" / f"{place}.png"
            Image.fromarray((15 * digits.images[order[place]]).astype(np.uint8)).save(path)
            lines.append(f"{path},{labels[place]}")
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
