"""Optimizers for keys of two kinds: weights, and full gradients that a store keeps beside them."""
from ...optimizer import Optimizer, create, register

__all__ = []


@register
class _AssignmentOptimizer(Optimizer):
    """Replaces a value by what is pushed."""

    def create_state(self, index, weight):
        return None

    def update(self, index, weight, grad, state):
        weight[:] = grad


@register
class _SVRGOptimizer(Optimizer):
    """Assigns to keys whose names contain 'full', and updates all others with another optimizer.

    Parameters
    ----------
    default_optimizer : str or Optimizer
        For the weights. `kwargs` are for its constructor if it is a name.
    """

    def __init__(self, default_optimizer, **kwargs):
        own = {key: kwargs[key] for key in ("rescale_grad", "param_idx2name", "wd", "clip_gradient", "learning_rate",
                                            "lr_scheduler", "sym", "begin_num_update", "multi_precision", "param_dict")
               if key in kwargs}
        super().__init__(**own)
        if isinstance(default_optimizer, str):
            default_optimizer = create(default_optimizer, **kwargs)
        self.default_opt = default_optimizer
        self.aux_opt = create(_AssignmentOptimizer.__name__)

    def _check_index(self, index):
        """The name of a key."""
        return self.idx2name.get(index, index)

    def _of(self, index):
        return self.aux_opt if "full" in str(self._check_index(index)) else self.default_opt

    def create_state(self, index, weight):
        return self._of(index).create_state(index, weight)

    def update(self, index, weight, grad, state):
        self._of(index).update(index, weight, grad, state)
