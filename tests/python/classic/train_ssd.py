"""Detection of the SSD kind from a record file: anchors on two scales, hard negatives,
boxes by non-maximum suppression.

python train_ssd.py --train-path boxes.rec --end-epoch 8
"""

import argparse
import logging

import numpy as np

import mxnet as mx

from fixed_weights import FromNumbers


def conv_act(data, name, filters, stride=1):
    conv = mx.symbol.Convolution(
        data=data, num_filter=filters, kernel=(3, 3), stride=(stride, stride), pad=(1, 1), name=name
    )
    bn = mx.symbol.BatchNorm(data=conv, fix_gamma=False, name=name + '_bn')
    return mx.symbol.Activation(data=bn, act_type='relu', name=name + '_relu')


def multibox_layer(layers, num_classes, sizes, ratios):
    loc_layers, cls_layers, anchors = [], [], []
    for k, layer in enumerate(layers):
        num_anchors = len(sizes[k]) + len(ratios[k]) - 1
        loc = mx.symbol.Convolution(
            data=layer,
            kernel=(3, 3),
            pad=(1, 1),
            num_filter=num_anchors * 4,
            name='loc_pred%d_conv' % k,
        )
        loc_layers.append(mx.symbol.Flatten(data=mx.symbol.transpose(loc, axes=(0, 2, 3, 1))))
        cls = mx.symbol.Convolution(
            data=layer,
            kernel=(3, 3),
            pad=(1, 1),
            num_filter=num_anchors * (num_classes + 1),
            name='cls_pred%d_conv' % k,
        )
        cls_layers.append(mx.symbol.Flatten(data=mx.symbol.transpose(cls, axes=(0, 2, 3, 1))))
        made = mx.contrib.symbol.MultiBoxPrior(
            layer, sizes=sizes[k], ratios=ratios[k], clip=False, name='anchors%d' % k
        )
        anchors.append(mx.symbol.Flatten(data=made))
    loc_preds = mx.symbol.Concat(
        *loc_layers, num_args=len(loc_layers), dim=1, name='multibox_loc_pred'
    )
    cls_preds = mx.symbol.Concat(*cls_layers, num_args=len(cls_layers), dim=1)
    cls_preds = mx.symbol.transpose(
        mx.symbol.Reshape(data=cls_preds, shape=(0, -1, num_classes + 1)),
        axes=(0, 2, 1),
        name='multibox_cls_pred',
    )
    anchor_boxes = mx.symbol.Reshape(
        data=mx.symbol.Concat(*anchors, num_args=len(anchors), dim=1),
        shape=(0, -1, 4),
        name='multibox_anchors',
    )
    return loc_preds, cls_preds, anchor_boxes


def features(num_classes):
    body = conv_act(mx.symbol.Variable('data'), 'conv1', 8, 2)
    body = conv_act(body, 'conv2', 16, 2)
    first = conv_act(body, 'conv3', 16, 2)
    second = conv_act(first, 'conv4', 16, 2)
    return multibox_layer(
        [first, second], num_classes, sizes=[[0.3, 0.38], [0.45, 0.6]], ratios=[[1, 2, 0.5]] * 2
    )


