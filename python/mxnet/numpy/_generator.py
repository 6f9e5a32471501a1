"""``mx.np.random.default_rng``: generators of random numbers beside the one that
:func:`mxnet.random.seed` restarts."""
import ctypes
import functools
import inspect

import numpy as onp

from .._binding import NDArrayBase
from .._operators.methods import add_methods
from .._arrays.tracing import is_deferred_compute, stop
from ..base import _LIB, check_call
from ..context import context_of, cpu, gpu, num_gpus
from . import _draws, random as _random
from ._composed import take_along_axis
from ._dispatch import call, deliver, dtype_name, operand
from ._random_records import _shape
from ._searching import argsort, take

__all__ = ["BitGenerator", "Generator", "RandomState", "default_rng"]

# Methods whose arguments are those of the function of mx.np.random of that name.
_SAME = """
    uniform normal lognormal logistic gumbel laplace exponential rayleigh weibull pareto power gamma beta chisquare f
    standard_cauchy standard_t binomial poisson negative_binomial geometric triangular dirichlet wald noncentral_chisquare
    noncentral_f vonmises zipf hypergeometric logseries
""".split()
_OF_STATES = "rand randn randint random_sample".split()


class _Sequences:
    """The library's generator with a seed of 64 bits: one sequence of numbers for each device."""

    def __init__(self, seed):
        self.seed, self._handle = int(seed), ctypes.c_void_p()
        check_call(_LIB.MXRandomGeneratorCreate(ctypes.c_uint64(self.seed), ctypes.byref(self._handle)))

    def __del__(self):
        if getattr(self, "_handle", None) and _LIB is not None:
            _LIB.MXRandomGeneratorFree(self._handle)

    def use(self):
        """Makes operators of this thread draw here; returns what they drew from before."""
        before = ctypes.c_void_p()
        check_call(_LIB.MXRandomGeneratorUse(self._handle, ctypes.byref(before)))
        return before

    def positions(self):
        """How many blocks of 128 bits were drawn on each device that drew any."""
        out, found = ctypes.c_uint64(), {}
        for device in [cpu(0)] + [gpu(i) for i in range(num_gpus())]:
            check_call(_LIB.MXRandomGeneratorGetPosition(self._handle, device.device_typeid, device.device_id, ctypes.byref(out)))
            if out.value:
                found[str(device)] = out.value
        return found

    def go_to(self, positions):
        """Goes to what :meth:`positions` told."""
        for name, position in positions.items():
            device = context_of(name)
            check_call(_LIB.MXRandomGeneratorSetPosition(self._handle, device.device_typeid, device.device_id, ctypes.c_uint64(position)))


def _drawing(function):
    """A method whose random operators draw from its generator. No graph can hold such a draw, so a
    hybridized block that makes one runs operator by operator."""
    @functools.wraps(function)
    def method(self, *args, **kwargs):
        if is_deferred_compute():
            stop("a generator of mx.np.random draws")
        before = self._sequences.use()
        try:
            return function(self, *args, **kwargs)
        finally:
            _LIB.MXRandomGeneratorUse(before, None)
    return method


def _like(name):
    """The function of mx.np.random as a method."""
    function = getattr(_random, name)

    def method(self, *args, **kwargs):
        del self
        return function(*args, **kwargs)
    method.__doc__ = f"Draws as :func:`mxnet.np.random.{name}` does, whose arguments it takes."
    parameters = list(inspect.signature(function).parameters.values())
    method.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY), *parameters])
    return _drawing(method)


def _seed_sequence(seed):
    """NumPy's SeedSequence of what :func:`default_rng` takes."""
    if isinstance(seed, onp.random.SeedSequence):
        return seed
    if isinstance(seed, onp.random.BitGenerator):
        return getattr(seed, "seed_seq", None) or seed._seed_seq
    if isinstance(seed, NDArrayBase):
        seed = seed.asnumpy().tolist()
    return onp.random.SeedSequence(seed)


