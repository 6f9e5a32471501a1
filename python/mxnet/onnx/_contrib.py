"""The importer's functions of 1.x."""
from ._import import split, to_symbol
from ._model import load


def import_model(model_file):
    """A model as a symbol with parameters.

    Parameters
    ----------
    model_file : str
        An ONNX file. Its inputs need fixed shapes, but for the first dimension.

    Returns
    -------
    (Symbol, dict, dict)
        The graph, arguments and auxiliary states, by name.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(3, in_units=4)
    >>> net.initialize()
    >>> _ = mx.onnx.export_model(net, in_shapes=[(2, 4)], onnx_file_path='dense.onnx')
    >>> symbol, arguments, states = mx.contrib.onnx.import_model('dense.onnx')
    >>> len(arguments), len(states)
    (2, 0)
    """
    symbol, params = to_symbol(load(model_file))
    return (symbol, *split(symbol, params))


def import_to_gluon(model_file, ctx):
    """A model as a Gluon block.

    Parameters
    ----------
    model_file : str
    ctx : Context or list of Context
        Where its parameters go.

    Returns
    -------
    gluon.SymbolBlock

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(3, in_units=4)
    >>> net.initialize()
    >>> _ = mx.onnx.export_model(net, in_shapes=[(2, 4)], onnx_file_path='dense.onnx')
    >>> mx.contrib.onnx.import_to_gluon('dense.onnx', mx.cpu())(mx.nd.ones((2, 4))).shape
    (2, 3)
    """
    from ._import import to_block
    return to_block(load(model_file), ctx=ctx)


def get_model_metadata(model_file):
    """Names and shapes of a model's inputs and outputs.

    Parameters
    ----------
    model_file : str

    Returns
    -------
    dict
        'input_tensor_data' and 'output_tensor_data', each a list of (name, shape); a free dimension
        is 0.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(3, in_units=4)
    >>> net.initialize()
    >>> _ = mx.onnx.export_model(net, in_shapes=[(2, 4)], onnx_file_path='dense.onnx')
    >>> mx.contrib.onnx.get_model_metadata('dense.onnx')['input_tensor_data'][0][1]
    (2, 4)
    """
    model = load(model_file)

    def rows(infos):
        return [(i.name, tuple(d if isinstance(d, int) else 0 for d in i.shape or ())) for i in infos]
    return {"input_tensor_data": rows(model.inputs), "output_tensor_data": rows(model.outputs)}
