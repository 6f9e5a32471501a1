"""Networks of sound that onnx_corpus_sounds.py exports: streaming encoders, transducers, speakers,
voice detectors and separation, in small sizes. Needs torch."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from onnx_nets import Attention

# Streaming encoders of speech and transducers.


class RelativeAttention(nn.Module):
    """Transformer-XL's: scores of places are shifted row by row, as NeMo and ESPnet do."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.place = nn.Linear(width, width, bias=False)
        self.bias_u, self.bias_v = (nn.Parameter(0.1 * torch.randn(heads, self.size))
                                    for _ in range(2))

    def forward(self, x, memory, places, mask):
        n, t = x.shape[0], x.shape[1]
        split = lambda layer, y: layer(y).view(y.shape[0], -1, self.heads, self.size)
        q, k, v = split(self.q, x), split(self.k,
                                          memory).transpose(1, 2), split(self.v,
                                                                         memory).transpose(1, 2)
        p = split(self.place, places).transpose(1, 2)
        content = torch.matmul((q + self.bias_u).transpose(1, 2), k.transpose(-2, -1))
        place = torch.matmul((q + self.bias_v).transpose(1, 2), p.transpose(-2, -1))
        rows = place.size(3)
        place = F.pad(place, (1, 0)).view(n, self.heads, -1, t)[:, :,
                                                                1:].view(n, self.heads, t, rows)
        scores = (content + place[:, :, :, :content.size(-1)]) / math.sqrt(self.size)
        mask = mask.unsqueeze(1)
        weights = torch.softmax(scores.masked_fill(mask, -10000.0), -1).masked_fill(mask, 0.0)
        return self.out(torch.matmul(weights, v).transpose(1, 2).reshape(n, t, -1))


class ConformerBlock(nn.Module):

    def __init__(self, width, heads, kernel):
        super().__init__()
        feed = lambda: nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(),
                                     nn.Linear(2 * width, width))
        self.before, self.behind, self.kernel = feed(), feed(), kernel
        self.norm_a, self.norm_c, self.last = nn.LayerNorm(width), nn.LayerNorm(
            width), nn.LayerNorm(width)
        self.attend = RelativeAttention(width, heads)
        self.wide, self.narrow = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, 1)
        self.depth, self.norm = nn.Conv1d(width, width, kernel,
                                          groups=width), nn.BatchNorm1d(width)

    def forward(self, x, past, taps, places, mask):
        x = x + 0.5 * self.before(x)
        y = self.norm_a(x)
        memory = torch.cat([past, y], 1)
        x = x + self.attend(y, memory, places, mask)
        y = F.glu(self.wide(self.norm_c(x).transpose(1, 2)), 1)
        y = torch.cat([taps, y], 2)
        x = x + self.narrow(F.silu(self.norm(self.depth(y)))).transpose(1, 2)
        return self.last(x + 0.5 * self.behind(x)), memory[:, -past.size(1):], y[:, :,
                                                                                 -taps.size(2):]


class CachedConformer(nn.Module):
    """As NeMo exports cache-aware encoders: a chunk, its lengths, and caches of each layer."""

    def __init__(self, width=96, heads=4, layers=3, kernel=9, most=400):
        super().__init__()
        self.width = width
        self.sub = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(),
                                 nn.Conv2d(16, 16, 3, 2, 1, groups=16), nn.Conv2d(16, 16, 1),
                                 nn.ReLU())
        self.into = nn.Linear(16 * 20, width)
        self.blocks = nn.ModuleList(ConformerBlock(width, heads, kernel) for _ in range(layers))
        at = torch.arange(most, -most, -1.0)[:, None] * torch.exp(
            torch.arange(0, width, 2) * -(math.log(10000.0) / width))
        self.register_buffer("places", torch.stack([at.sin(), at.cos()], 2).reshape(1, -1, width))

    def forward(self, x, lengths, past, taps, filled):
        y = self.sub(x.transpose(1, 2).unsqueeze(1))
        y = self.into(y.permute(0, 2, 1, 3).flatten(2)) * math.sqrt(self.width)
        lengths = torch.div(lengths + 3, 4, rounding_mode="floor")
        t, kept = y.size(1), past.size(2)
        center = self.places.size(1) // 2 + 1
        places = self.places[:, center - t - kept:center + t - 1]
        columns = torch.arange(kept + t, device=y.device)
        seen = (columns[None, :] >= kept - filled[:, None]) & (columns[None, :]
                                                               < kept + lengths[:, None])
        mask = ~seen.unsqueeze(1).expand(-1, t, -1)
        pasts, tapped = [], []
        for i, block in enumerate(self.blocks):
            y, one, two = block(y, past[i], taps[i], places, mask)
            pasts.append(one)
            tapped.append(two)
        return y.transpose(1, 2), lengths, torch.stack(pasts), torch.stack(tapped), torch.clamp(
            filled + lengths, max=kept)


