"""The mxnet module of d2l: blocks, boxes and helpers of the book, on mx.np."""
import numpy as np
from d2l import mxnet as d2l
from filled import fill, show
from mxnet import np as mnp, npx

npx.set_np()
draws = np.random.RandomState(0)
attention = d2l.DotProductAttention(0.0)
attention.initialize()
queries, values = mnp.array(draws.normal(size=(2, 1, 2)).astype("float32")), mnp.arange(40).reshape(1, 10, 4).repeat(2, axis=0)
print(attention(queries, mnp.ones((2, 10, 2)), values, mnp.array([2, 6])).round(4))
encoder = d2l.BERTEncoder(100, 16, 32, 2, 2, 0.0)
encoder.initialize()
inputs = (mnp.array(draws.randint(0, 100, (2, 8))), mnp.zeros((2, 8)), mnp.array([8, 5]))
encoder(*inputs)
fill(encoder)
show("bert", encoder(*inputs))
anchors = d2l.multibox_prior(mnp.zeros((1, 3, 4, 4)), sizes=[0.75, 0.5], ratios=[1, 2])
show("anchors", anchors)
truth = mnp.array([[0, 0.1, 0.08, 0.52, 0.92], [1, 0.55, 0.2, 0.9, 0.88]])
boxes = mnp.array([[0, 0.1, 0.2, 0.3], [0.15, 0.2, 0.4, 0.4], [0.63, 0.05, 0.88, 0.98], [0.66, 0.45, 0.8, 0.8]])
for target in d2l.multibox_target(mnp.expand_dims(boxes, 0), mnp.expand_dims(truth, 0)):
    print(target.asnumpy().round(3).tolist())
scores = mnp.array([[0] * 4, [0.9, 0.8, 0.7, 0.1], [0.1, 0.2, 0.3, 0.9]])
found = d2l.multibox_detection(mnp.expand_dims(scores, 0), mnp.zeros((1, boxes.size)), mnp.expand_dims(boxes, 0), nms_threshold=0.5)
print(found.asnumpy().round(3).tolist())
print(d2l.accuracy(mnp.array([[0.1, 0.9], [0.8, 0.2]]), mnp.array([1, 1])))
print([x.shape for x in d2l.synthetic_data(mnp.array([2, -3.4]), 4.2, 10)])
recurrent = d2l.Seq2SeqEncoder(10, 8, 16, 2)
recurrent.initialize()
output, states = recurrent(mnp.zeros((4, 7)))
print(output.shape, len(states), states[0].shape, d2l.bleu("a b c", "a b d", 2), d2l.try_gpu(), d2l.try_all_gpus())
