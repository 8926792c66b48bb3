"""Predictions in many processes with Ray: a predictor for Ray Data and an application for Ray Serve.

```python
import ray
from kelvin.ray import Predictor

images = ray.data.read_binary_files("images", include_paths=True)
named = images.map_batches(
    Predictor, fn_constructor_kwargs=dict(model="MobileNetV2.mlpackage", inputs={"image": "bytes"}),
    compute=ray.data.ActorPoolStrategy(size=4), num_cpus=1, batch_size=32)
named.write_parquet("named")
```

Requires `pip install kelvin[ray]`. Ray places and restarts the processes. Each process loads the model once.
"""
import asyncio
import base64
import binascii
import json
import math
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import numpy as np

from .description import Feature
from .errors import DeviceError, FeatureError, HandleError, InternalError, KelvinError
from .model import Model
from .values import DTYPES, Features, NDArray

Batch = Dict[str, NDArray]
#: Converts a row to the model's inputs.
Prepare = Callable[[Dict[str, Any]], Dict[str, Any]]

# Errors of the machine or of Kelvin, which would recur for every row.
_FATAL = (DeviceError, HandleError, InternalError)


class Predictor:
    """A callable for `Dataset.map_batches`, which loads the model once in each process.

    A batch is a dictionary of arrays by column. The result contains the columns that the model does not read, one
    column for each output, and `error`, which is an empty string for successful rows. For a row that fails (an image
    that cannot be decoded, a wrong shape) `error` has the reason, and its outputs are NaN, 0 or an empty string. The
    other rows are not affected.

    Args:
        model: as for `kelvin.Model`; a path that exists on every machine.
        inputs: columns by input name, for inputs whose column has another name. An image is a path, a file's bytes,
            pixels of uint8 or an array in the model's own layout.
        prepare: a function that converts a row, a dictionary by column, to the model's inputs by name. `inputs` is then
            not used.
        outputs: the outputs to return; None for all. Probabilities by label become an array in the order of
            `Model.description.class_labels`; other dictionaries become JSON.
        keep: the columns to copy to the result; None for those that the model does not read.
        fit: how images are fitted to the model's input size, as in `Model.predict`.
        options: any other argument of `kelvin.Model`. `threads` defaults to the number of processors of the worker.

    Raises:
        FeatureError: `outputs` contains an unknown name, or a batch lacks a column that the model needs.
        DeviceError: a device failed, and no other device can replace it. This ends the job.
    """

    def __init__(
            self, model: Any, *, inputs: Optional[Mapping[str, str]] = None, prepare: Optional[Prepare] = None,
            outputs: Optional[Sequence[str]] = None, keep: Optional[Sequence[str]] = None, fit: str = "scale-fill",
            **options: Any) -> None:
        options.setdefault("threads", _processors())
        #: The `kelvin.Model`.
        self.model = Model(model, **options)
        self._columns = dict(inputs or {})
        self._prepare, self._keep, self._fit = prepare, keep, fit
        self._outputs = list(self.model.outputs if outputs is None else outputs)
        for names, known, noun in (
                (self._columns, self.model.inputs, "input"), (self._outputs, self.model.outputs, "output")):
            for name in names:
                if name not in known:
                    raise FeatureError(f"the model has no {noun} '{name}'; it has {', '.join(known)}")

    def __call__(self, batch: Batch) -> Batch:
        """Predicts for one batch of Ray Data, NumPy arrays by column."""
        read = {} if self._prepare else self._read(batch)
        count = len(next(iter(batch.values()), ()))
        if self._prepare:
            rows = [{column: values[index] for column, values in batch.items()} for index in range(count)]
        else:
            rows = [{name: batch[column][index] for name, column in read.items()} for index in range(count)]
        answers = self.answers(rows)
        kept = [column for column in batch if column not in read.values()] if self._keep is None else self._keep
        result = {column: batch[column] for column in kept}
        for name in self._outputs:
            result[name] = self._column(
                name, [None if isinstance(answer, Exception) else answer[name] for answer in answers])
        result["error"] = _objects([_words(answer) if isinstance(answer, Exception) else "" for answer in answers])
        return result

    def answers(self, rows: Sequence[Dict[str, Any]]) -> List[Any]:
        """Returns the outputs of each row, a dictionary of inputs, or the exception with which it failed."""
        answers: List[Any] = [None] * len(rows)
        given: List[Features] = []
        places: List[int] = []
        for place, row in enumerate(rows):
            try:
                given.append(self.model._features(self._prepare(row) if self._prepare else row, self._fit))
                places.append(place)
            except _FATAL:
                raise
            except Exception as error:
                answers[place] = error
        for place, answer in zip(places, self._predicted(given)):
            answers[place] = answer
        return answers

    def _predicted(self, given: Sequence[Features]) -> List[Any]:
        try:
            return self.model._predict_batch(given, names=self._outputs)
        except _FATAL:
            raise
        except KelvinError as error:
            if len(given) == 1:
                return [error]
            return [answer for features in given for answer in self._predicted([features])]

    def _read(self, batch: Batch) -> Dict[str, str]:
        """Returns the column of each input that has one."""
        read = {}
        for name, feature in self.model.inputs.items():
            column = self._columns.get(name, name)
            if column in batch:
                read[name] = column
            elif name in self._columns or not feature.is_optional:
                raise FeatureError(
                    f"input '{name}': the batch has no column '{column}', it has {', '.join(batch)}; "
                    "name its column in 'inputs', or make it in 'prepare'")
        return read

    def _column(self, name: str, values: Sequence[Any]) -> NDArray:
        """Converts an output's values to a column; None stands for a failed row."""
        feature, labels = self.model.outputs[name], self.model.description.class_labels
        if feature.type == "string":
            return _objects(["" if value is None else value for value in values])
        if feature.type == "int64":
            return np.array([value or 0 for value in values], np.int64)
        if feature.type == "double":
            return np.array([math.nan if value is None else value for value in values], np.float64)
        if feature.type == "dictionary" and name == self.model.description.predicted_probabilities and labels:
            return np.array(
                [[math.nan if value is None else value[label] for label in labels] for value in values], np.float64)
        if feature.type in ("multiArray", "image"):
            return _arrays(feature, [None if value is None else np.asarray(value) for value in values])
        return _objects(["" if value is None else json.dumps(value) for value in values])


