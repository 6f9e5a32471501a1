"""Networks of onnx_models.py that torchvision does not have: text, speech, recommenders, decoders
with a cache, diffusion and others, in sizes of a benchmark. Needs torch and torchvision."""
import math

import torch
import torchvision
from torch import nn
from torch.nn import functional as F


# Detection and images.

class Detections(nn.Module):
    """torchvision's detectors take lists; a file takes one image."""

    settled = True   # their backbones are, and in training they would want targets

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        found = self.net([x])[0]
        return found["boxes"], found["scores"], found["labels"]


class Segmentation(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, x):
        return self.net(x)["out"]


def conv_bn(inputs, outputs, kernel=3, stride=1, act=nn.SiLU, groups=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                         nn.BatchNorm2d(outputs), act())


class Split(nn.Module):
    """A block whose halves join again, as in YOLO since version 5."""

    def __init__(self, width):
        super().__init__()
        half = width // 2
        self.one, self.two = conv_bn(width, half, 1), conv_bn(width, half, 1)
        self.deep = nn.Sequential(conv_bn(half, half), conv_bn(half, half))
        self.join = conv_bn(width, width, 1)

    def forward(self, x):
        one = self.one(x)
        return self.join(torch.cat([one + self.deep(one), self.two(x)], 1))


class Yolo(nn.Module):
    """Two scales without anchors, boxes decoded and the best kept, in the graph."""

    def __init__(self, classes=20):
        super().__init__()
        self.stem = nn.Sequential(conv_bn(3, 16, 3, 2), conv_bn(16, 32, 3, 2), Split(32))
        self.middle = nn.Sequential(conv_bn(32, 64, 3, 2), Split(64), conv_bn(64, 128, 3, 2), Split(128))
        self.deep = nn.Sequential(conv_bn(128, 256, 3, 2), Split(256), nn.MaxPool2d(5, 1, 2))
        self.up, self.mix = conv_bn(256, 128, 1), Split(256)
        self.heads = nn.ModuleList([nn.Conv2d(256, 4 + classes, 1), nn.Conv2d(256, 4 + classes, 1)])

    def forward(self, x):
        middle = self.middle(self.stem(x))
        deep = self.deep(middle)
        up = F.interpolate(self.up(deep), scale_factor=2.0, mode="nearest")
        boxes, scores = [], []
        for head, stride, maps in ((self.heads[0], 16, self.mix(torch.cat([up, middle], 1))),
                                   (self.heads[1], 32, deep)):
            y = head(maps)
            height, width = y.shape[2], y.shape[3]
            rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            center = torch.stack([columns, rows]).float() + 0.5
            size = y[0, 2:4].clamp(max=3.0).exp()
            middle_at = (center + y[0, 0:2].tanh()) * stride
            boxes.append(torch.cat([middle_at - size * stride, middle_at + size * stride]).flatten(1).t())
            scores.append(y[0, 4:].sigmoid().flatten(1).t())
        boxes, scores = torch.cat(boxes), torch.cat(scores)
        best, kind = scores.max(1)
        keep = torchvision.ops.nms(boxes, best, 0.5)[:100]
        return boxes[keep], best[keep], kind[keep]


class Crnn(nn.Module):
    """Text in a line of an image: convolutions, two directions of LSTM."""

    def __init__(self, letters=80):
        super().__init__()
        self.maps = nn.Sequential(
            conv_bn(1, 32, act=nn.ReLU), nn.MaxPool2d(2), conv_bn(32, 64, act=nn.ReLU), nn.MaxPool2d(2),
            conv_bn(64, 128, act=nn.ReLU), nn.MaxPool2d((2, 1)), conv_bn(128, 256, act=nn.ReLU), nn.MaxPool2d((4, 1)))
        self.lstm = nn.LSTM(256, 128, 2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(256, letters)

    def forward(self, x):
        y = self.maps(x).squeeze(2).transpose(1, 2)
        return self.out(self.lstm(y)[0]).log_softmax(-1)


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 9, 3, padding=1),
                                 nn.PixelShuffle(3))

    def forward(self, x):
        return self.net(x)


# Diffusion.

