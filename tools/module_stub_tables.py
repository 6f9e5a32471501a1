"""Tables for tools/module_stubs.py: types that docstrings name, results that they do not say, and
what one signature cannot say."""

# Where a type that an annotation names is found. `Array` is for checkers alone (either_stub.py).
NAMED = {"NDArray": "mxnet.ndarray.ndarray", "Symbol": "mxnet.symbol.symbol", "Context": "mxnet.context", "Block": "mxnet.gluon.block",
         "HybridBlock": "mxnet.gluon.block", "Parameter": "mxnet.gluon.parameter", "ParameterDict": "mxnet.gluon.parameter",
         "DataBatch": "mxnet.io", "DataIter": "mxnet.io", "Executor": "mxnet.executor", "KVStore": "mxnet.kvstore",
         "ndarray": "mxnet.numpy", "Array": "mxnet._typing", "Network": "mxnet._typing", "Results": "mxnet._typing",
         "Decorated": "mxnet._typing", "Nodes": "mxnet._typing",
         "Constant": "mxnet.gluon.parameter", "Model": "mxnet.onnx",
         "SymbolBlock": "mxnet.gluon.block", "HookHandle": "mxnet.gluon.block", "DataDesc": "mxnet.io", "MXDataIter": "mxnet.io",
         "Optimizer": "mxnet.optimizer", "Module": "mxnet.module", "BucketingModule": "mxnet.module", "IRHeader": "mxnet.recordio",
         "Dataset": "mxnet.gluon.data", **{name: "mxnet.gluon.model_zoo.vision" for name in (
             "AlexNet DenseNet Inception3 MobileNet MobileNetV2 ResNetV1 ResNetV2 SqueezeNet VGG").split()}}
_DOCUMENTED = "NDArray Symbol Context Block HybridBlock Parameter ParameterDict DataBatch DataIter Executor KVStore".split()
PLAIN = {"int": "int", "float": "float", "str": "str", "bool": "bool", "bytes": "bytes", "callable": "Callable[..., Any]",
         "int or float": "float", "float or int": "float", "list of str": "Sequence[str]", "list of int": "Sequence[int]",
         "str or list of str": "str | Sequence[str]", "number or ndarray": "float | ndarray", "ndarray": "ndarray",
         "int or ndarray": "int | ndarray", **{name: name for name in _DOCUMENTED}}
RESULTS = {**PLAIN, "list of str": "list[str]", "list of int": "list[int]", "list of NDArray": "list[NDArray]", "None": "None",
           "tuple of int": "tuple[int, ...]", "dict": "dict[Any, Any]", "dict of str to NDArray": "dict[str, NDArray]"}
_NUMPY = "numpy.ndarray[Any, Any]"
_PARAMETERS = "dict[str, NDArray]"
_EITHER = "Array | Any"       # with Any, since a program may give the variable an array of one kind later
_SHAPES = "list[tuple[int, ...]]"


def _each(prefix, names, kind):
    return {prefix + name: kind for name in names.split()}


