"""Measurements: the cost of every layer on every device, and comparisons of configurations."""
import dataclasses
from ctypes import c_void_p
from typing import Any, Dict, List, Optional, Sequence

from ._library import Path, encoded, library
from .model import Cancellation, Units, options_handle, spelled
from .plan import Devices, Plan, Table


class _Owner:
    """Owns handles for the duration of a call."""


def devices() -> Devices:
    """Returns the devices of this machine, and the reasons why others are missing."""
    return Devices(library.document(library.devices))


def plan(path: Path, **options: Any) -> Plan:
    """Plans a model without compiling it. Options are those of `Model`."""
    owner = _Owner()
    return Plan(library.document(library.plan, encoded(path, "a path"), options_handle(owner, **spelled(options))))


@dataclasses.dataclass(frozen=True)
class LayerProfile:
    """The measurements of one layer."""

    name: str
    operator: str
    #: The median seconds on each device that ran it.
    costs: Dict[str, float]
    #: The reason why a device cannot run it, by device.
    unsupported: Dict[str, str]


class Profile(Table[LayerProfile]):
    """The cost of every layer of a model on every device."""

    _columns = (("name", "LAYER"), ("operator", "OP"), ("costs", "ON EACH DEVICE"))

    def __init__(self, document: Any):
        #: The complete document of `kelvin profile --json`, one for each graph.
        self.document = document
        parts = document if isinstance(document, list) else [document]
        self.layers = [_layer(row) for part in parts for row in part["nodes"]]

    def _rows(self) -> Sequence[LayerProfile]:
        return self.layers


def _layer(row: Dict[str, Any]) -> LayerProfile:
    return LayerProfile(
        row["name"], row["op"],
        {item["device"]: item["seconds"] for item in row["costs"] if "seconds" in item},
        {item["device"]: item["unsupported"] for item in row["costs"] if item.get("unsupported")})


def profile(
        path: Path, units: Optional[Units] = None, seconds: float = 0, cancellation: Optional[Cancellation] = None,
        **options: Any) -> Profile:
    """Measures every layer of a model on every device, or on the devices of `units`.

    Args:
        seconds: the seconds of measuring for each device; 0 for Kelvin's default.
        cancellation: ends measuring; the results so far are returned.
        options: as for `Model`. The measurements are kept for later plans, unless `no_cache=True`.
    """
    owner = _Owner()
    handle = options_handle(owner, **spelled(dict(options, units=units)))
    return Profile(library.document(
        library.profile, encoded(path, "a path"), handle, float(seconds), None if cancellation is None else cancellation.handle))


@dataclasses.dataclass(frozen=True)
class Measurement:
    """The measurements of one configuration."""

    label: str
    devices: List[str]
    #: The seconds of a warm prediction: the 50th and the 99th percentile.
    p50: Optional[float]
    p99: Optional[float]
    comparison: str


class Comparison(Table[Measurement]):
    """A comparison of configurations."""

    _columns = (("label", "CONFIGURATION"), ("p50", "P50"), ("p99", "P99"), ("comparison", "COMPARED"))

    def __init__(self, document: Dict[str, Any]):
        #: The complete document of `kelvin bench --json`.
        self.document = document
        self.measurements = [_measurement(row) for row in document["configurations"]]

    def _rows(self) -> Sequence[Measurement]:
        return self.measurements

    @property
    def verdict(self) -> str:
        """The recommended configuration, or a statement that no difference exceeds noise."""
        return str(self.document["verdict"])


def _measurement(row: Dict[str, Any]) -> Measurement:
    return Measurement(row["units"], row["devices"], row.get("p50"), row.get("p99"), row["comparison"])


def bench(
        path: Path, workload: Path = "one-shot", configurations: Optional[List[Dict[str, Any]]] = None,
        cancellation: Optional[Cancellation] = None) -> Comparison:
    """Compares configurations of a model under a workload and recommends one.

    Args:
        workload: `one-shot`, `stream`, `throughput`, `tokens`, or the path of a workload's file.
        configurations: options of `Model` for each configuration, such as `[{"units": "cpu-only"}, {"units":
            "vulkan:0"}]`. None compares the CPU, each hardware device and all together.
        cancellation: ends measuring; the results so far are returned.
    """
    owner = _Owner()
    handles = [options_handle(owner, **spelled(options)) for options in configurations or []]
    array = (c_void_p * max(len(handles), 1))(*handles)
    return Comparison(library.document(
        library.bench, encoded(path, "a path"), encoded(workload, "a workload"), array, len(handles),
        None if cancellation is None else cancellation.handle))
