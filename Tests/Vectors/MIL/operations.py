"""The cases: operation, inputs, its construction, and the formula if coremltools cannot evaluate it."""

from dataclasses import dataclass

import coremltools as ct
import numpy as np
import torch
from coremltools.converters.mil.mil import Builder as mb
from torch.nn import functional

from cases import ELEMENTWISE, EXACT, SUMS, Values, floats


@dataclass(frozen=True)
class Case:
    """`build` makes the operation from its inputs; `formula` takes them in float64."""

    operator: str
    inputs: tuple
    build: object
    formula: object = None
    tolerance: tuple = ELEMENTWISE
    target: object = None


CASES = []
# Operations whose operands are an error.
REFUSED = []


def add(operator, *inputs, formula=None, tolerance=ELEMENTWISE, target=None, names=("x",), **constants):
    """An operation whose inputs, in order, are bound to `names` and whose other operands are constants."""
    def build(*values):
        return getattr(mb, operator)(**dict(zip(names, values)), **constants)
    CASES.append(Case(operator, inputs, build, formula, tolerance, target))


def refuse(operator, *inputs, **rest):
    add(operator, *inputs, **rest)
    REFUSED.append(CASES.pop())


def tensors(function):
    """A formula in PyTorch on float64 tensors."""
    def formula(*values):
        results = function(*(torch.from_numpy(np.asarray(value)) for value in values))
        return tuple(r.numpy() for r in results) if isinstance(results, tuple) else results.numpy()
    return formula


def values(seed, *shape):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


X, IMAGE = Values((2, 3, 5)), Values((1, 2, 4, 6))
UNIT, POSITIVE = Values((3, 7), -0.9, 0.9), Values((3, 7), 0.1, 4)

for operator in ("asin", "acos", "atan", "atanh", "sinh", "cosh", "tan", "exp2"):
    add(operator, UNIT)
add("inverse", POSITIVE, epsilon=0.25)
add("rsqrt", POSITIVE, epsilon=0.25)
add("log", POSITIVE, epsilon=0.25)
add("threshold", X, alpha=0.5, tolerance=EXACT)
add("thresholded_relu", X, alpha=0.5, tolerance=EXACT)
add("clip", X, alpha=-0.5, beta=0.75, tolerance=EXACT)
add("clamped_relu", X, alpha=0.25, beta=0.75, formula=lambda x: np.where(x >= 0, np.minimum(x, 0.75),
                                                                      np.minimum(0.75, 0.25 * x)))
add("scaled_tanh", X, alpha=1.5, beta=0.5)
add("sigmoid_hard", X, alpha=0.3, beta=0.4)
add("linear_activation", X, alpha=0.3, beta=0.4)
add("leaky_relu", X, alpha=0.3)
add("elu", X, alpha=0.3)
add("silu", X, formula=lambda x: x / (1 + np.exp(-x)))
add("softplus_parametric", X, alpha=floats(0.5, 1, 2), beta=floats(1, 2, 0.5),
    formula=lambda x: np.array([0.5, 1, 2])[:, None] * np.log1p(np.exp(np.array([1, 2, 0.5])[:, None] * x)))
add("prelu", IMAGE, alpha=floats(0.5, 2), formula=tensors(
    lambda x: functional.prelu(x, torch.tensor([0.5, 2.0], dtype=torch.float64))))
add("gelu", X, mode="EXACT", formula=tensors(functional.gelu))
add("gelu", X, mode="TANH_APPROXIMATION", formula=tensors(lambda x: functional.gelu(x, approximate="tanh")))
add("gelu", X, mode="SIGMOID_APPROXIMATION", formula=lambda x: x / (1 + np.exp(-1.702 * x)))

SIGNED = (np.array([-7, 7, -7, 7, 6], np.int32), np.array([3, 3, -3, -3, 2], np.int32))
for operator in ("floor_div", "mod"):
    add(operator, *SIGNED, names=("x", "y"), tolerance=EXACT)
    add(operator, floats(-7.5, 7.5, -7.5, 7.5), floats(2, 2, -2, -2), names=("x", "y"))
for operator in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
    add(operator, Values((3, 5), -2, 2, "int32"), Values((5,), -2, 2, "int32"), names=("x", "y"), tolerance=EXACT)
for operator in ("logical_and", "logical_or", "logical_xor"):
    add(operator, Values((3, 5), kind="bool"), Values((3, 5), kind="bool"), names=("x", "y"), tolerance=EXACT)
add("logical_not", Values((3, 5), kind="bool"), tolerance=EXACT)
add("select", Values((3, 5), kind="bool"), Values((3, 5)), Values((3, 5)), names=("cond", "a", "b"), tolerance=EXACT)

