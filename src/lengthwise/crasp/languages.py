"""Languages by their automata: complement, products, the first difference, what may come next, words, components."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence

from lengthwise.crasp.automata import MOST_STATES, Automaton, minimal
from lengthwise.errors import WrongInput, shown


def complement(machine: Automaton) -> Automaton:
    """The automaton of all other words."""
    return Automaton(
        machine.alphabet, machine.table, machine.start, frozenset(range(machine.states)) - machine.accepting
    )


def combined(first: Automaton, second: Automaton, rule: Callable[[bool, bool], bool]) -> Automaton:
    """The minimal automaton of the words w with rule(w in first, w in second)."""
    second = over(second, first.alphabet)
    ahead = [(first.start, second.start)]
    numbers, table = {ahead[0]: 0}, list[tuple[int, ...]]()
    for one, two in ahead:
        row = []
        for pair in zip(first.table[one], second.table[two], strict=True):
            if pair not in numbers:
                if len(numbers) >= MOST_STATES**2:
                    raise WrongInput(f"a product of at most {MOST_STATES**2} states", "more", "use smaller automata")
                numbers[pair] = len(numbers)
                ahead.append(pair)
            row.append(numbers[pair])
        table.append(tuple(row))
    good = {n for (one, two), n in numbers.items() if rule(one in first.accepting, two in second.accepting)}
    return minimal(Automaton(first.alphabet, tuple(table), 0, frozenset(good)))


def over(machine: Automaton, alphabet: tuple[str, ...]) -> Automaton:
    """The same automaton with its symbols in another order."""
    if set(alphabet) != set(machine.alphabet):
        wanted = "two automata over one alphabet"
        raise WrongInput(wanted, f"{shown(alphabet)} and {shown(machine.alphabet)}", "name the alphabet for both")
    order = [machine.alphabet.index(symbol) for symbol in alphabet]
    table = tuple(tuple(row[index] for index in order) for row in machine.table)
    return Automaton(alphabet, table, machine.start, machine.accepting)


def difference(first: Automaton, second: Automaton) -> tuple[str, ...] | None:
    """A shortest word that one of the two accepts and the other does not; None where they are equal.

    Pairs of states that a path of united pairs already joins are skipped. That loses no shortest word: of a pair united
    at depth d let m be the length of its shortest distinguishing word, and l the least d + m over all pairs. If a pair
    with d + m = l were skipped, the chain that joins it consists of pairs of depth at most d, and the word
    distinguishes two neighbours of the chain, so one of them has depth + rest <= l.

    Source: Hopcroft and Karp 1971, breadth first. The result has at most n + n' - 2 symbols for n and n' states.
    """
    second = over(second, first.alphabet)
    parent = list(range(first.states + second.states))
    if (first.start in first.accepting) != (second.start in second.accepting):
        return ()
    start = (first.start, second.start)
    parent[_root(parent, start[1] + first.states)] = _root(parent, start[0])
    came: list[tuple[tuple[int, int], int, int]] = [(start, -1, -1)]  # pair, symbol before it, index of the pair before
    for index, ((one, two), _, _) in enumerate(came):
        for symbol, (p, q) in enumerate(zip(first.table[one], second.table[two], strict=True)):
            if (p in first.accepting) != (q in second.accepting):
                word = [symbol]
                while came[index][2] >= 0:
                    word.append(came[index][1])
                    index = came[index][2]
                return tuple(first.alphabet[s] for s in reversed(word))
            one_root, other_root = _root(parent, p), _root(parent, q + first.states)
            if one_root != other_root:
                parent[other_root] = one_root
                came.append(((p, q), symbol, index))
    return None


def _root(parent: list[int], state: int) -> int:
    while parent[state] != state:
        parent[state] = parent[parent[state]]
        state = parent[state]
    return state


def equivalent(first: Automaton, second: Automaton) -> bool:
    """Whether two automata accept the same words."""
    return difference(first, second) is None


def live_states(machine: Automaton) -> frozenset[int]:
    """The states from which some word is accepted."""
    before: list[list[int]] = [[] for _ in range(machine.states)]
    for state, row in enumerate(machine.table):
        for target in row:
            before[target].append(state)
    found = set(machine.accepting)
    ahead = list(found)
    while ahead:
        for state in before[ahead.pop()]:
            if state not in found:
                found.add(state)
                ahead.append(state)
    return frozenset(found)


def next_symbols(machine: Automaton) -> list[tuple[frozenset[str], bool]]:
    """For each state what may come next: the symbols after which some word is still accepted, and whether it may end."""
    live = live_states(machine)
    return [
        (
            frozenset(symbol for symbol, target in zip(machine.alphabet, row, strict=True) if target in live),
            state in machine.accepting,
        )
        for state, row in enumerate(machine.table)
    ]


def words(machine: Automaton, longest: int) -> Iterator[tuple[str, ...]]:
    """The accepted words of at most a length, shorter ones first, then in the order of the alphabet."""
    live = live_states(machine)
    level: deque[tuple[tuple[str, ...], int]] = deque([((), machine.start)] if machine.start in live else [])
    while level:
        word, state = level.popleft()
        if state in machine.accepting:
            yield word
        if len(word) < longest:
            for symbol, target in zip(machine.alphabet, machine.table[state], strict=True):
                if target in live:
                    level.append(((*word, symbol), target))


def shortest_words(machine: Automaton) -> list[tuple[int, ...]]:
    """For each state that can be reached, the first shortest word that leads to it, as indices."""
    found: dict[int, tuple[int, ...]] = {machine.start: ()}
    for state in (ahead := [machine.start]):
        for symbol, target in enumerate(machine.table[state]):
            if target not in found:
                found[target] = (*found[state], symbol)
                ahead.append(target)
    return [found.get(state, ()) for state in range(machine.states)]


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components of a graph, each before those it leads to.

    Source: Tarjan 1972, without recursion.
    """
    count = len(successors)
    order, low = [-1] * count, [0] * count
    on_stack, stack = [False] * count, list[int]()
    found: list[list[int]] = []
    clock = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        path = [(root, 0)]
        while path:
            node, edge = path.pop()
            if edge == 0:
                order[node] = low[node] = clock
                clock += 1
                stack.append(node)
                on_stack[node] = True
            elif on_stack[successors[node][edge - 1]]:
                low[node] = min(low[node], low[successors[node][edge - 1]])
            if edge < len(successors[node]):
                path.append((node, edge + 1))
                if order[successors[node][edge]] < 0:
                    path.append((successors[node][edge], 0))
            elif low[node] == order[node]:
                component = list[int]()
                while not component or component[-1] != node:
                    component.append(stack.pop())
                    on_stack[component[-1]] = False
                found.append(sorted(component))
    return found[::-1]
