#include "numpy_call.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {
namespace python {
namespace {

PyObject* symbol_call = nullptr;          // Python function (name, inputs, parameters) that makes a symbol
thread_local bool makes_symbols = false;  // functions without inputs make symbols, too

/* Names that a program's text holds are one object each time, which is found without looking at
 * the letters. */
const Op* OpOf(PyObject* name) {
  static auto* seen = new std::unordered_map<PyObject*, const Op*>;
  const auto it = seen->find(name);
  if (it != seen->end()) return it->second;
  const char* text = PyUnicode_AsUTF8(name);
  if (!text) throw PythonError();
  const Op* op = Op::Get(text);
  if (PyUnicode_CHECK_INTERNED(name)) seen->emplace(Py_NewRef(name), op);
  return op;
}

PyObject* MakeSymbol(PyObject* name, PyObject* inputs, const std::vector<PyObject*>& names, const std::vector<PyObject*>& values) {
  PyObject* params = PyDict_New();
  if (!params) return nullptr;
  PyObject* result = nullptr;
  bool fine = true;
  for (size_t i = 0; fine && i < names.size(); ++i) fine = PyDict_SetItem(params, names[i], values[i]) == 0;
  if (fine && symbol_call) result = PyObject_CallFunctionObjArgs(symbol_call, name, inputs, params, nullptr);
  Py_DECREF(params);
  return result;
}

/* numpy_call(name, inputs, out=None, **parameters) */
PyObject* NumpyCall(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* keywords) {
  if (nargs < 2 || nargs > 3 || !PyUnicode_Check(args[0]) || !(PyTuple_Check(args[1]) || PyList_Check(args[1]))) {
    PyErr_SetString(PyExc_TypeError, "numpy_call(name, inputs, out=None, **parameters)");
    return nullptr;
  }
  try {
    PyObject* out = nargs == 3 ? args[2] : nullptr;
    std::vector<PyObject*> names, values;
    const Py_ssize_t given = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    names.reserve(static_cast<size_t>(given));
    values.reserve(static_cast<size_t>(given));
    for (Py_ssize_t i = 0; i < given; ++i) {
      PyObject *name = PyTuple_GET_ITEM(keywords, i), *value = args[nargs + i];
      if (!out && PyUnicode_CompareWithASCIIString(name, "out") == 0) {
        out = value;
      } else if (value != Py_None) {
        names.push_back(name);
        values.push_back(value);
      }
    }
    PyObject** inputs = PySequence_Fast_ITEMS(args[1]);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(args[1]);
    if (makes_symbols || (n > 0 && !IsArray(inputs[0]))) return MakeSymbol(args[0], args[1], names, values);
    const Op* op = OpOf(args[0]);
    RefuseClassic(op, inputs, n);
    const AttrsPtr attrs = ParseAttrs(op, names.data(), values.data(), static_cast<Py_ssize_t>(names.size()), static_cast<int>(n));
    return Invoke(attrs, inputs, n, out, numpy_type);
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* OfOneDtype(PyObject*, PyObject* values) {
  if (!PyTuple_Check(values) && !PyList_Check(values)) Py_RETURN_FALSE;
  PyObject** items = PySequence_Fast_ITEMS(values);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(values); ++i) {
    if (!IsArray(items[i]) || !Get(items[i]) || Get(items[i])->dtype() != Get(items[0])->dtype()) Py_RETURN_FALSE;
    if (!Noted(kReadsDType, items[i])) return nullptr;
  }
  Py_RETURN_TRUE;
}

PyObject* SetSymbols(PyObject*, PyObject* on) {
  const bool before = makes_symbols;
  makes_symbols = PyObject_IsTrue(on) == 1;
  return PyBool_FromLong(before);
}

PyObject* SetSymbolCall(PyObject*, PyObject* function) {
  Py_INCREF(function);
  Py_XDECREF(symbol_call);
  symbol_call = function;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"numpy_call", FastCall(NumpyCall), METH_FASTCALL | METH_KEYWORDS,
     "numpy_call(name, inputs, out=None, **parameters)\n\nRuns the operator `name` on a tuple or list of mx.np arrays, or makes a symbol "
     "of it; parameters that are None are left out."},
    {"of_one_dtype", OfOneDtype, METH_O, "Whether the members of a tuple or list are arrays, and their dtypes equal."},
    {"set_symbols", SetSymbols, METH_O, "Whether functions of mx.np without inputs make symbols, on this thread. Returns what it was."},
    {"_set_symbol_call", SetSymbolCall, METH_O, "Sets the function (name, inputs, parameters) that makes a symbol."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool MakesSymbols() { return makes_symbols; }

void AddNumpyCall(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
