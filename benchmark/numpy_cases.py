"""Cases of numpy_functions.py: name, the expression for this library, NumPy and the 2.0 wheel, and
PyTorch's ("" where it has none). Small arrays: a, b (4 x 5), v (5), few (4 indices). Large ones of
1 M elements: g, h (1024 x 1024), row, flat, mask (bool), rows (64 indices), p (positive),
stack (64 x 128 x 128), ints, narrow (65536 x 16) and sixteen, thin (262144 x 3) and three."""

CALLS = [
    ("add", "np.add(a, b)", "torch.add(a, b)"), ("a + b", "a + b", "a + b"), ("a + 1", "a + 1", "a + 1"),
    ("a > 1", "a > 1", "a > 1"), ("exp", "np.exp(a)", "torch.exp(a)"), ("maximum", "np.maximum(a, b)", "torch.maximum(a, b)"),
    ("sum", "np.sum(a)", "torch.sum(a)"), ("sum axis", "a.sum(axis=1)", "a.sum(1)"), ("mean", "a.mean()", "a.mean()"),
    ("max", "a.max(axis=0)", "a.amax(0)"), ("argmax", "a.argmax(axis=1)", "a.argmax(1)"),
    ("reshape", "a.reshape((5, 4))", "a.reshape((5, 4))"), ("transpose", "np.transpose(a)", "torch.t(a)"),
    ("concatenate", "np.concatenate((a, b), axis=1)", "torch.cat((a, b), 1)"), ("stack", "np.stack((a, b))", "torch.stack((a, b))"),
    ("zeros", "np.zeros((4, 5))", "torch.zeros((4, 5))"), ("arange", "np.arange(20)", "torch.arange(20)"),
    ("where", "np.where(a > 1, a, b)", "torch.where(a > 1, a, b)"), ("dot", "np.dot(a, v)", "torch.mv(a, v)"),
    ("matmul", "a @ b.T", "a @ b.T"), ("a[0]", "a[0]", "a[0]"), ("a[:, 2]", "a[:, 2]", "a[:, 2]"), ("a[::2]", "a[::2]", "a[::2]"),
    ("a.T", "a.T", "a.T"), ("a[few]", "a[few]", "a[few]"),
    ("a[a > 1]", "a[a > 1]", "a[a > 1]"), ("a[0] = 1", "a.__setitem__(0, 1.0)", "a.__setitem__(0, 1.0)"),
    ("a[few] = 1", "a.__setitem__(few, 1.0)", "a.__setitem__(few, 1.0)"), ("astype", "a.astype('float64')", "a.to(torch.float64)"),
    ("item", "v[0].item()", "v[0].item()"),
]

LARGE = [
    ("add", "g + h", "g + h"), ("add row", "g + row", "g + row"), ("multiply number", "g * 2.5", "g * 2.5"),
    ("multiply 16", "narrow * sixteen", "narrow * sixteen"), ("multiply 3", "thin * three", "thin * three"),
    ("sum axis 0 of 16", "narrow.sum(0)", "narrow.sum(0)"), ("stack last", "np.stack((flat, flat), -1)", "torch.stack((flat, flat), -1)"),
    ("diff", "np.diff(g)", "torch.diff(g)"), ("every second", "g[:, ::2].copy()", "g[:, ::2].contiguous()"),
    ("divide", "g / p", "g / p"), ("power", "p ** 2.5", "p ** 2.5"), ("exp", "np.exp(g)", "torch.exp(g)"),
    ("log", "np.log(p)", "torch.log(p)"), ("sin", "np.sin(g)", "torch.sin(g)"), ("tanh", "np.tanh(g)", "torch.tanh(g)"),
    ("sqrt", "np.sqrt(p)", "torch.sqrt(p)"), ("arctan2", "np.arctan2(g, h)", "torch.atan2(g, h)"),
    ("maximum", "np.maximum(g, h)", "torch.maximum(g, h)"), ("greater", "g > h", "g > h"),
    ("logical_and", "np.logical_and(mask, mask)", "torch.logical_and(mask, mask)"),
    ("where", "np.where(mask, g, h)", "torch.where(mask, g, h)"),
    ("clip", "np.clip(g, -1, 1)", "torch.clamp(g, -1, 1)"), ("sum", "g.sum()", "g.sum()"), ("sum axis 0", "g.sum(axis=0)", "g.sum(0)"),
    ("sum axis 1", "g.sum(axis=1)", "g.sum(1)"), ("mean", "g.mean()", "g.mean()"), ("std", "g.std()", "g.std(unbiased=False)"),
    ("max axis 1", "g.max(axis=1)", "g.amax(1)"), ("argmax axis 1", "g.argmax(axis=1)", "g.argmax(1)"),
    ("cumsum", "np.cumsum(flat)", "torch.cumsum(flat, 0)"), ("sort", "np.sort(flat)", "torch.sort(flat)[0]"),
    ("argsort", "np.argsort(flat)", "torch.argsort(flat)"), ("unique", "np.unique(ints)", "torch.unique(ints)"),
    ("bincount", "np.bincount(ints)", "torch.bincount(ints)"), ("nonzero", "np.nonzero(mask)", "torch.nonzero(mask)"),
    ("transpose copy", "np.transpose(g).copy()", "g.t().contiguous()"),
    ("concatenate", "np.concatenate((g, h), axis=1)", "torch.cat((g, h), 1)"),
    ("flip", "np.flip(g, 1).copy()", "g.flip(1)"), ("roll", "np.roll(g, 5, 1)", "torch.roll(g, 5, 1)"),
    ("pad", "np.pad(g, ((2, 2), (2, 2)))", "F.pad(g, (2, 2, 2, 2))"), ("tile", "np.tile(row, (1024, 1))", "row.repeat(1024, 1)"),
    ("repeat", "np.repeat(row, 1024, axis=0)", "row.repeat_interleave(1024, 0)"), ("take rows", "g[rows]", "g[rows]"),
    ("mask", "g[mask]", "g[mask]"), ("mask assign", "g2.__setitem__(mask, 0.0)", "g2.__setitem__(mask, 0.0)"),
    ("matmul", "g @ h", "g @ h"), ("batch matmul", "np.matmul(stack, stack)", "torch.matmul(stack, stack)"),
    ("einsum", "np.einsum('bij,bkj->bik', stack, stack)", "torch.einsum('bij,bkj->bik', stack, stack)"),
    ("tensordot", "np.tensordot(stack, stack, ((0, 1), (0, 1)))", "torch.tensordot(stack, stack, ((0, 1), (0, 1)))"),
    ("inv", "np.linalg.inv(spd)", "torch.linalg.inv(spd)"), ("solve", "np.linalg.solve(spd, spd)", "torch.linalg.solve(spd, spd)"),
    ("svd", "np.linalg.svd(spd)", "torch.linalg.svd(spd)"), ("normal", "np.random.normal(size=(1024, 1024))", "torch.randn(1024, 1024)"),
    ("uniform", "np.random.uniform(size=(1024, 1024))", "torch.rand(1024, 1024)"),
]

PARTS = {"calls": CALLS, "large": LARGE}
