"""Typed descriptions of models and their features."""
import dataclasses
from typing import Any, Dict, Iterable, List, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Feature:
    """An input, output or state of a model."""

    name: str
    #: int64, double, string, image, multiArray, dictionary, sequence or state.
    type: str
    is_optional: bool = False
    summary: str = ""
    default: Optional[float] = None
    #: For arrays and states, the element type by NumPy's name, or string for arrays of strings. For images uint8, or
    #: float16 for grayscale images whose values the model uses unchanged.
    dtype: Optional[str] = None
    #: For arrays and states, the default shape; for images, height and width.
    shape: Optional[Tuple[int, ...]] = None
    #: The allowed shapes if they are enumerated; empty if each size has a range.
    allowed_shapes: Tuple[Tuple[int, ...], ...] = ()
    #: The smallest and largest size of each dimension; None for an unbounded one.
    size_ranges: Tuple[Tuple[int, Optional[int]], ...] = ()
    #: For images: rgb, bgr or grayscale.
    channel_order: Optional[str] = None
    #: The type of a dictionary's keys or a sequence's elements.
    elements: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Description:
    """The inputs, outputs, states and metadata of a model."""

    inputs: Dict[str, Feature]
    outputs: Dict[str, Feature]
    states: Dict[str, Feature]
    #: The constants of an ONNX model that a prediction may override.
    overridable: Dict[str, Feature]
    predicted_feature: Optional[str]
    predicted_probabilities: Optional[str]
    class_labels: List[str]
    metadata: Dict[str, str]
    user_metadata: Dict[str, str]


_NO_LARGEST = 2**63 - 1


def _ranges(pairs: Iterable[Tuple[int, int]]) -> Tuple[Tuple[int, Optional[int]], ...]:
    return tuple((low, None if high == _NO_LARGEST else high) for low, high in pairs)


def _feature(row: Dict[str, Any]) -> Feature:
    array, image = row.get("array"), row.get("image")
    more: Dict[str, Any] = {}
    if array:
        more = dict(
            dtype=array["dataType"], shape=tuple(array["shape"]),
            allowed_shapes=tuple(map(tuple, array["enumeratedShapes"])), size_ranges=_ranges(array["ranges"]))
    if image:
        more = dict(
            dtype=image["dataType"], shape=(image["height"], image["width"]), channel_order=image["channelOrder"],
            allowed_shapes=tuple((height, width) for width, height in image["enumeratedSizes"]),
            size_ranges=_ranges([image["heights"], image["widths"]]))
    return Feature(
        row["name"], row["type"], row["isOptional"], row["summary"], row.get("defaultValue"),
        elements=row.get("elements"), **more)


def description(document: Dict[str, Any]) -> Description:
    def features(rows: Iterable[Dict[str, Any]]) -> Dict[str, Feature]:
        return {row["name"]: _feature(row) for row in rows}
    return Description(
        features(document["inputs"]), features(document["outputs"]), features(document["states"]),
        features(document["overridable"]),
        document.get("predictedFeatureName"), document.get("predictedProbabilitiesName"), document["classLabels"],
        document["metadata"], document["creatorDefinedMetadata"])
