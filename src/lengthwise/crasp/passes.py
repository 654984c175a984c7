"""The optimisations of the compiler, each of which can be left out: what it does, and why it keeps the function.

merge   Sums of counts that are equal up to sign and common factors are one subject.  Sum >= c and -Sum >= 1 - c are
        opposite; a Sum whose coefficients share g is >= c exactly if Sum/g >= ceil(c/g).
join    Conditions on one subject are one set of its values: no unit computes what a set says (conditions.py).
split   A count that is only compared with zero may count more than once: count(P or Q) >= 1 exactly if
        count(P) + count(Q) >= 1. So `or` needs no unit, and factors are 1.
fuse    A sum is tested together with conditions known before, in one unit of the same layer (units.py, `fused`).
fold    The last `and` or `or` is read out instead of computed: all of k conditions hold exactly if the number of those
        that fail is below 1/2, which the unembedding can say.
share   One head averages for all sums of a layer, one head per offset looks up for all conditions: rows of one V.
drop    Symbols, or residues, that no weight tells apart share a coordinate; what nothing reads has none.
"""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Passes:
    """Which optimisations to make; all of them unless said otherwise."""

    merge: bool = True
    join: bool = True
    split: bool = True
    fuse: bool = True
    fold: bool = True
    share: bool = True
    drop: bool = True

    @property
    def names(self) -> list[str]:
        """The optimisations that are made."""
        return [one.name for one in fields(self) if getattr(self, one.name)]


ALL = Passes()
NONE = Passes(**{one.name: False for one in fields(Passes)})
