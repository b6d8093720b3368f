"""The tasks in PyTorch: eager, or with --compile through torch.compile. Needs torch and numpy; see common.py for the command line.

For each task the fastest of the usual forms is taken: second derivatives by double backward where that is faster, and the kernel
density as attention."""
import math
import os

import common
from common import DATA_VARIANCE, D16, D64, FREQUENCIES, MU, NET_STEPS, RATE, RING_K, RING_SIZES, RING_STD, TRAINING

A = common.arguments("--compile")

import numpy as np
import torch
import torch.nn.functional as F
from torch.func import jvp, vmap

torch.set_num_threads(A.threads)
FORM = {"ism_exact": "backward", "ism_exact_d16": "forward", "ssm": "backward", "hutch8": "backward"}.get(
    A.task, {"exact": "forward", "hutchinson": "backward"}.get(common.curve(A.task)[0]))
if A.compile and FORM:
    FORM = "forward"  # torch.compile takes no double backward
MU32 = torch.tensor(MU, dtype=torch.float32)
WAVES = torch.tensor(FREQUENCIES, dtype=torch.float32)


# ---------------------------------------------------------------- data
def ring_batch(n):
    return MU32[torch.randint(RING_K, (n,))] + RING_STD * torch.randn(n, 2)


def gauss_batch(d):
    factor = torch.tensor(common.cholesky(d).T, dtype=torch.float32).contiguous()
    return lambda n: torch.randn(n, d) @ factor


def digits_batch():
    all = torch.from_numpy(common.digits())
    return lambda n: all[torch.randint(all.shape[0], (n,))]


def blobs(n):
    c, r = 6 + 16 * torch.rand(n, 3, 2), 2 + 2 * torch.rand(n, 3)
    grid, k = torch.arange(28, dtype=torch.float32), (-0.5 / (r * r))[..., None]
    down, across = torch.exp((grid - c[:, :, :1]) ** 2 * k), torch.exp((grid - c[:, :, 1:]) ** 2 * k)
    return torch.sigmoid(10 * (torch.einsum("nky,nkx->nyx", down, across) - 0.5))[:, None]


def log_uniform(n, low, high):
    return torch.exp(math.log(low) + torch.rand(n) * math.log(high / low))


# ---------------------------------------------------------------- networks: flat lists of weights
def linear(i, o, bias=True):
    w = (torch.randn(o, i) / math.sqrt(i)).requires_grad_()
    return [w, torch.zeros(o, requires_grad=True)] if bias else [w]


def mlp_init(sizes):
    return lambda: [t for i, o in zip(sizes[:-1], sizes[1:]) for t in linear(i, o)]


def mlp(p, x, activation):
    for k in range(0, len(p) - 2, 2):
        x = activation(F.linear(x, p[k], p[k + 1]))
    return F.linear(x, p[-2], p[-1])


def features(sigma):
    a = sigma.log()[:, None] * WAVES
    return torch.cat([a.sin(), a.cos()], -1)


def nc_init(d, h):
    # embedding, three layers, what the level adds to each, output
    return lambda: (linear(32, h) + linear(d, h) + linear(h, h) + linear(h, h)
                    + linear(h, h, False) + linear(h, h, False) + linear(h, h, False) + linear(h, d))


def nc_net(p, x, sigma):
    """sigma times the score; sigma is [n], or [1] for all alike."""
    e = F.silu(F.linear(features(sigma), p[0], p[1]))
    for k in range(3):
        x = F.silu(F.linear(x, p[2 + 2 * k], p[3 + 2 * k]) + F.linear(e, p[8 + k]))
    return F.linear(x, p[11], p[12])


def nc2d_net(p, x, sigma):
    return nc_net(p, x * torch.rsqrt(sigma * sigma + DATA_VARIANCE)[:, None], sigma)


def conv_init():
    filters = [(torch.randn(o, i, 3, 3) / math.sqrt(9 * i), torch.zeros(o))
               for i, o in [(1, 32), (32, 32), (32, 64), (64, 64), (96, 32), (32, 1)]]
    flat = [t for w, b in filters for t in (w.to(memory_format=torch.channels_last).requires_grad_(), b.requires_grad_())]
    return linear(32, 64) + flat + linear(64, 32, False) + linear(64, 64, False) + linear(64, 32, False)


