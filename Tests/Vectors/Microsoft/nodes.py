"""Shared parts of this folder's vectors: random numbers by name, and a file of one node with its expected results."""

import pathlib
import sys
import zlib

import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import kv  # noqa: E402  (of the directory above)

DOMAIN = "com.microsoft"


class Numbers:
    """Random numbers of a case by its name."""

    def __init__(self, name):
        self.generator = np.random.default_rng(zlib.crc32(name.encode()))

    def floats(self, *shape):
        return self.generator.standard_normal(shape).astype(np.float32)

    def scales(self, *shape):
        return self.generator.uniform(0.02, 0.1, shape).astype(np.float32)

    def integers(self, low, high, shape, kind=np.int32):
        return self.generator.integers(low, high, shape).astype(kind)

    def bytes(self, *shape, kind=np.uint8):
        limits = np.iinfo(kind)
        return self.generator.integers(limits.min, limits.max, shape, endpoint=True).astype(kind)


def case(name, operator, operands, outputs=("y",), fixed=(), expected=None, kinds=None, domain=DOMAIN, opset=21,
         absolute=2e-6, relative=2e-5, attributes=None, **more):
    """One node. `operands` are arrays, None for an omitted one; those with indices in `fixed` are initializers. ONNX
    Runtime's result is expected unless one is given."""
    kind = lambda array: helper.np_dtype_to_tensor_dtype(array.dtype)  # noqa: E731
    names = ["" if array is None else f"x{index}" for index, array in enumerate(operands)]
    given = {name: array for index, (name, array) in enumerate(zip(names, operands)) if name and index not in fixed}
    constants = [numpy_helper.from_array(operands[index], names[index]) for index in fixed
                 if index < len(names) and names[index]]
    node = helper.make_node(operator, names, list(outputs), name="node", domain=domain, **more, **(attributes or {}))

    def model(results):
        graph = helper.make_graph(
            [node], name, [helper.make_tensor_value_info(key, kind(array), array.shape) for key, array in given.items()],
            results, constants)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, ir_version=10, opset_imports=opsets, producer_name="Kelvin vectors")

    wanted = [key for key in outputs if key]
    if expected is None:
        first = next(array for array in operands if array is not None)
        kinds = kinds or [kind(first)] * len(wanted)
        written = model([helper.make_tensor_value_info(key, number, None) for key, number in zip(wanted, kinds)])
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            written.SerializeToString(), options, providers=["CPUExecutionProvider"])
        expected = session.run(None, given)
    else:
        expected = [np.asarray(array) for array in expected]
        expected = [array.astype(np.float32) if array.dtype == np.float64 else array for array in expected]
    written = model([helper.make_tensor_value_info(key, kind(array), array.shape)
                     for key, array in zip(wanted, expected)])
    (HERE / f"{name}.onnx").write_bytes(written.SerializeToString())
    header = {"case": name, "op": operator, "tolerance": {"absolute": absolute, "relative": relative}}
    (HERE / f"{name}.kv").write_bytes(kv.encode(header, list(given.items()), list(zip(wanted, expected))))


FLOAT, INT32, INT64, UINT8, INT8 = 1, 6, 7, 2, 3
