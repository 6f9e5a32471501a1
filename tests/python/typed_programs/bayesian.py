"""Bayesian linear regression, where a normal distribution stands for what is known of the weights,
and a mixture that NumPy's functions sort out."""

import mxnet.gluon.probability as mgp
from mxnet import autograd, gluon, np, npx
from mxnet.gluon import nn


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def evidence(mean: np.ndarray, spread: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """What is lost by taking the weights for a normal distribution."""
    weights = mgp.Normal(mean, np.exp(spread))
    drawn = weights.sample()
    seen = mgp.Normal(np.dot(x, drawn), 0.5).log_prob(y).sum()
    prior: np.ndarray = mgp.kl_divergence(weights, mgp.Normal(0.0, 1.0)).sum()
    return prior - seen


def fit(x: np.ndarray, y: np.ndarray, steps: int) -> tuple[np.ndarray, list[float]]:
    mean, spread = np.zeros(x.shape[1]), np.full((x.shape[1],), -1.0)
    for parameter in (mean, spread):
        parameter.attach_grad()
    losses: list[float] = []
    for _ in range(steps):
        with autograd.record():
            loss = evidence(mean, spread, x, y)
        loss.backward()
        mean -= 0.002 * mean.grad
        spread -= 0.002 * spread.grad
        losses.append(float(loss))
    return mean, losses


def sort_out(points: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Points above the mean of their column, and how many there are in each row."""
    above = points > points.mean(axis=0)
    kept = points[above]
    points[~above] = 0
    points[0, :] += 1
    rows, _ = np.nonzero(points)
    _, counts = np.unique(rows, return_counts=True)
    weights, edges = np.histogram(kept, bins=4, range=(-2, 2), weights=np.abs(kept))
    assert weights.shape[0] + 1 == len(edges)
    return kept, counts.tolist()


class Encoder(gluon.HybridBlock):
    def __init__(self, units: int) -> None:
        super().__init__()
        self.hidden, self.head = nn.Dense(8, activation="tanh"), nn.Dense(2 * units)

    def forward(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, spread = np.split(self.head(self.hidden(x)), 2, axis=1)
        return mean, npx.activation(spread, act_type="softrelu")


def main() -> None:
    npx.set_np()
    np.random.seed(3)
    x = np.random.normal(size=(40, 3))
    truth = np.array([1.0, -2.0, 0.5])
    mean, losses = fit(x, x @ truth, 100)
    assert losses[-1] < losses[0] and float(np.abs(mean - truth).max()) < 1
    kept, counts = sort_out(np.random.normal(size=(6, 4)))
    assert kept.size > 0 and sum(counts) >= kept.size
    encoder = Encoder(2)
    encoder.initialize()
    encoder.hybridize()
    mu, sigma = encoder(x)
    code = mgp.Independent(mgp.Normal(mu, sigma), 1)
    assert code.log_prob(code.sample()).shape == (40,)
    u, s, v = np.linalg.svd(x[:3])
    assert np.allclose((u * s) @ v, x[:3], atol=1e-4)
    print(softmax(mean).tolist(), np.einsum("ij,kj->ik", x[:2], x[:2]).shape, str(x.dtype))


if __name__ == "__main__":
    main()
