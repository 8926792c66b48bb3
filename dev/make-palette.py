#!/usr/bin/env python3
"""Prints the colours for classes if a model names none (Sources/KelvinVision/Segmentation/ClassPalette.swift).

The first eight are Okabe and Ito's. Each further one is, of a grid of colours, the one whose smallest distance from those
chosen already is largest, where a distance is the least in CIELAB over normal sight and simulated protanopia, deuteranopia
and tritanopia (Machado, Oliveira and Fernandes 2009, severity 1). Needs numpy.

Usage: make-palette.py [--count 255]
"""

import argparse

import numpy as np

OKABE_ITO = ["000000", "E69F00", "56B4E9", "009E73", "F0E442", "0072B2", "D55E00", "CC79A7"]
SIGHT = [
    np.eye(3),
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
]
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)


def lab(colors):
    """Converts sRGB in 0...255, N x 3, as seen by each kind of vision: kinds x N x 3."""
    x = colors / 255
    linear = np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)
    seen = np.stack([np.clip(linear @ np.array(matrix).T, 0, 1) for matrix in SIGHT])
    relative = seen @ TO_XYZ.T / WHITE
    f = np.where(relative > (6 / 29) ** 3, np.cbrt(relative), relative / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], axis=-1)


def distances(candidates, color):
    return np.linalg.norm(candidates - color[:, None], axis=-1).min(axis=0)


def main():
    parser = argparse.ArgumentParser(description="Print class colours.")
    parser.add_argument("--count", type=int, default=255)
    count = parser.parse_args().count
    base = np.array([[int(text[i : i + 2], 16) for i in (0, 2, 4)] for text in OKABE_ITO])
    steps = np.arange(16) * 17
    grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
    seen = lab(grid)
    nearest = np.min([distances(seen, color) for color in lab(base).transpose(1, 0, 2)], axis=0)
    # White is the background of legends: colours keep a distance from it as from each other.
    nearest = np.minimum(nearest, distances(seen, lab(np.array([[255, 255, 255]]))[:, 0]))
    chosen = [tuple(color) for color in base]
    while len(chosen) < count:
        best = int(nearest.argmax())
        chosen.append(tuple(grid[best]))
        nearest = np.minimum(nearest, distances(seen, seen[:, best]))
    texts = ["%02X%02X%02X" % color for color in chosen[:count]]
    for start in range(0, count, 15):
        print(" ".join(texts[start : start + 15]))


if __name__ == "__main__":
    main()
