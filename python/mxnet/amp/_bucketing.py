"""Mixed precision for modules with a network for each length."""

__all__ = ["convert_bucketing_module"]


def convert_bucketing_module(bucketing_mod, target_dtype="float16", target_dtype_ops=None, fp32_ops=None, conditional_fp32_ops=None,
                             excluded_sym_names=None, cast_optional_params=False):
    """A BucketingModule that was bound, as one in mixed precision for inference, with copies of its
    parameters; the other arguments as :func:`convert_symbol`. It is in `mx.contrib.amp.amp` alone,
    as in 1.x.

    Returns
    -------
    BucketingModule
        to be bound.

    Examples
    --------
    >>> def graph(length):
    ...     data = mx.sym.mean(mx.sym.var('data'), axis=1, keepdims=True)
    ...     return mx.sym.FullyConnected(data, num_hidden=2, name='fc'), ('data',), None
    >>> module = mx.mod.BucketingModule(graph, default_bucket_key=5)
    >>> module.bind([('data', (3, 5))], for_training=False)
    >>> module.init_params(mx.init.One())
    >>> half = mx.contrib.amp.amp.convert_bucketing_module(module)
    >>> half.bind([('data', (3, 5))], for_training=False)
    >>> half.forward(mx.io.DataBatch([mx.nd.ones((3, 5))]))
    >>> half.get_outputs()[0].shape
    (3, 2)
    """
    from ..module import BucketingModule
    from .amp import convert_model, convert_symbol
    assert bucketing_mod._buckets, "[amp.convert_bucketing_module] a module without networks given; one that was bound is accepted"
    options = target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names

    def converted(key):
        symbol, data_names, label_names = bucketing_mod._symbol_of(key)
        inputs = [*(data_names or ()), *(label_names or ()), *bucketing_mod._state_names]
        return convert_symbol(symbol, *options, inputs, cast_optional_params), data_names, label_names

    default = bucketing_mod._default_bucket_key
    args, states = bucketing_mod.get_params()
    _, args, states = convert_model(bucketing_mod._symbol_of(default)[0], args, states, *options, cast_optional_params)
    return BucketingModule.load_dict(
        sym_gen=converted, default_bucket_key=default, arg_params=args, aux_params=states, logger=bucketing_mod.logger,
        context=bucketing_mod._context, work_load_list=bucketing_mod._work_load_list, fixed_param_names=bucketing_mod._fixed_param_names,
        state_names=bucketing_mod._state_names, group2ctxs=bucketing_mod._group2ctxs, compression_params=bucketing_mod._compression_params)
