# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.gluon import block as block
from mxnet.gluon import contrib as contrib
from mxnet.gluon import data as data
from mxnet.gluon import loss as loss
from mxnet.gluon import metric as metric
from mxnet.gluon import model_zoo as model_zoo
from mxnet.gluon import nn as nn
from mxnet.gluon import parameter as parameter
from mxnet.gluon import probability as probability
from mxnet.gluon import rnn as rnn
from mxnet.gluon import trainer as trainer
from mxnet.gluon import utils as utils
from mxnet.gluon.block import Block as Block
from mxnet.gluon.block import HybridBlock as HybridBlock
from mxnet.gluon.block import SymbolBlock as SymbolBlock
from mxnet.gluon.parameter import Constant as Constant
from mxnet.gluon.parameter import DeferredInitializationError as DeferredInitializationError
from mxnet.gluon.parameter import Parameter as Parameter
from mxnet.gluon.parameter import ParameterDict as ParameterDict
from mxnet.gluon.trainer import Trainer as Trainer
hybrid_block: Any
parameter_dict: Any
summary: Any
symbol_block: Any
tensor_types: Any