def get_symbol_train(num_classes, nms_thresh=0.5, force_suppress=False, nms_topk=400):
    label = mx.symbol.Variable(name='label')
    loc_preds, cls_preds, anchor_boxes = features(num_classes)
    target = mx.contrib.symbol.MultiBoxTarget(
        anchor_boxes,
        label,
        cls_preds,
        overlap_threshold=0.5,
        ignore_label=-1,
        negative_mining_ratio=3,
        minimum_negative_samples=0,
        negative_mining_thresh=0.5,
        variances=(0.1, 0.1, 0.2, 0.2),
        name='multibox_target',
    )
    loc_target, loc_target_mask, cls_target = target[0], target[1], target[2]
    cls_prob = mx.symbol.SoftmaxOutput(
        data=cls_preds,
        label=cls_target,
        ignore_label=-1,
        use_ignore=True,
        grad_scale=1.0,
        multi_output=True,
        normalization='valid',
        name='cls_prob',
    )
    loc_loss_ = mx.symbol.smooth_l1(
        name='loc_loss_', data=loc_target_mask * (loc_preds - loc_target), scalar=1.0
    )
    loc_loss = mx.symbol.MakeLoss(loc_loss_, grad_scale=1.0, normalization='valid', name='loc_loss')
    cls_label = mx.symbol.MakeLoss(data=cls_target, grad_scale=0, name='cls_label')
    det = mx.contrib.symbol.MultiBoxDetection(
        cls_prob,
        loc_preds,
        anchor_boxes,
        name='detection',
        nms_threshold=nms_thresh,
        force_suppress=force_suppress,
        variances=(0.1, 0.1, 0.2, 0.2),
        nms_topk=nms_topk,
    )
    det = mx.symbol.MakeLoss(data=det, grad_scale=0, name='det_out')
    return mx.symbol.Group([cls_prob, loc_loss, cls_label, det])


def get_symbol(num_classes, nms_thresh=0.5):
    loc_preds, cls_preds, anchor_boxes = features(num_classes)
    cls_prob = mx.symbol.SoftmaxActivation(data=cls_preds, mode='channel', name='cls_prob')
    return mx.contrib.symbol.MultiBoxDetection(
        cls_prob,
        loc_preds,
        anchor_boxes,
        name='detection',
        nms_threshold=nms_thresh,
        force_suppress=False,
        variances=(0.1, 0.1, 0.2, 0.2),
        nms_topk=400,
    )


class DetRecordIter(mx.io.DataIter):
    """Boxes without the padding and the header that ImageDetRecordIter gives."""

    def __init__(self, path_imgrec, batch_size, data_shape, **kwargs):
        super(DetRecordIter, self).__init__()
        self.rec = mx.io.ImageDetRecordIter(
            path_imgrec=path_imgrec,
            label_width=-1,
            label_pad_width=40,
            label_pad_value=-1,
            batch_size=batch_size,
            data_shape=data_shape,
            mean_r=110,
            mean_g=110,
            mean_b=110,
            std_r=60,
            std_g=60,
            std_b=60,
            **kwargs,
        )
        self.batch_size, self.provide_label = batch_size, None
        if not self._get_batch():
            raise RuntimeError('Invalid DetRecordIter: ' + path_imgrec)
        self.provide_data = self.rec.provide_data
        self.reset()

    def reset(self):
        self.rec.reset()

    def iter_next(self):
        return self._get_batch()

    def next(self):
        if self.iter_next():
            return self._batch
        raise StopIteration

    def _get_batch(self):
        try:
            self._batch = self.rec.next()
        except StopIteration:
            return False
        if self.provide_label is None:
            first = self._batch.label[0][0].asnumpy()
            header, self.width = int(first[4]), int(first[5])
            self.start = 4 + header
            self.objects = (first.size - self.start) // self.width
            self.provide_label = [('label', (self.batch_size, self.objects, self.width))]
        label = self._batch.label[0].asnumpy()[
            :, self.start : self.start + self.objects * self.width
        ]
        self._batch.label = [
            mx.nd.array(label.reshape((self.batch_size, self.objects, self.width)))
        ]
        return True


class MultiBoxMetric(mx.metric.EvalMetric):
    def __init__(self, eps=1e-8):
        super(MultiBoxMetric, self).__init__('MultiBox')
        self.eps, self.name = eps, ['CrossEntropy', 'SmoothL1']

    def reset(self):
        self.reset_local()

    def reset_local(self):
        self.num_inst, self.sum_metric = [0] * 2, [0.0] * 2

    def update(self, labels, preds):
        cls_prob, loc_loss, cls_label = preds[0].asnumpy(), preds[1].asnumpy(), preds[2].asnumpy()
        valid_count = np.sum(cls_label >= 0)
        label = cls_label.flatten()
        mask = np.where(label >= 0)[0]
        indices = np.int64(label[mask])
        prob = cls_prob.transpose((0, 2, 1)).reshape((-1, cls_prob.shape[1]))[mask, indices]
        self.sum_metric[0] += (-np.log(prob + self.eps)).sum()
        self.num_inst[0] += valid_count
        self.sum_metric[1] += np.sum(loc_loss)
        self.num_inst[1] += valid_count

    def get(self):
        return self.name, [
            s / n if n != 0 else float('nan') for s, n in zip(self.sum_metric, self.num_inst)
        ]


