"""Small changes of strings, and random strings to start from: what a search over strings is made of."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

String = Int[np.ndarray, " _"]
Edit = Callable[[np.random.Generator, String, int], String]
KINDS = 5


def substituted(generator: np.random.Generator, string: String, symbols: int) -> String:
    """One token changed."""
    new = string.copy()
    new[generator.integers(len(string))] = generator.integers(symbols)
    return new


def substituted_near_the_end(generator: np.random.Generator, string: String, symbols: int) -> String:
    """One of the last four tokens changed: the query is there."""
    new = string.copy()
    new[-1 - generator.integers(min(4, len(string)))] = generator.integers(symbols)
    return new


def filled(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window filled with one token."""
    new, window = string.copy(), _window(generator, len(string))
    new[window] = generator.integers(symbols)
    return new


def redrawn(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window filled with a random word, repeated: 1 to 4 tokens long."""
    new, window = string.copy(), _window(generator, len(string))
    word = generator.integers(0, symbols, generator.integers(1, 5))
    new[window] = np.resize(word, window.stop - window.start)
    return new


def swapped(generator: np.random.Generator, string: String, symbols: int) -> String:
    """Two tokens exchanged."""
    new, (i, j) = string.copy(), generator.integers(0, len(string), 2)
    new[i], new[j] = string[j], string[i]
    return new


def copied(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window copied over another place."""
    new, window = string.copy(), _window(generator, len(string))
    size = window.stop - window.start
    place = int(generator.integers(0, len(string) - size + 1))
    new[place : place + size] = string[window]
    return new


def shifted(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window turned by some places; the whole string in half of the cases."""
    new = string.copy()
    window = slice(0, len(string)) if generator.random() < 0.5 else _window(generator, len(string))
    size = window.stop - window.start
    new[window] = np.roll(string[window], int(generator.integers(-min(size, 8), min(size, 8) + 1)))
    return new


def reversed_window(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window turned around."""
    new, window = string.copy(), _window(generator, len(string))
    new[window] = string[window][::-1]
    return new


def sorted_window(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window sorted, up or down: equal tokens together."""
    new, window = string.copy(), _window(generator, len(string))
    new[window] = np.sort(string[window])[:: 1 if generator.random() < 0.5 else -1]
    return new


def inserted(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window doubled, or a token put in."""
    place = int(generator.integers(0, len(string) + 1))
    if generator.random() < 0.5:
        return np.insert(string, place, generator.integers(symbols))
    return np.insert(string, place, string[_window(generator, len(string))])


def deleted(generator: np.random.Generator, string: String, symbols: int) -> String:
    """A window, or a token, taken out."""
    if generator.random() < 0.5:
        return np.delete(string, generator.integers(len(string)))
    return np.delete(string, _window(generator, len(string)))


SAME_LENGTH: tuple[Edit, ...] = (
    substituted, substituted_near_the_end, filled, redrawn, swapped, copied, shifted, reversed_window, sorted_window,
)  # fmt: skip
OTHER_LENGTH: tuple[Edit, ...] = (inserted, deleted)


def crossed(generator: np.random.Generator, first: String, second: String) -> String:
    """The beginning of one string and the end of another, both cut at the same distance from the end."""
    cut = int(generator.integers(0, min(len(first), len(second)) + 1))
    return np.concatenate([first[: len(first) - cut], second[len(second) - cut :]])


def random_string(generator: np.random.Generator, length: int, symbols: int) -> String:
    """A string of one of five kinds.

    Fair tokens; tokens of one random law; a repeated word; long runs of one token; a chain with random transitions.
    """
    kind = int(generator.integers(KINDS))
    if kind == 0:
        return generator.integers(0, symbols, length)
    if kind == 1:
        return generator.choice(symbols, length, p=generator.dirichlet(np.full(symbols, 0.5)))
    if kind == 2:
        return np.resize(generator.integers(0, symbols, generator.integers(1, 7)), length)
    if kind == 3:
        runs = generator.integers(1, max(2, length // 3), length)
        return np.repeat(generator.integers(0, symbols, length), runs)[:length]
    steps = np.cumsum(generator.dirichlet(np.full(symbols, 0.5), symbols), axis=1)
    string, token = np.empty(length, dtype=np.int64), int(generator.integers(symbols))
    for place, point in enumerate(generator.random(length)):
        string[place] = token = min(int(np.searchsorted(steps[token], point)), symbols - 1)
    return string


def _window(generator: np.random.Generator, length: int) -> slice:
    """A window: its length log-uniform."""
    size = int(np.exp(generator.random() * np.log(length + 1)))
    start = int(generator.integers(0, length - min(size, length) + 1))
    return slice(start, start + min(size, length))
