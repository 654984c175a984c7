"""Common random numbers: the same uniform numbers for every bound, so that test losses at two lengths can be compared.

A test at length 10^4 and one at 10^6 then read nearly the same strings up to scale, and their difference is that of
the model. With independent strings the sampling noise of a small plateau is larger than the 10 % a decade it may move.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from lengthwise.tasks.protocol import Draw


def common_drawing(key: Array) -> Draw:
    """A source of uniform integers: floor(u bound), u a 48-bit fraction that depends on the key and the call alone.

    Each value has probability 1/bound up to 2^-48; bounds are at most 2^31.
    """
    calls = iter(range(1 << 16))

    def draw(bounds: Int[Array, "..."]) -> Int[Array, "..."]:
        fraction = jax.random.bits(jax.random.fold_in(key, next(calls)), (3, *jnp.shape(bounds)), jnp.uint16)
        return scaled(fraction.astype(jnp.uint32), jnp.asarray(bounds).astype(jnp.uint32)).astype(jnp.int32)

    return draw


def scaled(fraction: UInt32[Array, "3 ..."], bound: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """floor(bound (f_0 2^-16 + f_1 2^-32 + f_2 2^-48)) for digits f below 2^16, in 32 bits throughout.

    By Horner from the last digit: carry <- floor((f bound + carry) / 2^16), with bound = high 2^16 + low. No sum
    overflows: f low + (2^16 - 1) <= (2^16 - 1)^2 + 2^16 - 1 < 2^32, and the carry stays below the bound.
    """
    low, high = bound & 0xFFFF, bound >> 16
    carry = jnp.zeros_like(bound)
    for digit in fraction[::-1]:
        carry = digit * high + (carry >> 16) + ((digit * low + (carry & 0xFFFF)) >> 16)
    return carry
