"""One finished run in one JSON file that says whether it is whole.

The checksum is the SHA-256 of the canonical JSON of format, id, run and result. What differs between two machines, or
between a study that was interrupted and one that was not, stands in "made", outside the checksum.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import msgspec

from lengthwise.config import Run, canonical, record
from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer

FORMAT = 1
SIGNED = ("format", "id", "run", "result")


@runtime_checkable
class Trained(Protocol):
    """What a trainer hands over: `lengthwise.train.ensemble.Result`."""

    @property
    def curve(self) -> Sequence[tuple[int, float, float]]:
        """Test length, mean squared error, worst squared error."""

    @property
    def steps(self) -> int:
        """Updates made."""

    @property
    def training_loss(self) -> float:
        """Smoothed, when training ended."""

    @property
    def ended(self) -> str:
        """Why it ended: loss, steps or diverged."""

    @property
    def weights(self) -> LimitTransformer:
        """The trained model."""

    @property
    def history(self) -> Sequence[float]:
        """Mean training loss of each chunk."""

    @property
    def seconds(self) -> float:
        """Its share of the machine's time."""


@dataclass(frozen=True)
class Finished:
    """A run that is done, as its file has it. curve: (test length, mean squared error, worst squared error)."""

    run: Run
    curve: list[tuple[int, float, float]]
    steps: int
    training_loss: float
    ended: str
    history: list[float]
    weights_checksum: str
    made: dict[str, Any]
    checksum: str

    @property
    def diverged(self) -> bool:
        """Whether its loss stopped being a number."""
        return self.ended == "diverged"


class Damaged(ValueError):
    """A run file that is not what was written; says why."""


def encoded(run: Run, trained: Trained, weights_checksum: str, made: Mapping[str, Any]) -> bytes:
    """The bytes of a run's file."""
    curve = [
        {"length": length, **_number("loss", loss), **_number("worst", worst)} for length, loss, worst in trained.curve
    ]
    result = {
        "curve": curve,
        "steps": trained.steps,
        **_number("training_loss", trained.training_loss),
        "ended": trained.ended,
        **_numbers("history", trained.history),
        "weights_checksum": weights_checksum,
    }
    body = {"format": FORMAT, "id": run.id, "run": msgspec.to_builtins(run), "result": result}
    fields = body | {"made": dict(made), "checksum": checksum(body)}
    lines = [f"  {json.dumps(name)}: {json.dumps(value, allow_nan=False)}" for name, value in fields.items()]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def decoded(content: bytes, run_id: str) -> Finished:
    """A run's file as a record; raises Damaged unless every byte that counts is as it was written."""
    try:
        fields = json.loads(content)
        if fields["checksum"] != checksum(fields):
            raise Damaged("its checksum does not fit")
        if fields["format"] != FORMAT:
            raise Damaged(f"its format is {fields['format']}, not {FORMAT}")
        run = record(fields["run"], Run, "run")
        if not run_id == fields["id"] == run.id:
            raise Damaged("it holds another run")
        result = fields["result"]
        return Finished(
            run=run,
            curve=[(point["length"], _float(point, "loss"), _float(point, "worst")) for point in result["curve"]],
            steps=result["steps"],
            training_loss=_float(result, "training_loss"),
            ended=result["ended"],
            history=[math.nan if value is None else float(value) for value in result["history"]],
            weights_checksum=result["weights_checksum"],
            made=dict(fields["made"]),
            checksum=fields["checksum"],
        )
    except (Damaged, WrongInput):
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Damaged("it is torn, or no run file") from error


def checksum(fields: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of the signed fields."""
    return hashlib.sha256(canonical({name: fields[name] for name in SIGNED})).hexdigest()


def _number(name: str, value: float) -> dict[str, Any]:
    """A float, or null with the reason beside it."""
    if math.isfinite(value):
        return {name: float(value)}
    reason = "not a number" if math.isnan(value) else "infinite" if value > 0 else "minus infinity"
    return {name: None, f"{name}_reason": reason}


def _numbers(name: str, values: Sequence[float]) -> dict[str, Any]:
    found: dict[str, Any] = {name: [float(value) if math.isfinite(value) else None for value in values]}
    return found | ({f"{name}_reason": "null stands for: not finite"} if None in found[name] else {})


_VALUES = {"infinite": math.inf, "minus infinity": -math.inf}


def _float(fields: Mapping[str, Any], name: str) -> float:
    value = fields[name]
    return _VALUES.get(fields[f"{name}_reason"], math.nan) if value is None else float(value)
