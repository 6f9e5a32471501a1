"""Networks of pictures and texts that onnx_corpus_more.py exports: masks by points, depth, flows
between frames, filling in by spectra, faces and sentences, in small sizes. Needs torch."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from onnx_nets import Attention, Bert


class Points(nn.Module):
    """The decoder of segment-anything as its exporter writes it: any number of points with labels,
    a mask that may count or not, and masks in the size of the picture, which is an input."""

    def __init__(self, width=64):
        super().__init__()
        self.register_buffer("gaussian", torch.randn(2, width // 2))
        self.kinds, self.none, self.no_mask = nn.Parameter(torch.randn(4, 1, width)), nn.Parameter(
            torch.randn(width)), nn.Parameter(torch.randn(width))
        self.small = nn.Sequential(nn.Conv2d(1, 4, 2, 2), nn.GroupNorm(1, 4), nn.GELU(),
                                   nn.Conv2d(4, 16, 2, 2), nn.GELU(), nn.Conv2d(16, width, 1))
        self.tokens = nn.Parameter(torch.randn(5, width))
        self.own, self.norm = Attention(width, 4), nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width // 2 if i < 3 else width)
                                          for i in range(4))
        self.o = nn.Linear(width // 2, width)
        self.up = nn.ModuleList(
            [nn.ConvTranspose2d(width, 16, 2, 2),
             nn.ConvTranspose2d(16, 8, 2, 2)])
        self.heads, self.score = nn.ModuleList(nn.Linear(width, 8)
                                               for _ in range(4)), nn.Linear(width, 4)

    def placed(self, at):
        at = 2 * math.pi * ((2 * at - 1) @ self.gaussian)
        return torch.cat([at.sin(), at.cos()], -1)

    def cross(self, a, b, place):
        n, c = a.shape[0], 4
        split = lambda y: y.reshape(n, -1, c, y.shape[-1] // c).transpose(1, 2)
        q, k, v = split(self.q(a)), split(self.k(b + place)), split(self.v(b))
        y = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(q.shape[-1]), -1) @ v
        return self.norm(a + self.o(y.transpose(1, 2).flatten(2)))

    def forward(self, features, coords, labels, mask, has_mask, size):
        at = self.placed((coords + 0.5) / 256)
        labels = labels.unsqueeze(-1).expand_as(at)
        at = at * (labels != -1) + self.none * (labels == -1)
        for i in range(4):
            at = at + self.kinds[i] * (labels == i)
        dense = has_mask * self.small(mask) + (1 - has_mask) * self.no_mask.reshape(1, -1, 1, 1)
        tokens = torch.cat([self.tokens.unsqueeze(0).expand(at.size(0), -1, -1), at], 1)
        picture = torch.repeat_interleave(features, tokens.shape[0], dim=0) + dense
        n, c, h, w = picture.shape
        ones = torch.ones(h, w)
        place = self.placed(
            torch.stack([(ones.cumsum(1) - 0.5) / w, (ones.cumsum(0) - 0.5) / h],
                        -1)).reshape(1, h * w, c)
        flat = picture.flatten(2).permute(0, 2, 1)
        tokens = tokens + self.own(tokens)
        tokens = self.cross(tokens, flat, place)
        flat = self.cross(flat + place, tokens, 0)
        y = F.gelu(self.up[0](flat.transpose(1, 2).view(n, c, h, w)))
        y = F.gelu(self.up[1](y))
        hyper = torch.stack([head(tokens[:, 1 + i]) for i, head in enumerate(self.heads)], 1)
        low = (hyper @ y.flatten(2)).view(n, 4, 4 * h, 4 * w)
        scores = self.score(
            tokens[:, 0]) + (coords.shape[1] - 2.5) * torch.tensor([[1000.0] + [0.0] * 3])
        best = torch.argmax(scores, 1)
        rows = torch.arange(n)
        low, scores = low[rows, best].unsqueeze(1), scores[rows, best].unsqueeze(1)
        high = F.interpolate(low, size=(256, 256), mode="bilinear", align_corners=False)
        longest = torch.max(size)
        new = torch.floor(256 / longest * size + 0.5).to(torch.int64)
        high = F.interpolate(high[..., :new[0], :new[1]],
                             size=(size[0].to(torch.int64), size[1].to(torch.int64)),
                             mode="bilinear",
                             align_corners=False)
        return high, scores, low


class Depth(nn.Module):
    """DINOv2 under a dense head: places are resized by cubes to the picture's."""

    def __init__(self, width=64):
        super().__init__()
        self.patch, self.first = nn.Conv2d(3, width, 14,
                                           14), nn.Parameter(torch.randn(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 1 + 16 * 16, width))
        self.attend, self.norm = nn.ModuleList(Attention(width, 4)
                                               for _ in range(2)), nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.rand(width))
        self.project, self.up = nn.ModuleList(nn.Conv2d(width, 32, 1)
                                              for _ in range(2)), nn.ConvTranspose2d(32, 32, 4, 4)
        self.down, self.out = nn.Conv2d(32, 32, 3,
                                        2, 1), nn.Sequential(nn.Conv2d(32, 8, 3, padding=1),
                                                             nn.ReLU(), nn.Conv2d(8, 1, 1),
                                                             nn.ReLU())

    def forward(self, x):
        n, _, height, width = x.shape
        h, w = height // 14, width // 14
        y = self.patch(x).flatten(2).transpose(1, 2)
        places = self.places[:, 1:].reshape(1, 16, 16, -1).permute(0, 3, 1, 2)
        places = F.interpolate(places, size=(h, w), mode="bicubic",
                               align_corners=False).permute(0, 2, 3, 1).view(1, -1, y.shape[-1])
        y = torch.cat([self.first.expand(n, -1, -1) + self.places[:, :1], y + places], 1)
        maps = []
        for layer, project in zip(self.attend, self.project):
            y = y + self.scale * layer(self.norm(y))
            maps.append(project(self.norm(y)[:, 1:].permute(0, 2, 1).reshape(n, -1, h, w)))
        low = self.down(maps[1])
        high = self.up(maps[0])
        low = F.interpolate(low, size=maps[1].shape[2:], mode="bilinear", align_corners=True)
        y = F.interpolate(low + maps[1], size=high.shape[2:], mode="bilinear",
                          align_corners=True) + high
        return self.out(F.interpolate(y, (h * 14, w * 14), mode="bilinear",
                                      align_corners=True)).squeeze(1)