class Residual(nn.Module):
    def __init__(self, inputs, outputs, times=0):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(8, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(times, outputs) if times else None
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, t=None):
        y = self.conv1(F.silu(self.norm1(x)))
        if self.time is not None:
            y = y + self.time(F.silu(t))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(y)))


class MapAttention(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.GroupNorm(8, width), nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)

    def forward(self, x):
        n, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(n, 3 * self.heads, c // self.heads, h * w).transpose(2, 3).chunk(3, 1)
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(2, 3).reshape(n, c, h, w))


class UNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        w, t = width, 4 * width
        self.frequencies = nn.Parameter(torch.exp(-math.log(10000.0) * torch.arange(w) / w), requires_grad=False)
        self.times = nn.Sequential(nn.Linear(2 * w, t), nn.SiLU(), nn.Linear(t, t))
        self.stem = nn.Conv2d(4, w, 3, padding=1)
        self.down1, self.less1 = Residual(w, w, t), nn.Conv2d(w, 2 * w, 3, 2, 1)
        self.down2, self.less2 = Residual(2 * w, 2 * w, t), nn.Conv2d(2 * w, 4 * w, 3, 2, 1)
        self.attend2 = MapAttention(2 * w)
        self.middle1, self.attend, self.middle2 = Residual(4 * w, 4 * w, t), MapAttention(4 * w), Residual(4 * w, 4 * w, t)
        self.more2, self.up2 = nn.Conv2d(4 * w, 2 * w, 3, padding=1), Residual(4 * w, 2 * w, t)
        self.more1, self.up1 = nn.Conv2d(2 * w, w, 3, padding=1), Residual(2 * w, w, t)
        self.norm, self.out = nn.GroupNorm(8, w), nn.Conv2d(w, 4, 3, padding=1)

    def forward(self, x, t):
        angles = t[:, None] * self.frequencies
        t = self.times(torch.cat([angles.sin(), angles.cos()], 1))
        one = self.down1(self.stem(x), t)
        two = self.attend2(self.down2(self.less1(one), t))
        y = self.middle2(self.attend(self.middle1(self.less2(two), t)), t)
        y = self.up2(torch.cat([self.more2(F.interpolate(y, scale_factor=2.0, mode="nearest")), two], 1), t)
        y = self.up1(torch.cat([self.more1(F.interpolate(y, scale_factor=2.0, mode="nearest")), one], 1), t)
        return self.out(F.silu(self.norm(y)))


class VaeDecoder(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.stem, self.block, self.attend = nn.Conv2d(4, width, 3, padding=1), Residual(width, width), MapAttention(width, 1)
        self.ups = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(3)])
        self.blocks = nn.ModuleList([Residual(width, width) for _ in range(3)])
        self.norm, self.out = nn.GroupNorm(8, width), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, z):
        y = self.attend(self.block(self.stem(z)))
        for up, block in zip(self.ups, self.blocks):
            y = block(up(F.interpolate(y, scale_factor=2.0, mode="nearest")))
        return self.out(F.silu(self.norm(y))).tanh()


# Text.

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], -1, self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3])
        if mask is not None:
            scores = scores + mask
        y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    """Of an encoder; norms behind as in BERT, or in front as in newer ones."""

    def __init__(self, width, heads, first=False):
        super().__init__()
        self.first = first
        self.attention, self.norm1, self.norm2 = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, mask=None):
        if self.first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.down(F.gelu(self.up(self.norm2(x))))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, layers, width, heads, words=8000, types=True):
        super().__init__()
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(512, width)
        self.segment = nn.Embedding(2, width) if types else None
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(layers)])
        self.pool, self.out = nn.Linear(width, width), nn.Linear(width, 3)

    def forward(self, ids, mask, types=None):
        x = self.word(ids) + self.place(torch.arange(ids.shape[1], device=ids.device))[None]
        if self.segment is not None:
            x = x + self.segment(types)
        x = self.norm(x)
        hidden = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, hidden)
        return x, self.out(torch.tanh(self.pool(x[:, 0])))


