"""Published figures, trained in pieces and kept small enough for the repository: `python results/make_results.py --help`.

On a laptop, everything at once, in ten minutes:

    python results/make_results.py --scale quick --results results/quick

On a GPU machine that is lent for minutes, from the repository's folder (`make device-bundle` makes what it lacks):

    PYTHONPATH=src:device-bundle python results/make_results.py --scale paper --minutes 8 --out OUT
    PYTHONPATH=src:device-bundle python results/make_results.py --scale paper --minutes 8 --out OUT --from BACK

Each call trains until its time is up and packs what is done into a few files under OUT. The next call, on the same
machine or another, unpacks those of the calls before (BACK) and trains the rest. At last, anywhere:

    python results/make_results.py --scale paper --minutes 0 --from BACK --results results/paper

Runs are numbers that depend on their record alone, so pieces from several calls are one study.
"""

import argparse
import json
import shutil
import tarfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from tables import claims_table, members_table

from lengthwise.config import Run
from lengthwise.study.guarantee import weighed
from lengthwise.study.machine import ensemble_on, versions
from lengthwise.study.published import published
from lengthwise.study.reading import read
from lengthwise.study.report import report
from lengthwise.study.store import Store
from lengthwise.study.sweep import sweep

FIGURES = ("figure1", "figure3", "figure2", "vocabulary", "locality")  # the most wanted first
PART = 15 << 20  # bytes of a packed file
KEPT = {".svg", ".csv"}  # of a figure's files
PEAK, SHARE, LAUNCHES = (
    67e12,
    0.15,
    3e-4,
)  # operations a second of an H200, a careful share of them, seconds a tile-step


def operations(run: Run) -> int:
    """Floating-point operations of one step of one member, as benchmarks/training.py counts them."""
    from lengthwise.train.plans import shape_of

    sizes = shape_of(run).sizes
    inputs = min(sizes.symbols * sizes.period * (1 + sizes.heads), sizes.width + 1)
    return 2 * 4 * inputs * sizes.units * run.training.batch


def estimate(scale: str, figures: list[str]) -> None:
    """Prints what each figure takes on an H200 by the count of its operations, compilation apart."""
    from lengthwise.train.plans import shape_of

    for name in figures:
        runs = published(name, scale).runs()
        work = sum(operations(run) * run.training.steps for run in runs)
        tile_steps = sum(run.training.steps / run.tile for run in runs)
        seconds = max(work / (PEAK * SHARE), tile_steps * LAUNCHES)
        programs = len({shape_of(run) for run in runs})
        print(f"{name}: {len(runs)} members, {programs} programs, {work / 1e15:.2f} 10^15 operations, {seconds:.0f} s")


def check_kernels() -> str:
    """Whether a GPU's own kernels agree with matrix products; where they do not, training does without them."""
    import jax

    from lengthwise.train import fused

    if jax.devices()[0].platform != "gpu":
        return "not used on this device"
    generator = np.random.default_rng(0)
    inner, outer, inputs = (generator.normal(size=s).astype(np.float32) for s in ((256, 6), (256,), (6, 1024)))
    wanted = (outer[:, None] * inner).T @ (inner @ inputs > 0)
    try:
        gap = float(np.max(np.abs(np.asarray(fused.slopes(inner, outer, inputs)) - wanted)))
        if gap < 1e-2:  # a unit near 0 may be active for one and not for the other
            return f"used; they agree with matrix products up to {gap:.1e}"
        said = f"they differ from matrix products by {gap:.1e}"
    except Exception as error:  # another compiler than the one they were written for
        said = f"{type(error).__name__}: {error}".splitlines()[0]
    fused.REGISTERS = 0
    return f"not used: {said}"


def compile_ahead(scale: str, figures: list[str], cache: Path) -> None:
    """Compiles the programs of some figures side by side, into a folder where training finds them."""
    import jax

    from lengthwise.train.engine import first_states, test_loss, train_chunk
    from lengthwise.train.plans import plan_of, shape_of

    jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    first = {shape_of(run): run for name in figures for run in published(name, scale).runs()}

    def compiled(run: Run) -> None:
        shape = shape_of(run)
        plan = jax.tree.map(lambda leaf: np.stack([leaf] * run.tile), plan_of(run))
        begin = first_states(shape.sizes)
        state = jax.eval_shape(begin, plan.stream)
        begin.lower(plan.stream).compile()
        train_chunk(shape).lower(plan, state).compile()
        test_loss(shape, run.testing.samples).lower(plan, state.weights, np.int32(1)).compile()

    with ThreadPoolExecutor() as several:
        list(several.map(compiled, first.values()))


