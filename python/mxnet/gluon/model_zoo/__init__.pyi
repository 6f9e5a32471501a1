# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.gluon.model_zoo import vision as vision
model_store: Any
