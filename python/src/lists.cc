// Nested lists of Python's numbers into arrays, and back. NumPy takes longer than the rest of such
// a call on small arrays.
#include <Python.h>

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "binding.h"

namespace mxnet {
namespace python {
namespace {

constexpr int kMostDims = 32;

// ---- lists into an array

bool IsSequence(PyObject* o) { return PyList_CheckExact(o) || PyTuple_CheckExact(o); }

// A number of exactly Python's types; false for what NumPy has to judge.
bool Read(PyObject* o, float* to) {
  constexpr double kExact = 9007199254740992.0;  // larger whole numbers would be rounded twice
  double v;
  if (PyFloat_CheckExact(o)) {
    v = PyFloat_AS_DOUBLE(o);
  } else if (PyLong_CheckExact(o) || PyBool_Check(o)) {
    v = PyLong_AsDouble(o);
    if (!(std::fabs(v) <= kExact) || (v == -1 && PyErr_Occurred())) return PyErr_Clear(), false;
  } else {
    return false;
  }
  *to = static_cast<float>(v);
  return std::isinf(v) || !std::isinf(*to);
}

bool Read(PyObject* o, double* to) {
  if (PyFloat_CheckExact(o)) {
    *to = PyFloat_AS_DOUBLE(o);
    return true;
  }
  if (!PyLong_CheckExact(o) && !PyBool_Check(o)) return false;
  *to = PyLong_AsDouble(o);
  if (*to == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
  return true;
}

template <typename T>
bool Read(PyObject* o, T* to) {
  static_assert(std::is_integral<T>::value);
  if (!PyLong_CheckExact(o) && !PyBool_Check(o)) return false;
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  *to = static_cast<T>(v);
  return overflow == 0 && *to == v;
}

/* Nested lists of equal lengths, none of them empty. Nothing here runs Python code, so that they
 * stay as they are. */
template <typename T>
struct Reader {
  bool Measure(PyObject* o) {
    for (; IsSequence(o); o = PySequence_Fast_ITEMS(o)[0]) {
      if (num_dims == kMostDims || PySequence_Fast_GET_SIZE(o) == 0) return false;
      dims[num_dims++] = PySequence_Fast_GET_SIZE(o);
    }
    return num_dims > 0;
  }
  bool Fill(PyObject* o, int dim) {
    if (!IsSequence(o) || PySequence_Fast_GET_SIZE(o) != dims[dim]) return false;
    PyObject** const items = PySequence_Fast_ITEMS(o);
    for (int64_t i = 0; i < dims[dim]; ++i) {
      if (dim + 1 < num_dims) {
        if (!Fill(items[i], dim + 1)) return false;
        continue;
      }
      T value;
      if (!Read(items[i], &value)) return false;
      values.push_back(value);
    }
    return true;
  }
  int64_t dims[kMostDims];
  int num_dims = 0;
  std::vector<T> values;
};

template <typename T>
PyObject* Made(PyObject* source, Context ctx, int dtype, PyTypeObject* type) {
  Reader<T> reader;
  if (!reader.Measure(source) || !reader.Fill(source, 0)) Py_RETURN_NONE;
  return NewOf(Shape(reader.dims, reader.num_dims), ctx, dtype, type, reader.values.data(), reader.values.size() * sizeof(T));
}

template <typename T>
PyObject* MadeOfNumber(PyObject* source, Context ctx, int dtype, PyTypeObject* type) {
  T value;
  if (!Read(source, &value)) Py_RETURN_NONE;
  return NewOf(Shape(nullptr, 0), ctx, dtype, type, &value, sizeof(value));
}

// ---- an array into lists

PyObject* Number(float v) { return PyFloat_FromDouble(v); }
PyObject* Number(double v) { return PyFloat_FromDouble(v); }
struct Truth {
  uint8_t v;
};
PyObject* Number(Truth truth) { return PyBool_FromLong(truth.v != 0); }
template <typename T>
PyObject* Number(T v) {
  return PyLong_FromLongLong(v);
}

// The lists of dimension `dim` and those below; `at` moves over the values.
template <typename T>
PyObject* Listed(const Shape& shape, int dim, const T** at) {
  if (dim == shape.ndim()) return Number(*(*at)++);
  PyObject* list = PyList_New(shape[dim]);
  for (int64_t i = 0; list && i < shape[dim]; ++i) {
    PyObject* part = Listed(shape, dim + 1, at);
    if (part)
      PyList_SET_ITEM(list, i, part);
    else
      Py_CLEAR(list);
  }
  return list;
}

template <typename T>
PyObject* Lists(NDArray* a) {
  const size_t n = static_cast<size_t>(a->shape().Size());
  constexpr size_t kFew = 64;
  alignas(8) char few[kFew * sizeof(T)];
  std::vector<char> many(n > kFew ? n * sizeof(T) : 0);
  char* const bytes = n > kFew ? many.data() : few;
  if (!ReadNow(*a, bytes, n * sizeof(T))) {
    WaitForSignalsToo([a] { a->WaitToRead(); });
    GilRelease unlocked(true);
    a->CopyBytesTo(bytes, n * sizeof(T));
  }
  const T* at = reinterpret_cast<const T*>(bytes);
  return Listed(a->shape(), 0, &at);
}

}  // namespace

PyObject* ArrayOfLists(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 5) {
    PyErr_SetString(PyExc_TypeError, "array_of_lists(values, device type, device id, dtype number, numpy)");
    return nullptr;
  }
  try {
    const int type = static_cast<int>(PyLong_AsLong(args[1])), id = static_cast<int>(PyLong_AsLong(args[2])),
              dtype = static_cast<int>(PyLong_AsLong(args[3]));
    if (PyErr_Occurred()) throw PythonError();
    const Context ctx = Context::Make(type, id);
    PyTypeObject* const cls = numpy_type && PyObject_IsTrue(args[4]) == 1 ? numpy_type : array_type;
    return ArrayOfSequence(args[0], ctx, dtype, cls);
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* ArrayOfSequence(PyObject* source, Context ctx, int dtype, PyTypeObject* type) {
  switch (dtype) {
    case kFloat32: return Made<float>(source, ctx, dtype, type);
    case kFloat64: return Made<double>(source, ctx, dtype, type);
    case kInt32: return Made<int32_t>(source, ctx, dtype, type);
    case kInt64: return Made<int64_t>(source, ctx, dtype, type);
    default: Py_RETURN_NONE;
  }
}

PyObject* ArrayOfNumber(PyObject* source, Context ctx, int dtype, PyTypeObject* type) {
  if (dtype == kFloat32) return MadeOfNumber<float>(source, ctx, dtype, type);
  if (dtype == kFloat64) return MadeOfNumber<double>(source, ctx, dtype, type);
  Py_RETURN_NONE;
}

PyObject* ListsOf(NDArray* a) {
  switch (a->dtype()) {
    case kFloat32: return Lists<float>(a);
    case kFloat64: return Lists<double>(a);
    case kInt32: return Lists<int32_t>(a);
    case kInt64: return Lists<int64_t>(a);
    case kUint8: return Lists<uint8_t>(a);
    case kInt8: return Lists<int8_t>(a);
    case kBool: return Lists<Truth>(a);
    default: Py_RETURN_NONE;
  }
}

}  // namespace python
}  // namespace mxnet
