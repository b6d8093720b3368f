"""What the programs in this folder share: the command line, data and metrics in numpy, and the clock.

A program is asked for one of

    --task T --cold            one training step, and no more
    --task T --steps N         N steps, rounded up to whole chunks, and how good the result is
    --task T --serve           "ready" when everything is compiled, then, for each number on standard input, work for that
                               many seconds; how good the result is at the end of the input

and writes one JSON object a line. The tasks are defined in ../README.md.
"""
import argparse
import json
import math
import os
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
NET_STEPS = 3000  # training steps of the networks that sample_ald and sample_pfode draw with


def arguments(*flags):
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", required=True)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--cold", action="store_true")
    for flag in flags:
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


# ---------------------------------------------------------------- data
RING_R, RING_STD, RING_K = 4.0, 0.3, 8
_angles = 2 * np.pi * np.arange(RING_K) / RING_K
MU = RING_R * np.stack([np.cos(_angles), np.sin(_angles)], 1)
RING_SIZES, D16, D64 = [2, 128, 128, 128, 2], [16, 128, 128, 16], [64, 256, 256, 64]
FREQUENCIES = 0.25 * 32.0 ** (np.arange(16) / 15.0)
DATA_VARIANCE = 8.0  # of a coordinate of the ring, about: nc2d divides its input by sqrt(sigma^2 + 8)
RATE = 1e-3


def ring(rng, n):
    return MU[rng.integers(0, RING_K, n)] + RING_STD * rng.standard_normal((n, 2))


def ring_score(x, variance):
    x = np.asarray(x, np.float64)
    a = -((x[:, None] - MU[None]) ** 2).sum(-1) / (2 * variance)
    w = np.exp(a - a.max(1, keepdims=True))
    w /= w.sum(1, keepdims=True)
    return (w @ MU - x) / variance


def covariance(d):
    i = np.arange(d)
    return 0.5 ** np.abs(i[:, None] - i[None, :])


def cholesky(d):
    return np.linalg.cholesky(covariance(d))


def digits():
    return np.fromfile(os.path.join(HERE, "digits.f32"), "<f4").reshape(1797, 64)


def blobs(rng, n):
    centres, radii = rng.uniform(6, 22, (n, 3, 2)), rng.uniform(2, 4, (n, 3))
    grid = np.arange(28.0)
    down = np.exp(-((grid - centres[:, :, :1]) ** 2) / (2 * radii[..., None] ** 2))
    across = np.exp(-((grid - centres[:, :, 1:]) ** 2) / (2 * radii[..., None] ** 2))
    return 1 / (1 + np.exp(-10 * (np.einsum("nky,nkx->nyx", down, across) - 0.5)))


def kde_points(d, seed, centres=10000, points=10000):
    rng = np.random.default_rng(100 + seed)
    if d == 2:
        return tuple(ring(rng, n).astype(np.float32) for n in (centres, points))
    factor = cholesky(d).T
    return tuple((rng.standard_normal((n, d)) @ factor).astype(np.float32) for n in (centres, points))


def edm_sigmas(n=18, low=0.02, high=20.0, rho=7.0):
    i = np.arange(n) / (n - 1)
    return np.append((high ** (1 / rho) + i * (low ** (1 / rho) - high ** (1 / rho))) ** rho, 0.0)


# ---------------------------------------------------------------- how good a result is; all in float64
def sliced_w2(a, b, projections=256, quantiles=512):
    """The root of the mean, over directions and quantiles, of the squared difference of the quantiles."""
    v = np.random.default_rng(7).standard_normal((a.shape[1], projections))
    v /= np.linalg.norm(v, axis=0)
    q = (np.arange(quantiles) + 0.5) / quantiles
    qa, qb = (np.quantile(np.asarray(x, np.float64) @ v, q, axis=0) for x in (a, b))
    return math.sqrt(((qa - qb) ** 2).mean())


def relative(s, t):
    return ((s - t) ** 2).sum(1).mean() / (t**2).sum(1).mean()


def judge_dsm2d(score):
    rng = np.random.default_rng(12345)
    y = ring(rng, 20000) + 0.5 * rng.standard_normal((20000, 2))
    return dict(fisher_rel=relative(score(y), ring_score(y, RING_STD**2 + 0.25)))


def judge_ring(score):
    y = ring(np.random.default_rng(12345), 20000)
    return dict(fisher_rel=relative(score(y), ring_score(y, RING_STD**2)))


def judge_gauss(d):
    def judge(score):
        y = np.random.default_rng(12345).standard_normal((10000, d)) @ cholesky(d).T
        return dict(fisher_rel=relative(score(y), -y @ np.linalg.inv(covariance(d))))

    return judge


def noised(rng, x, low=0.01, high=1.0):
    sigma = np.exp(np.log(low) + rng.random(len(x)) * np.log(high / low))
    noise = rng.standard_normal(x.shape)
    return x + sigma.reshape([-1] + [1] * (x.ndim - 1)) * noise, sigma, noise


def judge_digits(net):
    y, sigma, noise = noised(np.random.default_rng(12345), np.concatenate([digits()] * 4))
    return dict(denoising_loss=((net(y, sigma) + noise) ** 2).sum(1).mean())


def judge_nc2d(net):
    out = {}
    for sigma in (0.05, 0.5, 5.0):
        rng = np.random.default_rng(12345)
        y = ring(rng, 20000) + sigma * rng.standard_normal((20000, 2))
        out[f"fisher_rel_{sigma:g}"] = relative(net(y, np.full(len(y), sigma)) / sigma, ring_score(y, RING_STD**2 + sigma**2))
    return out


