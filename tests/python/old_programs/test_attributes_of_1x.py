"""Attributes of instances that programs for 1.x read, or set in classes of their own."""
import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon import contrib, nn, rnn
from mxnet.gluon.nn import conv_layers


def _sentences(layout="NT"):
    return mx.rnn.BucketSentenceIter([[1, 2], [2, 3], [2, 3, 4], [4, 3, 2]], 2, buckets=[2, 3], layout=layout)


ATTRIBUTES = {                                  # expression: attributes as 1.9.1 has them
    "nn.BatchNorm()": {"fuse_relu": False},
    "nn.BatchNorm(in_channels=3)": {"in_channels": 3},
    "nn.BatchNormReLU()": {"fuse_relu": True},
    "nn.Conv2D(2, 3)": {"_op_name": "Convolution"},
    "nn.Conv1DTranspose(2, 3)": {"_op_name": "Deconvolution", "outpad": (0,)},
    "nn.Conv2DTranspose(2, 3, strides=2, output_padding=1)": {"outpad": (1, 1)},
    "nn.LayerNorm(scale=False)": {"_center": True, "_scale": False},
    "nn.GroupNorm()": {"_center": True, "_scale": True},
    "rnn.GRU(3)": {"_gates": 3},
    "rnn.ZoneoutCell(rnn.RNNCell(3), .1, .2)": {"zoneout_outputs": .1, "zoneout_states": .2, "_prev_output": None},
    "contrib.rnn.Conv1DLSTMCell((3, 10), 4, 3, 5)": {"_i2h_kernel": (3,), "_h2h_kernel": (5,), "_i2h_pad": (0,), "_h2h_dilate": (1,)},
    "mx.rnn.ZoneoutCell(mx.rnn.RNNCell(3), .1)": {"zoneout_outputs": .1, "zoneout_states": 0., "prev_output": None},
    "mx.rnn.DropoutCell(.5)": {"dropout": .5},
    "mx.io.NDArrayIter(np.zeros((4, 2)), np.zeros(4), 2)": {"num_source": 2},
    "_sentences()": {"curr_idx": 0},
}


@pytest.mark.parametrize("text", ATTRIBUTES)
def test_attributes(text):
    made = eval(text)
    assert {name: getattr(made, name) for name in ATTRIBUTES[text]} == ATTRIBUTES[text]


def test_parameters_that_a_derived_batch_norm_adds_are_shown():
    class Extra(nn.BatchNorm):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self._kwargs["cudnn_off"] = False

    assert repr(Extra(in_channels=2)) == (
        "Extra(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, cudnn_off=False, in_channels=2)")


def test_layers_derived_from_the_base_of_convolutions():
    class Same(conv_layers._Conv):
        def __init__(self, channels, kernel_size, op_name="Convolution", adj=None):
            n = len(kernel_size)
            super().__init__(channels, kernel_size, (1,) * n, tuple(k // 2 for k in kernel_size), (1,) * n, 1, "NCDHW"[:2] + "DHW"[3 - n:],
                             0, None, True, None, "zeros", op_name, adj)

    for layer, shape in ((Same(4, (3,)), (2, 3, 5)), (Same(4, (3, 3)), (2, 3, 5, 5)), (Same(4, (3, 3), "Deconvolution", 0), (2, 3, 5, 5))):
        layer.initialize()
        assert layer(mx.nd.ones(shape)).shape == (2, 4) + shape[2:]


@pytest.mark.parametrize("layout", ["NT", "TN"])
def test_batches_of_sentences_come_in_the_order_of_idx(layout):
    batches = _sentences(layout)
    batches.idx.sort(reverse=True)
    keys = [(batch.bucket_key, batch.data[0].shape, batch.data[0].dtype) for batch in batches]
    assert keys == [(3, (2, 3) if layout == "NT" else (3, 2), np.float32), (2, (2, 2), np.float32)]
    batches.nddata[0][:] = 7
    batches.curr_idx = 1
    batch = batches.next()
    assert (batch.data[0].asnumpy() == 7).all() and (batch.label[0].asnumpy()[:, -1] == -1).all() == (layout == "NT")


def test_attributes_of_recurrent_layers_survive_unfusing():
    layer = rnn.LSTM(3, 2, bidirectional=True, input_size=4)
    assert layer._gates == 4 and layer._reg_params["l0_i2h_weight"].shape == (12, 4)
    assert contrib.rnn.Conv2DGRUCell((3, 10, 10), 4, 3, 3)._num_gates == 3