class Gpt(nn.Module):
    """One call of a decoder: new words, and the keys and values of the earlier ones."""

    def __init__(self, layers=6, width=384, heads=6, words=8000):
        super().__init__()
        self.heads, self.layers = heads, layers
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(512, width)
        block = lambda: nn.ModuleDict({
            "norm1": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
            "norm2": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})
        self.blocks = nn.ModuleList([block() for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, mask, *past):
        count, before = ids.shape[1], past[0].shape[2]
        x = self.word(ids) + self.place(torch.arange(before, before + count))[None]
        seen = torch.arange(before + count)[None, :] <= torch.arange(before, before + count)[:, None]
        hidden = torch.where(seen[None, None] & (mask[:, None, None, :] > 0), 0.0, -10000.0)
        present = []
        for i, b in enumerate(self.blocks):
            split = lambda y: y.view(y.shape[0], -1, self.heads, y.shape[2] // self.heads).transpose(1, 2)
            q, k, v = (split(y) for y in b["qkv"](b["norm1"](x)).chunk(3, -1))
            k, v = torch.cat([past[2 * i], k], 2), torch.cat([past[2 * i + 1], v], 2)
            present += [k, v]
            scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[3]) + hidden
            x = x + b["out"]((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))
            x = x + b["down"](F.gelu(b["up"](b["norm2"](x)), approximate="tanh"))
        return (self.norm(x) @ self.word.weight.t(), *present)


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.1 * torch.randn(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5))


class Llama(nn.Module):
    """RMS norms, rotated positions, keys that several heads share, gated layers."""

    def __init__(self, layers=6, width=512, heads=8, shared=2, words=8000, deep=1376):
        super().__init__()
        self.heads, self.shared, self.size, self.layers = heads, shared, width // heads, layers
        self.word, self.norm = nn.Embedding(words, width), RmsNorm(width)
        line = lambda a, b: nn.Linear(a, b, bias=False)
        block = lambda: nn.ModuleDict({
            "norm1": RmsNorm(width), "q": line(width, width), "k": line(width, shared * self.size),
            "v": line(width, shared * self.size), "out": line(width, width), "norm2": RmsNorm(width),
            "gate": line(width, deep), "up": line(width, deep), "down": line(deep, width)})
        self.blocks, self.out = nn.ModuleList([block() for _ in range(layers)]), line(width, words)
        self.register_buffer("speed", 1.0 / 10000 ** (torch.arange(0, self.size, 2).float() / self.size))

    def turned(self, x, cos, sin):
        half = self.size // 2
        return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin

    def forward(self, ids, positions, *past):
        count = ids.shape[1]
        x = self.word(ids)
        angles = positions[:, None, :, None].float() * self.speed
        angles = torch.cat([angles, angles], -1)
        cos, sin, present = angles.cos(), angles.sin(), []
        before = past[0].shape[2]
        seen = torch.arange(before + count)[None, :] <= torch.arange(before, before + count)[:, None]
        for i, b in enumerate(self.blocks):
            y = b["norm1"](x)
            split = lambda t: t.view(t.shape[0], -1, t.shape[2] // self.size, self.size).transpose(1, 2)
            q, k, v = self.turned(split(b["q"](y)), cos, sin), self.turned(split(b["k"](y)), cos, sin), split(b["v"](y))
            k, v = torch.cat([past[2 * i], k], 2), torch.cat([past[2 * i + 1], v], 2)
            present += [k, v]
            each = self.heads // self.shared
            many = lambda t: t[:, :, None].expand(-1, -1, each, -1, -1).reshape(t.shape[0], self.heads, -1, self.size)
            scores = (q @ many(k).transpose(2, 3) / math.sqrt(self.size)).masked_fill(~seen[None, None], -10000.0)
            y = scores.softmax(-1) @ many(v)
            x = x + b["out"](y.transpose(1, 2).reshape(x.shape))
            y = b["norm2"](x)
            x = x + b["down"](F.silu(b["gate"](y)) * b["up"](y))
        return (self.out(self.norm(x)), *present)


# Speech and series.

class SpeechEncoder(nn.Module):
    """Of a spectrum: two convolutions and encoder layers."""

    def __init__(self, width=256, layers=4, places=200):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(80, width, 3, padding=1), nn.Conv1d(width, width, 3, 2, 1)
        self.places = nn.Parameter(torch.randn(places, width) * 0.1)
        self.layers, self.norm = nn.ModuleList([Layer(width, 4, True) for _ in range(layers)]), nn.LayerNorm(width)

    def forward(self, x):
        y = F.gelu(self.conv2(F.gelu(self.conv1(x)))).transpose(1, 2) + self.places
        for layer in self.layers:
            y = layer(y)
        return self.norm(y)


class Wave(nn.Module):
    """Of the wave itself: seven convolutions, places from a convolution in groups, two layers."""

    def __init__(self, width=128):
        super().__init__()
        steps = [(10, 5), (3, 2), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2)]
        self.convs = nn.ModuleList([nn.Conv1d(width if i else 1, width, k, s, bias=False) for i, (k, s) in enumerate(steps)])
        self.norm, self.norm2, self.line = nn.GroupNorm(width, width), nn.LayerNorm(width), nn.Linear(width, 2 * width)
        self.place = nn.Conv1d(2 * width, 2 * width, 16, padding=8, groups=16)
        self.layers, self.out = nn.ModuleList([Layer(2 * width, 4) for _ in range(2)]), nn.Linear(2 * width, 32)

    def forward(self, x):
        y = x[:, None]
        for i, conv in enumerate(self.convs):
            y = conv(y)
            y = F.gelu(self.norm(y) if i == 0 else y)
        y = self.line(self.norm2(y.transpose(1, 2)))
        y = y + F.gelu(self.place(y.transpose(1, 2))[:, :, :-1]).transpose(1, 2)
        for layer in self.layers:
            y = layer(y)
        return self.out(y)


