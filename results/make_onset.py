"""Small models under both attention rules, for the page of the hardmax onset: `python results/make_onset.py`.

Trains the studies in results/onset and keeps their models and `index.json` beside them. Minutes on a CPU; what is trained
is not trained again. `docs/make_onset.py` measures them.
"""

import argparse
from pathlib import Path

from tables import index_text, record_of

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


def main() -> None:
    """Train what is not trained, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("studies/onset"), help="where the studies live")
    parser.add_argument("--results", type=Path, default=HERE, help="where models and index go")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    entries, made = [], {}
    for name in STUDIES:
        print(sweep(Study.load(HERE / f"{name}.toml"), given.work / name, resume=True, say=print), flush=True)
        store = Store(given.work / name)
        for one in store.finished().values():
            lw.save(store.model(one.run.id), given.results / f"{name_of(one)}.safetensors")
            entries.append(record_of(one, name_of(one)))
            made = {key: one.made[key] for key in ("device", "versions")}
    (given.results / "index.json").write_text(index_text(entries, made), encoding="utf-8")


if __name__ == "__main__":
    main()
