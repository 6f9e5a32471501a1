// Python's operators on arrays as type slots: which record each runs, and the parsed attributes of
// those with a number on one side.
#include <Python.h>

#include <cstring>
#include <string>
#include <unordered_map>

#include "binding.h"
#include "remembered.h"

namespace mxnet {
namespace python {
namespace {

/* The records behind one Python operator. `reverse` is for scalar OP array. */
struct Arith {
  const Op *array, *scalar, *reverse;
};
enum ArithId { kAdd, kSub, kMul, kDiv, kMod, kPow, kEq, kNe, kLt, kLe, kGt, kGe, kNumArith };
const char* const methods[kNumArith] = {"add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"};
Arith ariths[kNumArith];  // set once, before the first array

/* Parsed attributes of a scalar operator, by value. `is_int` stays at its default: as in 1.9.1 (and
 * in Symbol), integer arrays stay integers, with the number cut to their dtype. */
AttrsPtr ScalarAttrs(const Op* op, double value) {
  int64_t key;
  std::memcpy(&key, &value, sizeof(key));
  return Remembered(op, &key, 1, [value] { return AttrDict{{"scalar", NumberText(value)}}; });
}

AttrsPtr PlainAttrs(const Op* op) {
  static thread_local std::unordered_map<const Op*, AttrsPtr> cache;
  AttrsPtr& slot = cache[op];
  if (!slot) slot = MakeAttrs(op, {});
  return slot;
}

/* A Python or NumPy number. Arrays of other libraries are not numbers here. */
bool AsScalar(PyObject* o, double* value) {
  if (PyFloat_Check(o)) {
    *value = PyFloat_AS_DOUBLE(o);
    return true;
  }
  if (PyLong_Check(o)) {
    *value = PyLong_AsDouble(o);
    if (*value == -1.0 && PyErr_Occurred()) throw PythonError();
    return true;
  }
  PyNumberMethods* nb = Py_TYPE(o)->tp_as_number;
  if (!nb || IsArray(o) || PyObject_HasAttrString(o, "__len__")) return false;
  if (nb->nb_index) {
    PyObject* i = PyNumber_Index(o);
    if (i) {
      *value = PyLong_AsDouble(i);
      Py_DECREF(i);
      return !(*value == -1.0 && PyErr_Occurred());
    }
    PyErr_Clear();
  }
  if (!nb->nb_float) return false;
  PyObject* f = PyNumber_Float(o);
  if (!f) {
    PyErr_Clear();
    return false;
  }
  *value = PyFloat_AS_DOUBLE(f);
  Py_DECREF(f);
  return true;
}

PyObject* Binary(ArithId id, PyObject* a, PyObject* b, PyObject* out) {
  try {
    const Arith& x = ariths[id];
    if (IsArray(a) && IsArray(b)) {
      PyObject* inputs[2] = {a, b};
      return Invoke(PlainAttrs(x.array), inputs, 2, out);
    }
    double value;
    if (IsArray(a) && AsScalar(b, &value)) return Invoke(ScalarAttrs(x.scalar, value), &a, 1, out);
    if (IsArray(b) && AsScalar(a, &value)) return Invoke(ScalarAttrs(x.reverse, value), &b, 1, out);
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

#define MXNET_BINARY(fn, id)                                                   \
  PyObject* fn(PyObject* a, PyObject* b) { return Binary(id, a, b, nullptr); } \
  PyObject* fn##InPlace(PyObject* a, PyObject* b) { return Binary(id, a, b, a); }
MXNET_BINARY(NbSub, kSub)
MXNET_BINARY(NbMul, kMul)
MXNET_BINARY(NbDiv, kDiv)
MXNET_BINARY(NbMod, kMod)
PyObject* NbAdd(PyObject* a, PyObject* b) { return Binary(kAdd, a, b, nullptr); }
/* A Python subclass inherits this slot as its sq_inplace_concat too (both are called __iadd__), and
 * CPython takes that one's NotImplemented for a result. So what `+=` cannot do goes the way of `+`,
 * which asks the other operand and raises. */
PyObject* NbAddInPlace(PyObject* a, PyObject* b) {
  PyObject* r = Binary(kAdd, a, b, a);
  if (r != Py_NotImplemented) return r;
  Py_DECREF(r);
  return PyNumber_Add(a, b);
}
PyObject* NbPow(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return Binary(kPow, a, b, nullptr);
}
PyObject* NbPowInPlace(PyObject* a, PyObject* b, PyObject*) { return Binary(kPow, a, b, a); }
PyObject* NbNegative(PyObject* a) {
  try {
    static const Op* op = Op::Get("negative");
    return Invoke(PlainAttrs(op), &a, 1, nullptr);
  } catch (...) {
    SetError();
    return nullptr;
  }
}
PyObject* NbAbsolute(PyObject* a) {
  try {
    static const Op* op = Op::Get("abs");
    return Invoke(PlainAttrs(op), &a, 1, nullptr);
  } catch (...) {
    SetError();
    return nullptr;
  }
}
PyObject* RichCompare(PyObject* a, PyObject* b, int op) {
  switch (op) {
    case Py_EQ: return Binary(kEq, a, b, nullptr);
    case Py_NE: return Binary(kNe, a, b, nullptr);
    case Py_LT: return Binary(kLt, a, b, nullptr);
    case Py_LE: return Binary(kLe, a, b, nullptr);
    case Py_GT: return Binary(kGt, a, b, nullptr);
    default: return Binary(kGe, a, b, nullptr);
  }
}

const PyType_Slot slots[] = {{Py_tp_richcompare, reinterpret_cast<void*>(RichCompare)},
                             {Py_nb_add, reinterpret_cast<void*>(NbAdd)},
                             {Py_nb_subtract, reinterpret_cast<void*>(NbSub)},
                             {Py_nb_multiply, reinterpret_cast<void*>(NbMul)},
                             {Py_nb_true_divide, reinterpret_cast<void*>(NbDiv)},
                             {Py_nb_remainder, reinterpret_cast<void*>(NbMod)},
                             {Py_nb_power, reinterpret_cast<void*>(NbPow)},
                             {Py_nb_inplace_add, reinterpret_cast<void*>(NbAddInPlace)},
                             {Py_nb_inplace_subtract, reinterpret_cast<void*>(NbSubInPlace)},
                             {Py_nb_inplace_multiply, reinterpret_cast<void*>(NbMulInPlace)},
                             {Py_nb_inplace_true_divide, reinterpret_cast<void*>(NbDivInPlace)},
                             {Py_nb_inplace_remainder, reinterpret_cast<void*>(NbModInPlace)},
                             {Py_nb_inplace_power, reinterpret_cast<void*>(NbPowInPlace)},
                             {Py_nb_negative, reinterpret_cast<void*>(NbNegative)},
                             {Py_nb_absolute, reinterpret_cast<void*>(NbAbsolute)},
                             {0, nullptr}};

}  // namespace

const PyType_Slot* ArithmeticSlots() { return slots; }

void SetArithmetic(PyObject* rows) {
  int found = 0;
  const Py_ssize_t n = PySequence_Size(rows);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* row = PySequence_GetItem(rows, i);
    const char *method, *array, *scalar, *reverse;
    const bool parsed = row && PyArg_ParseTuple(row, "ssss", &method, &array, &scalar, &reverse);
    if (!parsed) {
      Py_XDECREF(row);
      throw PythonError();
    }
    for (int id = 0; id < kNumArith; ++id) {
      if (std::strcmp(methods[id], method) != 0) continue;
      ariths[id] = {Op::Get(array), Op::Get(scalar), Op::Get(reverse)};
      ++found;
    }
    Py_DECREF(row);
  }
  if (n < 0) throw PythonError();
  if (found != kNumArith) throw Error(Error::Kind::kValue, "[binding] got no record for some of Python's operators");
}

}  // namespace python
}  // namespace mxnet
