"""The two benchmarks of ring_test.go in JAX, on the CPU. Needs: pip install jax optax

    python ring_jax.py training 5      steps per second over 5 seconds, the first call excluded
    python ring_jax.py langevin 5
"""

import sys
import time

import jax
import jax.numpy as jnp
import optax

jax.config.update("jax_default_prng_impl", "rbg")  # the fastest generator of JAX that is made for this

CALL = {"training": 100, "langevin": 1000}  # steps in one compiled call
ANGLES = 2 * jnp.pi * jnp.arange(8) / 8
MEANS = 4 * jnp.stack([jnp.cos(ANGLES), jnp.sin(ANGLES)], axis=1)
STD = 0.3


def network(weights, x):
    for w, b in weights[:-1]:
        x = jax.nn.silu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def training():
    """Adam on 1/2 |0.5 s(x + 0.5 z) + z|^2, a fresh batch of 512 in every step."""
    adam = optax.adam(1e-3)
    sizes = [2, 128, 128, 128, 2]
    key, *keys = jax.random.split(jax.random.key(1), len(sizes))
    weights = [(jax.random.normal(k, (i, o)) / i**0.5, jnp.zeros(o)) for k, i, o in zip(keys, sizes, sizes[1:])]

    def loss(weights, key):
        mode, spread, noise = jax.random.split(key, 3)
        x = MEANS[jax.random.randint(mode, (512,), 0, 8)] + STD * jax.random.normal(spread, (512, 2))
        z = jax.random.normal(noise, (512, 2))
        return jnp.mean(0.5 * jnp.sum((0.5 * network(weights, x + 0.5 * z) + z) ** 2, axis=1))

    def step(state, _):
        weights, moments, key = state
        key, now = jax.random.split(key)
        gradient = jax.grad(loss)(weights, now)
        update, moments = adam.update(gradient, moments)
        return (optax.apply_updates(weights, update), moments, key), None

    return step, (weights, adam.init(weights), key)


def langevin():
    """10,000 chains with step 0.01 on the exact score of the ring."""
    key, start = jax.random.split(jax.random.key(1))
    precision = 1 / STD**2

    def step(state, _):
        x, key = state
        key, now = jax.random.split(key)
        # All means are equally far from 0, so that -|x - m|^2 / 2v and x.m / v differ by a constant.
        shares = jax.nn.softmax((x @ MEANS.T) * precision, axis=1)
        score = (shares @ MEANS - x) * precision
        return (x + 0.01 * score + 0.02**0.5 * jax.random.normal(now, x.shape), key), None

    return step, (4 * jax.random.normal(start, (10_000, 2)), key)


def main():
    task = sys.argv[1]
    step, state = {"training": training, "langevin": langevin}[task]()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
    call = jax.jit(lambda state: jax.lax.scan(step, state, length=CALL[task])[0], donate_argnums=0)
    state = jax.block_until_ready(call(state))
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        state = jax.block_until_ready(call(state))
        steps += CALL[task]
    print(f"JAX {task}: {steps / (time.perf_counter() - begin):.1f} steps/s")


if __name__ == "__main__":
    main()
