"""Modules one behind the other."""
import copy
import logging

from ..initializer import Uniform
from ..io import DataDesc
from .base_module import BaseModule, _ArgumentError

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain of modules: the outputs of one are the data of the next.

    >>> data = mx.sym.Variable('data')
    >>> features = mx.mod.Module(mx.sym.FullyConnected(data, num_hidden=4), label_names=None)
    >>> scores = mx.sym.FullyConnected(data, num_hidden=2)
    >>> classifier = mx.mod.Module(mx.sym.SoftmaxOutput(scores, name='softmax'))
    >>> chain = mx.mod.SequentialModule()
    >>> _ = chain.add(features).add(classifier, take_labels=True, auto_wiring=True)
    >>> chain.bind([('data', (8, 3))], [('softmax_label', (8,))])
    >>> chain.init_params()
    >>> chain.forward(mx.io.DataBatch([mx.nd.ones((8, 3))], [mx.nd.zeros(8)]))
    >>> chain.get_outputs()[0].shape
    (8, 2)
    """

    META_TAKE_LABELS = "take_labels"
    """Option of :meth:`add`: the module gets the labels."""
    META_AUTO_WIRING = "auto_wiring"
    """Option of :meth:`add`: the outputs before it become its data in their order, whatever their names."""

    def __init__(self, logger=logging):
        super().__init__(logger=logger)
        self._modules = []
        self._metas = []
        self._label_shapes = None
        self._data_shapes = None

    def add(self, module, **kwargs):
        """Append a module. Returns the chain.

        Parameters
        ----------
        module : BaseModule
        **kwargs : bool
            ``take_labels``, ``auto_wiring``.
        """
        known = (self.META_TAKE_LABELS, self.META_AUTO_WIRING)
        for key in kwargs:
            if key not in known:
                raise _ArgumentError(f"[SequentialModule] Unknown meta {key!r}; accepted are {', '.join(known)}")
        self._modules.append(module)
        self._metas.append(kwargs)
        # what has been done for the shorter chain is to be done again
        self.binded = False
        self.params_initialized = False
        self.optimizer_initialized = False
        return self

    def _takes_labels(self, index):
        return bool(self._metas[index].get(self.META_TAKE_LABELS))

    # -- what the module is --
    @property
    def data_names(self):
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self):
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self):
        self._need("binded")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        self._need("binded")
        return self._label_shapes

    @property
    def output_shapes(self):
        self._need("binded")
        return self._modules[-1].output_shapes

    # -- parameters --
    def get_params(self):
        self._need("binded", "params_initialized")
        arg_params, aux_params = {}, {}
        for module in self._modules:
            args, auxs = module.get_params()
            arg_params.update(args)
            aux_params.update(auxs)
        return arg_params, aux_params

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False,
                    force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            return
        self._need("binded")
        for module in self._modules:
            # each takes its own from the values for all
            module.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                               allow_missing=allow_missing, force_init=force_init, allow_extra=True)
        owners = {}
        for index, module in enumerate(self._modules):
            for name in (name for params in module.get_params() for name in params):
                if name in owners:
                    raise _ArgumentError(f"[SequentialModule] Duplicated parameter names: {name} in modules "
                                     f"{owners[name]} and {index}")
                owners[name] = index
        self.params_initialized = True

    # -- setting up --
    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False,
             shared_module=None, grad_req="write"):
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if inputs_need_grad and not for_training:
            raise _ArgumentError("[SequentialModule] inputs_need_grad=True needs for_training=True")
        if shared_module is not None:
            raise _ArgumentError("[SequentialModule] Shared module is not supported")
        if not self._modules:
            raise _ArgumentError("[SequentialModule] Attempting to bind an empty SequentialModule")
        self.binded = True
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._label_shapes = label_shapes if any(map(self._takes_labels, range(len(self._modules)))) else None
        shapes = data_shapes
        for index, module in enumerate(self._modules):
            if self._metas[index].get(self.META_AUTO_WIRING):
                if len(module.data_names) != len(shapes):
                    raise _ArgumentError(f"[SequentialModule] module {index} has {len(module.data_names)} inputs and gets "
                                     f"{len(shapes)} arrays")
                shapes = [(name, desc[1]) for name, desc in zip(module.data_names, shapes)]
            module.bind(data_shapes=shapes, label_shapes=label_shapes if self._takes_labels(index) else None,
                        for_training=for_training,
                        inputs_need_grad=bool(for_training and (inputs_need_grad or index > 0)),
                        force_rebind=force_rebind, shared_module=None, grad_req=grad_req)
            shapes = module.output_shapes

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        self._need("binded", "params_initialized")
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        for module in self._modules:
            module.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params,
                                  force_init=force_init)
        self.optimizer_initialized = True

    # -- computation --
    def forward(self, data_batch, is_train=None):
        self._need("binded", "params_initialized")
        batch = copy.copy(data_batch)
        for module, following in zip(self._modules, [*self._modules[1:], None]):
            module.forward(batch, is_train=is_train)
            if following is None:
                break
            batch.data = module.get_outputs()
            if getattr(batch, "provide_data", None):
                names = following.data_names
                batch.provide_data = [DataDesc(name, shape) for name, (_, shape) in zip(names, module.output_shapes)]

    def backward(self, out_grads=None):
        self._need("binded", "params_initialized")
        for index in reversed(range(len(self._modules))):
            self._modules[index].backward(out_grads=out_grads)
            if index:
                out_grads = self._modules[index].get_input_grads()

    def update(self):
        self._need("binded", "params_initialized", "optimizer_initialized")
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context=True):
        self._need("binded", "params_initialized")
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._need("binded", "params_initialized", "inputs_need_grad")
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._need("binded", "params_initialized")
        for index, module in enumerate(self._modules):
            if self._takes_labels(index):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        self._need("binded")
        for module in self._modules:
            module.install_monitor(mon)
