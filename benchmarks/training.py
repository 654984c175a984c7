"""Training, model-steps a second, against eager PyTorch in one run: `python benchmarks/training.py [--write]`.

One layer of width 16 with 256 hidden units on SimpleTask, 1024 strings a step of up to 112 tokens. Ours trains an
ensemble on statistics and makes its own strings. The rivals train one model, are given ready batches on the device,
and do what their best user would: fused attention, fused Adam, no copies.

    eager, full sequences     every position, as an ordinary decoder
    eager, last query         keys and values everywhere, one query: what the task needs
    eager, statistics         our own formulation, counts instead of strings
    compiled, statistics      the same through torch.compile (its strongest form; on a GPU with CUDA graphs)

Operations are counted as in `operations`; the peak is the device's own for float32 without tensor cores.
"""

import argparse
import os
import platform
import time

import jax
import numpy as np
import torch
from _stored import store

import lengthwise as lw
from lengthwise.config import Model, Run, Testing, Training
from lengthwise.train.engine import first_states, train_chunk
from lengthwise.train.plans import plan_of, shape_of

WIDTH, UNITS, SYMBOLS, BATCH, LONGEST, OMEGA = 16, 256, 3, 1024, 112, 4.0
MEMBERS = {"cpu": 8, "gpu": 1024}  # of a tile
PEAK = {"NVIDIA H200": (67e12, "NVIDIA H200 data sheet, FP32")}


def ours(members, chunk):
    """Seconds a model-step of the engine: a chunk of a whole tile, after the compilation."""
    run = Run(
        task=f"simple:omega={OMEGA}",
        longest=LONGEST,
        seed=0,
        model=Model(width=WIDTH, units=UNITS),
        training=Training(batch=BATCH, stop=0.0, chunk=chunk),
        testing=Testing(lengths=(LONGEST,)),
        tile=members,
    )
    shape, one = shape_of(run), plan_of(run)
    plan = jax.tree.map(lambda leaf: np.stack([leaf] * members), one)
    plan = plan._replace(stream=np.arange(2 * members, dtype=np.uint32).reshape(members, 2))
    program, state = train_chunk(shape), first_states(shape.sizes)(plan.stream)
    state, first = program(plan, state)
    jax.block_until_ready(first)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        state, loss = program(plan, state)
        jax.block_until_ready(loss)
        times.append(time.perf_counter() - start)
    assert np.mean(np.asarray(loss)) < 0.75 * np.mean(np.asarray(first)), "it does not learn"  # 0.54 after 100 steps
    return min(times) / chunk / members


