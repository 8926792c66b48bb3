"""Predictions with arrays only: one call of the library, into memory of NumPy."""
import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import errors
from ._library import encoded, library
from .description import Description, Feature
from .values import CODES, DTYPES, packed, sizes, start

try:
    from ._calls import predictor
except ImportError:
    # The extension is not built, or is built for another Python or NumPy.
    predictor = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from ._calls import Predict, Row


def array_call(model: int, description: Description) -> "Optional[Predict]":
    """Returns a function that predicts from arrays of the default shapes in one call: an `ArrayCall`, or the C
    implementation if available.

    Returns None for a stateful model and for a model with inputs or outputs other than arrays.
    """
    features = [*description.inputs.values(), *description.outputs.values()]
    if description.states or any(
            feature.type != "multiArray" or feature.is_optional or feature.shape is None or 0 in feature.shape
            or feature.dtype not in DTYPES or "\0" in feature.name for feature in features):
        return None
    inputs, outputs = (tuple(map(_row, rows.values())) for rows in (description.inputs, description.outputs))
    found = None
    if predictor is not None:
        predict, free = library.address("predict_arrays"), library.address("free")
        found = predictor(model, predict, free, errors.error, inputs, outputs)
    return found or ArrayCall(model, inputs, outputs)


def _row(feature: Feature) -> "Row":
    dtype = DTYPES[str(feature.dtype)]
    return feature.name, encoded(feature.name), tuple(feature.shape or ()), dtype, CODES[dtype]


def no_call(inputs: Any, outputs: Any, cancellation: Optional[int]) -> None:
    """Accepts no arrays and always returns None."""


class ArrayCall:
    """A prediction from arrays of the default shapes, with everything prepared that stays the same between calls.

    It executes few instructions and does not use the library's features, because after a large model the instructions
    have to be loaded into the processor's caches again.
    """

    __slots__ = ("_held", "_inputs", "_model", "_names", "_outputs", "_results")

    def __init__(self, model: int, inputs: "Sequence[Row]", outputs: "Sequence[Row]") -> None:
        self._model = model
        #: The memory that rows point to.
        self._held: List[Any] = []
        self._inputs, self._outputs = ([self._placed(row) for row in rows] for rows in (inputs, outputs))
        self._names, self._results = (
            (ctypes.c_char_p * len(rows))(*(row[1] for row in rows)) for rows in (inputs, outputs))

    def _placed(self, row: "Row") -> "Tuple[str, Tuple[int, ...], np.dtype[Any], int, int]":
        """Returns the feature's name, shape, element type, type code, and the address of its shape."""
        name, _, shape, dtype, code = row
        address, held = sizes(shape)
        self._held.append(held)
        return name, shape, dtype, code, address

    def __call__(
            self, inputs: Any, outputs: Optional[Mapping[str, Any]],
            cancellation: Optional[int]) -> Optional[Dict[str, Any]]:
        """Returns the outputs by name: new arrays, or the caller's arrays.

        Returns None if an argument does not meet the requirements: a dictionary of dense NumPy arrays of the default
        shapes and types.
        Raises FeatureError for a model whose outputs have other than the default sizes. The caller's arrays may then
        have been written.
        """
        if type(inputs) is not dict or len(inputs) != len(self._inputs):
            return None
        borrowed = outputs or {}
        given, written, results, found = [], [], {}, 0
        for name, shape, dtype, code, sizes_at in self._inputs:
            array = inputs.get(name)
            if type(array) is not np.ndarray or array.shape != shape or array.dtype != dtype or not array.flags.carray:
                return None
            given.append(packed(start(array), code, len(shape), sizes_at, 0))
        for name, shape, dtype, code, sizes_at in self._outputs:
            array = borrowed.get(name)
            if array is None:
                array = np.empty(shape, dtype)
            elif type(array) is np.ndarray and array.shape == shape and array.dtype == dtype and array.flags.carray:
                found += 1
            else:
                return None
            results[name] = array
            written.append(packed(start(array), code, len(shape), sizes_at, 0))
        if found != len(borrowed):
            return None
        library.predict_arrays(
            self._model, self._names, b"".join(given), len(given), self._results, b"".join(written), len(written), None,
            cancellation)
        return results