# Results that docstrings do not say: by the class and the name, or by the module and the name.
KNOWN = {
    "NDArray.asnumpy": _NUMPY, "NDArray.shape": "tuple[int, ...]", "NDArray.size": "int", "NDArray.ndim": "int",
    **_each("NDArray.", "context ctx device", "Context"), "NDArray.stype": "str", "NDArray.dtype": "Any",
    **_each("NDArray.", "tostype grad T as_in_ctx as_nd_ndarray copyto to_device __floordiv__ __rfloordiv__ __invert__", "NDArray"),
    "NDArray.as_np_ndarray": "ndarray", "NDArray.split_v2": "list[NDArray]",
    "mxnet.ndarray.sparse.csr_matrix": "CSRNDArray", "mxnet.ndarray.sparse.row_sparse_array": "RowSparseNDArray",
    "BaseSparseNDArray.data": "NDArray", "CSRNDArray.indices": "NDArray", "CSRNDArray.indptr": "NDArray",
    "RowSparseNDArray.indices": "NDArray", "CSRNDArray.__getitem__": "CSRNDArray", "RowSparseNDArray.__getitem__": "RowSparseNDArray",
    **_each("NDArray.", "backward attach_grad drop_grad wait_to_read wait_to_write", "None"),
    **_each("Symbol.", "list_arguments list_outputs list_auxiliary_states list_inputs", "list[str]"),
    **_each("Symbol.", "name tojson debug_str", "str"), "Symbol.save": "None", "Symbol.attr": "str | None", "Symbol.nodes": "Nodes",
    **_each("Symbol.", "simple_bind bind", "Executor"), **_each("Symbol.", "get_internals optimize_for get_children", "Symbol"),
    "Symbol.infer_shape": f"tuple[{_SHAPES}, {_SHAPES}, {_SHAPES}]", "Symbol.infer_type": "tuple[list[Any], list[Any], list[Any]]",
    **_each("Symbol.", "infer_shape_partial infer_type_partial", "tuple[list[Any], list[Any], list[Any]]"),
    "Symbol.attr_dict": "dict[str, dict[str, str]]", "Symbol.list_attr": "dict[str, str]", "Symbol.eval": "list[NDArray]",
    **_each("Executor.", "forward outputs", "list[NDArray]"), "Executor.reshape": "Executor",
    **_each("Executor.", "arg_arrays grad_arrays aux_arrays", "list[NDArray]"),
    **_each("Executor.", "backward copy_params_from set_monitor_callback", "None"), "Executor.debug_str": "str",
    **_each("Executor.", "arg_dict grad_dict aux_dict output_dict", _PARAMETERS),
    # Of mx.np under npx.set_np(), of mx.nd otherwise; a list of `Array` is no list of either.
    **_each("Parameter.", "data grad", _EITHER), **_each("Parameter.", "list_data list_grad", "list[Any]"),
    "Parameter.name": "str", "Parameter.shape": "tuple[int, ...]",
    **_each("Parameter.", "list_ctx list_device", "list[Context]"), "Parameter.var": "Symbol",
    **_each("Parameter.", "set_data zero_grad initialize cast reset_ctx reset_device", "None"), "Parameter.grad_req": "str",
    **_each("Parameter.", "lr_mult wd_mult", "float"), "Parameter.row_sparse_data": "NDArray", "Parameter.stype": "str",
    "ParameterDict.__getitem__": "Parameter", "ParameterDict.__iter__": "Iterator[str]", "ParameterDict.keys": "KeysView[str]",
    "ParameterDict.values": "ValuesView[Parameter]", "ParameterDict.items": "ItemsView[str, Parameter]", "ParameterDict.prefix": "str",
    "ParameterDict.get_constant": "Constant", "ParameterDict.list_ctx": "list[Context]",
    **_each("ParameterDict.", "initialize load load_dict reset_ctx save setattr update zero_grad", "None"),
    **_each("Block.", "collect_params params", "ParameterDict"), **_each("Block.", "prefix name", "str"), "Block.apply": "Self",
    **_each("Block.", "register_forward_hook register_forward_pre_hook", "HookHandle"),
    **_each("Block.", "initialize hybridize cast save_parameters load_parameters summary save_params load_params load_dict zero_grad "
            "reset_ctx reset_device register_child setattr register_op_hook save load infer_shape infer_type", "None"),
    "HybridBlock.export": "tuple[str, str]", "SymbolBlock.imports": "SymbolBlock",
    "RecurrentCell.begin_state": "list[Any]", "RecurrentCell.state_info": "list[dict[str, Any]]",
    **{f"{layer}.begin_state": "list[Any]" for layer in ("RNN", "LSTM", "GRU")},
    "BaseModule.get_outputs": "list[NDArray]", "BaseModule.get_params": f"tuple[{_PARAMETERS}, {_PARAMETERS}]",
    "BaseModule.get_input_grads": "list[NDArray]", "BaseModule.score": "list[tuple[str, float]]", "BaseModule.symbol": "Symbol",
    **_each("BaseModule.", "data_names output_names label_names", "list[str]"), "BaseModule.output_shapes": "list[Any]",
    **_each("BaseModule.", "data_shapes label_shapes", "list[DataDesc]"),
    **_each("BaseModule.", "binded for_training inputs_need_grad params_initialized optimizer_initialized", "bool"),
    **_each("BaseModule.", "bind init_params init_optimizer forward backward update fit forward_backward update_metric set_params "
            "save_params load_params save_checkpoint install_monitor set_states switch_bucket reshape borrow_optimizer "
            "save_optimizer_states load_optimizer_states prepare", "None"),
    "Module.load": "Module", "BucketingModule.load": "BucketingModule", "BucketingModule.load_dict": "BucketingModule",
    "Trainer.learning_rate": "float", "Trainer.optimizer": "Optimizer",
    **_each("Trainer.", "step update allreduce_grads set_learning_rate save_states load_states", "None"),
    **_each("Optimizer.", "learning_rate lr wd rescale_grad", "float"), "Optimizer.set_learning_rate": "None",
    "Optimizer.create_optimizer": "Optimizer", **_each("mxnet.optimizer.", "create", "Optimizer"),
    "LRScheduler.__call__": "float", "LRScheduler.get_warmup_lr": "float",
    **_each("LRScheduler.", "base_lr warmup_begin_lr warmup_final_lr", "float"), "Function.saved_tensors": f"tuple[{_EITHER}, ...]",
    # The programs' own: of one metric a name and a number, of CompositeEvalMetric lists of them.
    **_each("EvalMetric.", "get get_global", "tuple[str, float]"),
    **_each("CompositeEvalMetric.", "get get_global", "tuple[list[str], list[float]]"), "EvalMetric.get_config": "dict[str, Any]",
    **_each("EvalMetric.", "get_name_value get_global_name_value", "list[tuple[str, float]]"),
    **_each("EvalMetric.", "update reset reset_local update_dict", "None"), "EvalMetric.name": "Any",
    "KVStore.rank": "int", "KVStore.num_workers": "int", "KVStore.type": "str",
    **_each("KVStore.", "init push pull pushpull set_optimizer barrier", "None"),
    **_each("DataIter.", "next __next__", "DataBatch"), "DataIter.__iter__": "Self", "DataIter.reset": "None", "DataIter.iter_next": "bool",
    **_each("DataIter.", "getdata getlabel", "list[NDArray]"), "DataIter.getpad": "int",
    **_each("MXDataIter.", "getdata getlabel", "NDArray"), "DataIter.batch_size": "int",
    "DataIter.hard_reset": "None", **_each("NDArrayIter.", "provide_data provide_label", "list[DataDesc]"),
    **_each("DataBatch.", "data label", "list[NDArray]"), "DataBatch.pad": "int",
    "DataDesc.name": "str", "DataDesc.shape": "tuple[int, ...]", "DataDesc.get_batch_axis": "int", "DataDesc.layout": "str",
    **_each("mxnet.io.", "CSVIter ImageDetRecordIter ImageRecordInt8Iter ImageRecordIter ImageRecordIter_v1 ImageRecordUInt8Iter "
            "ImageRecordUInt8Iter_v1 LibSVMIter MNISTIter", "MXDataIter"),
    "DataLoader.__iter__": "Iterator[Any]", **{f"{name}.__iter__": "Iterator[Any]" for name in (
        "Sampler BatchSampler FilterSampler IntervalSampler RandomSampler SequentialSampler").split()},
    **_each("Dataset.", "filter sample shard take transform transform_first", "Dataset"),
    "MXRecordIO.read": "bytes", "MXIndexedRecordIO.read_idx": "bytes", "MXRecordIO.tell": "int",
    **_each("MXRecordIO.", "open close reset write seek write_idx", "None"), "MXIndexedRecordIO.keys": "list[Any]",
    **_each("mxnet.recordio.", "pack pack_img", "bytes"), "mxnet.recordio.unpack": "tuple[IRHeader, bytes]",
    "mxnet.recordio.unpack_img": f"tuple[IRHeader, {_NUMPY}]",
    **_each("mxnet.image.", "imread imdecode imresize resize_short fixed_crop color_normalize copyMakeBorder imrotate random_rotate",
            _EITHER),
    **_each("mxnet.image.", "center_crop random_crop random_size_crop", f"tuple[{_EITHER}, tuple[int, int, int, int]]"),
    "mxnet.image.scale_down": "tuple[int, int]", "Augmenter.__call__": "Any", "mxnet.image.CreateAugmenter": "list[Any]",
    "mxnet.model.load_checkpoint": f"tuple[Symbol, {_PARAMETERS}, {_PARAMETERS}]", "mxnet.model.save_checkpoint": "None",
    **_each("mxnet.contrib.quantization.", "quantize_model quantize_model_mkldnn calib_graph",
            f"tuple[Symbol, {_PARAMETERS}, {_PARAMETERS}]"),
    "mxnet.contrib.quantization.quantize_graph": f"tuple[Symbol, {_PARAMETERS}, {_PARAMETERS}, Any]",
    **_each("mxnet.contrib.quantization.", "quantize_net quantize_net_v2", "SymbolBlock"),
    "mxnet.onnx.export_model": "str", "mxnet.onnx.get_operator_support": "list[str]", "mxnet.onnx.load": "Model",
    "mxnet.onnx.operators": "dict[str, dict[str, list[tuple[int, int | None]]]]", "Model.run": "dict[str, Any]",
    "Model.to_block": "SymbolBlock", "Model.convert": f"tuple[Symbol, {_PARAMETERS}]", "Model.ctx": "Context",
    **_each("Model.", "inputs outputs with_defaults", "list[Any]"), "Model.precision": "str | None", "Model.metadata": "dict[str, str]",
    "mxnet.contrib.onnx.import_model": f"tuple[Symbol, {_PARAMETERS}, {_PARAMETERS}]",
    "mxnet.contrib.onnx.import_to_gluon": "SymbolBlock", "InferenceSession.run": "list[Any]",
    **_each("InferenceSession.", "get_providers", "list[str]"), **_each("InferenceSession.", "get_inputs get_outputs", "list[Any]"),
    "mxnet.contrib.torch.names": "dict[str, str]", "mxnet.contrib.torch.get_model": "HybridBlock",
    "mxnet.contrib.torch.state_dict": _PARAMETERS, "mxnet.contrib.torch.load_into": "LoadedNames",
    "mxnet.contrib.safetensors.metadata": "dict[str, str]",
    **_each("", "mxnet.contrib.torch.save mxnet.contrib.safetensors.save", "None"),
    "LoadedNames.missing": "list[str]", "LoadedNames.unexpected": "list[str]",
    "CalibrationCollector.collect": "None", "CalibrationCollector.post_collect": "dict[str, tuple[float, float]]",
    "mxnet.model.load_params": f"tuple[{_PARAMETERS}, {_PARAMETERS}]",
    **_each("mxnet.context.", "cpu gpu cpu_pinned current_context current_device", "Context"), "mxnet.context.num_gpus": "int",
    "mxnet.context.gpu_memory_info": "tuple[int, int]", "mxnet.kvstore.create": "KVStore",
    **_each("mxnet.autograd.", "is_recording is_training", "bool"), **_each("mxnet.autograd.", "backward mark_variables", "None"),
    "mxnet.autograd.grad": "list[Any]", "mxnet.random.seed": "None",
    **_each("mxnet.symbol.symbol.", "Variable var Group load load_json fromjson zeros ones full arange eye linspace maximum minimum pow "
            "hypot", "Symbol"),
    "mxnet.profiler.dumps": "str", "mxnet.profiler.state": "str", "mxnet.operator.get_all_registered_operators": "list[str]",
    **_each("mxnet.test_utils.", "default_context default_device", "Context"), "mxnet.util.get_gpu_count": "int",
    "mxnet.util.get_gpu_memory": "tuple[int, int]", "mxnet.ndarray.waitall": "None", "mxnet.ndarray.save": "None",
    **_each("mxnet.ndarray.ndarray.", "array zeros ones full empty arange eye linspace concatenate moveaxis add subtract multiply divide "
            "modulo power maximum minimum equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor "
            "true_divide imdecode from_numpy from_dlpack onehot_encode", "NDArray"),
    "mxnet.ndarray.ndarray.split_v2": "list[NDArray]", "mxnet.ndarray.ndarray.histogram": "list[NDArray]",
    "mxnet.gluon.utils.clip_global_norm": "float", **_each("mxnet.gluon.utils.", "split_and_load split_data", "list[Any]"),
    **_each("mxnet.callback.", "do_checkpoint module_checkpoint log_train_metric", "Callable[..., None]"),
    **_each("Distribution.", "sample sample_n log_prob pdf cdf icdf mean variance stddev entropy perplexity", "ndarray"),
    **_each("mxnet.gluon.probability.", "kl_divergence empirical_kl", "ndarray"),
    "mxnet.gluon.model_zoo.vision.get_model": "Network", "mxnet.gluon.model_zoo.get_model": "Network"}
