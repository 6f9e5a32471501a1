"""Generators of mx.np.random with a seed of their own: repeatable, apart from everything else, with
the methods, shapes and dtypes of NumPy's."""
import copy
import gc
import inspect
import pickle
import threading

import numpy as onp
import pytest

import mxnet as mx
from mxnet import np

stats = pytest.importorskip("scipy.stats")
N = 20000

# Each method with arguments, and what it draws; None: no distribution of SciPy is compared.
DRAWS = [
    ("random", (), stats.uniform()),
    ("uniform", (-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    ("normal", (1.0, 2.0), stats.norm(1.0, 2.0)),
    ("standard_normal", (), stats.norm()),
    ("standard_exponential", (), stats.expon()),
    ("standard_gamma", (2.5,), stats.gamma(2.5)),
    ("exponential", (2.0,), stats.expon(scale=2.0)),
    ("gamma", (2.0, 3.0), stats.gamma(2.0, scale=3.0)),
    ("beta", (2.0, 3.0), stats.beta(2.0, 3.0)),
    ("chisquare", (3.0,), stats.chi2(3.0)),
    ("f", (5.0, 9.0), stats.f(5.0, 9.0)),
    ("gumbel", (1.0, 2.0), stats.gumbel_r(1.0, 2.0)),
    ("laplace", (1.0, 2.0), stats.laplace(1.0, 2.0)),
    ("logistic", (1.0, 2.0), stats.logistic(1.0, 2.0)),
    ("lognormal", (0.5, 0.7), stats.lognorm(0.7, scale=onp.exp(0.5))),
    ("noncentral_chisquare", (3.0, 2.0), stats.ncx2(3.0, 2.0)),
    ("noncentral_f", (3.0, 7.0, 2.0), stats.ncf(3.0, 7.0, 2.0)),
    ("pareto", (3.0,), stats.lomax(3.0)),
    ("power", (3.0,), stats.powerlaw(3.0)),
    ("rayleigh", (2.0,), stats.rayleigh(scale=2.0)),
    ("standard_cauchy", (), stats.cauchy()),
    ("standard_t", (4.0,), stats.t(4.0)),
    ("triangular", (-1.0, 0.5, 3.0), stats.triang(1.5 / 4, -1.0, 4.0)),
    ("vonmises", (0.5, 4.0), stats.vonmises(4.0, loc=0.5)),
    ("wald", (2.0, 0.5), stats.invgauss(4.0, scale=0.5)),
    ("weibull", (2.0,), stats.weibull_min(2.0)),
    ("integers", (3, 9), stats.randint(3, 9)),
    ("binomial", (7, 0.3), stats.binom(7, 0.3)),
    ("geometric", (0.25,), stats.geom(0.25)),
    ("hypergeometric", (5, 7, 4), stats.hypergeom(12, 5, 4)),
    ("logseries", (0.6,), stats.logser(0.6)),
    ("negative_binomial", (2.5, 0.4), stats.nbinom(2.5, 0.4)),
    ("poisson", (3.5,), stats.poisson(3.5)),
    ("zipf", (3.0,), stats.zipf(3.0)),
]
COUNTS = {name for name, _, expected in DRAWS if isinstance(expected.dist, stats.rv_discrete)}


def bits(values):
    return values.asnumpy().tobytes()


@pytest.mark.parametrize("name, parameters, expected", DRAWS, ids=[name for name, _, _ in DRAWS])
def test_draws(name, parameters, expected):
    """The distribution; the same seed gives the same numbers whatever else draws; shapes and kinds
    of dtypes are NumPy's."""
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    drawn = getattr(rng, name)(*parameters, size=N)
    np.random.normal(size=7)
    mx.random.seed(3)
    assert bits(getattr(again, name)(*parameters, size=N)) == bits(drawn)
    assert drawn.shape == (N,) and drawn.dtype == ("int64" if name in COUNTS else "float32")
    values = drawn.asnumpy().astype("float64")
    if name in COUNTS:
        for low in (1, 2, 4):
            chance = expected.cdf(low)
            assert abs((values <= low).mean() - chance) < 5 * (chance * (1 - chance) / N) ** 0.5 + 1e-3
    else:
        assert stats.kstest(values, expected.cdf).pvalue > 1e-3
    theirs = onp.random.default_rng(5)
    for size in (None, 3, (2, 3), (0, 2), ()):
        made = getattr(theirs, name)(*parameters, size=size)
        assert getattr(rng, name)(*parameters, size=size).shape == onp.shape(made), size


def test_methods_are_numpys():
    """Every method of NumPy's Generator, with its arguments by position and by keyword."""
    missing = []
    for name in dir(onp.random.Generator):
        if name.startswith("_"):
            continue
        assert hasattr(np.random.default_rng(1), name), name
        try:
            theirs = list(inspect.signature(getattr(onp.random.Generator, name)).parameters)
        except (TypeError, ValueError):     # an attribute
            continue
        ours = list(inspect.signature(getattr(np.random.Generator, name)).parameters)
        missing += [(name, p) for p in theirs if p not in ours and p not in ("dtype", "out", "a", "dfnum", "df")]
    assert missing == []


def test_apart_from_everything_else():
    mx.random.seed(11)
    alone = bits(np.random.normal(size=9)), bits(np.random.normal(size=9))
    mx.random.seed(11)
    rng = np.random.default_rng(11)
    first = bits(np.random.normal(size=9))
    rng.normal(size=1000)
    with pytest.raises(ValueError):
        rng.normal(0.0, -1.0, size=3).asnumpy()
    assert (first, bits(np.random.normal(size=9))) == alone       # also behind an error
    assert bits(np.random.default_rng(1).random(9)) != bits(np.random.default_rng(2).random(9))
    assert bits(np.random.default_rng().random(9)) != bits(np.random.default_rng().random(9))


def test_seeds():
    same = [np.random.default_rng(s) for s in (onp.random.SeedSequence([1, 2]), [1, 2], onp.array([1, 2]), np.array([1, 2], dtype="int64"))]
    assert len({bits(rng.random(5)) for rng in same}) == 1
    assert bits(np.random.Generator(onp.random.PCG64(4)).random(5)) == bits(np.random.default_rng(4).random(5))
    rng = np.random.default_rng(9)
    assert np.random.default_rng(rng) is rng
    assert bits(np.random.Generator(np.random.BitGenerator(9)).random(3)) == bits(rng.random(3))
    for wrong in (-1, 1.5, "a"):
        with pytest.raises((ValueError, TypeError)):
            np.random.default_rng(wrong)


def test_spawn():
    rng = np.random.default_rng(3)
    rng.random(100)
    children = rng.spawn(3)
    again = np.random.default_rng(3).spawn(3)
    assert [bits(c.random(4)) for c in children] == [bits(c.random(4)) for c in again]
    more = rng.spawn(1)[0]
    assert len({bits(c.random(4)) for c in [*children, more, rng]}) == 5


def test_states():
    rng = np.random.default_rng(8)
    rng.normal(size=5)
    twins = [pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng)]
    state = rng.bit_generator.state
    expected = bits(rng.gamma(2.0, size=100))
    for twin in twins:
        assert type(twin) is np.random.Generator and bits(twin.gamma(2.0, size=100)) == expected
    rng.bit_generator.state = state
    assert bits(rng.gamma(2.0, size=100)) == expected
    assert bits(twins[0].spawn(1)[0].random(3)) == bits(rng.spawn(1)[0].random(3))
    with pytest.raises(TypeError, match="a state of a generator of mx.np.random"):
        rng.bit_generator.state = onp.random.default_rng(1).bit_generator.state


def test_older_class():
    rng = np.random.RandomState(4)
    first = [bits(x) for x in (rng.rand(2, 3), rng.randn(4), rng.randint(0, 9, 5), rng.random_sample(3), rng.choice(5, 2))]
    state = rng.get_state()
    after = bits(rng.normal(size=3))
    rng.set_state(state)
    assert bits(rng.normal(size=3)) == after
    rng.seed(4)
    assert [bits(x) for x in (rng.rand(2, 3), rng.randn(4), rng.randint(0, 9, 5), rng.random_sample(3), rng.choice(5, 2))] == first


def test_integers():
    rng = np.random.default_rng(6)
    assert set(rng.integers(1, 3, 200, endpoint=True).tolist()) == {1, 2, 3}
    assert set(rng.integers(3, size=200).tolist()) == {0, 1, 2}
    assert rng.integers(0, 256, (2, 3), "uint8").dtype == onp.uint8 and rng.integers(5).shape == ()
    low, high = np.array([0, 10, -5], dtype="int64"), onp.array([[1, 11, -4], [4, 20, 0]])
    drawn = rng.integers(low, high, size=(500, 2, 3)).asnumpy()
    assert (drawn >= low.asnumpy()).all() and (drawn < high).all() and set(drawn[:, 1, 2]) == {-5, -4, -3, -2, -1}
    assert rng.integers(low, high).shape == (2, 3)
    assert set(rng.integers([0, 5], [1, 6], endpoint=True, size=(50, 2)).asnumpy()[:, 1]) == {5, 6}
    wide = rng.integers(onp.array([0]), 2 ** 40, size=(N,)).asnumpy() / 2 ** 40
    assert stats.kstest(wide, "uniform").pvalue > 1e-3
    for bad in ((5, 5), (onp.array([5, 6]), 6)):
        with pytest.raises(ValueError):
            rng.integers(*bad)
    with pytest.raises(TypeError, match="integers, and arrays of them"):
        rng.integers(onp.array([0.5]), 3)
    with pytest.raises(ValueError, match="a shape to which they broadcast"):
        rng.integers(low, high, size=(3,))


def test_orders():
    rng = np.random.default_rng(2)
    x = np.arange(24, dtype="int64").reshape(4, 6)
    for axis in (0, 1, -1):
        lines = rng.permutation(x, axis=axis).asnumpy()
        moved = onp.moveaxis(lines, axis, 0)
        assert sorted(map(tuple, moved)) == sorted(map(tuple, onp.moveaxis(x.asnumpy(), axis, 0)))
        mixed = rng.permuted(x, axis=axis).asnumpy()
        onp.testing.assert_array_equal(onp.sort(mixed, axis), x.asnumpy())
        y = x.copy()
        rng.shuffle(y, axis=axis)
        assert sorted(map(tuple, onp.moveaxis(y.asnumpy(), axis, 0))) == sorted(map(tuple, onp.moveaxis(x.asnumpy(), axis, 0)))
    mixed = rng.permuted(np.arange(600, dtype="int64").reshape(2, 300), axis=1).asnumpy()
    assert (mixed[0] != mixed[1] - 300).any()          # each line has an order of its own
    assert sorted(rng.permuted(x).asnumpy().ravel()) == list(range(24))
    out = np.zeros((4, 6), dtype="int64")
    assert rng.permuted(x, axis=0, out=out) is out and out.sum() == x.sum()
    names = list("abcdef")
    rng.shuffle(names)
    assert sorted(names) == list("abcdef")
    assert sorted(rng.permutation(5).tolist()) == [0, 1, 2, 3, 4]


def test_choice():
    rng = np.random.default_rng(2)
    x = np.arange(12, dtype="int64").reshape(3, 4)
    columns = rng.choice(x, 2, replace=False, axis=1).asnumpy()
    assert columns.shape == (3, 2) and (columns[1] == columns[0] + 4).all() and columns[0, 0] != columns[0, 1]
    assert rng.choice(x, (2, 5)).shape == (2, 5, 4) and rng.choice([5, 6, 7]).shape == ()
    assert rng.choice(3, 50, p=[0, 1, 0]).tolist() == [1] * 50


def test_several_dimensions():
    rng = np.random.default_rng(1)
    counts = rng.multinomial([10, 1000], [[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], size=(N // 10, 2)).asnumpy()
    assert counts.shape == (N // 10, 2, 3) and (counts.sum(-1) == [10, 1000]).all()
    assert abs(counts[:, 0].mean(0) - [2, 3, 5]).max() < 0.15 and (counts[:, 1] == [0, 1000, 0]).all()
    assert rng.multinomial(5, [0.5, 0.5]).shape == (2,) and rng.multinomial(5, [0.5, 0.5], size=4).shape == (4, 2)
    drawn = rng.multivariate_hypergeometric([3, 5, 7], 6, size=50).asnumpy()
    assert drawn.shape == (50, 3) and (drawn.sum(-1) == 6).all() and (drawn <= [3, 5, 7]).all()
    x = rng.multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 1.0]], size=N, method="cholesky").asnumpy()
    assert abs(onp.cov(x.T) - [[1, 0.5], [0.5, 1]]).max() < 0.06
    assert rng.dirichlet([1.0, 2.0], size=3).shape == (3, 2)
    for wrong in ((3, [0.5, 0.6, 0.1]), (-1, [1.0]), (3, 0.5)):
        with pytest.raises(ValueError):
            rng.multinomial(*wrong)
    assert isinstance(rng.bytes(5), bytes) and len(rng.bytes(5)) == 5


def test_outputs():
    rng, again = np.random.default_rng(1), np.random.default_rng(1)
    for name, args in (("random", ()), ("standard_normal", ()), ("standard_exponential", ()), ("standard_gamma", (2.0,))):
        out = np.zeros((2, 3), dtype="float64")
        assert getattr(rng, name)(*args, out=out) is out
        assert bits(out) == bits(getattr(again, name)(*args, size=(2, 3), dtype="float64"))
    with pytest.raises(ValueError, match="accepted: None, or its shape"):
        rng.random((3, 2), out=np.zeros((2, 3)))


def test_gradients():
    scale = np.array([1.0, 2.0, 3.0])
    scale.attach_grad()
    with mx.autograd.record():
        x = np.random.default_rng(4).normal(1.0, scale)
    x.backward()
    onp.testing.assert_allclose(scale.grad.asnumpy(), (x.asnumpy() - 1) / scale.asnumpy(), rtol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_in_a_block():
    """A hybridized block draws anew in every call."""
    class Noise(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.rng = np.random.default_rng(3)

        def forward(self, x):
            return x + self.rng.normal(size=x.shape)
    with mx.util.np_shape(), mx.util.np_array():
        block = Noise()
        block.hybridize()
        results = [bits(block(np.zeros(4))) for _ in range(4)]
    assert len(set(results)) == 4


def test_threads_have_generators_of_their_own():
    expected = {seed: bits(np.random.default_rng(seed).normal(size=1000)) for seed in range(4)}
    found = {}

    def draw(seed):
        rng = np.random.default_rng(seed)
        parts = [rng.normal(size=1000)]
        np.random.normal(size=10)
        found[seed] = bits(parts[0])
    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_freed_while_it_draws():
    """Draws that were asked for are made although nothing holds the generator."""
    for seed in range(20):
        drawn = np.random.default_rng(seed).normal(size=200000)
        gc.collect()
        assert abs(float(drawn.mean())) < 0.05
