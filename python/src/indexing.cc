// x[key] and x[key] = value for the keys that loops are made of: integers, ranges and tuples of
// them, and one array of indices. Everything else, also every key that is to be refused, goes to
// Python (mxnet.ndarray._indexing), which knows all rules.
#include <Python.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "binding.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"
#include "remembered.h"
#include "views.h"

namespace mxnet {
namespace python {
namespace {

PyObject *get_item[kNumArrayTypes], *set_item[kNumArrayTypes];  // Python's own

constexpr int kMostDims = 32;

/* A shape as it grows: as std::vector, without asking for memory. */
struct Dims {
  void push_back(int64_t d) { values[count++] = d; }
  const int64_t* data() const { return values; }
  size_t size() const { return static_cast<size_t>(count); }
  bool empty() const { return count == 0; }
  int64_t values[3 * kMostDims];
  int count = 0;
};

/* Positions begin, begin + step, ... (count of them) on each axis, and the shape without the axes
 * that an integer chose. `axis` has the axis of each of its dimensions, or -1 for a new one. */
struct Selection {
  int64_t begin[kMostDims], step[kMostDims], count[kMostDims];
  int64_t total = 1;
  Dims result, axis;
  void Add(int64_t size, int of) {
    result.push_back(size);
    axis.push_back(of);
  }
  Shape shape() const { return Shape(result.data(), static_cast<int>(result.size())); }
};

bool PlainIndex(PyObject* o) { return o == Py_None || PyLong_CheckExact(o); }

bool AddEntry(PyObject* k, int axis, int64_t size, Selection* s) {
  if (PyLong_CheckExact(k)) {
    int overflow = 0;
    int64_t i = PyLong_AsLongLongAndOverflow(k, &overflow);
    if (overflow || i < -size || i >= size) return false;
    s->begin[axis] = i < 0 ? i + size : i, s->step[axis] = 1, s->count[axis] = 1;
    return true;
  }
  if (!PySlice_Check(k)) return false;
  const PySliceObject* range = reinterpret_cast<PySliceObject*>(k);
  if (!PlainIndex(range->start) || !PlainIndex(range->stop) || !PlainIndex(range->step)) return false;
  Py_ssize_t begin, end, step;
  if (PySlice_Unpack(k, &begin, &end, &step) != 0) {
    PyErr_Clear();
    return false;
  }
  const Py_ssize_t n = PySlice_AdjustIndices(static_cast<Py_ssize_t>(size), &begin, &end, step);
  if (n == 0) return false;
  s->begin[axis] = begin, s->step[axis] = step, s->count[axis] = n;
  s->Add(n, axis);
  return true;
}

void AddWhole(int64_t size, int axis, Selection* s) {
  s->begin[axis] = 0, s->step[axis] = 1, s->count[axis] = size;
  s->Add(size, axis);
}

/* False for keys that are not for here. `numpy`: new axes and an ellipsis are. */
bool Select(PyObject* key, const NDArray& a, bool scalars, bool numpy, Selection* s) {
  const Shape& shape = a.shape();
  const int ndim = shape.ndim();
  if (ndim == 0 || ndim > kMostDims || shape.Size() == 0) return false;
  const bool tuple = PyTuple_CheckExact(key);
  const Py_ssize_t given = tuple ? PyTuple_GET_SIZE(key) : 1;
  if (given == 0 || given > 2 * kMostDims) return false;
  int used = 0, axis = 0;
  bool skipped = false;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* k = tuple ? PyTuple_GET_ITEM(key, i) : key;
    used += k != Py_None && k != Py_Ellipsis;
  }
  if (used > ndim) return false;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* k = tuple ? PyTuple_GET_ITEM(key, i) : key;
    if (numpy && k == Py_None) {
      s->Add(1, -1);
    } else if (numpy && k == Py_Ellipsis && !skipped) {
      skipped = true;
      for (int left = ndim - used; left > 0; --left, ++axis) AddWhole(shape[axis], axis, s);
    } else if (!AddEntry(k, axis, shape[axis < ndim ? axis : 0], s)) {
      return false;
    } else {
      ++axis;
    }
  }
  for (; axis < ndim; ++axis) AddWhole(shape[axis], axis, s);
  for (int i = 0; i < ndim; ++i) s->total *= s->count[i];
  if (s->result.empty() && !scalars) s->Add(1, -1);  // 1.x: a scalar is an array of shape (1,)
  return true;
}

/* Where the selection begins when its elements lie side by side, else -1. */
int64_t Offset(const Selection& s, const Shape& shape) {
  const int ndim = shape.ndim();
  int first = 0;
  while (first < ndim && s.count[first] == 1) ++first;
  if (first < ndim && s.step[first] != 1) return -1;
  for (int i = first + 1; i < ndim; ++i)
    if (s.begin[i] != 0 || s.count[i] != shape[i] || (s.step[i] != 1 && s.count[i] != 1)) return -1;
  int64_t offset = 0;
  for (int i = 0; i < ndim; ++i) offset = offset * shape[i] + s.begin[i];
  return offset;
}

PyObject* View(PyObject* self, const Selection& s, int64_t offset) {
  const NDArray* a = Get(self);
  const Shape result = s.shape();
  PyObject* o = NewResult(ClassOf(self));
  if (!o) return nullptr;
  *Get(o) = a->Window(static_cast<size_t>(offset) * DTypeSize(a->dtype()), result, a->dtype());
  reinterpret_cast<PyNDArray*>(o)->writable = reinterpret_cast<PyNDArray*>(self)->writable;
  return o;
}

/* The selection as a view, wherever its elements lie. */
PyObject* ShowSelection(PyObject* self, const NDArray& a, const Selection& s) {
  const Layout whole = LayoutOf(a);
  Layout part;
  part.offset = whole.offset;
  for (size_t i = 0; i < whole.step.size(); ++i) part.offset += s.begin[i] * whole.step[i];
  for (size_t i = 0; i < s.result.size(); ++i) {
    const int64_t axis = s.axis.values[i];
    part.count.push_back(s.result.values[i]);
    part.step.push_back(axis < 0 ? 1 : s.step[axis] * whole.step[static_cast<size_t>(axis)]);
  }
  return Show(a, part, reinterpret_cast<PyNDArray*>(self)->writable, ClassOf(self));
}

/* Of operators that take begin, end and step; `value` for those that write a number. */
const AttrsPtr& SliceAttrs(const Op* op, const Selection& s, int ndim, const double* value) {
  int64_t key[3 * kMostDims + 2];
  size_t n = 0;
  key[n++] = ndim;
  for (int i = 0; i < ndim; ++i) key[n++] = s.begin[i], key[n++] = s.step[i], key[n++] = s.count[i];
  if (value) std::memcpy(&key[n++], value, sizeof(*value));
  return Remembered(op, key, n, [&] {
    std::string end = "(";
    for (int i = 0; i < ndim; ++i) {
      const int64_t e = s.begin[i] + s.count[i] * s.step[i];
      end += (e < 0 ? "None" : std::to_string(e)) + ",";  // before the first element, of a reversed range
    }
    AttrDict dict = {{"begin", Text(s.begin, ndim)}, {"end", end + ")"}, {"step", Text(s.step, ndim)}};
    if (value) dict["scalar"] = NumberText(*value);
    return dict;
  });
}

/* A copy of the selection. */
PyObject* CutOut(PyObject* self, const NDArray& a, const Selection& s) {
  const int ndim = a.shape().ndim();
  int64_t step[kMostDims], offset = 0, stride = 1;
  for (int i = ndim; i-- > 0; stride *= a.shape()[i]) {
    step[i] = s.step[i] * stride;
    offset += s.begin[i] * stride;
  }
  PyObject* o = GatherNow(self, s.shape(), offset, ndim, s.count, step);
  if (o) return o;
  static const Op* op = Op::Get("slice");
  o = Invoke(SliceAttrs(op, s, ndim, nullptr), &self, 1, nullptr);
  if (o) *Get(o) = Get(o)->Reshape(s.shape());
  return o;
}

/* x[i] of an array that nothing records, for one of Python's own integers. Null without an
 * exception: not for here. */
PyObject* Row(PyObject* self, const NDArray& a, PyObject* key) {
  const Shape& shape = a.shape();
  int overflow = 0;
  int64_t i = AsInt64(key, &overflow);
  const int ndim = shape.ndim();
  const int64_t n = ndim > 0 ? shape[0] : 0;
  if (overflow || i < -n || i >= n) return nullptr;
  if (i < 0) i += n;
  PyObject* o = NewResult(ClassOf(self));
  if (!o) throw PythonError();
  size_t row = DTypeSize(a.dtype());
  for (int d = 1; d < ndim; ++d) row *= static_cast<size_t>(shape[d]);
  *Get(o) = a.Window(static_cast<size_t>(i) * row, Shape(shape.dims() + 1, ndim - 1), a.dtype());
  reinterpret_cast<PyNDArray*>(o)->writable = reinterpret_cast<PyNDArray*>(self)->writable;
  return o;
}

/* Writes a number into a few elements that lie side by side, of an array on the host that nobody
 * uses. False: not for here. */
bool WriteNow(const NDArray& a, int64_t offset, int64_t count, double value) {
  constexpr int64_t kFew = 16;
  if (count > kFew || a.ctx().is_gpu() || profiler::Active() != 0) return false;
  if ((a.dtype() != kFloat32 && a.dtype() != kFloat64) || (value != 0 && !std::isnormal(static_cast<float>(value)))) return false;
  void* const to = a.data().dptr<void>();
  Engine* engine = Engine::Get();
  Var* const var = a.var();
  if (!engine->TryAcquire(nullptr, 0, &var, 1)) return false;
  for (int64_t i = offset; i < offset + count; ++i) {
    if (a.dtype() == kFloat32)
      static_cast<float*>(to)[i] = static_cast<float>(value);
    else
      static_cast<double*>(to)[i] = value;
  }
  engine->Release(nullptr, 0, &var, 1);
  return true;
}

/* x[indices] for whole rows, on the host, where indices can be looked at. Null without an
 * exception: not for here. */
PyObject* TakeRows(PyObject* self, PyObject* key) {
  NDArray *a = Get(self), *index = Get(key);
  if (IsNumpy(key) || index->is_none() || a->ctx().is_gpu() || index->ctx().is_gpu() || a->shape().ndim() < 1 || index->shape().ndim() < 1)
    return nullptr;
  std::vector<int64_t> rows;
  bool same = false;
  if (!HostIndices(*index, a->shape()[0], &rows, &same)) return nullptr;
  static const Op* op = Op::Get("take");
  static const AttrsPtr attrs = MakeAttrs(op, {{"axis", "0"}, {"mode", "clip"}});
  PyObject* inputs[2] = {self, key};
  PyObject* made = nullptr;
  if (!same) {
    NDArray* list = new NDArray(index->shape(), a->ctx(), kInt64);
    made = Wrap(list, ClassOf(self));
    if (!made) return nullptr;
    list->CopyBytesFrom(rows.data(), rows.size() * sizeof(int64_t));
    inputs[1] = made;
  }
  PyObject* result = nullptr;
  try {
    result = Invoke(attrs, inputs, 2, nullptr);
  } catch (...) {
    Py_XDECREF(made);
    throw;
  }
  Py_XDECREF(made);
  return result;
}

/* The selection while autograd records. */
PyObject* RecordedSlice(PyObject* self, const Selection& s) {
  static const Op *slice = Op::Get("slice"), *reshape = Op::Get("_npi_reshape");
  PyObject* o = Invoke(SliceAttrs(slice, s, Get(self)->shape().ndim(), nullptr), &self, 1, nullptr);
  if (!o || Get(o)->shape() == s.shape()) return o;
  const AttrsPtr& attrs = Remembered(reshape, s.result.data(), s.result.size(), [&] {
    return AttrDict{{"newshape", Text(s.result.data(), s.result.size())}};
  });
  PyObject* shaped = nullptr;
  try {
    shaped = Invoke(attrs, &o, 1, nullptr);
  } catch (...) {
    Py_DECREF(o);
    throw;
  }
  Py_DECREF(o);
  return shaped;
}

/* x[integers and slices, arrays...] as y[arrays...] where y, what the leading part chooses, is a
 * view. Null without an exception: not for here. */
PyObject* GatherFromView(PyObject* self, PyObject* key) {
  const NDArray* a = Get(self);
  if (!PyTuple_CheckExact(key)) return nullptr;
  const Py_ssize_t given = PyTuple_GET_SIZE(key);
  Py_ssize_t lead = 0, slices = 0;
  while (lead < given && (PyLong_CheckExact(PyTuple_GET_ITEM(key, lead)) || PySlice_Check(PyTuple_GET_ITEM(key, lead))))
    slices += PySlice_Check(PyTuple_GET_ITEM(key, lead++)) ? 1 : 0;
  if (lead == 0 || lead == given || PyTuple_GET_ITEM(key, lead) == Py_None || PyTuple_GET_ITEM(key, lead) == Py_Ellipsis) return nullptr;
  // Integers count as arrays: only directly before these they leave the axes in order.
  for (Py_ssize_t i = 0; i < slices; ++i)
    if (!PySlice_Check(PyTuple_GET_ITEM(key, i))) return nullptr;
  PyObject* head = PyTuple_GetSlice(key, 0, lead);
  if (!head) throw PythonError();
  Selection s;
  const bool selected = Select(head, *a, true, true, &s);
  Py_DECREF(head);
  const int64_t offset = selected ? Offset(s, a->shape()) : -1;
  if (offset < 0) return nullptr;
  PyObject *view = View(self, s, offset), *rest = PyTuple_New(slices + given - lead), *result = nullptr;
  if (view && rest) {
    for (Py_ssize_t i = 0; i < slices; ++i) PyTuple_SET_ITEM(rest, i, PySlice_New(nullptr, nullptr, nullptr));
    for (Py_ssize_t i = lead; i < given; ++i) {
      PyObject* k = PyTuple_GET_ITEM(key, i);
      Py_INCREF(k);
      PyTuple_SET_ITEM(rest, slices + i - lead, k);
    }
    try {
      if (!PyErr_Occurred()) result = GatherItem(view, rest);
    } catch (...) {
      Py_DECREF(view);
      Py_DECREF(rest);
      throw;
    }
  }
  Py_XDECREF(view);
  Py_XDECREF(rest);
  return result;
}

/* Whether a key is `:` or `()`, for which 1.9.1 and 2.0 give the array itself. */
bool IsWhole(PyObject* key, bool numpy, int ndim) {
  if (PyTuple_CheckExact(key)) return PyTuple_GET_SIZE(key) == 0;
  if (!PySlice_Check(key) || (numpy && ndim == 0)) return false;
  const PySliceObject* range = reinterpret_cast<PySliceObject*>(key);
  if (range->start != Py_None || range->stop != Py_None) return false;
  int overflow = 0;
  return range->step == Py_None || (PyLong_CheckExact(range->step) && PyLong_AsLongAndOverflow(range->step, &overflow) == 1);
}

PyObject* GetItem(PyObject* self, PyObject* key) {
  try {
    const bool views = MakesViews();
    const NDArray* a = views ? Peek(self) : Get(self);
    if (a && !a->is_none() && IsWhole(key, IsNumpy(self), a->shape().ndim())) {
      Py_INCREF(self);
      return self;
    }
    const ImperativeState& state = Imperative::State();
    if (a && !a->is_none() && !state.deferred_compute) {
      const bool numpy = IsNumpy(self);
      // Parts of an array that no gradient needs are views, also while autograd records.
      const bool recorded = state.recording && Imperative::HasHistory(*a);
      if (!numpy && IsArray(key)) {
        PyObject* rows = Get(key) ? TakeRows(self, key) : nullptr;
        if (rows || PyErr_Occurred()) return rows;
      } else if (!recorded || numpy) {
        PyObject* row = numpy && !state.recording && !views && PyLong_CheckExact(key) ? Row(self, *a, key) : nullptr;
        if (row) return row;
        Selection s;
        if (Select(key, *a, NumpyShapes() || numpy, numpy, &s)) {
          if (numpy && views && !state.recording) return ShowSelection(self, *a, s);
          const int64_t offset = Offset(s, a->shape());
          if (recorded || offset >= 0) {
            PyObject* o = recorded ? RecordedSlice(self, s) : View(self, s, offset);
            if (o && state.recording && offset >= 0 && !NotePart(o, self, key)) Py_CLEAR(o);
            return o;
          }
          PyObject* o = CutOut(self, *a, s);
          // An array that nobody else has is gone after the call.
          if (o && numpy) reinterpret_cast<PyNDArray*>(o)->cut_out = Py_REFCNT(self) > 1;
          return o;
        }
        if (numpy && !views) {  // NumPy's own integers among the keys give views as well
          PyObject* pieces = GatherItem(self, key);
          if (!pieces && !PyErr_Occurred() && !recorded) pieces = GatherFromView(self, key);
          if (pieces || PyErr_Occurred()) return pieces;
        }
      }
      if (!numpy && !IsArray(key)) {
        PyObject* pieces = GatherItem(self, key);
        if (pieces || PyErr_Occurred()) return pieces;
      }
    }
    return PyObject_CallFunctionObjArgs(get_item[ArrayTypeOf(self)], self, key, nullptr);
  } catch (...) {
    SetError();
    return nullptr;
  }
}

/* x[i] for whoever takes arrays for sequences, as those of 1.9.1 and NumPy are. */
PyObject* ItemAt(PyObject* self, Py_ssize_t i) {
  PyObject* key = PyLong_FromSsize_t(i);
  PyObject* item = key ? GetItem(self, key) : nullptr;
  Py_XDECREF(key);
  return item;
}

/* Runs an operator without inputs, or with `input`, whose result is `target`. */
int Write(const AttrsPtr& attrs, PyObject* input, PyObject* target) {
  PyObject* done = Invoke(attrs, &input, input ? 1 : 0, target);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/* Writes an array of the selection's shape where the elements do not lie side by side. */
int WriteStrided(PyObject* self, PyObject* value, const Selection& s) {
  static const Op* op = Op::Get("_slice_assign");
  const int ndim = Get(self)->shape().ndim();
  PyObject* box = Wrap(new NDArray(Get(value)->Reshape(Shape(s.count, ndim))), ClassOf(self));
  if (!box) return -1;
  PyObject* done = nullptr;
  try {
    PyObject* inputs[2] = {self, box};
    done = Invoke(SliceAttrs(op, s, ndim, nullptr), inputs, 2, self);
  } catch (...) {
    Py_DECREF(box);
    throw;
  }
  Py_DECREF(box);
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/* 1: not for here. */
int SetSelection(PyObject* self, PyObject* key, PyObject* value) {
  NDArray* a = Get(self);
  const ImperativeState& state = Imperative::State();
  if (!a || a->is_none() || !reinterpret_cast<PyNDArray*>(self)->writable || state.recording || state.deferred_compute) return 1;
  NoteWrite(self, true);
  const bool number = PyFloat_CheckExact(value) || PyLong_CheckExact(value);
  if (!number && !(IsArray(value) && Get(value) && !Get(value)->is_none())) return 1;
  Selection s;
  const bool numpy = IsNumpy(self);
  if (!Select(key, *a, NumpyShapes() || numpy, numpy, &s)) return ScatterItem(self, key, value);
  if (!number && IsNumpy(value) != numpy) return 1;
  const int64_t offset = Offset(s, a->shape());
  double v = 0;
  if (number) {
    v = PyFloat_AsDouble(value);
    if ((v == -1.0 && PyErr_Occurred()) || (numpy && PyLong_CheckExact(value) && !IsExact(v))) {
      PyErr_Clear();
      return 1;
    }
    if (offset < 0) {
      static const Op* op = Op::Get("_slice_assign_scalar");
      return Write(SliceAttrs(op, s, a->shape().ndim(), &v), self, self);
    }
    if (WriteNow(*a, offset, s.total, v)) return 0;
  } else {
    const NDArray* from = Get(value);
    if (from->dtype() != a->dtype() || from->ctx() != a->ctx() || from->shape() != s.shape()) return 1;
    if (offset < 0) return WriteStrided(self, value, s);
  }
  PyObject* target = View(self, s, offset);
  if (!target) return -1;
  int done = -1;
  try {
    if (number) {
      static const Op* op = Op::Get("_full");
      done = Write(FilledAttrs(op, s.result.data(), s.result.size(), a->dtype(), &v), nullptr, target);
    } else {
      static const Op* op = Op::Get("_copyto");
      static const AttrsPtr attrs = MakeAttrs(op, {});
      done = Write(attrs, value, target);
    }
  } catch (...) {
    Py_DECREF(target);
    throw;
  }
  Py_DECREF(target);
  return done;
}

int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  try {
    if (!value) {
      PyErr_SetString(PyExc_TypeError, "[indexing] elements of an array cannot be deleted");
      return -1;
    }
    const int done = SetSelection(self, key, value);
    if (done <= 0) return done;
    PyObject* none = PyObject_CallFunctionObjArgs(set_item[ArrayTypeOf(self)], self, key, value, nullptr);
    Py_XDECREF(none);
    return none ? 0 : -1;
  } catch (...) {
    SetError();
    return -1;
  }
}

const PyType_Slot slots[] = {{Py_mp_subscript, reinterpret_cast<void*>(GetItem)},
                             {Py_mp_ass_subscript, reinterpret_cast<void*>(SetItem)},
                             {Py_sq_item, reinterpret_cast<void*>(ItemAt)},
                             {0, nullptr}};

}  // namespace

PyObject* part_written = nullptr;

bool NotePart(PyObject* part, PyObject* whole, PyObject* key) {
  PyObject* to = PyWeakref_NewRef(whole, nullptr);
  if (!to) return false;
  PyObject* outer = reinterpret_cast<PyNDArray*>(whole)->part;
  PyObject* note = PyTuple_Pack(3, to, key, outer ? outer : Py_None);
  Py_DECREF(to);
  Py_XSETREF(reinterpret_cast<PyNDArray*>(part)->part, note);
  return note != nullptr;
}

const PyType_Slot* IndexingSlots() { return slots; }

PyObject* SetIndexing(PyObject*, PyObject* args) {
  PyObject *get, *set;
  int numpy = 0;
  if (!PyArg_ParseTuple(args, "OO|p", &get, &set, &numpy)) return nullptr;
  const ArrayType type = numpy ? kNumpy : kClassic;
  Py_INCREF(get);
  Py_INCREF(set);
  Py_XDECREF(get_item[type]);
  Py_XDECREF(set_item[type]);
  get_item[type] = get, set_item[type] = set;
  Py_RETURN_NONE;
}

}  // namespace python
}  // namespace mxnet