def warped(x, flow):
    n, _, h, w = flow.shape
    across = torch.linspace(-1.0, 1.0, w).view(1, 1, 1, w).expand(n, -1, h, -1)
    down = torch.linspace(-1.0, 1.0, h).view(1, 1, h, 1).expand(n, -1, -1, w)
    flow = torch.cat(
        [flow[:, :1] / ((x.shape[3] - 1.0) / 2.0), flow[:, 1:2] / ((x.shape[2] - 1.0) / 2.0)], 1)
    grid = (torch.cat([across, down], 1) + flow).permute(0, 2, 3, 1)
    return F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=True)


class Between(nn.Module):
    """RIFE's: flows at two scales warp both frames; a mask mixes them."""

    def __init__(self):
        super().__init__()
        layers = lambda inputs: nn.Sequential(nn.Conv2d(inputs, 24, 3, 2, 1), nn.LeakyReLU(
            0.2), nn.Conv2d(24, 32, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 32, 3, padding=1),
                                              nn.PReLU(32), nn.ConvTranspose2d(32, 20, 4, 2, 1),
                                              nn.PixelShuffle(2))
        self.blocks = nn.ModuleList([layers(7), layers(17)])

    def forward(self, frames, time):
        a, b = frames[:, :3], frames[:, 3:]
        time = (a[:, :1].clone() * 0 + 1) * time
        flow = mask = None
        one, two = a, b
        for block, scale in zip(self.blocks, (2.0, 1.0)):
            x = torch.cat([one, two, time] +
                          ([] if flow is None else [mask, flow, a - b, b[:, :2]]), 1)
            small = F.interpolate(x, scale_factor=1 / scale, mode="bilinear", align_corners=False)
            y = F.interpolate(block(small),
                              scale_factor=scale,
                              mode="bilinear",
                              align_corners=False)
            flow = y[:, :4] * scale * 4 if flow is None else flow + y[:, :4] * scale * 4
            mask = y[:, 4:5] if mask is None else mask + y[:, 4:5]
            one, two = warped(a, flow[:, :2]), warped(b, flow[:, 2:4])
        mask = torch.sigmoid(mask)
        return one * mask + two * (1 - mask)


