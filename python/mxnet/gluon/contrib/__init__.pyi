# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.gluon.contrib import data as data
from mxnet.gluon.contrib import estimator as estimator
from mxnet.gluon.contrib import nn as nn
from mxnet.gluon.contrib import rnn as rnn
cnn: Any
