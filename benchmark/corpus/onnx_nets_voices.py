"""Networks of speech from text that onnx_corpus_sounds.py exports, in small sizes. Needs torch."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from onnx_nets import Attention


def spline(x, widths, heights, slopes, tail=5.0, least=1e-3):
    """Inverse of rational quadratic pieces, as VITS has it: what is inside comes by masks."""
    inside = (x >= -tail) & (x <= tail)
    y = torch.zeros_like(x)
    slopes = F.pad(slopes, (1, 1))
    constant = math.log(math.exp(1 - least) - 1)
    slopes[..., 0] = constant
    slopes[..., -1] = constant
    y[~inside] = x[~inside]
    x, widths, heights, slopes = x[inside], widths[inside, :], heights[inside, :], slopes[
        inside, :]
    bins = widths.shape[-1]

    def borders(w):
        w = least + (1 - least * bins) * torch.softmax(w, -1)
        total = 2 * tail * F.pad(torch.cumsum(w, -1), (1, 0)) - tail
        total[..., 0] = -tail
        total[..., -1] = tail
        return total, total[..., 1:] - total[..., :-1]

    across, widths = borders(widths)
    up, heights = borders(heights)
    slopes = least + F.softplus(slopes)
    edges = up.clone()
    edges[..., -1] += 1e-6
    at = (torch.sum(x[..., None] >= edges, -1) - 1)[..., None]
    pick = lambda a: a.gather(-1, at)[..., 0]
    left, width, low, delta = pick(across), pick(widths), pick(up), pick(heights / widths)
    d0, d1, height = pick(slopes), pick(slopes[..., 1:]), pick(heights)
    rest = d0 + d1 - 2 * delta
    a = (x - low) * rest + height * (delta - d0)
    b = height * d0 - (x - low) * rest
    c = -delta * (x - low)
    root = 2 * c / (-b - torch.sqrt(b * b - 4 * a * c))
    y[inside] = root * width + left
    return y


class Voice(nn.Module):
    """piper's shape: text by attention of near places, lengths by a spline flow of noise, flows
    over frames, and a generator of waves. `scales` multiply what is drawn."""

    def __init__(self, width=48):
        super().__init__()
        self.width, self.table = width, nn.Embedding(100, width)
        self.q, self.k, self.v, self.o = (nn.Conv1d(width, width, 1) for _ in range(4))
        self.near_k, self.near_v = (nn.Parameter(torch.randn(1, 9, width // 2) / 5)
                                    for _ in range(2))
        self.feed = nn.ModuleList(
            [nn.Conv1d(width, 96, 3, padding=1),
             nn.Conv1d(96, width, 3, padding=1)])
        self.stats = nn.Conv1d(width, 2 * width, 1)
        self.lengths = nn.ModuleList([
            nn.Conv1d(width, 24, 1),
            nn.Conv1d(1, 24, 1),
            nn.Conv1d(24, 24, 3, padding=1, groups=24),
            nn.Conv1d(24, 29, 1)
        ])
        self.wave_in, self.wave_out = nn.Conv1d(width // 2, 2 * width, 5,
                                                padding=2), nn.Conv1d(width, width // 2, 1)
        self.first, self.last = nn.Conv1d(width, 64, 7, padding=3), nn.Conv1d(16, 1, 7, padding=3)
        self.ups = nn.ModuleList(
            [nn.ConvTranspose1d(64, 32, 16, 8, 4),
             nn.ConvTranspose1d(32, 16, 8, 4, 2)])
        self.blocks = nn.ModuleList(
            nn.Conv1d(w, w, 3, padding=d, dilation=d) for w in (32, 16) for d in (1, 3))

    @staticmethod
    def places(table, length):
        pad = max(length - 5, 0)
        return F.pad(table,
                     (0, 0, pad, pad))[:,
                                       max(5 - length, 0):max(5 - length, 0) + 2 * length - 1]

    def attend(self, x, mask):
        n, c, t = x.shape
        split = lambda y: y.view(n, 2, c // 2, t).transpose(2, 3)
        q, k, v = split(self.q(x)) / math.sqrt(c // 2), split(self.k(x)), split(self.v(x))
        near = torch.matmul(q, self.places(self.near_k, t).unsqueeze(0).transpose(-2, -1))
        near = F.pad(F.pad(near, (0, 1)).view(n, 2, t * 2 * t),
                     (0, t - 1)).view(n, 2, t + 1, 2 * t - 1)[:, :, :t, t - 1:]
        w = torch.softmax((torch.matmul(q, k.transpose(2, 3)) + near).masked_fill(
            mask.unsqueeze(2) * mask.unsqueeze(-1) == 0, -1e4), -1)
        turned = F.pad(F.pad(w, (0, t - 1)).view(n, 2, t * t + t * (t - 1)),
                       (t, 0)).view(n, 2, t, 2 * t)[:, :, :, 1:]
        y = torch.matmul(w, v) + torch.matmul(turned, self.places(self.near_v, t).unsqueeze(0))
        return self.o(y.transpose(2, 3).reshape(n, c, t))

    def drawn_lengths(self, x, mask, scale):
        z = torch.randn(x.size(0), 2, x.size(2)) * scale + 0.3 * torch.tanh(x[:, :2])
        y = self.lengths[0](x.detach()) + self.lengths[1](z[:, :1])
        p = self.lengths[3](F.gelu(self.lengths[2](y))) * mask
        p = p.view(x.size(0), 1, 29, -1).permute(0, 1, 3, 2)
        return spline(z[:, 1:], p[..., :10] / 5, p[..., 10:20] / 5, p[..., 20:]) * mask

    def forward(self, ids, lengths, scales):
        mask = (torch.arange(ids.size(1))[None] < lengths[:, None]).unsqueeze(1).float()
        x = (self.table(ids) * math.sqrt(self.width)).transpose(1, 2) * mask
        x = F.layer_norm((x + self.attend(x,
                                          mask.squeeze(1).unsqueeze(1))).transpose(1, 2),
                         (self.width, )).transpose(1, 2)
        x = x + self.feed[1](torch.relu(self.feed[0](x * mask)) * mask)
        mean, spread = self.stats(x).split(self.width, 1)
        w = torch.ceil(torch.exp(1 + self.drawn_lengths(x, mask, scales[2])) * mask * scales[1])
        total = torch.clamp_min(w.sum((1, 2)), 1).long()
        frames = (torch.arange(total.max())[None] < total[:, None]).unsqueeze(1).to(mask.dtype)
        ends = torch.cumsum(w.squeeze(1), -1)
        path = (torch.arange(frames.size(2), dtype=ends.dtype)[None]
                < ends.reshape(-1, 1)).to(mask.dtype).view(ids.size(0), ids.size(1), -1)
        path = path - F.pad(path, (0, 0, 1, 0, 0, 0))[:, :-1]
        path = path.transpose(1, 2) * frames.transpose(1, 2)
        mean = torch.matmul(path, mean.transpose(1, 2)).transpose(1, 2)
        spread = torch.matmul(path, spread.transpose(1, 2)).transpose(1, 2)
        z = (mean + torch.randn_like(mean) * torch.exp(spread) * scales[0]) * frames
        for _ in range(2):
            z = torch.flip(z, [1])
            a, b = z.split(self.width // 2, 1)
            h = self.wave_in(a) * frames
            h = torch.tanh(h[:, :self.width]) * torch.sigmoid(h[:, self.width:])
            z = torch.cat([a, b - self.wave_out(h) * frames], 1)
        y = self.first(z * frames)
        for i, up in enumerate(self.ups):
            y = up(F.leaky_relu(y, 0.1))
            y = sum(y + conv(F.leaky_relu(y, 0.1)) for conv in self.blocks[2 * i:2 * i + 2]) / 2
        return torch.tanh(self.last(F.leaky_relu(y))).unsqueeze(1)


class Harmonics(nn.Module):
    """The source of StyleTTS's generators: sines of a pitch by sums of phases, frames of a
    spectrum by a style, and the wave by sums of frames."""

    def __init__(self, width=32):
        super().__init__()
        self.pitch, self.mix = nn.Conv1d(width, 1, 1), nn.Linear(9, 1)
        self.style = nn.Linear(24, 2 * width)
        self.conv, self.out = nn.Conv1d(width, width, 3, padding=1), nn.Conv1d(width + 1,
                                                                               22,
                                                                               7,
                                                                               padding=3)
        self.alpha = nn.Parameter(torch.ones(1, width, 1))
        at = 2 * math.pi * torch.arange(11)[:, None] * torch.arange(20) / 20
        self.register_buffer("back",
                             (torch.cat([at.cos(), -at.sin()]) / 20 * torch.hann_window(20))[:,
                                                                                             None])

    def forward(self, x, style):
        f0 = F.interpolate(F.softplus(self.pitch(x)) * 100, scale_factor=60.0,
                           mode="nearest").transpose(1, 2)
        rad = (f0 * torch.arange(1, 10) / 24000) % 1
        rad = F.interpolate(rad.transpose(1, 2), scale_factor=1 / 60,
                            mode="linear").transpose(1, 2)
        phase = F.interpolate(torch.cumsum(rad, 1).transpose(1, 2) * 2 * math.pi * 60,
                              scale_factor=60.0,
                              mode="linear").transpose(1, 2)
        source = torch.tanh(self.mix(torch.sin(phase) * 0.1 * (f0 > 10)))
        gamma, beta = self.style(style).unsqueeze(-1).chunk(2, 1)
        y = (1 + gamma) * F.instance_norm(x) + beta
        y = self.conv(y + torch.sin(self.alpha * y) ** 2 / self.alpha)
        y = F.interpolate(y, scale_factor=12.0)
        source = F.avg_pool1d(source.transpose(1, 2), 5)
        y = self.out(torch.cat([y, source], 1))
        size, phase = torch.exp(y[:, :11]), torch.sin(y[:, 11:])
        return F.conv_transpose1d(torch.cat([size * phase.cos(), size * phase.sin()], 1),
                                  self.back,
                                  stride=5)


class Repeated(nn.Module):
    """FastSpeech: frames by repeating states as often as their lengths say, one text."""

    def __init__(self, width=64):
        super().__init__()
        self.table, self.attend = nn.Embedding(100, width), Attention(width, 4)
        self.length, self.pitch, self.out = nn.Linear(width,
                                                      1), nn.Linear(width,
                                                                    1), nn.Linear(width, 80)
        self.bins = nn.Embedding(16, width)
        self.register_buffer("borders", torch.linspace(-0.5, 0.5, 15))

    def forward(self, ids):
        x = self.table(ids)
        x = x + self.attend(x)
        times = torch.clamp(torch.round(torch.exp(1 + self.length(x).squeeze(-1)) - 1),
                            min=0).long()
        x = x + self.bins(torch.bucketize(self.pitch(x).squeeze(-1), self.borders))
        y = torch.repeat_interleave(x[0], times[0], dim=0).unsqueeze(0)
        return self.out(y + self.attend(y)), times
