"""Image classification with Module, as the scripts of 1.x have it.

python train_module.py --network resnet --data-train train.rec --data-val val.rec --kv-store local
python train_module.py --network lenet --benchmark 1
"""

import argparse
import logging
import os
import time

import numpy as np

import mxnet as mx

from fixed_weights import FromNumbers


class SyntheticDataIter(mx.io.DataIter):
    def __init__(self, num_classes, data_shape, max_iter, dtype):
        super(SyntheticDataIter, self).__init__(data_shape[0])
        self.cur_iter, self.max_iter, self.dtype = 0, max_iter, dtype
        label = np.random.randint(0, num_classes, [self.batch_size])
        data = np.random.uniform(-1, 1, data_shape)
        self.data = mx.nd.array(
            data,
            dtype=self.dtype,
            ctx=mx.Context('cpu_pinned', 0) if mx.context.num_gpus() else mx.cpu(),
        )
        self.label = mx.nd.array(label, dtype=self.dtype)

    @property
    def provide_data(self):
        return [mx.io.DataDesc('data', self.data.shape, self.dtype)]

    @property
    def provide_label(self):
        return [mx.io.DataDesc('softmax_label', (self.batch_size,), self.dtype)]

    def next(self):
        self.cur_iter += 1
        if self.cur_iter > self.max_iter:
            raise StopIteration
        return mx.io.DataBatch(
            data=(self.data,),
            label=(self.label,),
            pad=0,
            index=None,
            provide_data=self.provide_data,
            provide_label=self.provide_label,
        )

    def reset(self):
        self.cur_iter = 0


def mlp(num_classes, **kwargs):
    net = mx.sym.Flatten(data=mx.sym.Variable('data'))
    net = mx.sym.FullyConnected(data=net, name='fc1', num_hidden=32)
    net = mx.sym.Activation(data=net, name='relu1', act_type='relu')
    net = mx.sym.FullyConnected(data=net, name='fc2', num_hidden=num_classes)
    return mx.sym.SoftmaxOutput(data=net, name='softmax')


def lenet(num_classes, **kwargs):
    net = mx.symbol.Variable('data')
    for filters in (8, 16):
        net = mx.symbol.Convolution(data=net, kernel=(5, 5), num_filter=filters)
        net = mx.symbol.Activation(data=net, act_type='tanh')
        net = mx.symbol.Pooling(data=net, pool_type='max', kernel=(2, 2), stride=(2, 2))
    net = mx.symbol.FullyConnected(data=mx.symbol.Flatten(data=net), num_hidden=32)
    net = mx.symbol.Activation(data=net, act_type='tanh')
    net = mx.symbol.FullyConnected(data=net, num_hidden=num_classes)
    return mx.symbol.SoftmaxOutput(data=net, name='softmax')


def residual_unit(data, filters, stride, same, name, bn_mom=0.9):
    bn = mx.sym.BatchNorm(data=data, fix_gamma=False, eps=2e-5, momentum=bn_mom, name=name + '_bn1')
    act = mx.sym.Activation(data=bn, act_type='relu', name=name + '_relu1')
    conv = mx.sym.Convolution(
        data=act,
        num_filter=filters,
        kernel=(3, 3),
        stride=stride,
        pad=(1, 1),
        no_bias=True,
        workspace=256,
        name=name + '_conv1',
    )
    if same:
        shortcut = data
    else:
        shortcut = mx.sym.Convolution(
            data=act,
            num_filter=filters,
            kernel=(1, 1),
            stride=stride,
            no_bias=True,
            workspace=256,
            name=name + '_sc',
        )
    shortcut._set_attr(mirror_stage='True')
    return conv + shortcut


