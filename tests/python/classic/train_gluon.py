"""Image classification with Gluon, as the scripts of 1.x have it: a record file, a hybridized
network, a Trainer.

python train_gluon.py --data-train train.rec --data-val val.rec --mode hybrid
"""

import argparse
import logging
import time

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon, nd
from mxnet.gluon import nn
from mxnet.gluon.data.vision import ImageRecordDataset, transforms


class Unit(gluon.HybridBlock):
    def __init__(self, channels, stride, **kwargs):
        super(Unit, self).__init__(**kwargs)
        with self.name_scope():
            self.body = nn.HybridSequential(prefix='')
            self.body.add(
                nn.Conv2D(channels, kernel_size=3, strides=stride, padding=1, use_bias=False),
                nn.BatchNorm(),
                nn.Activation('relu'),
                nn.Conv2D(channels, kernel_size=3, padding=1, use_bias=False),
                nn.BatchNorm(),
            )
            self.shortcut = nn.Conv2D(channels, kernel_size=1, strides=stride, use_bias=False)

    def hybrid_forward(self, F, x):
        return F.Activation(self.body(x) + self.shortcut(x), act_type='relu')


def network(classes):
    net = nn.HybridSequential(prefix='net_')
    with net.name_scope():
        net.add(
            nn.Conv2D(8, 3, padding=1),
            Unit(8, 1),
            Unit(16, 2),
            nn.GlobalAvgPool2D(),
            nn.Dense(classes),
        )
    return net


def data_loaders(args):
    normalize = [
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]
    fixed = transforms.Compose(
        [transforms.Resize(36, keep_ratio=True), transforms.CenterCrop(32)] + normalize
    )
    jitter = fixed
    if args.augment:
        jitter = transforms.Compose(
            [
                transforms.RandomResizedCrop(32, scale=(0.6, 1)),
                transforms.RandomFlipLeftRight(),
                transforms.RandomColorJitter(
                    brightness=0.1, contrast=0.1, saturation=0.1, hue=0.02
                ),
                transforms.RandomLighting(0.1),
            ]
            + normalize
        )
    train = gluon.data.DataLoader(
        ImageRecordDataset(args.data_train).transform_first(jitter),
        batch_size=args.batch_size,
        shuffle=args.augment,
        last_batch='discard',
        num_workers=args.num_workers,
    )
    val = gluon.data.DataLoader(
        ImageRecordDataset(args.data_val).transform_first(fixed),
        batch_size=args.batch_size,
        shuffle=False,
        num_workers=args.num_workers,
    )
    return train, val


def set_numbers(net):
    """The same weights with every release, whatever its random numbers and names."""
    for i, (name, param) in enumerate(net.collect_params().items()):
        if name.endswith('weight'):
            scale = np.sqrt(3 / np.prod(param.shape[1:]))
            param.set_data(nd.array(np.random.RandomState(i).uniform(-scale, scale, param.shape)))


def evaluate(net, val, ctx):
    metric = mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.TopKAccuracy(2)])
    for batch in val:
        data = gluon.utils.split_and_load(batch[0], ctx_list=ctx, batch_axis=0, even_split=False)
        label = gluon.utils.split_and_load(batch[1], ctx_list=ctx, batch_axis=0, even_split=False)
        metric.update(label, [net(x) for x in data])
    return metric.get()


def train(args):
    ctx = [mx.gpu(int(i)) for i in args.gpus.split(',')] if args.gpus else [mx.cpu()]
    net = network(args.classes)
    net.initialize(mx.init.Xavier(magnitude=2), ctx=ctx)
    train_data, val_data = data_loaders(args)
    net(nd.zeros((1, 3, 32, 32), ctx=ctx[0]))
    set_numbers(net)
    if args.mode == 'hybrid':
        net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(
        net.collect_params(),
        args.optimizer,
        {'learning_rate': args.lr, 'wd': args.wd, 'momentum': args.momentum},
        kvstore=args.kvstore,
    )
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    metric = mx.metric.Accuracy()
    for epoch in range(args.epochs):
        if epoch in [int(e) for e in args.lr_steps.split(',')]:
            trainer.set_learning_rate(trainer.learning_rate * args.lr_factor)
        metric.reset()
        tic, total, batches = time.time(), 0, 0
        for data, label in train_data:
            xs = gluon.utils.split_and_load(data, ctx_list=ctx, batch_axis=0)
            ys = gluon.utils.split_and_load(label, ctx_list=ctx, batch_axis=0)
            with autograd.record():
                outputs = [net(x) for x in xs]
                losses = [loss_fn(output, y) for output, y in zip(outputs, ys)]
            for loss in losses:
                loss.backward()
            trainer.step(data.shape[0])
            metric.update(ys, outputs)
            total += sum(loss.mean().asscalar() for loss in losses) / len(losses)
            batches += 1
        name, acc = metric.get()
        logging.info('[Epoch %d] time cost: %f', epoch, time.time() - tic)
        print(
            '[Epoch %d] training: %s=%.3f loss=%.4f lr=%g'
            % (epoch, name, acc, total / batches, trainer.learning_rate)
        )
        names, values = evaluate(net, val_data, ctx)
        print(
            '[Epoch %d] validation: %s'
            % (epoch, ' '.join('%s=%.3f' % pair for pair in zip(names, values)))
        )
    finish(args, net, trainer, ctx)


def finish(args, net, trainer, ctx):
    """Saves everything and reads it back in each way that scripts use."""
    x = nd.array(np.random.RandomState(9).rand(2, 3, 32, 32), ctx=ctx[0])
    want = net(x).asnumpy()
    net.save_parameters(args.save_prefix + '.params')
    trainer.save_states(args.save_prefix + '.states')
    trainer.load_states(args.save_prefix + '.states')
    again = network(args.classes)
    again.load_parameters(args.save_prefix + '.params', ctx=ctx)
    print('loaded differs by %d' % np.abs(again(x).asnumpy() - want).max().round(3))
    if args.mode == 'hybrid':
        net.export(args.save_prefix, epoch=args.epochs)
        block = gluon.SymbolBlock.imports(
            args.save_prefix + '-symbol.json',
            ['data'],
            '%s-%04d.params' % (args.save_prefix, args.epochs),
            ctx=ctx,
        )
        print('imported differs by %d' % np.abs(block(x).asnumpy() - want).max().round(3))


def main():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add('--data-train', required=True)
    add('--data-val', required=True)
    add('--gpus', default='')
    add('--mode', choices=['imperative', 'hybrid'], default='hybrid')
    add('--kvstore', default='device')
    add('--batch-size', type=int, default=16)
    add('--epochs', type=int, default=3)
    add('--classes', type=int, default=4)
    add('--optimizer', default='sgd')
    add('--lr', type=float, default=0.05)
    add('--lr-factor', type=float, default=0.1)
    add('--lr-steps', default='2')
    add('--momentum', type=float, default=0.9)
    add('--wd', type=float, default=0.0001)
    add('--num-workers', '-j', type=int, default=0)
    add('--augment', action='store_true')
    add('--save-prefix', default='net')
    train(parser.parse_args())


if __name__ == '__main__':
    logging.basicConfig(level=logging.INFO)
    main()
