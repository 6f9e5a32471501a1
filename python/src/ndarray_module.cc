/*
 * mxnet._cy3.ndarray: the compiled binding of arrays and eager operators.
 *
 * NDArrayBase is a plain CPython type (no pybind11 instance) because an eager operator's whole budget is under a microsecond: one small
 * object per result, arithmetic through type slots, parameters parsed once per distinct set of values.
 */
#include <pybind11/pybind11.h>
#include <structmember.h>

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "binding.h"
#include "mxnet/c_api.h"
#include "mxnet/imperative.h"

namespace mxnet {
namespace python {

/* INVARIANT: `array` is null only between tp_alloc and the end of construction, or when construction failed. */
struct PyNDArray {
  PyObject_HEAD
  NDArray* array;
  PyObject* weakrefs;
  bool writable;
};

PyTypeObject* base_type = nullptr;      // NDArrayBase
PyTypeObject* array_type = nullptr;     // the class of results (mx.nd.NDArray)
PyObject* attr_to_str = nullptr;        // Python function for values that have no obvious text
PyObject* error_classes = nullptr;      // tuple by Error::Kind

NDArray* Get(PyObject* o) { return reinterpret_cast<PyNDArray*>(o)->array; }
bool IsArray(PyObject* o) { return PyObject_TypeCheck(o, base_type); }

PyObject* Wrap(NDArray* a) {
  PyObject* o = array_type->tp_alloc(array_type, 0);
  if (!o) {
    delete a;
    return nullptr;
  }
  reinterpret_cast<PyNDArray*>(o)->array = a;
  reinterpret_cast<PyNDArray*>(o)->writable = true;
  return o;
}

void SetError() {
  try {
    throw;
  } catch (const Error& e) {
    const Py_ssize_t kind = static_cast<Py_ssize_t>(e.kind());
    PyObject* cls = error_classes && kind < PyTuple_GET_SIZE(error_classes) ? PyTuple_GET_ITEM(error_classes, kind) : PyExc_RuntimeError;
    PyErr_SetString(cls, e.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const PythonError&) {
    // already set
  } catch (const std::exception& e) {
    PyErr_SetString(error_classes ? PyTuple_GET_ITEM(error_classes, 0) : PyExc_RuntimeError, e.what());
  }
}

// ---- parameters

/* Appends a value to a cache key. Equal keys mean equal values; the first byte is the type. */
void AppendKey(std::string* key, PyObject* v) {
  if (v == Py_True || v == Py_False) {
    key->append(v == Py_True ? "b1" : "b0", 2);
  } else if (PyLong_CheckExact(v)) {
    int overflow = 0;
    const long long x = PyLong_AsLongLongAndOverflow(v, &overflow);
    if (overflow) throw Error(Error::Kind::kValue, "[parameters] an integer does not fit 64 bits");
    key->push_back('i');
    key->append(reinterpret_cast<const char*>(&x), sizeof(x));
  } else if (PyFloat_CheckExact(v)) {
    const double x = PyFloat_AS_DOUBLE(v);
    key->push_back('f');
    key->append(reinterpret_cast<const char*>(&x), sizeof(x));
  } else if (PyUnicode_Check(v)) {
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(v, &n);
    if (!s) throw PythonError();
    key->push_back('s');
    key->append(reinterpret_cast<const char*>(&n), sizeof(n));
    key->append(s, n);
  } else if (v == Py_None) {
    key->push_back('n');
  } else if (PyTuple_CheckExact(v) || PyList_CheckExact(v)) {
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(v);
    key->push_back('(');
    for (Py_ssize_t i = 0; i < n; ++i) AppendKey(key, PySequence_Fast_GET_ITEM(v, i));
    key->push_back(')');
  } else {
    PyObject* text = PyObject_CallOneArg(attr_to_str, v);
    if (!text) throw PythonError();
    AppendKey(key, text);
    Py_DECREF(text);
  }
}

std::string ToText(PyObject* v) {
  PyObject* text = PyUnicode_Check(v) ? (Py_INCREF(v), v) : PyObject_CallOneArg(attr_to_str, v);
  if (!text) throw PythonError();
  Py_ssize_t n = 0;
  const char* s = PyUnicode_AsUTF8AndSize(text, &n);
  if (!s) {
    Py_DECREF(text);
    throw PythonError();
  }
  std::string out(s, n);
  Py_DECREF(text);
  return out;
}

using AttrsCache = std::unordered_map<std::string, AttrsPtr>;

AttrsPtr ParseAttrs(const Op* op, PyObject* keys, PyObject* values, int num_inputs) {
  constexpr size_t kMaxEntries = 4096;
  static thread_local AttrsCache cache;
  static thread_local std::string key;
  const Py_ssize_t n = PyTuple_GET_SIZE(keys);
  if (PyTuple_GET_SIZE(values) != n) throw Error(Error::Kind::kValue, "[" + op->name + "] parameter names and values differ in number");
  key.assign(reinterpret_cast<const char*>(&op), sizeof(op));
  if (!op->key_var_num_args.empty()) key.append(reinterpret_cast<const char*>(&num_inputs), sizeof(num_inputs));
  for (Py_ssize_t i = 0; i < n; ++i) {
    AppendKey(&key, PyTuple_GET_ITEM(keys, i));
    AppendKey(&key, PyTuple_GET_ITEM(values, i));
  }
  auto it = cache.find(key);
  if (it != cache.end()) return it->second;
  const std::string saved = key;   // parsing may come back here through attr_to_str
  AttrDict dict;
  for (Py_ssize_t i = 0; i < n; ++i) dict[ToText(PyTuple_GET_ITEM(keys, i))] = ToText(PyTuple_GET_ITEM(values, i));
  if (!op->key_var_num_args.empty() && !dict.count(op->key_var_num_args)) dict[op->key_var_num_args] = std::to_string(num_inputs);
  AttrsPtr attrs = MakeAttrs(op, std::move(dict));
  if (cache.size() >= kMaxEntries) cache.clear();
  cache.emplace(saved, attrs);
  return attrs;
}

// ---- invocation

struct GilRelease {
  explicit GilRelease(bool wanted) : state(wanted ? PyEval_SaveThread() : nullptr) {}
  ~GilRelease() { if (state) PyEval_RestoreThread(state); }
  PyThreadState* state;
};

void CheckWritable(PyObject* o) {
  if (!reinterpret_cast<PyNDArray*>(o)->writable) throw Error(Error::Kind::kValue, "[NDArray] the array is read-only; accepted: a writable one as `out` or target of an assignment");
}

/* Runs an operator. `out`: None, an array or a sequence of arrays. Returns a new reference. */
PyObject* Invoke(const AttrsPtr& attrs, PyObject* const* inputs, Py_ssize_t num_inputs, PyObject* out) {
  static thread_local std::vector<std::vector<NDArray*>> spare;   // buffers of finished calls; calls nest through array functions
  struct Lease {
    std::vector<NDArray*> v;
    Lease() { if (!spare.empty()) { v = std::move(spare.back()); spare.pop_back(); v.clear(); } }
    ~Lease() { spare.push_back(std::move(v)); }
  } in, results;
  const Op* op = attrs->op;
  for (Py_ssize_t i = 0; i < num_inputs; ++i) {
    if (!IsArray(inputs[i]))
      throw Error(Error::Kind::kType, "[" + op->name + "] input " + std::to_string(i) + " is a " + Py_TYPE(inputs[i])->tp_name + "; accepted: an NDArray");
    in.v.push_back(Get(inputs[i]));
  }
  const int total = op->NumOutputs(*attrs), visible = op->NumVisibleOutputs(*attrs);
  std::vector<PyObject*> given;
  if (out && out != Py_None) {
    if (IsArray(out)) {
      given.push_back(out);
    } else if (PyTuple_Check(out) || PyList_Check(out)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(out); ++i) given.push_back(PySequence_Fast_GET_ITEM(out, i));
    } else {
      throw Error(Error::Kind::kType, "[" + op->name + "] `out` is a " + std::string(Py_TYPE(out)->tp_name) + "; accepted: an NDArray or a list of them");
    }
    if (static_cast<int>(given.size()) != visible && static_cast<int>(given.size()) != total)
      throw Error(Error::Kind::kValue, "[" + op->name + "] got " + std::to_string(given.size()) + " arrays in `out`; accepted: " + std::to_string(visible));
    for (PyObject* o : given) {
      if (!IsArray(o)) throw Error(Error::Kind::kType, "[" + op->name + "] `out` holds a " + std::string(Py_TYPE(o)->tp_name) + "; accepted: NDArrays");
      CheckWritable(o);
      results.v.push_back(Get(o));
    }
  }
  struct Fresh {   // outputs made here, freed again when the operator throws
    NDArray* small[4];
    std::vector<NDArray*> large;
    int count = 0;
    NDArray* Add() {
      NDArray* a = new NDArray();
      if (count < 4) small[count] = a; else large.push_back(a);
      ++count;
      return a;
    }
    NDArray*& At(int i) { return i < 4 ? small[i] : large[i - 4]; }
    ~Fresh() { for (int i = 0; i < count; ++i) delete At(i); }
  } fresh;
  while (static_cast<int>(results.v.size()) < total) results.v.push_back(fresh.Add());
  {
    GilRelease unlocked(op->array_fn != nullptr);
    Imperative::Invoke(attrs, in.v, results.v);
  }
  if (!given.empty()) {
    Py_INCREF(out);
    return out;
  }
  if (visible == 1) {
    NDArray* a = fresh.At(0);
    fresh.At(0) = nullptr;
    return Wrap(a);
  }
  PyObject* list = PyList_New(visible);
  if (!list) return nullptr;
  for (int i = 0; i < visible; ++i) {
    NDArray* a = fresh.At(i);
    fresh.At(i) = nullptr;
    PyObject* o = Wrap(a);
    if (!o) {
      Py_DECREF(list);
      return nullptr;
    }
    PyList_SET_ITEM(list, i, o);
  }
  return list;
}

const Op* OpFromHandle(PyObject* handle) {
  const Op* op = static_cast<const Op*>(PyLong_AsVoidPtr(handle));
  if (!op) {
    if (PyErr_Occurred()) throw PythonError();
    throw Error(Error::Kind::kValue, "[binding] got a null operator handle");
  }
  return op;
}

/* invoke(op_handle, inputs, keys, values, out): inputs is a tuple or list of arrays, keys and values are tuples. */
PyObject* PyInvoke(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  try {
    if (nargs < 4 || nargs > 5 || !(PyTuple_Check(args[1]) || PyList_Check(args[1])) || !PyTuple_Check(args[2]) || !PyTuple_Check(args[3])) {
      PyErr_SetString(PyExc_TypeError, "invoke(op_handle, inputs, keys, values, out=None)");
      return nullptr;
    }
    const Op* op = OpFromHandle(args[0]);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(args[1]);
    AttrsPtr attrs = ParseAttrs(op, args[2], args[3], static_cast<int>(n));
    return Invoke(attrs, PySequence_Fast_ITEMS(args[1]), n, nargs == 5 ? args[4] : nullptr);
  } catch (...) {
    SetError();
    return nullptr;
  }
}

// ---- arithmetic

/* The records behind one Python operator. `reverse` is for scalar OP array. */
struct Arith {
  const char *array_name, *scalar_name, *reverse_name;
  const Op *array, *scalar, *reverse;
};
enum ArithId { kAdd, kSub, kMul, kDiv, kMod, kPow, kEq, kNe, kLt, kLe, kGt, kGe, kNumArith };
Arith ariths[kNumArith] = {
    {"broadcast_add", "_plus_scalar", "_plus_scalar", nullptr, nullptr, nullptr},
    {"broadcast_sub", "_minus_scalar", "_rminus_scalar", nullptr, nullptr, nullptr},
    {"broadcast_mul", "_mul_scalar", "_mul_scalar", nullptr, nullptr, nullptr},
    {"broadcast_div", "_div_scalar", "_rdiv_scalar", nullptr, nullptr, nullptr},
    {"broadcast_mod", "_mod_scalar", "_rmod_scalar", nullptr, nullptr, nullptr},
    {"broadcast_power", "_power_scalar", "_rpower_scalar", nullptr, nullptr, nullptr},
    {"broadcast_equal", "_equal_scalar", "_equal_scalar", nullptr, nullptr, nullptr},
    {"broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar", nullptr, nullptr, nullptr},
    {"broadcast_lesser", "_lesser_scalar", "_greater_scalar", nullptr, nullptr, nullptr},
    {"broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar", nullptr, nullptr, nullptr},
    {"broadcast_greater", "_greater_scalar", "_lesser_scalar", nullptr, nullptr, nullptr},
    {"broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar", nullptr, nullptr, nullptr},
};

/* Parsed attributes of a scalar operator, by value. */
AttrsPtr ScalarAttrs(const Op* op, double value, bool is_int) {
  struct Key {
    const Op* op;
    double value;
    bool is_int;
  };
  static thread_local std::unordered_map<std::string, AttrsPtr> cache;
  Key k;
  std::memset(&k, 0, sizeof(k));
  k.op = op;
  k.value = value;
  k.is_int = is_int;
  std::string key(reinterpret_cast<const char*>(&k), sizeof(k));
  auto it = cache.find(key);
  if (it != cache.end()) return it->second;
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  AttrsPtr attrs = MakeAttrs(op, {{"scalar", text}, {"is_int", is_int ? "True" : "False"}});
  if (cache.size() > 4096) cache.clear();
  cache.emplace(std::move(key), attrs);
  return attrs;
}

AttrsPtr PlainAttrs(const Op* op) {
  static thread_local std::unordered_map<const Op*, AttrsPtr> cache;
  AttrsPtr& slot = cache[op];
  if (!slot) slot = MakeAttrs(op, {});
  return slot;
}

/* A Python or NumPy number. Arrays of other libraries are not numbers here. */
bool AsScalar(PyObject* o, double* value, bool* is_int) {
  if (PyFloat_Check(o)) {
    *value = PyFloat_AS_DOUBLE(o);
    *is_int = false;
    return true;
  }
  if (PyLong_Check(o)) {
    *value = PyLong_AsDouble(o);
    if (*value == -1.0 && PyErr_Occurred()) throw PythonError();
    *is_int = true;
    return true;
  }
  PyNumberMethods* nb = Py_TYPE(o)->tp_as_number;
  if (!nb || IsArray(o) || PyObject_HasAttrString(o, "__len__")) return false;
  if (nb->nb_index) {
    PyObject* i = PyNumber_Index(o);
    if (i) {
      *value = PyLong_AsDouble(i);
      Py_DECREF(i);
      *is_int = true;
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
  *is_int = false;
  return true;
}

PyObject* Binary(ArithId id, PyObject* a, PyObject* b, PyObject* out) {
  try {
    Arith& x = ariths[id];
    if (!x.array) {
      x.scalar = Op::Get(x.scalar_name);
      x.reverse = Op::Get(x.reverse_name);
      x.array = Op::Get(x.array_name);
    }
    if (IsArray(a) && IsArray(b)) {
      PyObject* inputs[2] = {a, b};
      return Invoke(PlainAttrs(x.array), inputs, 2, out);
    }
    double value;
    bool is_int;
    if (IsArray(a) && AsScalar(b, &value, &is_int)) return Invoke(ScalarAttrs(x.scalar, value, is_int), &a, 1, out);
    if (IsArray(b) && AsScalar(a, &value, &is_int)) return Invoke(ScalarAttrs(x.reverse, value, is_int), &b, 1, out);
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

#define MXNET_BINARY(fn, id)                                                           \
  PyObject* fn(PyObject* a, PyObject* b) { return Binary(id, a, b, nullptr); }         \
  PyObject* fn##InPlace(PyObject* a, PyObject* b) { return Binary(id, a, b, a); }
MXNET_BINARY(NbAdd, kAdd)
MXNET_BINARY(NbSub, kSub)
MXNET_BINARY(NbMul, kMul)
MXNET_BINARY(NbDiv, kDiv)
MXNET_BINARY(NbMod, kMod)
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

// ---- the type

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (o) reinterpret_cast<PyNDArray*>(o)->writable = true;
  return o;
}

/* NDArrayBase(handle, writable=True): takes over a handle (an int or ctypes.c_void_p). */
int Init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"handle", "writable", nullptr};
  PyObject* handle = nullptr;
  int writable = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p", const_cast<char**>(names), &handle, &writable)) return -1;
  PyObject* value = PyLong_Check(handle) ? (Py_INCREF(handle), handle) : PyObject_GetAttrString(handle, "value");
  if (!value) return -1;
  void* p = PyLong_Check(value) ? PyLong_AsVoidPtr(value) : nullptr;
  Py_DECREF(value);
  if (!p) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "[NDArray] got a null handle");
    return -1;
  }
  PyNDArray* a = reinterpret_cast<PyNDArray*>(self);
  if (a->array != p) delete a->array;
  a->array = static_cast<NDArray*>(p);
  a->writable = writable != 0;
  return 0;
}

void Dealloc(PyObject* self) {
  PyNDArray* a = reinterpret_cast<PyNDArray*>(self);
  if (a->weakrefs) PyObject_ClearWeakRefs(self);
  NDArray* array = a->array;
  a->array = nullptr;
  delete array;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

NDArray* Checked(PyObject* self) {
  NDArray* a = Get(self);
  if (!a) throw Error(Error::Kind::kValue, "[NDArray] the array was not initialised");
  return a;
}

PyObject* GetHandle(PyObject* self, void*) { return PyLong_FromVoidPtr(Get(self)); }
PyObject* GetWritable(PyObject* self, void*) { return PyBool_FromLong(reinterpret_cast<PyNDArray*>(self)->writable); }
PyObject* GetShape(PyObject* self, void*) {
  try {
    const NDArray* a = Checked(self);
    const int n = a->is_none() ? 0 : a->shape().ndim();
    PyObject* t = PyTuple_New(n);
    for (int i = 0; t && i < n; ++i) PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(a->shape()[i]));
    return t;
  } catch (...) {
    SetError();
    return nullptr;
  }
}
PyObject* GetNdim(PyObject* self, void*) { return PyLong_FromLong(Get(self) && !Get(self)->is_none() ? Get(self)->shape().ndim() : -1); }
PyObject* GetSize(PyObject* self, void*) { return PyLong_FromLongLong(Get(self) && !Get(self)->is_none() ? Get(self)->shape().Size() : 0); }
PyObject* GetDType(PyObject* self, void*) { return PyLong_FromLong(Get(self) && !Get(self)->is_none() ? Get(self)->dtype() : -1); }
PyObject* GetCtx(PyObject* self, void*) {
  const NDArray* a = Get(self);
  if (!a || a->is_none()) return Py_BuildValue("(ii)", 1, 0);
  return Py_BuildValue("(ii)", static_cast<int>(a->ctx().dev_type), a->ctx().dev_id);
}

template <typename F>
PyObject* Guard(F&& f) {
  try {
    return f();
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyObject* WaitToRead(PyObject* self, PyObject*) {
  return Guard([&]() -> PyObject* {
    NDArray* a = Checked(self);
    {
      GilRelease unlocked(true);
      a->WaitToRead();
    }
    Py_RETURN_NONE;
  });
}

PyObject* WaitToWrite(PyObject* self, PyObject*) {
  return Guard([&]() -> PyObject* {
    NDArray* a = Checked(self);
    {
      GilRelease unlocked(true);
      a->WaitToWrite();
    }
    Py_RETURN_NONE;
  });
}

/* _copy_to(address, bytes) and _copy_from(address, bytes): blocking copies between the array and plain memory. */
template <bool kTo>
PyObject* CopyMemory(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return Guard([&]() -> PyObject* {
    if (nargs != 2) {
      PyErr_SetString(PyExc_TypeError, "expected (address, bytes)");
      return nullptr;
    }
    void* p = PyLong_AsVoidPtr(args[0]);
    const size_t bytes = PyLong_AsSize_t(args[1]);
    if (PyErr_Occurred()) return nullptr;
    NDArray* a = Checked(self);
    if (!kTo) CheckWritable(self);
    {
      GilRelease unlocked(true);
      if (kTo) a->SyncCopyToCPU(p, bytes); else a->SyncCopyFromCPU(p, bytes);
    }
    Py_RETURN_NONE;
  });
}

PyObject* Detach(PyObject* self, PyObject*) {
  return Guard([&]() -> PyObject* { return Wrap(new NDArray(Checked(self)->Detach())); });
}

PyObject* At(PyObject* self, PyObject* index) {
  return Guard([&]() -> PyObject* {
    const NDArray* a = Checked(self);
    int64_t i = PyLong_AsLongLong(index);
    if (i == -1 && PyErr_Occurred()) return nullptr;
    if (i < 0 && a->shape().ndim() > 0) i += a->shape()[0];
    return Wrap(new NDArray(a->At(i)));
  });
}

PyObject* Slice(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return Guard([&]() -> PyObject* {
    if (nargs != 2) {
      PyErr_SetString(PyExc_TypeError, "expected (begin, end)");
      return nullptr;
    }
    const int64_t begin = PyLong_AsLongLong(args[0]), end = PyLong_AsLongLong(args[1]);
    if (PyErr_Occurred()) return nullptr;
    return Wrap(new NDArray(Checked(self)->Slice(begin, end)));
  });
}

/* _reshape_view(codes, reverse): a view; the caller has checked that nothing is being recorded. */
PyObject* ReshapeView(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return Guard([&]() -> PyObject* {
    if (nargs != 2 || !PyTuple_Check(args[0])) {
      PyErr_SetString(PyExc_TypeError, "expected (shape tuple, reverse)");
      return nullptr;
    }
    std::vector<int64_t> codes;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[0]); ++i) {
      codes.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(args[0], i)));
      if (codes.back() == -1 && PyErr_Occurred()) return nullptr;
    }
    const NDArray* a = Checked(self);
    return Wrap(new NDArray(a->Reshape(NDArray::InferReshape(a->shape(), codes, PyObject_IsTrue(args[1]) == 1))));
  });
}

