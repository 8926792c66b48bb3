"""Predictions of arrays alone: one call of the library, into memory of NumPy's."""
import ctypes
from typing import Any, Dict, List, Mapping, Optional, Tuple

import numpy as np

from ._library import encoded, library
from .description import Description, Feature
from .values import CODES, DTYPES, packed, sizes, start

# Name, shape, element type, its code, and where its shape lies in memory.
_Row = Tuple[str, Tuple[int, ...], "np.dtype[Any]", int, int]


class ArrayCall:
    """What a call for arrays of the usual sizes needs and can be made once.

    Few steps, none of them through features of the library's: after a large model, what a step takes is the time to bring
    it into the processor's caches again.
    """

    __slots__ = ("_held", "_inputs", "_names", "_outputs", "_results")

    def __init__(self, description: Description) -> None:
        #: Memory that rows point into.
        self._held: List[Any] = []
        self._inputs = [self._row(feature) for feature in description.inputs.values()]
        self._outputs = [self._row(feature) for feature in description.outputs.values()]
        self._names, self._results = (
            (ctypes.c_char_p * len(rows))(*(encoded(row[0]) for row in rows)) for rows in (self._inputs, self._outputs))

    def _row(self, feature: Feature) -> _Row:
        shape, dtype = feature.shape or (), DTYPES[str(feature.dtype)]
        address, held = sizes(shape)
        self._held.append(held)
        return feature.name, shape, dtype, CODES[dtype], address

    @staticmethod
    def of(description: Description) -> Optional["ArrayCall"]:
        """Nothing for a model that takes or gives anything but arrays, or remembers."""
        features = [*description.inputs.values(), *description.outputs.values()]
        if description.states or any(
                feature.type != "multiArray" or feature.is_optional or feature.shape is None or 0 in feature.shape
                or feature.dtype not in DTYPES or "\0" in feature.name for feature in features):
            return None
        return ArrayCall(description)

    def predict(
            self, model: int, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
            cancellation: Optional[int]) -> Optional[Dict[str, Any]]:
        """The outputs by name: new arrays, but for those of the caller's.

        Nothing where an array is not as a call needs it: of the usual shape and type, dense, NumPy's own. Raises
        FeatureError, and has perhaps written to the caller's arrays, for a model whose outputs have other sizes than usual.
        """
        if len(inputs) != len(self._inputs):
            return None
        given, written, results, lent = [], [], {}, 0
        for name, shape, dtype, code, sizes_at in self._inputs:
            array = inputs.get(name)
            if type(array) is not np.ndarray or array.shape != shape or array.dtype != dtype or not array.flags.carray:
                return None
            given.append(packed(start(array), code, len(shape), sizes_at, 0))
        for name, shape, dtype, code, sizes_at in self._outputs:
            array = outputs.get(name)
            if array is None:
                array = np.empty(shape, dtype)
            elif type(array) is np.ndarray and array.shape == shape and array.dtype == dtype and array.flags.carray:
                lent += 1
            else:
                return None
            results[name] = array
            written.append(packed(start(array), code, len(shape), sizes_at, 0))
        if lent != len(outputs):
            return None
        library.predict_arrays(
            model, self._names, b"".join(given), len(given), self._results, b"".join(written), len(written), None,
            cancellation)
        return results