class Filled(nn.Module):
    """LaMa's: half of the channels go through convolutions of their spectrum."""

    def __init__(self, width=16):
        super().__init__()
        self.first, self.last = nn.Conv2d(4, 2 * width, 7), nn.Conv2d(2 * width, 3, 7)
        self.spectral, self.norm = nn.Conv2d(2 * width, 2 * width, 1,
                                             bias=False), nn.BatchNorm2d(2 * width)
        self.local, self.cross = nn.Conv2d(2 * width, width, 3, padding=1,
                                           padding_mode="reflect"), nn.Conv2d(width, width, 1)

    def forward(self, x, mask):
        y = torch.relu(
            self.first(F.pad(torch.cat([x * (1 - mask), mask], 1), (3, 3, 3, 3), mode="reflect")))
        a, b = y.chunk(2, 1)
        z = torch.view_as_real(torch.fft.rfftn(b, dim=(-2, -1), norm="ortho"))
        n, c, h, w, _ = z.shape
        z = z.permute(0, 1, 4, 2, 3).reshape(n, c * 2, h, w)
        z = torch.relu(self.norm(self.spectral(z))).view(n, c, 2, h, w).permute(0, 1, 3, 4,
                                                                                2).contiguous()
        z = torch.fft.irfftn(torch.view_as_complex(z),
                             s=(h, b.shape[-1]),
                             dim=(-2, -1),
                             norm="ortho")
        y = torch.relu(torch.cat([self.local(y), self.cross(b + z)], 1))
        y = torch.sigmoid(self.last(F.pad(y, (3, 3, 3, 3), mode="reflect")))
        return mask * y + (1 - mask) * x


class Enlarged(nn.Module):
    """Real-ESRGAN's: dense blocks, from a picture whose pixels are unshuffled, twice as large."""

    def __init__(self, width=24):
        super().__init__()
        self.first, self.dense = nn.Conv2d(12, width, 3, padding=1), nn.ModuleList(
            nn.Conv2d(width + 12 * i, 12 if i < 4 else width, 3, padding=1) for i in range(5))
        self.ups = nn.ModuleList(nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
        self.fine, self.out = nn.Sequential(nn.Conv2d(width, 4 * width, 3, padding=1),
                                            nn.PReLU(4 * width),
                                            nn.PixelShuffle(2)), nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x):
        y = self.first(F.pixel_unshuffle(x, 2))
        kept = [y]
        for conv in self.dense:
            kept.append(
                F.leaky_relu(conv(torch.cat(kept, 1)), 0.2) if len(kept) <
                5 else conv(torch.cat(kept, 1)))
        y = y + 0.2 * kept[-1]
        for up in self.ups:
            y = F.leaky_relu(up(F.interpolate(y, scale_factor=2, mode="nearest")), 0.2)
        return self.out(F.avg_pool2d(self.fine(y), 2)) + F.interpolate(
            x, scale_factor=2, mode="bilinear")


class Face(nn.Module):
    """ArcFace's backbone: norms in front, PReLU by channel, and a norm of the features."""

    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, width, 3, padding=1, bias=False),
                                   nn.BatchNorm2d(width, eps=1e-5), nn.PReLU(width))
        block = lambda a, b, s: nn.Sequential(nn.BatchNorm2d(
            a), nn.Conv2d(a, b, 3, 1, 1, bias=False), nn.BatchNorm2d(b), nn.PReLU(
                b), nn.Conv2d(b, b, 3, s, 1, bias=False), nn.BatchNorm2d(b))
        self.blocks = nn.ModuleList(
            [block(width, 32, 2),
             block(32, 64, 2),
             block(64, 64, 1),
             block(64, 96, 2)])
        self.beside = nn.ModuleList([
            nn.Conv2d(width, 32, 1, 2),
            nn.Conv2d(32, 64, 1, 2),
            nn.Identity(),
            nn.Conv2d(64, 96, 1, 2)
        ])
        self.norm, self.dense, self.last = nn.BatchNorm2d(96), nn.Linear(96 * 14 * 14,
                                                                         128), nn.BatchNorm1d(128)

    def forward(self, x):
        y = self.first(x)
        for block, beside in zip(self.blocks, self.beside):
            y = block(y) + beside(y)
        return self.last(self.dense(torch.flatten(self.norm(y), 1)))