PyGetSetDef getset[] = {{"handle", GetHandle, nullptr, "Address of the native array, owned by this object.", nullptr},
                        {"writable", GetWritable, nullptr, "Whether the array may be an output.", nullptr},
                        {"shape", GetShape, nullptr, "Tuple of dimensions.", nullptr},
                        {"ndim", GetNdim, nullptr, "Number of dimensions.", nullptr},
                        {"size", GetSize, nullptr, "Number of elements.", nullptr},
                        {"_dtype_id", GetDType, nullptr, "Number of the dtype; -1 for an empty array.", nullptr},
                        {"_ctx_ids", GetCtx, nullptr, "(device type, device id).", nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"wait_to_read", WaitToRead, METH_NOARGS, "Blocks until pending writes are done; raises what they failed with."},
    {"wait_to_write", WaitToWrite, METH_NOARGS, "Blocks until pending reads and writes are done."},
    {"_copy_to", reinterpret_cast<PyCFunction>(CopyMemory<true>), METH_FASTCALL, "Copies the contents to memory at an address."},
    {"_copy_from", reinterpret_cast<PyCFunction>(CopyMemory<false>), METH_FASTCALL, "Fills the array from memory at an address."},
    {"_detach", Detach, METH_NOARGS, "A view without autograd history."},
    {"_at", At, METH_O, "Row view; negative indices count from the end."},
    {"_slice", reinterpret_cast<PyCFunction>(Slice), METH_FASTCALL, "View of rows [begin, end)."},
    {"_reshape_view", reinterpret_cast<PyCFunction>(ReshapeView), METH_FASTCALL, "View of another shape; codes 0, -1, -2, -3, -4."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyNDArray, weakrefs), READONLY, nullptr}, {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                       {Py_tp_init, reinterpret_cast<void*>(Init)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_getset, getset},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {Py_tp_richcompare, reinterpret_cast<void*>(RichCompare)},
                       {Py_tp_hash, reinterpret_cast<void*>(_Py_HashPointer)},
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
                       {Py_tp_doc, const_cast<char*>("Native part of mxnet.nd.NDArray.")},
                       {0, nullptr}};

