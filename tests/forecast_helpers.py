"""A trainer whose curves are known, and a clock that it moves."""

import numpy as np

from lengthwise.study.forecast import NEW_SEEDS
from lengthwise.study.machine import Trainer
from study_helpers import Progress, result


class Known:
    """Members of loss threshold * (needed / N)^power at every length T > N, times noise of their own; below, a large one.

    noise: standard deviation of the logarithm. peak: how often the loss at T = 48 is that far from the end. surprise:
    factor at test lengths that nothing but a check uses; bad_luck: factor for the seeds of checks. training: the loss
    that training ends with. seconds: what a round takes on the clock.
    """

    def __init__(self, needed, threshold=0.01, power=2.5, noise=0.0, peak=1.0, surprise=1.0, bad_luck=1.0, **options):
        self.needed, self.threshold, self.power, self.noise = needed, threshold, power, noise
        self.peak, self.surprise, self.bad_luck = peak, surprise, bad_luck
        self.training, self.seconds = options.get("training", 1e-6), options.get("seconds", 1.0)
        self.stop_after = options.get("stop_after", 10**9)
        self.now, self.trained = 0.0, []

    def clock(self):
        return self.now

    def curve(self, run, tests):
        generator = np.random.default_rng([int(run.id, 16), 7])
        base = self.threshold * (self.needed / run.longest) ** self.power * np.exp(self.noise * generator.normal())
        base *= self.bad_luck if run.seed % 1_000_000 >= NEW_SEEDS else 1.0
        curve = []
        for length in run.testing.lengths:
            factor = self.peak if length == 48 else 1.0 if length in tests else self.surprise
            loss = base * factor if length > run.longest else 50 * self.threshold  # no forecast is about these
            curve.append((length, float(loss), float(9 * loss)))
        return curve

    def trainer(self, tests):
        def train(runs, *, finished, checkpoints=None, progress=None, should_stop=None, say=None):
            for done, run in enumerate(runs):
                if should_stop is not None and should_stop():
                    return
                self.now += self.seconds / len(runs)
                progress(Progress(done, len(runs), 1.0, 1.0))
                one = result(run, self.curve(run, tests))
                self.trained.append(run)
                finished(run, type(one)(**{**vars(one), "training_loss": self.training}))

        return Trainer(train, "known", lambda run: None)