# What all functions of a module give.
GIVEN = {"mxnet.ndarray.random": "NDArray", "mxnet.symbol.random": "Symbol"}
# The class of a network of the model zoo, by how the function's name begins; the first that fits.
ZOO = (("alexnet", "AlexNet"), ("densenet", "DenseNet"), ("inception", "Inception3"), ("mobilenet_v2", "MobileNetV2"),
       ("mobilenet", "MobileNet"), ("resnet18_v1", "ResNetV1"), *((f"resnet{n}_v{v}", f"ResNetV{v}") for n in (18, 34, 50, 101, 152)
                                                                  for v in (1, 2)),
       ("squeezenet", "SqueezeNet"), ("vgg", "VGG"))
# Attributes of layers that are parameters.
PARAMETERS = {"weight", "bias", "gamma", "beta", "alpha", "running_mean", "running_var",
              *(f"{kind}_{what}" for kind in ("i2h", "h2h", "h2r") for what in ("weight", "bias"))}
_ARRAYS = ("Array", "NDArray", "ndarray")
_OF = {"Array": _EITHER, "NDArray": "NDArray", "ndarray": "ndarray", "Symbol": "Symbol"}     # results, by the kind of argument
_REST = ["(self, *args: Any, **kwargs: Any) -> Any"]
_CALLS = {more: [f"(self, x: {kind}{more}) -> {_OF[kind]}" for kind in (*_ARRAYS, "Symbol")] for more in ("", ", *args: Any")}
# Of several arguments there may be several results.
_BLOCK = [*_CALLS[""], *(f"(self, x: {kind}, y: Any, *args: Any) -> Results | Any" for kind in _ARRAYS), "(self, *args: Any) -> Any"]
_LAYER = [text for kind in _ARRAYS for text in (f"(self, inputs: {kind}) -> {_OF[kind]}", f"(self, inputs: {kind}, states: Any, "
                                                f"sequence_length: Any = ..., **kwargs: Any) -> tuple[{_OF[kind]}, list[Any]]")]
