# Generated from the modules by `./dev docs`; do not edit.
from mxnet.gluon.model_zoo import vision as vision

