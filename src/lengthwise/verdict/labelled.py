"""Labelled words: what a learner sees of a function, all words up to a length or the lines of a file.

A file of labelled words has one word a line, a tab, and its label:

    ab      1           1, true, yes, +  the word is in the language
    ba      0           0, false, no, -  it is not
            1           nothing before the tab: the empty word
    # ...               a comment; lines without any text are left out too

If some word of the file has a blank inside, every word is a list of symbols with blanks between them; if none has, each
character is a symbol. The alphabet is the symbols that occur.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lengthwise.crasp.syntax import check_alphabet
from lengthwise.errors import WrongInput, shown
from lengthwise.verdict.machine import Machine, Output, State, Word

MOST_WORDS = 6_000
YES = frozenset(["1", "true", "yes", "+"])
NO = frozenset(["0", "false", "no", "-"])


@dataclass(frozen=True)
class Labelled:
    """Words as indices into the alphabet, each once, and what the function says of each.

    complete_to   the greatest n such that all words up to length n are among them; -1 where the empty word is missing
    source        where they are from, in words
    """

    alphabet: tuple[str, ...]
    words: tuple[Word, ...]
    labels: tuple[Output, ...]
    complete_to: int
    source: str

    @property
    def longest(self) -> int:
        """The length of the longest word."""
        return max(map(len, self.words), default=0)

    @property
    def one_label(self) -> str | None:
        """A sentence for words that all have one label, which then say little; else None."""
        seen = set(self.labels)
        return f"all {len(self.words)} words are labelled {seen.pop()}" if len(seen) == 1 else None

    def text(self, word: Word) -> str:
        """A word as people write it."""
        return spelt(word, self.alphabet)

    def fields(self) -> dict[str, Any]:
        """The sample in words."""
        return {
            "alphabet": list(self.alphabet),
            "words": len(self.words),
            "longest": self.longest,
            "complete_to": self.complete_to if self.complete_to >= 0 else None,
            "source": self.source,
            "one_label": self.one_label,
        }


def spelt(word: Word, alphabet: tuple[str, ...]) -> str:
    """A word as text, with blanks where symbols are longer than one character."""
    return ("" if all(len(symbol) == 1 for symbol in alphabet) else " ").join(alphabet[symbol] for symbol in word)


def labelled_words(machine: Machine, longest: int | None = None, most_words: int = MOST_WORDS) -> Labelled:
    """All words up to a length with a function's value on each, shortest first; by default as long as fit the budget.

    The longest length is asked for, or is the largest for which there are at most `most_words` words.
    """
    if longest is None:
        longest = length_within(len(machine.alphabet), most_words)
    if longest < 0:
        raise WrongInput("a length of at least 0", str(longest), "0 is the empty word alone", "longest")
    words: list[Word] = []
    labels: list[Output] = []
    for word, state in _level_by_level(machine, longest):
        words.append(word)
        labels.append(machine.output(state))
    return Labelled(machine.alphabet, tuple(words), tuple(labels), longest, f"all words up to length {longest}")


def length_within(symbols: int, most_words: int = MOST_WORDS) -> int:
    """The greatest n with 1 + k + k^2 + ... + k^n <= most_words, for k symbols; at least 0, and 24 for one symbol."""
    if symbols == 1:
        return max(0, min(most_words - 1, 24))
    total, power, length = 1, symbols, 0
    while total + power <= most_words:
        total, power, length = total + power, power * symbols, length + 1
    return length


def _level_by_level(machine: Machine, longest: int) -> Iterator[tuple[Word, State]]:
    level: list[tuple[Word, State]] = [((), machine.start())]
    for length in range(longest + 1):
        yield from level
        if length < longest:
            symbols = range(len(machine.alphabet))
            level = [((*word, symbol), machine.step(state, symbol)) for word, state in level for symbol in symbols]


def read_labelled(text: str, where: str) -> Labelled:
    """The labelled words of a file's text; errors name the line of the file that `where` names."""
    lines: dict[tuple[str, ...], tuple[int, bool]] = {}
    found = list(_lines(text, where))
    if not found:
        raise WrongInput("a line word<TAB>label", "none", "write a word, a tab, and 1 or 0 on each line", where)
    blanks = any(len(word.split()) > 1 for _, word, _ in found)
    for number, word, label in found:
        symbols = tuple(word.split()) if blanks else tuple(word)
        if symbols in lines and lines[symbols][1] != label:
            first = lines[symbols][0]
            got = f"{shown(word)} labelled {_said(not label)} on line {first} and {_said(label)} on line {number}"
            raise WrongInput("one label a word", got, "correct one of the two lines", where)
        lines.setdefault(symbols, (number, label))
    symbols_seen = sorted({symbol for word in lines for symbol in word})
    if not symbols_seen:
        raise WrongInput("a word with a symbol", "the empty word alone", "add longer words", where)
    try:
        alphabet = check_alphabet(symbols_seen)
    except WrongInput as error:
        raise error.at(where) from None
    index = {symbol: place for place, symbol in enumerate(alphabet)}
    labels = {tuple(index[symbol] for symbol in word): label for word, (_, label) in lines.items()}
    words = tuple(sorted(labels, key=lambda word: (len(word), word)))
    return Labelled(alphabet, words, tuple(labels[word] for word in words), _complete(words, len(alphabet)), where)


def _lines(text: str, where: str) -> Iterator[tuple[int, str, bool]]:
    """Line number, word and label of every line that has them."""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        here = f"{where}, line {number}"
        word, tab, label = line.rpartition("\t")
        if not tab:
            raise WrongInput("word<TAB>label", shown(line), "put a tab between the word and its label", here)
        if "\t" in word:
            raise WrongInput("one tab a line", shown(line), "separate the symbols of a word by blanks", here)
        said = label.strip().lower()
        if said not in YES | NO:
            raise WrongInput(
                "a label 1 or 0, true or false, yes or no, + or -", shown(label), "write one of these", here
            )
        yield number, word.strip(), said in YES


def _said(label: bool) -> str:
    return "1" if label else "0"


def _complete(words: tuple[Word, ...], symbols: int) -> int:
    """The greatest n with all words up to length n among these; they are different, so it is enough to count them."""
    counts: dict[int, int] = {}
    for word in words:
        counts[len(word)] = counts.get(len(word), 0) + 1
    length = -1
    while counts.get(length + 1, 0) == symbols ** (length + 1):
        length += 1
    return length
