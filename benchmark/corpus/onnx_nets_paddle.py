"""Networks of PaddlePaddle that onnx_corpus_paddle.py exports: reading texts in pictures,
detectors that drop boxes in the graph, text encoders, and its functions. Needs paddle."""
import paddle
from paddle import nn
from paddle.nn import functional as F


def conv_bn(inputs, outputs, kernel=3, stride=1, groups=1, act=nn.Hardswish):
    return nn.Sequential(
        nn.Conv2D(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias_attr=False),
        nn.BatchNorm2D(outputs), act())


class Squeezed(nn.Layer):

    def __init__(self, width):
        super().__init__()
        self.pool, self.a, self.b = nn.AdaptiveAvgPool2D(1), nn.Conv2D(width, width // 4,
                                                                       1), nn.Conv2D(
                                                                           width // 4, width, 1)

    def forward(self, x):
        return x * F.hardsigmoid(self.b(F.relu(self.a(self.pool(x)))), slope=0.2, offset=0.5)


def lcnet(strides):
    layers, width = [conv_bn(3, 16, 3, 2)], 16
    for i, stride in enumerate(strides):
        layers.append(
            nn.Sequential(conv_bn(width, width, 5 if i > 1 else 3, stride, width),
                          Squeezed(width) if i else nn.Identity(),
                          conv_bn(width, min(2 * width, 64), 1)))
        width = min(2 * width, 64)
    return nn.LayerList(layers)


class TextPlaces(nn.Layer):
    """DB's head of PP-OCR on a pyramid: maps of texts in the size of the picture."""

    def __init__(self):
        super().__init__()
        self.trunk = lcnet([2, 2, 2, 1])
        self.side = nn.LayerList([nn.Conv2D(w, 48, 1, bias_attr=False) for w in (32, 64, 64)])
        self.squeeze = nn.LayerList([Squeezed(48) for _ in range(3)])
        self.out = nn.Sequential(conv_bn(144, 12, 3, act=nn.ReLU),
                                 nn.Conv2DTranspose(12, 12, 2, 2), nn.BatchNorm2D(12), nn.ReLU(),
                                 nn.Conv2DTranspose(12, 1, 2, 2),
                                 nn.Upsample(scale_factor=2, mode="bilinear"))

    def forward(self, x):
        maps = []
        for layer in self.trunk:
            x = layer(x)
            maps.append(x)
        maps = [s(m) for s, m in zip(self.side, maps[1:4])]
        for i in (1, 0):
            maps[i] = maps[i] + F.upsample(
                maps[i + 1], scale_factor=[2, 2], mode="nearest", align_mode=1)
        maps = [m + s(m) for m, s in zip(maps, self.squeeze)]
        maps = [
            maps[0],
            F.upsample(maps[1], scale_factor=[2, 2]),
            F.upsample(maps[2], scale_factor=[4, 4])
        ]
        return F.sigmoid(self.out(paddle.concat(maps, axis=1)))


class TextReader(nn.Layer):
    """PP-OCR's recognizer: a narrow net, SVTR's blocks or LSTM, and CTC; the width is free."""

    def __init__(self, cell):
        super().__init__()
        self.trunk = lcnet([(2, 1), (1, 2), (2, 1), (2, 1)])
        self.cell = nn.LSTM(64, 48, 2, direction="bidirectional") if cell == "lstm" else nn.GRU(
            64, 96, 1) if cell == "gru" else None
        self.norm, self.qkv, self.project = nn.LayerNorm(64), nn.Linear(64, 192), nn.Linear(64, 96)
        self.out = nn.Linear(96, 97)

    def forward(self, x):
        for layer in self.trunk:
            x = layer(x)
        x = F.avg_pool2d(x, [x.shape[2], 2])
        x = x.squeeze(axis=2).transpose([0, 2, 1])
        if self.cell is not None:
            x, _ = self.cell(x)
        else:
            n, t = paddle.shape(x)[0], paddle.shape(x)[1]
            q, k, v = self.qkv(self.norm(x)).reshape([n, t, 3, 4, 16]).transpose([2, 0, 3, 1, 4])
            w = F.softmax(paddle.matmul(q * 0.25, k, transpose_y=True), axis=-1)
            x = self.project(x + paddle.matmul(w, v).transpose([0, 2, 1, 3]).reshape([n, t, 64]))
        return F.softmax(self.out(x), axis=2)


class Boxes(nn.Layer):
    """PicoDet's or PP-YOLOE's heads, or YOLOv3's, and NMS in the graph."""

    def __init__(self, kind):
        super().__init__()
        from paddle.vision import ops
        self.kind, self.ops, self.trunk = kind, ops, lcnet([2, 2, 2, 1])
        self.heads = nn.LayerList(
            [nn.Conv2D(64, {"yolo": 3 * 9, "picodet": 4 + 32}[kind], 1) for _ in range(2)])

    def forward(self, x, size, scale):
        maps = []
        for layer in self.trunk:
            x = layer(x)
            maps.append(x)
        boxes, scores = [], []
        for head, m, stride in zip(self.heads, maps[2:4], (8, 16)):
            y = head(m)
            if self.kind == "yolo":
                b, s = self.ops.yolo_box(y,
                                         size, [10, 13, 16, 30, 33, 23],
                                         4,
                                         0.01,
                                         stride,
                                         clip_bbox=True)
                boxes.append(b)
                scores.append(paddle.transpose(s, [0, 2, 1]))
                continue
            n, h, w = paddle.shape(y)[0], paddle.shape(y)[2], paddle.shape(y)[3]
            scores.append(F.sigmoid(y[:, :4]).reshape([n, 4, h * w]))
            rows, columns = paddle.meshgrid((paddle.arange(h).astype("float32") + 0.5) * stride,
                                            (paddle.arange(w).astype("float32") + 0.5) * stride)
            centers = paddle.stack([columns.flatten(), rows.flatten()], -1)
            far = y[:, 4:].transpose([0, 2, 3, 1]).reshape([n, h * w, 4, 8])
            far = paddle.matmul(F.softmax(far, -1), paddle.arange(8).astype("float32")) * stride
            boxes.append(
                paddle.concat([centers - far[:, :, :2], centers + far[:, :, 2:]], -1) /
                scale.unsqueeze(1).tile([1, 1, 2]))
        boxes = paddle.concat(boxes, 1)
        if self.kind == "yolo":
            boxes = boxes / scale.unsqueeze(1).tile([1, 1, 2])
        else:
            boxes = boxes + 0 * size.astype("float32").sum()
        return self.dropped(boxes, paddle.concat(scores, -1))

    def dropped(self, boxes, scores):
        given = {
            "score_threshold": 0.01, "nms_top_k": 100, "keep_top_k": 20, "nms_threshold": 0.5,
            "normalized": True, "nms_eta": 1.0, "background_label": -1
        }
        if paddle.in_dynamic_mode():
            return boxes, scores
        from paddle.base.layer_helper import LayerHelper
        helper = LayerHelper("multiclass_nms3")
        out, index, count = (helper.create_variable_for_type_inference(dtype=d)
                             for d in (boxes.dtype, "int32", "int32"))
        helper.append_op(type="multiclass_nms3",
                         inputs={"BBoxes": boxes, "Scores": scores},
                         attrs=given,
                         outputs={"Out": out, "Index": index, "NmsRoisNum": count})
        return out, count


class Ernie(nn.Layer):
    """Words, places and kinds; a mask made of the padding; the first word's state through tanh."""

    def __init__(self, width=128):
        super().__init__()
        self.words, self.places, self.kinds = nn.Embedding(1000, width,
                                                           padding_idx=0), nn.Embedding(
                                                               128, width), nn.Embedding(4, width)
        self.norm = nn.LayerNorm(width)
        layer = nn.TransformerEncoderLayer(width,
                                           4,
                                           2 * width,
                                           dropout=0.1,
                                           activation="gelu",
                                           attn_dropout=0.1,
                                           act_dropout=0)
        self.net, self.pool, self.out = nn.TransformerEncoder(layer, 2), nn.Linear(
            width, width), nn.Linear(width, 3)

    def forward(self, ids, kinds):
        mask = paddle.unsqueeze((ids == 0).astype("float32") * -1e4, axis=[1, 2])
        ones = paddle.ones_like(ids, dtype="int64")
        places = paddle.cumsum(ones, axis=1) - ones
        y = self.net(self.norm(self.words(ids) + self.places(places) + self.kinds(kinds)), mask)
        return y, self.out(F.tanh(self.pool(y[:, 0])))


class Function(nn.Layer):
    """A function of arrays behind a layer."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Rounds(nn.Layer):
    """As many rounds as the contents decide."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)

    def forward(self, x):
        i = paddle.zeros([1], "int64")
        while i < 5:
            x = F.tanh(self.a(x))
            i = i + 1
        return x


PICTURE, ROWS = [None, 4, 12, 16], [None, 6, 8]


def activations(x):
    y = F.mish(x) + F.swish(x) + F.elu(x) + F.selu(x) + F.softplus(x, 1, 20) + F.softsign(x)
    y = y + F.thresholded_relu(x, 0.3) + F.hardtanh(x) + F.hardshrink(x, 0.2)
    return y + F.softshrink(x, 0.2) + F.tanhshrink(x) + F.log_sigmoid(x) + F.gelu(x, True) + F.relu6(x)


def logic(x):
    inside = paddle.logical_and(x > 0, paddle.logical_not(x > 1))
    y = paddle.where(inside, x, paddle.full_like(x, -1))
    some, every = paddle.any(x > 2, 1, keepdim=True), paddle.all(x < 2, 1, keepdim=True)
    return y + some.astype("float32") + every.astype("float32")


def sums(x):
    y = paddle.cumsum(x, 1) + paddle.logsumexp(x, 1, keepdim=True)
    y = y + paddle.prod(x, -1, keepdim=True) + paddle.std(x, 1, keepdim=True)
    return y + paddle.norm(x, 3, axis=2, keepdim=True) + paddle.norm(x, p=1, axis=1, keepdim=True)


def products(x):
    y = paddle.einsum("nij,nkj->nik", x, x) + paddle.bmm(x, x.transpose([0, 2, 1]))
    return y + paddle.tril(x[:, :, :6]) + paddle.triu(x[:, :, 2:])


def divided(x):
    step = paddle.full([1], 0.3)
    y = paddle.floor_divide(x, step) + paddle.mod(x, step) + paddle.round(x * 3)
    return y + paddle.sign(x) + paddle.rsqrt(x.abs() + 1) + paddle.log1p(x.abs())


def moved(x):
    y = paddle.flip(x, [1]) + paddle.moveaxis(x, 1, 2).reshape([0, 6, -1])
    return y + paddle.expand(x[:, :1], [-1, 6, 8]) + paddle.unstack(x, 1)[0].unsqueeze(1)


def distances(x):
    y = paddle.dist(x, x * 0.5) + paddle.dot(x[0, 0], x[0, 1])
    near = F.cosine_similarity(x, x * x, 2)[:, :1].unsqueeze(1)
    return y + paddle.matmul(x, x, transpose_y=True) + near


def resized(**options):
    return lambda x: F.interpolate(x, **options)


# name -> function, shapes of its inputs
FUNCTIONS = {
    "shuffled": (lambda x: F.pixel_shuffle(x, 2), PICTURE),
    "unfolded": (lambda x: F.unfold(x, 3, 1, 1), PICTURE),
    "rolled": (lambda x: paddle.roll(x, [1, -2], [2, 3]), PICTURE),
    "padded": (lambda x: F.pad(x, [1, 2, 3, 1], "reflect") + F.pad(x, [1, 2, 3, 1], "replicate"),
               PICTURE),
    "padded_zeros": (lambda x: F.pad(x, [1, 2, 3, 1], value=0.5), PICTURE),
    "bilinear": (resized(size=[19, 9], mode="bilinear", align_corners=True), PICTURE),
    "bilinear_half": (resized(scale_factor=1.5, mode="bilinear"), PICTURE),
    "bilinear_mode1": (resized(scale_factor=2, mode="bilinear", align_mode=1), PICTURE),
    "bicubic": (resized(size=[24, 20], mode="bicubic"), PICTURE),
    "nearest": (resized(size=[7, 31], mode="nearest"), PICTURE),
    "pools": (lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True) + F.avg_pool2d(
        x, 3, 2, 1, ceil_mode=True, exclusive=False), PICTURE),
    "pooled": (lambda x: F.adaptive_max_pool2d(x, [3, 4]) + F.adaptive_avg_pool2d(x, [3, 4]),
               PICTURE),
    "norms": (lambda x: F.local_response_norm(x, 3) + F.instance_norm(x) + F.normalize(x, axis=1),
              PICTURE),
    "activations": (activations, PICTURE),
    "best": (lambda x: paddle.topk(x, 3, axis=1), ROWS),
    "sorted": (lambda x: (paddle.sort(x, axis=-1, descending=True), paddle.argsort(x, axis=1),
                          paddle.argmax(x, -1), paddle.argmin(x, 1)), ROWS),
    "chosen": (lambda x: paddle.nonzero(x > 0.5), ROWS),
    "gathered": (lambda x: paddle.gather_nd(x, paddle.to_tensor([[0, 1], [0, 5]])), ROWS),
    "selected": (lambda x: paddle.index_select(x, paddle.to_tensor([2, 0]), 1), ROWS),
    "scattered": (lambda x: paddle.scatter_nd_add(x[0], paddle.to_tensor([[1], [3]]),
                                                  paddle.ones([2, 8])), ROWS),
    "along": (lambda x: paddle.take_along_axis(x, paddle.argsort(x, axis=1), 1), ROWS),
    "split": (lambda x: paddle.add_n(
        [paddle.split(x, [2, -1], axis=1)[0], *paddle.chunk(x, 3, axis=1)]), ROWS),
    "sums": (sums, ROWS),
    "products": (products, ROWS),
    "divided": (divided, ROWS),
    "logic": (logic, ROWS),
    "one_hot": (lambda x: F.one_hot(paddle.argmax(x, -1), 8), ROWS),
    "moved": (moved, ROWS),
    "strided": (lambda x: x[:, ::2, 1:-1:2] + x[:, -3:, -3:], ROWS),
    "long": (lambda x: F.log_softmax(x.astype("float64"), 1).astype("float32") + paddle.clip(
        x, -0.5, 0.5), ROWS),
    "distances": (distances, ROWS),
}
LAYERS = {
    "transposed": (lambda: nn.Conv2DTranspose(4, 6, 3, 2, 1, output_padding=1, groups=2), PICTURE),
    "deep": (lambda: nn.Sequential(nn.Conv3D(2, 4, 3, padding=1), nn.BatchNorm3D(4), nn.ReLU(),
                                   nn.MaxPool3D(2), nn.Conv3DTranspose(4, 2, 2, 2)),
             [None, 2, 6, 8, 8]),
    "wide": (lambda: nn.Sequential(nn.Conv1D(6, 8, 3, padding=2, dilation=2), nn.BatchNorm1D(8),
                                   nn.PReLU(8), nn.AvgPool1D(2), nn.Conv1DTranspose(8, 3, 2, 2)),
             ROWS),
    "grouped_norm": (lambda: nn.Sequential(nn.GroupNorm(2, 4),
                                           nn.Conv2D(4, 4, 3, padding=[1, 0, 2, 1])), PICTURE),
    "rounds": (Rounds, [None, 8]),
}
