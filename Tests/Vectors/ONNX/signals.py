"""Definitions in float64 of windows, mel weights, grids, cubic resizing and pools, whose reference evaluation is in
float32 or, where pools have padding, counts it wrongly."""

import numpy as np


def _window(first, second, third):
    """`first - second cos(2πn/N) + third cos(4πn/N)`."""
    def formula(size, periodic=1, output_datatype=1):
        angles = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
        return first - second * np.cos(angles) + third * np.cos(2 * angles)
    return formula


def mel_weights(bands, length, rate, lower, upper, output_datatype=1):
    """Triangles over bins whose corners are equally far apart on the mel scale."""
    low, high = 2595 * np.log10(1 + lower / 700), 2595 * np.log10(1 + upper / 700)
    mels = low + (high - low) / (bands + 2) * np.arange(bands + 2)
    corners = np.floor((length + 1) * 700 * (10 ** (mels / 2595) - 1) / rate).astype(int)
    weights = np.zeros((length // 2 + 1, bands))
    for band, (left, centre, right) in enumerate(zip(corners, corners[1:], corners[2:])):
        for place in range(left, centre):
            weights[place, band] = (place - left) / (centre - left)
        for place in range(centre, right):
            weights[place, band] = (right - place) / (right - centre)
        weights[centre, band] = 1
    return weights


def affine_grid(theta, size, align_corners=0):
    """Returns the source positions of the pixels of an image of the size, -1 to 1 along each axis, the last axis
    first."""
    spatial = size[2:]
    axes = [np.linspace(-1, 1, n) if align_corners else (2 * np.arange(n) + 1) / n - 1 for n in spatial]
    places = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(spatial)], axis=-1)
    return np.einsum("...j,nij->n...i", places, theta)


def lp_pool(x, kernel_shape, p=2, strides=None, dilations=None, pads=None, ceil_mode=0):
    """`(Σ|x|^p)^(1/p)` over each window; padding adds nothing."""
    spatial = len(kernel_shape)
    strides, dilations = strides or [1] * spatial, dilations or [1] * spatial
    begin, end = np.split(np.array(pads or [0] * 2 * spatial), 2)
    extents = [(k - 1) * d + 1 for k, d in zip(kernel_shape, dilations)]
    free = [n + b + e - extent for n, b, e, extent in zip(x.shape[2:], begin, end, extents)]
    counts = [(-(-f // s) if ceil_mode else f // s) + 1 for f, s in zip(free, strides)]
    # The last window may go beyond the padding.
    rest = [(n - 1) * s - f for n, s, f in zip(counts, strides, free)]
    powers = np.pad(np.abs(x) ** p, [(0, 0), (0, 0), *((b, e + max(r, 0)) for b, e, r in zip(begin, end, rest))])
    sums = np.zeros((*x.shape[:2], *counts))
    for tap in np.ndindex(*kernel_shape):
        sums += powers[(..., *(slice(t * d, t * d + (n - 1) * s + 1, s)
                               for t, d, n, s in zip(tap, dilations, counts, strides)))]
    return sums ** (1 / p)


def largest(x, kernel_shape, strides=None, dilations=None, pads=None, ceil_mode=0, storage_order=0):
    """The largest element of each window and its place in the whole tensor, by looking at each element of each window."""
    axes = len(kernel_shape)
    strides, dilations, pads = strides or [1] * axes, dilations or [1] * axes, pads or [0] * 2 * axes
    spatial = x.shape[2:]
    sizes = []
    for axis in range(axes):
        room = spatial[axis] + pads[axis] + pads[axes + axis] - dilations[axis] * (kernel_shape[axis] - 1) - 1
        sizes.append((-(-room // strides[axis]) if ceil_mode else room // strides[axis]) + 1)
    values, places = np.empty((*x.shape[:2], *sizes)), np.empty((*x.shape[:2], *sizes), np.int64)
    for index in np.ndindex(values.shape):
        best = None
        for element in np.ndindex(*kernel_shape):
            at = tuple(index[2 + axis] * strides[axis] - pads[axis] + element[axis] * dilations[axis]
                       for axis in range(axes))
            if all(0 <= place < size for place, size in zip(at, spatial)):
                value = x[index[:2] + at]
                if best is None or value > best[0]:
                    plane = np.ravel_multi_index(at[::-1], spatial[::-1]) if storage_order else np.ravel_multi_index(at, spatial)
                    best = value, (index[0] * x.shape[1] + index[1]) * np.prod(spatial) + plane
        values[index], places[index] = best
    return values, places


def _coordinates(convention, count, size, scale, corners):
    """Returns the positions of the results in an axis of the size."""
    places = np.arange(count)
    if convention == "align_corners":
        return places * (size - 1) / (count - 1)
    if convention == "asymmetric":
        return places / scale
    if convention == "tf_crop_and_resize":
        return (corners[0] + places * (corners[1] - corners[0]) / (count - 1)) * (size - 1)
    shift = size / 2 * (1 - count / (scale * size)) if convention == "half_pixel_symmetric" else 0
    return shift + (places + 0.5) / scale - 0.5


def _share(distance, mode, a):
    x = np.abs(distance)
    if mode == "linear":
        return np.maximum(1 - x, 0)
    near, far = (a + 2) * x**3 - (a + 3) * x**2 + 1, a * (x**3 - 5 * x**2 + 8 * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def resample(x, roi, scales=None, sizes=None, mode="cubic", coordinate_transformation_mode="half_pixel",
             cubic_coeff_a=-0.75, antialias=0, exclude_outside=0, axes=None):
    """Resizing with a filter, which antialiasing stretches where an axis shrinks. Places outside count as the nearest
    one inside, or not at all."""
    axes = list(range(x.ndim)) if axes is None else axes
    for number, axis in enumerate(axes):
        size = x.shape[axis]
        scale = sizes[number] / size if scales is None else scales[number]
        count = int(np.floor(size * scale)) if sizes is None else sizes[number]
        corners = (0, 1) if roi is None else (roi[number], roi[len(axes) + number])
        if scale == 1 and corners == (0, 1):
            continue
        centres = _coordinates(coordinate_transformation_mode, count, size, scale, corners)
        stretch = max(1, 1 / scale) if antialias else 1
        weights = np.zeros((count, size))
        for row, centre in enumerate(centres):
            places = np.arange(np.floor(centre - 2 * stretch), np.ceil(centre + 2 * stretch) + 1)
            shares = _share((places - centre) / stretch, mode, cubic_coeff_a)
            if exclude_outside:
                shares *= (places >= 0) & (places < size)
            if exclude_outside or antialias:
                shares /= shares.sum()
            np.add.at(weights[row], np.clip(places, 0, size - 1).astype(int), shares)
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
    return x


FORMULAS = {"HannWindow": _window(0.5, 0.5, 0), "HammingWindow": _window(25 / 46, 21 / 46, 0),
            "BlackmanWindow": _window(0.42, 0.5, 0.08), "MelWeightMatrix": mel_weights, "AffineGrid": affine_grid,
            "LpPool": lp_pool}
