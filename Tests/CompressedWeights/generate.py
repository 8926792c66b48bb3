"""Writes ML Programs whose outputs are compressed weights, and the expected elements of the weights.

The expected elements come from coremltools' own numpy `decompress` of each operation; those of joint compression from
decompressing the whole model. README.md describes the files.
"""

import json
import shutil
import sys
from pathlib import Path

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types
from coremltools.converters.mil.mil.ops.defs.iOS16 import constexpr_ops as ios16
from coremltools.converters.mil.mil.ops.defs.iOS18 import compression as ios18
from coremltools.converters.mil.mil.passes.pass_pipeline import PassPipeline
from coremltools.models.neural_network import quantization_utils as network
from coremltools.optimize import _utils as packing

folder = Path(__file__).parent
sys.path.insert(0, str(folder.parent / "Vectors"))

import kv  # noqa: E402

rng = np.random.default_rng(20250701)


def write(name, tensors, inputs=()):
    """Expected tensors, and the inputs they belong to, as pairs of a name and an array."""
    header = {"case": name, "tolerance": {"absolute": 0, "relative": 0}}
    (folder / f"{name}.kv").write_bytes(kv.encode(header, inputs, tensors))


def save(model, name):
    path = folder / f"{name}.mlpackage"
    if path.exists():
        shutil.rmtree(path)
    model.save(str(path))
    manifest = path / "Manifest.json"
    content = json.loads(manifest.read_text())
    # Identifiers are drawn at random, and maps are written in no order; these files are the same from run to run.
    items = sorted(content["itemInfoEntries"].items(), key=lambda item: item[1]["path"])
    for index, (identifier, entry) in enumerate(items):
        fixed = f"00000000-0000-0000-0000-{index:012d}"
        if content["rootModelIdentifier"] == identifier:
            content["rootModelIdentifier"] = fixed
        content["itemInfoEntries"][fixed] = content["itemInfoEntries"].pop(identifier)
    specification = path / "Data/com.apple.CoreML/model.mlmodel"
    loaded = ct.proto.Model_pb2.Model.FromString(specification.read_bytes())
    specification.write_bytes(loaded.SerializeToString(deterministic=True))
    manifest.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def program(name, target, body):
    """Saves a program of the cases that `body` defines, and their elements."""
    expected = {}

    @mb.program(input_specs=[mb.TensorSpec(shape=(1,))], opset_version=target)
    def built(x):
        outputs = []

        def case(label, result):
            var, value = result
            label = f"case_{len(expected)}_{label}"
            assert types.nptype_from_builtin(var.dtype) == value.dtype, (label, var.dtype, value.dtype)
            assert tuple(var.shape) == value.shape, (label, var.shape, value.shape)
            expected[label] = value
            outputs.append(mb.identity(x=var, name=label))

        body(case)
        return tuple(outputs)

    model = ct.convert(
        built, convert_to="mlprogram", minimum_deployment_target=target, compute_precision=ct.precision.FLOAT32,
        pass_pipeline=PassPipeline.EMPTY, skip_model_load=True)
    save(model, name)
    write(name, expected.items())
    print(name, len(expected), "cases")


def integers(kind, shape):
    """Random integers of a type, as the arrays that coremltools gives this type."""
    low, high = types.type_mapping.builtin_to_range(kind).low, types.type_mapping.builtin_to_range(kind).high
    values = rng.integers(low, high, size=shape, endpoint=True)
    return values.astype(types.nptype_from_builtin(kind))