def swoosh(x, offset, less):
    """By the sum of exponentials that sherpa-onnx writes."""
    y = x - offset
    return torch.maximum(torch.zeros_like(y), y) + torch.log1p(
        torch.exp(-y.abs())) - 0.08 * x - less


class ZipformerLayer(nn.Module):
    """k2's: attention weights that two values share, a table of relative places, and BiasNorm."""

    def __init__(self, width, heads=4, size=16, places=4, values=12):
        super().__init__()
        self.heads, self.size, self.places = heads, size, places
        self.weights = nn.Linear(width, heads * (2 * size + places))
        self.place = nn.Linear(24, heads * places, bias=False)
        self.values, self.out = nn.Linear(width, heads * values), nn.Linear(heads * values, width)
        self.feed = nn.ModuleList([nn.Linear(width, 2 * width), nn.Linear(2 * width, width)])
        self.conv_in, self.conv_out = nn.Linear(width, 2 * width), nn.Linear(width, width)
        self.causal, self.chunk = nn.Conv1d(width, width, 4, groups=width), nn.Conv1d(width,
                                                                                      width,
                                                                                      7,
                                                                                      padding=3,
                                                                                      groups=width)
        self.scale = nn.Parameter(torch.zeros(width) + 0.5)
        self.norm_bias, self.norm_scale = nn.Parameter(0.1 * torch.randn(width)), nn.Parameter(
            torch.tensor(0.3))

    def forward(self, x, keys, taps, table):
        t, n, _ = x.shape
        h, s, p = self.heads, self.size, self.places
        z = self.weights(x)
        q, k, places = z[..., :h * s], z[..., h * s:2 * h * s], z[..., 2 * h * s:]
        k = torch.cat([keys, k], 0)
        kept = k[-keys.size(0):]
        length = k.size(0)
        q = q.reshape(t, n, h, s).permute(2, 1, 0, 3)
        scores = torch.matmul(q, k.reshape(length, n, h, s).permute(2, 1, 3, 0))
        table = self.place(table).reshape(1, -1, h, p).permute(2, 0, 3, 1)
        moved = torch.matmul(places.reshape(t, n, h, p).permute(2, 1, 0, 3), table)
        rows = torch.arange(start=t - 1, end=-1, step=-1)
        at = (rows[:, None] + torch.arange(length)[None]).repeat(h * n, 1)
        moved = moved.reshape(-1, moved.size(-1))
        scores = scores + torch.gather(moved, 1, at).reshape(h, n, t, length)
        scores = torch.where(scores.abs() > 50, scores * 0.5, scores)
        weights = scores.softmax(-1)
        value = self.values(x)
        value = torch.cat([torch.zeros(length - t, n, value.size(-1)), value],
                          0).reshape(length, n, h, -1).permute(2, 1, 0, 3)
        x = x + self.out(torch.matmul(weights, value).permute(2, 1, 0, 3).reshape(t, n, -1))
        x = x + self.feed[1](swoosh(self.feed[0](x), 4.0, 0.035))
        y, gate = self.conv_in(x).chunk(2, -1)
        y = (y * gate.sigmoid()).permute(1, 2, 0)
        taps = torch.cat([taps, y], -1)
        y = self.causal(taps) + self.chunk(y) * (1 + self.scale[:, None])
        x = x + self.conv_out(swoosh(y.permute(2, 0, 1), 1.0, 0.313261687))
        scales = torch.mean(
            (x - self.norm_bias) ** 2, -1, keepdim=True) ** -0.5 * self.norm_scale.exp()
        return x * scales, kept, taps[..., -3:]


