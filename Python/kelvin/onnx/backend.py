"""The interface of `onnx.backend`, by which the standard suite runs operators: needs the package onnx."""
import numpy as np
from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep

from ..errors import UnsupportedError
from ..model import Model

_UNITS = {"CPU": "cpu"}


class KelvinRep(BackendRep):
    """A prepared model."""

    def __init__(self, model, names):
        self._model, self._names = model, names

    def run(self, inputs, **_):
        values = dict(inputs) if isinstance(inputs, dict) else dict(zip(self._names, inputs))
        result = self._model.predict({name: _plain(value) for name, value in values.items()})
        return tuple(result[name] for name in self._model.outputs)


def _plain(value):
    return np.asarray(value) if isinstance(value, (np.generic, np.ndarray)) else value


class KelvinBackend(Backend):
    """Kelvin as the suite takes it."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **_):
        try:
            cls.prepare(model, device)
        except UnsupportedError:
            return False
        return True

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        data = model.SerializeToString() if isinstance(model, ModelProto) else model
        initial = {item.name for item in model.graph.initializer} if isinstance(model, ModelProto) else set()
        names = [item.name for item in model.graph.input if item.name not in initial]
        return KelvinRep(Model(data, units=_UNITS[device], no_cache=True), names)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **options):
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def supports_device(cls, device):
        return device in _UNITS


is_compatible = KelvinBackend.is_compatible
prepare = KelvinBackend.prepare
run_model = KelvinBackend.run_model
supports_device = KelvinBackend.supports_device
