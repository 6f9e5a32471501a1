// Python's operators on arrays as type slots: which record each runs, and the parsed attributes of
// those with a number on one side.
#include <Python.h>

#include <cstring>
#include <string>
#include <unordered_map>

#include "binding.h"
#include "mxnet/c_api_op.h"
#include "mxnet/op.h"
#include "remembered.h"

namespace mxnet {
namespace python {
namespace {

enum ArithId {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kNumClassic,
  kFloorDiv = kNumClassic,
  kMatMul,
  kAnd,
  kOr,
  kXor,
  kLShift,
  kRShift,
  kNumArith
};
const char* const methods[kNumArith] = {"add", "sub", "mul",      "truediv", "mod", "pow", "eq",  "ne",     "lt",    "le",
                                        "gt",  "ge",  "floordiv", "matmul",  "and", "or",  "xor", "lshift", "rshift"};
BinaryRecords ariths[kNumArrayTypes][kNumArith];  // set once, before the first array of the type

/* What an operand is when it is no array. */
struct Number {
  double value;
  bool whole;
};

/* Parsed attributes of a scalar operator, by value. For classic arrays `is_int` stays at its
 * default: as in 1.9.1 (and in Symbol), integer arrays stay integers, with the number cut to their
 * dtype. Of mx.np a whole number keeps the array's dtype and another one may not. */
const AttrsPtr& ScalarAttrs(const Op* op, const Number& n, bool typed) {
  int64_t key[2] = {0, typed ? 1 + n.whole : 0};
  std::memcpy(&key[0], &n.value, sizeof(n.value));
  return Remembered(op, key, 2, [&] {
    AttrDict dict = {{"scalar", NumberText(n.value)}};
    if (typed) dict["is_int"] = n.whole ? "1" : "0";
    return dict;
  });
}

/* A truth value of NumPy, whose type has no __index__ and another name since NumPy 2. */
bool IsNumpyBool(PyObject* o) {
  const char* name = Py_TYPE(o)->tp_name;
  return std::strncmp(name, "numpy.bool", 10) == 0 && (name[10] == 0 || std::strcmp(name + 10, "_") == 0);
}

bool IsTruth(PyObject* o) { return PyBool_Check(o) || IsNumpyBool(o); }

/* A Python or NumPy number. Arrays of other libraries are not numbers here. */
bool AsScalar(PyObject* o, Number* n) {
  double* value = &n->value;
  n->whole = false;
  if (PyFloat_Check(o)) {
    *value = PyFloat_AS_DOUBLE(o);
    return true;
  }
  if (PyLong_Check(o)) {
    n->whole = true;
    *value = PyLong_AsDouble(o);
    if (*value == -1.0 && PyErr_Occurred()) throw PythonError();
    return true;
  }
  PyNumberMethods* nb = Py_TYPE(o)->tp_as_number;
  if (!nb || IsArray(o) || PyObject_HasAttrString(o, "__len__")) return false;
  if (nb->nb_index) {
    PyObject* i = PyNumber_Index(o);
    if (i) {
      n->whole = true;
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
  n->whole = IsNumpyBool(o);
  Py_DECREF(f);
  return true;
}

/* A list, a tuple or a NumPy array. NumPy scalars are numbers. */
bool IsArrayLike(PyObject* o) {
  return PyList_Check(o) || PyTuple_Check(o) || (!PyType_Check(o) && PyObject_CheckBuffer(o) && PyObject_HasAttrString(o, "__array__"));
}

PyObject* OfArrays(const BinaryRecords& x, PyObject* a, PyObject* b, PyObject* out) {
  PyObject* inputs[2] = {a, b};
  if (x.array) return Invoke(PlainAttrs(x.array), inputs, 2, out);
  Py_RETURN_NOTIMPLEMENTED;
}

/* The record takes arrays of one dtype: mx.np.matmul finds that in which others meet. */
PyObject* Product(const BinaryRecords& x, PyObject* a, PyObject* b) {
  const bool meet = ArrayTypeOf(a) == kNumpy && ArrayTypeOf(b) == kNumpy && Get(a)->dtype() != Get(b)->dtype();
  return meet ? PyObject_CallMethod(a, "_product", "OO", a, b) : OfArrays(x, a, b, nullptr);
}

/* `a` OP `b`, one of which is array-like: with the array that the class of the other one makes of
 * it. */
PyObject* Beside(ArithId id, const BinaryRecords& x, PyObject* a, PyObject* b, PyObject* out) {
  const bool first = IsArray(a);
  PyObject* made =
      PyObject_CallMethod(first ? a : b, "_beside", "OsO", first ? b : a, x.array ? x.array->name.c_str() : "", out ? Py_True : Py_False);
  if (!made || made == Py_NotImplemented) return made;
  PyObject* result = nullptr;
  try {
    PyObject *left = first ? a : made, *right = first ? made : b;
    result = id == kMatMul ? Product(x, left, right) : OfArrays(x, left, right, out);
  } catch (...) {
    Py_DECREF(made);
    throw;
  }
  Py_DECREF(made);
  return result;
}

/* In place: whether the result may have another dtype than `a`. */
bool MayWiden(PyObject* a, PyObject* b) {
  if (!IsArray(b) || ArrayTypeOf(a) != kNumpy || ArrayTypeOf(b) != kNumpy) return false;
  const int dtypes[2] = {Get(a)->dtype(), Get(b)->dtype()};
  int meeting = dtypes[0];
  return dtypes[0] != dtypes[1] && (MXOpPromoteDTypes(2, dtypes, 0, &meeting) != 0 || meeting != dtypes[0]);
}

PyObject* Binary(ArithId id, PyObject* a, PyObject* b, PyObject* out);

/* `a` OP= `b` of integers of mx.np and a float: the class says which number it stands for. */
bool IsFloatInPlace(ArithId id, PyObject* a, PyObject* b) {
  if (!PyFloat_Check(b) || id == kDiv || !IsArray(a) || ArrayTypeOf(a) != kNumpy) return false;
  return !IsFloating(Get(a)->dtype()) && Get(a)->dtype() != kBool;
}
PyObject* FloatInPlace(ArithId id, PyObject* a, PyObject* b) {
  PyObject* whole = PyObject_CallMethod(a, "_whole", "O", b);
  PyObject* result = whole ? Binary(id, a, whole, a) : nullptr;
  Py_XDECREF(whole);
  return result;
}

PyObject* Binary(ArithId id, PyObject* a, PyObject* b, PyObject* out) {
  try {
    const ArrayType type = ArrayTypeOf(IsArray(a) ? a : b);
    const BinaryRecords& x = ariths[type][id];
    if (out && IsFloatInPlace(id, a, b)) return FloatInPlace(id, a, b);
    if (out && MayWiden(a, b)) return PyObject_CallMethod(a, "_in_place", "sO", x.array->name.c_str(), b);
    if (id == kMatMul && IsArray(a) && IsArray(b)) return Product(x, a, b);
    PyObject* result = RunBinary(x, a, b, out);
    if (result != Py_NotImplemented || !IsArrayLike(IsArray(a) ? b : a)) return result;
    Py_DECREF(result);
    return Beside(id, x, a, b, out);
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
MXNET_BINARY(NbFloorDiv, kFloorDiv)
PyObject* NbMatMul(PyObject* a, PyObject* b) { return Binary(kMatMul, a, b, nullptr); }
MXNET_BINARY(NbAnd, kAnd)
MXNET_BINARY(NbOr, kOr)
MXNET_BINARY(NbXor, kXor)
MXNET_BINARY(NbLShift, kLShift)
MXNET_BINARY(NbRShift, kRShift)
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
/* Classic arrays have none, as in 1.x: `y = x; y **= 2` leaves `x` alone there. */
PyObject* NbPowInPlace(PyObject* a, PyObject* b, PyObject*) { return Binary(kPow, a, b, a); }
PyObject* Unary(const char* name, PyObject* a) {
  try {
    return Invoke(PlainAttrs(Op::Get(name)), &a, 1, nullptr);
  } catch (...) {
    SetError();
    return nullptr;
  }
}
/* 1.x multiplies by -1, which of bool arrays gives int64. */
PyObject* NbNegative(PyObject* a) {
  if (Get(a)->dtype() != kBool) return Unary("negative", a);
  PyObject* minus_one = PyLong_FromLong(-1);
  PyObject* product = minus_one ? Binary(kMul, a, minus_one, nullptr) : nullptr;
  Py_XDECREF(minus_one);
  return product;
}
PyObject* NbAbsolute(PyObject* a) { return Unary("abs", a); }
PyObject* NumpyNegative(PyObject* a) { return Unary("_npi_negative", a); }
PyObject* NumpyAbsolute(PyObject* a) { return Unary("_npi_absolute", a); }
PyObject* NumpyInvert(PyObject* a) { return Unary("_npi_bitwise_not", a); }
PyObject* NumpyPositive(PyObject* a) { return Unary("_npi_copy", a); }
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
                             {Py_nb_negative, reinterpret_cast<void*>(NbNegative)},
                             {Py_nb_absolute, reinterpret_cast<void*>(NbAbsolute)},
                             {0, nullptr}};

/* Of the subclass; it inherits those that classic arrays have, too. */
const PyType_Slot numpy_slots[] = {{Py_tp_richcompare, reinterpret_cast<void*>(RichCompare)},
                                   {Py_nb_floor_divide, reinterpret_cast<void*>(NbFloorDiv)},
                                   {Py_nb_inplace_floor_divide, reinterpret_cast<void*>(NbFloorDivInPlace)},
                                   {Py_nb_inplace_power, reinterpret_cast<void*>(NbPowInPlace)},
                                   {Py_nb_matrix_multiply, reinterpret_cast<void*>(NbMatMul)},
                                   {Py_nb_and, reinterpret_cast<void*>(NbAnd)},
                                   {Py_nb_inplace_and, reinterpret_cast<void*>(NbAndInPlace)},
                                   {Py_nb_or, reinterpret_cast<void*>(NbOr)},
                                   {Py_nb_inplace_or, reinterpret_cast<void*>(NbOrInPlace)},
                                   {Py_nb_xor, reinterpret_cast<void*>(NbXor)},
                                   {Py_nb_inplace_xor, reinterpret_cast<void*>(NbXorInPlace)},
                                   {Py_nb_lshift, reinterpret_cast<void*>(NbLShift)},
                                   {Py_nb_inplace_lshift, reinterpret_cast<void*>(NbLShiftInPlace)},
                                   {Py_nb_rshift, reinterpret_cast<void*>(NbRShift)},
                                   {Py_nb_inplace_rshift, reinterpret_cast<void*>(NbRShiftInPlace)},
                                   {Py_nb_negative, reinterpret_cast<void*>(NumpyNegative)},
                                   {Py_nb_absolute, reinterpret_cast<void*>(NumpyAbsolute)},
                                   {Py_nb_invert, reinterpret_cast<void*>(NumpyInvert)},
                                   {Py_nb_positive, reinterpret_cast<void*>(NumpyPositive)},
                                   {0, nullptr}};

/* Null for "". */
const Op* Record(const char* name) { return name[0] ? Op::Get(name) : nullptr; }

}  // namespace

const AttrsPtr& PlainAttrs(const Op* op) {
  // All guarded by the interpreter lock. The elements of a map stay where they are; finding one
  // takes longer than some operators do, so those of late are remembered.
  static std::unordered_map<const Op*, AttrsPtr> all;
  static struct {
    const Op* op;
    const AttrsPtr* attrs;
  } late[32];
  auto& mine = late[reinterpret_cast<uintptr_t>(op) / 64 % 32];
  if (mine.op == op) return *mine.attrs;
  AttrsPtr& slot = all[op];
  if (!slot) slot = MakeAttrs(op, {});
  mine = {op, &slot};
  return slot;
}

PyObject* RunBinary(const BinaryRecords& x, PyObject* a, PyObject* b, PyObject* out) {
  const bool first = IsArray(a), second = IsArray(b);
  if (first && second) return OfArrays(x, a, b, out);
  Number n;
  if (x.truth && (first || second) && IsTruth(first ? b : a) && Get(first ? a : b)->dtype() == kBool) {
    PyObject *array = first ? a : b, *truth = first ? b : a;
    if (!Noted(kReadsDType, array)) return nullptr;
    AsScalar(truth, &n);
    return Invoke(ScalarAttrs(x.truth, n, x.typed), &array, 1, out);
  }
  if (first && x.scalar && AsScalar(b, &n)) return Invoke(ScalarAttrs(x.scalar, n, x.typed), &a, 1, out);
  if (second && x.reverse && AsScalar(a, &n)) return Invoke(ScalarAttrs(x.reverse, n, x.typed), &b, 1, out);
  Py_RETURN_NOTIMPLEMENTED;
}

const PyType_Slot* ArithmeticSlots(ArrayType type) { return type == kNumpy ? numpy_slots : slots; }

void SetArithmetic(PyObject* rows, ArrayType type) {
  int found = 0;
  const Py_ssize_t n = PySequence_Size(rows);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* row = PySequence_GetItem(rows, i);
    const char *method, *array, *scalar, *reverse, *truth = "";
    const bool parsed = row && PyArg_ParseTuple(row, "ssss|s", &method, &array, &scalar, &reverse, &truth);
    if (!parsed) {
      Py_XDECREF(row);
      throw PythonError();
    }
    for (int id = 0; id < kNumArith; ++id) {
      if (std::strcmp(methods[id], method) != 0) continue;
      ariths[type][id] = {Record(array), Record(scalar), Record(reverse), type == kNumpy, Record(truth)};
      ++found;
    }
    Py_DECREF(row);
  }
  if (n < 0) throw PythonError();
  if (found != (type == kNumpy ? kNumArith : kNumClassic))
    throw Error(Error::Kind::kValue, "[binding] got no record for some of Python's operators");
}

}  // namespace python
}  // namespace mxnet