def resnet(num_classes, dtype='float32', **kwargs):
    data = mx.sym.Variable(name='data')
    if dtype == 'float16':
        data = mx.sym.Cast(data=data, dtype=np.float16)
    else:
        data = mx.sym.identity(data=data, name='id')
    body = mx.sym.BatchNorm(data=data, fix_gamma=True, eps=2e-5, momentum=0.9, name='bn_data')
    body = mx.sym.Convolution(
        data=body,
        num_filter=8,
        kernel=(3, 3),
        stride=(1, 1),
        pad=(1, 1),
        no_bias=True,
        name='conv0',
    )
    for stage, filters in enumerate((8, 16)):
        stride = (1 + stage, 1 + stage)
        body = residual_unit(body, filters, stride, stage == 0, name='stage%d_unit1' % (stage + 1))
    body = mx.sym.BatchNorm(data=body, fix_gamma=False, eps=2e-5, momentum=0.9, name='bn1')
    body = mx.sym.Activation(data=body, act_type='relu', name='relu1')
    body = mx.sym.Pooling(data=body, global_pool=True, kernel=(7, 7), pool_type='avg', name='pool1')
    body = mx.sym.FullyConnected(data=mx.sym.Flatten(data=body), num_hidden=num_classes, name='fc1')
    if dtype == 'float16':
        body = mx.sym.Cast(data=body, dtype=np.float32)
    return mx.sym.SoftmaxOutput(data=body, name='softmax')


def get_rec_iter(args, kv):
    image_shape = tuple(int(length) for length in args.image_shape.split(','))
    if args.benchmark:
        return SyntheticDataIter(
            args.num_classes, (args.batch_size,) + image_shape, 20, args.dtype
        ), None
    rank, nworker = (kv.rank, kv.num_workers) if kv else (0, 1)
    rgb_mean = [float(mean) for mean in args.rgb_mean.split(',')]
    shared = dict(
        label_width=1,
        mean_r=rgb_mean[0],
        mean_g=rgb_mean[1],
        mean_b=rgb_mean[2],
        std_r=60,
        std_g=60,
        std_b=60,
        data_name='data',
        label_name='softmax_label',
        data_shape=image_shape,
        batch_size=args.batch_size,
        resize=36,
        preprocess_threads=args.data_nthreads,
        num_parts=nworker,
        part_index=rank,
    )
    train = mx.io.ImageRecordIter(
        path_imgrec=args.data_train,
        path_imgidx=args.data_train_idx,
        rand_crop=args.random_crop,
        max_random_scale=args.max_random_scale,
        pad=args.pad_size,
        fill_value=args.fill_value,
        min_random_scale=args.min_random_scale,
        random_resized_crop=False,
        max_random_aspect_ratio=args.max_random_aspect_ratio,
        random_h=args.max_random_h,
        random_s=args.max_random_s,
        random_l=args.max_random_l,
        max_rotate_angle=args.max_random_rotate_angle,
        max_shear_ratio=args.max_random_shear_ratio,
        brightness=args.brightness,
        rand_mirror=args.random_mirror,
        shuffle=bool(args.shuffle),
        **shared,
    )
    if args.data_val is None:
        return train, None
    val = mx.io.ImageRecordIter(
        path_imgrec=args.data_val, rand_crop=False, rand_mirror=False, round_batch=False, **shared
    )
    return train, val


def get_lr_scheduler(args, kv):
    epoch_size = args.num_examples // args.batch_size
    if 'dist' in args.kv_store:
        epoch_size //= kv.num_workers
    begin_epoch = args.load_epoch if args.load_epoch else 0
    step_epochs = [int(epoch) for epoch in args.lr_step_epochs.split(',')]
    lr = args.lr
    for step in step_epochs:
        if begin_epoch >= step:
            lr *= args.lr_factor
    if lr != args.lr:
        logging.info('Adjust learning rate to %e for epoch %d', lr, begin_epoch)
    steps = [epoch_size * (epoch - begin_epoch) for epoch in step_epochs if epoch - begin_epoch > 0]
    if not steps:
        return lr, None
    return lr, mx.lr_scheduler.MultiFactorScheduler(step=steps, factor=args.lr_factor)