class Zipformer(nn.Module):
    """As sherpa-onnx has it: a state of each layer as an input, and a layer at half the rate."""

    def __init__(self, width=64):
        super().__init__()
        self.sub = nn.ModuleList([
            nn.Conv2d(1, 8, 3, padding=(0, 1)),
            nn.Conv2d(8, 32, 3, 2),
            nn.Conv2d(32, 32, 3, (1, 2))
        ])
        self.into, self.layers = nn.Linear(32 * 19, width), nn.ModuleList(
            ZipformerLayer(width) for _ in range(2))
        self.mix, self.bypass = nn.Parameter(
            torch.randn(2)), nn.Parameter(0.5 + 0.1 * torch.randn(width))

    @staticmethod
    def table(t, kept):
        at = torch.arange(-(t + kept - 1), t, dtype=torch.float32)[:, None]
        squeezed = 24 ** 0.5 * at.sign() * ((at.abs() + 24 ** 0.5).log() - math.log(24 ** 0.5))
        angle = (squeezed / 24).atan() * torch.arange(1, 13)
        return torch.stack([angle.cos(), angle.sin()], 2).reshape(1, -1, 24)

    def forward(self, x, seen, keys0, taps0, keys1, taps1):
        y = x.unsqueeze(1)
        for conv in self.sub:
            y = swoosh(conv(y), 1.0, 0.313261687)
        y = self.into(y.transpose(1, 2).flatten(2)).permute(1, 0, 2)
        y, keys0, taps0 = self.layers[0](y, keys0, taps0, self.table(y.size(0), keys0.size(0)))
        t = y.size(0)
        pad = (t + 1) // 2 * 2 - t
        half = torch.cat([y, y[-1:].expand(pad, -1, -1)], 0)
        half = (half.reshape(-1, 2, half.size(1), half.size(2)) *
                self.mix.softmax(0)[:, None, None]).sum(1)
        half, keys1, taps1 = self.layers[1](half, keys1, taps1,
                                            self.table(half.size(0), keys1.size(0)))
        up = half.unsqueeze(1).expand(-1, 2, -1, -1).reshape(-1, half.size(1), half.size(2))[:t]
        y = y + (up - y) * self.bypass
        return y.permute(1, 0, 2), seen + t, keys0, taps0, keys1, taps1


class StatelessDecoder(nn.Module):
    """A word and the one before it; below zero is none."""

    def __init__(self, words=500, width=64):
        super().__init__()
        self.table, self.conv = nn.Embedding(words, width), nn.Conv1d(width,
                                                                      width,
                                                                      2,
                                                                      groups=width // 4,
                                                                      bias=False)
        self.out = nn.Linear(width, 96)

    def forward(self, y):
        found = self.table(y.clamp(min=0)) * (y >= 0).unsqueeze(-1)
        return self.out(F.relu(self.conv(found.permute(0, 2, 1)).permute(0, 2, 1))).squeeze(1)


class Joiner(nn.Module):

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(96, 500)

    def forward(self, sound, words):
        return self.out(torch.tanh(sound + words))


class NemoDecoder(nn.Module):
    """The predictor and the joint of NeMo in one file."""

    def __init__(self):
        super().__init__()
        self.table, self.cell = nn.Embedding(129, 64, padding_idx=128), nn.LSTM(64, 64, 2)
        self.sound, self.words, self.joint = nn.Linear(96, 80), nn.Linear(64, 80), nn.Sequential(
            nn.ReLU(), nn.Linear(80, 129))

    def forward(self, sound, targets, length, h, c):
        y, (h, c) = self.cell(self.table(targets.long()).transpose(0, 1), (h, c))
        y = self.words(y.transpose(0, 1))
        found = self.joint(self.sound(sound.transpose(1, 2)).unsqueeze(2) + y.unsqueeze(1))
        return found.log_softmax(-1), length, h, c


