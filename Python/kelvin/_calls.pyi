"""What Python/calls/calls.c has: a prediction of arrays alone as one call into C."""
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

import numpy as np

#: A feature's name, the same as the library takes it, its usual shape, its element type, and the code of that in kelvin.h.
Row = Tuple[str, bytes, Tuple[int, ...], "np.dtype[Any]", int]
#: Inputs in a dictionary, outputs that are lent, and a cancellation's handle; answers as `ArrayCall` of arrays.py does.
Predict = Callable[[Any, Optional[Mapping[str, Any]], Optional[int]], Optional[Dict[str, Any]]]

def predictor(
        model: int, predict: int, free: int, failure: Callable[[int, str], BaseException], inputs: Tuple[Row, ...],
        outputs: Tuple[Row, ...]) -> Optional[Predict]:
    """What predicts with a model, a handle of the library's; nothing for more features than it has room for.

    Args:
        predict, free: where the library has `kelvin_predict_arrays` and `kelvin_free`.
        failure: makes the exception that is raised of the library's code and words.
        inputs, outputs: all of the model's.
    """
