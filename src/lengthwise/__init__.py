"""How long must training sequences be for a transformer to keep working on longer ones?

The public names load on first use: importing lengthwise imports neither JAX nor SciPy nor matplotlib.
"""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from lengthwise.lazy import Package

__version__ = "0.1.0"

_HOMES = {
    "WrongInput": "errors",
    "MachineStopped": "errors",
    "Counts": "strings",
    "MLP": "limit.model",
    "Head": "limit.model",
    "Layer": "limit.model",
    "LimitTransformer": "limit.model",
    "map_arrays": "limit.model",
    "save": "limit.storage",
    "load": "limit.storage",
    "evaluate": "limit.evaluate",
    "evaluate_counts": "limit.counts",
    "evaluate_stream": "limit.evaluate",
    "logit_margin": "limit.quantities",
    "position_margin": "limit.quantities",
    "sensitivity": "limit.quantities",
    "complexity": "limit.quantities",
    "limit_error": "limit.quantities",
    "round": "limit.quantities",
    "check": "check",
    "bound": "theory.bound",
    "Constants": "theory.from_constants",
    "shorten": "theory.shorten",
    "shortest": "theory.shortest",
    "worst_case": "theory.worst_case",
    "worst_distance": "limit.worst_distance",
    "worst_onset": "limit.onset",
    "law_onset": "study.hardmax_onset",
    "certify": "theory.certify",
    "sample_errors": "theory.monte_carlo",
    "compare": "verdict.compare",
    "predict": "verdict.predict",
    "task": "tasks.registry",
    "attack": "tasks.attack",
    "Study": "study.plan",
    "sweep": "study.sweep",
    "forecast": "study.forecast",
    "measure": "study.reading",
    "report": "study.report",
    "reproduce": "study.reproduce",
}

__all__ = ["__version__", *_HOMES]

if TYPE_CHECKING:
    from lengthwise.check import check as check
    from lengthwise.errors import MachineStopped as MachineStopped
    from lengthwise.errors import WrongInput as WrongInput
    from lengthwise.limit.counts import evaluate_counts as evaluate_counts
    from lengthwise.limit.evaluate import evaluate as evaluate
    from lengthwise.limit.evaluate import evaluate_stream as evaluate_stream
    from lengthwise.limit.model import MLP as MLP
    from lengthwise.limit.model import Head as Head
    from lengthwise.limit.model import Layer as Layer
    from lengthwise.limit.model import LimitTransformer as LimitTransformer
    from lengthwise.limit.model import map_arrays as map_arrays
    from lengthwise.limit.onset import worst_onset as worst_onset
    from lengthwise.limit.quantities import complexity as complexity
    from lengthwise.limit.quantities import limit_error as limit_error
    from lengthwise.limit.quantities import logit_margin as logit_margin
    from lengthwise.limit.quantities import position_margin as position_margin
    from lengthwise.limit.quantities import round as round
    from lengthwise.limit.quantities import sensitivity as sensitivity
    from lengthwise.limit.storage import load as load
    from lengthwise.limit.storage import save as save
    from lengthwise.limit.worst_distance import worst_distance as worst_distance
    from lengthwise.strings import Counts as Counts
    from lengthwise.study.forecast import forecast as forecast
    from lengthwise.study.hardmax_onset import law_onset as law_onset
    from lengthwise.study.plan import Study as Study
    from lengthwise.study.reading import measure as measure
    from lengthwise.study.report import report as report
    from lengthwise.study.reproduce import reproduce as reproduce
    from lengthwise.study.sweep import sweep as sweep
    from lengthwise.tasks.attack import attack as attack
    from lengthwise.tasks.registry import task as task
    from lengthwise.theory.bound import bound as bound
    from lengthwise.theory.certify import certify as certify
    from lengthwise.theory.from_constants import Constants as Constants
    from lengthwise.theory.monte_carlo import sample_errors as sample_errors
    from lengthwise.theory.shorten import shorten as shorten
    from lengthwise.theory.shortest import shortest as shortest
    from lengthwise.theory.worst_case import worst_case as worst_case
    from lengthwise.verdict.compare import compare as compare
    from lengthwise.verdict.predict import predict as predict


def __getattr__(name: str) -> Any:
    """Loads a public name from the module it lives in."""
    if name in _HOMES:
        return getattr(importlib.import_module(f"lengthwise.{_HOMES[name]}"), name)
    try:
        return importlib.import_module(f"lengthwise.{name}")
    except ModuleNotFoundError:
        raise AttributeError(f"module 'lengthwise' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


sys.modules[__name__].__class__ = Package
