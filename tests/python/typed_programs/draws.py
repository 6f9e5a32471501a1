"""Draws, methods of functions and elements in a row, as ordinary programs of mx.np write them."""
from mxnet import np

concentration = np.array([1.0, 2.0, 3.0])
g = np.random.gamma(concentration, 2.0, size=(4, 3))
g = np.random.gamma(2.0, concentration)
g = np.random.standard_gamma(1.5, size=3)
g = np.random.lognormal(concentration, [0.5, 1.0, 2.0])
g = np.random.vonmises(0.0, concentration)
g = np.random.triangular(-1.0, 0.0, concentration)
g = np.random.negative_binomial(3, 0.5, size=2)
g = np.random.randint(0, 10, (2, 3), dtype="int32")
g = np.random.choice(5, 3, p=[0.1, 0.2, 0.3, 0.2, 0.2])
g = np.random.multinomial(10, concentration / 6, size=2)

rng = np.random.default_rng(7)
x: np.ndarray = rng.normal(0.0, concentration, size=(2, 3))
x = rng.integers(10, size=4, endpoint=True)
x = rng.choice(concentration, 2, replace=False)
x = rng.permuted(x, axis=0)
rng.shuffle(x)
data: bytes = rng.bytes(4)
children = rng.spawn(2)
x = children[0].gamma(concentration, 1.0)
old = np.random.RandomState(3)
old.seed(4)
x = old.rand(2, 3) + old.randn(2, 3)

total: np.ndarray = np.add.reduce(x, axis=1, keepdims=True)
running = np.maximum.accumulate(x, axis=0)
table = np.multiply.outer([1, 2], np.array([3.0, 4.0]))
np.add.at(x, ([0, 1], [1, 2]), 1.0)
summed: np.ndarray = np.add(x, 1, out=x)

x.flat[2] = 5
x.flat = 0
for value in x.flat:
    print(float(value))
first: np.ndarray = x.flat[0]
steps: tuple[int, ...] = x.strides
x.partition(1, axis=0)
path, text = np.einsum_path("ij,jk->ik", x, x.T)

stacked: np.ndarray = np.vstack(x) + np.stack(x, axis=0)
x = np.delete(np.insert(x, slice(0, 2), 9, axis=0), slice(0, 2), axis=0)
x = np.r_[1:4, 0, 4] + np.c_[[1, 2, 3], [4, 5, 6]].sum()
rank: np.ndarray = np.linalg.matrix_rank(np.ones((3, 4)), tol=1.0)
inputs: int = np.add.nin
table = np.einsum("ij,jk,kl->il", np.ones((2, 2)), np.eye(2), np.eye(2), optimize=["einsum_path", (0, 1), (0, 1)])
seeded = np.random.Generator(np.random.PCG64(np.random.SeedSequence(4)))
try:
    inverse: np.ndarray = np.linalg.inv(np.zeros((2, 2)) + np.half(0))
    print(inverse)
except np.linalg.LinAlgError as error:
    print(error)
