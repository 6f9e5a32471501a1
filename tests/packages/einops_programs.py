"""einops: axes rearranged, reduced and repeated, for arrays and as layers of Gluon."""
import mxnet as mx
import numpy as np
from einops import EinopsError, parse_shape, rearrange, reduce, repeat
from einops.layers.gluon import Rearrange, Reduce
from filled import fill, show
from mxnet import autograd, gluon

images = mx.nd.array(np.random.RandomState(0).normal(size=(2, 3, 4, 4)))
for pattern, sizes in [("b c h w -> b (c h w)", {}), ("b c (h two) w -> (b two) c h w", {"two": 2}), ("b c h w -> w h c b", {})]:
    show(pattern, rearrange(images, pattern, **sizes))
show("of a list", rearrange([images, images], "n b c h w -> b (n c) h w"))
for pattern, kind in [("b c h w -> b c", "mean"), ("b c (h 2) (w 2) -> b c h w", "max"), ("b c h w -> h", "prod"),
                      ("b c h w -> b () h w", "sum")]:
    show(pattern, reduce(images, pattern, kind))
show("repeated", repeat(images, "b c h w -> b c h w two", two=2))
print(parse_shape(images, "b c _ w"))
images.attach_grad()
with autograd.record():
    total = (rearrange(images, "b c h w -> (b h) (c w)") ** 2).sum()
total.backward()
show("gradient", images.grad)
net = gluon.nn.HybridSequential()
net.add(gluon.nn.Conv2D(4, 3, in_channels=3), Rearrange("b c h w -> b (c h w)"), gluon.nn.Dense(2, in_units=16))
net.initialize()
fill(net)
show("layers", net(images), Reduce("b c (h 2) w -> b c w", "max")(images))
print(Rearrange("a b -> b a"))
try:
    rearrange(images, "b c h w -> w")
except EinopsError as error:
    print(type(error).__name__)
