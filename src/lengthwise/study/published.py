"""The studies behind the published figures, and behind two that nobody has published, by name and scale."""

from importlib import resources
from typing import Literal, get_args

from lengthwise.errors import WrongInput, nearest, shown
from lengthwise.study.plan import Study, differences

Scale = Literal["quick", "paper"]
SCALES: tuple[str, ...] = get_args(Scale)
FIGURES = {
    "figure1": "SimpleTask: the loss against the test length, its plateau, and the length that omega needs",
    "figure2": "ModPTask: the same, and plateaus against training length over period",
    "figure3": "ModPTask with period 5: where trained attention looks, on strings of length 80",
    "vocabulary": "SimpleTask: the length needed against the size of the vocabulary",
    "locality": "TailTask: the length needed against the locality of the target",
}


def published(name: str, scale: str = "quick") -> Study:
    """The study of one figure at one scale."""
    for given, known, what in ((name, list(FIGURES), "name"), (scale, list(SCALES), "scale")):
        if given not in known:
            near = " or ".join(nearest(given, known))
            raise WrongInput(f"one of {', '.join(known)}", shown(given), f"nearest: {near}", what)
    file = f"{name}-{scale}.toml"
    text = resources.files("lengthwise.study").joinpath("papers", file).read_text(encoding="utf-8")
    return Study.parse(text, file, name=f"{name}-{scale}")


def figure_of(study: Study) -> str | None:
    """The figure whose study this is, unchanged, whatever it is called; None for any other study."""
    every = ((name, published(name, scale)) for name in FIGURES for scale in SCALES)
    return next((name for name, known in every if not differences(study, known)), None)
