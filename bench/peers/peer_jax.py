"""The tasks in JAX: jit with scan. Needs jax, optax and numpy; see common.py for the command line."""
import os

import common
from common import DATA_VARIANCE, D16, D64, FREQUENCIES, MU, NET_STEPS, RATE, RING_K, RING_SIZES, RING_STD, TRAINING

A = common.arguments()
cpus = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
if 0 < A.threads < len(cpus):
    os.sched_setaffinity(0, cpus[-A.threads :])

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

jax.config.update("jax_default_prng_impl", "rbg")  # the fastest generator of JAX that is made for this
MU32 = jnp.asarray(MU, jnp.float32)
silu, tanh = jax.nn.silu, jnp.tanh


# ---------------------------------------------------------------- data
def ring_batch(key, n):
    which, spread = jax.random.split(key)
    return MU32[jax.random.randint(which, (n,), 0, RING_K)] + RING_STD * jax.random.normal(spread, (n, 2))


def gauss_batch(d):
    factor = jnp.asarray(common.cholesky(d).T, jnp.float32)
    return lambda key, n: jax.random.normal(key, (n, d)) @ factor


def blobs(key, n):
    place, size = jax.random.split(key)
    c = jax.random.uniform(place, (n, 3, 2), minval=6.0, maxval=22.0)
    r = jax.random.uniform(size, (n, 3), minval=2.0, maxval=4.0)
    grid = jnp.arange(28, dtype=jnp.float32)
    down = jnp.exp(-((grid - c[:, :, :1]) ** 2) / (2 * r[..., None] ** 2))
    across = jnp.exp(-((grid - c[:, :, 1:]) ** 2) / (2 * r[..., None] ** 2))
    return jax.nn.sigmoid(10.0 * (jnp.einsum("nky,nkx->nyx", down, across) - 0.5))[..., None]


def log_uniform(key, n, low, high):
    return jnp.exp(np.log(low) + jax.random.uniform(key, (n,)) * np.log(high / low))


# ---------------------------------------------------------------- networks
def linear(key, i, o, bias=True):
    w = jax.random.normal(key, (i, o)) / np.sqrt(i)
    return (w, jnp.zeros(o)) if bias else w


def mlp_init(sizes):
    def init(key):
        keys = jax.random.split(key, len(sizes) - 1)
        return [linear(k, i, o) for k, i, o in zip(keys, sizes[:-1], sizes[1:])]

    return init


def mlp(p, x, activation):
    for w, b in p[:-1]:
        x = activation(x @ w + b)
    w, b = p[-1]
    return x @ w + b


def features(sigma):
    a = jnp.log(sigma)[:, None] * jnp.asarray(FREQUENCIES, jnp.float32)
    return jnp.concatenate([jnp.sin(a), jnp.cos(a)], -1)


def nc_init(d, h):
    def init(key):
        k = jax.random.split(key, 8)
        return dict(embed=linear(k[0], 32, h), layers=[linear(k[1], d, h), linear(k[2], h, h), linear(k[3], h, h)],
                    level=[linear(k[4 + i], h, h, False) for i in range(3)], out=linear(k[7], h, d))

    return init


def nc_net(p, x, sigma):
    """sigma times the score; sigma is [n], or [1] for all alike."""
    e = silu(features(sigma) @ p["embed"][0] + p["embed"][1])
    for (w, b), a in zip(p["layers"], p["level"]):
        x = silu(x @ w + b + e @ a)
    return x @ p["out"][0] + p["out"][1]


def nc2d_net(p, x, sigma):
    return nc_net(p, x / jnp.sqrt(sigma * sigma + DATA_VARIANCE)[:, None], sigma)


def conv_init(key):
    k = jax.random.split(key, 10)
    c = lambda key, i, o: (jax.random.normal(key, (3, 3, i, o)) / np.sqrt(9 * i), jnp.zeros(o))
    return dict(embed=linear(k[0], 32, 64), first=c(k[1], 1, 32), skip=c(k[2], 32, 32), down=c(k[3], 32, 64),
                low=c(k[4], 64, 64), up=c(k[5], 96, 32), last=c(k[6], 32, 1), level_first=linear(k[7], 64, 32, False),
                level_down=linear(k[8], 64, 64, False), level_up=linear(k[9], 64, 32, False))