def _arrays(feature: Feature, values: Sequence[Any]) -> NDArray:
    """Stacks arrays of one shape; keeps arrays of different shapes as objects."""
    good = [value for value in values if value is not None]
    usual = [max(size, 0) for size in feature.shape or ()]
    shapes = {value.shape for value in good} or {tuple(usual) if feature.type == "multiArray" else (*usual, 3)}
    dtype = good[0].dtype if good else DTYPES.get(feature.dtype or "", np.dtype(np.uint8))
    if len(shapes) > 1:
        return _objects([np.empty((0,) * good[0].ndim, dtype) if value is None else value for value in values])
    column = np.full((len(values), *shapes.pop()), math.nan if dtype.kind == "f" else 0, dtype)
    for place, value in enumerate(values):
        if value is not None:
            column[place] = value
    return column


def _objects(values: Sequence[Any]) -> NDArray:
    """Returns an array of objects with one element for each value."""
    column = np.empty(len(values), object)
    column[:] = values
    return column


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, KelvinError) else f"{type(error).__name__}: {error}"


def _processors() -> Optional[int]:
    """Returns the number of processors that Ray assigned to this worker; None outside of a worker."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized() or ray.get_runtime_context().get_actor_id() is None:
        return None
    return max(1, int(ray.get_runtime_context().get_assigned_resources().get("CPU", 1)))


def application(
        model: Any, *, max_batch_size: int = 8, batch_wait_timeout_s: float = 0.002,
        deployment: Optional[Dict[str, Any]] = None, prepare: Optional[Prepare] = None,
        outputs: Optional[Sequence[str]] = None, fit: str = "scale-fill", **options: Any) -> Any:
    """Returns a Ray Serve application that predicts concurrent requests as one batch: `serve.run(application(…))`.

    Over HTTP, a POST of JSON has the inputs by name, with arrays as lists and image files in base64. A POST of any
    other type is an image file, for a model with one image input. The response is the outputs as JSON. A request that
    fails gets `{"error": …}` with status 400.
    From Python, `handle.predict.remote(row)` takes and returns the same values as `Model.predict`. It raises the row's
    exception; other rows of the batch are not affected.

    Args:
        model: as for `kelvin.Model`; a path that exists on every machine.
        max_batch_size: the maximum number of requests in a batch.
        batch_wait_timeout_s: how long the first request waits for others, in seconds.
        deployment: arguments of `serve.deployment`: `num_replicas`, `autoscaling_config`, `ray_actor_options`, …
        prepare, outputs, fit, options: as for `Predictor`. `prepare` gets requests as rows.

    Raises:
        ImportError: Ray Serve is not installed.
    """
    try:
        from ray import serve
    except ImportError as error:
        raise ImportError(f"Ray Serve cannot be imported: {error}; pip install kelvin[ray]") from None

    class Service:
        def __init__(self) -> None:
            self._predictor = Predictor(model, prepare=prepare, outputs=outputs, fit=fit, **options)

        @serve.batch(  # type: ignore[untyped-decorator]
            max_batch_size=max_batch_size, batch_wait_timeout_s=batch_wait_timeout_s)
        async def _answers(self, rows: List[Dict[str, Any]]) -> List[Any]:
            return await asyncio.get_running_loop().run_in_executor(None, self._predictor.answers, rows)

        async def predict(self, row: Dict[str, Any]) -> Any:
            answer = await self._answers(row)
            if isinstance(answer, Exception):
                raise answer
            return answer

        async def __call__(self, request: Any) -> Any:
            from starlette.responses import JSONResponse
            try:
                kind = request.headers.get("content-type", "")
                row = _row(self._predictor.model, kind, await request.body())
                return JSONResponse({name: _spoken(value) for name, value in (await self.predict(row)).items()})
            except _FATAL:
                raise
            except Exception as error:
                return JSONResponse({"error": _words(error)}, 400)

    settings: Dict[str, Any] = {"name": "kelvin", **(deployment or {})}
    return serve.deployment(**settings)(Service).bind()


def _row(model: Model, kind: str, body: bytes) -> Dict[str, Any]:
    """Returns the inputs of a request. A string is never used as an image path, because a client must not read the
    server's files."""
    images = [name for name, feature in model.inputs.items() if feature.type == "image"]
    if not kind.startswith("application/json"):
        if len(images) != 1:
            raise FeatureError(
                f"a request of type '{kind}' is one image, and the model takes {len(images)}; "
                f"send its inputs as JSON, {', '.join(model.inputs)}")
        return {images[0]: body}
    try:
        row = json.loads(body)
    except ValueError as error:
        raise FeatureError(f"the request is not JSON: {error}") from None
    if not isinstance(row, dict):
        raise FeatureError(f"expected an object with {', '.join(model.inputs)}, got {type(row).__name__}")
    for name in images:
        if isinstance(row.get(name), str):
            try:
                row[name] = base64.b64decode(row[name], validate=True)
            except binascii.Error as error:
                raise FeatureError(f"input '{name}': expected an image file in base64: {error}") from None
    return row


def _spoken(value: Any) -> Any:
    """Converts a value for JSON, with strings for numbers that JSON cannot represent."""
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _spoken(item) for key, item in value.items()}
    return [_spoken(item) for item in (value if isinstance(value, list) else np.asarray(value).tolist())]
