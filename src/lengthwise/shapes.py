"""Shapes of arrays in annotations: jaxtyping's, where something checks them.

Importing jaxtyping takes a third of the time of a short command, and only type checkers and the tests, which load it
first, read what it makes. Elsewhere an annotation says nothing at run time.
"""

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool as Bool
    from jaxtyping import Float as Float
    from jaxtyping import Int as Int
    from jaxtyping import Real as Real
else:

    class Unchecked:
        """Any array: Int[np.ndarray, "rows"] and its like."""

        def __class_getitem__(cls, _: object) -> Any:
            """What stands in the brackets is for people."""
            return Any

    Bool = Float = Int = Real = Unchecked