def conv_net(p, x, sigma):  # x [n, 1, 28, 28]
    e = F.silu(F.linear(features(sigma), p[0], p[1]))
    x = x.contiguous(memory_format=torch.channels_last)
    level = lambda w: F.linear(e, w)[:, :, None, None]
    h = F.silu(F.conv2d(x, p[2], p[3], padding=1) + level(p[14]))
    skip = F.silu(F.conv2d(h, p[4], p[5], padding=1))
    # Steps of 2 over 28 pixels need one row and one column of zeros: at the end, as JAX puts them.
    h = F.silu(F.conv2d(F.pad(skip, (0, 1, 0, 1)), p[6], p[7], stride=2) + level(p[15]))
    h = F.silu(F.conv2d(h, p[8], p[9], padding=1))
    h = torch.cat([F.interpolate(h, scale_factor=2, mode="nearest"), skip], 1)
    h = F.silu(F.conv2d(h, p[10], p[11], padding=1) + level(p[16]))
    return F.conv2d(h, p[12], p[13], padding=1)


# ---------------------------------------------------------------- losses
def squares(x):
    return (x * x).sum(-1)


def exact_trace(f, x):
    d = x.shape[1]
    if FORM == "backward":
        x = x.detach().requires_grad_(True)
        s = f(x)
        return s, sum(torch.autograd.grad(s[:, i].sum(), x, create_graph=True)[0][:, i] for i in range(d))
    columns = vmap(lambda e: jvp(f, (x,), (e.expand_as(x),))[1])(torch.eye(d))
    return f(x), torch.einsum("ibi->b", columns)


def hutchinson(f, x, k):
    v = torch.randint(0, 2, (k, *x.shape)).float() * 2 - 1
    if FORM == "backward":
        x = x.detach().requires_grad_(True)
        s = f(x)
        if k == 1:
            (g,) = torch.autograd.grad((s * v[0]).sum(), x, create_graph=True)
            return s, (g * v[0]).sum(-1)
        (g,) = torch.autograd.grad(s, x, v, create_graph=True, is_grads_batched=True)
        return s, (g * v).sum(-1).mean(0)
    if k == 1:
        s, jv = jvp(f, (x,), (v[0],))
        return s, (v[0] * jv).sum(-1)
    return f(x), (v * vmap(lambda t: jvp(f, (x,), (t,))[1])(v)).sum(-1).mean(0)


def loss_dsm2d(p):
    x = ring_batch(512)
    e = torch.randn_like(x)
    return squares(0.5 * mlp(p, x + 0.5 * e, F.silu) + e).mean()


def implicit(batch, n):
    def loss(p):
        s, trace = exact_trace(lambda z: mlp(p, z, torch.tanh), batch(n))
        return (0.5 * squares(s) + trace).mean()

    return loss


def probed(k, batch, n):
    def loss(p):
        s, trace = hutchinson(lambda z: mlp(p, z, torch.tanh), batch(n), k)
        return (0.5 * squares(s) + trace).mean()

    return loss


def sliced(batch, n):
    def loss(p):
        x = batch(n).requires_grad_(True)
        v = torch.randn_like(x)
        vs = (mlp(p, x, torch.tanh) * v).sum(-1)
        (g,) = torch.autograd.grad(vs.sum(), x, create_graph=True)
        return (0.5 * vs**2 + (g * v).sum(-1)).mean()

    return loss


def denoising_tanh(batch, n):
    def loss(p):
        x = batch(n)
        e = torch.randn_like(x)
        return squares(0.5 * mlp(p, x + 0.5 * e, torch.tanh) + e).mean()

    return loss


def denoising(net, batch, n, low, high):
    def loss(p):
        x, sigma = batch(n), log_uniform(n, low, high)
        e = torch.randn_like(x)
        r = net(p, x + sigma.view((n,) + (1,) * (x.dim() - 1)) * e, sigma) + e
        return squares(r.flatten(1)).mean()

    return loss


# ---------------------------------------------------------------- training
numbers = lambda a: torch.tensor(np.asarray(a), dtype=torch.float32)
result = lambda t: t.detach().numpy().astype(np.float64)


def score_of(p, activation):
    return lambda y: result(mlp(p, numbers(y), activation))


def net_of(p, net):
    return lambda y, sigma: result(net(p, numbers(y), numbers(sigma)))


