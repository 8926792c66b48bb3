"""Plans, profiles, comparisons and devices, as typed tables for pandas and notebooks."""
import collections
import dataclasses
import html
from typing import Any, Dict, Generic, Iterator, List, Optional, Sequence, Tuple, TypeVar, Union, overload

from ._library import Path

_Row = TypeVar("_Row")

#: The fields whose unit is seconds.
_SECONDS = ("seconds", "p50", "p99")


def seconds_text(seconds: Optional[float]) -> str:
    """Formats seconds with three digits and a unit."""
    if seconds is None:
        return "—"
    value, unit = seconds * 1e9, "ns"
    for larger in ("µs", "ms", "s"):
        if value < 999.5:
            break
        value, unit = value / 1000, larger
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


class Table(Generic[_Row]):
    """Rows of one type: a sequence that converts to a pandas.DataFrame (`frame`) and renders in a notebook."""

    #: The field and the heading of each column.
    _columns: Tuple[Tuple[str, str], ...] = ()

    def _rows(self) -> Sequence[_Row]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._rows())

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._rows())

    @overload
    def __getitem__(self, index: int) -> _Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[_Row]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[_Row, Sequence[_Row]]:
        return self._rows()[index]

    def frame(self) -> Any:
        """Returns a pandas.DataFrame of the rows; requires pandas."""
        import pandas
        rows: Sequence[Any] = self._rows()
        return pandas.DataFrame([dataclasses.asdict(row) for row in rows])

    def _cells(self) -> Iterator[List[str]]:
        for row in self._rows():
            yield [_text(field, getattr(row, field)) for field, _ in self._columns]

    def __str__(self) -> str:
        rows = [[heading for _, heading in self._columns]] + list(self._cells())
        widths = [max(len(row[column]) for row in rows) for column in range(len(self._columns))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        sides = ["right" if field in _SECONDS else "left" for field, _ in self._columns]
        head = "".join(
            f'<th style="text-align:{side}">{html.escape(heading)}</th>' for side, (_, heading) in zip(sides, self._columns))
        body = "".join(
            "<tr>" + "".join(
                f'<td style="text-align:{side}">{html.escape(cell)}</td>' for side, cell in zip(sides, row)) + "</tr>"
            for row in self._cells())
        return (
            '<div style="max-height:30em;overflow:auto"><table style="white-space:nowrap">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>")


def _text(field: str, value: Any) -> str:
    if field in _SECONDS:
        return seconds_text(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {seconds_text(number)}" for key, number in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


@dataclasses.dataclass(frozen=True)
class Device:
    """A device of this machine, or a missing device with the reason."""

    id: str
    name: str
    #: cpu, integratedGPU, discreteGPU, accelerator, software or reference.
    kind: str
    driver: str
    version: str
    #: The memory in bytes.
    memory: int
    is_available: bool
    #: The reason why the device is missing and a remedy; empty if it is available.
    reason: str
    #: The self-tests that its driver failed.
    failed_self_tests: List[str]


class Devices(Table[Device]):
    """The devices of this machine."""

    _columns = (("id", "DEVICE"), ("kind", "KIND"), ("name", "NAME"), ("driver", "DRIVER"), ("reason", "ABSENT BECAUSE"))

    def __init__(self, rows: List[Dict[str, Any]]):
        self._devices = [
            Device(
                row["id"], row["name"], row["kind"], row["driver"], row["version"], row["memory"], row["available"],
                row["reason"], row["failedSelfTests"]) for row in rows]

    def _rows(self) -> Sequence[Device]:
        return self._devices


@dataclasses.dataclass(frozen=True)
class Layer:
    """A layer of the plan, which may represent several fused operations."""

    name: str
    operator: str
    device: str
    #: The seconds on its device; None if not known.
    seconds: Optional[float]
    #: Whether the seconds were measured on this machine.
    is_measured: bool
    #: The reason for its placement.
    reason: str
    #: The seconds that a prediction would lose with the layer on its second best device.
    regret: Optional[float]
    #: The seconds on each device that supports it.
    costs: Dict[str, float]
    #: The reason why a device cannot run it, by device.
    unsupported: Dict[str, str]
    #: The model's operations that it represents.
    operations: List[str]


#: The colors of devices, as on the HTML page: those that are visible on white and on black.
_COLOURS = ("#0072b2", "#e08a00", "#58b98f", "#cc3d55", "#8b93a1")


class Plan(Table[Layer]):
    """The device of each layer of a model, its cost on each device, and the reason."""

    _columns = (
        ("name", "LAYER"), ("operator", "OP"), ("device", "DEVICE"), ("seconds", "COST"), ("costs", "ON EACH DEVICE"),
        ("reason", "WHY"))

    def __init__(self, document: Dict[str, Any], page: Optional[str] = None):
        #: The complete document of `kelvin plan --json`.
        self.document = document
        self._page = page
        self.layers = [_layer(row) for row in document["nodes"]]

    def _rows(self) -> Sequence[Layer]:
        return self.layers

    @property
    def predicted(self) -> float:
        """The predicted seconds of one warm prediction."""
        return float(self.document["predicted"])

    @property
    def goal(self) -> str:
        """The objective of the plan: latency, one-shot, throughput or sustained."""
        return str(self.document["goal"])

    @property
    def gap(self) -> float:
        """The optimality gap; 0 if the plan is exact."""
        return float(self.document["gap"])

    @property
    def best_single_device(self) -> Optional[Tuple[str, float]]:
        """The device that would run all layers it supports in the least time, and its predicted seconds."""
        single = self.document.get("bestSingleDevice")
        return (single["device"], single["predicted"]) if single else None

    def html(self) -> str:
        """Renders a self-contained HTML page: the placement as a graph, all costs, and the reasons."""
        if self._page is None:
            raise ValueError("this plan was read without its page; ask a loaded model's plan()")
        return self._page

    def save(self, path: Path) -> None:
        """Writes the HTML page to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html())

    def _summary(self) -> str:
        devices = collections.Counter(layer.device for layer in self.layers)
        placed = ", ".join(f"{count} on {device}" for device, count in sorted(devices.items()))
        return f"{seconds_text(self.predicted)} predicted, {placed}"

    def __repr__(self) -> str:
        return f"<kelvin.Plan: {self._summary()}>"

    def _repr_html_(self) -> str:
        """Renders the placement as a strip, in which each layer's width is its time, above the table."""
        devices = sorted({layer.device for layer in self.layers})
        colours = {device: _COLOURS[place % len(_COLOURS)] for place, device in enumerate(devices)}
        strip = "".join(
            f'<span title="{html.escape(layer.name)}: {html.escape(layer.device)}, {seconds_text(layer.seconds)}" '
            f'style="flex:{(layer.seconds or 0) * 1e6:.3f};background:{colours[layer.device]}"></span>'
            for layer in self.layers)
        legend = " ".join(
            f'<span style="display:inline-block;width:0.8em;height:0.8em;background:{colours[device]}"></span> '
            f"{html.escape(device)}&ensp;" for device in devices)
        return (
            f'<div>{html.escape(self._summary())}</div><div style="display:flex;gap:1px;height:1.5em;margin:0.5em 0">{strip}'
            f"</div><div>{legend}</div>{super()._repr_html_()}")


def _layer(row: Dict[str, Any]) -> Layer:
    candidates = row["candidates"]
    own: Dict[str, Any] = next((item for item in candidates if item["device"] == row["device"]), {})
    return Layer(
        row["name"], row["op"], row["device"], own.get("seconds"), own.get("source") == "measured", row["reason"],
        row.get("regret"),
        {item["device"]: item["seconds"] for item in candidates if item.get("seconds") is not None},
        {item["device"]: item["reason"] for item in candidates if item.get("seconds") is None and item.get("reason")},
        [origin["name"] for origin in row["origins"]])
