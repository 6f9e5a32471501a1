// x[key] and x[key] = value for keys with index arrays: the ones in which arrays stand side by side
// and all other axes are taken whole, and masks of mx.np arrays. Everything else, also every key
// that is to be refused, goes to Python (mxnet.numpy._indexing, mxnet.ndarray._indexing), which
// knows all rules.
#include <Python.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "binding.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "remembered.h"

namespace mxnet {
namespace python {
namespace {

/* References that this holds. */
struct Held {
  std::vector<PyObject*> objects;
  ~Held() {
    for (PyObject* o : objects) Py_DECREF(o);
  }
};

/* The operator's inputs: the array, a place for a value, the index arrays. */
struct Gathering {
  int axis = 0;
  std::vector<PyObject*> arrays;
  Held made;  // what holds them
  std::vector<int64_t> block;
  int ndim = 0;  // of the selection
};

bool IsWhole(PyObject* k) {
  if (!PySlice_Check(k)) return false;
  const PySliceObject* s = reinterpret_cast<PySliceObject*>(k);
  return s->start == Py_None && s->stop == Py_None && s->step == Py_None;
}

bool InRange(const int64_t* v, size_t n, int64_t size) {
  for (size_t i = 0; i < n; ++i)
    if (v[i] < -size || v[i] >= size) return false;
  return true;
}

/* An int64 array beside `a`; null without an exception if an index is out of range. */
PyObject* Made(PyObject* self, const std::vector<int64_t>& values, const Shape& shape, int64_t size) {
  if (values.empty() || !InRange(values.data(), values.size(), size)) return nullptr;
  NDArray* array = new NDArray(shape, Get(self)->ctx(), kInt64);
  PyObject* o = Wrap(array, ClassOf(self));
  if (!o) throw PythonError();
  array->CopyBytesFrom(values.data(), values.size() * sizeof(int64_t));
  return o;
}

/* A list of integers, flat, as an array; null if it is something else. */
PyObject* FromList(PyObject* self, PyObject* list, int64_t size) {
  std::vector<int64_t> values;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    PyObject* v = PyList_GET_ITEM(list, i);
    if (!PyLong_CheckExact(v)) return nullptr;
    int overflow = 0;
    values.push_back(PyLong_AsLongLongAndOverflow(v, &overflow));
    if (overflow) return nullptr;
  }
  return Made(self, values, Shape{static_cast<int64_t>(values.size())}, size);
}

/* A NumPy array of int64 or int32 as one of ours; null if it is something else. */
PyObject* FromNumpy(PyObject* self, PyObject* o, int64_t size) {
  if (PyType_Check(o) || !PyObject_CheckBuffer(o) || !PyObject_HasAttrString(o, "__array__")) return nullptr;
  const HeldBuffer given(o, PyBUF_CONTIG_RO | PyBUF_FORMAT);
  if (!given.held) {
    PyErr_Clear();
    return nullptr;
  }
  const Py_buffer& buffer = given.view;
  const std::string format = buffer.format ? buffer.format : "";
  const bool wide = (format == "l" || format == "q") && buffer.itemsize == 8, narrow = format == "i" && buffer.itemsize == 4;
  if ((!wide && !narrow) || buffer.ndim > 32) return nullptr;
  const size_t n = static_cast<size_t>(buffer.len / buffer.itemsize);
  std::vector<int64_t> values(n);
  if (wide && n > 0) std::memcpy(values.data(), buffer.buf, n * sizeof(int64_t));
  for (size_t i = 0; narrow && i < n; ++i) values[i] = static_cast<const int32_t*>(buffer.buf)[i];
  return Made(self, values, Shape(std::vector<int64_t>(buffer.shape, buffer.shape + buffer.ndim)), size);
}

template <typename T>
bool CheckedIndices(const T* from, int64_t n, int64_t size, int64_t* to, bool* same) {
  for (int64_t i = 0; i < n; ++i) {
    if (!(from[i] >= static_cast<T>(-size) && from[i] < static_cast<T>(size))) return false;
    const int64_t at = static_cast<int64_t>(from[i]);
    to[i] = at < 0 ? at + size : at;
    *same = *same && to[i] == at;
  }
  return true;
}

/* An index array of an mx.nd array as int64, which holds floats as well; null if it is something
 * else. */
PyObject* FromClassic(PyObject* self, PyObject* o, int64_t size) {
  if (IsNumpy(o) || !Get(o) || Get(self)->ctx().is_gpu()) return nullptr;
  std::vector<int64_t> values;
  bool same = false;
  if (!HostIndices(*Get(o), size, &values, &same)) return nullptr;
  return same && Get(o)->ctx() == Get(self)->ctx() ? Py_NewRef(o) : Made(self, values, Get(o)->shape(), size);
}

bool Joined(const Shape& s, std::vector<int64_t>* block) {
  while (block->size() < static_cast<size_t>(s.ndim())) block->insert(block->begin(), 1);
  const size_t lead = block->size() - static_cast<size_t>(s.ndim());
  for (int i = 0; i < s.ndim(); ++i) {
    int64_t& size = (*block)[lead + static_cast<size_t>(i)];
    if (size == 1) size = s[i];
    if (s[i] != 1 && s[i] != size) return false;
  }
  return true;
}

/* One entry of a key as an array of integers beside `self`; null without an exception: not for
 * here. `behind`: other arrays stand before it, so that a number is an array, too. */
PyObject* IndexArray(PyObject* self, PyObject* k, int64_t size, bool behind) {
  const bool numpy = IsNumpy(self);
  if (IsArray(k)) {
    if (!numpy) return FromClassic(self, k, size);
    const bool fits = IsNumpy(k) && Get(k) && !Get(k)->is_none() && Get(k)->dtype() != kBool && Get(k)->ctx() == Get(self)->ctx();
    return fits ? Py_NewRef(k) : nullptr;
  }
  if (PyList_CheckExact(k)) return FromList(self, k, size);
  if (PyLong_CheckExact(k)) {
    int overflow = 0;
    const int64_t i = AsInt64(k, &overflow);
    return behind && !overflow ? Made(self, {i}, Shape{1}, size) : nullptr;
  }
  PyObject* made = FromNumpy(self, k, size);
  if (made && !numpy && Get(made)->shape().ndim() == 0) Py_CLEAR(made);  // a number, which gives a view
  return made;
}

/* False for keys that are not for here. */
bool Plan(PyObject* self, PyObject* key, Gathering* g) {
  const NDArray& a = *Get(self);
  const int ndim = a.shape().ndim();
  const bool tuple = PyTuple_CheckExact(key);
  const Py_ssize_t given = tuple ? PyTuple_GET_SIZE(key) : 1;
  if (ndim == 0 || given - 1 > ndim || a.shape().Size() == 0) return false;
  int axis = 0;
  bool skipped = false, closed = false;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* k = tuple ? PyTuple_GET_ITEM(key, i) : key;
    if (k == Py_Ellipsis) {
      if (skipped) return false;
      skipped = true;
      closed = !g->arrays.empty();  // arrays behind it would not be neighbours, even if it stands for no axis
      axis += ndim - static_cast<int>(given - 1);
      continue;
    }
    if (axis >= ndim) return false;
    if (IsWhole(k)) {
      ++axis;
      continue;
    }
    if (g->arrays.empty()) g->axis = axis;
    if (closed || g->axis + static_cast<int>(g->arrays.size()) != axis) return false;
    k = IndexArray(self, k, a.shape()[axis], !g->block.empty());
    if (!k) return false;
    g->made.objects.push_back(k);
    g->arrays.push_back(k);
    if (!Joined(Get(k)->shape(), &g->block)) return false;
    ++axis;
  }
  g->ndim = ndim - static_cast<int>(g->arrays.size()) + static_cast<int>(g->block.size());
  return !g->arrays.empty();
}

AttrsPtr AxisAttrs(const Op* op, int axis, size_t inputs) {
  const int64_t key[2] = {axis, static_cast<int64_t>(inputs)};
  return Remembered(op, key, 2, [&] { return AttrDict{{"axis", std::to_string(axis)}, {"num_args", std::to_string(inputs)}}; });
}

bool IsMask(PyObject* k) { return IsArray(k) && IsNumpy(k) && Get(k) && !Get(k)->is_none() && Get(k)->dtype() == kBool; }

/* Whether a mask is one of the leading axes. */
bool Fits(const NDArray& mask, const NDArray& a) {
  const int n = mask.shape().ndim();
  if (n == 0 || n > a.shape().ndim() || mask.ctx() != a.ctx()) return false;
  for (int i = 0; i < n; ++i)
    if (mask.shape()[i] != a.shape()[i]) return false;
  return true;
}

/* a[mask] for a mask of the leading axes; null without an exception: not for here. */
PyObject* Masked(PyObject* self, PyObject* key) {
  const NDArray &a = *Get(self), &mask = *Get(key);
  const int n = mask.shape().ndim();
  if (!Fits(mask, a) || (n > 1 && Imperative::State().recording)) return nullptr;
  static const Op* op = Op::Get("_npi_boolean_mask");
  static const AttrsPtr attrs = MakeAttrs(op, {});
  if (n == 1) {
    PyObject* inputs[2] = {self, key};
    return Invoke(attrs, inputs, 2, nullptr);
  }
  if (a.shape().Size() == 0) return nullptr;
  std::vector<int64_t> dims = {mask.shape().Size()};
  dims.insert(dims.end(), a.shape().begin() + n, a.shape().end());
  Held views;
  for (NDArray* view : {new NDArray(a.Reshape(Shape(dims))), new NDArray(mask.Reshape(Shape{dims[0]}))}) {
    PyObject* o = Wrap(view, ClassOf(self));
    if (!o) throw PythonError();
    views.objects.push_back(o);
  }
  return Invoke(attrs, views.objects.data(), 2, nullptr);
}

}  // namespace

