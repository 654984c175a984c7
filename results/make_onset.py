"""Small models under both attention rules, for the page of the hardmax onset: `python results/make_onset.py`.

Trains the studies in results/onset and keeps their models and `index.json` beside them. Minutes on a CPU; what is trained
is not trained again. `docs/make_onset.py` measures them.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import lengthwise as lw
from lengthwise.study.plan import Study
from lengthwise.study.runfile import Finished
from lengthwise.study.store import Store
from lengthwise.study.sweep import sweep
from lengthwise.tasks.registry import parsed

HERE = Path(__file__).parent / "onset"
STUDIES = ("simple", "modp")


def name_of(one: Finished) -> str:
    """What a member's model is called: simple-omega2-log-length-seed0."""
    name, given = parsed(one.run.task)
    told = "-".join(f"{key}{value:g}" for key, value in given.items() if key in ("omega", "period"))
    return f"{name}-{told}-{one.run.model.attention}-seed{one.run.seed}"


def entry(one: Finished) -> dict[str, Any]:
    """One member: how it was trained, and its losses."""
    return {
        "file": f"{name_of(one)}.safetensors",
        "task": one.run.task,
        "attention": one.run.model.attention,
        "longest": one.run.longest,
        "seed": one.run.seed,
        "id": one.run.id,
        "steps": one.steps,
        "ended": one.ended,
        "training_loss": one.training_loss,
        "loss": {str(length): loss for length, loss, _ in one.curve},
    }


def main() -> None:
    """Train what is not trained, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("studies/onset"), help="where the studies live")
    parser.add_argument("--results", type=Path, default=HERE, help="where models and index go")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    lines, made = [], {}
    for name in STUDIES:
        print(sweep(Study.load(HERE / f"{name}.toml"), given.work / name, resume=True, say=print), flush=True)
        store = Store(given.work / name)
        for one in store.finished().values():
            lw.save(store.model(one.run.id), given.results / f"{name_of(one)}.safetensors")
            lines.append(f"  {json.dumps(entry(one))}")
            made = {key: one.made[key] for key in ("device", "versions")}
    listed = ",\n".join(lines)
    text = f'{{\n "made": {json.dumps(made)},\n "members": [\n{listed}\n ]\n}}\n'
    (given.results / "index.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
