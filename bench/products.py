"""A layer's products with constant weights, computed exactly and with less precision."""

import ctypes
import pathlib

import numpy as np


def exact(layer, x):
    """Computes in float64."""
    return computed(layer, x, np.float64, np.matmul)


def by_sgemm(layer, x):
    return computed(layer, x, np.float32, sgemm)


def of_bfloat16(layer, x):
    """Computes in float64, with operands rounded to bfloat16."""
    return computed(layer, x, np.float64, lambda a, b: bfloat16(a) @ bfloat16(b))


def sgemm(a, b):
    """NumPy calls sgemv where a side is 1: such sides are doubled."""
    rows, columns = len(a), b.shape[1]
    a = np.repeat(a, 2, axis=0) if rows == 1 else a
    b = np.repeat(b, 2, axis=1) if columns == 1 else b
    return (a @ b)[:rows, :columns]


def bfloat16(values):
    """Rounds to nearest, ties to even, as float64. Finite numbers only."""
    bits = values.astype(np.float32).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


def computed(layer, x, kind, multiply):
    """Computes the layer with operands converted to `kind` by this product of two matrices, its bias added in
    `kind`."""
    product = convolved if layer.isConvolution else linear
    return product(layer, x, kind, multiply)


def linear(layer, x, kind, multiply):
    weights = np.ascontiguousarray(layer.matrix.astype(kind))
    rows = x.reshape(-1, x.shape[-1]).astype(kind)
    y = multiply(rows, weights) + biased(layer, kind)
    return y.reshape(*x.shape[:-1], weights.shape[1])


def convolved(layer, x, kind, multiply):
    columns, (height, width) = image_to_columns(layer, x.astype(kind))
    weights = layer.weights.astype(kind)
    count, group = len(weights), layer.groups
    left, right = weights.reshape(group, count // group, -1), columns.reshape(group, -1, height * width)
    y = np.concatenate([multiply(a, b) for a, b in zip(left, right)])
    return (y + np.reshape(biased(layer, kind), (-1, 1))).reshape(1, count, height, width)


def biased(layer, kind):
    return np.zeros(1, kind) if layer.bias is None else layer.bias.astype(kind)


def image_to_columns(layer, x):
    """[channels, taps, pixels] of one image, and the output's height and width."""
    top, left, bottom, right = layer.pads
    x = np.pad(x[0], ((0, 0), (top, bottom), (left, right)))
    (kh, kw), (sy, sx), (dy, dx) = layer.weights.shape[2:], layer.strides, layer.dilations
    height = (x.shape[1] - dy * (kh - 1) - 1) // sy + 1
    width = (x.shape[2] - dx * (kw - 1) - 1) // sx + 1
    taps = [x[:, i * dy:i * dy + sy * (height - 1) + 1:sy, j * dx:j * dx + sx * (width - 1) + 1:sx]
            for i in range(kh) for j in range(kw)]
    return np.stack(taps, axis=1).reshape(len(x), len(taps), height * width), (height, width)


def error(y, reference):
    """Returns the L2 norm of the difference over that of the exact result, and the same for the largest numbers."""
    difference = y.astype(np.float64) - reference
    norms = {"relative": np.linalg.norm, "largest": lambda values: np.abs(values).max()}
    return {name: rounded(norm(difference) / norm(reference)) if norm(reference) else 0.0 for name, norm in norms.items()}


def rounded(value):
    """Rounds a value as stored with the results."""
    return float(f"{value:.4g}")


def library():
    """Returns the library of NumPy's products: OpenBLAS's version and the processor that it detects."""
    about = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    title = f"NumPy {np.__version__}, {about['name']} {about['version']}"
    for path in (pathlib.Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas*"):
        blas = ctypes.CDLL(str(path))
        for suffix in ("64_", ""):
            name = getattr(blas, f"scipy_openblas_get_corename{suffix}", None)
            if name:
                name.restype = ctypes.c_char_p
                return f"{title}, core {name().decode()}"
    return title
