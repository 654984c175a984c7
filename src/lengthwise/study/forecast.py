"""How long must training sequences be for this task? Measured within a time budget, and checked on what was held out.

Rounds of members are trained until the answer is narrow or the time is up. What a round trains follows from the results
before it alone; the clock only decides after which round to stop. Every round is a study directory of its own.
"""

import os
import re
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lengthwise.config import Model, Testing, Training, number, whole
from lengthwise.errors import WrongInput
from lengthwise.study.answer import Forecast, Found, found
from lengthwise.study.bracket import Round, beyond, line, next_round
from lengthwise.study.curves import Member, Metric, Series, member
from lengthwise.study.guarantee import Theory, theory_of
from lengthwise.study.held_out import SEEDS, HeldOut, checked, held_out_lengths
from lengthwise.study.machine import Trainer, ensemble_on
from lengthwise.study.measurement import metric_of
from lengthwise.study.plan import Study
from lengthwise.study.store import Say, Store
from lengthwise.study.sweep import sweep
from lengthwise.tasks import registry
from lengthwise.tasks.protocol import RegressionTask

BATCH, STEPS, SAMPLES = 256, 2_000, 4_096
DECIDING = (12, 24, 48, 96, 192, 384, 1_000, 10_000, 100_000, 1_000_000)  # test lengths that decide
SEEDS_APART = 1_000_000  # of one --seed to the next
SEEDS_OF_A_ROUND = 100  # every round has seeds of its own
NEW_SEEDS = 500_000  # where the seeds of checks begin
LONGEST_SHORTEST = 10_000  # strings of a task have at least so many tokens; what is tested must be longer
CHECKS = 3  # a check that fails joins the evidence, and the next answer is checked by others


def forecast(
    target: str | RegressionTask,
    *,
    loss: float | None = None,
    error: float | None = None,
    budget: float = 60.0,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    steps: int = STEPS,
    batch: int = BATCH,
    adversarial: float = 0.0,
    device: str = "auto",
    progress: Callable[[Any], None] | None = None,
    say: Say | None = None,
    should_stop: Callable[[], bool] | None = None,
    trainer: Trainer | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Forecast:
    """The training length from which on a task's models keep below a loss, or an error, at every longer length.

    budget: seconds after which nothing more begins; the first round is always finished, so is what has begun.
    out: a folder with one study a round, where the same call continues; without it nothing is kept.
    adversarial: the share of each batch that is drawn at the corners, see `config.Training`.
    """
    metric, threshold = metric_of(loss, error)
    number(budget, "budget", positive=True)
    whole(seed, "seed", least=0)
    task = registry.trainable(registry.task(target)) if isinstance(target, str) else target
    if task.shortest > LONGEST_SHORTEST:
        wanted = f"a task with strings of at most {LONGEST_SHORTEST} tokens"
        raise WrongInput(wanted, f"at least {task.shortest}", "choose smaller parameters", f"task {target}")
    training = Training(batch=batch, steps=steps, chunk=min(100, steps), adversarial=adversarial)
    using = trainer or ensemble_on(device)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()) if out is None else out)
        trials = Trials(task, training, SEEDS_APART * seed, folder, using, clock, progress, say or _nobody, should_stop)
        return _forecast(trials, metric, threshold, budget, seed, None if out is None else str(folder))


def folder_name(target: str) -> str:
    """The folder that the command writes a forecast of a task to, unless told otherwise."""
    return "forecast-" + re.sub(r"[^A-Za-z0-9.]+", "-", registry.describe(registry.task(target)))


def model_for(task: RegressionTask) -> Model:
    """As many heads as a known solution has; plain attention, unless the task reads places counted from the end.

    With plain attention such a place gets less and less weight as the string grows, so no training would do.
    """
    offsets = task.locality + 1 if task.locality else 0
    heads = len(task.construction().layers[0].heads)
    return Model(heads=heads, offsets=offsets, attention="log-length" if task.locality else "plain")


@dataclass
class Trials:
    """Trains rounds, each in its own folder, and times them. slowest: seconds of a round without its compilation."""

    task: RegressionTask
    training: Training
    first_seed: int
    folder: Path
    using: Trainer
    clock: Callable[[], float]
    progress: Callable[[Any], None] | None
    say: Say
    should_stop: Callable[[], bool] | None
    slowest: float = 0.0
    stores: dict[str, Store] = field(default_factory=dict)  # of each run

    def members(self, planned: Round, seeds_from: int, tests: tuple[int, ...]) -> list[Member]:
        """The trained and tested members of a round; what its folder holds already is not trained again."""
        first = self.first_seed + seeds_from
        words = "-".join(map(str, planned.lengths))
        study = Study(
            name=f"lengths-{words}-seeds-{first}-{first + planned.seeds - 1}",
            task=registry.describe(self.task),
            lengths=planned.lengths,
            seeds=planned.seeds,
            first_seed=first,
            model=model_for(self.task),
            training=self.training,
            testing=Testing(lengths=tests, samples=SAMPLES),
        )
        ticks: list[float] = []

        def progress(told: Any) -> None:
            ticks.append(self.clock())
            if self.progress is not None:
                self.progress(told)

        swept = sweep(
            study,
            self.folder / study.name,
            resume=True,
            progress=progress,
            say=self.say,
            should_stop=self.should_stop,
            trainer=self.using,
        )
        if not swept.complete:
            raise KeyboardInterrupt
        if len(ticks) > 1:  # the first tick comes after the compilation and one chunk
            self.slowest = max(self.slowest, (self.clock() - ticks[0]) * len(ticks) / (len(ticks) - 1))
        store = Store(swept.directory)
        trained = [member(one) for one in store.finished(study.runs()).values()]
        self.stores |= {one.run: store for one in trained}
        return trained

    def deciding(self) -> tuple[int, ...]:
        """The test lengths that decide for this task."""
        return tuple(length for length in DECIDING if length >= self.task.shortest)