def judge_conv(net):
    y, sigma, noise = noised(np.random.default_rng(12345), blobs(np.random.default_rng(54321), 512))
    out = np.concatenate([net(y[i : i + 64], sigma[i : i + 64]) for i in range(0, 512, 64)])
    return dict(loss_per_pixel=((out + noise) ** 2).mean())


def judge_ald(x):
    return dict(sliced_w2=sliced_w2(np.clip(x, 0, 1), digits()))


def judge_pfode(x):
    return dict(sliced_w2=sliced_w2(x, ring(np.random.default_rng(3), 20000)))


def judge_kde(x, y, out, h=0.2):
    x, y, out = x.astype(np.float64), y[:400].astype(np.float64), out[:400]
    a = -np.stack([((at - x) ** 2).sum(1) for at in y]) / (2 * h**2)
    w = np.exp(a - a.max(1, keepdims=True))
    w /= w.sum(1, keepdims=True)
    truth = (w @ x - y) / h**2
    return dict(relative_error=math.sqrt(((out - truth) ** 2).sum() / (truth**2).sum()))


def judge_langevin(x):
    squares = ((np.asarray(x, np.float64)[:, None] - MU[None]) ** 2).sum(-1)
    share = np.bincount(squares.argmin(1), minlength=RING_K) / len(x)
    near = np.sqrt(squares.min(1)) < 1.5  # without the few points on the way from one mode to another
    return dict(share_error=np.abs(share - 1 / RING_K).max(), mode_variance=squares.min(1)[near].mean() / 2)


# ---------------------------------------------------------------- work counted in products: 2mnk each, nothing else
def mlp_flops(sizes):
    return 2 * sum(i * o for i, o in zip(sizes[:-1], sizes[1:]))


def nc_flops(d, h):
    return 2 * (32 * h + d * h + 5 * h * h + h * d)


CONV_FLOPS = 2 * 9 * (784 * (32 + 32 * 32 + 96 * 32 + 32) + 196 * (32 * 64 + 64 * 64)) + 2 * (32 * 64 + 64 * 32 * 2 + 64 * 64)

# name: batch, flops of a step, steps in a chunk for JAX and for PyTorch
TRAINING = {
    "dsm2d": (512, 512 * 3 * mlp_flops(RING_SIZES), 100, 50),
    "ism_exact": (512, 512 * 9 * mlp_flops(RING_SIZES), 50, 20),
    "ism_exact_d16": (256, 256 * 51 * mlp_flops(D16), 20, 10),
    "ssm": (256, 256 * 6 * mlp_flops(D64), 50, 20),
    "hutch8": (256, 256 * 27 * mlp_flops(D64), 20, 10),
    "ncsn_digits": (256, 256 * 3 * nc_flops(64, 256), 50, 20),
    "nc2d": (512, 512 * 3 * nc_flops(2, 128), 50, 20),
    "conv_dsm": (64, 64 * 3 * CONV_FLOPS, 1, 1),
}


def curve(task):
    """The work and the numbers of a point of a curve: curve_denoising:batch=128,d=64. None for any other task."""
    if not task.startswith("curve_"):
        return None, {}
    name, _, numbers = task.removeprefix("curve_").partition(":")
    return name, {key: int(value) for key, value in (part.split("=") for part in numbers.split(","))}


CURVE_WIDTH = 128  # of the two hidden layers of the curves' network


def curve_training(name, d, batch):
    """As TRAINING has it. A chunk is what takes about a tenth of a second."""
    passes = dict(exact=3 * (1 + d), hutchinson=6, sliced=6, denoising=3)[name]
    flops = batch * passes * mlp_flops([d, CURVE_WIDTH, CURVE_WIDTH, d])
    chunk = chunk_of(4e9, flops, 96)
    return batch, flops, chunk, chunk


def chunk_of(total, cost, most):
    return min(max(int(total / cost), 1), most)


ALD_FLOPS = 1024 * 2 * (64 * 256 + 2 * 256 * 256 + 256 * 64)
PFODE_FLOPS = 4096 * 35 * 2 * (2 * 128 + 2 * 128 * 128 + 128 * 2)


# ---------------------------------------------------------------- the clock
def say(**fields):
    print(json.dumps({k: v for k, v in fields.items() if v is not None}, default=float), flush=True)


def peak_mb():
    """The most memory that this process has held. (On Linux ru_maxrss counts the program that started it, too.)"""
    try:
        with open("/proc/self/status") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM"))
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def timed(work, seconds):
    steps, begin, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < seconds:
        steps += work.advance()
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    say(steps=steps, seconds=wall, cpu=cpu)


def run(arguments, make):
    """make(task, chunk) returns an object with items, flops, advance() -> steps and metric() -> dict."""
    if arguments.cold:
        make(arguments.task, 1).advance()
        say(peak_mb=peak_mb())
        return
    work = make(arguments.task, None)
    if arguments.serve:
        work.advance()  # the first chunk compiles or fills caches
        say(ready=True)
        for line in sys.stdin:
            timed(work, float(line))
        quality = None if arguments.task in TRAINING or curve(arguments.task)[0] else work.metric()
    else:
        steps = 0
        while steps < arguments.steps:
            steps += work.advance()
        quality = work.metric()
    say(items=work.items, flops=work.flops, quality=quality, peak_mb=peak_mb())
