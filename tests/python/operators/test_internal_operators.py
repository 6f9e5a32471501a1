"""Operators of 1.x that files hold and users rarely call: _set_value, _NoGradient and others."""
import pytest

import mxnet as mx


def test_hidden_names_of_1x():
    """_set_value fills an array, _NoGradient cannot be computed, other names are aliases."""
    x = mx.nd.array([[1, 2], [3, 4]])
    mx.nd._internal._set_value(src=3, out=x)
    assert x.asnumpy().tolist() == [[3, 3], [3, 3]]
    with pytest.raises(mx.MXNetError, match="_set_value"):
        mx.nd._internal._set_value(src=3)
    with pytest.raises(mx.MXNetError, match="_NoGradient"):
        mx.nd._internal._NoGradient()
    assert mx.nd._internal._CrossDeviceCopy(x).asnumpy().tolist() == [[3, 3], [3, 3]]
    grouped = mx.operator.get_all_registered_operators_grouped()
    assert "_CachedOpThreadSafe" in grouped["_CachedOp"] and "_CrossDeviceCopy" in grouped["_copyto"]


def test_linspace_repeats():
    for name in ("_linspace", "_npi_linspace"):
        got = getattr(mx.nd._internal, name)(start=0, stop=1, num=3, repeat=2, step=1, infer_range=False)
        assert got.asnumpy().tolist() == [0, 0, 0.5, 0.5, 1, 1]


def test_constraint_check():
    check = mx.nd._internal._npx_constraint_check
    assert check(mx.nd.array([1, 1]).astype("bool"), msg="sizes").asnumpy().item() is True
    with pytest.raises(ValueError, match="sizes must be positive"):
        check(mx.nd.array([1, 0]).astype("bool"), msg="sizes must be positive").asnumpy()
    with pytest.raises(ValueError, match="Constraint violated"):
        check(mx.nd.array([0]).astype("bool")).wait_to_read()
