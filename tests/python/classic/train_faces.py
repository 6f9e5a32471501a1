"""Faces with an additive angular margin, from records sorted by identity, as scripts of 1.x do.

python train_faces.py --path-imgrec faces.rec
"""

import argparse
import logging
import math
import numbers
import random

import numpy as np

import mxnet as mx
from mxnet import io, recordio
from mxnet import ndarray as nd

from fixed_weights import FromNumbers

logger = logging.getLogger()


class FaceImageIter(io.DataIter):
    def __init__(
        self,
        batch_size,
        data_shape,
        path_imgrec,
        shuffle=False,
        mean=None,
        rand_mirror=False,
        cutoff=0,
        data_name='data',
        label_name='softmax_label',
    ):
        super(FaceImageIter, self).__init__()
        logging.info('loading recordio %s...', path_imgrec)
        self.imgrec = recordio.MXIndexedRecordIO(path_imgrec[0:-4] + '.idx', path_imgrec, 'r')
        header, _ = recordio.unpack(self.imgrec.read_idx(0))
        if header.flag > 0:
            print('header0 label', header.label)
            self.imgidx, self.id2range = [], {}
            self.seq_identity = range(int(header.label[0]), int(header.label[1]))
            for identity in self.seq_identity:
                header, _ = recordio.unpack(self.imgrec.read_idx(identity))
                a, b = int(header.label[0]), int(header.label[1])
                self.id2range[identity] = (a, b)
                self.imgidx += range(a, b)
            print('id2range', len(self.id2range))
        else:
            self.imgidx = list(self.imgrec.keys)
        self.seq = self.imgidx
        self.shuffle, self.rand_mirror, self.cutoff = shuffle, rand_mirror, cutoff
        self.nd_mean = mx.nd.array(mean).reshape((1, 1, 3)) if mean else None
        self.batch_size, self.data_shape = batch_size, data_shape
        self.provide_data = [(data_name, (batch_size,) + data_shape)]
        self.provide_label = [(label_name, (batch_size,))]
        self.cur, self.is_init = 0, False

    def reset(self):
        self.cur = 0
        if self.shuffle:
            random.shuffle(self.seq)

    def next_sample(self):
        if self.cur >= len(self.seq):
            raise StopIteration
        idx = self.seq[self.cur]
        self.cur += 1
        header, img = recordio.unpack(self.imgrec.read_idx(idx))
        label = header.label
        if not isinstance(label, numbers.Number):
            label = label[0]
        return label, img

    def augment(self, data):
        if self.rand_mirror and random.randint(0, 1) == 1:
            data = mx.ndarray.flip(data=data, axis=1)
        if self.nd_mean is not None:
            data = data.astype('float32')
            data -= self.nd_mean
            data *= 0.0078125
        if self.cutoff > 0:
            y, x = random.randint(0, data.shape[0] - 1), random.randint(0, data.shape[1] - 1)
            half = self.cutoff // 2
            data[max(0, y - half) : y + half, max(0, x - half) : x + half, :] = 0
        return data

    def next(self):
        if not self.is_init:
            self.reset()
            self.is_init = True
        c, h, w = self.data_shape
        batch_data = nd.empty((self.batch_size, c, h, w))
        batch_label = nd.empty(self.provide_label[0][1])
        i = 0
        try:
            while i < self.batch_size:
                label, s = self.next_sample()
                data = self.augment(mx.image.imdecode(s))
                assert data.shape == (h, w, c)
                batch_data[i][:] = nd.transpose(data, axes=(2, 0, 1))
                batch_label[i][:] = label
                i += 1
        except StopIteration:
            if i < self.batch_size:
                raise StopIteration
        return io.DataBatch([batch_data], [batch_label], self.batch_size - i)


def embedding(activation):
    body = mx.symbol.Variable('data')
    for k, filters in enumerate((8, 16)):
        body = mx.symbol.Convolution(
            data=body,
            num_filter=filters,
            kernel=(3, 3),
            stride=(2, 2),
            pad=(1, 1),
            no_bias=True,
            name='conv%d' % k,
        )
        body = mx.symbol.BatchNorm(
            data=body, fix_gamma=False, eps=2e-5, momentum=0.9, name='conv%d_bn' % k
        )
        body = mx.symbol.LeakyReLU(data=body, act_type=activation, name='conv%d_relu' % k)
    body = mx.symbol.FullyConnected(data=body, num_hidden=16, name='pre_fc1')
    return mx.symbol.BatchNorm(data=body, fix_gamma=True, eps=2e-5, momentum=0.9, name='fc1')


