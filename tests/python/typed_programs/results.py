"""What type checkers know of results that depend on arguments. It also runs."""

from typing import Any, assert_type

import numpy as onp

from mxnet import Context, np, npx

Pair = tuple[np.ndarray, np.ndarray]


def choices(x: np.ndarray) -> None:
    """Functions that give more or less as they are asked."""
    assert_type(np.unique(x), np.ndarray)
    assert_type(np.unique(x, return_counts=True), Pair)
    assert_type(np.unique(x, return_index=True), Pair)
    assert_type(np.unique(x, True, True), tuple[np.ndarray, ...])
    assert_type(np.where(x > 1), tuple[np.ndarray, ...])
    assert_type(np.where(x > 1, x, 0), np.ndarray)
    assert_type(np.linspace(0, 1, 5), np.ndarray)
    assert_type(np.linspace(0, 1, retstep=True), tuple[np.ndarray, Any])
    assert_type(np.average(x, weights=x), np.ndarray)
    assert_type(np.average(x, returned=True), Pair)
    assert_type(np.count_nonzero(x), int)
    assert_type(np.count_nonzero(x, axis=0), np.ndarray)
    assert_type(np.histogram(x, bins=3, range=(0, 1), density=True), Pair)
    assert_type(np.meshgrid(x[0], x[1], indexing="ij"), list[np.ndarray])
    assert_type(np.split(x, 2, axis=1), list[np.ndarray])
    assert_type(np.array_split(x, [1], axis=1), list[np.ndarray])
    assert_type(np.atleast_2d(x), np.ndarray)
    assert_type(np.atleast_2d(x, 1.0), list[np.ndarray])
    assert_type(np.percentile(x, [5, 95], axis=0, keepdims=True), np.ndarray)
    assert_type(np.einsum("ij,kj->ik", x, x, optimize=True), np.ndarray)
    assert_type(np.divmod(x, 2), Pair)


def numbers(x: np.ndarray) -> None:
    """Functions of numbers of Python are NumPy's."""
    assert_type(np.sin(1.0), onp.float64)
    assert_type(np.isnan(2), onp.bool_)
    assert_type(np.sin(x), np.ndarray)
    assert_type(np.log([1.0, 2.0]), np.ndarray)
    assert_type(np.add(x, 1), np.ndarray)
    assert_type(np.add(x, 1, out=x, where=x > 1), np.ndarray)
    assert_type(np.exp(x, out=x), np.ndarray)
    root: float = np.sqrt(2)
    assert root > 1
    assert_type(2 * x + onp.ones((2, 2)), np.ndarray)
    assert_type(x == 1, np.ndarray)
    assert_type(float(x.sum()), float)


def factors(x: np.ndarray) -> None:
    """Linear algebra."""
    u, s, vh = np.linalg.svd(x)
    assert_type(u @ np.diag(s) @ vh, np.ndarray)
    assert_type(np.linalg.svd(x, compute_uv=False), np.ndarray)
    assert_type(np.linalg.svd(x, full_matrices=True).Vh, np.ndarray)
    assert_type(np.linalg.qr(x).Q, np.ndarray)
    assert_type(np.linalg.qr(x, mode="r"), np.ndarray)
    assert_type(np.linalg.slogdet(x).logabsdet, np.ndarray)
    assert_type(np.linalg.norm(x, axis=1, keepdims=True), np.ndarray)


def methods(x: np.ndarray) -> None:
    """Methods have the arguments of the functions."""
    assert_type(x.reshape(-1, 2).transpose(1, 0).astype(np.float64), np.ndarray)
    assert_type(x.sum(axis=(0, 1), keepdims=True, dtype="float64"), np.ndarray)
    assert_type(x.std(axis=0, ddof=1), np.ndarray)
    assert_type(x.clip(0, 1).round(2).max(axis=-1), np.ndarray)
    assert_type(x.nonzero(), tuple[np.ndarray, ...])
    assert_type(x.shape, tuple[int, ...])
    assert_type(np.fft.irfft(np.fft.rfft(x)), np.ndarray)
    assert_type(np.fft.fftshift(np.fft.fftfreq(4)), np.ndarray)


def devices(x: np.ndarray) -> None:
    """Where arrays are."""
    assert_type(x.device, Context)
    assert_type(npx.cpu(1), Context)
    assert_type(np.zeros((2, 2), device=x.device).to_device(npx.cpu()), np.ndarray)


def errors(x: np.ndarray) -> None:
    """What a checker finds: strict mode complains of comments that nothing needs."""
    x.exp()  # type: ignore[attr-defined]
    x.reshape("two")  # type: ignore[arg-type]
    np.zeros((2, 2), shape=3)  # type: ignore[misc]
    np.zeros(2, device=3)  # type: ignore[arg-type]
    np.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def main() -> None:
    """Runs everything but the errors."""
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for check in (choices, numbers, factors, methods, devices):
        check(x.copy())


if __name__ == "__main__":
    main()