def conv_net(p, x, sigma):  # x [n, 28, 28, 1]
    e = silu(features(sigma) @ p["embed"][0] + p["embed"][1])
    level = lambda name: (e @ p["level_" + name])[:, None, None, :]

    def conv(name, x, stride=1):
        y = lax.conv_general_dilated(x, p[name][0], (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return y + p[name][1]

    skip = silu(conv("skip", silu(conv("first", x) + level("first"))))
    h = silu(conv("low", silu(conv("down", skip, 2) + level("down"))))
    n = h.shape[0]
    h = jnp.broadcast_to(h[:, :, None, :, None, :], (n, 14, 2, 14, 2, 64)).reshape(n, 28, 28, 64)
    return conv("last", silu(conv("up", jnp.concatenate([h, skip], -1)) + level("up")))


# ---------------------------------------------------------------- losses
def squares(x):
    return jnp.sum(x * x, -1)


def exact_trace(f, x):
    """Linearised once, the basis vectors pushed through together."""
    s, push = jax.linearize(f, x)
    columns = jax.vmap(lambda e: push(jnp.broadcast_to(e, x.shape)))(jnp.eye(x.shape[1]))
    return s, jnp.einsum("ibi->b", columns)


def hutchinson(f, x, key, k):
    v = jax.random.rademacher(key, (k,) + x.shape, jnp.float32)
    if k == 1:
        s, jv = jax.jvp(f, (x,), (v[0],))
        return s, jnp.sum(v[0] * jv, -1)
    s, push = jax.linearize(f, x)
    return s, jnp.mean(jnp.sum(v * jax.vmap(push)(v), -1), 0)


def loss_dsm2d(p, key):
    data, noise = jax.random.split(key)
    x = ring_batch(data, 512)
    e = jax.random.normal(noise, x.shape)
    return jnp.mean(squares(0.5 * mlp(p, x + 0.5 * e, silu) + e))


def implicit(batch, n):
    def loss(p, key):
        s, trace = exact_trace(lambda z: mlp(p, z, tanh), batch(key, n))
        return jnp.mean(0.5 * squares(s) + trace)

    return loss


def probed(k, batch, n):
    def loss(p, key):
        data, probe = jax.random.split(key)
        s, trace = hutchinson(lambda z: mlp(p, z, tanh), batch(data, n), probe, k)
        return jnp.mean(0.5 * squares(s) + trace)

    return loss


def sliced(batch, n):
    def loss(p, key):
        data, projection = jax.random.split(key)
        x = batch(data, n)
        v = jax.random.normal(projection, x.shape)
        s, jv = jax.jvp(lambda z: mlp(p, z, tanh), (x,), (v,))
        return jnp.mean(0.5 * jnp.sum(v * s, -1) ** 2 + jnp.sum(v * jv, -1))

    return loss


def denoising_tanh(batch, n):
    def loss(p, key):
        data, noise = jax.random.split(key)
        x = batch(data, n)
        e = jax.random.normal(noise, x.shape)
        return jnp.mean(squares(0.5 * mlp(p, x + 0.5 * e, tanh) + e))

    return loss


def denoising(net, batch, n, low, high):
    def loss(p, key):
        data, level, noise = jax.random.split(key, 3)
        x, sigma = batch(data, n), log_uniform(level, n, low, high)
        e = jax.random.normal(noise, x.shape)
        r = net(p, x + sigma.reshape((n,) + (1,) * (x.ndim - 1)) * e, sigma) + e
        return jnp.mean(jnp.sum(r.reshape(n, -1) ** 2, -1))

    return loss


def digits_batch():
    all = jnp.asarray(common.digits())
    return lambda key, n: all[jax.random.randint(key, (n,), 0, all.shape[0])]


# ---------------------------------------------------------------- training
numbers = lambda x: jnp.asarray(x, jnp.float32)
result = lambda x: np.asarray(x, np.float64)


def score_of(p, activation):
    f = jax.jit(lambda x: mlp(p, x, activation))
    return lambda y: result(f(numbers(y)))


def net_of(p, net):
    f = jax.jit(lambda x, sigma: net(p, x, sigma))
    return lambda y, sigma: result(f(numbers(y), numbers(sigma)))


def judge_conv(p):
    net = net_of(p, conv_net)
    return common.judge_conv(lambda y, sigma: net(y[..., None], sigma)[..., 0])


# name: weights, loss, how good they are, whether their moving average is kept
TASKS = {
    "dsm2d": (mlp_init(RING_SIZES), lambda: loss_dsm2d, lambda p: common.judge_dsm2d(score_of(p, silu)), False),
    "ism_exact": (mlp_init(RING_SIZES), lambda: implicit(ring_batch, 512), lambda p: common.judge_ring(score_of(p, tanh)), False),
    "ism_exact_d16": (mlp_init(D16), lambda: implicit(gauss_batch(16), 256), lambda p: common.judge_gauss(16)(score_of(p, tanh)), False),
    "ssm": (mlp_init(D64), lambda: probed(1, gauss_batch(64), 256), lambda p: common.judge_gauss(64)(score_of(p, tanh)), False),
    "hutch8": (mlp_init(D64), lambda: probed(8, gauss_batch(64), 256), lambda p: common.judge_gauss(64)(score_of(p, tanh)), False),
    "ncsn_digits": (nc_init(64, 256), lambda: denoising(nc_net, digits_batch(), 256, 0.01, 1.0),
                    lambda p: common.judge_digits(net_of(p, nc_net)), True),
    "nc2d": (nc_init(2, 128), lambda: denoising(nc2d_net, ring_batch, 512, 0.02, 20.0),
             lambda p: common.judge_nc2d(net_of(p, nc2d_net)), True),
    "conv_dsm": (conv_init, lambda: denoising(conv_net, blobs, 64, 0.01, 1.0), judge_conv, False),
}


class Training:
    def __init__(self, task, chunk=None):
        init, loss, self.judge, self.average = TASKS[task]
        self.items, self.flops, self.chunk, _ = TRAINING[task]
        self.chunk = chunk or self.chunk
        loss, adam = loss(), optax.adam(RATE)
        first, key = jax.random.split(jax.random.key(A.seed))
        p = jax.jit(init)(first)
        self.state = (p, adam.init(p), jax.tree.map(jnp.copy, p) if self.average else None, key)

        def step(state, _):
            p, moments, average, key = state
            key, now = jax.random.split(key)
            value, gradient = jax.value_and_grad(loss)(p, now)
            update, moments = adam.update(gradient, moments)
            p = optax.apply_updates(p, update)
            if average is not None:
                average = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b, average, p)
            return (p, moments, average, key), value

        # Convolutions are far slower inside a scan on the CPU.
        call = (lambda state: step(state, None)) if self.chunk == 1 else (lambda state: lax.scan(step, state, length=self.chunk))
        self.call = jax.jit(call, donate_argnums=0).lower(self.state).compile()

    def advance(self):
        self.state, loss = self.call(self.state)
        loss.block_until_ready()
        return self.chunk

    def weights(self):
        return self.state[2] if self.average else self.state[0]

    def metric(self):
        return self.judge(self.weights())


def trained(task):
    """The weights of a network after NET_STEPS steps, kept in a file."""
    file = os.path.join(common.HERE, f"jax_{task}_{A.seed}.npz")
    leaves, form = jax.tree.flatten(jax.eval_shape(TASKS[task][0], jax.random.key(0)))
    if not os.path.exists(file):
        t = Training(task)
        for _ in range(0, NET_STEPS, t.chunk):
            t.advance()
        np.savez(file, *[np.asarray(a) for a in jax.tree.leaves(t.weights())])
    stored = np.load(file)
    return jax.tree.unflatten(form, [jnp.asarray(stored[k]) for k in stored.files])


# ---------------------------------------------------------------- everything else: one call is all the work
class Once:
    flops, chunk = 0, 1

    def compile(self, f, *inputs):
        self.inputs, self.key = inputs, jax.random.key(A.seed + 1000)
        self.call = jax.jit(f).lower(*inputs, self.key).compile()

    def advance(self):
        self.key, now = jax.random.split(self.key)
        self.out = self.call(*self.inputs, now)
        self.out.block_until_ready()
        return self.chunk

    def metric(self):
        return self.judge(result(self.out))


class Annealed(Once):
    items, flops, chunk, judge = 1024, common.ALD_FLOPS, 1000, staticmethod(common.judge_ald)

    def __init__(self):
        sigmas = jnp.asarray(np.geomspace(1.0, 0.01, 10), jnp.float32)

        def run(p, key):
            start, key = jax.random.split(key)

            def level(state, sigma):
                alpha = 2e-5 * sigma**2 / 0.01**2

                def step(state, _):
                    x, key = state
                    key, now = jax.random.split(key)
                    s = nc_net(p, x, sigma[None]) / sigma
                    return (x + 0.5 * alpha * s + jnp.sqrt(alpha) * jax.random.normal(now, x.shape), key), None

                return lax.scan(step, state, length=100)[0], None

            return lax.scan(level, (jax.random.uniform(start, (self.items, 64)), key), sigmas)[0][0]

        self.compile(run, trained("ncsn_digits"))


class Flow(Once):
    items, flops, judge = 4096, common.PFODE_FLOPS, staticmethod(common.judge_pfode)

    def __init__(self):
        t = common.edm_sigmas()
        pairs = jnp.asarray(np.stack([t[:-2], t[1:-1]], 1), jnp.float32)
        slope = lambda p, x, sigma: -nc2d_net(p, x, sigma[None])  # dx/dsigma = -sigma * score

        def run(p, key):
            def heun(x, ends):
                a, b = ends[0], ends[1]
                first = slope(p, x, a)
                second = slope(p, x + (b - a) * first, b)
                return x + (b - a) * 0.5 * (first + second), None

            x, _ = lax.scan(heun, t[0] * jax.random.normal(key, (self.items, 2)), pairs)
            return x - pairs[-1, 1] * slope(p, x, pairs[-1, 1])

        self.compile(run, trained("nc2d"))


class Kernels(Once):
    def __init__(self, d, centres=10000, points=10000, h=0.2, block=500):
        self.x, self.y = common.kde_points(d, A.seed, centres, points)
        self.items, self.flops = len(self.x) * len(self.y), 4 * d * len(self.x) * len(self.y)

        def run(x, y, key):
            norms = squares(x)

            def part(y):
                if d == 2:  # differences, one coordinate at a time
                    a = -sum((y[:, k : k + 1] - x[None, :, k]) ** 2 for k in range(d)) / (2 * h**2)
                else:  # |y|^2 is the same for all centres and left out
                    a = (y @ x.T - 0.5 * norms) / h**2
                e = jnp.exp(a - jnp.max(a, 1, keepdims=True))
                return ((e @ x) / jnp.sum(e, 1, keepdims=True) - y) / h**2

            return lax.map(part, y.reshape(-1, block, d)).reshape(-1, d)

        self.compile(run, jnp.asarray(self.x), jnp.asarray(self.y))

    def judge(self, out):
        return common.judge_kde(self.x, self.y, out)


class Langevin(Once):
    judge = staticmethod(common.judge_langevin)

    def __init__(self, chains=10000, steps=1000):
        self.items, self.chunk = chains, steps

        def run(key):
            start, key = jax.random.split(key)
            precision = 1 / RING_STD**2

            def step(state, _):
                x, key = state
                key, now = jax.random.split(key)
                # All means are equally far from 0, so that -|x - m|^2 / 2v and x.m / v differ by a constant.
                shares = jax.nn.softmax((x @ MU32.T) * precision, -1)
                score = (shares @ MU32 - x) * precision
                return (x + 0.01 * score + 0.02**0.5 * jax.random.normal(now, x.shape), key), None

            return lax.scan(step, (4.0 * jax.random.normal(start, (self.items, 2)), key), length=self.chunk)[0][0]

        self.compile(run)


OTHERS = {"sample_ald": Annealed, "sample_pfode": Flow, "kde_score_d2": lambda: Kernels(2), "kde_score_d64": lambda: Kernels(64),
          "langevin_analytic": Langevin}


def curve_point():
    """Adds the point of a curve that is asked for to the tasks."""
    name, at = common.curve(A.task)
    if name == "kde":
        OTHERS[A.task] = lambda: Kernels(2, at["centres"], at["points"], block=min(512, at["points"]))
    elif name == "langevin":
        OTHERS[A.task] = lambda: Langevin(at["chains"], common.chunk_of(1e6, at["chains"], 1000))
    elif name:
        d, n = at["d"], at["batch"]
        batch = lambda key, n: jax.random.normal(key, (n, d))
        loss = dict(exact=implicit, hutchinson=lambda batch, n: probed(1, batch, n), sliced=sliced, denoising=denoising_tanh)[name]
        TRAINING[A.task] = common.curve_training(name, d, n)
        TASKS[A.task] = (mlp_init([d, common.CURVE_WIDTH, common.CURVE_WIDTH, d]), lambda: loss(batch, n), None, False)


if __name__ == "__main__":
    curve_point()
    common.run(A, lambda task, chunk: Training(task, chunk) if task in TASKS else OTHERS[task]())
