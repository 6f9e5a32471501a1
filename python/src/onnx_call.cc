// Calls of ONNX models with arrays. Whatever else there is (lists, strings, sequences) goes through
// ctypes (mxnet/onnx/_model.py).
#include "onnx_call.h"

#include <memory>
#include <vector>

#include "binding.h"
#include "mxnet/c_api_onnx.h"

namespace mxnet {
namespace python {
namespace {

struct FreeValue {
  void operator()(void* value) const { MXOnnxValueFree(value); }
};
using OnnxValue = std::unique_ptr<void, FreeValue>;

void Check(int status) {
  if (status == 0) return;
  PyErr_SetString(PyExc_RuntimeError, MXGetLastError());
  throw PythonError();
}

/* A tensor as an array, anything else as the value's address, which the caller frees then. */
PyObject* ResultOf(OnnxValue value, PyTypeObject* type) {
  int kind = kMXOnnxNone;
  Check(MXOnnxValueGetKind(value.get(), &kind));
  if (kind != kMXOnnxTensor) return PointerObject(value.release());
  NDArrayHandle array = nullptr;
  Check(MXOnnxValueGetTensor(value.get(), &array));
  return Wrap(static_cast<NDArray*>(array), type);
}

/* onnx_run(handle, names, values): the C function's status, a list of results, or None where a
 * value is no array. */
PyObject* OnnxRun(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 3 || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]) || PyTuple_GET_SIZE(args[1]) != PyTuple_GET_SIZE(args[2]))
    return PyErr_Format(PyExc_TypeError, "onnx_run(handle, names, values): two tuples of one length");
  try {
    const Py_ssize_t n = PyTuple_GET_SIZE(args[1]);
    void* model = PyLong_AsVoidPtr(args[0]);
    if (!model && PyErr_Occurred()) throw PythonError();
    PyTypeObject* type = array_type;
    std::vector<const char*> names;
    std::vector<OnnxValue> values;
    std::vector<OnnxValueHandle> handles;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject *name = PyTuple_GET_ITEM(args[1], i), *value = PyTuple_GET_ITEM(args[2], i);
      if (!PyUnicode_CheckExact(name) || !PyObject_TypeCheck(value, array_type) || !Peek(value)) Py_RETURN_NONE;
      names.push_back(PyUnicode_AsUTF8(name));
      if (!names.back()) throw PythonError();
      if (IsNumpy(value)) type = numpy_type;
      OnnxValueHandle handle = nullptr;
      if (const int status = MXOnnxValueCreateTensor(Get(value), &handle)) return PyLong_FromLong(status);
      values.emplace_back(handle);
      handles.push_back(handle);
    }
    if (n == 0) Py_RETURN_NONE;
    int count = 0, status = 0;
    OnnxValueHandle* out = nullptr;
    {
      GilRelease unlocked(true, true);
      status = MXOnnxModelRun(model, static_cast<int>(n), names.data(), handles.data(), &count, &out);
    }
    if (status != 0) return PyLong_FromLong(status);
    std::vector<OnnxValue> results;  // the list that `out` points to is the thread's, for its next call
    for (int i = 0; i < count; ++i) results.emplace_back(out[i]);
    PyObject* list = PyList_New(count);
    if (!list) throw PythonError();
    for (int i = 0; i < count; ++i) {
      PyObject* result = ResultOf(std::move(results[static_cast<size_t>(i)]), type);
      if (!result) {
        Py_DECREF(list);
        throw PythonError();
      }
      PyList_SET_ITEM(list, i, result);
    }
    return list;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyMethodDef functions[] = {
    {"onnx_run", FastCall(OnnxRun), METH_FASTCALL,
     "onnx_run(handle, names, values): a list of results; the C function's status where it failed; None where a value is no array."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddOnnxCall(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