def margin_loss(args):
    """fc7 with the margin at each row's own identity; the network's two outputs."""
    fc1, gt_label = embedding(args.activation), mx.symbol.Variable('softmax_label')
    weight = mx.symbol.Variable(
        'fc7_weight', shape=(args.num_classes, 16), lr_mult=1.0, wd_mult=1.0
    )
    weight = mx.symbol.L2Normalization(weight, mode='instance')
    nembedding = mx.symbol.L2Normalization(fc1, mode='instance', name='fc1n') * args.margin_s
    fc7 = mx.sym.FullyConnected(
        data=nembedding, weight=weight, no_bias=True, num_hidden=args.num_classes, name='fc7'
    )
    cos_t = mx.sym.pick(fc7, gt_label, axis=1) / args.margin_s
    cos_m, sin_m = math.cos(args.margin_m), math.sin(args.margin_m)
    sin_t = mx.sym.sqrt(1.0 - cos_t * cos_t)
    new_zy = cos_t * cos_m - sin_t * sin_m
    keep = cos_t - math.sin(math.pi - args.margin_m) * args.margin_m
    cond = mx.symbol.Activation(data=cos_t - math.cos(math.pi - args.margin_m), act_type='relu')
    new_zy = mx.sym.where(cond, new_zy, keep)
    diff = mx.sym.expand_dims((new_zy - cos_t) * args.margin_s, 1)
    one_hot = mx.sym.one_hot(gt_label, depth=args.num_classes, on_value=1.0, off_value=0.0)
    fc7 = fc7 + mx.sym.broadcast_mul(one_hot, diff)
    softmax = mx.symbol.SoftmaxOutput(
        data=fc7, label=gt_label, name='softmax', normalization='valid'
    )
    return mx.symbol.Group([mx.symbol.BlockGrad(fc1), softmax])


class AccMetric(mx.metric.EvalMetric):
    def __init__(self):
        self.axis = 1
        super(AccMetric, self).__init__('acc', axis=self.axis, output_names=None, label_names=None)
        self.losses, self.count = [], 0

    def update(self, labels, preds):
        self.count += 1
        label, pred = labels[0].asnumpy().astype('int32').flatten(), preds[1].asnumpy()
        self.losses.append(float(-np.log(pred[np.arange(len(label)), label]).mean()))
        assert label.shape == pred.argmax(axis=1).shape
        self.sum_metric += (pred.argmax(axis=1) == label).sum()
        self.num_inst += len(label)


def verify(prefix, epoch, data):
    """How near two pictures of one person are by the saved embedding, and two of different ones."""
    sym, arg_params, aux_params = mx.model.load_checkpoint(prefix, epoch)
    model = mx.mod.Module(
        symbol=sym.get_internals()['fc1_output'], context=mx.cpu(), label_names=None
    )
    model.bind(data_shapes=data.provide_data, for_training=False)
    model.set_params(arg_params, aux_params, allow_extra=True)
    vectors, labels = [], []
    for batch in data:
        model.forward(mx.io.DataBatch(data=(batch.data[0],)), is_train=False)
        vectors.append(model.get_outputs()[0].asnumpy())
        labels.append(batch.label[0].asnumpy())
    vectors, labels = np.concatenate(vectors), np.concatenate(labels)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    near = vectors @ vectors.T
    same = labels[:, None] == labels[None]
    print(
        'verified',
        vectors.shape,
        'same %.2f different %.2f' % (near[same].mean(), near[~same].mean()),
    )


def main():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add('--path-imgrec', required=True)
    add('--batch-size', type=int, default=8)
    add('--num-classes', type=int, default=6)
    add('--margin-s', type=float, default=16)
    add('--margin-m', type=float, default=0.3)
    add('--epochs', type=int, default=4)
    add('--lr', type=float, default=0.02)
    add('--prefix', default='faces')
    add('--activation', default='prelu')
    add('--plain', action='store_true')
    args = parser.parse_args()
    logger.setLevel(logging.INFO)
    random.seed(0)
    train = FaceImageIter(
        args.batch_size,
        (3, 32, 32),
        args.path_imgrec,
        shuffle=True,
        mean=[127.5] * 3,
        rand_mirror=not args.plain,
        cutoff=0 if args.plain else 8,
    )
    metric = AccMetric()
    steps = []

    def _batch_callback(param):
        steps.append(param.nbatch)
        if len(steps) == 18:
            opt.lr *= 0.5
            logger.info('lr change to %f', opt.lr)
        if param.nbatch == 8:
            arg_params, aux_params = model.get_params()
            mx.model.save_checkpoint(args.prefix, 1, model.symbol, arg_params, aux_params)

    model = mx.mod.Module(context=[mx.cpu()], symbol=margin_loss(args), fixed_param_names=None)
    opt = mx.optimizer.SGD(learning_rate=args.lr, momentum=0.9, wd=5e-4, rescale_grad=1.0)
    model.fit(
        mx.io.PrefetchingIter(train),
        begin_epoch=0,
        num_epoch=args.epochs,
        eval_metric=[metric],
        kvstore='device',
        optimizer=opt,
        initializer=FromNumbers(),
        allow_missing=True,
        batch_end_callback=[mx.callback.Speedometer(args.batch_size, 4), _batch_callback],
    )
    for epoch in range(args.epochs):
        print('epoch %d loss %.4f' % (epoch, np.mean(metric.losses[epoch * 9 : epoch * 9 + 9])))
    verify(
        args.prefix,
        1,
        FaceImageIter(args.batch_size, (3, 32, 32), args.path_imgrec, mean=[127.5] * 3),
    )


if __name__ == '__main__':
    main()