def overlap(one, other):
    width, height = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    both = max(width, 0) * max(height, 0)
    return both / (np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2]) - both)


def detect(args, prefix):
    """The fraction of boxes that the saved network finds."""
    _, arg_params, aux_params = mx.model.load_checkpoint(prefix, args.end_epoch)
    mod = mx.mod.Module(get_symbol(2), label_names=None, context=mx.cpu())
    data = DetRecordIter(args.train_path, args.batch_size, (3, 64, 64))
    mod.bind(data_shapes=data.provide_data, for_training=False)
    mod.set_params(arg_params, aux_params)
    found = total = 0
    for batch in data:
        mod.forward(batch, is_train=False)
        for boxes, det in zip(batch.label[0].asnumpy(), mod.get_outputs()[0].asnumpy()):
            det = det[(det[:, 0] >= 0) & (det[:, 1] > 0.3)]
            for box in boxes[boxes[:, 0] >= 0]:
                total += 1
                found += any(d[0] == box[0] and overlap(d[2:], box[1:5]) > 0.5 for d in det)
    print('found %d of %d' % (found, total))


def main():
    parser = argparse.ArgumentParser()
    add = parser.add_argument
    add('--train-path', required=True)
    add('--batch-size', type=int, default=8)
    add('--end-epoch', type=int, default=8)
    add('--lr', dest='learning_rate', type=float, default=0.05)
    add('--prefix', default='ssd')
    add('--augment', action='store_true')
    add('--log-level', default='INFO')
    args = parser.parse_args()
    logging.basicConfig(level=args.log_level)
    augment = (
        dict(
            rand_crop_prob=0.5,
            num_crop_sampler=2,
            min_crop_scales=(0.5, 0.7),
            max_crop_scales=(1.0, 1.0),
            min_crop_object_coverages=(0.7, 0.9),
            max_crop_overlaps=(1.0, 1.0),
            crop_emit_mode='center',
            emit_overlap_thresh=0.4,
            rand_pad_prob=0.3,
            max_pad_scale=1.5,
            rand_mirror_prob=0.5,
            fill_value=110,
            random_hue_prob=0.5,
            max_random_hue=10,
            random_contrast_prob=0.5,
            max_random_contrast=0.1,
            shuffle=True,
            seed=3,
            inter_method=10,
            resize_mode='force',
        )
        if args.augment
        else {}
    )
    train = DetRecordIter(args.train_path, args.batch_size, (3, 64, 64), **augment)
    mod = mx.mod.Module(
        get_symbol_train(2), label_names=('label',), logger=logging.getLogger(), context=mx.cpu()
    )
    scheduler = mx.lr_scheduler.MultiFactorScheduler([4 * (args.end_epoch - 2)], 0.1)
    mod.fit(
        train,
        eval_metric=MultiBoxMetric(),
        batch_end_callback=[mx.callback.Speedometer(args.batch_size, frequent=2)],
        epoch_end_callback=mx.callback.do_checkpoint(args.prefix, period=args.end_epoch),
        optimizer='sgd',
        optimizer_params={
            'learning_rate': args.learning_rate,
            'momentum': 0.9,
            'wd': 5e-4,
            'lr_scheduler': scheduler,
            'clip_gradient': None,
            'rescale_grad': 1.0,
        },
        begin_epoch=0,
        num_epoch=args.end_epoch,
        initializer=FromNumbers(),
        allow_missing=True,
    )
    detect(args, args.prefix)


if __name__ == '__main__':
    main()
