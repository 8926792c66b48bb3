"""Models: loading, predictions, states."""
import asyncio
import collections.abc
import concurrent.futures
import ctypes
import functools
import os
import threading
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _library
from ._library import Path, encoded, library
from .arrays import array_call, no_call
from .description import Description, Feature, description
from .errors import FeatureError
from .plan import Plan
from .values import DTYPES, Features, NDArray, described

if TYPE_CHECKING:
    from ._calls import Predict

#: As the command line names them, or devices.
Units = Union[str, Sequence[str]]


def options_handle(owner: object, **options: Any) -> int:
    """Options as the command line has them, with underscores for dashes; a handle that goes with its owner.

    Raises ParameterError for an option that there is not, or a value that means nothing.
    """
    handle = library.new["options"]()
    library.releasing(owner, "options", handle)
    for name, value in options.items():
        if value is None:
            continue
        key = encoded(name.rstrip("_").replace("_", "-"))
        for text in _texts(name, value):
            library.options_set(handle, key, text)
    return int(handle)


def _texts(name: str, value: Any) -> List[bytes]:
    what = f"option '{name}'"
    if name in ("pin", "pins"):
        return [encoded(f"{node}={device}", what) for node, device in dict(value).items()]
    if name in ("shape", "shapes"):
        return [encoded(f"{key}={'x'.join(map(str, sizes))}", what) for key, sizes in dict(value).items()]
    if name == "units" and not isinstance(value, str):
        return [encoded(",".join(value), what)]
    if isinstance(value, (list, tuple)):
        return [encoded(item, what) for item in value]
    if isinstance(value, bool):
        return [b"true" if value else b"false"]
    return [encoded(value if isinstance(value, (str, bytes, os.PathLike)) else str(value), what)]


def spelled(options: Dict[str, Any]) -> Dict[str, Any]:
    """Options by the names that the library knows."""
    plural = {"pins": "pin", "shapes": "shape"}
    return {plural.get(name, name): value for name, value in options.items()}


class Cancellation:
    """Ends calls that are under way, from another thread: `cancel()`."""

    def __init__(self) -> None:
        self.handle = library.new["cancellation"]()
        library.releasing(self, "cancellation", self.handle)

    def cancel(self) -> None:
        library.cancellation_cancel(self.handle)


class State:
    """What a stateful model remembers between predictions; zeros when it is made (`Model.make_state`).

    It serves one prediction at a time; sequences side by side have one each.
    """

    def __init__(self, model: "Model") -> None:
        handle = c_void_p()
        library.state_new(model._handle, byref(handle))
        self._model, self.handle = model, handle.value or 0
        library.releasing(self, "state", self.handle)

    def read(self, name: str) -> NDArray:
        """A copy of one of the model's states, an array of its shape and type."""
        array = np.empty(*self._kind(name))
        view, _held = described(array)
        library.state_read(self.handle, encoded(name), view)
        return array

    def write(self, name: str, value: Any) -> None:
        """Replaces one of the model's states; the value is cast to its type and must have its shape."""
        shape, dtype = self._kind(name)
        array = np.ascontiguousarray(value, dtype=dtype)
        if array.shape != shape:
            raise FeatureError(f"state '{name}': expected shape {shape}, got {array.shape}")
        view, _held = described(array)
        library.state_write(self.handle, encoded(name), view)

    def _kind(self, name: str) -> Tuple[Tuple[int, ...], "np.dtype[Any]"]:
        states = self._model.description.states
        if name not in states:
            raise FeatureError(f"the model has no state '{name}'; it has {', '.join(states) or 'none'}")
        return states[name].shape or (), DTYPES[str(states[name].dtype)]


