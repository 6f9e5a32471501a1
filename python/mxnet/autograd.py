"""Automatic differentiation of eager programs: what runs inside ``record()`` can be differentiated
with ``backward`` or ``grad``."""
import ctypes
import threading

from ._startup import tracebacks as _tracebacks
from ._arrays import tracing as _dc
from ._binding import set_mode
from ._arrays.tape import GRAD_REQS as _GRAD_REQ_MAP, arrays_of, backward, heads_of, mark_variables  # noqa: F401
from .base import (CheckedValueError, MXCallbackList, NDArrayHandle, SymbolHandle, _LIB, c_handle_array, call_and_mark,
                   check_call, _interrupted_callbacks, kept_for_native)
from .ndarray import NDArray
from ._arrays.classes import is_np_ndarray, overwrite

__all__ = ["Function", "backward", "get_symbol", "grad", "is_recording", "is_training", "mark_variables", "pause", "predict_mode", "record",
           "set_recording", "set_training", "train_mode"]


def set_recording(is_recording):
    """Switches recording on or off for this thread; returns the previous state.

    >>> before = mx.autograd.set_recording(True)
    >>> mx.autograd.set_recording(before)
    True
    """
    _note_switch(is_recording, None)
    return set_mode(bool(is_recording), None)[0]


def set_training(train_mode):
    """Switches training mode (dropout on, batch statistics) for this thread; returns the previous
    state.

    >>> before = mx.autograd.set_training(True)
    >>> mx.autograd.set_training(before)
    True
    """
    _note_switch(None, train_mode)
    return set_mode(None, bool(train_mode))[1]


def _note_switch(recording, training):
    """A graph has one mode: tells who records one that it is switched."""
    if _dc.watch.on:
        now = set_mode(None, None)
        if recording is not None and bool(recording) != now[0] or training is not None and bool(training) != now[1]:
            _dc.note(_dc.SWITCH)
        _dc.note(_dc.MODE)


def is_recording():
    """True while operations are recorded.

    >>> mx.autograd.is_recording()
    False
    >>> with mx.autograd.record():
    ...     print(mx.autograd.is_recording())
    True
    """
    if _dc.watch.on:
        _dc.watch.reads |= _dc.MODE
    return set_mode(None, None)[0]


def is_training():
    """True in training mode.

    >>> with mx.autograd.record(train_mode=False):
    ...     print(mx.autograd.is_training())
    False
    """
    if _dc.watch.on:
        _dc.watch.reads |= _dc.MODE
    return set_mode(None, None)[1]


class _Scope:
    """Sets recording and training mode (None leaves one alone) and restores both."""

    __slots__ = ("_record", "_train", "_previous")

    def __init__(self, is_record, train_mode):
        self._record, self._train, self._previous = is_record, train_mode, []

    def __enter__(self):
        if _dc.watch.on:
            _note_switch(self._record, self._train)
        self._previous.append(set_mode(self._record, self._train))

    def __exit__(self, *_):
        recording, training = self._previous.pop()
        set_mode(None if self._record is None else recording, None if self._train is None else training)


def record(train_mode=True):
    """Scope in which operations are recorded, in training mode unless `train_mode` is false.

    >>> x = mx.nd.array([1, 2, 3])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad.asnumpy()
    array([2., 4., 6.], dtype=float32)
    """
    return _Scope(True, train_mode)


def pause(train_mode=False):
    """Scope in which operations are not recorded.

    >>> x = mx.nd.ones(2)
    >>> with mx.autograd.record():
    ...     with mx.autograd.pause():
    ...         inside = mx.autograd.is_recording()
    ...     after = mx.autograd.is_recording()
    >>> inside, after
    (False, True)
    """
    return _Scope(False, train_mode)


def train_mode():
    """Scope of training mode; recording stays as it is.

    >>> layer = mx.gluon.nn.Dropout(0.5)
    >>> with mx.autograd.train_mode():
    ...     y = layer(mx.nd.ones(1000))
    >>> bool((y == 0).sum().asscalar() > 0)
    True
    """
    return _Scope(None, True)


def predict_mode():
    """Scope of inference mode; recording stays as it is.

    >>> layer = mx.gluon.nn.Dropout(0.5)
    >>> with mx.autograd.record():
    ...     with mx.autograd.predict_mode():
    ...         y = layer(mx.nd.ones(3))
    >>> y.asnumpy()
    array([1., 1., 1.], dtype=float32)
    """
    return _Scope(None, False)


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """Returns the gradients of `heads` with respect to `variables` (an array or a list) as a list
    of new arrays.

    With `create_graph` the gradients are recorded themselves, so that they can be differentiated
    again.

    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = x * x * x
    ...     first = mx.autograd.grad(y, [x], create_graph=True)[0]
    >>> first.backward()
    >>> first.asnumpy(), x.grad.asnumpy()
    (array([ 3., 12.], dtype=float32), array([ 6., 12.], dtype=float32))
    """
    heads, ograds = heads_of(heads, head_grads)
    variables = arrays_of(variables, "variables")
    if not variables:
        raise CheckedValueError("[autograd] grad needs at least one variable")
    if retain_graph is None:
        retain_graph = create_graph
    out, stypes = ctypes.POINTER(ctypes.c_void_p)(), ctypes.POINTER(ctypes.c_int)()
    call_and_mark(_LIB.MXAutogradBackwardEx, ctypes.c_uint(len(heads)), c_handle_array(heads),
                  ograds, ctypes.c_uint(len(variables)), c_handle_array(variables),
                  ctypes.c_int(bool(retain_graph)), ctypes.c_int(bool(create_graph)),
                  ctypes.c_int(bool(train_mode)), ctypes.byref(out), ctypes.byref(stypes))
    # A gradient has a storage of its own, whatever that of the variable is.
    classes = [type(v) if v.stype == "default" else NDArray for v in variables]
    return [array(NDArrayHandle(out[i])) for i, array in enumerate(classes)]