add("cumsum", X, axis=1)
add("cumsum", X, axis=-1, exclusive=True, formula=lambda x: np.cumsum(x, -1) - x)
add("cumsum", X, axis=0, reverse=True, formula=lambda x: np.flip(np.cumsum(np.flip(x, 0), 0), 0))
for ascending in (False, True):
    add("argsort", X, axis=1, ascending=ascending, tolerance=EXACT)
    add("topk", X, axis=-1, k=2, ascending=ascending, tolerance=EXACT)
add("topk", X, axis=0, k=1, return_indices=False, tolerance=EXACT)
for lower, upper in ((-1, 0), (0, -1), (1, 2)):
    add("band_part", Values((2, 5, 4)), lower=lower, upper=upper, tolerance=EXACT)
add("one_hot", np.array([0, 3, 2], np.int32), names=("indices",), one_hot_vector_size=4, axis=-1, on_value=2.0,
    off_value=0.5, tolerance=EXACT, formula=lambda i: np.where(np.arange(4) == i[:, None], 2, 0.5))
add("one_hot", np.array([[0, 3], [2, 1]], np.int32), names=("indices",), one_hot_vector_size=4, axis=0, tolerance=EXACT,
    formula=lambda i: np.arange(4)[:, None, None] == i)
add("fill_like", X, names=("ref_tensor",), value=1.5, tolerance=EXACT, formula=lambda x: np.full(x.shape, 1.5))
for k in (True, False):
    add("reverse", X, axes=[0, 2] if k else [1], tolerance=EXACT)
add("reverse_sequence", Values((3, 5, 2)), lengths=np.array([1, 5, 3], np.int32), seq_axis=1, batch_axis=0,
    tolerance=EXACT, formula=lambda x: np.stack([np.concatenate([r[:n][::-1], r[n:]]) for r, n in zip(x, (1, 5, 3))]))
add("sliding_windows", Values((2, 9, 3)), axis=1, size=3, stride=2, tolerance=EXACT,
    formula=lambda x: np.stack([x[:, i:i + 3] for i in (0, 2, 4, 6)], axis=1))
add("pixel_unshuffle", IMAGE, downscale_factor=np.uint32(2), tolerance=EXACT,
    formula=tensors(lambda x: functional.pixel_unshuffle(x, 2)))