# Who speaks, and when.


class SincNet(nn.Module):
    """pyannote's segmentation: band passes made of their borders, LSTM, and speakers."""

    def __init__(self):
        super().__init__()
        self.low, self.band = nn.Parameter(torch.rand(40, 1) * 3000 +
                                           30), nn.Parameter(torch.rand(40, 1) * 200 + 50)
        self.register_buffer("window", torch.hamming_window(251, False)[:125])
        self.register_buffer("times", 2 * math.pi * torch.arange(-125.0, 0.0).view(1, -1) / 16000)
        self.wave, self.norms = nn.InstanceNorm1d(1, affine=True), nn.ModuleList(
            nn.InstanceNorm1d(k, affine=True) for k in (80, 60, 60))
        self.convs = nn.ModuleList([nn.Conv1d(80, 60, 5), nn.Conv1d(60, 60, 5)])
        self.cell = nn.LSTM(60, 64, 2, batch_first=True, bidirectional=True)
        self.out = nn.Sequential(nn.Linear(128, 64), nn.LeakyReLU(), nn.Linear(64, 7))

    def filters(self):
        low = 50 + torch.abs(self.low)
        high = torch.clamp(low + 50 + torch.abs(self.band), 50, 8000)
        width = (high - low)[:, 0]
        lows, highs = torch.matmul(low, self.times), torch.matmul(high, self.times)
        found = []
        for wave in (torch.sin, torch.cos):
            left = (wave(highs) - wave(lows)) / (self.times / 2) * self.window
            middle = 2 * width.view(-1, 1) if wave is torch.sin else torch.zeros_like(
                width.view(-1, 1))
            right = torch.flip(left, dims=[1])
            found.append(
                torch.cat([left, middle, right if wave is torch.sin else -right], 1) /
                (2 * width[:, None]))
        return torch.cat(found).view(80, 1, 251)

    def forward(self, x):
        y = F.conv1d(self.wave(x), self.filters(), stride=10).abs()
        for i, norm in enumerate(self.norms):
            y = F.leaky_relu(norm(F.max_pool1d(self.convs[i - 1](y) if i else y, 3, 3)))
        return F.log_softmax(self.out(self.cell(y.transpose(1, 2))[0]), -1)


