"""Signals, random walks and clusters, written as for NumPy."""

from collections.abc import Callable, Sequence

import mxnet as mx
from mxnet import np, npx

npx.set_np()

Filter = Callable[[np.ndarray], np.ndarray]


def tone(frequency: float, seconds: float = 1.0, rate: int = 64) -> tuple[np.ndarray, np.ndarray]:
    """Times, and a sine wave at these."""
    t = np.arange(0, seconds, 1 / rate)
    return t, np.sin(2 * np.pi * frequency * t)


def moving_average(width: int) -> Filter:
    """A filter: the mean of neighbours."""

    def run(x: np.ndarray) -> np.ndarray:
        total = np.cumsum(np.insert(x, 0, 0.0))
        return (total[width:] - total[:-width]) / width

    return run


def apply_all(x: np.ndarray, filters: Sequence[Filter]) -> np.ndarray:
    """One filter after the other."""
    for run in filters:
        x = run(x)
    return x


def strongest(x: np.ndarray, rate: int = 64) -> float:
    """The frequency with the largest amplitude."""
    spectrum = np.fft.rfft(x)
    frequencies = np.fft.rfftfreq(len(x), d=1 / rate)
    power = np.array(abs(spectrum) ** 2)
    return float(frequencies[int(power.argmax())])


def walks(count: int, steps: int) -> np.ndarray:
    """Random walks, one in each row."""
    moves = np.random.choice(np.array([-1, 1]), size=(count, steps))
    return np.cumsum(moves, axis=1)


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The distances of all points from all points."""
    apart = a[:, None, :] - b[None, :, :]
    return np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))


def k_means(points: np.ndarray, k: int, rounds: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Centres of clusters, and which is next to each point."""
    centres = points[:k].copy()
    nearest = np.zeros(len(points), dtype="int64")
    for _ in range(rounds):
        nearest = distances(points, centres).argmin(axis=1)
        for i in range(k):
            own = points[nearest == i]
            if len(own) > 0:
                centres[i] = own.mean(axis=0)
    return centres, nearest


def autocorrelation(x: np.ndarray, lags: int) -> list[float]:
    """How alike a signal is to itself, later."""
    centred = x - x.mean()
    return [float(np.dot(centred[: len(x) - lag], centred[lag:])) for lag in range(lags)]


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    """Chances from scores."""
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def outliers(x: np.ndarray, limit: float = 2.0) -> list[int]:
    """Places of elements that are far from the mean."""
    far = np.abs(x - np.mean(x)) > limit * np.std(x)
    return [int(i) for i in np.flatnonzero(far & np.isfinite(x))]


def main() -> None:
    """Prints what all of these give."""
    np.random.seed(3)
    t, x = tone(8)
    noisy = x + 0.1 * np.random.uniform(-1, 1, size=x.shape)
    print(t.size, strongest(noisy), apply_all(noisy, [moving_average(3), np.square]).shape)
    paths = walks(5, 100)
    print(paths.shape, paths[:, -1].dtype, (paths**2).mean() > 0)
    points = np.concatenate((np.random.normal(size=(20, 2)), np.random.normal(5, 1, size=(20, 2))))
    centres, nearest = k_means(points, 2)
    print(centres.shape, np.bincount(nearest).sum())
    low, high = np.quantile(points, 0.1), np.quantile(points, 0.9)
    print(low < high, -low <= abs(low), 2.0 - low, divmod(np.array([7.0]), 2)[0])
    print(len(autocorrelation(x, 4)), np.allclose(softmax(x), npx.softmax(x), atol=1e-5))
    print(outliers(np.append(x, 100.0)), bool(np.all(x <= 1)))
    grid, step = np.linspace(0, 1, 5, retstep=True)
    order = np.argsort(-grid)
    print(step, grid[order][::-1].tolist(), np.add(grid, 1, where=grid > 0.5).shape)
    sign, logdet = np.linalg.slogdet(np.eye(3) * 2)
    print(float(sign), np.isclose(logdet, 3 * np.log(2.0)))
    with mx.autograd.pause():
        print(np.tril(np.ones((3, 3), dtype=np.float64)).sum(axis=0)[0].item())
    x[x < 0] = 0
    x[[0, 1]], x[-1] = 5, np.inf
    print(np.isinf(x).sum().item(), np.sort(x)[::-1][:2].tolist(), (~(x > 0)).sum())


if __name__ == "__main__":
    main()
