"""SymbolBlock: a HybridBlock around a symbol."""
import os
import warnings

from .. import _dtypes, context as context_mod, symbol
from .._operators.functions import op_info
from ..base import CheckedValueError, MXNetError
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import accepts_device
from ._structure import flatten
from ._trace import Trace, signature
from .hybrid_block import HybridBlock
from .parameter_dict import ParameterDict

__all__ = ['SymbolBlock']


def _types_of_parameters(inputs, out):
    """The dtypes that follow from those of the inputs, by name. As in 1.9.1 they are none, with a
    warning, where an input has no dtype, and none where the dtypes contradict each other."""
    known = {}
    for variable in inputs:
        dtype = variable.infer_type()[0]
        if not dtype:
            return {}
        known[variable.name] = dtype[0]
    try:
        arguments, _, auxiliary = out.infer_type_partial(**known)
    except MXNetError:
        return {}
    pairs = list(zip(out.list_arguments(), arguments or ())) + list(zip(out.list_auxiliary_states(), auxiliary or ()))
    return {name: dtype for name, dtype in pairs if dtype is not None}


def _statistics_names(symbol):
    """Of variables that operators with moving statistics read beside their data, whatever they are
    called: files of other libraries have names of their own."""
    found = set()
    for node in symbol.nodes():
        names = () if node.is_variable else op_info(node.op).inputs
        if 'moving_mean' in names:
            found.update(source.name for source, _ in node.inputs[1:])
    return found


