// Calls of key-value stores with plain arguments: int or str keys, arrays, lists of them. Whatever
// else there is goes through ctypes (mxnet/kvstore/kvstore.py), which also names what is wrong.
#include <climits>
#include <string>
#include <vector>

#include "binding.h"
#include "mxnet/c_api_kvstore.h"

namespace mxnet {
namespace python {
namespace {

/* Keys and arrays side by side, as the C functions take them. They are kept alive. */
class StoreArguments {
 public:
  /* False where an argument is not plain. */
  bool Add(PyObject* key, PyObject* value) {
    if (!PyTuple_CheckExact(key) && !PyList_CheckExact(key)) return AddOne(key, value);
    if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) return false;
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(key);
    if (PySequence_Fast_GET_SIZE(value) != n) return false;
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!AddOne(PySequence_Fast_GET_ITEM(key, i), PySequence_Fast_GET_ITEM(value, i))) return false;
    return true;
  }
  bool named() const { return !names_.empty(); }
  uint32_t size() const { return static_cast<uint32_t>(arrays_.size()); }
  const int* numbers() const { return numbers_.data(); }
  const char** names() { return names_.data(); }
  NDArrayHandle* arrays() { return arrays_.data(); }

 private:
  bool AddOne(PyObject* key, PyObject* value) {
    if (!PyTuple_CheckExact(value) && !PyList_CheckExact(value)) return AddArray(key, value);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i)
      if (!AddArray(key, PySequence_Fast_GET_ITEM(value, i))) return false;
    return true;
  }

  bool AddArray(PyObject* key, PyObject* array) {
    if (!PyObject_TypeCheck(array, array_type) || !Peek(array)) return false;
    if (PyLong_CheckExact(key)) {
      int overflow = 0;
      const long number = PyLong_AsLongAndOverflow(key, &overflow);  // NOLINT: the type of Python's function
      if (overflow || number < INT_MIN || number > INT_MAX || !names_.empty()) return false;
      numbers_.push_back(static_cast<int>(number));
    } else {
      Py_ssize_t length = 0;
      const char* name = PyUnicode_CheckExact(key) ? PyUnicode_AsUTF8AndSize(key, &length) : nullptr;
      if (!name) PyErr_Clear();
      if (!name || !numbers_.empty()) return false;
      kept_.Add(key);
      names_.push_back(name);
    }
    kept_.Add(array);
    arrays_.push_back(Get(array));
    return true;
  }

  Kept kept_;
  std::vector<int> numbers_;
  std::vector<const char*> names_;
  std::vector<NDArrayHandle> arrays_;
};

/* What is common to calls: runs `call` without the interpreter lock, whose result, 0 or -1, is the
 * C function's. Else None. */
template <typename Fn>
PyObject* CallStore(bool plain, PyObject* priority, Fn call) {
  if (!plain || !PyLong_CheckExact(priority)) Py_RETURN_NONE;
  int overflow = 0;
  const long level = PyLong_AsLongAndOverflow(priority, &overflow);  // NOLINT: the type of Python's function
  if (overflow || level < INT_MIN || level > INT_MAX) Py_RETURN_NONE;
  int result;
  {
    GilRelease unlocked(true, true);
    result = call(static_cast<int>(level));
  }
  return PyLong_FromLong(result);
}

PyObject* StorePush(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "store_push(handle, key, value, priority)");
  try {
    StoreArguments in;
    const bool plain = in.Add(args[1], args[2]);
    void* store = PyLong_AsVoidPtr(args[0]);
    return CallStore(plain && store, args[3], [&](int priority) {
      return in.named() ? MXKVStorePushEx(store, in.size(), in.names(), in.arrays(), priority)
                        : MXKVStorePush(store, in.size(), in.numbers(), in.arrays(), priority);
    });
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* StorePull(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4) return PyErr_Format(PyExc_TypeError, "store_pull(handle, key, out, priority)");
  try {
    StoreArguments out;
    const bool plain = out.Add(args[1], args[2]);
    void* store = PyLong_AsVoidPtr(args[0]);
    return CallStore(plain && store, args[3], [&](int priority) {
      return out.named() ? MXKVStorePullEx(store, out.size(), out.names(), out.arrays(), priority)
                         : MXKVStorePull(store, out.size(), out.numbers(), out.arrays(), priority);
    });
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* StorePushPull(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 5) return PyErr_Format(PyExc_TypeError, "store_pushpull(handle, key, value, out, priority)");
  try {
    StoreArguments in, out;
    const bool plain = in.Add(args[1], args[2]) && out.Add(args[1], args[3]) && in.named() == out.named();
    void* store = PyLong_AsVoidPtr(args[0]);
    return CallStore(plain && store, args[4], [&](int priority) {
      return in.named() ? MXKVStorePushPullEx(store, in.size(), in.names(), out.size(), out.names(), in.arrays(), out.arrays(), priority)
                        : MXKVStorePushPull(store, in.size(), in.numbers(), out.size(), out.numbers(), in.arrays(), out.arrays(), priority);
    });
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyMethodDef functions[] = {
    {"store_push", FastCall(StorePush), METH_FASTCALL,
     "store_push(handle, key, value, priority): the C function's result, or None where arguments are not plain."},
    {"store_pull", FastCall(StorePull), METH_FASTCALL, "store_pull(handle, key, out, priority): likewise."},
    {"store_pushpull", FastCall(StorePushPull), METH_FASTCALL, "store_pushpull(handle, key, value, out, priority): likewise."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddStoreCalls(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
