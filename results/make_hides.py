"""What a loss of 1e-5 hides: eleven small models and their adversarial twins, `python results/make_hides.py`.

Trains the studies in results/hides (five SimpleTasks, the five ModPTasks of periods 2 and 3, a SimpleTask of four tokens; each on its own law, and
once more with a quarter of each batch drawn at the corners), looks for their worst strings among tables of counts, and
keeps the models, `index.json` and `table.md` beside the studies. Minutes on a CPU; what is trained is not trained again.
"""

import argparse
from pathlib import Path
from typing import Any

from count_scan import scan
from tables import cell, index_text, record_of

import lengthwise as lw
from lengthwise.study.plan import Study
from lengthwise.study.runfile import Finished
from lengthwise.study.store import Store
from lengthwise.study.sweep import sweep
from lengthwise.tasks.registry import parsed

HERE = Path(__file__).parent / "hides"
STUDIES = ("simple", "modp", "four")
SHORT, LONG = 60, 1_000_000
CUT = 20  # the domain without the jump: c_0 + c_1 at least a twentieth of the string


def name_of(one: Finished) -> str:
    """What a member's model is called: simple-omega4, simple-omega4-adversarial."""
    name, given = parsed(one.run.task)
    told = "-".join(f"{key}{value:g}" for key, value in given.items() if (key, value) != ("symbols", 3))
    return f"{name}-{told}" + ("-adversarial" if one.run.training.corner_share else "")


def entry(one: Finished, store: Store) -> dict[str, Any]:
    """One member: how it was trained, its losses, and the worst strings that were found."""
    model, task = store.model(one.run.id), lw.task(one.run.task)
    more = range(task.period)  # the last position should have every residue
    found = {
        "short": scan(model, task, [SHORT + i for i in more], every=True),
        "long": scan(model, task, [LONG + i for i in more], every=False),
    }
    if task.name == "simple":
        found["cut"] = scan(model, task, [SHORT], every=True, keep=_cut)
        found["long_cut"] = scan(model, task, [LONG], every=False, keep=_cut)
    return record_of(one, name_of(one)) | {"found": {name: vars(best) for name, best in found.items()}}


def _cut(counts: Any, length: int) -> Any:
    return CUT * (counts[0] + counts[1]) >= length


def table(entries: list[dict[str, Any]]) -> str:
    """The members side by side, twins in neighbouring rows."""
    cut = f"c_0 + c_1 >= n/{CUT}"
    lines = [
        "| task | share of corners | training loss | loss at 10^6 | worst of 32,768 strings | found, n about 60 "
        f"| found, n about 10^6 | found with {cut} |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in sorted(
        entries, key=lambda one: (one["task"].split(":")[0] != "simple", one["task"], one["adversarial"])
    ):
        last = max(one["loss"], key=int)
        found = one["found"]
        cuts = [found[name]["error"] for name in ("cut", "long_cut") if name in found]
        row = [
            one["task"].replace(",symbols=3", ""),
            f"{one['adversarial']:g}",
            *(f"{value:.1e}" for value in (one["training_loss"], one["loss"][last])),
            f"{one['worst_error'][last]:.3f}",
            *(f"{found[name]['error']:.3f}" for name in ("short", "long")),
            f"{max(cuts):.3f}" if cuts else "",
        ]
        lines.append(f"| {' | '.join(map(cell, row))} |")
    return "\n".join(lines) + "\n"


def keep(work: Path, results: Path) -> None:
    """Models, index and table from the studies' folders."""
    entries = []
    for name in STUDIES:
        store = Store(work / name)
        for one in store.finished().values():
            entries.append(entry(one, store))
            lw.save(store.model(one.run.id), results / entries[-1]["file"])
            print(f"{entries[-1]['file']}: {entries[-1]['found']['long']}", flush=True)
    made = {key: one.made[key] for key in ("device", "versions")}
    (results / "index.json").write_text(index_text(entries, made), encoding="utf-8")
    (results / "table.md").write_text(table(entries), encoding="utf-8")


def main() -> None:
    """Train what is not trained, search, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path("studies/hides"), help="where the studies live")
    parser.add_argument("--results", type=Path, default=HERE, help="where models, index and table go")
    given = parser.parse_args()
    for name in STUDIES:
        print(sweep(Study.load(HERE / f"{name}.toml"), given.work / name, resume=True, say=print), flush=True)
    given.results.mkdir(parents=True, exist_ok=True)
    keep(given.work, given.results)


if __name__ == "__main__":
    main()
