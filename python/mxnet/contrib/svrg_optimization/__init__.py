"""Stochastic variance reduced gradients."""
from . import svrg_module, svrg_optimizer