def get_symbol(x):
    """The recorded computation of `x` as a Symbol.

    >>> x = mx.nd.ones(2)
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = mx.nd.exp(x) + 1
    >>> len(mx.autograd.get_symbol(y).list_arguments())
    1
    """
    from .symbol import Symbol
    handle = SymbolHandle()
    check_call(_LIB.MXAutogradGetSymbol(x.handle, ctypes.byref(handle)))
    return Symbol(handle)


class Function:
    """A function with a gradient of its own.

    Subclasses define ``forward(*inputs)`` and ``backward(*output_grads)``, both on NDArrays;
    ``backward`` returns one gradient per input.

    >>> class Cube(mx.autograd.Function):
    ...     def forward(self, x):
    ...         self.save_for_backward(x)
    ...         return x * x * x
    ...     def backward(self, dy):
    ...         x, = self.saved_tensors
    ...         return 3 * x * x * dy
    >>> x = mx.nd.array([1, 2])
    >>> x.attach_grad()
    >>> with mx.autograd.record():
    ...     y = Cube()(x)
    >>> y.backward()
    >>> x.grad.asnumpy()
    array([ 3., 12.], dtype=float32)
    """

    _live = {}            # number -> instance, while the tape may call back
    _lock = threading.Lock()
    _next = 0

    def __init__(self):
        self._used = False
        self.saved_tensors = ()

    def save_for_backward(self, *args):
        """Keeps arrays for ``backward`` as ``self.saved_tensors``."""
        self.saved_tensors = args

    def forward(self, *inputs):
        """Computes the outputs: an array, or a tuple or list of arrays, which is returned."""
        raise NotImplementedError(f"[autograd.Function] {type(self).__name__} defines no forward")

    def backward(self, *output_grads):
        """Computes the gradients of the inputs; an array or a tuple of arrays."""
        raise NotImplementedError(f"[autograd.Function] {type(self).__name__} defines no backward")

    def __call__(self, *inputs):
        if self._used:
            raise CheckedValueError("[autograd.Function] an instance can be called once; make a new one for each call")
        self._used = True
        with pause():
            outputs = self.forward(*inputs)
        if not is_recording():
            return outputs
        single = isinstance(outputs, NDArray)
        made = [outputs] if single else list(outputs)
        self._class = type(made[0]) if is_np_ndarray(made[0]) else NDArray
        # What is on the tape is another array on the same memory: saved as it is, an output would
        # keep the tape alive, and the tape this instance.
        made = [o.copy() if any(o is i for i in inputs) else o.detach() for o in made]
        self._record(list(inputs), made)
        if single:
            return made[0]
        return made if isinstance(outputs, list) else tuple(made)

    def _record(self, inputs, outputs):
        with Function._lock:
            Function._next += 1
            key = Function._next
            Function._live[key] = self
        contexts = (ctypes.c_void_p * 2)(key, key)
        info = MXCallbackList(2, ctypes.cast(_TABLE, ctypes.POINTER(_PLAIN_TYPE)), ctypes.cast(contexts, ctypes.POINTER(ctypes.c_void_p)))
        check_call(_LIB.MXCustomFunctionRecord(ctypes.c_int(len(inputs)), c_handle_array(inputs),
                                               ctypes.c_int(len(outputs)), c_handle_array(outputs),
                                               ctypes.byref(info)))

    def _run_backward(self, ograds, igrads, reqs):
        results = self.backward(*ograds)
        results = [results] if isinstance(results, NDArray) else list(results)
        if len(results) != len(igrads):
            raise ValueError(f"[autograd.Function] backward of {type(self).__name__} returned "
                             f"{len(results)} gradients; it has {len(igrads)} inputs")
        for i, (target, value) in enumerate(zip(igrads, results)):
            if not isinstance(value, NDArray):
                raise TypeError(f"[autograd.Function] backward of {type(self).__name__} returned a "
                                f"{type(value).__name__}; accepted: NDArray")
            if reqs[i] == 3:
                target += value
            elif reqs[i]:
                overwrite(target, value)


# The callbacks of all Functions, told apart by their context. They live as long as the process: one
# that frees itself would return into freed memory.
_PLAIN_TYPE = ctypes.CFUNCTYPE(ctypes.c_int)
_BACKWARD_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_int),
                                  ctypes.c_int, ctypes.c_void_p)
_DELETE_TYPE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@kept_for_native
@_BACKWARD_TYPE
def _backward_callback(num_ograds, num_igrads, pointers, reqs, is_train, key):
    try:
        function = Function._live[key]
        make = function._class
        ograds = [make(NDArrayHandle(pointers[i]), writable=False) for i in range(num_ograds)]
        igrads = [make(NDArrayHandle(pointers[i])) for i in range(num_ograds, num_ograds + num_igrads)]
        with _Scope(False, bool(is_train)):
            function._run_backward(ograds, igrads, reqs)
        return 1
    except BaseException as error:   # the library raises for the caller; what happened is shown here
        if isinstance(error, KeyboardInterrupt):
            _interrupted_callbacks[threading.get_ident()] = error
        Function._error = _tracebacks.text(error)
        _LIB.NNAPISetLastError(Function._error.encode("utf-8", "backslashreplace"))
        return 0


@kept_for_native
@_DELETE_TYPE
def _delete_callback(key, live=Function._live):   # a default outlives the module's names when the interpreter ends
    live.pop(key, None)
    return 1


_TABLE = (_PLAIN_TYPE * 2)(ctypes.cast(_backward_callback, _PLAIN_TYPE), ctypes.cast(_delete_callback, _PLAIN_TYPE))
