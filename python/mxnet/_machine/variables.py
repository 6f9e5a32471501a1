"""Environment variables of the library, read and changed while it runs: `mx.util.getenv` and
others."""
import ctypes
import os
import warnings

from ..base import _LIB, MXNetError, c_str, check_call, py_str


def _library_value(name):
    """Value in effect of one of the library's variables as text; None if it has none of this
    name."""
    text = ctypes.c_char_p()
    try:
        check_call(_LIB.MXGetEnv(c_str(name), ctypes.byref(text)))
    except ValueError:
        return None
    return None if text.value is None else py_str(text.value)


def getenv(name):
    """Value in effect of a variable as text; None if it is neither one of the library's nor set.

    >>> mx.util.getenv('MXNET_CHECK_INDICES'), mx.util.getenv('NO_SUCH_VARIABLE')
    ('0', None)
    """
    value = _library_value(name)
    return os.environ.get(name) if value is None else value


def set_env(name, value):
    """Change one of the library's environment variables from now on.

    Raises
    ------
    ValueError
        for unknown names, values that are not accepted, and variables that are fixed after the
        start.

    Examples
    --------
    >>> mx.util.set_env('MXNET_CHECK_INDICES', '1')
    >>> mx.env.value('MXNET_CHECK_INDICES')
    True
    >>> mx.util.set_env('MXNET_CHECK_INDICES', '0')
    """
    if isinstance(value, bool):
        value = int(value)
    check_call(_LIB.MXSetEnv(c_str(name), c_str(str(value))))


def setenv(name, value):
    """:func:`set_env` for the library's variables; sets others for this process and its children
    (None: removes). What `set_env` refuses is set for the children, with a warning.

    >>> mx.util.setenv('MXNET_CHECK_INDICES', '1')
    >>> mx.util.getenv('MXNET_CHECK_INDICES')
    '1'
    >>> mx.util.setenv('MXNET_CHECK_INDICES', '0')
    """
    if name.startswith(("MXNET_", "NNVM_", "DMLC_", "OMP_")) and value is not None:
        try:
            set_env(name, value)
        except MXNetError as error:
            if _library_value(name) is None:
                os.environ[name] = str(value)
            else:       # os.environ has what the program put there itself, which is warned of
                os.putenv(name, str(value))
            warnings.warn(f"{error}. Processes that start from now on get it", RuntimeWarning, stacklevel=2)
    elif value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = str(value)
