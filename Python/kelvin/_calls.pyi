"""The interface of Python/calls/calls.c: a prediction with arrays only as one call into C."""
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

import numpy as np

#: A feature's name, the name as UTF-8, its default shape, its element type, and the type's code in kelvin.h.
Row = Tuple[str, bytes, Tuple[int, ...], "np.dtype[Any]", int]
#: Takes a dictionary of inputs, a dictionary of output arrays, and a cancellation's handle; returns the same as
#: `ArrayCall` of arrays.py.
Predict = Callable[[Any, Optional[Mapping[str, Any]], Optional[int]], Optional[Dict[str, Any]]]

def predictor(
        model: int, predict: int, free: int, failure: Callable[[int, str], BaseException], inputs: Tuple[Row, ...],
        outputs: Tuple[Row, ...]) -> Optional[Predict]:
    """Returns a function that predicts with a model; None if the model has too many features.

    Args:
        model: the model's handle.
        predict, free: the addresses of `kelvin_predict_arrays` and `kelvin_free`.
        failure: creates an exception from the library's code and message.
        inputs, outputs: all features of the model.
    """