class BitGenerator:
    """What a :class:`Generator` draws its bits from: Philox4x32-10 (Salmon et al., SC'11).

    Attributes
    ----------
    seed_seq : numpy.random.SeedSequence
        What the seed of 64 bits was made of.
    state : dict
        The seed, and how many blocks of 128 bits were drawn on each device. It can be set to one
        that was read before.

    Examples
    --------
    >>> rng = mx.np.random.default_rng(1); state = rng.bit_generator.state; x = rng.random(3)
    >>> rng.bit_generator.state = state
    >>> bool((rng.random(3) == x).all())
    True
    """

    def __init__(self, seed=None):
        self.seed_seq = _seed_sequence(seed)
        self._sequences = _Sequences(self.seed_seq.generate_state(1, onp.uint64)[0])

    @property
    def state(self):
        """The seed and the positions."""
        return {"bit_generator": _random._BITS, "seed": self._sequences.seed, "positions": self._sequences.positions()}

    @state.setter
    def state(self, value):
        if not isinstance(value, dict) or value.get("bit_generator") != _random._BITS:
            raise TypeError(f"[random] the state {value!r}; accepted: a state of a generator of mx.np.random")
        self._sequences = _Sequences(value["seed"])
        self._sequences.go_to(value["positions"])

    def __reduce__(self):
        seeds = self.seed_seq
        made = {"entropy": seeds.entropy, "spawn_key": seeds.spawn_key, "pool_size": seeds.pool_size,
                "n_children_spawned": seeds.n_children_spawned}
        return _restored, (made, self.state)


def _restored(made, state):
    bits = BitGenerator(onp.random.SeedSequence(**made))
    bits.state = state
    return bits


