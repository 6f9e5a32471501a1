# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.gluon.data import IntervalSampler as IntervalSampler
sampler: Any
text: Any
vision: Any