PyType_Spec spec = {"mxnet._cy3.ndarray.NDArrayBase", sizeof(PyNDArray), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

/* Where the user's program is: the innermost Python frame outside this package, "file:line". */
std::string CallSite() {
  if (!Py_IsInitialized() || !PyGILState_Check()) return "";
  PyFrameObject* frame = PyEval_GetFrame();   // borrowed
  Py_XINCREF(frame);
  std::string site;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    const bool own = file && std::strstr(file, "/mxnet/");
    if (file && !own) site = std::string(file) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
    Py_DECREF(code);
    PyFrameObject* back = site.empty() ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = back;
  }
  return site;
}

PyObject* SetNDArrayClass(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), base_type)) {
    PyErr_SetString(PyExc_TypeError, "[binding] expected a subclass of NDArrayBase");
    return nullptr;
  }
  Py_INCREF(cls);
  Py_XDECREF(reinterpret_cast<PyObject*>(array_type));
  array_type = reinterpret_cast<PyTypeObject*>(cls);
  Py_RETURN_NONE;
}

/* _configure(attr_to_str, error_classes) */
PyObject* Configure(PyObject*, PyObject* args) {
  PyObject *f, *classes;
  if (!PyArg_ParseTuple(args, "OO!", &f, &PyTuple_Type, &classes)) return nullptr;
  Py_INCREF(f);
  Py_XDECREF(attr_to_str);
  attr_to_str = f;
  Py_INCREF(classes);
  Py_XDECREF(error_classes);
  error_classes = classes;
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"invoke", reinterpret_cast<PyCFunction>(PyInvoke), METH_FASTCALL, "invoke(op_handle, inputs, keys, values, out=None)"},
    {"_set_ndarray_class", SetNDArrayClass, METH_O, "Sets the class of results."},
    {"_configure", Configure, METH_VARARGS, "Sets helpers that live in Python."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace python
}  // namespace mxnet

PYBIND11_MODULE(ndarray, m) {
  using namespace mxnet::python;  // NOLINT
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw pybind11::error_already_set();
  base_type = reinterpret_cast<PyTypeObject*>(type);
  array_type = base_type;
  Py_INCREF(type);
  m.add_object("NDArrayBase", pybind11::reinterpret_borrow<pybind11::object>(type));
  if (PyModule_AddFunctions(m.ptr(), functions) != 0) throw pybind11::error_already_set();
  AddCachedOp(m.ptr());
  mxnet::Engine::SetCallSiteProvider(CallSite);
}