class Rival(torch.nn.Module):
    """The same model. `last` leaves out what only other positions need; `counts` takes counts instead of strings."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(SYMBOLS, WIDTH)
        self.query, self.key, self.value = (torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.inner, self.outer = torch.nn.Linear(WIDTH, UNITS), torch.nn.Linear(UNITS, WIDTH, bias=False)
        self.unembedding = torch.nn.Linear(WIDTH, 1, bias=False)

    def read(self, y):
        """MLP and read-out."""
        y = y + self.outer(torch.relu(self.inner(y)))
        return self.unembedding(y).squeeze(-1)

    def sequences(self, tokens, last):
        """All positions; the output at the last one is used."""
        y = self.embedding(tokens)
        attended = torch.nn.functional.scaled_dot_product_attention(
            self.query(y)[:, None], self.key(y)[:, None], self.value(y)[:, None], is_causal=True, scale=1 / WIDTH
        )[:, 0]
        return self.read(y + attended).gather(1, last[:, None])[:, 0]

    def last_query(self, tokens, last):
        """One query a string; what stands after the end is masked."""
        y = self.embedding(tokens)
        here = y.gather(1, last[:, None, None].expand(-1, 1, WIDTH))
        mask = torch.arange(tokens.shape[1], device=tokens.device) <= last[:, None]
        attended = torch.nn.functional.scaled_dot_product_attention(
            self.query(here), self.key(y), self.value(y), attn_mask=mask[:, None], scale=1 / WIDTH
        )
        return self.read(here + attended)[:, 0]

    def statistics(self, counts, token):
        """Counts of the whole string, and its last token."""
        table = self.embedding.weight
        logits = (self.query(table) @ self.key(table).T / WIDTH)[token]
        weight = counts * torch.exp(logits - logits.max(dim=1, keepdim=True).values.detach())
        share = weight / weight.sum(dim=1, keepdim=True)
        return self.read(table[token] + share @ self.value(table))


def batches(device, count=8):
    """Ready strings with their counts and targets, on the device."""
    task, generator = lw.task(f"simple:omega={OMEGA}"), np.random.default_rng(0)
    found = []
    for _ in range(count):
        tokens = task.strings(generator, LONGEST, BATCH)
        last = generator.integers(0, LONGEST, size=BATCH)
        inside = np.arange(LONGEST) <= last[:, None]
        counts = np.stack([np.sum((tokens == s) & inside, axis=1) for s in range(SYMBOLS)], axis=1)
        both = counts[:, 0] + counts[:, 1]
        target = np.sin(OMEGA * (counts[:, 0] - counts[:, 1]) / np.maximum(both, 1))
        arrays = (tokens, last, counts.astype(np.float32), tokens[np.arange(BATCH), last], target.astype(np.float32))
        found.append([torch.as_tensor(array, device=device) for array in arrays])
    return found


def rival(forward, device, steps):
    """Seconds a step of one model with Adam."""
    model = Rival().to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    ready = batches(device)
    first = last = None

    def step(index):
        tokens, place, counts, token, target = ready[index % len(ready)]
        loss = torch.mean((forward(model, tokens, place, counts, token) - target) ** 2)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        return loss

    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    for index in range(5):
        first = step(index)
    times = []
    for _ in range(3):
        wait()
        start = time.perf_counter()
        for index in range(steps):
            last = step(index)
        wait()
        times.append((time.perf_counter() - start) / steps)
    assert torch.isfinite(first)
    assert torch.isfinite(last)
    return min(times)


def operations():
    """Floating-point operations of a model-step, in the formulation that is run; all smaller parts are left out.

    A string's residual stream is columns @ mixture with 2 symbols mixtures (last token, attention), so a hidden unit
    takes 2 symbols multiply-adds to decide whether it is active, and as many to be added up, forward and backward.
    """
    inputs = 2 * SYMBOLS
    return 2 * (4 * inputs) * UNITS * BATCH


def main():
    """Runs all rows, prints them, and with --write stores them for the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", metavar="FILE", nargs="?", const="", help="store the rows under benchmarks/results/")
    write = parser.parse_args().write
    platform_name = jax.devices()[0].platform
    torch_device = "cuda" if platform_name == "gpu" else "cpu"
    name = (
        jax.devices()[0].device_kind if platform_name == "gpu" else f"CPU, {os.cpu_count()} cores, {platform.machine()}"
    )
    members = MEMBERS[platform_name]
    mine = ours(members, chunk=100 if platform_name == "gpu" else 25)
    what = f"one model-step, batch {BATCH}, length {LONGEST}, {members} members"
    compiled = torch.compile(
        Rival.statistics, mode="max-autotune-no-cudagraphs" if torch_device == "cpu" else "default"
    )
    forms = {
        "eager PyTorch, full sequences": (lambda m, t, p, c, k: m.sequences(t, p), 20),
        "eager PyTorch, last query": (lambda m, t, p, c, k: m.last_query(t, p), 40),
        "eager PyTorch, statistics": (lambda m, t, p, c, k: m.statistics(c, k), 200),
        "torch.compile, statistics": (lambda m, t, p, c, k: compiled(m, c, k), 200),
    }
    rows = []
    for label, (forward, steps) in forms.items():
        took = rival(forward, torch_device, steps)
        wanted = {"gpu": ">= 800", "cpu": ">= 200"}[platform_name] if "full" in label else ""
        row = {"what": what, "ours": mine * 1e6, "rival_name": label, "rival": took * 1e6, "ratio": took / mine}
        rows.append(row | {"unit": "us", "wanted": wanted})
    peak, source = PEAK.get(name, (None, ""))
    rate = operations() / mine
    speed = {"what": f"{what}: {operations() / 1e6:.1f} million operations", "ours": rate / 1e12, "unit": "TFLOP/s"}
    if peak:
        speed |= {"rival_name": f"peak ({source})", "rival": peak / 1e12, "ratio": rate / peak}
    rows.append(speed)
    for row in rows:
        beside = f"   {row['rival_name']}: {row['rival']:.4g}, ratio {row['ratio']:.3g}" if "rival" in row else ""
        print(f"{row['what']}: {row['ours']:.4g} {row['unit']}{beside}", flush=True)
    if write is not None:
        store(f"training-{platform_name}", f"training, {name}", rows, name, ("jax", "torch", "numpy"), write or None)


if __name__ == "__main__":
    main()
