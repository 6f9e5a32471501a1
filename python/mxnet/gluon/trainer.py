"""Trainer: applies an optimizer to Parameters after backward, through a kvstore when there are
several copies of them."""
from .. import kvstore as kvs, optimizer as opt
from .._machine.environment import warn_of_late_changes
from .._files.whole_files import load_states, write_file
from ..optimizer import _states_reader
from .parameter import Parameter, ParameterDict

__all__ = ['Trainer']



class Trainer:
    """Updates Parameters with an optimizer.

    Parameters
    ----------
    params : ParameterDict, dict or list of Parameter
        Usually `net.collect_params()`. RuntimeError when `initialize` was not called (shapes may
        still be open), AssertionError when they are on different contexts.
    optimizer : str or Optimizer
    optimizer_params : dict, optional
        Arguments of an optimizer given by name.
    kvstore : str, KVStore or None
        How gradients are summed over contexts and machines; None sums nothing.
    compression_params : dict, optional
        Gradient compression, for stores that have it.
    update_on_kvstore : bool, optional
        Whether the optimizer runs on the store. Default: MXNET_UPDATE_ON_KVSTORE, where that is
        possible and there is more than one copy.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(1, use_bias=False)
    >>> net.initialize(mx.init.Zero())
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.5})
    >>> with mx.autograd.record():
    ...     loss = (net(mx.nd.ones((4, 2))) - 1) ** 2
    >>> loss.backward()
    >>> trainer.step(batch_size=4)
    >>> net.weight.data().asnumpy()
    array([[1., 1.]], dtype=float32)
    """

    def __init__(self, params, optimizer, optimizer_params=None, kvstore='device', compression_params=None, update_on_kvstore=None):
        warn_of_late_changes()
        if isinstance(params, (dict, ParameterDict)):
            params = [params[key] for key in sorted(params.keys())]
        if not isinstance(params, (list, tuple)):
            raise ValueError(f'[gluon.Trainer] params of type {type(params).__name__} given; a '
                             f'list or a dictionary of Parameters is accepted')
        self._params = []
        self._param2idx = {}    # by name: what trainers derived from this one read, as in 1.x
        self._index_of = {}     # by identity, since names may repeat
        self._contains_sparse_weight = False
        self._contains_sparse_grad = False
        for i, param in enumerate(params):
            if not isinstance(param, Parameter):
                raise ValueError(f'[gluon.Trainer] {type(param).__name__} given among the params; Parameters are accepted')
            self._param2idx[param.name] = self._index_of[id(param)] = i
            self._params.append(param)
            param._set_trainer(self)
            self._contains_sparse_weight |= param._stype != 'default'
            self._contains_sparse_grad |= param._grad_stype != 'default'
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        if not isinstance(optimizer_params, (dict, list, tuple, type(None))):
            raise TypeError(f'[gluon.Trainer] optimizer_params of type {type(optimizer_params).__name__} given; a dictionary is accepted')
        optimizer_params = dict(optimizer_params or {})
        self._scale = float(optimizer_params.get('rescale_grad', 1.0))
        self._init_optimizer(optimizer, optimizer_params)
        self._kvstore_params = {'kvstore': kvstore, 'update_on_kvstore': update_on_kvstore}
        self._stepped = False
        self._reset_kvstore()

    def __repr__(self):
        return f"Trainer({self._optimizer!r}, {len(self._params)} parameters, kvstore={self._kvstore_params['kvstore']!r})"

    # -- setting up --------------------------------------------------------------------------------
    def _check_contexts(self):
        contexts = None
        for param in self._params:
            ctx = param.list_ctx()
            if contexts is not None and ctx != contexts:
                raise AssertionError(f'[gluon.Trainer] {param.name!r} is on {ctx} and other Parameters are on {contexts}; '
                                     'the same contexts for all are accepted')
            contexts = ctx
        return contexts or []    # no Parameters, no contexts

    def _init_optimizer(self, optimizer, optimizer_params):
        param_dict = dict(enumerate(self._params))
        if isinstance(optimizer, opt.Optimizer):
            assert not optimizer_params, (f'[gluon.Trainer] optimizer_params={optimizer_params} given with an Optimizer; '
                                          'they are accepted with the name of one')
            self._optimizer = optimizer
            self._optimizer.param_dict = param_dict
            self._scale = float(optimizer.rescale_grad)
        else:
            self._optimizer = opt.create(optimizer, param_dict=param_dict, **optimizer_params)
        self._updaters = [opt.get_updater(self._optimizer) for _ in self._contexts]

    def _reset_kvstore(self):
        self._kv_initialized = False
        self._kvstore = None
        self._distributed = None
        self._update_on_kvstore = None
        self._params_to_init = list(self._params)

    def _make_store(self, wanted):
        """The KVStore for a name, a store or None. One context of one process needs none; a store
        from outside may add up over processes."""
        if wanted is None:
            return None
        if not isinstance(wanted, str):
            if not hasattr(wanted, 'type'):     # a store from outside need not be a KVStoreBase
                raise TypeError(f'[gluon.Trainer] kvstore must be KVStore, str or None, {type(wanted).__name__} was given')
            return wanted
        own = wanted.lower() not in kvs.KVStoreBase.kv_registry
        if len(self._contexts) == 1 and own and 'dist' not in wanted and not self._contains_sparse_weight:
            return None
        return kvs.create(wanted)

    def _init_kvstore(self):
        """Decide how gradients travel and where the optimizer runs; called by the first step."""
        config = self._kvstore_params
        self._contexts = self._check_contexts()    # they may have moved since
        while len(self._updaters) < len(self._contexts):
            self._updaters.append(opt.get_updater(self._optimizer))
        kvstore = self._make_store(config['kvstore'])
        wanted = config['update_on_kvstore']
        if kvstore is None:
            if self._contains_sparse_weight:
                raise TypeError(f"[gluon.Trainer] kvstore={config['kvstore']!r} given with row_sparse Parameters, of which stores keep "
                                "the rows; a store or the name of one is accepted")
            if wanted and len(self._contexts) > 1:
                raise ValueError('[gluon.Trainer] update_on_kvstore=True given without a kvstore; the name of one is accepted')
            on_store = False
            self._distributed = False
        else:
            can = kvstore.is_capable('optimizer') if hasattr(kvstore, 'is_capable') else True
            self._distributed = 'dist' in kvstore.type
            if self._compression_params:
                kvstore.set_gradient_compression(self._compression_params)
            if wanted is None:
                from .. import env
                on_store = can and bool(env.value('MXNET_UPDATE_ON_KVSTORE'))
                if self._contains_sparse_grad and not self._distributed and not self._contains_sparse_weight:
                    on_store = False
            else:
                on_store = bool(wanted)
            if self._contains_sparse_weight:
                if wanted is False:
                    raise ValueError('[gluon.Trainer] update_on_kvstore=False given with row_sparse Parameters; True or None is accepted')
                on_store = True
            if 'async' in kvstore.type:
                if wanted is False:
                    raise ValueError(f'[gluon.Trainer] update_on_kvstore=False given with {kvstore.type!r}; True or None is accepted')
                on_store = True
            if on_store and not can:
                raise ValueError(f'[gluon.Trainer] update_on_kvstore=True given with {kvstore.type!r}, which cannot run optimizers; '
                                 'False or None is accepted')
            if on_store:
                kvstore.set_optimizer(self._optimizer)
        self._kvstore = kvstore
        self._update_on_kvstore = on_store
        self._kv_initialized = True

    def _init_params(self):
        """Put on the store the Parameters whose arrays exist by now."""
        assert self._kv_initialized
        waiting = []
        if self._kvstore is not None:
            for param in self._params_to_init:
                if param._deferred_init:
                    waiting.append(param)
                    continue
                index = self._index_of[id(param)]
                arrays = param._data if param._data is not None else param.list_data()
                if param._stype == 'default':
                    self._kvstore.broadcast(index, arrays[0], arrays)   # a store from outside has this and pushpull
                else:
                    self._kvstore.init(index, arrays[0])
        self._params_to_init = waiting

    def _follow_contexts(self):
        """The Parameters were moved (reset_ctx): another store, and the optimizer's states where
        the Parameters are."""
        states = self._own_updaters()[0].get_states(dump_optimizer=False)
        self._fetch_sparse_values()
        self._reset_kvstore()
        self._init_kvstore()
        self._take_states(states, _states_reader.read_own_states)

    def _own_updaters(self):
        return [self._kvstore._updater] if self._update_on_kvstore else self._updaters

    def _take_states(self, states, read=_states_reader.read_states):
        """Bytes of optimizer states, as `read` reads them, for the present contexts."""
        updaters = self._own_updaters()
        weights = {i: p._data[0] for i, p in enumerate(self._params) if p._data is not None}
        for updater in updaters:        # each has arrays of its own
            updater._take(*read(states, updater.optimizer), weights)
            updater.optimizer = updaters[0].optimizer
        self._optimizer = updaters[0].optimizer
        self._optimizer._count_on([0] if self._update_on_kvstore else [c.device_id for c in self._contexts])
        self._optimizer.param_dict = dict(enumerate(self._params))

    def _prepare(self):
        if not self._kv_initialized:
            self._init_kvstore()
        elif self._params and self._params[0]._data is not None and [a.context for a in self._params[0]._data] != self._contexts:
            self._follow_contexts()
        if self._params_to_init:
            self._init_params()

    # -- settings ----------------------------------------------------------------------------------
    @property
    def learning_rate(self):
        """The present learning rate, from the scheduler when the optimizer has one.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> schedule = mx.lr_scheduler.FactorScheduler(step=1, factor=0.5, base_lr=0.8)
        >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'lr_scheduler': schedule})
        >>> trainer.learning_rate
        0.8
        """
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning('[gluon.Trainer] the optimizer has no learning rate')
        return self._optimizer.learning_rate

    @property
    def optimizer(self):
        """The Optimizer; RuntimeError for something else that was given as one."""
        if isinstance(self._optimizer, opt.Optimizer):
            return self._optimizer
        raise RuntimeError('[gluon.Trainer] the optimizer is not an Optimizer')

    def set_learning_rate(self, lr):
        """Set the learning rate; UserWarning is raised when a scheduler decides it.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.1})
        >>> trainer.set_learning_rate(0.01)
        >>> trainer.learning_rate
        0.01
        """
        if not isinstance(self._optimizer, opt.Optimizer):
            raise UserWarning('[gluon.Trainer] the optimizer has no learning rate')
        self._optimizer.set_learning_rate(lr)
        if self._kv_initialized and self._update_on_kvstore and getattr(self._kvstore, '_num_servers', 0):
            self._kvstore._set_server_learning_rate(lr)

    # -- steps -------------------------------------------------------------------------------------
    def step(self, batch_size, ignore_stale_grad=False):
        """Sum the gradients over contexts and machines, then update with them divided by
        `batch_size`.

        `ignore_stale_grad` leaves alone, without the warning, Parameters whose gradient backward
        did not touch since the last step.

        >>> net = mx.gluon.nn.Dense(1)
        >>> net.initialize(mx.init.One())
        >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 0.5})
        >>> with mx.autograd.record():
        ...     loss = net(mx.nd.ones((4, 2))).sum()
        >>> loss.backward()
        >>> net.weight.grad().asnumpy()
        array([[4., 4.]], dtype=float32)
        >>> trainer.step(batch_size=4)
        >>> net.weight.data().asnumpy()
        array([[0.5, 0.5]], dtype=float32)
        """
        self._check_and_rescale_grad(self._scale / batch_size)
        self._prepare()
        self._stepped = True
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def allreduce_grads(self):
        """Only sum the gradients over contexts and machines (then `update`, e.g. after clipping).
        Not with update_on_kvstore.

        >>> net = mx.gluon.nn.Dense(1, use_bias=False)
        >>> net.initialize(mx.init.Zero(), ctx=[mx.cpu(0), mx.cpu(1)])
        >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 1},
        ...                            update_on_kvstore=False)
        >>> for device in (mx.cpu(0), mx.cpu(1)):
        ...     with mx.autograd.record():
        ...         loss = net(mx.nd.ones((4, 2), ctx=device)).sum()
        ...     loss.backward()
        >>> trainer.allreduce_grads()
        >>> [grad.asnumpy().tolist() for grad in net.weight.list_grad()]
        [[[8.0, 8.0]], [[8.0, 8.0]]]
        >>> for grad in net.weight.list_grad():
        ...     norm = mx.gluon.utils.clip_global_norm([grad], max_norm=8)
        >>> trainer.update(batch_size=8)
        >>> float(norm), [data.asnumpy().round(3).tolist() for data in net.weight.list_data()]
        (11.31..., [[[-0.707..., -0.707...]], [[-0.707..., -0.707...]]])
        """
        self._prepare()
        assert not (self._kvstore is not None and self._update_on_kvstore), (
            '[gluon.Trainer] allreduce_grads() called while the optimizer runs on the kvstore; '
            'a Trainer with update_on_kvstore=False is accepted')
        self._allreduce_grads()

    def update(self, batch_size, ignore_stale_grad=False):
        """Only update, after `allreduce_grads`. Not with update_on_kvstore."""
        self._prepare()
        assert not (self._kvstore is not None and self._update_on_kvstore), (
            '[gluon.Trainer] update() called while the optimizer runs on the kvstore; '
            'a Trainer with update_on_kvstore=False is accepted')
        self._check_and_rescale_grad(self._scale / batch_size)
        self._update(ignore_stale_grad)

    def _check_and_rescale_grad(self, scale):
        known = self._update_on_kvstore and self._distributed and self._kv_initialized and self._optimizer.rescale_grad != scale
        if known and not self._stepped and isinstance(self._optimizer, opt.Optimizer):
            # row_sparse_data has set the servers up before the batch size was known
            self._optimizer.rescale_grad = scale
            self._kvstore.set_optimizer(self._optimizer)
        elif known:
            raise UserWarning(f'[gluon.Trainer] the batch size changed (gradient scale '
                              f'{self._optimizer.rescale_grad} to {scale}) after the '
                              'optimizer was sent to the servers; the same batch size, or update_on_kvstore=False, is accepted')
        self._optimizer.rescale_grad = scale

    def _allreduce_grads(self):
        store = self._kvstore
        if store is None:
            return
        for i, param in enumerate(self._params):
            if param.grad_req == 'null':
                continue
            grads = param.list_grad()
            if self._update_on_kvstore:
                if param._stype == 'default':
                    store.pushpull(i, grads, out=param.list_data(), priority=-i)
                else:
                    store.push(i, grads, priority=-i)
            elif len(grads) > 1 or self._distributed or not isinstance(store, kvs.KVStore):
                store.pushpull(i, grads, priority=-i)    # a store from outside may add up over processes

    def _update(self, ignore_stale_grad=False):
        batches = [([], [], []) for _ in self._updaters]
        for param in self._params:   # all of them first: a step that fails changes nothing
            if param.grad_req == 'null':
                continue
            if param._data is None:
                param._explain_missing()
            if not ignore_stale_grad and not all(d._fresh_grad for d in param._data):
                raise UserWarning(f'[gluon.Trainer] backward did not touch the gradient of '
                                  f'{param.name!r} on every context since the last step: it is '
                                  'no part of what was differentiated, or of a block that was not '
                                  'run; ignore_stale_grad=True leaves such Parameters alone')
        for i, param in enumerate(self._params):
            if param.grad_req == 'null':
                continue
            data, grads = param._data, param._grad
            if self._kvstore is not None and self._update_on_kvstore:
                continue   # the store has done it
            for (indices, weights, gradients), arr, grad in zip(batches, data, grads):
                if not ignore_stale_grad or arr._fresh_grad:
                    indices.append(i)
                    weights.append(arr)
                    gradients.append(grad)
                    arr._fresh_grad = False
        if self._kvstore is not None and self._update_on_kvstore:
            return
        for updater, (indices, weights, gradients) in zip(self._updaters, batches):
            if indices:
                updater(indices, gradients, weights)

    # -- sparse ------------------------------------------------------------------------------------
    def _row_sparse_pull(self, parameter, out, row_id, full_idx=False):
        """Fetch rows of a row_sparse Parameter from the store into the arrays `out`."""
        self._prepare()
        index = self._index_of[id(parameter)]
        if full_idx and 'dist' not in self._kvstore.type:
            assert row_id.size == out[0].shape[0]
            self._kvstore.pull(index, out=out, priority=-index, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(index, out=out, row_ids=row_id, priority=-index)

    def _fetch_sparse_values(self, overwritten=None):
        """All rows of row_sparse Parameters, for a store that begins anew with what they have here.
        Until now only the store may have had every row."""
        if self._kvstore is None:
            return
        for index, param in enumerate(self._params):
            if param._stype == 'row_sparse' and param is not overwritten and param._data is not None and param not in self._params_to_init:
                self._kvstore.pull(index, out=param._data, ignore_sparse=False)

    def _forget_store_values(self, parameter):
        """`parameter` is about to be overwritten: the store takes its value again at the next
        step."""
        if self._kv_initialized and self._kvstore is not None and parameter not in self._params_to_init:
            if self._update_on_kvstore and self._distributed:
                raise RuntimeError(f'[gluon.Trainer] set_data on {parameter.name!r} whose value lives on the servers; '
                                   'setting it before the first step is accepted')
            if self._update_on_kvstore:
                states = self._kvstore._updater.get_states(dump_optimizer=False) if self._kvstore._updater is not None else None
                self._fetch_sparse_values(parameter)
                self._reset_kvstore()
                self._init_kvstore()
                if states is not None:
                    self._take_states(states, _states_reader.read_own_states)

    # -- files -------------------------------------------------------------------------------------
    def save_states(self, fname):
        """Write the optimizer and its states to a file.

        >>> net = mx.gluon.nn.Dense(1, in_units=2)
        >>> net.initialize()
        >>> trainer = mx.gluon.Trainer(net.collect_params(), 'adam', {'learning_rate': 0.01})
        >>> trainer.save_states('adam.states')
        >>> trainer.set_learning_rate(0.5)
        >>> trainer.load_states('adam.states')
        >>> trainer.learning_rate, type(trainer.optimizer).__name__
        (0.01, 'Adam')
        """
        self._prepare()
        if self._update_on_kvstore:
            assert not self._params_to_init, '[gluon.Trainer] save_states() called before all Parameters are initialised'
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        write_file(fname, self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname):
        """Read what `save_states` wrote; the optimizer becomes the one in the file, for the present
        Parameters. Nothing that the file says is run
        (:meth:`mxnet.optimizer.Updater.set_states`)."""
        self._prepare()
        if self._update_on_kvstore and getattr(self._kvstore, '_updater', None) is None:
            self._kvstore.load_optimizer_states(fname)   # a store from outside keeps them
            self._optimizer = getattr(self._kvstore, '_optimizer', None) or self._optimizer
            return
        load_states(fname, self._take_states)
