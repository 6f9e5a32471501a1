// Python functions as what C calls back.
#include <Python.h>

#include "binding.h"
#include "mxnet/interruptible.h"

namespace mxnet {
namespace python {
namespace {

/* The exception that is set, with its traceback. A new reference. */
PyObject* TakeException() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
}

bool interrupted = false;  // some callback has raised KeyboardInterrupt; guarded by the interpreter lock

/* `pair`: a function, and another one that is told of what it raises. 1, or what that one returns.
 * Ctrl-C that has arrived before the function began, or that it has held up (it returns True then),
 * arrives again behind it. */
PyObject* CallGuarded(PyObject* pair, PyObject* const* args, Py_ssize_t nargs) {
  bool again = PyErr_CheckSignals() != 0 && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  if (again) PyErr_Clear();
  PyObject* done = PyErr_Occurred() ? nullptr : PyObject_Vectorcall(PyTuple_GET_ITEM(pair, 0), args, static_cast<size_t>(nargs), nullptr);
  again = again || done == Py_True;
  if (again) PyErr_SetInterrupt();
  if (done) {
    Py_DECREF(done);
    return PyLong_FromLong(1);
  }
  interrupted = interrupted || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
  for (;;) {
    PyObject* error = TakeException();
    PyObject* told = PyObject_CallFunctionObjArgs(PyTuple_GET_ITEM(pair, 1), error, nullptr);
    Py_DECREF(error);
    // Ctrl-C may have arrived where that function began.
    if (told || !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return told;
  }
}

PyMethodDef guarded = {"guarded", FastCall(CallGuarded), METH_FASTCALL, nullptr};

/*
 * guarded(function, failed): a function that C may call back. It returns 1 where `function`
 * returns, and else what failed(error) returns. What a signal's handler raises where `function`
 * begins would reach no `try` of Python's; here it reaches `failed`.
 */
PyObject* Guarded(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyCallable_Check(args[0]) || !PyCallable_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "guarded(function, failed)");
    return nullptr;
  }
  PyObject* pair = PyTuple_Pack(2, args[0], args[1]);
  PyObject* made = pair ? PyCFunction_New(&guarded, pair) : nullptr;
  Py_XDECREF(pair);
  if (made) RunCallbacksInWaits();
  return made;
}

PyMethodDef functions[] = {{"guarded", FastCall(Guarded), METH_FASTCALL, "guarded(function, failed): for C to call back."},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool SetInterrupt() {
  if (!interrupted) return false;
  PyObject* base = PyImport_ImportModule("mxnet.base");
  PyObject* known = base ? PyObject_GetAttrString(base, "_interrupted_callbacks") : nullptr;
  PyObject* thread = known ? PyLong_FromUnsignedLong(PyThread_get_thread_ident()) : nullptr;
  PyObject* found = thread ? PyDict_GetItemWithError(known, thread) : nullptr;
  if (found) {
    Py_INCREF(found);
    PyDict_DelItem(known, thread);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(found)), found);
    Py_DECREF(found);
  } else {
    PyErr_Clear();
  }
  if (known) interrupted = PyDict_Size(known) > 0;
  Py_XDECREF(thread);
  Py_XDECREF(known);
  Py_XDECREF(base);
  return PyErr_Occurred() != nullptr;
}

void AddCallbackGuard(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