def fit(args, network):
    kv = mx.kvstore.create(args.kv_store)
    if args.gc_type != 'none':
        kv.set_gradient_compression({'type': args.gc_type, 'threshold': args.gc_threshold})
    head = '%(asctime)-15s Node[' + str(kv.rank) + '] %(message)s'
    logging.basicConfig(level=logging.DEBUG, format=head)
    train, val = get_rec_iter(args, kv)
    if args.test_io:
        tic = time.time()
        for i, batch in enumerate(train):
            for data in batch.data:
                data.wait_to_read()
            if (i + 1) % args.disp_batches == 0:
                logging.info(
                    'Batch [%d]\tSpeed: %.2f samples/sec',
                    i,
                    args.disp_batches * args.batch_size / (time.time() - tic),
                )
                tic = time.time()
        return
    arg_params = aux_params = None
    if args.load_epoch is not None:
        sym, arg_params, aux_params = mx.model.load_checkpoint(args.model_prefix, args.load_epoch)
        assert sym.tojson() == network.tojson()
    checkpoint = None
    if args.model_prefix is not None:
        if not os.path.isdir(os.path.dirname(os.path.abspath(args.model_prefix))):
            os.makedirs(os.path.dirname(args.model_prefix))
        checkpoint = mx.callback.do_checkpoint(
            args.model_prefix if kv.rank == 0 else '%s-%d' % (args.model_prefix, kv.rank)
        )
    devs = mx.cpu() if not args.gpus else [mx.gpu(int(i)) for i in args.gpus.split(',')]
    lr, lr_scheduler = get_lr_scheduler(args, kv)
    model = mx.mod.Module(context=devs, symbol=network)
    optimizer_params = {
        'learning_rate': lr,
        'wd': args.wd,
        'lr_scheduler': lr_scheduler,
        'multi_precision': True,
    }
    if args.optimizer in {'sgd', 'dcasgd', 'nag'}:
        optimizer_params['momentum'] = args.mom
    eval_metrics = ['accuracy', mx.metric.create('ce')]
    if args.top_k > 0:
        eval_metrics.append(mx.metric.create('top_k_accuracy', top_k=args.top_k))
    initializer = (
        FromNumbers()
        if args.initializer == 'numbers'
        else mx.init.Xavier(rnd_type='gaussian', factor_type='in', magnitude=2)
    )
    model.fit(
        train,
        begin_epoch=args.load_epoch if args.load_epoch else 0,
        num_epoch=args.num_epochs,
        eval_data=val,
        eval_metric=eval_metrics,
        kvstore=kv,
        optimizer=args.optimizer,
        optimizer_params=optimizer_params,
        initializer=initializer,
        arg_params=arg_params,
        aux_params=aux_params,
        batch_end_callback=[mx.callback.Speedometer(args.batch_size, args.disp_batches)],
        epoch_end_callback=checkpoint,
        allow_missing=True,
        monitor=mx.mon.Monitor(args.monitor, pattern='.*fc.*weight') if args.monitor > 0 else None,
    )


def main():
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add('--network', type=str, default='resnet')
    add('--gpus', type=str)
    add('--kv-store', type=str, default='device')
    add('--num-epochs', type=int, default=3)
    add('--lr', type=float, default=0.05)
    add('--lr-factor', type=float, default=0.1)
    add('--lr-step-epochs', type=str, default='2')
    add('--initializer', type=str, default='default')
    add('--optimizer', type=str, default='sgd')
    add('--mom', type=float, default=0.9)
    add('--wd', type=float, default=0.0001)
    add('--batch-size', type=int, default=16)
    add('--disp-batches', type=int, default=4)
    add('--model-prefix', type=str)
    add('--monitor', type=int, default=0)
    add('--load-epoch', type=int)
    add('--top-k', type=int, default=0)
    add('--test-io', type=int, default=0)
    add('--dtype', type=str, default='float32')
    add('--gc-type', type=str, default='none')
    add('--gc-threshold', type=float, default=0.5)
    add('--benchmark', type=int, default=0)
    add('--data-train', type=str)
    add('--data-train-idx', type=str, default='')
    add('--data-val', type=str)
    add('--rgb-mean', type=str, default='123.68,116.779,103.939')
    add('--image-shape', type=str, default='3,32,32')
    add('--num-classes', type=int, default=4)
    add('--num-examples', type=int, default=128)
    add('--data-nthreads', type=int, default=2)
    add('--shuffle', type=int, default=0)
    add('--pad-size', type=int, default=0)
    add('--fill-value', type=int, default=127)
    for name in (
        'random-crop',
        'random-mirror',
        'max-random-h',
        'max-random-s',
        'max-random-l',
        'max-random-rotate-angle',
    ):
        add('--' + name, type=int, default=0)
    for name in ('max-random-aspect-ratio', 'max-random-shear-ratio', 'brightness'):
        add('--' + name, type=float, default=0)
    for name in ('max-random-scale', 'min-random-scale'):
        add('--' + name, type=float, default=1)
    args = parser.parse_args()
    fit(args, globals()[args.network](**vars(args)))


if __name__ == '__main__':
    main()
