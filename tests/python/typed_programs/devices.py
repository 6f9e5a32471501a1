"""Devices by name, initializers called by hand, and batches of a file's iterator one by one."""
import os
import tempfile

import mxnet as mx
import numpy as np

device = mx.Context("cpu", 0)
with device, mx.AttrScope(ctx_group="dev1"), mx.name.Prefix("net_"):
    group = mx.sym.var("x").attr("ctx_group")
weight = mx.nd.zeros((2, 3), ctx=device)
mx.init.One()(mx.init.InitDesc("fc_weight", {"lr_mult": "1"}), weight)
assert weight.sum().asscalar() == 6 and group == "dev1"

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "numbers.csv")
    np.savetxt(path, np.ones((6, 3)), delimiter=",")
    rows = mx.io.CSVIter(data_csv=path, data_shape=(3,), batch_size=2)
    count = 0
    while rows.iter_next():
        count += rows.getdata().shape[0] + len(rows.getlabel())
    assert count == 12, count
