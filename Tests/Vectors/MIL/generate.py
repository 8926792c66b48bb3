"""Writes the MIL operation vectors of this directory.

One case is two files: `<op>_<n>.mlmodel`, an ML Program with the one operation under test, its constants written into
the program, and `<op>_<n>.kv`, its inputs and the outputs that are expected, in the format that ../README.md describes.
Expected outputs come from the formula given with the case (PyTorch or NumPy in double precision), or else from
coremltools' own evaluation of the operation on constants.

    .venv/bin/pip install coremltools==9.0 torch "numpy<2.4" onnx
    .venv/bin/python generate.py
"""

import pathlib
import sys
import types
import zlib

import coremltools as ct
import numpy as np
from coremltools.converters.mil.backend.mil import load
from coremltools.converters.mil.mil import Builder as mb
from coremltools.converters.mil.mil import types as mil

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "ONNX"))
load.should_use_weight_file = lambda *_, **__: False

import cases  # noqa: E402
import operations  # noqa: E402
import recurrences  # noqa: E402, F401 (adds to the operations)
from generate import encode  # noqa: E402  (the generator of ../ONNX)

ARRAY_TYPES = {65552: "float16", 65568: "float32", 131104: "int32"}
TYPES = {"float32": mil.fp32, "float16": mil.fp16, "int32": mil.int32, "bool": mil.bool}


def specification(case, inputs):
    """The serialized model: an ML Program whose function has the inputs and the one operation."""
    specs = [mb.TensorSpec(shape=array.shape, dtype=TYPES[str(array.dtype)]) for array in inputs.values()]
    name = ", ".join(inputs)
    scope = {"mb": mb, "case": case}
    exec(f"def body({name}):\n    return case.build({name})", scope)
    target = case.target or ct.target.iOS17
    program = mb.program(input_specs=specs, opset_version=target)(scope["body"])
    model = ct.convert(program, convert_to="mlprogram", minimum_deployment_target=target, skip_model_load=True,
                       compute_precision=ct.precision.FLOAT32, pass_pipeline=ct.PassPipeline.EMPTY)
    return model.get_spec()


def expected(case, inputs):
    if case.formula:
        results = case.formula(*[array.astype(np.float64) if array.dtype.kind == "f" else array
                                 for array in inputs.values()])
        return results if isinstance(results, tuple) else (results,)
    found = []

    def body():
        results = case.build(*inputs.values())
        found.extend(result.val for result in (results if isinstance(results, (tuple, list)) else [results]))
        return mb.identity(x=np.float32(0))

    mb.program(input_specs=[], opset_version=case.target or ct.target.iOS17)(body)
    return tuple(found)


def write(case, name, folder=HERE):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    inputs = {f"x{index}": operand.draw(random) if isinstance(operand, cases.Values) else operand
              for index, operand in enumerate(case.inputs)}
    made = dict(inputs)
    spec = specification(case, inputs)
    # Core ML passes booleans in and out as numbers: the program converts them.
    inputs = {key: array.astype(np.float32) if array.dtype == bool else array for key, array in inputs.items()}
    outputs = []
    described = spec.description.output
    results = expected(case, made) if folder == HERE else [np.zeros(output.type.multiArrayType.shape) for output in described]
    for output, result in zip(described, results, strict=True):
        array = np.asarray(result).astype(ARRAY_TYPES[output.type.multiArrayType.dataType])
        if array.size == 0 or (array.dtype.kind == "f" and not np.isfinite(array).all()):
            raise ValueError(f"{name}: an output is empty or not finite")
        outputs.append((output.name, array))
    record = types.SimpleNamespace(operator=case.operator, attributes={}, tolerance=case.tolerance)
    payload = encode(record, name, list(inputs.items()), outputs, 17)
    (folder / f"{name}.mlmodel").write_bytes(spec.SerializeToString(deterministic=True))
    (folder / f"{name}.kv").write_bytes(payload)
    return spec.ByteSize() + len(payload)


def main():
    for old in [*HERE.rglob("*.mlmodel"), *HERE.rglob("*.kv")]:
        old.unlink()
    counts, total = {}, 0
    for case in operations.CASES:
        counts[case.operator] = counts.get(case.operator, 0) + 1
        try:
            total += write(case, f"{case.operator}_{counts[case.operator]}")
        except Exception as error:
            raise RuntimeError(f"{case.operator}_{counts[case.operator]}") from error
    (HERE / "Refused").mkdir(exist_ok=True)
    for number, case in enumerate(operations.REFUSED):
        write(case, f"{case.operator}_{number}", HERE / "Refused")
    print(f"{sum(counts.values())} cases of {len(counts)} operations, {total} bytes")


if __name__ == "__main__":
    main()
