"""Least squares, ridge and logistic regression, written as for NumPy."""

from mxnet import autograd, np, npx


def make_data(n: int, k: int, noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, targets, and the weights behind them."""
    np.random.seed(7)
    x = np.random.normal(size=(n, k))
    w = np.linspace(-1.0, 1.0, k)
    y = x @ w + noise * np.random.normal(size=n)
    return x, y, w


def standardize(x: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1."""
    mean, spread = x.mean(axis=0), x.std(axis=0)
    return (x - mean) / np.maximum(spread, 1e-6)


def least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The weights with the smallest sum of squares."""
    q, r = np.linalg.qr(x)
    return np.linalg.solve(r, q.T @ y)


def ridge(x: np.ndarray, y: np.ndarray, strength: float = 0.1) -> np.ndarray:
    """Weights that are kept small."""
    k = x.shape[1]
    gram = x.T.dot(x) + strength * np.eye(k)
    u, s, vt = np.linalg.svd(gram)
    return vt.T @ np.diag(1 / s) @ u.T @ x.T @ y


def score(y: np.ndarray, guess: np.ndarray) -> float:
    """The part of the variance that is explained."""
    rest = ((y - guess) ** 2).sum()
    total = np.square(y - np.mean(y)).sum()
    return 1 - float(rest) / float(total)


def logistic(x: np.ndarray, labels: np.ndarray, steps: int) -> tuple[np.ndarray, list[float]]:
    """Weights of a logistic regression by gradient descent, and the losses on the way."""
    w = np.zeros(x.shape[1])
    w.attach_grad()
    losses: list[float] = []
    for step in range(steps):
        with autograd.record():
            chance = npx.sigmoid(np.dot(x, w))
            loss = -(labels * np.log(chance) + (1 - labels) * np.log1p(-chance)).mean()
        loss.backward()
        assert w.grad is not None
        w -= 0.5 * w.grad
        if step % 10 == 0:
            losses.append(loss.item())
    return w, losses


def confusion(labels: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """How often each label got each guess."""
    table = np.zeros((2, 2), dtype=np.int64)
    for i, j in zip(labels.astype(int).tolist(), guess.astype("int64").tolist()):
        table[i, j] += 1
    return table


def report(name: str, values: np.ndarray) -> str:
    """A line about an array."""
    low, high = np.percentile(values, [25, 75]).tolist()
    return f"{name:10s} {values.shape} {values.min().item():.2f} {low:.2f} {high:.2f}"


def folds(n: int, count: int) -> list[np.ndarray]:
    """Shuffled indices in parts of about one size."""
    order = np.random.permutation(n)
    return np.array_split(order, count)


def cross_validate(x: np.ndarray, y: np.ndarray, count: int = 4) -> np.ndarray:
    """Scores of ridge regression on each part."""
    scores: list[float] = []
    for part in folds(len(x), count):
        mask = np.ones(len(x), dtype=bool)
        mask[part] = False
        weights = ridge(x[mask], y[mask])
        scores.append(score(y[part], x[part] @ weights))
    return np.array(scores)


def main() -> None:
    """Fits and reports."""
    x, y, w = make_data(200, 5, noise=0.1)
    x = standardize(x)
    fitted = least_squares(x, y)
    print(report("residuals", y - x @ fitted))
    print(score(y, x @ fitted) > 0.9, np.allclose(fitted, w, atol=0.5))
    labels = np.where(y > 0, 1.0, 0.0)
    weights, losses = logistic(x, labels, steps=50)
    print(losses[0] > losses[-1], confusion(labels, x @ weights > 0).sum().item())
    print(cross_validate(x, y).round(1).tolist())
    (positive,) = np.nonzero(labels)
    print(len(positive), np.argmax(np.abs(weights)).item())
    npx.save("regression.params", {"weights": weights})
    print(sorted(npx.load("regression.params")))


if __name__ == "__main__":
    main()