_CELL = [f"(self, inputs: {kind}, states: Any) -> tuple[{_OF[kind]}, list[Any]]" for kind in _ARRAYS]
# What one signature cannot say.
OVERLOADS = {"Block.__call__": _BLOCK, "HybridBlock.__call__": _BLOCK,
             "Loss.__call__": [*_CALLS[", *args: Any"], "(self, *args: Any) -> Any"],
             **{f"{layer}.__call__": [*_LAYER, *_REST] for layer in ("RNN", "LSTM", "GRU")},
             **{f"{cell}.__call__": [*_CELL, *_REST] for cell in ("RecurrentCell", "HybridRecurrentCell", "BidirectionalCell",
                                                                  "SequentialRNNCell", "HybridSequentialRNNCell")},
             # Programs name these as they like.
             "CustomOpProp.create_operator": ["(self, ctx: Any, in_shapes: Any, in_dtypes: Any, /) -> Any"],
             "ParameterDict.get": ["(self, name: str, **kwargs: Any) -> Parameter", "(self, name: str, default: Any) -> Any"],
             "Optimizer.register": ["(klass: Decorated) -> Decorated"],
             # Several outputs are a list, which can be taken apart as an array can.
             "BaseModule.predict": [
                 f"(self, eval_data: Any, num_batch: int | None = ..., merge_batches: {merged}, reset: bool = ..., "
                 f"always_output_list: {listed}, sparse_row_id_fn: Any = ...) -> {result}" for merged, listed, result in (
                     ("Literal[True] = ...", "Literal[False] = ...", "NDArray"),
                     ("Literal[True] = ...", "Literal[True] = ...", "list[NDArray]"))] +
             ["(self, eval_data: Any, *args: Any, **kwargs: Any) -> Any"]}