class Generator:
    """Draws from distributions, with a seed of its own: nothing else changes what it draws, and it
    changes what nothing else draws. Methods and their arguments are those of NumPy's Generator.

    The same seed gives the same numbers, however many threads draw them; they are not NumPy's
    numbers. Results are float32 unless `dtype` says otherwise (float64 after
    ``npx.set_np(dtype=True)``), and integers are int64. Gradients flow as those of the functions of
    mx.np.random. In a graph no generator can draw: a hybridized block whose forward does so runs
    operator by operator.

    Parameters
    ----------
    bit_generator : BitGenerator, int or whatever :func:`default_rng` takes
        Where the bits come from.

    Examples
    --------
    >>> a, b = mx.np.random.default_rng(3), mx.np.random.default_rng(3)
    >>> bool((a.normal(size=4) == b.normal(size=4)).all())
    True
    """

    def __init__(self, bit_generator=None):
        self.bit_generator = bit_generator if isinstance(bit_generator, BitGenerator) else BitGenerator(bit_generator)

    @property
    def _sequences(self):
        return self.bit_generator._sequences

    def __repr__(self):
        return f"{type(self).__name__}({_random._BITS})"

    def __reduce__(self):
        return type(self), (self.bit_generator,)

    def spawn(self, n_children):
        """So many new generators, whose numbers do not depend on what this one drew.

        >>> workers = mx.np.random.default_rng(7).spawn(2)
        >>> [worker.normal(size=3).shape for worker in workers]
        [(3,), (3,)]
        """
        return [type(self)(seed) for seed in self.bit_generator.seed_seq.spawn(n_children)]

    @_drawing
    def random(self, size=None, dtype=None, out=None):
        """Uniform draws from [0, 1).

        >>> draws = mx.np.random.default_rng(7).random((100, 100))
        >>> draws.dtype.name, float(draws.mean().round(1))
        ('float32', 0.5)
        """
        return deliver(_draws.random(_size_of(size, out), _dtype_of(dtype, out)), out)

    @_drawing
    def standard_normal(self, size=None, dtype=None, out=None):
        """Draws from the normal distribution of mean 0 and standard deviation 1.

        >>> draws = mx.np.random.default_rng(7).standard_normal(10000)
        >>> float(abs(draws.mean()).round(1)), float(draws.std().round(1))
        (0.0, 1.0)
        """
        return deliver(_draws.standard_normal(_size_of(size, out), _dtype_of(dtype, out)), out)

    @_drawing
    def standard_exponential(self, size=None, dtype=None, method="zig", out=None):
        """Draws from the exponential distribution of mean 1. `method` is NumPy's, and not used.

        >>> draws = mx.np.random.default_rng(7).standard_exponential(10000)
        >>> float(draws.mean().round(1))
        1.0
        """
        del method
        drawn = _draws.standard_exponential(_size_of(size, out))
        name = _dtype_of(dtype, out)
        return deliver(drawn if name is None else drawn.astype(name), out)

    @_drawing
    def standard_gamma(self, shape, size=None, dtype=None, out=None):
        """Draws from the gamma distribution of that shape parameter and scale 1.

        >>> draws = mx.np.random.default_rng(7).standard_gamma(2, 10000)
        >>> float(draws.mean().round(1))
        2.0
        """
        return deliver(_draws.standard_gamma(shape, _size_of(size, out), _dtype_of(dtype, out)), out)

    @_drawing
    def integers(self, low, high=None, size=None, dtype="int64", endpoint=False):
        """Integers from [low, high), or from [0, low) where `high` is None, all equally likely;
        with `endpoint` up to `high`. The bounds are integers or arrays of them.

        >>> dice = mx.np.random.default_rng(7).integers(1, 6, size=1000, endpoint=True)
        >>> int(dice.min()), int(dice.max()), dice.dtype.name
        (1, 6, 'int64')
        """
        if high is None:
            low, high = 0, low
        if not endpoint:
            return _random.randint(low, high, size, dtype)
        whole = isinstance(high, (int, onp.integer))
        return _random.randint(low, int(high) + 1 if whole else operand(high).astype("int64") + 1, size, dtype)

    @_drawing
    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Entries of dimension `axis` of the array `a`, or integers below the int `a`, in random
        order; see :func:`mxnet.np.random.choice`. `shuffle` is NumPy's, and not used.

        >>> rng = mx.np.random.default_rng(7)
        >>> mx.np.sort(rng.choice(mx.np.array([10, 20, 30]), 3, replace=False))
        array([10., 20., 30.])
        >>> rng.choice(3, 4, p=[0, 1, 0])
        array([1, 1, 1, 1], dtype=int64)
        """
        del shuffle
        if isinstance(a, (int, onp.integer)):
            return _random.choice(a, size, replace, p)
        a = operand(a)
        return take(a, _random.choice(a.shape[axis], size, replace, p), axis=axis)

    @_drawing
    def permutation(self, x, axis=0):
        """The integers below `x`, or a copy of the array `x` with the entries of a dimension in
        random order.

        >>> rows = mx.np.random.default_rng(7).permutation(mx.np.array([[1, 2], [3, 4]]))
        >>> sorted(rows.tolist())
        [[1.0, 2.0], [3.0, 4.0]]
        """
        if isinstance(x, (int, onp.integer)) or axis == 0:
            return _random.permutation(x)
        x = operand(x)
        return take(x, _random.permutation(x.shape[axis]), axis=axis)

    @_drawing
    def shuffle(self, x, axis=0):
        """Puts the entries of a dimension of an array, or those of a list, into random order, in
        place.

        >>> x = mx.np.arange(5)
        >>> mx.np.random.default_rng(7).shuffle(x)
        >>> sorted(x.tolist())
        [0.0, 1.0, 2.0, 3.0, 4.0]
        """
        if axis == 0 or not isinstance(x, NDArrayBase):
            _random.shuffle(x)
        else:
            x[...] = take(x, _random.permutation(x.shape[axis]), axis=axis)

    @_drawing
    def permuted(self, x, axis=None, out=None):
        """A copy of an array with every line of a dimension in a random order of its own; without
        dimension of all elements.

        >>> x = mx.np.array([[1, 2, 3], [4, 5, 6]])
        >>> [sorted(row) for row in mx.np.random.default_rng(7).permuted(x, axis=1).tolist()]
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        """
        x = operand(x)
        lines = x if axis is not None else call("_npi_reshape", (x,), newshape=(-1,))
        order = argsort(_draws.random(lines.shape, "float64"), axis=-1 if axis is None else axis)
        mixed = take_along_axis(lines, order, -1 if axis is None else axis)
        return deliver(mixed if axis is not None else call("_npi_reshape", (mixed,), newshape=x.shape), out)

    @_drawing
    def bytes(self, length):
        """So many random bytes.

        >>> len(mx.np.random.default_rng(7).bytes(16))
        16
        """
        return _random.bytes(length)

    @_drawing
    def multinomial(self, n, pvals, size=None):
        """How often each of the classes, the last dimension of `pvals`, occurs in `n` trials;
        int64. `n` and the other dimensions of `pvals` broadcast.

        >>> counts = mx.np.random.default_rng(7).multinomial(20, [0.2, 0.3, 0.5], size=4)
        >>> counts.shape, counts.sum(axis=1)
        ((4, 3), array([20, 20, 20, 20], dtype=int64))
        """
        return _draws.multinomials(n, pvals, size)

    @_drawing
    def multivariate_hypergeometric(self, colors, nsample, size=None, method="marginals"):
        """How many of `nsample` things that are drawn are of each of the colors, of which there are
        so many; int64. They are NumPy's draws, as for :func:`mxnet.np.random.vonmises`.

        >>> rng = mx.np.random.default_rng(7)
        >>> drawn = rng.multivariate_hypergeometric([5, 3, 2], nsample=4, size=3)
        >>> drawn.shape, drawn.sum(axis=1)
        ((3, 3), array([4, 4, 4], dtype=int64))
        """
        return _draws.multivariate_hypergeometric(colors, nsample, size, method)

    @_drawing
    def multivariate_normal(self, mean, cov, size=None, check_valid=None, tol=None, *, method="svd"):
        """Draws from normal distributions of several dimensions; see
        :func:`mxnet.np.random.multivariate_normal`. The last three arguments are NumPy's, and not
        used.

        >>> cov = mx.np.array([[4, 0], [0, 1]])
        >>> draws = mx.np.random.default_rng(7).multivariate_normal(mx.np.zeros(2), cov, 10000)
        >>> draws.std(axis=0).round(1)
        array([2., 1.])
        """
        del method
        return _random.multivariate_normal(mean, cov, size, check_valid, tol)


def _size_of(size, out):
    if out is None:
        return size
    if size is not None and _shape(size) != out.shape:
        raise ValueError(f"[random] size={size} for `out` of shape {out.shape}; accepted: None, or its shape")
    return out.shape


def _dtype_of(dtype, out):
    return dtype if out is None or dtype is not None else dtype_name(out.dtype)


add_methods(Generator, _SAME, _like, "rng")


class RandomState(Generator):
    """A :class:`Generator` with the methods of NumPy's older class of that name.

    Examples
    --------
    >>> rng = mx.np.random.RandomState(3); x = rng.rand(2, 3); rng.seed(3)
    >>> bool((rng.rand(2, 3) == x).all())
    True
    """

    def seed(self, seed=None):
        """Starts anew with that seed."""
        self.bit_generator = BitGenerator(seed)

    def get_state(self, legacy=False):
        """What :meth:`set_state` takes; `legacy` is NumPy's, and not used.

        >>> rng = mx.np.random.RandomState(3)
        >>> state = rng.get_state()
        >>> first = rng.rand(2)
        >>> rng.set_state(state)
        >>> rng.rand(2) == first
        array([ True,  True])
        """
        del legacy
        return self.bit_generator.state

    def set_state(self, state):
        """Goes on where :meth:`get_state` was called."""
        self.bit_generator.state = state


add_methods(RandomState, _OF_STATES, _like, "rng")


def default_rng(seed=None):
    """A generator of random numbers with a seed of its own.

    `seed` is an int, several of them, a SeedSequence of NumPy, or None: then the system's random
    numbers are taken. A :class:`Generator` is given back itself.

    Examples
    --------
    >>> rng = mx.np.random.default_rng(7)
    >>> rng.integers(10, size=(2, 3)).shape
    (2, 3)
    """
    return seed if isinstance(seed, Generator) else Generator(seed)