class FaceBoxes(nn.Module):
    """SCRFD's heads: scales of their own, and rows of all places of three maps."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.ModuleList([
            nn.Sequential(nn.Conv2d(a, 24, 3, 2, 1), nn.BatchNorm2d(24), nn.ReLU())
            for a in (3, 24, 24, 24, 24)
        ])
        self.side = nn.ModuleList(nn.Conv2d(24, 16, 1) for _ in range(3))
        self.tower = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.GroupNorm(4, 16),
                                   nn.ReLU())
        self.score, self.box, self.points = nn.Conv2d(16, 2,
                                                      1), nn.Conv2d(16, 8,
                                                                    1), nn.Conv2d(16, 20, 1)
        self.scales = nn.Parameter(torch.tensor([1.0, 1.1, 0.9]))

    def forward(self, x):
        maps = []
        for layer in self.trunk:
            x = layer(x)
            maps.append(x)
        maps = [side(m) for side, m in zip(self.side, maps[2:])]
        for i in (1, 0):
            maps[i] = maps[i] + F.interpolate(maps[i + 1], size=maps[i].shape[2:], mode="nearest")
        rows = lambda y, k: y.permute(2, 3, 0, 1).reshape(-1, k)
        found = [(rows(self.score(y), 1).sigmoid(), rows(self.box(y) * s,
                                                         4), rows(self.points(y), 10))
                 for y, s in zip(map(self.tower, maps), self.scales)]
        return tuple(f[i] for i in range(3) for f in found)


class Sentence(nn.Module):
    """Means of the words that count, then length one, as sentence-transformers write it."""

    def __init__(self):
        super().__init__()
        self.net = Bert(2, 128, 4, 8000, False)

    def forward(self, ids, mask):
        found = self.net(ids, mask)
        found = found[0] if isinstance(found, tuple) else found
        wide = mask.unsqueeze(-1).expand(found.size()).float()
        mean = torch.sum(found * wide, 1) / torch.clamp(wide.sum(1), min=1e-9)
        return F.normalize(mean, p=2, dim=1), found


class Queries(nn.Module):
    """RT-DETR's decoder: the best places of maps become queries, which sample at points."""

    def __init__(self, width=64):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(3, width, 8, 8), nn.Conv2d(width, width, 3, 2, 1)])
        self.norm, self.score, self.box = nn.LayerNorm(width), nn.Linear(width,
                                                                         10), nn.Linear(width, 4)
        self.offsets, self.weights, self.value, self.out = nn.Linear(
            width, 4 * 2 * 4 * 2), nn.Linear(width,
                                             4 * 2 * 4), nn.Linear(width,
                                                                   width), nn.Linear(width, width)
        self.own, self.refine = Attention(width, 4), nn.Linear(width, 4)

    def sampled(self, query, places, value, shapes):
        n, q, c = query.shape
        value = self.value(value).view(n, -1, 4, c // 4)
        offsets = self.offsets(query).view(n, q, 4, 2, 4, 2)
        weights = torch.softmax(self.weights(query).view(n, q, 4, 8), -1)
        at = places[:, :, None, None,
                    None, :2] + offsets / 4 * places[:, :, None, None, None, 2:] * 0.5
        found, begin = [], 0
        for level, (h, w) in enumerate(shapes):
            one = value[:,
                        begin:begin + h * w].flatten(2).transpose(1,
                                                                  2).reshape(n * 4, c // 4, h, w)
            grid = (2 * at - 1)[:, :, :, level].transpose(1, 2).flatten(0, 1)
            found.append(
                F.grid_sample(one,
                              grid,
                              mode="bilinear",
                              padding_mode="zeros",
                              align_corners=False))
            begin += h * w
        weights = weights.transpose(1, 2).reshape(n * 4, 1, q, 8)
        y = (torch.stack(found, -2).flatten(-2) * weights).sum(-1).view(n, c, q)
        return self.out(y.transpose(1, 2))

    def forward(self, x, size):
        a = torch.relu(self.convs[0](x))
        b = torch.relu(self.convs[1](a))
        memory = self.norm(torch.cat([a.flatten(2), b.flatten(2)], 2).transpose(1, 2))
        scores = self.score(memory)
        top = torch.topk(scores.max(-1).values, 30, dim=1)[1]
        pick = lambda y: y.gather(1, top.unsqueeze(-1).repeat(1, 1, y.shape[-1]))
        query, places = pick(memory), torch.sigmoid(pick(self.box(memory)))
        query = query + self.own(query)
        query = query + self.sampled(query, places, memory, [m.shape[2:] for m in (a, b)])
        boxes = torch.sigmoid(
            self.refine(query) +
            torch.log(places.clamp(1e-5, 1 - 1e-5) / (1 - places).clamp(min=1e-5)))
        x, y, w, h = boxes.unbind(-1)
        boxes = torch.stack([x - w / 2, y - h / 2, x + w / 2, y + h / 2], -1) * size.repeat(
            1, 2).unsqueeze(1)
        found, at = torch.topk(torch.sigmoid(self.score(query)).flatten(1), 20, dim=-1)
        labels = at - at // 10 * 10
        return labels, boxes.gather(1, (at // 10).unsqueeze(-1).repeat(1, 1, 4)), found