def train(scale: str, figures: list[str], work: Path, minutes: float) -> dict[str, object]:
    """Trains the figures in turn until time is up; what is finished is in the work folder at any moment."""
    begun = time.monotonic()
    told: dict[str, object] = {}
    spoken = [begun]

    def progress(now: object) -> None:
        if time.monotonic() - spoken[0] > 20:
            spoken[0] = time.monotonic()
            print(f"  {now.done} of {now.total}, {now.steps_per_second:,.0f} steps/s", flush=True)

    for name in figures:
        at = time.monotonic()
        late = lambda: time.monotonic() - begun > 60 * minutes  # noqa: E731
        swept = sweep(
            published(name, scale), work / name, resume=True, weights=False, should_stop=late, progress=progress,
            say=print,
        )  # fmt: skip
        took = time.monotonic() - at
        told[name] = {"runs": swept.runs, "done": swept.done, "seconds": round(took, 1), "diverged": len(swept.failed)}
        print(f"{swept}; {took:.0f} s", flush=True)
        if not swept.complete:
            break
    return told


def done(scale: str, figure: str, work: Path) -> bool:
    """Whether every run of a figure is there."""
    runs = published(figure, scale).runs()
    return len(Store(work / figure).finished(runs, weights=False)) == len(runs)


def looked_at(path: Path, figure: str) -> set[str]:
    """The runs whose weights the figure looks at: all for attention profiles, the longest trained for bounds."""
    found = read(path)
    if figure == "figure3":
        return set(found.finished)
    lines = [line for line in found.measurement().series if line.setting["attention"] == "plain"]
    return {one.run for line in lines for one in weighed(line)}


def pack(work: Path, figures: list[str], out: Path) -> None:
    """All run files and the weights that figures look at, in files of at most 15 MiB."""
    files: list[Path] = []
    for name in figures:
        store = Store(work / name)
        if store.runs.is_dir() and any(store.runs.glob("[!.]*.json")):
            wanted = looked_at(store.path, name)
            files += [store.path / "study.toml", *sorted(store.runs.glob("[!.]*.json"))]
            files += [path for path in sorted(store.weights.glob("[!.]*.safetensors")) if path.stem in wanted]
    parts: list[list[Path]] = [[]]
    size = 0
    for path in files:
        size += len(zlib.compress(path.read_bytes()))  # xz of the whole takes less
        if size > PART:
            parts.append([])
            size = 0
        parts[-1].append(path)
    out.mkdir(parents=True, exist_ok=True)
    for index, some in enumerate(filter(None, parts), start=1):
        with tarfile.open(out / f"runs-{index}.tar.xz", "w:xz") as archive:
            for path in some:
                archive.add(path, path.relative_to(work).as_posix())


def unpack(back: Path, work: Path) -> None:
    """What earlier calls packed; every file is checked again when it is used."""
    for path in sorted(back.rglob("runs-*.tar.xz")):
        with tarfile.open(path) as archive:
            archive.extractall(work, filter="data")


def keep(work: Path, figures: list[str], results: Path) -> None:
    """Draws and judges each figure that has runs, and keeps what a reader needs."""
    told = []
    for name in sorted(figures):
        if not (work / name / "runs").is_dir():
            continue
        found = report(work / name, print)
        folder = results / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for path in found.files:
            if path.suffix in KEPT:
                shutil.copy(path, folder / path.name)
        (folder / "members.csv.gz").write_bytes(members_table(found.measurement.members))
        fields = found.fields() | {"claims": found.claim_fields(), "hours": found.directory.seconds / 3600}
        for place in ("report", "figures", "directory"):
            del fields[place]
        (folder / "claims.json").write_text(json.dumps(fields, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        told.append((name, found))
    (results / "claims.md").write_text(claims_table(told), encoding="utf-8")


def main() -> None:
    """The parts in their order: unpack, train, pack, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=["quick", "paper"], default="quick")
    parser.add_argument("--figures", nargs="+", choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--minutes", type=float, default=1e6, help="of training; 0: none")
    parser.add_argument("--work", type=Path, help="where studies live; default studies/SCALE")
    parser.add_argument("--from", type=Path, dest="back", help="a folder with packed runs of earlier calls")
    parser.add_argument("--out", type=Path, help="where to pack runs")
    parser.add_argument("--results", type=Path, help="where to keep figures, tables and claims")
    parser.add_argument("--estimate", action="store_true", help="say how long it takes, and do nothing")
    given = parser.parse_args()
    if given.estimate:
        return estimate(given.scale, given.figures)
    work = (given.work or Path("studies") / given.scale).absolute()
    if given.back:
        unpack(given.back, work)
    if given.minutes:
        begun = time.monotonic()
        session: dict[str, object] = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "scale": given.scale}
        session |= {"device": ensemble_on("auto").device, "versions": versions(), "kernels": check_kernels()}
        print(json.dumps(session), flush=True)
        try:
            compile_ahead(given.scale, given.figures, work / "compiled")
            session["seconds_compiling"] = round(time.monotonic() - begun, 1)
            print(f"compiled after {session['seconds_compiling']} s", flush=True)
            session["figures"] = train(
                given.scale, given.figures, work, given.minutes - session["seconds_compiling"] / 60
            )
        finally:
            if given.out:
                pack(work, given.figures, given.out)
                (given.out / "session.json").write_text(json.dumps(session, indent=1) + "\n", encoding="utf-8")
    if given.results:
        keep(work, given.figures, given.results)
    return None


if __name__ == "__main__":
    main()