def judge_conv(p):
    net = net_of(p, conv_net)
    return common.judge_conv(lambda y, sigma: net(y[:, None], sigma)[:, 0])


# name: weights, loss, how good they are, whether their moving average is kept
TASKS = {
    "dsm2d": (mlp_init(RING_SIZES), lambda: loss_dsm2d, lambda p: common.judge_dsm2d(score_of(p, F.silu)), False),
    "ism_exact": (mlp_init(RING_SIZES), lambda: implicit(ring_batch, 512), lambda p: common.judge_ring(score_of(p, torch.tanh)), False),
    "ism_exact_d16": (mlp_init(D16), lambda: implicit(gauss_batch(16), 256),
                      lambda p: common.judge_gauss(16)(score_of(p, torch.tanh)), False),
    "ssm": (mlp_init(D64), lambda: probed(1, gauss_batch(64), 256), lambda p: common.judge_gauss(64)(score_of(p, torch.tanh)), False),
    "hutch8": (mlp_init(D64), lambda: probed(8, gauss_batch(64), 256), lambda p: common.judge_gauss(64)(score_of(p, torch.tanh)), False),
    "ncsn_digits": (nc_init(64, 256), lambda: denoising(nc_net, digits_batch(), 256, 0.01, 1.0),
                    lambda p: common.judge_digits(net_of(p, nc_net)), True),
    "nc2d": (nc_init(2, 128), lambda: denoising(nc2d_net, ring_batch, 512, 0.02, 20.0),
             lambda p: common.judge_nc2d(net_of(p, nc2d_net)), True),
    "conv_dsm": (conv_init, lambda: denoising(conv_net, blobs, 64, 0.01, 1.0), judge_conv, False),
}


class Training:
    def __init__(self, task, chunk=None):
        init, loss, self.judge, average = TASKS[task]
        self.items, self.flops, _, self.chunk = TRAINING[task]
        self.chunk = chunk or self.chunk
        torch.manual_seed(A.seed)
        self.p, self.loss = init(), loss()
        self.adam = torch.optim.Adam(self.p, lr=RATE, fused=True)
        self.average = [t.detach().clone() for t in self.p] if average else None
        if A.compile:
            self.loss = torch.compile(self.loss)

    def advance(self):
        total = 0.0
        for _ in range(self.chunk):
            self.adam.zero_grad(set_to_none=True)
            loss = self.loss(self.p)
            loss.backward()
            self.adam.step()
            if self.average:
                with torch.no_grad():
                    torch._foreach_lerp_(self.average, self.p, 0.001)
            total = total + loss.detach()
        float(total)
        return self.chunk

    def weights(self):
        return self.average or [t.detach() for t in self.p]

    def metric(self):
        with torch.no_grad():
            return self.judge(self.weights())


def trained(task):
    """The weights of a network after NET_STEPS steps, kept in a file. They are the same with --compile."""
    file = os.path.join(common.HERE, f"torch_{task}_{A.seed}.npz")
    if not os.path.exists(file):
        t = Training(task)
        for _ in range(0, NET_STEPS, t.chunk):
            t.advance()
        np.savez(file, *[a.numpy() for a in t.weights()])
    stored = np.load(file)
    return [torch.from_numpy(stored[k]) for k in stored.files]


# ---------------------------------------------------------------- everything else: one call is all the work
class Once:
    flops, chunk = 0, 1

    def compiled(self, f):
        return torch.compile(f, dynamic=False) if A.compile else f

    def advance(self):
        with torch.no_grad():
            self.out = self.unit()
        return self.chunk

    def metric(self):
        return self.judge(result(self.out))


class Annealed(Once):
    items, flops, chunk, judge = 1024, common.ALD_FLOPS, 1000, staticmethod(common.judge_ald)

    def __init__(self):
        p = trained("ncsn_digits")
        torch.manual_seed(A.seed + 1000)
        self.sigmas = numbers(np.geomspace(1.0, 0.01, 10))

        def step(x, sigma):
            alpha = 2e-5 * sigma * sigma / 0.01**2
            return x + (0.5 * alpha / sigma) * nc_net(p, x, sigma) + torch.sqrt(alpha) * torch.randn_like(x)

        self.step = self.compiled(step)

    def unit(self):
        x = torch.rand(self.items, 64)
        for i in range(10):
            sigma = self.sigmas[i : i + 1].clone()
            for _ in range(100):
                x = self.step(x, sigma)
        return x


