"""Cases of layers that move, pick, compare and reduce; see layers.py."""

import numpy as np

from layers import case, f32, softmax  # noqa: F401


def grid(method, size, count):
    if method == "STRICT_ALIGN_ENDPOINTS_MODE":
        return np.linspace(0, size - 1, count)
    if method == "ALIGN_ENDPOINTS_MODE":
        return np.array([(size - 1) / 2]) if count == 1 else np.linspace(0, size - 1, count)
    if method == "UPSAMPLE_MODE":
        return np.minimum(size - 1, np.linspace(0, size - size / count, count))
    spacing = max(1, size - 1) / count
    return np.minimum(size - 1, 0.5 * spacing + spacing * np.arange(count))


def bilinear(x, rows, columns):
    def along(x, points, axis):
        low = np.clip(np.floor(points).astype(int), 0, x.shape[axis] - 1)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        weight = (points - low).reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
        return np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight
    return along(along(x, rows, -2), columns, -1)


for number, (method, target) in enumerate([
        ("STRICT_ALIGN_ENDPOINTS_MODE", (7, 9)), ("ALIGN_ENDPOINTS_MODE", (1, 3)), ("UPSAMPLE_MODE", (8, 12)),
        ("ROI_ALIGN_MODE", (5, 3))]):
    case(f"resizeBilinear_{number + 1}", {"x": (2, 4, 6)},
         lambda x, m=method, s=target: [bilinear(x, grid(m, 4, s[0]), grid(m, 6, s[1]))],
         lambda nn, m=method, s=target: nn.add_resize_bilinear("r", "x", "y", *s, mode=m), legacy=True)
case("upsample_nearest", {"x": (2, 3, 5)}, lambda x: [x.repeat(3, 1).repeat(2, 2)],
     lambda nn: nn.add_upsample("u", 3, 2, "x", "y"), legacy=True)
for mode, points in [
        ("DEFAULT", lambda n, m: np.minimum(n - 1, np.arange(m) * (n - n / m) / (m - 1))),
        ("ALIGN_CORNERS_TRUE", lambda n, m: np.arange(m) * (n - 1) / (m - 1)),
        ("ALIGN_CORNERS_FALSE", lambda n, m: np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1))]:
    case(f"upsample_{mode.lower()}", {"x": (1, 2, 3, 5)},
         lambda x, p=points: [bilinear(x, p(3, 6), p(5, 15))],
         lambda nn, m=mode: nn.add_upsample("u", 2, 3, "x", "y", "BILINEAR", m))

PADS = dict(left=2, right=1, top=1, bottom=2)
WIDTHS = ((0, 0), (1, 2), (2, 1))
for kind, mode in [("constant", "constant"), ("reflection", "reflect"), ("replication", "edge")]:
    case(f"padding_{kind}", {"x": (2, 4, 5)},
         lambda x, m=mode: [np.pad(x, WIDTHS, m, **({"constant_values": 0.5} if m == "constant" else {}))],
         lambda nn, k=kind: nn.add_padding("p", input_name="x", output_name="y", padding_type=k, value=0.5, **PADS),
         legacy=True)
case("padding_matrix", {"x": (3, 4)}, lambda x: [np.pad(x, ((1, 2), (2, 1)), constant_values=0.5)],
     lambda nn: nn.add_padding("p", input_name="x", output_name="y", value=0.5, **PADS))
case("crop", {"x": (2, 6, 7)}, lambda x: [x[:, 2:5, 1:5]],
     lambda nn: nn.add_crop("c", 1, 2, 2, 1, [0, 0], ["x"], "y"), legacy=True)
case("crop_like", {"x": (1, 2, 6, 7), "r": (1, 2, 3, 4)}, lambda x, r: [x[:, :, 1:4, 2:6]],
     lambda nn: nn.add_crop("c", 0, 0, 0, 0, [1, 2], ["x", "r"], "y"))


