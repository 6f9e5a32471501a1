"""Small networks that onnx_corpus_options.py exports: one of pictures and one of words, with what
quantizers know, and functions with torch's loops and branches. Needs torch."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pictures(nn.Module):
    """Convolutions of each kind, joined, cut, resized and padded."""

    def __init__(self):
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.each, self.back = nn.Conv2d(8, 8, 3, groups=8, stride=2), nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.slope, self.last = nn.PReLU(4), nn.Linear(4, 6)

    def forward(self, x):
        x = F.hardswish(self.each(torch.relu(self.norm(self.first(x)))))
        x = self.slope(self.back(F.max_pool2d(x, 2)))
        x = torch.cat([x, x * torch.sigmoid(x)], 1)[:, 2:6]
        x = F.pad(F.interpolate(x, scale_factor=3.0, mode="bilinear"), (1, 0, 1, 0))
        return torch.softmax(self.last(F.leaky_relu(x - 0.1).mean((2, 3))), -1)


class Words(nn.Module):
    """A layer of attention."""

    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads, self.table, self.norm = heads, nn.Embedding(50, width), nn.LayerNorm(width)
        self.parts, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, ids):
        x = self.table(ids)
        n, steps, width = x.shape
        q, k, v = self.parts(self.norm(x)).view(n, steps, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        shares = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads)**0.5, -1)
        x = x + self.out((shares @ v).transpose(1, 2).reshape(n, steps, width))
        return x + self.narrow(F.gelu(self.wide(self.norm(x))))


class Control(nn.Module):
    """One of torch's loops and branches, around a dense layer."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.a, self.b = kind, nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        from torch._higher_order_ops import scan, while_loop
        start = torch.zeros_like(x[0])
        if self.kind == "branch":
            return torch.cond(x.sum() > 0, lambda x: self.a(x), lambda x: self.b(x) * 2, (x, ))
        if self.kind == "branches":
            inner = lambda x: torch.cond(x.max() > 1, lambda x: x + 1, lambda x: self.a(x), (x, ))
            return torch.cond(x.sum() > 0, inner, lambda x: x.sin(), (x, ))
        if self.kind == "while":
            step = lambda i, x: (i + 1, x * 0.9 + torch.tanh(self.a(x)))
            return while_loop(lambda i, x: i < 5, step, (torch.tensor(0), x))[1]
        if self.kind == "until":
            return while_loop(lambda x: x.norm() > 1, lambda x: (x * 0.5, ), (x, ))[0]

        def step(state, row):
            state = torch.tanh(self.a(row) + self.b(state))
            return state, state * 2
        return scan(step, start, x, dim=0, reverse=self.kind == "backwards")[1]
