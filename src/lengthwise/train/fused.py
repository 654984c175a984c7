"""The two products of a layer of ReLUs with its 0/1 activity, on a GPU, without ever writing the activity to memory.

With a_kb = 1 where h_kb = sum_j inner_kj inputs_jb > 0 (unit k is active in column b), training needs

    slopes  S_jb = sum_k outer_k inner_kj a_kb          felt  F_kj = sum_b cotangent_b inputs_jb a_kb

As matrix products with 6 inputs, 256 units and 1024 strings they wait for memory, because h and a go through it. Here
h is made again in registers, 4 multiply-adds an entry of `inner` and string in all. Each output entry is summed in a
fixed order by one program instance, so the bits do not depend on how many members run side by side.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

LANES = 32  # threads of an instance: one warp
REGISTERS = 96  # floats of held columns and their sums that a thread may keep
ROWS = 4  # passing rows whose numbers are loaded together
PARTS = 8  # shares of the batch that `felt` sums apart, for enough instances


def fits(units: int, batch: int, inputs: int) -> bool:
    """Whether the kernels take these sizes."""
    return units % LANES == 0 and batch % LANES == 0 and 2 * inputs <= REGISTERS


def slopes(
    inner: Float[Array, "units inputs"],
    outer: Float[Array, " units"],
    inputs: Float[Array, "inputs batch"],
    interpret: bool = False,
) -> Float[Array, "inputs batch"]:
    """S_jb = sum_k outer_k inner_kj a_kb: an instance holds some columns b, and all units k pass."""
    return active_sums(inputs, inner.T, (outer[:, None] * inner).T, 1, interpret)[0]


def felt(
    inner: Float[Array, "units inputs"],
    cotangent: Float[Array, " batch"],
    inputs: Float[Array, "inputs batch"],
    interpret: bool = False,
) -> Float[Array, "units inputs"]:
    """F_kj = sum_b cotangent_b inputs_jb a_kb: an instance holds some units k, and a share of the columns b passes."""
    parts = max(part for part in (1, 2, 4, PARTS) if inputs.shape[1] % (part * ROWS) == 0)
    return jnp.sum(active_sums(inner.T, inputs, cotangent * inputs, parts, interpret), axis=0).T


def active_sums(
    held: Float[Array, "inputs columns"],
    passing: Float[Array, "inputs rows"],
    summed: Float[Array, "inputs rows"],
    parts: int,
    interpret: bool = False,
) -> Float[Array, "parts inputs columns"]:
    """T_pjc = sum over the rows r of part p of summed_jr [sum_i passing_ir held_ic > 0].

    A thread keeps its columns and their sums in registers; the numbers of a row are the same for all threads.
    """
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton

    (count, columns), rows = held.shape, passing.shape[1]
    each = max(n for n in (1, 2, 4, 8) if n == 1 or (2 * count * n <= REGISTERS and columns % (n * LANES) == 0))
    block, share = each * LANES, rows // parts

    def kernel(held_ref: Any, passing_ref: Any, summed_ref: Any, out_ref: Any) -> None:
        part = pl.program_id(1)
        here = pl.ds(pl.program_id(0) * block, block)
        mine = [held_ref[j, here] for j in range(count)]

        def some_rows(index: Any, sums: tuple[Any, ...]) -> tuple[Any, ...]:
            for row in (part * share + index * ROWS + offset for offset in range(ROWS)):
                h = sum(passing_ref[j, row] * mine[j] for j in range(count))
                active = jnp.where(h > 0, 1.0, 0.0)
                sums = tuple(s + active * summed_ref[j, row] for j, s in enumerate(sums))
            return sums

        zeros = tuple(jnp.zeros(block, jnp.float32) for _ in range(count))
        for j, total in enumerate(jax.lax.fori_loop(0, share // ROWS, some_rows, zeros)):
            out_ref[part, j, here] = total

    call = pl.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((parts, count, columns), jnp.float32),  # type: ignore[no-untyped-call]
        grid=(columns // block, parts),
        compiler_params=None if interpret else triton.CompilerParams(num_warps=1, num_stages=1),
        interpret=interpret,
    )
    sums: Float[Array, "parts inputs columns"] = call(held, passing, summed)
    return sums
