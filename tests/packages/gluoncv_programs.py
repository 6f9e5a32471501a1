"""GluonCV: networks of its zoo, targets and losses of SSD and YOLOv3, metrics, schedules."""
import gluoncv
import mxnet as mx
import numpy as np
from filled import fill, show
from gluoncv.data.transforms import presets
from gluoncv.model_zoo.ssd.target import SSDTargetGenerator
from mxnet import autograd, nd

draws = np.random.RandomState(0)
pictures = [nd.array(draws.randint(0, 255, (200 + 20 * i, 240, 3)), dtype="uint8") for i in range(2)]
boxes = [np.array([[20, 30, 100, 120, i % 3], [60, 40, 180, 150, (i + 1) % 3]], "float32") for i in range(2)]
KINDS = ["a", "b", "c"]


def made(name, size, **options):
    net = gluoncv.model_zoo.get_model(name, pretrained=False, **options)
    net.initialize()
    net(nd.zeros((1, 3, size, size)))
    fill(net)
    return net


def networks():
    for name, size in (("alexnet", 224), ("cifar_resnet20_v1", 32), ("mobilenetv3_small", 96), ("resnest14", 96),
                       ("resnet50_v1d_0.11", 96), ("shufflenet_v2", 96), ("squeezenet1.1", 224)):
        net = made(name, size)
        show(name, net(nd.array(np.random.RandomState(1).uniform(-1, 1, (2, 3, size, size)))))
        print(name, len(net.collect_params().keys()), min(net.collect_params().keys()))


def ssd():
    net = made("ssd_300_mobilenet0.25_custom", 300, classes=KINDS, pretrained_base=False)
    with autograd.train_mode():
        anchors = net(nd.zeros((1, 3, 300, 300)))[2]
    prepare = presets.ssd.SSDDefaultValTransform(300, 300)
    target = SSDTargetGenerator(negative_mining_ratio=-1)
    batch = []
    for picture, box in zip(pictures, boxes):
        image, box = prepare(picture, box)[:2]
        classes, places, _ = target(anchors, None, nd.array(box[None, :, :4]), nd.array(box[None, :, 4:5]))
        batch.append((image, classes[0], places[0]))
    image, classes, places = (nd.stack(*parts) for parts in zip(*batch))
    show("ssd targets", image, classes, places)
    with autograd.record():
        total, of_classes, of_boxes = gluoncv.loss.SSDMultiBoxLoss()(*net(image)[:2], classes, places)
        autograd.backward(total)
    show("ssd losses", total, of_classes, of_boxes)
    fill(net)       # moving averages, which 1.9.1 changes in the backward pass on the CPU
    net.set_nms(nms_thresh=0.45, nms_topk=400)
    show("ssd found", *net(image))


def yolo():
    net = made("yolo3_mobilenet0.25_custom", 320, classes=KINDS, pretrained_base=False)
    train = presets.yolo.YOLO3DefaultTrainTransform(320, 320, net)
    prepare = presets.yolo.YOLO3DefaultValTransform(320, 320)
    batch = []
    for picture, box in zip(pictures, boxes):
        image, box = prepare(picture, box)[:2]
        truth, ids = nd.array(box[None, :, :4]), nd.array(box[None, :, 4:5])
        targets = train._target_generator(train._fake_x, train._feat_maps, train._anchors, train._offsets, truth, ids, None)
        batch.append((image, *(t[0] for t in targets), truth[0]))
    image, *targets, truth = (nd.stack(*parts) for parts in zip(*batch))
    show("yolo targets", *targets)
    with autograd.record():
        losses = net(image, truth, *targets)
        autograd.backward(losses)
    show("yolo losses", *losses)


def others():
    metric = gluoncv.utils.metrics.voc_detection.VOC07MApMetric(iou_thresh=0.5, class_names=KINDS)
    found = nd.array(draws.uniform(0, 100, (2, 6, 4)))
    found[:, :, 2:] += 50
    metric.update(found, nd.array(draws.randint(0, 3, (2, 6, 1))), nd.array(draws.uniform(0, 1, (2, 6, 1))),
                  found[:, :3] + 2, nd.array(draws.randint(0, 3, (2, 3, 1))))
    print(metric.get())
    steps = gluoncv.utils.LRSequential([
        gluoncv.utils.LRScheduler("linear", base_lr=0, target_lr=0.1, nepochs=2, iters_per_epoch=5),
        gluoncv.utils.LRScheduler("cosine", base_lr=0.1, nepochs=3, iters_per_epoch=5)])
    print([round(steps(i), 5) for i in range(0, 25, 3)])


mx.random.seed(0)
networks()
ssd()
yolo()
others()