def space_to_batch(x, block, paddings):
    x = np.pad(x, [(0, 0), (0, 0), *paddings])
    n, c, h, w = x.shape
    parts = x.reshape(n, c, h // block[0], block[0], w // block[1], block[1])
    return parts.transpose(3, 5, 0, 1, 2, 4).reshape(-1, c, h // block[0], w // block[1])


def batch_to_space(x, block, crops):
    n, c, h, w = x.shape
    parts = x.reshape(block[0], block[1], -1, c, h, w).transpose(2, 3, 4, 0, 5, 1)
    whole = parts.reshape(-1, c, h * block[0], w * block[1])
    return whole[:, :, crops[0][0]:whole.shape[2] - crops[0][1], crops[1][0]:whole.shape[3] - crops[1][1]]


BLOCK, ENDS = [2, 3], [[1, 1], [0, 3]]
add("space_to_batch", IMAGE, block_shape=BLOCK, paddings=ENDS, tolerance=EXACT,
    formula=lambda x: space_to_batch(x, BLOCK, ENDS))
add("batch_to_space", Values((12, 2, 3, 2)), block_shape=BLOCK, crops=[[1, 0], [0, 2]], tolerance=EXACT,
    formula=lambda x: batch_to_space(x, BLOCK, [[1, 0], [0, 2]]))
add("crop", IMAGE, crop_height=[1, 0], crop_width=[2, 1], tolerance=EXACT, formula=lambda x: x[:, :, 1:, 2:-1])
CASES.append(Case("reshape_like", (Values((6, 5)), Values((2, 3)), Values((7, 5))),
                  lambda x, a, b: mb.reshape_like(x=x, ref_tensors=(a, b), begins=(0, 1), ends=(2, 0),
                                                  end_masks=(False, True)), lambda x, a, b: x.reshape(2, 3, 5), EXACT))


def updated(x, u):
    x = x.copy()
    x[1, 0:3:2] = u[0]
    return x


add("slice_update", Values((3, 4, 2)), Values((1, 2, 2)), names=("x", "update"), begin=[1, 0, 0], end=[2, 3, 2],
    stride=[1, 2, 1], tolerance=EXACT, target=ct.target.iOS18, formula=updated)


def place(*numbers):
    return np.array(numbers, np.int32)


def replaced(*ranges, shape=None):
    """Returns the result of writing over the ranges; the formula already knows the begin index, the third input."""
    def formula(x, u, _):
        x = x.copy()
        x[ranges] = u.reshape(shape) if shape else u
        return x
    return formula


# Slices whose begin index is an input. One outside its axis is left out of an update.
BOX, AT = Values((3, 5, 4)), ("x", "update", "begin")
add("slice_update", BOX, Values((2, 1, 4)), place(1, 3, 0), names=AT, end=[3, 4, 4], tolerance=EXACT,
    target=ct.target.iOS18, formula=replaced(slice(1, 3), slice(3, 4)))
add("slice_update", BOX, Values((3, 2)), place(7, -2, 1), names=AT, end=[7, 5, 3], begin_mask=[True, False, False],
    squeeze_mask=[False, True, False], tolerance=EXACT, target=ct.target.iOS18,
    formula=replaced(slice(None), 3, slice(1, 3)))
add("slice_update", BOX, Values((3, 1, 4)), place(0, 5, 0), names=AT, end=[3, 6, 4], tolerance=EXACT,
    target=ct.target.iOS18, formula=lambda x, u, _: x)
add("slice_update", BOX, Values((3, 5, 4)), place(0, 0, 0), names=AT, end=[3, 5, 4], tolerance=EXACT,
    target=ct.target.iOS18, formula=lambda x, u, _: u)
add("slice_update", Values((4, 6)), Values((2, 3)), names=("x", "update"), begin=[3, 0], end=[0, 6], stride=[-2, 2],
    tolerance=EXACT, target=ct.target.iOS18, formula=lambda x, u: replaced(slice(3, 0, -2), slice(0, 6, 2))(x, u, None))
add("slice_update", BOX, Values((2, 5, 2)), place(0, 0, -3), names=AT, end=[3, 5, 4], stride=[2, 1, 2], tolerance=EXACT,
    target=ct.target.iOS18, formula=replaced(slice(0, 3, 2), slice(None), slice(1, 4, 2)))
add("slice_update", BOX, Values((2, 5, 2)), place(2, 4, 3), names=AT, end=[0, 0, 0], end_mask=[True, True, True],
    begin_mask=[False, True, False], stride=[-2, -1, -3], tolerance=EXACT, target=ct.target.iOS18,
    formula=replaced(slice(2, None, -2), slice(None, None, -1), slice(3, None, -3)))
add("slice_update", BOX, Values((2, 1, 4)), place(2, 3, 0), names=AT, end=[5, 4, 4], stride=[2, 3, 1], tolerance=EXACT,
    target=ct.target.iOS18, formula=lambda x, u, _: replaced(slice(2, 3), slice(3, 4))(x, u[:1], None))
add("slice_by_size", BOX, place(1, -3, 0), names=("x", "begin"), size=[2, 2, 4], tolerance=EXACT,
    formula=lambda x, _: x[1:3, 2:4])
add("slice_by_index", BOX, place(0, -1, 2), names=("x", "begin"), end=[1, 5, 3], squeeze_mask=[True, True, True],
    tolerance=EXACT, formula=lambda x, _: x[0, -1, 2])

add("gather", Values((3, 4, 2)), np.array([[2, 0], [-1, 1]], np.int32), names=("x", "indices"), axis=1, tolerance=EXACT)
add("gather", Values((2, 4, 3)), np.array([[2, 0], [3, 1]], np.int32), names=("x", "indices"), axis=1, batch_dims=1,
    tolerance=EXACT)
add("gather", Values((2, 3, 4)), np.array([[2, 0, 1], [3, 1, 1]], np.int32), names=("x", "indices"), axis=2,
    batch_dims=1, tolerance=EXACT, formula=lambda x, i: np.stack([x[b][:, i[b]] for b in range(2)]))
add("gather_along_axis", Values((2, 4)), np.array([[2, 0, 3], [-1, 1, 1]], np.int32), names=("x", "indices"), axis=1,
    tolerance=EXACT)
add("gather_nd", Values((3, 4, 2)), np.array([[2, 0], [0, 3]], np.int32), names=("x", "indices"), tolerance=EXACT,
    formula=lambda x, i: x[i[:, 0], i[:, 1]])
add("gather_nd", Values((2, 4, 3)), np.array([[2], [1]], np.int32), names=("x", "indices"), batch_dims=1,
    tolerance=EXACT, formula=lambda x, i: x[np.arange(2), i[:, 0]])
UFUNC = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "min": np.minimum}


def scattered(x, place, updates, mode):
    x = x.copy()
    if mode == "update":
        x[place] = updates
    else:
        UFUNC[mode].at(x, place, updates)
    return x


PLACES = np.array([2, 0, 2], np.int32)
for mode in ("update", *UFUNC):
    rows = PLACES if mode != "update" else np.array([2, 0, 1], np.int32)
    add("scatter", Values((3, 4)), rows, Values((3, 4), 0.5, 2), names=("data", "indices", "updates"), axis=0,
        mode=mode, formula=lambda x, i, u, mode=mode: scattered(x, i, u, mode))
ALONG = np.array([[1, 3], [0, 2]], np.int32)
add("scatter", Values((2, 4, 3)), np.array([1, 3], np.int32), Values((2, 2, 3)), names=("data", "indices", "updates"),
    axis=1, mode="add", formula=lambda x, i, u: scattered(x, (slice(None), i), u, "add"))
add("scatter_along_axis", Values((2, 4)), ALONG, Values((2, 2)), names=("data", "indices", "updates"), axis=1,
    mode="add", formula=lambda x, i, u: scattered(x, (np.arange(2)[:, None], i), u, "add"))
add("scatter_nd", Values((3, 4)), np.array([[1], [0]], np.int32), Values((2, 4)), names=("data", "indices", "updates"),
    mode="update", formula=lambda x, i, u: scattered(x, i[:, 0], u, "update"))
# From iOS 17 on negative indices are outside, and what is not validated writes nothing there.
BEYOND = np.array([2, -1, 9, 0], np.int32)
add("scatter", Values((3, 4)), BEYOND, Values((4, 4)), names=("data", "indices", "updates"), axis=0, mode="add",
    formula=lambda x, i, u: scattered(x, i[[0, 3]], u[[0, 3]], "add"))
add("scatter", Values((3, 4)), Values((4, 4)), names=("data", "updates"), indices=BEYOND, axis=0, mode="update",
    tolerance=EXACT, formula=lambda x, u: scattered(x, [2, 0], u[[0, 3]], "update"))
add("scatter_along_axis", Values((2, 4)), np.array([[1, 4], [-2, 2]], np.int32), Values((2, 2)),
    names=("data", "indices", "updates"), axis=1, mode="add",
    formula=lambda x, i, u: scattered(x, ([0, 1], [1, 2]), u[[0, 1], [0, 1]], "add"))
add("scatter_nd", Values((3, 4)), np.array([[1, 0], [0, -1], [3, 0], [2, 3], [-3, 1]], np.int32), Values((5,)),
    names=("data", "indices", "updates"), mode="update", tolerance=EXACT,
    formula=lambda x, i, u: scattered(x, ([1, 2], [0, 3]), u[[0, 3]], "update"))
ASKED = dict(names=("data", "indices", "updates"), mode="update", validate_indices=True)
add("scatter", Values((3, 4)), np.array([2, 0], np.int32), Values((2, 4)), axis=0, tolerance=EXACT, **ASKED,
    formula=lambda x, i, u: scattered(x, i, u, "update"))
for outside in (-1, 3):
    refuse("scatter", Values((3, 4)), np.array([outside, 0], np.int32), Values((2, 4)), axis=0, **ASKED)
    refuse("scatter_along_axis", Values((3, 2)), np.array([[0, outside]], np.int32), Values((1, 2)), axis=0, **ASKED)
    refuse("scatter_nd", Values((4, 3)), np.array([[1, 2], [1, outside]], np.int32), Values((2,)), **ASKED)
    refuse("gather", Values((3, 4)), np.array([outside, 0], np.int32), names=("x", "indices"), axis=0,
           validate_indices=True)
    refuse("gather_along_axis", Values((2, 3)), np.array([[0, outside], [1, 1]], np.int32), names=("x", "indices"), axis=1,
           validate_indices=True)
    refuse("gather_nd", Values((2, 3)), np.array([[0], [outside]], np.int32), names=("x", "indices"), batch_dims=1,
           validate_indices=True)
add("scatter", Values((3, 4)), np.array([-1, 0], np.int32), Values((2, 4)), names=("data", "indices", "updates"), axis=0,
    mode="add", target=ct.target.iOS16, formula=lambda x, i, u: scattered(x, i, u, "add"))


# Products of integers, and of a constant of another type than the other operand, whose type the result has.
WHOLE = dict(low=-9, high=9, kind="int32")
TABLE = np.random.default_rng(5).integers(-9, 9, (5, 3)).astype(np.int32)
add("matmul", Values((2, 4, 5), **WHOLE), names=("x",), y=TABLE, tolerance=EXACT, formula=lambda x: x @ TABLE)
add("matmul", Values((2, 5, 4), **WHOLE), Values((3, 5), **WHOLE), names=("x", "y"), transpose_x=True, transpose_y=True,
    tolerance=EXACT, formula=lambda x, y: np.swapaxes(x, 1, 2) @ y.T)
add("matmul", Values((2, 1, 4, 5), **WHOLE), Values((3, 5, 2), **WHOLE), names=("x", "y"), tolerance=EXACT,
    formula=lambda x, y: x @ y)
add("matmul", Values((3, 4)), names=("y",), x=TABLE, tolerance=SUMS, formula=lambda y: TABLE @ y)
add("matmul", Values((4, 5)), names=("x",), y=TABLE, tolerance=SUMS, formula=lambda x: x @ TABLE)
add("linear", Values((4, 3), **WHOLE), weight=TABLE, bias=np.arange(5, dtype=np.int32), tolerance=EXACT,
    formula=lambda x: x @ TABLE.T + np.arange(5))
add("linear", Values((4, 3)), weight=TABLE, bias=np.arange(5, dtype=np.int32), tolerance=SUMS,
    formula=lambda x: x @ TABLE.T + np.arange(5))


def sampled(x, points, axis, nearest=None):
    points = np.clip(points, 0, x.shape[axis] - 1)
    if nearest:
        return np.take(x, nearest(points).astype(int), axis=axis)
    lower = np.floor(points).astype(int)
    upper = np.minimum(lower + 1, x.shape[axis] - 1)
    share = (points - lower).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.take(x, lower, axis=axis) * (1 - share) + np.take(x, upper, axis=axis) * share


# The result that coremltools' own test expects of Core ML: of two equally near pixels the later one, before mirroring.
CORNERS = np.float32([11, 22, 33, 44]).reshape(1, 1, 2, 2)
add("resample", CORNERS, np.float32([-1, -2, -3.7, -1, 0, 0, 3.5, 1.2]).reshape(1, 2, 2, 2), names=("x", "coordinates"),
    sampling_mode="nearest", padding_mode="symmetric", padding_value=-1.0, coordinates_mode="normalized_zero_to_one",
    align_corners=False, tolerance=EXACT, formula=lambda x, c: np.float64([22, 33, 11, 33]).reshape(1, 1, 2, 2))


def grid(mode, n, m):
    """The sample positions that the documentation of `resize_bilinear` gives."""
    i = np.arange(m)
    if mode in ("STRICT_ALIGN_CORNERS", "ALIGN_CORNERS"):
        alone = (n - 1) / 2 if mode == "ALIGN_CORNERS" else 0
        return np.array([alone]) if m == 1 else i * (n - 1) / (m - 1)
    if mode == "DEFAULT":
        return i * (n / m)
    if mode == "OFFSET_CORNERS":
        delta = max(1, n - 1) / m
        return 0.5 * delta + i * delta
    return i * n / m + 0.5 * n / m - 0.5


def resized(x, mode, height, width, nearest=None):
    rows = sampled(x, grid(mode, x.shape[-2], height), x.ndim - 2, nearest)
    return sampled(rows, grid(mode, x.shape[-1], width), x.ndim - 1, nearest)


for mode in ("STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS", "UNALIGN_CORNERS"):
    for height, width in ((7, 3), (1, 11)):
        add("resize_bilinear", IMAGE, target_size_height=height, target_size_width=width, sampling_mode=mode,
            formula=lambda x, m=mode, h=height, w=width: resized(x, m, h, w))
add("resize", IMAGE, shape=[5, 9], resized_dims=np.uint32(2), sampling_mode="UNALIGN_CORNERS",
    formula=lambda x: resized(x, "UNALIGN_CORNERS", 5, 9))
add("resize", IMAGE, shape=[1, 0, 12], resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR",
    tolerance=EXACT, formula=lambda x: np.repeat(x, 2, axis=3))
# The result that coremltools' own test expects of Core ML: two elements resized to three.
add("resize", Values((2, 1, 2, 1)), shape=[3, 2], resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR",
    tolerance=EXACT, formula=lambda x: np.repeat(x[:, :, [0, 1, 1]], 2, axis=3))
add("resize", IMAGE, shape=[7, 9], resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR", tolerance=EXACT,
    formula=lambda x: resized(x, "DEFAULT", 7, 9, lambda points: np.ceil(points - 0.5)))
add("resize_nearest_neighbor", IMAGE, target_size_height=7, target_size_width=4, tolerance=EXACT,
    formula=tensors(lambda x: functional.interpolate(x, size=(7, 4), mode="nearest")))
add("upsample_nearest_neighbor", IMAGE, scale_factor_height=2, scale_factor_width=3, tolerance=EXACT,
    formula=tensors(lambda x: functional.interpolate(x, scale_factor=(2, 3), mode="nearest")))
add("upsample_nearest_neighbor", IMAGE, scale_factor_height=1.5, scale_factor_width=2.5, tolerance=EXACT,
    formula=tensors(lambda x: functional.interpolate(x, size=(6, 15), mode="nearest")))
for aligns, height, width in ((True, 2, 3), (False, 2, 3), (False, 1.5, 2.5)):
    add("upsample_bilinear", IMAGE, scale_factor_height=height, scale_factor_width=width, align_corners=aligns,
        formula=tensors(lambda x, a=aligns, h=height, w=width: functional.interpolate(
            x, size=(int(4 * h), int(6 * w)), mode="bilinear", align_corners=a)))
add("upsample_bilinear", IMAGE, scale_factor_height=2, scale_factor_width=2, align_corners=False,
    half_pixel_centers=False, formula=lambda x: resized(x, "DEFAULT", 8, 12))

W = values(1, 2, 3, 3, 3)
B = values(2, 3)
WEIGHT, BIAS = torch.from_numpy(W).double(), torch.from_numpy(B).double()
add("conv_transpose", IMAGE, weight=W, bias=B, strides=[2, 1], tolerance=SUMS,
    formula=tensors(lambda x: functional.conv_transpose2d(x, WEIGHT, BIAS, stride=(2, 1))))
add("conv_transpose", IMAGE, weight=W, bias=B, strides=[2, 2], pad_type="custom", pad=[1, 1, 1, 1], tolerance=SUMS,
    formula=tensors(lambda x: functional.conv_transpose2d(x, WEIGHT, BIAS, stride=2, padding=1)))
add("conv_transpose", IMAGE, weight=W, strides=[2, 2], pad_type="custom", pad=[1, 1, 1, 1], output_shape=[1, 3, 8, 12],
    tolerance=SUMS,
    formula=tensors(lambda x: functional.conv_transpose2d(x, WEIGHT, stride=2, padding=1, output_padding=1)))
GROUPED = torch.from_numpy(W[:, :1]).double()
add("conv_transpose", IMAGE, weight=W[:, :1], groups=2, dilations=[2, 1], tolerance=SUMS,
    formula=tensors(lambda x: functional.conv_transpose2d(x, GROUPED, groups=2, dilation=(2, 1))))
CODES = np.random.default_rng(3).integers(0, 256, (4, 2, 3, 3)).astype(np.uint8)
for scale, shift, rest in ((np.float32(0.01), np.float32(-1.25), {}), (values(4, 4) * 0.02, values(5, 4), {"strides": [2, 1]})):
    KERNEL = torch.from_numpy(CODES * np.reshape(scale, (-1, 1, 1, 1)).astype(float) + np.reshape(shift, (-1, 1, 1, 1)))
    add("conv_quantized", IMAGE, weight=CODES, quantization_type="linear", nbits=8, quant_scale=scale, quant_bias=shift,
        target=ct.target.iOS15, tolerance=SUMS, **rest,
        formula=tensors(lambda x, k=KERNEL, r=rest: functional.conv2d(x, k, stride=tuple(r.get("strides", (1, 1))))))
add("l2_pool", IMAGE, kernel_sizes=[2, 3], strides=[2, 1], pad_type="valid",
    formula=tensors(lambda x: functional.lp_pool2d(x, 2, (2, 3), (2, 1))))
add("local_response_norm", Values((1, 5, 3, 2)), size=3, alpha=0.5, beta=0.6, k=1.5,
    formula=tensors(lambda x: functional.local_response_norm(x, 3, 0.5, 0.6, 1.5)))

G, S = values(3, 5), values(4, 5)
GAMMA, BETA = torch.from_numpy(G).double(), torch.from_numpy(S).double()
add("layer_norm", X, axes=[-1], gamma=G, beta=S, epsilon=1e-3, tolerance=SUMS,
    formula=tensors(lambda x: functional.layer_norm(x, [5], GAMMA, BETA, 1e-3)))
add("layer_norm", X, axes=[1, 2], epsilon=1e-5, tolerance=SUMS,
    formula=tensors(lambda x: functional.layer_norm(x, [3, 5], eps=1e-5)))
add("layer_norm", Values((2, 5, 1, 7)), axes=[1], gamma=G, beta=S, epsilon=1e-5, tolerance=SUMS,
    formula=tensors(lambda x: functional.layer_norm(x.movedim(1, -1), [5], GAMMA, BETA, 1e-5).movedim(-1, 1)))
add("instance_norm", Values((2, 5, 3, 4)), gamma=G, beta=S, epsilon=1e-4, tolerance=SUMS,
    formula=tensors(lambda x: functional.instance_norm(x, weight=GAMMA, bias=BETA, eps=1e-4)))
add("l2_norm", IMAGE, epsilon=1e-3, tolerance=SUMS,
    formula=lambda x: x / np.sqrt(np.square(x).sum(axis=(1, 2, 3), keepdims=True) + 1e-3))
CASES.append(Case("einsum", (Values((2, 3, 5, 4)), Values((2, 4, 5, 7))),
                  lambda x, y: mb.einsum(values=(x, y), equation="nchw,nwhu->nchu"),
                  lambda x, y: np.einsum("nchw,nwhu->nchu", x, y), SUMS))

QKV = (Values((1, 2, 3, 5)), Values((1, 2, 7, 5)), Values((1, 2, 7, 4)))
NAMES = ("query", "key", "value", "attn_mask")
add("scaled_dot_product_attention", *QKV, names=NAMES, target=ct.target.iOS18, tolerance=SUMS,
    formula=tensors(functional.scaled_dot_product_attention))
add("scaled_dot_product_attention", *QKV, Values((3, 7)), names=NAMES, target=ct.target.iOS18, tolerance=SUMS,
    formula=tensors(functional.scaled_dot_product_attention))
MASK = np.random.default_rng(8).random((3, 7)) < 0.7
MASK[:, 0] = True
add("scaled_dot_product_attention", *QKV, MASK, names=NAMES, target=ct.target.iOS18, tolerance=SUMS,
    formula=tensors(functional.scaled_dot_product_attention))


def suppressed(boxes, scores, overlap, least, count, per_class):
    """Greedy suppression, one image at a time, of boxes given by centre and size."""
    outputs = [np.zeros((len(boxes), count, 4)), np.zeros((len(boxes), count, scores.shape[2])),
               np.full((len(boxes), count), -1), np.zeros(len(boxes), int)]
    for image, (box, score) in enumerate(zip(boxes, scores)):
        picked = []
        for index in np.argsort(-score.max(axis=1), kind="stable"):
            if score[index].max() < least or len(picked) == count:
                continue

            def shares(other):
                if per_class and score[other].argmax() != score[index].argmax():
                    return False
                low = np.maximum(box[other, :2] - box[other, 2:] / 2, box[index, :2] - box[index, 2:] / 2)
                high = np.minimum(box[other, :2] + box[other, 2:] / 2, box[index, :2] + box[index, 2:] / 2)
                common = np.maximum(high - low, 0).prod()
                return common > overlap * (box[other, 2:].prod() + box[index, 2:].prod() - common)

            if not any(shares(other) for other in picked):
                picked.append(index)
        outputs[0][image, :len(picked)] = box[picked]
        outputs[1][image, :len(picked)] = score[picked]
        outputs[2][image, :len(picked)] = picked
        outputs[3][image] = len(picked)
    return tuple(outputs)


for per_class in (False, True):
    add("non_maximum_suppression", Values((2, 17, 4), 0.5, 2), Values((2, 17, 3), 0, 1), names=("boxes", "scores"),
        iou_threshold=0.4, score_threshold=0.3, max_boxes=7, per_class_suppression=per_class, tolerance=EXACT,
        formula=lambda b, s, p=per_class: suppressed(b, s, 0.4, 0.3, 7, p), target=ct.target.iOS16)


def suppressed_last(boxes, scores):
    boxes, scores, indices, _ = suppressed(boxes.swapaxes(1, 2), scores.swapaxes(1, 2), 0.4, -np.inf, 7, False)
    return boxes.swapaxes(1, 2), scores.swapaxes(1, 2), indices


add("non_maximum_suppression", Values((2, 4, 17), 0.5, 2), Values((2, 3, 17), 0, 1), names=("boxes", "scores"),
    iou_threshold=0.4, max_boxes=7, tolerance=EXACT, formula=suppressed_last)
CASES.append(Case("cast", (Values((3, 7)),), lambda x: mb.cast(
    x=mb.reduce_argmax(x=x, axis=1, output_dtype="uint16"), dtype="int32"), lambda x: x.argmax(axis=1), EXACT))

# At the edges: what only later operator sets mean, integers that float32 does not hold, constants where values are usual.
ODD = np.int32(16_777_217)
add("reshape", Values((2, 50)), shape=(1, 0, -1, 0), formula=lambda x: x.reshape(1, 1, 2, 50), tolerance=EXACT)
add("reshape", X, shape=(0, -1), formula=lambda x: x.reshape(3, 10), tolerance=EXACT)
add("reshape", X, shape=(0, -1, 3), formula=lambda x: x.reshape(2, 5, 3), tolerance=EXACT, target=ct.target.iOS16)
WHOLE = Values((2, 3), -9, 9, "int32")
add("fill_like", X, names=("ref_tensor",), value=ODD, tolerance=EXACT, formula=lambda x: np.full(x.shape, ODD))
CASES.append(Case("fill", (WHOLE,), lambda x: mb.add(x=x, y=mb.fill(shape=(2, 3), value=ODD)), lambda x: x + ODD, EXACT))
CASES.append(Case("fill_like", (WHOLE,), lambda x: mb.add(x=x, y=mb.fill_like(ref_tensor=np.ones((2, 3), np.float32),
                                                                          value=ODD)), lambda x: x + ODD, EXACT))
CASES.append(Case("range_1d", (WHOLE,), lambda x: mb.add(x=x, y=mb.range_1d(start=ODD, end=ODD + 5, step=np.int32(2))),
                  lambda x: x + np.arange(ODD, ODD + 5, 2, np.int32), EXACT))
CASES.append(Case("range_1d", (X,), lambda x: mb.range_1d(
    start=np.int32(0), end=mb.gather(x=mb.shape(x=x), indices=np.int32(2), axis=0), step=np.int32(1)),
                  lambda x: np.arange(x.shape[2]), EXACT))
CASES.append(Case("shape", (Values((3,), -9, 9, "int32"),),
                  lambda x: mb.add(x=x, y=mb.shape(x=np.ones((2, 3, 5), np.float32))),
                  lambda x: x + np.array([2, 3, 5]), EXACT))
add("one_hot", np.array([0, 2, 1], np.int32), names=("indices",), one_hot_vector_size=3, on_value=ODD, off_value=-ODD,
    tolerance=EXACT, formula=lambda x: np.where(np.eye(3, dtype=bool)[x], ODD, -ODD))
UNFIT = np.array([0, -1, 127, 128, 255, 256, 300, -129, 65_535, 65_536, -32_769, 2**31 - 1, -2**31], np.int32)
for kind in ("int8", "uint8", "int16", "uint16"):
    CASES.append(Case("cast", (UNFIT,), lambda x, k=kind: mb.cast(x=mb.cast(x=x, dtype=k), dtype="int32"),
                      lambda x, k=kind: x.astype(k).astype(np.int32), EXACT))
for size in (2, 4):
    add("local_response_norm", Values((1, 7, 3, 2)), size=size, alpha=0.5, beta=0.6, k=1.5,
        formula=tensors(lambda x, s=size: functional.local_response_norm(x, s, 0.5, 0.6, 1.5)))
for operator, find in (("reduce_argmax", np.argmax), ("reduce_argmin", np.argmin)):
    add(operator, floats([1, np.nan, 3, np.nan], [np.inf, 1, -np.inf, 2]), axis=1, tolerance=EXACT,
        formula=lambda x, f=find: f(x, axis=1))
add("thresholded_relu", floats(-np.inf, -1, 0.5, 0.25, 2), alpha=0.5, tolerance=EXACT,
    formula=lambda x: np.where(x >= 0.5, x, 0))
BLIND = MASK & (np.arange(3) != 1)[:, None]
add("scaled_dot_product_attention", *QKV, BLIND, names=NAMES, target=ct.target.iOS18, tolerance=SUMS,
    formula=tensors(functional.scaled_dot_product_attention))
add("scaled_dot_product_attention", *QKV, np.where(BLIND, 0.5, -np.inf).astype(np.float32), names=NAMES,
    target=ct.target.iOS18, tolerance=SUMS, formula=tensors(functional.scaled_dot_product_attention))


def listed(a, b):
    """Elements of a list, which grows behind its end, one by one and several at a time."""
    elements = mb.make_list(init_length=2, elem_shape=(2,))
    first = mb.list_read(ls=elements, index=0)
    elements = mb.list_write(ls=elements, index=0, value=a)
    elements = mb.list_write(ls=elements, index=4, value=b)
    elements = mb.list_scatter(ls=elements, indices=[2, 1], value=np.float32([[-1, -2], [-4, -5]]))
    return first, mb.list_read(ls=elements, index=0), mb.list_gather(ls=elements, indices=[4, 2, 3])


CASES.append(Case("make_list", (Values((2,)), Values((2,))), listed,
                  lambda a, b: (np.zeros(2), a, np.stack([b, np.array([-1.0, -2.0]), np.zeros(2)])), EXACT))


def accumulated(x, count):
    """A list of three that a loop fills as far as it goes."""
    _, elements, _ = mb.while_loop(
        _cond=lambda i, elements, x: mb.less(x=mb.cast(x=i, dtype="fp32"), y=count),
        _body=lambda i, elements, x: (
            mb.add(x=i, y=1),
            mb.list_write(ls=elements, index=i, value=mb.mul(x=x, y=mb.cast(x=mb.add(x=i, y=1), dtype="fp32"))), x),
        loop_vars=(0, mb.make_list(init_length=3, dynamic_length=False, elem_shape=(2,)), x))
    length = mb.list_length(ls=elements)
    return mb.list_gather(ls=elements, indices=mb.range_1d(start=0, end=length, step=1))


CASES.append(Case("make_list", (Values((2,)), np.float32([2])), accumulated,
                  lambda x, count: np.stack([x, 2 * x, 0 * x]), EXACT))