class Streaming(nn.Module):
    """A piece of a stream, with the state before and behind it."""

    def __init__(self, width=256):
        super().__init__()
        self.line, self.lstm, self.out = nn.Linear(80, width), nn.LSTM(width, width, 2, batch_first=True), nn.Linear(width, 40)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(self.line(x).relu(), (h, c))
        return self.out(y), h, c


class Recurrent(nn.Module):
    def __init__(self, kind, both):
        super().__init__()
        self.word = nn.Embedding(2000, 64)
        self.layers = getattr(nn, kind)(64, 128, num_layers=2, bidirectional=both, batch_first=True)
        self.out = nn.Linear(256 if both else 128, 10)

    def forward(self, x):
        return self.out(self.layers(self.word(x))[0])


# Recommenders.

class Dlrm(nn.Module):
    """Bags of embeddings, their products with each other, and dense layers."""

    def __init__(self, tables=26, rows=2000, width=32):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, width) for _ in range(tables)])
        self.bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU())
        pairs = tables * (tables + 1) // 2
        self.top = nn.Sequential(nn.Linear(pairs + width, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 1))
        self.register_buffer("below", torch.tril_indices(tables + 1, tables + 1, -1))

    def forward(self, dense, ids):
        x = self.bottom(dense)
        bags = [x] + [table(ids[:, i]).sum(1) for i, table in enumerate(self.tables)]
        every = torch.stack(bags, 1)
        products = (every @ every.transpose(1, 2))[:, self.below[0], self.below[1]]
        return torch.sigmoid(self.top(torch.cat([x, products * 0.1], 1)))


class DeepFm(nn.Module):
    def __init__(self, fields=39, rows=20000, width=16):
        super().__init__()
        self.one, self.many = nn.Embedding(rows, 1), nn.Embedding(rows, width)
        self.deep = nn.Sequential(nn.Linear(fields * width, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 128),
                                  nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, ids):
        e = self.many(ids)
        pairs = 0.5 * (e.sum(1).pow(2) - e.pow(2).sum(1)).sum(1, keepdim=True)
        return torch.sigmoid(self.one(ids).sum(1) + 0.02 * pairs + self.deep(e.flatten(1)))


class Half(nn.Module):
    """A network in a 16-bit type behind float32 inputs and results."""

    def __init__(self, net, dtype):
        super().__init__()
        self.net, self.dtype = net.to(dtype), dtype

    def forward(self, *inputs):
        results = self.net(*[x.to(self.dtype) if x.is_floating_point() else x for x in inputs])
        return tuple(y.float() for y in results) if isinstance(results, tuple) else results.float()
