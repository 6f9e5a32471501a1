"""What operators there are, and which arguments they take. `mx.operator` shows it."""
import collections

from . import functions as _op_functions

__all__ = ["OperatorArguments", "get_all_registered_operators", "get_all_registered_operators_grouped", "get_operator_arguments"]


class OperatorArguments(collections.namedtuple("OperatorArguments", ["narg", "names", "types"])):
    """What :func:`get_operator_arguments` returns.

    Attributes
    ----------
    narg : int
        How many arguments the operator has.
    names, types : list of str
        Of each of them.

    Examples
    --------
    >>> arguments = mx.operator.get_operator_arguments('elemwise_add')
    >>> arguments.narg, arguments.names, arguments.types
    (2, ['lhs', 'rhs'], ['NDArray-or-Symbol', 'NDArray-or-Symbol'])
    """

    __slots__ = ()


def get_all_registered_operators():
    """Names and aliases of all operators, in alphabetical order.

    >>> 'Convolution' in mx.operator.get_all_registered_operators()
    True
    """
    return list(_op_functions.op_names())


def get_all_registered_operators_grouped():
    """The same by operator: a dictionary from one name to the list of all names.

    >>> 'Flatten' in str(mx.operator.get_all_registered_operators_grouped())
    True
    """
    grouped = {}
    for name in _op_functions.op_names():
        grouped.setdefault(_op_functions.op_info(name).name, []).append(name)
    return grouped


def get_operator_arguments(op_name):
    """Number, names and types (texts) of the arguments of an operator, inputs first.

    >>> mx.operator.get_operator_arguments('FullyConnected').names[:3]
    ['data', 'weight', 'bias']
    """
    info = _op_functions.op_info(op_name)
    kind = "NDArray-or-Symbol[]" if info.variadic else "NDArray-or-Symbol"
    names = info.inputs + [p[0] for p in info.params]
    return OperatorArguments(len(names), names, [kind] * len(info.inputs) + [p[1] for p in info.params])
