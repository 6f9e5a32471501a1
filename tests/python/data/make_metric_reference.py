"""Writes metrics.json with an interpreter that has mxnet==1.9.1: what its metrics say about
metric_cases.py."""
import json
import os

import mxnet as mx
from metric_cases import cases, values

here = os.path.dirname(os.path.abspath(__file__))
found = [values(mx.metric.create(name, **kwargs), labels, preds, mx.nd.array) for name, kwargs, labels, preds in cases()]
with open(os.path.join(here, "metrics.json"), "w") as out:
    json.dump(found, out, indent=0)