def floats(kind, shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(kind)


def unsigned(bits):
    return getattr(types, f"uint{bits}")


# iOS 16


def affine16(quantized, zero_point, scale, axis):
    var = mb.constexpr_affine_dequantize(
        quantized_data=quantized, zero_point=zero_point, scale=scale, axis=np.int32(axis))
    return var, ios16.constexpr_affine_dequantize.decompress(quantized, zero_point, scale, axis)


def lut16(bits, shape, kind):
    indices = packing.pack_elements_into_bits(rng.integers(0, 1 << bits, size=shape).astype(np.uint8), bits)
    lut = floats(kind, (1 << bits,)) if kind in (np.float16, np.float32) else integers(kind, (1 << bits,))
    shape = np.array(shape, dtype=np.uint32)
    var = mb.constexpr_lut_to_dense(indices=indices, lut=lut, shape=shape)
    return var, ios16.constexpr_lut_to_dense.decompress(lut, indices, shape)


def sparse16(shape, kind, density):
    bits = (rng.random(np.prod(shape)) < density).astype(np.uint8)
    mask = np.packbits(bits, bitorder="little")
    values = floats(kind, (int(bits.sum()),))
    dense = np.zeros(len(mask) * 8, dtype=kind)
    dense[np.unpackbits(mask, bitorder="little") != 0] = values
    var = mb.constexpr_sparse_to_dense(nonzero_data=values, mask=mask, shape=np.array(shape, dtype=np.uint32))
    return var, dense[: np.prod(shape)].reshape(shape)


def ios16_cases(case):
    for kind in (np.float16, np.float32):
        name = np.dtype(kind).name
        for code in (types.int8, types.uint8):
            data = integers(code, (6, 5, 3))
            few = lambda count: np.abs(floats(kind, count, 0.02))
            case(f"affine_{name}_tensor", affine16(data, integers(code, ())[()], few(())[()], 0))
            for axis, count in ((0, 6), (1, 5), (-1, 3)):
                case(f"affine_{name}_axis", affine16(data, integers(code, (count,)), few((count,)), axis))
            case(f"affine_{name}_mixed", affine16(data, integers(code, ())[()], few((5,)), 1))
            case(f"affine_{name}_mixed", affine16(data, integers(code, (6,)), few(())[()], 0))
        for bits in (1, 2, 4, 6, 8):
            case(f"lut_{bits}_{name}", lut16(bits, (7, 11), kind))
        for density in (0.3, 1.0):
            case(f"sparse_{name}", sparse16((5, 9), kind, density))
    data = integers(types.int8, (4, 600))
    case("affine_long_rows", affine16(data, integers(types.int8, (4,)), np.abs(floats(np.float16, (4,), 0.02)), 0))
    source = floats(np.float16, (13,))
    source[:4] = [np.inf, -0.0, 6e-8, 65504]
    case("cast", (mb.constexpr_cast(source_val=source, output_dtype="fp32"), source.astype(np.float32)))


# iOS 18. Each helper takes and returns pairs of a variable, or a constant, and its elements.


def constant(value):
    return value, value


def blockwise(data, scale, offset=None):
    arguments = {} if offset is None else {"offset": offset[0]}
    var = mb.constexpr_blockwise_shift_scale(data=data[0], scale=scale[0], **arguments)
    value = ios18.constexpr_blockwise_shift_scale.decompress(
        data[1], scale[1], None if offset is None else offset[1])
    return var, value.astype(scale[1].dtype)


def lut(indices, table, axis=None):
    arguments = {} if axis is None else {"vector_axis": np.int32(axis)}
    var = mb.constexpr_lut_to_dense(indices=indices[0], lut=table[0], **arguments)
    return var, np.ascontiguousarray(ios18.constexpr_lut_to_dense.decompress(indices[1], table[1], axis))


def mask_of(shape, density):
    return (rng.random(shape) < density).astype(types.nptype_from_builtin(types.uint1))


def dense_of(mask, values):
    var = mb.constexpr_sparse_to_dense(nonzero_data=values[0], mask=mask[0])
    return var, ios18.constexpr_sparse_to_dense.decompress(values[1], mask[1])


def lut_to_sparse(mask, indices, table, axis=None):
    arguments = {} if axis is None else {"vector_axis": np.int32(axis)}
    variables = mb.constexpr_lut_to_sparse(
        indices_mask=mask, indices_nonzero_data=indices, lut=table[0], **arguments)
    values = ios18.constexpr_lut_to_sparse.decompress(mask, indices, table[1], axis)
    return tuple(zip(variables, values))


def sparse_blockwise(mask, values, scale, offset=None):
    arguments = {} if offset is None else {"offset": offset}
    variables = mb.constexpr_sparse_blockwise_shift_scale(
        data_mask=mask[0], nonzero_data=values[0], scale=scale, **arguments)
    results = ios18.constexpr_sparse_blockwise_shift_scale.decompress(mask[1], values[1], scale, offset)
    return tuple(zip(variables, results))


def ios18_cases(case):
    codes = {"int4": types.int4, "uint4": types.uint4, "int8": types.int8, "uint8": types.uint8}
    blocks = {"tensor": (1, 1), "rows": (6, 1), "columns": (1, 64), "block": (6, 2), "tiles": (3, 4), "each": (6, 64)}
    for name, code in codes.items():
        for grain, shape in blocks.items():
            data = constant(integers(code, (6, 64)))
            scale = constant(floats(np.float16, shape, 0.05))
            case(f"blockwise_{name}_{grain}", blockwise(data, scale))
            case(f"blockwise_{name}_{grain}_offset", blockwise(data, scale, constant(integers(code, shape))))
        data = constant(integers(code, (2, 3, 8)))
        scale = constant(floats(np.float32, (2, 1, 4)))
        case(f"blockwise_{name}_float32", blockwise(data, scale, constant(integers(code, (2, 1, 4)))))
        for kind in (np.float16, np.float32):
            case(f"blockwise_{name}_float_offset", blockwise(data, scale, constant(floats(kind, (2, 1, 4)))))
    for source in (np.float16, np.float32):
        for kind in (np.float16, np.float32):
            data, scale = constant(floats(source, (4, 10))), constant(floats(kind, (4, 2)))
            case("blockwise_floats", blockwise(data, scale))
            case("blockwise_floats_offset", blockwise(data, scale, constant(floats(kind, (4, 2)))))

    for bits in (1, 2, 3, 4, 6, 8):
        for grain, shape in (("tensor", (1, 1)), ("rows", (3, 1)), ("columns", (1, 2)), ("tiles", (2, 5))):
            indices = constant(integers(unsigned(bits), (6, 10)))
            table = constant(floats(np.float16, (*shape, 1 << bits, 1)))
            case(f"lut_{bits}_{grain}", lut(indices, table))
        indices = constant(integers(unsigned(bits), (3, 5, 7)))
        table = constant(floats(np.float32, (1, 1, 1, 1 << bits, 1)))
        case(f"lut_{bits}_float32", lut(indices, table))
        for size, axis, shape in ((2, 0, (1, 1, 1)), (4, 1, (3, 1, 1)), (3, -1, (1, 5, 1)), (2, 2, (1, 1, 1))):
            table = constant(floats(np.float16, (*shape, 1 << bits, size)))
            case(f"lut_{bits}_vector_{size}_axis_{axis % 3}", lut(indices, table, axis))
    for bits in (1, 4, 8):
        long = constant(integers(unsigned(bits), (2, 3, 400)))
        case(f"lut_{bits}_long", lut(long, constant(floats(np.float16, (2, 1, 1, 1 << bits, 1)))))

    for kind in (np.float16, np.float32):
        mask = constant(mask_of((5, 13), 0.4))
        case("sparse", dense_of(mask, constant(floats(kind, (int(mask[1].sum()),)))))
    for name, code in codes.items():
        mask = constant(mask_of((4, 12), 0.5))
        values = constant(integers(code, (int(mask[1].sum()),)))
        scale = constant(floats(np.float16, (4, 1), 0.05))
        case(f"sparse_{name}_then_scaled", blockwise(dense_of(mask, values), scale))
        for shape in ((1, 1), (4, 1), (2, 3)):
            scale, offset = floats(np.float16, shape, 0.05), integers(code, shape)
            case(f"sparse_scaled_{name}", dense_of(*sparse_blockwise(mask, values, scale)))
            case(f"sparse_scaled_{name}_offset", dense_of(*sparse_blockwise(mask, values, scale, offset)))
    for bits in (1, 2, 3, 4, 6, 8):
        mask = mask_of((6, 8), 0.5)
        indices = integers(unsigned(bits), (int(mask.sum()),))
        for shape, size, axis in (((1, 1), 1, None), ((3, 1), 1, None), ((1, 1), 2, 0), ((1, 2), 2, 1), ((2, 1), 3, -1)):
            table = constant(floats(np.float16, (*shape, 1 << bits, size)))
            case(f"lut_sparse_{bits}_{size}", dense_of(*lut_to_sparse(mask, indices, table, axis)))

    # Chains: tables of int8 with scales for channels, tables that are compressed themselves, all three forms at once.
    for bits in (3, 4, 6):
        indices = constant(integers(unsigned(bits), (4, 16)))
        table = constant(integers(types.int8, (2, 1, 1 << bits, 1)))
        scale = constant(floats(np.float16, (4, 1), 0.05))
        case(f"lut_{bits}_int8_scaled", blockwise(lut(indices, table), scale))
        scales = constant(floats(np.float16, (1, 1, 1, 1), 0.05))
        offsets = constant(integers(types.int8, (1, 1, 1, 1)))
        case(f"lut_{bits}_of_scaled_table", lut(indices, blockwise(table, scales, offsets)))
        mask = mask_of((4, 16), 0.5)
        few = integers(unsigned(bits), (int(mask.sum()),))
        pair = lut_to_sparse(mask, few, table)
        case(f"lut_sparse_{bits}_int8_scaled", dense_of(*sparse_blockwise(*pair, scale[1])))
    source = floats(np.float16, (3, 5))
    case("cast", (mb.constexpr_cast(source_val=source, output_dtype="fp32"), source.astype(np.float32)))


# Joint compression of a model, as people do it.


def joint():
    import coremltools.optimize as cto

    weights = [floats(np.float32, (64, 48), 0.2), floats(np.float32, (32, 64), 0.2)]
    x = floats(np.float32, (1, 48))

    @mb.program(input_specs=[mb.TensorSpec(shape=(1, 48))], opset_version=ct.target.iOS18)
    def built(x):
        first = mb.linear(x=x, weight=weights[0], bias=np.zeros(64, dtype=np.float32), name="first")
        return mb.linear(x=mb.relu(x=first), weight=weights[1], bias=np.ones(32, dtype=np.float32), name="second")

    def model():
        return ct.convert(
            built, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18,
            compute_precision=ct.precision.FLOAT32, skip_model_load=True)

    def palettize(model, joint=False, **options):
        config = cto.coreml.OpPalettizerConfig(mode="uniform", weight_threshold=0, **options)
        return cto.coreml.palettize_weights(
            model, cto.coreml.OptimizationConfig(global_config=config), joint_compression=joint)

    def quantize(model, joint=False, **options):
        config = cto.coreml.OpLinearQuantizerConfig(weight_threshold=0, **options)
        return cto.coreml.linear_quantize_weights(
            model, cto.coreml.OptimizationConfig(global_config=config), joint_compression=joint)

    def prune(model):
        config = cto.coreml.OpMagnitudePrunerConfig(target_sparsity=0.5, weight_threshold=0)
        return cto.coreml.prune_weights(model, cto.coreml.OptimizationConfig(global_config=config))

    grouped = {"granularity": "per_grouped_channel", "group_size": 16}
    models = {
        "palettized": palettize(model(), nbits=4),
        "palettized_grouped": palettize(model(), nbits=3, **grouped),
        "palettized_scaled": palettize(model(), nbits=4, enable_per_channel_scale=True, **grouped),
        "quantized": quantize(model(), dtype="int8"),
        "quantized_blocks": quantize(model(), mode="linear", dtype="int4", granularity="per_block", block_size=16),
        "pruned": prune(model()),
        "pruned_palettized": palettize(prune(model()), joint=True, nbits=4),
        "pruned_quantized": quantize(prune(model()), joint=True, dtype="int8"),
        "palettized_quantized": quantize(palettize(model(), nbits=4), joint=True, dtype="int8", granularity="per_tensor"),
        "all": quantize(palettize(prune(model()), joint=True, nbits=4), joint=True, dtype="int8", granularity="per_tensor"),
    }
    for name, compressed in models.items():
        save(compressed, f"joint_{name}")
        plain = cto.coreml.decompress_weights(compressed)
        found = {}
        for operation in plain._mil_program.functions["main"].operations:
            if operation.op_type == "linear":
                found[operation.name] = [operation.weight.val, operation.bias.val]
        y = x.astype(np.float64)
        for layer in ("first", "second"):
            weight, bias = (np.asarray(value, dtype=np.float64) for value in found[layer])
            y = y @ weight.T + bias
            if layer == "first":
                y = np.maximum(y, 0)
        write(f"joint_{name}", [(layer, found[layer][0].astype(np.float32)) for layer in found]
              + [("result", y.astype(np.float32))], [("x", x)])
        print("joint", name, [operation.op_type for operation in compressed._mil_program.functions["main"].operations
                              if operation.op_type.startswith("constexpr")])


# The operations on activations.


def activations():
    x = floats(np.float32, (4, 3, 5), 3.0)
    x.flat[:3] = [1.25, -1.25, 1000]
    expected = {}

    @mb.program(input_specs=[mb.TensorSpec(shape=x.shape)], opset_version=ct.target.iOS17)
    def built(x):
        outputs = []
        for dtype in ("int8", "uint8"):
            code = types.string_to_builtin(dtype)
            for axis, shape in ((None, ()), (0, (4,)), (1, (3,)), (-1, (5,))):
                for has_zero_point in (False, True):
                    scale = np.abs(floats(np.float32, shape, 0.1)) + np.float32(0.02) if shape else np.float32(0.5)
                    zero_point = integers(code, shape)[()] if has_zero_point else None
                    options = {} if axis is None else {"axis": np.int32(axis)}
                    if has_zero_point:
                        options["zero_point"] = zero_point
                    codes = mb.quantize(input=x, scale=scale, output_dtype=dtype, **options)
                    label = f"case_{len(outputs)}_{dtype}"
                    outputs.append(mb.dequantize(input=codes, scale=scale, name=label, **options))
                    expected[label] = (scale, zero_point, axis, dtype)
        return tuple(outputs)

    model = ct.convert(
        built, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS17, pass_pipeline=PassPipeline.EMPTY,
        compute_precision=ct.precision.FLOAT32, skip_model_load=True)
    save(model, "quantize_ios17")
    tensors = []
    for label, (scale, zero_point, axis, dtype) in expected.items():
        wide = packing.promote_rank_to_same_as_data(scale, x, axis)
        point = None if zero_point is None else packing.promote_rank_to_same_as_data(zero_point, x, axis)
        codes = packing.quantize_by_scale_and_zp(x, wide, point, dtype)
        tensors.append((label, packing.dequantize_by_scale_and_zp(codes, wide, point, axis)))
    write("quantize_ios17", tensors, [("x", x)])


# The packing and quantization of neural network files.


def networks():
    tensors = []
    for bits in range(1, 9):
        codes = rng.integers(0, 1 << bits, size=(3, 37)).astype(np.uint8)
        packed = network._convert_array_to_nbit_quantized_bytes(codes.flatten().tolist(), bits)
        scale, bias = floats(np.float32, (3,), 0.05), floats(np.float32, (3,))
        table = floats(np.float32, (1 << bits,))
        restored = network._unpack_to_bytes(packed, codes.size, bits).reshape(codes.shape)
        linear = network._dequantize_linear(restored, scale.astype(np.float64), bias.astype(np.float64))
        tensors += [(f"packed_{bits}", packed), (f"codes_{bits}", codes), (f"scale_{bits}", scale), (f"bias_{bits}", bias),
                    (f"table_{bits}", table), (f"linear_{bits}", linear.astype(np.float32)),
                    (f"looked_up_{bits}", network._dequantize_lut(restored, table))]
    write("networks", tensors)


networks()
program("constexpr_ios16", ct.target.iOS16, ios16_cases)
program("constexpr_ios18", ct.target.iOS18, ios18_cases)
joint()
activations()
