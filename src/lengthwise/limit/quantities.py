"""What a limit transformer weighs: margins, sensitivities, patterns, complexity. Each function is a formula."""

from lengthwise.limit.complexity import Complexity, FirstLayerHead, SecondLayerHead, complexity
from lengthwise.limit.distance import layer_one_error, limit_error
from lengthwise.limit.grid import Rounded, round_to_grid
from lengthwise.limit.grid import round_to_grid as round
from lengthwise.limit.limits import limit_rows
from lengthwise.limit.margins import (
    HardmaxThreshold,
    Margin,
    hardmax_threshold,
    logit_margin,
    logit_margins,
    naive_logit_margin,
    naive_table_margin,
    slots_margin,
    table_margin,
    threshold,
)
from lengthwise.limit.norms import operator_norm
from lengthwise.limit.patterns import Comparison, Pattern, equivalent, patterns, ranks
from lengthwise.limit.regimes import Regime, head_regime, position_margin, regimes, snap_positions
from lengthwise.limit.sensitivity import Sensitivity, ignorable, sensitivity
from lengthwise.limit.tables import LogitTable, Slots, logit_tables, slots, type_vectors

__all__ = [
    "Comparison",
    "Complexity",
    "FirstLayerHead",
    "HardmaxThreshold",
    "LogitTable",
    "Margin",
    "Pattern",
    "Regime",
    "Rounded",
    "SecondLayerHead",
    "Sensitivity",
    "Slots",
    "complexity",
    "equivalent",
    "hardmax_threshold",
    "head_regime",
    "ignorable",
    "layer_one_error",
    "limit_error",
    "limit_rows",
    "logit_margin",
    "logit_margins",
    "logit_tables",
    "naive_logit_margin",
    "naive_table_margin",
    "operator_norm",
    "patterns",
    "position_margin",
    "ranks",
    "regimes",
    "round",
    "round_to_grid",
    "sensitivity",
    "slots",
    "slots_margin",
    "snap_positions",
    "table_margin",
    "threshold",
    "type_vectors",
]
