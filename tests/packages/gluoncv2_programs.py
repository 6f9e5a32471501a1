"""GluonCV2: networks of many families run by operators and compiled, and their gradients."""
import mxnet as mx
import numpy as np
from filled import fill, show, show_gradients
from gluoncv2.model_provider import get_model
from mxnet import autograd, gluon

CIFAR = ["nin_cifar10", "resnet20_cifar10", "seresnet20_cifar10", "diapreresnet20_cifar10", "octresnet20_ad2_cifar10",
         "densenet40_k12_cifar10", "resdropresnet20_cifar10", "shakeshakeresnet20_2x16d_cifar10"]
PICTURES = ["squeezenet_v1_0", "shufflenet_g1_w1", "shufflenetv2b_wd2", "menet108_8x1_g3",
            "mobilenetv3_small_w7d20", "espnetv2_wd2", "regnetx002", "fbnet_cb", "spnasnet"]
loss = gluon.loss.SoftmaxCrossEntropyLoss()


def run(name, **arguments):
    net = get_model(name, classes=10, **arguments)
    net.initialize(mx.init.Zero())
    data = mx.nd.array(np.random.RandomState(0).uniform(-1, 1, (2, 3, *net.in_size)))
    net(data)
    fill(net)
    show(name, net(data))
    net.hybridize()
    show(name + " compiled", net(data))
    if name.startswith(("nin", "resdrop", "shakeshake", "squeezenet", "mobilenetv3", "espnetv2")):   # dropout
        return
    with autograd.record():
        error = loss(net(data), mx.nd.array([1, 3]))
    error.backward()
    show_gradients(name + " gradients", net)


for name in CIFAR:
    run(name)
for name in PICTURES:
    run(name)
