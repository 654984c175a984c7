"""From a program to a limit transformer that computes the same at every position of every word.

The way there, one file a step:

    operations.py        the program in normal form
    translate.py         conditions: each a set of values of one subject, or several such together (conditions.py)
    schedule.py          the layer where each can first be read
    build.py, units.py   rows of values and units, each with the proof that it decides what it should
    assemble.py          matrices, with named coordinates
    ledger.py            the length up to which the weights are right in floating point

Source: Huang et al. 2025, theorem 9. Ours: the construction, its optimisations (passes.py) and the ledger.
"""

from dataclasses import dataclass
from typing import Any

from lengthwise.crasp.assemble import assemble
from lengthwise.crasp.build import plan
from lengthwise.crasp.describe import Words
from lengthwise.crasp.fragment import fragment
from lengthwise.crasp.ledger import Ledger
from lengthwise.crasp.operations import Operations, operations
from lengthwise.crasp.passes import ALL, NONE, Passes
from lengthwise.crasp.syntax import Program
from lengthwise.crasp.translate import Translation
from lengthwise.errors import WrongInput
from lengthwise.limit.model import LimitTransformer, named_arrays

BEGIN = ("$", "^", "⊢", "<s>")


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled program: its model reads the token `begin`, then a word.

    outputs   names of the model's outputs in order; each is >= 1/2 where the program's is true, <= -1/2 where it is false
    left_out  outputs that are counts, which no output of fixed weights can say: they grow with the length
    """

    model: LimitTransformer
    program: Program
    begin: str
    outputs: tuple[str, ...]
    left_out: tuple[str, ...]
    ledger: Ledger
    passes: Passes
    offset_invariant: bool

    @property
    def kind(self) -> str:
        """What the program looks at besides symbols and counts: plain, periodic, local, or both."""
        return fragment(self.program).kind

    @property
    def heads(self) -> int:
        """The largest number of heads of a layer."""
        return max(len(layer.heads) for layer in self.model.layers)

    @property
    def units(self) -> int:
        """The largest number of units of a layer."""
        return max(len(layer.mlp.bias) if layer.mlp is not None else 0 for layer in self.model.layers)

    def to_json(self) -> dict[str, Any]:
        """The record in plain values, without the weights."""
        return {
            "program": self.program.name,
            "kind": self.kind,
            "begin": self.begin,
            "outputs": list(self.outputs),
            "left_out": list(self.left_out),
            "layers": self.model.depth,
            "heads": self.heads,
            "width": self.model.width,
            "units": self.units,
            "weights": sum(int(array.size) for array in named_arrays(self.model).values()),
            "period": self.model.period,
            "locality": self.model.locality,
            "offset_invariant": self.offset_invariant,
            "passes": self.passes.names,
            "ledger": self.ledger.to_json(),
        }

    def __str__(self) -> str:
        """The sizes in a sentence, then the ledger."""
        model = self.model
        start = ", at any first position" if self.offset_invariant else ""
        sizes = f"{_number(model.depth, 'layer')}, {_number(self.heads, 'head')}, width {model.width}"
        reads = f"reads {self.begin} and then a word{start}; outputs {' '.join(self.outputs)}, positive where true"
        return f"{self.program.name} ({self.kind}): {sizes}, {_number(self.units, 'unit')}; {reads}\n\n{self.ledger}"


def compile(program: Program, offset_invariant: bool = False, passes: Passes = ALL) -> Compiled:
    """The program as a model of log-length attention whose weights do not depend on the length, with its ledger.

    offset_invariant: the string's first position may be any, as in training with random offsets; the model then reads
    the residue of the begin symbol. passes: the optimisations to make, `passes.NONE` for none.
    """
    form = operations(program)
    roots = {**({} if form.accept is None else {"accept": form.accept}), **form.outputs}
    if not roots:
        wanted, got = "a program that accepts or has a Boolean output", "one with neither"
        raise WrongInput(wanted, got, "add accept P or output x := P", program.name)
    try:
        return _compile(program, form, roots, offset_invariant, passes)
    except WrongInput as error:
        raise error.at(program.name) from None


def _compile(
    program: Program, form: Operations, roots: dict[str, int], offset_invariant: bool, passes: Passes
) -> Compiled:
    translation = Translation.of(form, roots.values(), passes, offset_invariant)
    schedule = translation.schedule
    begin = begin_symbol(form.alphabet)
    words = Words((begin, *form.alphabet))
    outputs = {name: translation.conditions[index] for name, index in roots.items()}
    planned = plan(schedule, words, outputs, passes.fold, passes.drop)
    return Compiled(
        model=assemble(planned, words, ("is", schedule.subjects.symbol(), 0), passes.share),
        program=program,
        begin=begin,
        outputs=tuple(outputs),
        left_out=tuple(name for name in form.shown if name in form.quantities),
        ledger=Ledger(tuple(planned.thresholds()), planned.sharpness),
        passes=passes,
        offset_invariant=offset_invariant,
    )


def begin_symbol(alphabet: tuple[str, ...]) -> str:
    """The token that stands before every word: the first of $ ^ ⊢ <s> <s1> <s2> ... that is no symbol."""
    return next(one for one in (*BEGIN, *(f"<s{i}>" for i in range(1, len(alphabet) + 2))) if one not in alphabet)


def _number(count: int, name: str) -> str:
    return f"{count} {name}" + ("" if count == 1 else "s")


__all__ = ["ALL", "NONE", "Compiled", "Passes", "begin_symbol", "compile"]
