// Arrays out of nothing.
#include <Python.h>

#include <cstring>
#include <vector>

#include "binding.h"
#include "mxnet/engine.h"
#include "mxnet/profiler.h"
#include "remembered.h"

namespace mxnet {
namespace python {
namespace {

/* shape tuple, device type, device id, dtype number. Throws PythonError. */
NDArray* Make(PyObject* const* args, bool delayed) {
  Shape shape(static_cast<int>(PyTuple_GET_SIZE(args[0])), 0);
  for (int i = 0; i < shape.ndim(); ++i) shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(args[0], i));
  const int type = static_cast<int>(PyLong_AsLong(args[1])), id = static_cast<int>(PyLong_AsLong(args[2])),
            dtype = static_cast<int>(PyLong_AsLong(args[3]));
  if (PyErr_Occurred()) throw PythonError();
  return new NDArray(shape, Context::Make(type, id), dtype, delayed);
}

constexpr size_t kSmall = 4096;  // bytes

PyTypeObject* ClassFor(PyObject* numpy) { return numpy && numpy_type && PyObject_IsTrue(numpy) == 1 ? numpy_type : array_type; }

}  // namespace

PyObject* NewBlank(const Shape& shape, Context ctx, int dtype, PyTypeObject* type) {
  PyObject* o = NewResult(type);
  if (!o) throw PythonError();
  try {
    Get(o)->Init(shape, ctx, dtype);
  } catch (...) {
    Py_DECREF(o);
    throw;
  }
  return o;
}

PyObject* NewOf(const Shape& shape, Context ctx, int dtype, PyTypeObject* type, const void* from, size_t bytes) {
  const bool fits = static_cast<size_t>(shape.Size()) * DTypeSize(dtype) == bytes && bytes > 0 && bytes <= kSmall;
  if (fits && ctx.dev_type == DeviceType::kCPU && !Imperative::State().deferred_compute && profiler::Active() == 0) {
    PyObject* o = NewBlank(shape, ctx, dtype, type);
    std::memcpy(Get(o)->data().dptr<void>(), from, bytes);  // nobody else knows it
    return o;
  }
  NDArray* array = new NDArray(shape, ctx, dtype);
  PyObject* made = Wrap(array, type);
  if (!made) throw PythonError();
  try {
    if (!Noted(kWritesInPlace, made)) throw PythonError();
    GilRelease unlocked(true);
    array->CopyBytesFrom(from, bytes);
  } catch (...) {
    Py_DECREF(made);
    throw;
  }
  return made;
}

bool ReadNow(const NDArray& a, void* to, size_t bytes) {
  if (bytes > kSmall || bytes == 0 || a.ctx().is_gpu() || a.is_sparse()) return false;
  Engine* engine = Engine::Get();
  Var* const var = a.var();
  const void* from = MemoryOf(a);
  if (!engine->TryAcquire(&var, 1, nullptr, 0)) return false;
  std::memcpy(to, from, bytes);
  engine->Release(&var, 1, nullptr, 0);
  return true;
}

PyObject* NewArray(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  try {
    if (nargs < 5 || nargs > 6 || !PyTuple_Check(args[0])) {
      PyErr_SetString(PyExc_TypeError, "new_array(shape tuple, device type, device id, dtype number, delayed, numpy=False)");
      return nullptr;
    }
    PyTypeObject* type = ClassFor(nargs > 5 ? args[5] : nullptr);
    return Wrap(Make(args, PyObject_IsTrue(args[4]) == 1), type);
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* ArrayOf(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 5) {
    PyErr_SetString(PyExc_TypeError, "array_of(values, device type, device id, dtype number, numpy)");
    return nullptr;
  }
  const HeldBuffer given(args[0], PyBUF_C_CONTIGUOUS);
  if (!given.held) return nullptr;
  const Py_buffer& buffer = given.view;
  try {
    const int type = static_cast<int>(PyLong_AsLong(args[1])), id = static_cast<int>(PyLong_AsLong(args[2])),
              dtype = static_cast<int>(PyLong_AsLong(args[3]));
    if (PyErr_Occurred()) throw PythonError();
    const Shape shape(std::vector<int64_t>(buffer.shape, buffer.shape + buffer.ndim));
    return NewOf(shape, Context::Make(type, id), dtype, ClassFor(args[4]), buffer.buf, static_cast<size_t>(buffer.len));
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* Filled(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  PyObject* target = nullptr;
  try {
    if (nargs < 6 || nargs > 7 || !PyTuple_Check(args[2])) {
      PyErr_SetString(PyExc_TypeError, "filled(op_handle, value or None, shape tuple, device type, device id, dtype number, numpy=False)");
      return nullptr;
    }
    const Op* op = static_cast<const Op*>(PyLong_AsVoidPtr(args[0]));
    const bool valued = args[1] != Py_None;
    const double value = valued ? PyFloat_AsDouble(args[1]) : 0;
    if (!op || PyErr_Occurred()) throw PythonError();
    PyTypeObject* type = ClassFor(nargs > 6 ? args[6] : nullptr);
    target = Wrap(Make(args + 2, true), type);
    if (!target) return nullptr;
    const NDArray* a = Get(target);
    const AttrsPtr attrs =
        FilledAttrs(op, a->shape().dims(), static_cast<size_t>(a->shape().ndim()), a->dtype(), valued ? &value : nullptr);
    PyObject* done = Invoke(attrs, nullptr, 0, target);
    Py_DECREF(target);
    return done;
  } catch (...) {
    Py_XDECREF(target);
    SetError();
    return nullptr;
  }
}

}  // namespace python
}  // namespace mxnet
