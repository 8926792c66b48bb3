"""The interface `onnx.backend`, with which the ONNX test suite runs operators. Requires the package onnx."""
from typing import Any, Dict, Sequence, Tuple, Union

import numpy as np
from onnx import GraphProto, ModelProto, TensorProto
from onnx.backend.base import Backend, BackendRep
from onnx.helper import tensor_dtype_to_np_dtype

from ..errors import UnsupportedError
from ..model import Model

_UNITS = {"CPU": "cpu"}


class KelvinRep(BackendRep):
    """A prepared model."""

    def __init__(self, model: Model, graph: GraphProto) -> None:
        initial = {item.name for item in graph.initializer}
        self._model = model
        self._names = [item.name for item in graph.input if item.name not in initial]
        # Kelvin returns these types as wider types, which represent all their values.
        self._shorter = {
            item.name: tensor_dtype_to_np_dtype(item.type.tensor_type.elem_type)
            for item in graph.output if item.type.tensor_type.elem_type >= TensorProto.BFLOAT16}
        self._texts = {
            item.name: [size.dim_value or -1 for size in item.type.tensor_type.shape.dim]
            for item in graph.output if item.type.tensor_type.elem_type == TensorProto.STRING}

    def run(self, inputs: Union[Sequence[Any], Dict[str, Any]], **_: Any) -> Tuple[Any, ...]:
        values = dict(inputs) if isinstance(inputs, dict) else dict(zip(self._names, inputs))
        given = {name: _plain(value) for name, value in values.items() if value is not None}
        result = self._model.predict(given)
        for name, dtype in self._shorter.items():
            result[name] = result[name].astype(dtype)
        for name, shape in self._texts.items():
            texts = np.array(result[name], dtype=object)
            result[name] = texts if texts.ndim == len(shape) else texts.reshape(shape)
        return tuple(result.get(name) for name in self._model.outputs)


def _plain(value: Any) -> Any:
    if not isinstance(value, (np.generic, np.ndarray)):
        return value
    return np.asarray(value)


class KelvinBackend(Backend):
    """Kelvin as a backend of the test suite."""

    @classmethod
    def is_compatible(cls, model: ModelProto, device: str = "CPU", **_: Any) -> bool:
        try:
            cls.prepare(model, device)
        except UnsupportedError:
            return False
        return True

    @classmethod
    def prepare(cls, model: Union[ModelProto, bytes], device: str = "CPU", **_: Any) -> KelvinRep:
        proto = ModelProto.FromString(model) if isinstance(model, bytes) else model
        return KelvinRep(Model(proto.SerializeToString(), units=_UNITS[device], no_cache=True), proto.graph)

    @classmethod
    def run_model(
            cls, model: Union[ModelProto, bytes], inputs: Any, device: str = "CPU", **options: Any) -> Tuple[Any, ...]:
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device in _UNITS


is_compatible = KelvinBackend.is_compatible
prepare = KelvinBackend.prepare
run_model = KelvinBackend.run_model
supports_device = KelvinBackend.supports_device