bool HostIndices(const NDArray& index, int64_t size, std::vector<int64_t>* values, bool* same) {
  const int64_t n = index.is_none() || index.ctx().is_gpu() || index.shape().ndim() < 1 ? 0 : index.shape().Size();
  if (n == 0 || size == 0 || size >= int64_t{1} << 24) return false;  // beyond, float32 has gaps
  {
    GilRelease unlocked(true);
    index.WaitToRead();
  }
  values->resize(static_cast<size_t>(n));
  int64_t* to = values->data();
  *same = index.dtype() == kInt64;
  const void* data = index.data().dptr<void>();
  switch (index.dtype()) {
    case kInt64: return CheckedIndices(static_cast<const int64_t*>(data), n, size, to, same);
    case kInt32: return CheckedIndices(static_cast<const int32_t*>(data), n, size, to, same);
    case kFloat32: return CheckedIndices(static_cast<const float*>(data), n, size, to, same);
    case kFloat64: return CheckedIndices(static_cast<const double*>(data), n, size, to, same);
    default: return false;
  }
}

PyObject* GatherItem(PyObject* self, PyObject* key) {
  if (IsMask(key)) return Masked(self, key);
  Gathering g;
  if (!Plan(self, key, &g)) return nullptr;
  static const Op* op = Op::Get("_index_axes");
  g.arrays.insert(g.arrays.begin(), self);
  return Invoke(AxisAttrs(op, g.axis, g.arrays.size()), g.arrays.data(), static_cast<Py_ssize_t>(g.arrays.size()), nullptr);
}

