"""What models take and give, as typed values."""
import dataclasses
from typing import Any, Dict, Iterable, List, Optional, Tuple


@dataclasses.dataclass(frozen=True)
class Feature:
    """One input, output or state of a model."""

    name: str
    #: int64, double, string, image, multiArray, dictionary, sequence or state.
    type: str
    is_optional: bool = False
    summary: str = ""
    default: Optional[float] = None
    #: Of arrays and states: their element type by NumPy's name; string for arrays of strings. Of images uint8, or float16 of
    #: grey ones whose numbers are the model's, as they are.
    dtype: Optional[str] = None
    #: Of arrays and states the usual sizes; of images height and width.
    shape: Optional[Tuple[int, ...]] = None
    #: The only shapes there are; empty where each size has a range.
    allowed_shapes: Tuple[Tuple[int, ...], ...] = ()
    #: The smallest and largest size of each dimension; None for no largest.
    size_ranges: Tuple[Tuple[int, Optional[int]], ...] = ()
    #: Of images: rgb, bgr or grayscale.
    channel_order: Optional[str] = None
    #: The type of a dictionary's keys, or of a sequence's elements.
    elements: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Description:
    """What a model takes, gives and remembers."""

    inputs: Dict[str, Feature]
    outputs: Dict[str, Feature]
    states: Dict[str, Feature]
    #: Constants of an ONNX model for which a prediction may give other values.
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
