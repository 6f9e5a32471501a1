"""Executors of a symbol: it is bound to arrays."""
from ..context import current_context
from ..executor import Executor


class _SymbolBinding:
    """The part of :class:`Symbol` that binds."""

    __slots__ = ()

    def simple_bind(self, ctx, grad_req="write", type_dict=None, stype_dict=None, group2ctx=None,
                    shared_arg_names=None, shared_exec=None, shared_buffer=None,
                    **kwargs):
        """Makes zero-filled arrays for all variables and binds them.

        Parameters
        ----------
        ctx : Context
        grad_req : 'write', 'add' or 'null', or a list by argument, or a dictionary by name
        type_dict : dict of name to dtype; what cannot be inferred is float32
        shared_arg_names, shared_exec : arguments and states that are taken from another executor, if there is a `shared_buffer`; its
            memory for intermediate results is used too
        shared_buffer : dict of name to NDArray, memory for the other arguments and, as "grad of NAME", for their gradients; replaced
            there when too small
        **kwargs : shapes of some variables

        Raises
        ------
        ValueError : when shapes stay unknown

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, name='fc')
        >>> executor = net.simple_bind(mx.cpu(), x=(2, 4))
        >>> executor.arg_dict['fc_weight'].shape, executor.outputs[0].shape
        ((3, 4), (2, 3))
        """
        try:
            return Executor._simple_bind(self, ctx, grad_req, type_dict, stype_dict, group2ctx,
                                         shared_arg_names, shared_exec, shared_buffer, kwargs)
        except ValueError as error:
            unknown = sorted(set(kwargs) - set(self.list_inputs()))
            if not unknown:
                raise
            raise type(error)(f"{error}. No inputs of the symbol are {', '.join(unknown)}; "
                              f"it has {', '.join(self.list_inputs())}") from None

    def bind(self, ctx, args, args_grad=None, grad_req="write", aux_states=None, group2ctx=None, shared_exec=None):
        """Binds given arrays (lists in the order of the names, or dictionaries). Gradients are
        written to `args_grad`.

        >>> x, gradient = mx.nd.array([1, 2]), mx.nd.zeros(2)
        >>> executor = (mx.sym.var('x') * 3).bind(mx.cpu(), {'x': x}, args_grad={'x': gradient})
        >>> executor.forward(is_train=True)[0].asnumpy()
        array([3., 6.], dtype=float32)
        >>> executor.backward(mx.nd.ones(2))
        >>> gradient.asnumpy()
        array([3., 3.], dtype=float32)
        """
        return Executor._bind(self, ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec)

    def eval(self, ctx=None, **kwargs):
        """Binds the given arrays, runs forward and returns the outputs.

        >>> net = mx.sym.var('x') + mx.sym.var('y')
        >>> net.eval(x=mx.nd.ones(2), y=mx.nd.array([1, 2]))[0].asnumpy()
        array([2., 3.], dtype=float32)
        """
        return self.bind(ctx or current_context(), kwargs).forward()
