"""The interface of `onnx.backend`, by which the standard suite runs operators: needs the package onnx."""
from typing import Any, Dict, List, Sequence, Tuple, Union

import numpy as np
from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep

from ..errors import UnsupportedError
from ..model import Model

_UNITS = {"CPU": "cpu"}


class KelvinRep(BackendRep):
    """A prepared model."""

    def __init__(self, model: Model, names: List[str]) -> None:
        self._model, self._names = model, names

    def run(self, inputs: Union[Sequence[Any], Dict[str, Any]], **_: Any) -> Tuple[Any, ...]:
        values = dict(inputs) if isinstance(inputs, dict) else dict(zip(self._names, inputs))
        result = self._model.predict({name: _plain(value) for name, value in values.items()})
        return tuple(result[name] for name in self._model.outputs)


def _plain(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, (np.generic, np.ndarray)) else value


class KelvinBackend(Backend):
    """Kelvin as the suite takes it."""

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
        initial = {item.name for item in proto.graph.initializer}
        names = [item.name for item in proto.graph.input if item.name not in initial]
        return KelvinRep(Model(proto.SerializeToString(), units=_UNITS[device], no_cache=True), names)

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