class Speaker(nn.Module):
    """ECAPA: parts of channels one behind another, squeezing, and pooling by attention."""

    def __init__(self, width=64):
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(80, width, 5, padding=2), nn.ReLU(),
                                   nn.BatchNorm1d(width))
        self.parts = nn.ModuleList(
            nn.Conv1d(width // 8, width // 8, 3, padding=2, dilation=2) for _ in range(7))
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool1d(1), nn.Conv1d(width, 16, 1), nn.ReLU(),
                                     nn.Conv1d(16, width, 1), nn.Sigmoid())
        self.attend = nn.Sequential(nn.Conv1d(3 * width, 32, 1), nn.Tanh(),
                                    nn.Conv1d(32, width, 1))
        self.norm, self.out = nn.BatchNorm1d(2 * width), nn.Linear(2 * width, 48)

    def forward(self, x):
        x = x.permute(0, 2, 1)
        x = self.first(x - x.mean(2, keepdim=True))
        pieces, kept = torch.split(x, x.size(1) // 8, 1), None
        found = []
        for i, conv in enumerate(self.parts):
            kept = F.relu(conv(pieces[i] if kept is None else kept + pieces[i]))
            found.append(kept)
        y = torch.cat([*found, pieces[7]], 1)
        x = x + y * self.squeeze(y)
        mean, spread = x.mean(-1, keepdim=True), torch.sqrt(torch.var(x, -1, keepdim=True) + 1e-7)
        w = torch.softmax(self.attend(torch.cat(
            [x, mean.expand_as(x), spread.expand_as(x)], 1)), 2)
        mean = (w * x).sum(2)
        spread = torch.sqrt(((w * x ** 2).sum(2) - mean ** 2).clamp(min=1e-7))
        return F.normalize(self.out(self.norm(torch.cat([mean, spread], 1))), dim=1)


def voice_detector():
    """silero's shape: one net for each rate behind an If, spectra by convolution, LSTM states."""

    class Spectra(nn.Module):

        def __init__(self, size: int):
            super().__init__()
            self.size, self.bins = size, size // 2 + 1
            at = 2 * math.pi * torch.arange(self.bins)[:, None] * torch.arange(size) / size
            self.register_buffer("basis", (torch.cat([at.cos(), -at.sin()]) *
                                           torch.hann_window(size))[:, None])

        def forward(self, x):
            x = F.pad(x, [0, self.size // 4], mode="reflect").unsqueeze(1)
            y = F.conv1d(x, self.basis, stride=self.size // 2)
            return torch.sqrt(y[:, :self.bins] ** 2 + y[:, self.bins:] ** 2)

    class Half(nn.Module):

        def __init__(self, size: int):
            super().__init__()
            self.spectra = Spectra(size)
            self.convs = nn.Sequential(nn.Conv1d(size // 2 + 1, 64, 3, padding=1), nn.ReLU(),
                                       nn.Conv1d(64, 64, 3, 2, 1), nn.ReLU())
            self.cell, self.out = nn.LSTMCell(64, 64), nn.Conv1d(64, 1, 1)

        def forward(self, x, state):
            y = self.convs(self.spectra(x))[:, :, -1]
            h, c = self.cell(y, (state[0], state[1]))
            return torch.sigmoid(self.out(F.relu(h).unsqueeze(-1))).mean(2), torch.stack([h, c])

    class Detector(nn.Module):

        def __init__(self):
            super().__init__()
            self.fast, self.slow = Half(256), Half(128)

        def forward(self, x, state, rate):
            if int(rate) == 16000:
                y, state = self.fast(x, state)
            else:
                y, state = self.slow(x, state)
            return y, state

    return torch.jit.script(Detector().eval())


# Spectra in the graph.


class LogMel(nn.Module):
    """Whisper's log-mel spectrum, in front of the first layers of an encoder."""

    def __init__(self, width=64):
        super().__init__()
        self.register_buffer("window", torch.hann_window(400))
        self.register_buffer("mel", torch.rand(80, 201) ** 8)
        self.a, self.b = nn.Conv1d(80, width, 3, padding=1), nn.Conv1d(width, width, 3, 2, 1)
        self.attend, self.norm = Attention(width, 4), nn.LayerNorm(width)

    def forward(self, x):
        found = torch.stft(x, 400, 160, window=self.window, return_complex=False)[:, :, :-1]
        mel = self.mel @ (found ** 2).sum(-1)
        logs = torch.clamp(mel, min=1e-10).log10()
        logs = (torch.maximum(logs, logs.amax((1, 2), keepdim=True) - 8.0) + 4.0) / 4.0
        y = F.gelu(self.b(F.gelu(self.a(logs)))).permute(0, 2, 1)
        return y + self.attend(self.norm(y))


class HybridSeparator(nn.Module):
    """Demucs' two branches, of spectrum and wave; sums of frames give the wave back."""

    def __init__(self, size=256, hop=64, width=16):
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hann_window(size))
        at = 2 * math.pi * torch.arange(size // 2 + 1)[:, None] * torch.arange(size) / size
        double = torch.full((size // 2 + 1, 1), 2.0)
        double[0] = double[-1] = 1
        back = torch.cat([at.cos() * double, -at.sin() * double]) / size * torch.hann_window(size)
        self.register_buffer("back", back[:, None])
        self.f1, self.f2 = nn.Conv2d(2, 2 * width, (8, 1), (4, 1),
                                     (2, 0)), nn.ConvTranspose2d(width, 4, (8, 1), (4, 1), (2, 0))
        self.t1, self.t2 = nn.Conv1d(1, 2 * width, 8, 4, 2), nn.ConvTranspose1d(width, 2, 8, 4, 2)
        self.norm_f, self.norm_t = nn.GroupNorm(4, 2 * width), nn.GroupNorm(4, 2 * width)
        self.cell, self.mix = nn.LSTM(width, width, 2,
                                      bidirectional=True), nn.Linear(2 * width, width)

    def forward(self, x):
        n, length = x.shape[0], x.shape[-1]
        z = torch.stft(x.reshape(-1, length),
                       self.size,
                       self.hop,
                       window=self.window,
                       normalized=True,
                       return_complex=False)
        f = z.permute(0, 3, 1, 2)[:, :, :-1]
        mean, spread = f.mean((1, 2, 3), keepdim=True), f.std((1, 2, 3), keepdim=True)
        f = F.glu(self.norm_f(self.f1((f - mean) / (1e-5 + spread))), 1)
        t = F.glu(self.norm_t(self.t1(x)), 1)
        t = t + self.mix(self.cell(t.permute(2, 0, 1))[0]).permute(1, 2, 0)
        f = self.f2(f) * spread + mean
        t = self.t2(t)
        f = F.pad(f, (0, 0, 0, 1)).view(n, 2, 2, self.size // 2 + 1,
                                        -1).reshape(n * 2, self.size + 2, -1)
        y = F.conv_transpose1d(f * math.sqrt(self.size), self.back, stride=self.hop)
        weight = F.conv_transpose1d(torch.ones_like(f[:1, :1]), (self.window ** 2)[None, None],
                                    stride=self.hop)
        y = (y / weight.clamp(min=1e-3))[..., self.size // 2:self.size // 2 + length]
        return t[..., :length] + y.view(n, 2, -1)


class Denoiser(nn.Module):
    """DeepFilterNet's shape: bands by a matrix, grouped linear layers around GRUs, and complex
    filters over some frames as products of real and imaginary parts."""

    def __init__(self, bins=96, bands=32, taps=5):
        super().__init__()
        self.taps = taps
        self.register_buffer("bands", torch.rand(bins, bands) ** 6)
        self.conv = nn.Sequential(nn.ConstantPad2d((0, 0, 2, 0), 0.0),
                                  nn.Conv2d(1, 16, (3, 3), padding=(0, 1), bias=False),
                                  nn.BatchNorm2d(16), nn.ReLU())
        self.weight = nn.Parameter(torch.randn(8, 64, 32) / 8)
        self.cell, self.gains = nn.GRU(256, 256, batch_first=True), nn.Linear(256, bands)
        self.filters, self.alpha = nn.Linear(256, 24 * taps * 2), nn.Linear(256, 1)

    def forward(self, z, h):
        n, t = z.shape[0], z.shape[2]
        power = torch.log10(torch.matmul(z.square().sum(-1), self.bands) + 1e-10) * 10
        y = self.conv(power).permute(0, 2, 3, 1).flatten(2)
        y = torch.einsum("btgi,gih->btgh", y.unflatten(-1, (8, 64)), self.weight).flatten(2)
        y, h = self.cell(F.relu(y), h)
        gains = torch.matmul(torch.sigmoid(self.gains(y)),
                             self.bands.t()).unsqueeze(1).unsqueeze(-1)
        masked = z * gains
        low = F.pad(z[:, :, :, :24], (0, 0, 0, 0, self.taps - 1, 0))
        frames = torch.stack([low[:, 0, i:i + t] for i in range(self.taps)], 2)
        c = torch.tanh(self.filters(y)).view(n, t, self.taps, 24, 2)
        real = (frames[..., 0] * c[..., 0] - frames[..., 1] * c[..., 1]).sum(2)
        imaginary = (frames[..., 0] * c[..., 1] + frames[..., 1] * c[..., 0]).sum(2)
        found = torch.stack([real, imaginary], -1).unsqueeze(1)
        alpha = torch.sigmoid(self.alpha(y)).view(n, 1, t, 1, 1)
        masked[:, :, :, :24] = found * alpha + masked[:, :, :, :24] * (1 - alpha)
        return masked, h
