# Generated from the modules by `./dev docs`; do not edit.
from mxnet.gluon.data import IntervalSampler as IntervalSampler