class Flow(Once):
    items, flops, judge = 4096, common.PFODE_FLOPS, staticmethod(common.judge_pfode)

    def __init__(self):
        self.p = trained("nc2d")
        torch.manual_seed(A.seed + 1000)
        self.t = numbers(common.edm_sigmas())

        def heun(x, a, b):
            first = -nc2d_net(self.p, x, a)
            second = -nc2d_net(self.p, x + (b - a) * first, b)
            return x + (b - a) * 0.5 * (first + second)

        self.heun = self.compiled(heun)

    def unit(self):
        x = self.t[0] * torch.randn(self.items, 2)
        for i in range(17):
            x = self.heun(x, self.t[i : i + 1].clone(), self.t[i + 1 : i + 2].clone())
        return x + self.t[17] * nc2d_net(self.p, x, self.t[17:18])


class Kernels(Once):
    def __init__(self, d, centres=10000, points=10000, h=0.2, block=500):
        points, at = common.kde_points(d, A.seed, centres, points)
        self.items, self.flops, self.d, self.h, self.block = len(points) * len(at), 4 * d * len(points) * len(at), d, h, block
        self.x, self.y = numbers(points), numbers(at)
        norms = 0.5 * squares(self.x)
        if not A.compile:  # attention with -|x|^2/2 as one more column of the keys
            one, zero = torch.ones(len(at), 1), torch.zeros(len(points), 1)
            self.q = torch.cat([self.y, one], 1)[None, None]
            self.k = torch.cat([self.x, -norms[:, None]], 1)[None, None]
            self.v = torch.cat([self.x, zero], 1)[None, None]
            return
        turned = self.x.T.contiguous()
        self.part = self.compiled(
            lambda y: (torch.softmax(torch.addmm(norms, y, turned, beta=-1 / h**2, alpha=1 / h**2), 1) @ self.x - y) / h**2)

    def unit(self):
        if A.compile:
            return torch.cat([self.part(y) for y in self.y.split(self.block)])
        mean = F.scaled_dot_product_attention(self.q, self.k, self.v, scale=1 / self.h**2)[0, 0, :, : self.d]
        return (mean - self.y) / self.h**2

    def judge(self, out):
        return common.judge_kde(self.x.numpy(), self.y.numpy(), out)


class Langevin(Once):
    judge = staticmethod(common.judge_langevin)

    def __init__(self, chains=10000, steps=1000):
        self.items, self.chunk = chains, steps
        torch.manual_seed(A.seed)
        precision = 1 / RING_STD**2
        means = (MU32.T * precision).contiguous()

        def step(x):
            score = (torch.softmax(x @ means, -1) @ MU32 - x) * precision
            return x + 0.01 * score + 0.02**0.5 * torch.randn_like(x)

        self.step = self.compiled(step)

    def unit(self):
        x = 4.0 * torch.randn(self.items, 2)
        for _ in range(self.chunk):
            x = self.step(x)
        return x


OTHERS = {"sample_ald": Annealed, "sample_pfode": Flow, "kde_score_d2": lambda: Kernels(2), "kde_score_d64": lambda: Kernels(64),
          "langevin_analytic": Langevin}


def curve_point():
    """Adds the point of a curve that is asked for to the tasks."""
    name, at = common.curve(A.task)
    if name == "kde":
        OTHERS[A.task] = lambda: Kernels(2, at["centres"], at["points"])
    elif name == "langevin":
        OTHERS[A.task] = lambda: Langevin(at["chains"], common.chunk_of(1e6, at["chains"], 1000))
    elif name:
        d, n = at["d"], at["batch"]
        batch = lambda n: torch.randn(n, d)
        loss = dict(exact=implicit, hutchinson=lambda batch, n: probed(1, batch, n), sliced=sliced, denoising=denoising_tanh)[name]
        TRAINING[A.task] = common.curve_training(name, d, n)
        TASKS[A.task] = (mlp_init([d, common.CURVE_WIDTH, common.CURVE_WIDTH, d]), lambda: loss(batch, n), None, False)


if __name__ == "__main__":
    curve_point()
    common.run(A, lambda task, chunk: Training(task, chunk) if task in TASKS else OTHERS[task]())
