"""One transformer layer, trained from scratch on SimpleTask. Run it: python examples/one_layer_from_scratch.py

SimpleTask: strings over {0, 1, 2}; with c_s the number of tokens s, the target at the last position is

    sin(omega (c_0 - c_1) / (c_0 + c_1)).

One layer without positions sees a string only through its last token and its token counts, and their law is known
exactly, so nothing here ever makes a string: a step costs the same at length 10 and at length a million. This is what
`lengthwise sweep` does for hundreds of members at once, here for one, with JAX alone; same key, same numbers.
"""

import jax
import jax.numpy as jnp

WIDTH, UNITS, SYMBOLS = 16, 256, 3


def initial_weights(key):
    """muP: embeddings of variance 1, hidden matrices of variance 1/fan-in, read-out of variance 1/fan-in^2."""
    shapes = {
        "embedding": ((SYMBOLS, WIDTH), 1.0),
        "positions": ((1, WIDTH), 0.0),  # this task has none; here so that every stream of numbers is the engine's
        "key": ((WIDTH, WIDTH), WIDTH**-0.5),
        "query": ((WIDTH, WIDTH), WIDTH**-0.5),
        "value": ((WIDTH, WIDTH), WIDTH**-0.5),
        "phi": ((0,), 0.0),  # neither are there logits for places counted from the end
        "inner": ((UNITS, WIDTH), WIDTH**-0.5),
        "bias": ((UNITS,), 0.0),
        "outer": ((WIDTH, UNITS), UNITS**-0.5),
        "unembedding": ((WIDTH,), 1.0 / WIDTH),
    }
    keys = jax.random.split(key, len(shapes))
    return {n: s * jax.random.normal(k, shape) for k, (n, (shape, s)) in zip(keys, shapes.items(), strict=True)}


def sample(key, length):
    """Counts and last token of one string of each length: (3, batch) and (batch,).

    If q is uniform on the simplex and tokens are drawn from q, the counts are uniform over all ways to write the
    length as c_0 + c_1 + c_2: two different bars among length + 2 places. The last token is any of them.
    """

    def draw(call, bounds):
        return jax.random.randint(jax.random.fold_in(key, call), length.shape, 0, bounds)

    first, second = draw(0, length + 1), draw(1, length + 2)
    second = jnp.where(second == first, length + 1, second)  # Floyd: two different places, all pairs equally likely
    left, right = jnp.minimum(first, second), jnp.maximum(first, second)
    counts = jnp.stack([left, right - left - 1, length + 1 - right])
    place = draw(2, length)
    last = (place >= counts[0]).astype(int) + (place >= counts[0] + counts[1])
    return counts, last


def target(omega, counts):
    """The definition; 0 if there is no 0 and no 1."""
    return jnp.sin(omega * (counts[0] - counts[1]) / jnp.maximum(counts[0] + counts[1], 1))


def model(w, counts, last):
    """Softmax attention over tokens, every token weighted by its count; a ReLU layer; a read-out: (batch,)."""
    x = w["embedding"]
    logits = (x @ w["key"].T) @ (x @ w["query"].T).T / WIDTH  # (key token, query token); muP divides by the width
    mass = counts * jnp.exp(logits - jnp.max(logits, axis=0))[:, last]  # (3, batch)
    attention = mass / jnp.sum(mass, axis=0)
    residual = x[last] + attention.T @ (x @ w["value"].T)  # (batch, width)
    hidden = jax.nn.relu(residual @ w["inner"].T + w["bias"])  # (batch, units)
    return (residual + hidden @ w["outer"].T) @ w["unembedding"]


def loss(w, key, length, omega):
    """Mean squared error on fresh strings."""
    counts, last = sample(key, length)
    return jnp.mean((model(w, counts, last) - target(omega, counts)) ** 2)


@jax.jit(static_argnames="batch")
def step(w, first, second, key, number, longest, omega, rate, steps, batch):
    """One update: fresh lengths and strings, Adam with a cosine decay to 0, muP's rates for matrices."""
    key = jax.random.fold_in(jax.random.fold_in(key, 1), number)
    length = jax.random.randint(jax.random.fold_in(key, 0), (batch,), 1, longest + 1)
    value, gradient = jax.value_and_grad(loss)(w, jax.random.fold_in(key, 1), length, omega)
    rate = rate * 0.5 * (1 + jnp.cos(jnp.pi * number / steps))
    factor = {n: 1.0 if n in ("embedding", "bias") else 1.0 / WIDTH for n in w} | {"positions": 0.0}
    first = {n: 0.9 * first[n] + (1 - 0.9) * gradient[n] for n in w}
    second = {n: 0.999 * second[n] + (1 - 0.999) * gradient[n] ** 2 for n in w}
    one, two = 1 - jnp.power(0.9, number + 1), 1 - jnp.power(0.999, number + 1)
    w = {n: w[n] - rate * factor[n] * (first[n] / one) / (jnp.sqrt(second[n] / two) + 1e-8) for n in w}
    return w, first, second, value


def train(key, longest, omega=4.0, rate=0.01, steps=2000, batch=256, stop=1e-5):
    """Trains on lengths 1..longest until the smoothed loss is below `stop`; returns weights and the loss of each step."""
    w = initial_weights(jax.random.fold_in(key, 0))
    first = second = jax.tree.map(jnp.zeros_like, w)
    smooth, losses = None, []
    for number in range(steps):
        w, first, second, value = step(w, first, second, key, number, longest, omega, rate, steps, batch)
        losses.append(float(value))
        smooth = losses[-1] if smooth is None else 0.98 * smooth + 0.02 * losses[-1]
        if smooth < stop:
            break
    return w, losses


if __name__ == "__main__":
    print("mean squared error of models trained on lengths up to N")
    print("   N  training  T=100    T=10,000 T=1,000,000")
    for longest in (4, 8, 16, 32):
        w, losses = train(jax.random.key(longest), longest)
        tests = [loss(w, jax.random.key(n), jnp.full(32_768, n), 4.0) for n in (100, 10_000, 1_000_000)]
        print(f"{longest:4}  {sum(losses[-50:]) / 50:.1e}  " + "  ".join(f"{float(value):.1e}" for value in tests))
