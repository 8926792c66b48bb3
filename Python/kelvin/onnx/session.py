"""Sessions, their options and bindings, by ONNX Runtime's names."""
import dataclasses
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from .. import measuring
from .._library import Path
from ..description import Feature
from ..errors import FeatureError, ParameterError
from ..model import Cancellation, Model
from ..values import NDArray

_TYPES = {
    "float32": "tensor(float)", "float64": "tensor(double)", "float16": "tensor(float16)", "bool": "tensor(bool)",
    "string": "tensor(string)",
}
#: Kelvin's devices by the providers that users of ONNX Runtime ask for.
_UNITS: Dict[str, Optional[str]] = {"CPUExecutionProvider": "cpu", "KelvinExecutionProvider": None}
#: A name, or one with options.
Provider = Union[str, Tuple[str, Dict[str, Any]]]


def get_available_providers() -> List[str]:
    """Kelvin's devices, each a provider by its id, and the two names that ask for all of them and for the CPU."""
    ids = [device.id for device in measuring.devices() if device.is_available and device.kind != "reference"]
    return ["KelvinExecutionProvider", "CPUExecutionProvider"] + ids


def get_device() -> str:
    """What the default provider computes with."""
    return "CPU"


class SessionOptions:
    """Those of ONNX Runtime's that mean something here; every other may be set, and means nothing."""

    def __init__(self) -> None:
        self.intra_op_num_threads = 0
        self.use_deterministic_compute = False
        self.log_severity_level = 2
        #: Options of `kelvin.Model`, by their names.
        self.kelvin: Dict[str, Any] = {}
        self._entries: Dict[str, str] = {}
        self._sizes: Dict[str, int] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> str:
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        self._sizes[name] = size


class RunOptions:
    """`terminate = True`, from another thread, ends the runs that were given these."""

    def __init__(self) -> None:
        self._cancellation = Cancellation()
        self._terminates = False
        self.log_severity_level = 2
        self.logid = ""

    @property
    def terminate(self) -> bool:
        return self._terminates

    @terminate.setter
    def terminate(self, value: bool) -> None:
        self._terminates = bool(value)
        if value:
            self._cancellation.cancel()
        else:
            self._cancellation = Cancellation()


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or output: its name, its type as `tensor(float)`, and its sizes, None for one that is open."""

    name: str
    type: str
    shape: List[Optional[int]]


@dataclasses.dataclass(frozen=True)
class ModelMetadata:
    """What the model says of itself."""

    producer_name: str
    graph_name: str
    description: str
    domain: str
    version: str
    custom_metadata_map: Dict[str, str]


class OrtValue:
    """An array, by ONNX Runtime's name."""

    def __init__(self, array: NDArray) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        if device_type != "cpu":
            raise ParameterError(f"values lie in the host's memory, expected device 'cpu', got '{device_type}'")
        return OrtValue(np.asarray(array))

    @staticmethod
    def ortvalue_from_shape_and_type(
            shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0) -> "OrtValue":
        return OrtValue.ortvalue_from_numpy(np.zeros(shape, element_type), device_type, device_id)

    def numpy(self) -> NDArray:
        return self._array

    def shape(self) -> List[int]:
        return list(self._array.shape)

    def device_name(self) -> str:
        return "cpu"

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Tuple[int, int]:
        kind, index = self._array.__dlpack_device__()
        return int(kind), int(index)