namespace {

/* The numbers that were assigned last, as arrays that nobody else sees, so that nothing writes into
 * them. */
struct Constant {
  PyObject* array = nullptr;
  double value = 0;
  int dtype = 0;
  Context ctx;
};

/* A number as an array of shape (), or (1,) for mx.nd, beside `self`; null without an exception:
 * not for here. */
PyObject* Filled(PyObject* self, PyObject* number) {
  static Constant last[4];  // guarded by the interpreter lock; of threads they would be left behind
  static unsigned next = 0;
  const NDArray* a = Get(self);
  const double v = PyFloat_AsDouble(number);
  if (PyErr_Occurred() || (PyLong_CheckExact(number) && !IsExact(v))) {
    PyErr_Clear();
    return nullptr;
  }
  for (const Constant& c : last)
    if (c.array && std::memcmp(&c.value, &v, sizeof(v)) == 0 && c.dtype == a->dtype() && c.ctx == a->ctx() &&
        Py_TYPE(c.array) == ClassOf(self))
      return Py_NewRef(c.array);
  const int64_t one = 1;
  const int ndim = IsNumpy(self) ? 0 : 1;
  PyObject* target = Wrap(new NDArray(Shape(&one, ndim), a->ctx(), a->dtype(), true), ClassOf(self));
  if (!target) throw PythonError();
  static const Op* full = Op::Get("_full");
  PyObject* done = Invoke(FilledAttrs(full, &one, static_cast<size_t>(ndim), a->dtype(), &v), nullptr, 0, target);
  Py_DECREF(target);
  if (!done) throw PythonError();
  Constant& c = last[next++ % 4];
  Py_XDECREF(c.array);
  c.array = Py_NewRef(done);
  c.value = v, c.dtype = a->dtype(), c.ctx = a->ctx();
  return done;  // the target
}

/* Whether an array has a row for each place that a mask chooses, or one for all. On a GPU the
 * operator looks. */
bool Chosen(const NDArray& mask, const Shape& value, int ndim) {
  if (value.ndim() > ndim) return false;
  if (value.ndim() < ndim || value[0] == 1 || mask.ctx().is_gpu()) return true;
  std::vector<uint8_t> flags(static_cast<size_t>(mask.shape().Size()));
  {
    GilRelease unlocked(true);
    mask.CopyBytesTo(flags.data(), flags.size());
  }
  return std::accumulate(flags.begin(), flags.end(), int64_t{0}) == value[0];
}

/* a[mask] = value for a mask of the leading axes and a number or an array. */
int PutMasked(PyObject* self, PyObject* key, PyObject* value, bool number) {
  const NDArray &a = *Get(self), &mask = *Get(key);
  if (!Fits(mask, a) || a.shape().Size() == 0) return 1;
  const int n = mask.shape().ndim(), ndim = a.shape().ndim();
  PyObject* done = nullptr;
  if (!number) {
    if (!Chosen(mask, Get(value)->shape(), ndim - n + 1)) return 1;
    static const AttrsPtr attrs = MakeAttrs(Op::Get("_npi_boolean_mask_assign_tensor"), {{"start_axis", "0"}});
    PyObject* inputs[3] = {self, key, value};
    done = Invoke(attrs, inputs, 3, self);
  } else {
    std::vector<int64_t> dims(mask.shape().begin(), mask.shape().end());
    dims.resize(static_cast<size_t>(ndim), 1);
    Held views;
    PyObject* each = Wrap(new NDArray(mask.Reshape(Shape(dims))), ClassOf(self));
    if (!each) throw PythonError();
    views.objects.push_back(each);
    static const AttrsPtr attrs = MakeAttrs(Op::Get("_npi_where"), {});
    PyObject* inputs[3] = {each, value, self};
    done = Invoke(attrs, inputs, 3, self);
  }
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/* Whether a value's shape can be broadcast to the selection's. */
bool FitsSelection(const Shape& value, const NDArray& a, const Gathering& g) {
  std::vector<int64_t> dims(a.shape().begin(), a.shape().begin() + g.axis);
  dims.insert(dims.end(), g.block.begin(), g.block.end());
  dims.insert(dims.end(), a.shape().begin() + g.axis + static_cast<int>(g.arrays.size()), a.shape().end());
  const int lead = static_cast<int>(dims.size()) - value.ndim();
  for (int i = 0; lead >= 0 && i < value.ndim(); ++i)
    if (value[i] != 1 && value[i] != dims[static_cast<size_t>(lead + i)]) return false;
  return lead >= 0;
}

}  // namespace

int ScatterItem(PyObject* self, PyObject* key, PyObject* value) {
  const bool number = PyFloat_CheckExact(value) || PyLong_CheckExact(value);
  const NDArray* a = Get(self);
  if (!number) {
    if (!IsArray(value) || IsNumpy(value) != IsNumpy(self) || !Get(value) || Get(value)->is_none()) return 1;
    if (Get(value)->dtype() != a->dtype() || Get(value)->ctx() != a->ctx()) return 1;
  }
  const bool mask = IsMask(key);
  Gathering g;
  if (!mask && (!Plan(self, key, &g) || (!number && Get(value)->shape().ndim() > g.ndim))) return 1;
  if (!mask && !number && !IsNumpy(self) && !FitsSelection(Get(value)->shape(), *a, g)) return 1;
  Held made;
  if (number) {
    value = Filled(self, value);
    if (!value) return 1;
    made.objects.push_back(value);
  }
  if (mask) return PutMasked(self, key, value, number);
  static const Op* op = Op::Get("_index_axes_assign");
  PyObject* front[2] = {self, value};
  g.arrays.insert(g.arrays.begin(), front, front + 2);
  PyObject* done = Invoke(AxisAttrs(op, g.axis, g.arrays.size()), g.arrays.data(), static_cast<Py_ssize_t>(g.arrays.size()), self);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

}  // namespace python
}  // namespace mxnet