FUNCTION_OVERLOADS = {
    **{f"mxnet.{home}.create": ["(metric: list[Any] | tuple[Any, ...], *args: Any, **kwargs: Any) -> CompositeEvalMetric",
                                "(metric: Any, *args: Any, **kwargs: Any) -> EvalMetric"] for home in ("metric", "gluon.metric")},
    **{f"mxnet.{home}.register": ["(klass: Decorated) -> Decorated"] for home in ("optimizer", "initializer")},
    **{f"mxnet.{home}.register": ["(klass: Decorated, name: str | None = ...) -> Decorated"] for home in ("metric", "gluon.metric")},
    **{f"mxnet.{home}.alias": ["(*aliases: str) -> Callable[[Decorated], Decorated]"]
       for home in ("metric", "gluon.metric", "initializer")},
    "mxnet.operator.register": ["(reg_name: str) -> Callable[[Decorated], Decorated]"],
    **{f"mxnet.util.{name}": ["(func: Decorated) -> Decorated"]
       for name in "use_np use_np_array use_np_default_dtype use_np_shape".split()}}
# Members that a class leaves to those below it, or to Python (which iterates by index).
MEMBERS = {"Dataset": ["    def __iter__(self) -> Iterator[Any]: ..."],
           "Block": ["    _children: dict[str, Any]", "    _reg_params: dict[str, Any]", "    _prefix: str", "    _params: Any"],
           "mxnet.gluon.loss.Loss": ["    _weight: Any", "    _batch_axis: int"],
           # Not list[DataDesc]: classes below have properties of these names, or assign to them.
           "DataIter": ["    provide_data: Any", "    provide_label: Any"]}