class Model:
    """A Core ML or ONNX model, placed on devices and ready to predict. Any number of threads may use it at once.

    ```python
    model = kelvin.Model("MobileNetV2.mlpackage")
    model.predict({"image": "owl.jpg"})["classLabel"]
    ```

    Args:
        path: an `.mlpackage`, `.mlmodelc`, `.mlmodel` or `.onnx`; or the bytes of one of the latter two, or of an ML
            Program's specification, with the files that it names in `files`.
        units: `all`, `cpu-only`, `cpu-and-gpu`, `cpu-and-neural-engine`, or devices: `"cpu,vulkan:0"` or a list.
        precision: `automatic`, `full`, `high` or `low`: how exactly it must be computed at least.
        plan: a plan that was saved, in place of a new one.
        files: bytes by path, of a model in memory.
        options: any other option of the command line, underscores for dashes: `threads=2`, `strict=True`,
            `shapes={"image": (1, 3, 224, 224)}`, `pins={"conv_1": "cpu"}`, `max_memory=2**30`, `cache_dir=…`.

    An ONNX model whose inputs leave sizes open, other than the batch, is compiled for those of the first prediction where
    `shapes` does not say them; `plan` is there from then on.

    Raises:
        FileError: the file cannot be read, or is not a model.
        UnsupportedError: the model needs something that Kelvin does not have; all of it is listed.
        ParameterError: the options do not fit the model or the machine.
    """

    def __init__(
            self, path: Union[Path, bytes, bytearray, memoryview], units: Units = "all", precision: str = "automatic",
            plan: Optional[Path] = None, files: Optional[Mapping[str, bytes]] = None, **options: Any) -> None:
        chosen = options_handle(self, **spelled(dict(units=units, precision=precision, plan=plan, **options)))
        handle = c_void_p()
        if isinstance(path, (bytes, bytearray, memoryview)):
            _load_bytes(bytes(path), files or {}, chosen, handle)
            self.path: Optional[str] = None
        else:
            if not isinstance(path, (str, os.PathLike)):
                raise TypeError(f"expected a path or bytes, got {type(path).__name__}")
            library.model_load(encoded(path, "a path"), chosen, None, byref(handle))
            self.path = os.fspath(path)
        self._handle = handle.value or 0
        self._call: "Optional[Predict]" = None
        self._close = library.releasing(self, "model", self._handle)

    def close(self) -> None:
        """Lets go of the model's memory now. Later calls raise HandleError; predictions under way end as they would."""
        self._close()
        self._call = None

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"kelvin.Model({self.path!r})"

    @functools.cached_property
    def description(self) -> Description:
        """What the model takes, gives and remembers."""
        return description(library.document(library.model_description, self._handle))

    @property
    def inputs(self) -> Dict[str, Feature]:
        """What the model takes, by name."""
        return self.description.inputs

    @property
    def outputs(self) -> Dict[str, Feature]:
        """What the model gives, by name."""
        return self.description.outputs

    @property
    def remarks(self) -> List[str]:
        """What should be known once: a stale profile, layers that run outside the units asked for, devices that failed."""
        return list(library.document(library.model_remarks, self._handle))

    def plan(self) -> Plan:
        """Which device runs each layer, what it costs there and elsewhere, and why."""
        return Plan(
            library.document(library.model_plan, self._handle), library.text(library.model_plan_html, self._handle))

    def make_state(self) -> State:
        """A state of zeros for this model."""
        return State(self)

    @overload
    def predict(
        self, inputs: Mapping[str, Any], state: Optional[State] = ..., outputs: Optional[Mapping[str, NDArray]] = ...,
        fit: str = ..., cancellation: Optional[Cancellation] = ...) -> Dict[str, Any]: ...

    @overload
    def predict(
        self, inputs: Sequence[Mapping[str, Any]], state: None = ..., outputs: None = ..., fit: str = ...,
        cancellation: Optional[Cancellation] = ...) -> List[Dict[str, Any]]: ...

    def predict(
            self, inputs: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]], state: Optional[State] = None,
            outputs: Optional[Mapping[str, NDArray]] = None, fit: str = "scale-fill",
            cancellation: Optional[Cancellation] = None) -> Union[Dict[str, Any], List[Dict[str, Any]]]:
        """One prediction, or one for each item of a list.

        Arrays are read and written where they lie where their elements are in rising order. A result's memory is its own;
        it lives as long as an array over it. Other threads of Python run meanwhile.

        Args:
            inputs: values by name. For an array: anything NumPy or DLPack knows. For an image: a `PIL.Image`, a path, an
                image file's bytes, pixels (uint8, height by width, or by 1, 3 or 4 channels besides: gray, RGB, RGBA),
                a `kelvin.Image` of any format, or an array of numbers in the model's own layout. A list predicts each item,
                several at a time.
            state: from `make_state`; begun from zeros and forgotten where None.
            outputs: arrays by name, that outputs are written to: of the output's shape and type, writable. For an image a
                `kelvin.Image` of 8 bits a channel.
            fit: how images are brought to the model's size: `exact`, `center-crop`, `scale-fit` or `scale-fill`.
            cancellation: what may end it from another thread.

        Returns:
            Values by name: arrays, numbers, strings, images, or dictionaries of numbers by label, the largest first.

        Raises:
            FeatureError: naming the input that is missing, unknown or does not fit.
            DeviceError: a device failed, and no other that the units allow could do its work.
        """
        # Few steps up to here: after a large model, each has to come from memory again.
        handle = None if cancellation is None else cancellation.handle
        if state is None:
            call = self._call
            try:
                found = (self._chosen_call() if call is None else call)(inputs, outputs, handle)
                if found is not None:
                    return found
            except FeatureError:
                # Outputs have other sizes than usual: features take them as they are, and have words for all else.
                self._call = no_call
        if isinstance(inputs, collections.abc.Sequence):
            if state is not None or outputs is not None:
                raise FeatureError("a batch has neither a state nor outputs of the caller's; predict its items one by one")
            return self._predict_batch([self._features(item, fit) for item in inputs], handle)
        return self._predict(inputs, outputs or {}, state, fit, handle)

    def _chosen_call(self) -> "Predict":
        """What predicts from arrays in one call; of a model of anything else, what never does."""
        self._call = call = array_call(self._handle, self.description) or no_call
        return call

    def _predict(
            self, inputs: Mapping[str, Any], outputs: Mapping[str, Any], state: Optional[State], fit: str,
            cancellation: Optional[int]) -> Dict[str, Any]:
        """A prediction of values of any type."""
        given, results = self._features(inputs, fit), Features()
        for name, array in outputs.items():
            if name not in self.outputs:
                raise FeatureError(f"the model has no output '{name}'; it has {', '.join(self.outputs)}")
            results.lend(name, array)
        library.predict(self._handle, given.handle, results.handle, None if state is None else state.handle, cancellation)
        return {name: results.get(name, feature) for name, feature in self.outputs.items()}

    def _predict_batch(
            self, given: Sequence[Features], cancellation: Optional[int] = None,
            names: Optional[Sequence[str]] = None) -> List[Dict[str, Any]]:
        """The outputs of each features, or those that `names` has."""
        results = [Features() for _ in given]
        count = len(given)
        array = c_void_p * max(count, 1)
        library.predict_batch(
            self._handle, array(*(item.handle for item in given)), array(*(item.handle for item in results)), count,
            cancellation)
        return [{name: result.get(name) for name in names or self.outputs} for result in results]

    async def predict_async(
            self, inputs: Any, state: Optional[State] = None, outputs: Optional[Mapping[str, NDArray]] = None,
            fit: str = "scale-fill") -> Any:
        """As `predict`, without blocking the event loop. Cancelling the task ends the prediction."""
        cancellation = Cancellation()
        call = functools.partial(
            self.predict, inputs, state=state, outputs=outputs, fit=fit, cancellation=cancellation)
        try:
            return await asyncio.get_running_loop().run_in_executor(threads(), call)
        except asyncio.CancelledError:
            cancellation.cancel()
            raise

    def _features(self, inputs: Any, fit: str) -> Features:
        if not hasattr(inputs, "items"):
            raise TypeError(f"expected a dictionary of inputs, got {type(inputs).__name__}")
        known, given = self.inputs, Features()
        for name, value in inputs.items():
            if value is None:
                continue
            feature = known.get(name) or self.description.overridable.get(name)
            if feature is None:
                raise FeatureError(f"the model has no input '{name}'; it takes {', '.join(known) or 'none'}")
            given.set(name, value, feature, fit)
        return given


def _load_bytes(model: bytes, files: Mapping[str, bytes], options: int, handle: c_void_p) -> None:
    rows = (_library.File * max(len(files), 1))()
    held = []
    for row, (path, contents) in zip(rows, files.items()):
        contents = bytes(contents)
        held.append(contents)
        row.path, row.bytes, row.count = (
            encoded(path, "a path"), ctypes.cast(ctypes.c_char_p(contents), c_void_p).value, len(contents))
    library.model_load_bytes(
        ctypes.cast(ctypes.c_char_p(model), c_void_p), len(model), rows, len(files), options, None, byref(handle))


_lock = threading.Lock()
_executor: Optional[concurrent.futures.ThreadPoolExecutor] = None


def threads() -> concurrent.futures.ThreadPoolExecutor:
    """The threads that asynchronous predictions block."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = concurrent.futures.ThreadPoolExecutor(max(4, os.cpu_count() or 1), "kelvin")
        return _executor
