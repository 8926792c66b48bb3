"""Measuring: every layer on every device, and ways to run a model against each other."""
import dataclasses
from ctypes import c_void_p
from typing import Any, Dict, List, Optional, Sequence

from ._library import Path, encoded, library
from .model import Cancellation, Units, options_handle, spelled
from .plan import Devices, Plan, Table


class _Owner:
    """Holds handles for as long as a call takes."""


def devices() -> Devices:
    """The devices of this machine, and why others are absent."""
    return Devices(library.document(library.devices))


def plan(path: Path, **options: Any) -> Plan:
    """Plans a model without compiling it. Options are those of `Model`."""
    owner = _Owner()
    return Plan(library.document(library.plan, encoded(path, "a path"), options_handle(owner, **spelled(options))))


@dataclasses.dataclass(frozen=True)
class LayerProfile:
    """What was measured of one layer."""

    name: str
    operator: str
    #: Median seconds on every device that ran it.
    costs: Dict[str, float]
    #: Why devices could not run it, by device.
    unsupported: Dict[str, str]


class Profile(Table[LayerProfile]):
    """What every layer of a model costs on every device."""

    _columns = (("name", "LAYER"), ("operator", "OP"), ("costs", "ON EACH DEVICE"))

    def __init__(self, document: Any):
        #: All of it, as `kelvin profile --json` prints it: one for each graph.
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
    """Measures every layer of a model on every device, or on those that `units` names.

    Args:
        seconds: of measuring for each device; 0 for Kelvin's default.
        cancellation: ends it with what is known by then.
        options: as for `Model`. What was measured is kept for later plans, unless `no_cache=True`.
    """
    owner = _Owner()
    handle = options_handle(owner, **spelled(dict(options, units=units)))
    return Profile(library.document(
        library.profile, encoded(path, "a path"), handle, float(seconds), None if cancellation is None else cancellation.handle))


@dataclasses.dataclass(frozen=True)
class Measurement:
    """How one way to run the model did."""

    label: str
    devices: List[str]
    #: Seconds of a warm prediction: half are within the one, 99 of 100 within the other.
    p50: Optional[float]
    p99: Optional[float]
    comparison: str


class Comparison(Table[Measurement]):
    """Ways to run a model, compared."""

    _columns = (("label", "CONFIGURATION"), ("p50", "P50"), ("p99", "P99"), ("comparison", "COMPARED"))

    def __init__(self, document: Dict[str, Any]):
        #: All of it, as `kelvin bench --json` prints it.
        self.document = document
        self.measurements = [_measurement(row) for row in document["configurations"]]

    def _rows(self) -> Sequence[Measurement]:
        return self.measurements

    @property
    def verdict(self) -> str:
        """Which to pick, or that noise does not allow to say."""
        return str(self.document["verdict"])


def _measurement(row: Dict[str, Any]) -> Measurement:
    return Measurement(row["units"], row["devices"], row.get("p50"), row.get("p99"), row["comparison"])


def bench(
        path: Path, workload: Path = "one-shot", configurations: Optional[List[Dict[str, Any]]] = None,
        cancellation: Optional[Cancellation] = None) -> Comparison:
    """Compares ways to run a model under a workload, and says which to pick.

    Args:
        workload: `one-shot`, `stream`, `throughput`, `tokens`, or the path of a workload's file.
        configurations: options of `Model` for each way, such as `[{"units": "cpu-only"}, {"units": "vulkan:0"}]`; the
            CPU, each hardware device and all together where None.
        cancellation: ends it with what is known by then.
    """
    owner = _Owner()
    handles = [options_handle(owner, **spelled(options)) for options in configurations or []]
    array = (c_void_p * max(len(handles), 1))(*handles)
    return Comparison(library.document(
        library.bench, encoded(path, "a path"), encoded(workload, "a workload"), array, len(handles),
        None if cancellation is None else cancellation.handle))
