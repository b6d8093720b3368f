"""The task langevin_analytic in torchebm: its sampler, on the exact score of the ring. Needs torchebm, torch and numpy; see
common.py for the command line."""
import common
from common import MU, RING_STD

A = common.arguments()

import numpy as np
import torch
from torchebm.core import BaseModel
from torchebm.samplers import LangevinDynamics

torch.set_num_threads(A.threads)
MU32 = torch.tensor(MU, dtype=torch.float32)
PRECISION = 1 / RING_STD**2


class Ring(BaseModel):
    """The energy of the ring with its gradient in closed form, which torchebm's samplers use where there is one."""

    def __init__(self):
        super().__init__()
        self.means = (MU32.T * PRECISION).contiguous()

    def forward(self, x):
        return 0.5 * PRECISION * (x * x).sum(-1) - torch.logsumexp(x @ self.means, -1)

    def gradient(self, x):
        return (x - torch.softmax(x @ self.means, -1) @ MU32) * PRECISION


class Langevin:
    flops = 0

    def __init__(self, chains=10000, steps=1000):
        self.items, self.chunk = chains, steps
        torch.manual_seed(A.seed)
        self.sampler = LangevinDynamics(Ring(), step_size=0.01)

    def advance(self):
        self.out = self.sampler.sample(x=4.0 * torch.randn(self.items, 2), n_steps=self.chunk)
        return self.chunk

    def metric(self):
        return common.judge_langevin(self.out.numpy().astype(np.float64))


def make(task, chunk):
    name, at = common.curve(task)
    if name == "langevin":
        return Langevin(at["chains"], common.chunk_of(1e6, at["chains"], 1000))
    if task != "langevin_analytic":
        raise SystemExit(f"task {task}: torchebm has only langevin_analytic")
    return Langevin()


if __name__ == "__main__":
    common.run(A, make)