def space_to_depth(x):
    c, h, w = x.shape
    return x.reshape(c, h // 2, 2, w // 2, 2).transpose(2, 4, 0, 1, 3).reshape(4 * c, h // 2, w // 2)


case("reorganizeData_space", {"x": (3, 4, 6)}, lambda x: [space_to_depth(x)],
     lambda nn: nn.add_reorganize_data("r", "x", "y", "SPACE_TO_DEPTH", 2), legacy=True)
case("reorganizeData_depth", {"x": (12, 2, 3)},
     lambda x: [x.reshape(2, 2, 3, 2, 3).transpose(2, 3, 0, 4, 1).reshape(3, 4, 6)],
     lambda nn: nn.add_reorganize_data("r", "x", "y", "DEPTH_TO_SPACE", 2), legacy=True)
case("reorganizeData_shuffle", {"x": (1, 12, 2, 3)},
     lambda x: [x.reshape(1, 3, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 3, 4, 6)],
     lambda nn: nn.add_reorganize_data("r", "x", "y", "PIXEL_SHUFFLE", 2))
case("flatten_first", {"x": (2, 3, 4)}, lambda x: [x.reshape(-1)],
     lambda nn: nn.add_flatten("f", 0, "x", "y"), legacy=True)
case("flatten_last", {"x": (2, 3, 4)}, lambda x: [x.transpose(1, 2, 0).reshape(-1)],
     lambda nn: nn.add_flatten("f", 1, "x", "y"), legacy=True)
case("reshape_first", {"x": (2, 3, 4)}, lambda x: [x.reshape(6, 2, 2)],
     lambda nn: nn.add_reshape("r", "x", "y", (6, 2, 2), 0), legacy=True)
case("reshape_last", {"x": (2, 3, 4)},
     lambda x: [x.transpose(1, 2, 0).reshape(2, 2, 6).transpose(2, 0, 1)],
     lambda nn: nn.add_reshape("r", "x", "y", (6, 2, 2), 1), legacy=True)
case("permute", {"x": (2, 3, 4)}, lambda x: [x.transpose(2, 0, 1)],
     lambda nn: nn.add_permute("p", (0, 3, 1, 2), "x", "y"), legacy=True)
case("concat", {"a": (2, 3, 4), "b": (5, 3, 4)}, lambda a, b: [np.concatenate([a, b])],
     lambda nn: nn.add_elementwise("c", ["a", "b"], "y", "CONCAT"), legacy=True)
case("split", {"x": (6, 3, 4)}, lambda x: np.split(x, 2), lambda nn: nn.add_split("s", "x", ["y0", "y1"]), legacy=True,
     outputs=2)
case("slice", {"x": (6, 7, 4)}, lambda x: [x[:, 1:-1:2]],
     lambda nn: nn.add_slice("s", "x", "y", "height", 1, -1, 2), legacy=True)
CONSTANT = f32(2, 1, 3)
case("loadConstant", {"x": (2, 4, 3)}, lambda x: [x * CONSTANT],
     lambda nn: (nn.add_load_constant("l", "k", CONSTANT, (2, 1, 3)),
                 nn.add_elementwise("m", ["x", "k"], "y", "MULTIPLY")), legacy=True)
for mode, formula in [("sum", np.sum), ("avg", np.mean), ("prod", np.prod), ("max", np.max), ("min", np.min),
                      ("sumsquare", lambda x, a, keepdims: (x ** 2).sum(a, keepdims=keepdims)),
                      ("L1", lambda x, a, keepdims: np.abs(x).sum(a, keepdims=keepdims)),
                      ("L2", lambda x, a, keepdims: np.sqrt((x ** 2).sum(a, keepdims=keepdims)))]:
    case(f"reduce_{mode.lower()}", {"x": (2, 3, 4)}, lambda x, f=formula: [f(x, (1, 2), keepdims=True)],
         lambda nn, m=mode: nn.add_reduce("r", "x", "y", "HW", m), legacy=True)
case("reduce_logsum", {"x": f32(2, 3, 4, low=0.1)}, lambda x: [np.log(x + 1e-6).sum(0, keepdims=True)],
     lambda nn: nn.add_reduce("r", "x", "y", "C", "logsum"), legacy=True)
case("reduce_argmax", {"x": (5, 3, 4)}, lambda x: [x.argmax(0)[None].astype(float)],
     lambda nn: nn.add_reduce("r", "x", "y", "C", "argmax"), legacy=True)

for name, formula in [("sum", np.sum), ("mean", np.mean), ("max", np.max), ("min", np.min), ("prod", np.prod),
                      ("l1", lambda x, a: np.abs(x).sum(a)), ("l2", lambda x, a: np.sqrt((x ** 2).sum(a))),
                      ("sumsquare", lambda x, a: (x ** 2).sum(a)),
                      ("logsumexp", lambda x, a: np.log(np.exp(x).sum(a)))]:
    case(f"reduceND_{name}", {"x": (2, 3, 4, 5)}, lambda x, f=formula: [f(x, (1, 3))],
         lambda nn, n=name: getattr(nn, f"add_reduce_{n}")("r", "x", "y", [1, -1], keepdims=False))
case("transpose", {"x": (2, 3, 4)}, lambda x: [x.transpose(2, 0, 1)],
     lambda nn: nn.add_transpose("t", [2, 0, 1], "x", "y"))
# An image's batch axis is not an axis of the layer.
case("transpose_of_picture", {"x": (1, 3, 2, 4)}, lambda x: [x[0].transpose(1, 2, 0)],
     lambda nn: nn.add_transpose("t", [1, 2, 0], "x", "y"))
case("concatND_interleaved", {"a": (2, 3), "b": (2, 3)}, lambda a, b: [np.stack([a, b], 2).reshape(2, 6)],
     lambda nn: nn.add_concat_nd("c", ["a", "b"], "y", 1, True))
case("splitND", {"x": (2, 7)}, lambda x: [x[:, :2], x[:, 2:]],
     lambda nn: nn.add_split_nd("s", "x", ["y0", "y1"], 1, split_sizes=[2, 5]), outputs=2)
case("stack", {"a": (2, 3), "b": (2, 3)}, lambda a, b: [np.stack([a, b], 1)],
     lambda nn: nn.add_stack("s", ["a", "b"], "y", 1))
case("tile", {"x": (2, 3)}, lambda x: [np.tile(x, (2, 3))], lambda nn: nn.add_tile("t", "x", "y", [2, 3]))
case("reverse", {"x": (2, 3, 4)}, lambda x: [x[::-1, :, ::-1]],
     lambda nn: nn.add_reverse("r", "x", "y", [True, False, True]))
case("sliceStatic", {"x": (4, 5, 6)}, lambda x: [x[1:3, ::-2, 2]],
     lambda nn: nn.add_slice_static("s", "x", "y", [1, -1, 2], [3, -100, 3], [1, -2, 1], [False, True, False],
                                    [False, True, False], [False, False, True]))
case("squeeze", {"x": (1, 3, 1)}, lambda x: [x[0, :, 0]], lambda nn: nn.add_squeeze("s", "x", "y", [0, 2]))
case("expandDims", {"x": (3, 2)}, lambda x: [x[:, None, :, None]], lambda nn: nn.add_expand_dims("e", "x", "y", [1, 3]))
case("flattenTo2D", {"x": (2, 3, 4)}, lambda x: [x.reshape(6, 4)], lambda nn: nn.add_flatten_to_2d("f", "x", "y", 2))
case("reshapeStatic", {"x": (2, 6)}, lambda x: [x.reshape(3, 4)],
     lambda nn: nn.add_reshape_static("r", "x", "y", [3, -1]))
case("reshapeLike", {"x": (2, 6), "r": (4, 3)}, lambda x, r: [x.reshape(4, 3)],
     lambda nn: nn.add_reshape_like("r", ["x", "r"], "y"))
case("reshapeDynamic", {"x": (2, 6), "r": (4, 3)}, lambda x, r: [x.reshape(4, 3)],
     lambda nn: (nn.add_get_shape("s", "r", "shape"), nn.add_reshape_dynamic("r", ["x", "shape"], "y")))
case("rankPreservingReshape", {"x": (4, 3, 5)}, lambda x: [x.reshape(10, 3, 2)],
     lambda nn: nn.add_rank_preserving_reshape("r", "x", "y", [10, 0, -1]))
case("constantPad", {"x": (2, 3)}, lambda x: [np.pad(x, ((1, 0), (0, 2)), constant_values=7)],
     lambda nn: nn.add_constant_pad("p", ["x"], "y", 7.0, pad_amounts=[1, 0, 0, 2]))
case("constantPad_to_size", {"x": (2, 3)}, lambda x: [np.pad(x, ((0, 3), (2, 0)))],
     lambda nn: nn.add_constant_pad("p", ["x"], "y", 0.0, True, [0, 5, 5, 0]))
case("broadcastToStatic", {"x": (3, 1)}, lambda x: [np.broadcast_to(x, (2, 3, 4))],
     lambda nn: nn.add_broadcast_to_static("b", "x", "y", [2, 3, 4]))
case("fillLike", {"x": (3, 2)}, lambda x: [np.full((3, 2), 2.5)], lambda nn: nn.add_fill_like("f", "x", "y", 2.5))
INDICES = np.array([2, 0, -1], np.float32)
case("gather", {"x": (4, 3, 2), "i": INDICES}, lambda x, i: [x[[2, 0, -1]]],
     lambda nn: nn.add_gather("g", ["x", "i"], "y", 0))
case("gatherAlongAxis", {"x": (3, 4), "i": np.array([[0, 1, 3], [2, 2, 0], [1, 3, 3]], np.float32)},
     lambda x, i: [np.take_along_axis(x, i.astype(int), 1)],
     lambda nn: nn.add_gather_along_axis("g", ["x", "i"], "y", 1))
case("gatherND", {"x": (3, 4, 2), "i": np.array([[0, 1], [2, 3]], np.float32)}, lambda x, i: [x[[0, 2], [1, 3]]],
     lambda nn: nn.add_gather_nd("g", ["x", "i"], "y"))


def scattered(x, i, u, function, axis=0):
    y = np.moveaxis(x.copy(), axis, 0)
    for place, update in zip(i.astype(int), np.moveaxis(u, axis, 0)):
        y[place] = function(y[place], update)
    return [np.moveaxis(y, 0, axis)]


for mode, function in [("UPDATE", lambda a, b: b), ("ADD", lambda a, b: a + b), ("SUB", lambda a, b: a - b),
                       ("MUL", lambda a, b: a * b), ("MAX", np.maximum)]:
    case(f"scatter_{mode.lower()}", {"x": (2, 4), "i": np.array([2, 0], np.float32), "u": (2, 2)},
         lambda x, i, u, f=function: scattered(x, i, u, f, 1),
         lambda nn, m=mode: nn.add_scatter("s", ["x", "i", "u"], "y", 1, m))


def scattered_at(x, i, u, axis):
    y = x.copy()
    y[(slice(None),) * axis + (i.astype(int),)] = u
    return [y]


for number, axis in enumerate([0, 1, -1]):
    place = axis % 3
    case(f"scatter_places_{number + 1}", {
        "x": (4, 5, 6), "i": np.array([[3, 0], [1, -2]], np.float32), "u": (4, 5, 6)[:place] + (2, 2) + (4, 5, 6)[place + 1:]},
        lambda x, i, u, a=place: scattered_at(x, i, u, a),
        lambda nn, a=axis: nn.add_scatter("s", ["x", "i", "u"], "y", a, "UPDATE"))
case("scatter_place", {"x": (4, 3), "i": np.array([[[2]]], np.float32), "u": (1, 1, 1, 3)},
     lambda x, i, u: scattered_at(x, i, u, 0), lambda nn: nn.add_scatter("s", ["x", "i", "u"], "y", 0, "UPDATE"))
case("topK", {"x": (3, 7)}, lambda x: [np.sort(x, 1)[:, ::-1][:, :3], np.argsort(-x, 1, "stable")[:, :3].astype(float)],
     lambda nn: nn.add_topk("t", ["x"], ["y0", "y1"], k=3, axis=1), outputs=2)
case("argMin", {"x": (3, 7)}, lambda x: [x.argmin(1).astype(float)],
     lambda nn: nn.add_argmin("a", "x", "y", 1, keepdims=False))
case("argSort", {"x": (3, 7)}, lambda x: [np.argsort(x, 1, "stable").astype(float)],
     lambda nn: nn.add_argsort("a", "x", "y", 1))
case("cumSum", {"x": (3, 5)}, lambda x: [np.cumsum(x[:, ::-1], 1)[:, ::-1] - x],
     lambda nn: nn.add_cumsum("c", ["x"], "y", 1, True, True))
case("oneHot", {"x": np.array([2, 0, 3], np.float32)}, lambda x: [np.where(np.eye(4)[[2, 0, 3]] == 1, 5.0, -1.0)],
     lambda nn: nn.add_one_hot("o", ["x"], "y", 4, -1, 5.0, -1.0))
case("slidingWindows", {"x": (2, 7, 3)}, lambda x: [np.stack([x[:, i:i + 3] for i in (0, 2, 4)], 1)],
     lambda nn: nn.add_sliding_windows("s", "x", "y", 1, 3, 2))
case("matrixBandPart", {"x": (2, 4, 5)}, lambda x: [np.triu(np.tril(x, 2), -1)],
     lambda nn: nn.add_matrix_band_part("m", "x", "y", 1, 2))
case("lowerTriangular", {"x": (4, 5)}, lambda x: [np.tril(x, -1)], lambda nn: nn.add_lower_triangular("l", "x", "y", -1))
case("upperTriangular", {"x": (4, 5)}, lambda x: [np.triu(x, 1)], lambda nn: nn.add_upper_triangular("u", "x", "y", 1))
ROUNDED = np.round(4 * f32(3, 4)) / 4
for name, formula, call in [
        ("greaterThan", np.greater, lambda nn: nn.add_greater_than("g", ["a", "b"], "y")),
        ("lessEqual", np.less_equal, lambda nn: nn.add_less_than("g", ["a", "b"], "y", use_less_than_equal=True)),
        ("equal", np.equal, lambda nn: nn.add_equal("g", ["a", "b"], "y")),
        ("logicalXor", lambda a, b: (a != 0) ^ (b != 0), lambda nn: nn.add_logical("g", ["a", "b"], "y", "XOR")),
        ("mod", np.mod, lambda nn: nn.add_mod_broadcastable("g", ["a", "b"], "y")),
        ("floorDiv", np.floor_divide, lambda nn: nn.add_floor_div_broadcastable("g", ["a", "b"], "y")),
        ("divide", np.divide, lambda nn: nn.add_divide_broadcastable("g", ["a", "b"], "y")),
        ("subtract", np.subtract, lambda nn: nn.add_subtract_broadcastable("g", ["a", "b"], "y"))]:
    case(f"binary_{name}", {"a": ROUNDED, "b": np.array([0.25, -0.5, 0.75, -1], np.float32)},
         lambda a, b, f=formula: [f(a, b).astype(float)], lambda nn, c=call: c(nn))
case("whereBroadcastable", {"c": np.array([[1], [0], [1]], np.float32), "a": (3, 4), "b": (4,)},
     lambda c, a, b: [np.where(c != 0, a, b)], lambda nn: nn.add_where_broadcastable("w", ["c", "a", "b"], "y"))
case("clip", {"x": (3, 4)}, lambda x: [np.clip(x, -0.5, 0.25)], lambda nn: nn.add_clip("c", "x", "y", -0.5, 0.25))
case("clampedReLU", {"x": (3, 4)}, lambda x: [np.minimum(np.where(x >= 0, x, 0.5 * x), 0.25)],
     lambda nn: nn.add_clamped_relu("c", "x", "y", 0.5, 0.25))