@dataclass
class Evidence:
    """What is known: members by rounds; `tests` are the test lengths that decide."""

    metric: Metric
    threshold: float
    tests: tuple[int, ...]
    members: list[Member] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    def known(self) -> Series:
        """The members by training length."""
        return line(self.members, self.metric, self.tests)


def _forecast(
    trials: Trials, metric: Metric, threshold: float, budget: float, seed: int, directory: str | None
) -> Forecast:
    """Rounds until the answer is narrow or the time is up, then the check; a check that fails is more evidence."""
    begun = trials.clock()
    end = begun + budget
    evidence = Evidence(metric, threshold, trials.deciding())
    failed: list[HeldOut] = []
    while True:
        held_out = None
        exhausted = _gather(trials, evidence, end)
        answer = found(evidence.known(), threshold, metric)
        if answer.length is None or trials.clock() >= end:
            break
        held_out, members = _checked(trials, evidence, answer, seed, len(failed))
        if held_out.holds or len(failed) + 1 == CHECKS or trials.clock() + trials.slowest > end:
            break
        trials.say(held_out.sentence)
        failed.append(held_out)
        evidence.members += members
    theory = _theory(trials, evidence, answer)
    trials.say(theory.sentence)
    no_check = "not checked, the budget was spent" if answer.length is not None else "there is no length to check"
    return Forecast(
        task=registry.describe(trials.task),
        metric=metric,
        threshold=threshold,
        found=answer,
        held_out=held_out,
        held_out_reason="" if held_out else no_check,
        failed_checks=tuple(failed),
        theory=theory,
        known=evidence.known(),
        rounds=tuple(evidence.rounds),
        model=model_for(trials.task),
        training=trials.training,
        seed=seed,
        budget=budget,
        budget_spent=round(trials.clock() - begun, 3),
        exhausted=exhausted,
        device=trials.using.device,
        directory=directory,
    )


def _gather(trials: Trials, evidence: Evidence, end: float) -> bool:
    """Trains rounds as long as they help, and a round and the check fit into the time; whether time was missing."""
    while True:
        known = evidence.known() if evidence.members else None
        planned = next_round(known, evidence.threshold, evidence.metric, trials.task.shortest)
        if planned is None:
            return False
        if known is not None and trials.clock() + 2 * trials.slowest > end:
            return True
        number = len(evidence.rounds)
        trials.say(f"round {number + 1}: {planned}")
        evidence.members += trials.members(planned, SEEDS_OF_A_ROUND * number, evidence.tests)
        evidence.rounds.append(planned)
        now = evidence.known()
        medians = ", ".join(f"{n}: {value:.2g}" for n, value in zip(now.lengths, now.medians, strict=True))
        trials.say(f"median {evidence.metric} by training length: {medians}")


def _theory(trials: Trials, evidence: Evidence, answer: Found) -> Theory:
    """The theorem on the weights of the middle seed, of the shortest training length that reaches the answer."""
    known = evidence.known()
    length = next((n for n in known.lengths if answer.length is not None and n >= answer.length), known.lengths[-1])
    group = sorted(known.members[length], key=lambda one: beyond(one, evidence.metric, evidence.tests))
    one = group[(len(group) - 1) // 2]
    return theory_of(one, trials.stores[one.run].model(one.run), evidence.metric, evidence.threshold)


def _checked(trials: Trials, evidence: Evidence, answer: Found, seed: int, number: int) -> tuple[HeldOut, list[Member]]:
    """Trains new seeds at the answer and at a length that is safe, and tests them at lengths that were not used."""
    assert answer.length is not None
    lengths = held_out_lengths(answer.safe, evidence.tests, seed, number)
    where = tuple(sorted({answer.length, answer.safe}))
    planned = Round(where, 2 * SEEDS // len(where))  # as many members as a round: what is compiled serves again
    trials.say(f"check {number + 1}, new seeds: {planned}")
    members = trials.members(planned, NEW_SEEDS + SEEDS_OF_A_ROUND * number, evidence.tests + lengths)
    return checked(members, answer.length, answer.safe, lengths, evidence.metric, evidence.threshold), members


def _nobody(message: str) -> None:
    """Hears nothing."""
