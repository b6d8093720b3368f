"""Kernel densities as SciPy and scikit-learn have them, which is the log-density alone, and the speed of numpy's matrix product.
See common.py for the command line."""
import os

import common

A = common.arguments("--scipy", "--sklearn")

import numpy as np


class Product:
    n, quality = 2048, None
    items, flops = 1, 2 * 2048**3

    def __init__(self):
        rng = np.random.default_rng(1)
        self.a, self.b = (rng.standard_normal((self.n, self.n), np.float32) for _ in range(2))

    def advance(self):
        self.a @ self.b
        return 1

    def metric(self):
        return None


class LogDensity:
    queries, flops = 500, 0  # of the 10,000: the rate is per pair

    def __init__(self, d):
        x, y = (p.astype(np.float64) for p in common.kde_points(d, A.seed))
        self.items, y = self.queries * len(x), y[: self.queries]
        if A.scipy:
            from scipy.stats import gaussian_kde

            spread = np.cov(x.T)
            density = gaussian_kde(x.T, bw_method=0.2 / np.sqrt(np.trace(spread) / d))
            self.advance_once = lambda: density.logpdf(y.T)
        else:
            from sklearn.neighbors import KernelDensity

            density = KernelDensity(bandwidth=0.2).fit(x)
            self.advance_once = lambda: density.score_samples(y)

    def advance(self):
        self.advance_once()
        return 1

    def metric(self):
        return None


if __name__ == "__main__":
    common.run(A, lambda task, _: Product() if task == "matmul" else LogDensity(int(task.rpartition("_d")[2])))