class SymbolBlock(HybridBlock):
    """Runs the graph `outputs` (a Symbol or a list) on `inputs` (one or several variable Symbols).
    All other variables of the graph become Parameters, taken from the ParameterDict `params` where
    it has them, auxiliary states with grad_req 'null'.

    >>> x = mx.sym.Variable('x')
    >>> net = mx.gluon.SymbolBlock(mx.sym.exp(x) + 1, x)
    >>> net(mx.nd.zeros(2)).asnumpy()
    array([2., 2.], dtype=float32)
    """

    def __init__(self, outputs, inputs, params=None):
        super().__init__(prefix=None, params=None)
        self._prefix = ''
        self._params = ParameterDict('', params)
        if isinstance(inputs, Symbol) and len(inputs.list_outputs()) == 1:
            inputs = [inputs]
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        variables, in_format = flatten(list(inputs), 'input')
        flat_out, out_format = flatten(outputs, 'output')
        out = symbol.Group(flat_out) if len(flat_out) > 1 else flat_out[0]
        input_names = set()
        for variable in variables:
            if len(variable.list_outputs()) != 1 or variable.list_inputs() != [variable.name]:
                raise CheckedValueError(f'[gluon.SymbolBlock] input {variable!r} is computed from '
                                        f'{variable.list_inputs()}; variables are accepted')
            input_names.add(variable.name)
        missing = input_names - set(out.list_inputs())
        if missing:
            warnings.warn(f'[gluon.SymbolBlock] the outputs do not depend on the inputs {sorted(missing)}', stacklevel=2)
        auxiliary, types = set(out.list_auxiliary_states()), _types_of_parameters(variables, out)
        for name in out.list_arguments() + out.list_auxiliary_states():     # the order of 1.9.1
            if name in input_names:
                continue
            wishes = {'grad_req': 'null'} if name in auxiliary else {}
            if name in types and name not in self.params:
                wishes['dtype'] = types[name]
            self.params.get(name, allow_deferred_init=True, **wishes)
        common = os.path.commonprefix(list(self.params.keys())) if len(self.params) else ''
        for name, param in self.params.items():
            self._reg_params[name[len(common):]] = param
        self._cached_graph, self._in_format, self._cached_out = (variables, out), in_format, (out_format, 0)

    @staticmethod
    @accepts_device
    def imports(symbol_file, input_names, param_file=None, ctx=None, allow_missing=False, ignore_extra=False):
        """A SymbolBlock from the files of `HybridBlock.export`.

        Parameters
        ----------
        input_names : str or list of str
            The variables of the graph that are inputs.
        param_file : str, optional
            Values of the Parameters; without it, `initialize` or `load_parameters` follows.
        ctx : Context or list of Context, optional
        allow_missing, ignore_extra : bool
            As in `load_parameters`.

        Examples
        --------
        >>> net = mx.gluon.nn.HybridSequential()
        >>> net.add(mx.gluon.nn.Dense(3))
        >>> net.initialize()
        >>> net.hybridize()
        >>> _ = net(mx.nd.ones((1, 2)))
        >>> _ = net.export('model')
        >>> again = mx.gluon.SymbolBlock.imports('model-symbol.json', ['data'], 'model-0000.params')
        >>> again(mx.nd.ones((1, 2))).shape
        (1, 3)
        """
        out = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        unknown = [n for n in names if n not in out.list_inputs()]
        if unknown:
            raise ValueError(f'[gluon.SymbolBlock.imports] input names {unknown} given; '
                             f'{symbol_file} has the variables {out.list_inputs()}')
        # Without values the inputs are of float32. With them, what is saved decides.
        dtype = 'float32' if param_file is None else None
        block = SymbolBlock(out, [symbol.var(n, dtype=dtype) for n in names])
        if param_file is not None:
            block.collect_params().load(param_file, ctx, allow_missing, ignore_extra, cast_dtype=True, dtype_source='saved')
        return block

    def __repr__(self):
        variables, out = self._cached_graph
        return f'{type(self).__name__}(\n{out!r} : {len(variables)} -> {len(out.list_outputs())}\n)'

    _in_format = None    # fixed when the block is made, not by calls
    _of_graphs = tuple(name for name in HybridBlock._of_graphs if name not in ("_cached_graph", "_cached_out"))

    def _clear_cached_op(self):
        # The graph is what this block is: only what was compiled from it goes.
        kept = getattr(self, '_cached_graph', ()), getattr(self, '_cached_out', None)
        super()._clear_cached_op()
        self._cached_graph, self._cached_out = kept

    def _get_graph(self, *args, **kwargs):
        in_format = flatten(list(args), 'input')[1]
        if in_format != self._in_format:
            raise ValueError(f'[gluon.SymbolBlock] arguments nested as {in_format} given; {self._in_format} is accepted')
        return self._cached_graph

    def _graph_to_infer(self, args, described):
        return self._get_graph(*args)

    def _record_graph(self, args, kwargs, arrays, described):
        variables, out = self._get_graph(*args)
        return Trace(variables, out, self._cached_out[0], False, 0, signature(described, arrays))

    def _adopt(self, name, param):
        """Parameters are made by the constructor."""

    def _must_trace(self, arrays=()):
        return False

    def forward(self, x, *args):
        """The outputs for NDArrays (always compiled) or Symbols."""
        if isinstance(x, NDArray) or not isinstance(x, Symbol) and not any(isinstance(a, Symbol) for a in flatten([x, *args], 'input')[0]):
            self._get_graph(x, *args)    # refuses another nesting
            return self._run_compiled((x,) + args)
        return self._compose((x,) + args, flatten([x, *args], 'input')[0])

    def hybrid_forward(self, F, x, *args, **kwargs):
        """As `forward`."""
        return self.forward(x, *args)

    def cast(self, dtype):
        """Convert all Parameters to `dtype`, except those of BatchNorm when `dtype` has 16 bits.

        >>> x = mx.sym.var('x')
        >>> net = mx.gluon.SymbolBlock(mx.sym.FullyConnected(x, num_hidden=2), x)
        >>> net.initialize()
        >>> _ = net(mx.nd.ones((1, 3)))
        >>> net.cast('float16')
        >>> net(mx.nd.ones((1, 3), dtype='float16')).dtype.__name__
        'float16'
        """
        super().cast(dtype)
        if _dtypes.name(dtype) in ('float16', 'bfloat16'):
            kept = _statistics_names(self._cached_graph[1])
            for param in self.params.values():
                if param.name in kept or param.name.endswith(('gamma', 'beta', 'running_mean', 'running_var', 'moving_mean', 'moving_var')):
                    param.cast('float32')

    def reset_ctx(self, ctx):
        """Move the Parameters to `ctx` and forget what was compiled.

        >>> x = mx.sym.var('x')
        >>> net = mx.gluon.SymbolBlock(mx.sym.FullyConnected(x, num_hidden=2), x)
        >>> net.initialize()
        >>> _ = net(mx.nd.ones((1, 3)))
        >>> net.reset_ctx(mx.cpu(1))
        >>> net(mx.nd.ones((1, 3), ctx=mx.cpu(1))).context
        cpu(1)
        """
        self.collect_params().reset_ctx(ctx if ctx is not None else context_mod.current_context())
        self._clear_cached_op()


SymbolBlock._compiles_all = True    # its forward only tells arrays from symbols