# Fields of named tuples.
FIELDS = {"BatchEndParam": {"epoch": "int", "nbatch": "int", "eval_metric": "Any", "locals": "Any"},
          "IRHeader": {"flag": "int", "label": "Any", "id": "int", "id2": "int"}}
SPECIAL = {"__len__": "int", "__bool__": "bool", "__int__": "int", "__float__": "float", "__str__": "str", "__repr__": "str",
           "__hash__": "int", "__index__": "int", "__contains__": "bool", "__setitem__": "None", "__delitem__": "None",
           "__format__": "str", "__exit__": "None", "__setattr__": "None", "__complex__": "complex", "__eq__": None, "__ne__": None}
# Classes whose members belong to the one class that has them as its base.
MERGED = {"NDArrayBase", "SymbolBase"}
# Programs define these of their own classes of those bases, with arguments of their own.
OVERRIDDEN = {"forward": {"Block", "CustomOp", "Function"}, "hybrid_forward": {"Block"}, "backward": {"Function"}}
# Methods that the library calls, and programs define with names of arguments as they like.
RENAMED = {**dict.fromkeys("_init_weight _init_bias _init_gamma _init_beta _init_zero _init_one _init_default".split(), {"Initializer"}),
           **dict.fromkeys("infer_shape infer_type infer_storage_type infer_storage_type_backward declare_backward_dependency".split(),
                           {"CustomOpProp"}),
           **dict.fromkeys("create_state create_state_multi_precision update update_multi_precision step fused_step".split(),
                           {"Optimizer"})}
# Members that programs call or define in their own classes, although the names begin with "_".
PROTECTED = {"Optimizer": "_update_count _get_lr _get_lrs _get_wd _get_wds".split(),
             "Initializer": "_init_weight _init_bias _init_gamma _init_beta _init_zero _init_one _init_default".split()}
# Arguments whose documented type is not all that functions take.
OPEN = {"dtype", "ctx", "context", "device", "mean", "std"}
LEFT_OUT = {"__init_subclass__", "__new__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__del__", "__dir__",
            "__getattr__", "__copy__", "__deepcopy__", "__array_priority__", "__class_getitem__", "__subclasshook__", "__getnewargs__",
            "BaseSparseNDArray.size"}       # an attribute of NDArray's, and sparse arrays raise
ARITHMETIC = [*(f"__{side}{name}__" for name in "add sub mul truediv mod pow".split() for side in ("", "r", "i")),
              "__neg__", "__abs__", "__matmul__", *(f"__{name}__" for name in "lt le gt ge".split())]
THE_SAME_KIND = {"__getitem__", "copy", "as_in_context", "astype", "reshape", "detach", "slice", "broadcast_to", "__iter__"}
