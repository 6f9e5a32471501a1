# Generated from the modules by `./dev docs`; do not edit.
from typing import Any
from mxnet.base import check_call as check_call
from mxnet.base import error_class as error_class
from mxnet.context import Context as Context
from mxnet.ndarray.random import binomial as binomial
from mxnet.ndarray.random import categorical as categorical
from mxnet.ndarray.random import exponential as exponential
from mxnet.ndarray.random import exponential_like as exponential_like
from mxnet.ndarray.random import gamma as gamma
from mxnet.ndarray.random import gamma_like as gamma_like
from mxnet.ndarray.random import generalized_negative_binomial as generalized_negative_binomial
from mxnet.ndarray.random import generalized_negative_binomial_like as generalized_negative_binomial_like
from mxnet.ndarray.random import multinomial as multinomial
from mxnet.ndarray.random import negative_binomial as negative_binomial
from mxnet.ndarray.random import negative_binomial_like as negative_binomial_like
from mxnet.ndarray.random import normal as normal
from mxnet.ndarray.random import normal_like as normal_like
from mxnet.ndarray.random import poisson as poisson
from mxnet.ndarray.random import poisson_like as poisson_like
from mxnet.ndarray.random import randint as randint
from mxnet.ndarray.random import randn as randn
from mxnet.ndarray.random import shuffle as shuffle
from mxnet.ndarray.random import uniform as uniform
from mxnet.ndarray.random import uniform_like as uniform_like
def accepts_device(func: Any = ..., called: Any = ...) -> Any: ...
def seed(seed_state: int, ctx: Any = ..., *, device: Any = ...) -> None: ...