class IOBinding:
    """Inputs and outputs that stay bound from run to run; what outputs are bound to is written in place."""

    def __init__(self, session: "InferenceSession") -> None:
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Optional[NDArray]] = {}
        self._results: Dict[str, Any] = {}

    def bind_cpu_input(self, name: str, array: NDArray) -> None:
        self._inputs[name] = array

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        self._inputs[name] = value.numpy()

    def bind_input(
            self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
            buffer_ptr: int) -> None:
        self._inputs[name] = _at(device_type, element_type, shape, buffer_ptr)

    def bind_output(
            self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
            shape: Sequence[int] = (), buffer_ptr: Optional[int] = None) -> None:
        self._outputs[name] = None if buffer_ptr is None else _at(device_type, element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        self._outputs[name] = value.numpy()

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()

    def synchronize_inputs(self) -> None:
        """Nothing is ever under way between calls."""

    def synchronize_outputs(self) -> None:
        """Nothing is ever under way between calls."""

    def get_outputs(self) -> List[OrtValue]:
        return [OrtValue(self._results[name]) for name in self._outputs]

    def copy_outputs_to_cpu(self) -> List[Any]:
        return [self._results[name] for name in self._outputs]


def _at(device_type: str, element_type: Any, shape: Sequence[int], pointer: int) -> NDArray:
    import ctypes
    if device_type != "cpu":
        raise ParameterError(f"values lie in the host's memory, expected device 'cpu', got '{device_type}'")
    dtype: "np.dtype[Any]" = np.dtype(element_type)
    count = int(np.prod(shape)) * dtype.itemsize
    memory = memoryview((ctypes.c_char * count).from_address(pointer))
    return np.frombuffer(memory, dtype).reshape(shape)


class InferenceSession:
    """A loaded model.

    Args:
        path_or_bytes: an ONNX model (or a Core ML one).
        sess_options: threads, determinism, and any option of `kelvin.Model` in `SessionOptions.kelvin`.
        providers: Kelvin's devices in the order wanted (`cpu`, `vulkan:0`), `CPUExecutionProvider`, or
            `KelvinExecutionProvider` for all. What is none of these is left out where another is there.

    Raises:
        ParameterError: where none of the providers is Kelvin's.
    """

    def __init__(
            self, path_or_bytes: Union[Path, bytes], sess_options: Optional[SessionOptions] = None,
            providers: Optional[Sequence[Provider]] = None,
            provider_options: Optional[Sequence[Dict[str, Any]]] = None, **_: Any) -> None:
        self._options = sess_options or SessionOptions()
        self._providers = _chosen(providers)
        units = [unit for unit in (_UNITS.get(name, name) for name in self._providers) if unit is not None]
        options = dict(self._options.kelvin)
        for more in provider_options or []:
            options.update(more)
        if self._options.intra_op_num_threads:
            options.setdefault("threads", self._options.intra_op_num_threads)
        if self._options.use_deterministic_compute:
            options.setdefault("deterministic", True)
        if len(units) == len(self._providers):
            options.setdefault("units", units)
        self._source = path_or_bytes
        self._model = Model(path_or_bytes, **options)

    @property
    def kelvin_model(self) -> Model:
        """The model itself, for its plan."""
        return self._model

    def run(
            self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Optional[RunOptions] = None) -> List[Any]:
        """One prediction: the outputs named, or all in the model's order."""
        result = self._predict(input_feed, None, run_options)
        names = list(output_names) if output_names else list(self._model.outputs)
        for name in names:
            if name not in result:
                raise FeatureError(f"the model has no output '{name}'; it has {', '.join(self._model.outputs)}")
        return [result[name] for name in names]

    def run_with_ort_values(
            self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, OrtValue],
            run_options: Optional[RunOptions] = None) -> List[OrtValue]:
        values = {name: value.numpy() for name, value in input_feed.items()}
        return [OrtValue(value) for value in self.run(output_names, values, run_options)]

    def run_with_iobinding(self, binding: IOBinding, run_options: Optional[RunOptions] = None) -> None:
        outputs = {name: array for name, array in binding._outputs.items() if array is not None}
        binding._results = self._predict(binding._inputs, outputs, run_options)

    def _predict(
            self, inputs: Mapping[str, Any], outputs: Optional[Mapping[str, NDArray]],
            run_options: Optional[RunOptions]) -> Dict[str, Any]:
        cancellation = None if run_options is None else run_options._cancellation
        values = {name: _fed(value) for name, value in inputs.items()}
        return self._model.predict(values, outputs=outputs, cancellation=cancellation)

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def get_inputs(self) -> List[NodeArg]:
        return [_argument(feature) for feature in self._model.inputs.values()]

    def get_outputs(self) -> List[NodeArg]:
        return [_argument(feature) for feature in self._model.outputs.values()]

    def get_providers(self) -> List[str]:
        return list(self._providers)

    def get_session_options(self) -> SessionOptions:
        return self._options

    def get_modelmeta(self) -> ModelMetadata:
        description = self._model.description
        return ModelMetadata(
            description.user_metadata.get("producer", ""), "main", description.metadata.get("description", ""), "",
            description.metadata.get("versionString", ""), description.user_metadata)


def _fed(value: Any) -> Any:
    """ONNX Runtime takes texts as arrays of them."""
    if isinstance(value, OrtValue):
        return value.numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind in "OUS":
        return [item.decode() if isinstance(item, bytes) else str(item) for item in value.reshape(-1)]
    return value


def _chosen(providers: Optional[Sequence[Provider]]) -> List[str]:
    if not providers:
        return ["CPUExecutionProvider"]
    names = [name[0] if isinstance(name, tuple) else name for name in providers]
    devices = {device.id for device in measuring.devices() if device.is_available}
    known = [name for name in names if name in _UNITS or name in devices]
    if not known:
        raise ParameterError(
            f"none of the providers {', '.join(names)} is Kelvin's; use {', '.join(get_available_providers())}")
    return known


def _argument(feature: Feature) -> NodeArg:
    if feature.type == "multiArray":
        dtype = feature.dtype or "float32"
        ranges = feature.size_ranges or [(size, size) for size in feature.shape or ()]
        return NodeArg(
            feature.name, _TYPES.get(dtype, f"tensor({dtype})"),
            [low if low == high else None for low, high in ranges])
    if feature.type == "image":
        channels = 1 if feature.channel_order == "grayscale" else 3
        return NodeArg(feature.name, "tensor(float)", [1, channels, *(feature.shape or (None, None))])
    kinds = {"string": "tensor(string)", "int64": "tensor(int64)", "double": "tensor(double)"}
    return NodeArg(feature.name, kinds.get(feature.type, f"seq({feature.type})"), [1])
