"""Filters, histograms and patches of pictures, written as for NumPy."""

import math
from collections.abc import Iterator

import numpy as onp

from mxnet import np


def picture(size: int = 32) -> np.ndarray:
    """A disc with a gradient on it."""
    y, x = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    centre = (size - 1) / 2
    disc = (x - centre) ** 2 + (y - centre) ** 2 < (size / 3) ** 2
    return np.where(disc, 0.5 + x / (2 * size), 0.1)


def gaussian(width: int, sigma: float) -> np.ndarray:
    """Weights of a blur, whose sum is 1."""
    at = np.arange(width, dtype="float32") - (width - 1) / 2
    line = np.exp(-(at**2) / (2 * sigma**2))
    kernel = np.outer(line, line)
    kernel /= kernel.sum()
    return kernel


def patches(image: np.ndarray, width: int) -> Iterator[tuple[int, int, np.ndarray]]:
    """Every patch with its place."""
    rows, columns = image.shape
    for i in range(rows - width + 1):
        for j in range(columns - width + 1):
            yield i, j, image[i : i + width, j : j + width]


def blurred(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """The picture under a filter, with its border repeated."""
    width = kernel.shape[0]
    padded = np.pad(image, ((width // 2, width // 2), (width // 2, width // 2)), mode="edge")
    out = np.zeros_like(image)
    for i in range(width):
        for j in range(width):
            out += kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return out


def edges(image: np.ndarray) -> np.ndarray:
    """Length of the gradient."""
    down = np.diff(image, axis=0, append=image[-1:])
    right = np.diff(image, axis=1, append=image[:, -1:])
    return np.sqrt(down**2 + right**2)


def equalized(image: np.ndarray, bins: int = 16) -> np.ndarray:
    """The picture with its shades spread evenly."""
    counts, borders = np.histogram(image, bins=bins, range=(0.0, 1.0))
    share = np.cumsum(counts) / counts.sum()
    middle = (borders[1:] + borders[:-1]) / 2
    return np.interp(image.ravel(), middle, share).reshape(image.shape)


def shades(image: np.ndarray) -> dict[float, int]:
    """How often each rounded shade occurs."""
    values, counts = np.unique(image.round(1), return_counts=True)
    return {float(v): int(c) for v, c in zip(values, counts)}


def mosaic(image: np.ndarray, size: int) -> np.ndarray:
    """Means of squares."""
    rows, columns = image.shape[0] // size, image.shape[1] // size
    squares = image[: rows * size, : columns * size].reshape(rows, size, columns, size)
    return squares.transpose(0, 2, 1, 3).mean(axis=(2, 3))


def brightest(image: np.ndarray) -> tuple[int, int]:
    """Where the brightest shade is."""
    row, column = np.unravel_index(np.argmax(image), image.shape)
    return int(row), int(column)


def channels(image: np.ndarray) -> np.ndarray:
    """Three turned copies of a picture, in the last dimension."""
    turned = [np.rot90(image, k) for k in range(3)]
    stacked = np.stack(turned, axis=-1)
    red, green, blue = np.split(stacked, 3, axis=-1)
    assert red.shape == green.shape == blue.shape
    return np.concatenate([red, green, blue], axis=-1)


def main() -> None:
    """Works on one picture."""
    image = picture()
    soft = blurred(image, gaussian(5, sigma=1.2))
    print(soft.shape, math.isclose(soft.mean().item(), image.mean().item(), rel_tol=0.1))
    print(brightest(soft), edges(soft).max() < 1)
    print(equalized(image).dtype, len(shades(image)))
    print(mosaic(image, 8).shape, channels(image).shape)
    print(sum(1 for _, _, patch in patches(image, 30) if patch.any()))
    host: onp.ndarray = soft.asnumpy()
    print(host.flags["C_CONTIGUOUS"], (soft > 0.5).sum().item() > 100)
    clipped = np.clip(image * 2, 0, 1, out=np.empty_like(image))
    print((clipped == 1).any(), np.median(clipped).item() >= 0)


if __name__ == "__main__":
    main()
