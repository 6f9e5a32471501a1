"""A module that trains with stochastic variance reduced gradients."""
import logging

from ...context import cpu
from ...initializer import Uniform
from ...module import Module

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """A Module whose gradients vary less from batch to batch (SVRG; Johnson and Zhang, 2013).

    Every `update_freq` epochs it keeps a copy of the weights and the mean of their gradients over
    all batches. From then on the gradient of a batch is replaced by itself, minus the gradient that
    the copy has for that batch, plus the mean. Its expectation stays the same. A batch costs two
    forward and backward passes.

    Parameters
    ----------
    symbol, data_names, label_names, logger, context, work_load_list, fixed_param_names
        See :class:`mxnet.module.Module`.
    state_names, group2ctxs, compression_params
        See :class:`mxnet.module.Module`.
    update_freq : int
        Epochs from one copy to the next, at least 1.

    Raises
    ------
    TypeError, ValueError
        if `update_freq` is no integer, or none above 0.

    >>> output = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1),
    ...                                        mx.sym.var('label'))
    >>> module = SVRGModule(output, label_names=['label'], update_freq=2)
    >>> data = mx.io.NDArrayIter(mx.nd.ones((8, 3)), mx.nd.ones(8), 4, label_name='label')
    >>> module.fit(data, eval_metric='mse', num_epoch=2)
    """

    def __init__(self, symbol, data_names=("data",), label_names=("softmax_label",), logger=logging, context=cpu(),
                 work_load_list=None, fixed_param_names=None, state_names=None, group2ctxs=None, compression_params=None,
                 update_freq=None):
        super().__init__(symbol, data_names=data_names, label_names=label_names, logger=logger, context=context,
                         work_load_list=work_load_list, fixed_param_names=fixed_param_names, state_names=state_names,
                         group2ctxs=group2ctxs, compression_params=compression_params)
        if not isinstance(update_freq, int) or isinstance(update_freq, bool):
            raise TypeError(f"[SVRGModule] update_freq={update_freq!r}; update_freq in SVRGModule must be an integer to "
                            "represent the frequency for calculating full gradients")
        if update_freq <= 0:
            raise ValueError(f"[SVRGModule] update_freq={update_freq}; update_freq in SVRGModule must be a positive integer "
                             "to represent the frequency for calculating full gradients")
        self.update_freq = update_freq
        self._mod_aux = Module(symbol, data_names, label_names, logger, context, work_load_list, fixed_param_names,
                               state_names, group2ctxs, compression_params)
        self._param_dict = None     # for each device: name to mean gradient

    # -- what happens to both modules --
    def _reset_bind(self):
        super()._reset_bind()
        self._mod_aux._reset_bind()

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False,
             shared_module=None, grad_req="write"):
        super().bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, shared_module, grad_req)
        if for_training:     # a second call is told to each of the two
            self._mod_aux.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind, None, grad_req)

    def reshape(self, data_shapes, label_shapes=None):
        super().reshape(data_shapes, label_shapes)
        if self._mod_aux.binded:
            self._mod_aux.reshape(data_shapes, label_shapes)

    def forward(self, data_batch, is_train=None):
        super().forward(data_batch, is_train)
        if (self.for_training if is_train is None else is_train) and self._mod_aux.params_initialized:
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        super().backward(out_grads)
        if self._mod_aux.params_initialized:
            self._mod_aux.backward(out_grads)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        super().prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        if self._mod_aux.binded and sparse_row_id_fn is None:
            self._mod_aux.prepare(data_batch)

    # -- gradients --
    def update(self):
        """Update the weights with the last batch's gradients, of which the variance is reduced
        since :meth:`update_full_grads` was called."""
        self._need("binded", "params_initialized", "optimizer_initialized")
        if self._param_dict is not None:
            self._update_svrg_gradients()
        super().update()

    def update_full_grads(self, train_data):
        """Copy the weights, and compute the mean of their gradients over all batches.

        Parameters
        ----------
        train_data : DataIter
            It is reset before and after.

        Raises
        ------
        ValueError
            if there are no batches.
        """
        self._need("binded", "params_initialized")
        aux = self._mod_aux
        arg_params, aux_params = self.get_params()
        aux.init_params(arg_params=arg_params, aux_params=aux_params, force_init=True)
        sums, count = None, 0
        train_data.reset()
        for batch in train_data:
            aux.forward(batch, is_train=True)
            aux.backward()
            grads = self._gradients(aux)
            if sums is None:
                sums = [{name: grad.copy() for name, grad in device.items()} for device in grads]
            else:
                for device, found in zip(sums, grads):
                    for name, grad in found.items():
                        device[name] += grad
            count += 1
        train_data.reset()
        if not count:
            raise ValueError("[SVRGModule.update_full_grads] train_data has no batches")
        for device in sums:
            for grad in device.values():
                grad /= count
        self._param_dict = sums

    @staticmethod
    def _gradients(module):
        """For each device: name to gradient, of the weights that have one."""
        group = module._exec_group
        return [{name: grads[device] for name, grads in zip(group.param_names, group.grad_arrays) if grads[device] is not None}
                for device in range(len(module._context))]

    @staticmethod
    def _svrg_grads_update_rule(g_curr_batch_curr_weight, g_curr_batch_special_weight, g_special_weight_all_batch):
        """The first gradient, changed in place: minus that of the copy, plus the mean."""
        g_curr_batch_curr_weight -= g_curr_batch_special_weight
        g_curr_batch_curr_weight += g_special_weight_all_batch
        return g_curr_batch_curr_weight

    def _update_svrg_gradients(self):
        # The rule is linear. It may be applied on each device before gradients are summed.
        for own, special, mean in zip(self._gradients(self), self._gradients(self._mod_aux), self._param_dict):
            for name, grad in own.items():
                self._svrg_grads_update_rule(grad, special[name], mean[name])

    # -- training --
    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False):
        super().init_optimizer(kvstore, optimizer, optimizer_params, force_init)

    def fit(self, train_data, eval_data=None, eval_metric="acc", epoch_end_callback=None, batch_end_callback=None,
            kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), eval_end_callback=None,
            eval_batch_end_callback=None, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False,
            force_rebind=False, force_init=False, begin_epoch=0, num_epoch=None, validation_metric=None, monitor=None,
            sparse_row_id_fn=None):
        """Train, as :meth:`mxnet.module.BaseModule.fit` does. :meth:`update_full_grads` is called
        before the first epoch and before each whose number is a multiple of `update_freq`."""
        self._param_dict = None
        super().fit(train_data, eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, optimizer,
                    optimizer_params, eval_end_callback, eval_batch_end_callback, initializer, arg_params, aux_params,
                    allow_missing, force_rebind, force_init, begin_epoch, num_epoch, validation_metric, monitor,
                    sparse_row_id_fn)

    def _fit_epoch(self, outer, epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn):
        if self._param_dict is None or epoch % self.update_freq == 0:
            self.update_full_grads(train_data)
        return super()._fit_epoch(outer, epoch, train_data, eval_metric, batch_end_callback, monitor, sparse_row_id_fn)
