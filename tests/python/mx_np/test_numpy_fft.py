"""mx.np.fft against NumPy: values, dtypes, which results are whose, warnings, refusals."""

import inspect

import numpy as onp
import pytest

import mxnet as mx
from mxnet.numpy import fallback

fft = mx.np.fft
COMPLEX = ("fft", "ifft", "rfft", "ihfft", "fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn")
REAL = ("irfft", "hfft", "irfft2", "irfftn")
# NumPy says of some arguments that they will change.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def drawn(shape, dtype="float64"):
    rng = onp.random.default_rng(len(shape))
    values = rng.normal(size=shape)
    return (values + 1j * rng.normal(size=shape) if dtype.startswith("complex") else values).astype(
        dtype
    )


def given(values):
    """Real values as an array of mx.np; complex ones stay NumPy's."""
    return values if values.dtype.kind == "c" else mx.np.array(values, dtype=values.dtype)


def calls(name):
    """Keyword arguments to try a function with."""
    if name.endswith("n") or name.endswith("2"):
        return [{}, {"s": (3, 4), "axes": (0, 1)}, {"axes": (1, 0)}, {"norm": "ortho"}]
    return [{}, {"n": 3}, {"n": 9}, {"axis": 0}, {"norm": "ortho"}, {"norm": "forward", "axis": 1}]


def test_names():
    assert set(fft.__all__) == {
        n for n in dir(onp.fft) if inspect.isroutine(getattr(onp.fft, n)) and not n.startswith("_")
    } - {"test"}
    assert sorted(COMPLEX + REAL + ("fftfreq", "rfftfreq", "fftshift", "ifftshift")) == sorted(
        fft.__all__
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", COMPLEX + REAL)
def test_transforms(name, dtype):
    if dtype.startswith("complex") and name in ("rfft", "ihfft", "rfft2", "rfftn"):
        return  # of real data
    for shape in ((4, 6), (3, 5), (2, 3, 4)):
        values = drawn(shape, dtype)
        for arguments in calls(name):
            got, expected = (
                getattr(fft, name)(given(values), **arguments),
                getattr(onp.fft, name)(values, **arguments),
            )
            single = dtype in ("float32", "complex64")
            if name in REAL:
                assert type(got) is mx.np.ndarray and got.dtype == (
                    "float32" if single else "float64"
                )
                got = got.asnumpy()
            else:
                assert type(got) is onp.ndarray and got.dtype == (
                    "complex64" if single else "complex128"
                )
            assert got.shape == expected.shape
            onp.testing.assert_allclose(
                got, expected, rtol=1e-4 if single else 1e-10, atol=1e-5 if single else 1e-12
            )


@pytest.mark.parametrize(
    "dtype, expected", [("int32", "complex128"), ("bool", "complex128"), ("float16", "complex64")]
)
def test_dtypes_of_transforms(dtype, expected):
    values = onp.array([1, 0, 1, 1], dtype)
    got = fft.fft(given(values))
    assert got.dtype == expected
    onp.testing.assert_allclose(got, onp.fft.fft(values.astype("float64")), atol=1e-5)
    assert fft.fft(mx.np.ones(2).astype("bfloat16")).tolist() == [2, 0]
    assert fft.fft([1.0, 2.0]).tolist() == [3, -1]


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        got = getattr(fft, name)(n, d=0.25)
        assert got.dtype == "float32" and type(got) is mx.np.ndarray
        onp.testing.assert_allclose(got.asnumpy(), getattr(onp.fft, name)(n, d=0.25), rtol=1e-6)
        assert getattr(fft, name)(n, dtype="float64").dtype == "float64"
        assert getattr(fft, name)(n, device=mx.cpu(1)).device == mx.cpu(1)
    for bad in (2.5, 0, -1, True):
        with pytest.raises(ValueError, match="n is"):
            fft.fftfreq(bad)


@pytest.mark.parametrize("axes", [None, 0, (1,), (0, 2), (-1,)])
def test_shifts(axes):
    values = onp.arange(30.0).reshape(2, 3, 5)
    for name in ("fftshift", "ifftshift"):
        got = getattr(fft, name)(mx.np.array(values), axes)
        assert (
            type(got) is mx.np.ndarray
            and got.tolist() == getattr(onp.fft, name)(values, axes).tolist()
        )
        assert (
            getattr(fft, name)(values * 1j, axes) == getattr(onp.fft, name)(values * 1j, axes)
        ).all()


def test_shifts_are_differentiable():
    x = mx.np.arange(5)
    x.attach_grad()
    with mx.autograd.record():
        y = (fft.fftshift(x) * mx.np.arange(5)).sum()
    y.backward()
    assert x.grad.tolist() == onp.fft.ifftshift(onp.arange(5.0)).tolist()


def test_there_and_back():
    x = mx.np.random.normal(size=(3, 8))
    for there, back in (("rfft", "irfft"), ("rfftn", "irfftn"), ("ihfft", "hfft")):
        assert mx.np.allclose(getattr(fft, back)(getattr(fft, there)(x)), x, atol=1e-6)
    power = mx.np.array(onp.abs(fft.rfft(x)) ** 2)  # a real result of NumPy goes on here
    assert power.shape == (3, 5)


def test_one_warning_for_each_function(caplog):
    fallback._warned.discard("fft.fft")
    fallback._warned.discard("fft.irfft")
    for _ in range(3):
        fft.fft(mx.np.ones(2))
        fft.irfft(mx.np.ones(2))
    assert [r.getMessage().split()[0] for r in caplog.records] == ["np.fft.fft", "np.fft.irfft"]


def test_refused_while_recording():
    x, spectrum = mx.np.ones(4), onp.ones(3, "complex64")
    with mx.autograd.record():
        for call in (lambda: fft.fft(x), lambda: fft.irfft(spectrum)):
            with pytest.raises(ValueError, match="no gradient"):
                call()
        with mx.autograd.pause():
            assert fft.fft(x).shape == (4,)

    class Net(mx.gluon.HybridBlock):
        def forward(self, x):
            return fft.irfft(fft.rfft(x))

    net = Net()
    net.hybridize()
    with pytest.warns(UserWarning, match="NumPy computes"):  # and runs operator by operator
        assert net(x).tolist() == [1, 1, 1, 1]


def test_out():
    real, spectrum = mx.np.zeros(4), onp.zeros(3, "complex128")
    assert fft.rfft(mx.np.ones(4), out=spectrum) is spectrum and spectrum.tolist() == [4, 0, 0]
    assert fft.irfft(spectrum, out=real) is real and real.tolist() == [1, 1, 1, 1]
    with pytest.raises(TypeError, match="complex"):
        fft.fft(mx.np.ones(4), out=mx.np.zeros(4))
    with pytest.raises((ValueError, IndexError)):
        fft.fft(mx.np.ones(4), axis=3)
