// Functions of mx.np as callables whose common call costs what an operator does: arrays and numbers
// alone go to the record, everything else to a function in Python.
#include <Python.h>
#include <structmember.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <unordered_set>
#include <utility>

#include "binding.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"
#include "numpy_call.h"
#include "remembered.h"

namespace mxnet {
namespace python {
namespace {

/* What a function does with integers, which decides on what `out` may be; or a reduction; or a
 * method that takes the entries of its tuple one by one as well; or that it makes arrays of
 * nothing, of a number (kFills), or blank ones; or one of an array and a dtype; or of an array and
 * as many numbers as the record has parameters, which may be one axis; or of an array as a vector;
 * or blank arrays like another; or arrays of values; or the same, but of an array that array
 * itself; or a copy on the same device; or the number in an array. */
enum Kind {
  kFloats,
  kSame,
  kBools,
  kReduces,
  kSpreads,
  kMakes,
  kFills,
  kBlank,
  kCasts,
  kNumbers,
  kVector,
  kBlankLike,
  kOfValues,
  kAsArray,
  kCopies,
  kItem,
  kNumKinds
};
const char* const kind_names[kNumKinds] = {"float", "same",    "bool",   "reduce",     "spread", "make",     "fill", "blank",
                                           "cast",  "numbers", "vector", "blank_like", "array",  "as_array", "copy", "item"};

/* What a record does that copying a small array's elements does as well: it has the axes in another
 * order, or swaps two of them. */
enum Moves { kStays, kPermutes, kSwaps };

/* INVARIANT: `rest` is a Python function, and `dict` has what it is called, its text and
 * `__wrapped__`, which shows its signature. `unary` or `binary.array` is set, not both; `unary` of
 * a reduction has the parameter axis, or `tuple`, and may have keepdims. That of a function that
 * makes arrays has no inputs, and the parameters shape, or start, stop and step, and dtype. */
struct NumpyFunction {
  PyObject_HEAD vectorcallfunc call;
  PyObject *rest, *dict, *weakrefs;
  const Op* unary;
  BinaryRecords binary;
  Kind kind;
  bool keeps, ranges, zeros;  // has keepdims, start; makes zeros
  Moves moves;
  const char* tuple;  // the parameter instead of axis that is a tuple: axes or, always given, newshape; else null
};

/* Names of arguments, which are one object each in what Python has compiled. */
struct Names {
  PyObject *axis = nullptr, *keepdims = nullptr, *dtype = nullptr;
} known_names;

bool IsName(PyObject* name, PyObject* known, const char* text) {
  return name == known || PyUnicode_CompareWithASCIIString(name, text) == 0;
}

/* What functions that make arrays go by: the scopes of devices, whose list `stack` ends with the
 * current one, the device where operators work unless told otherwise, and the numbers of what
 * dtypes are called. */
struct Making {
  PyObject *scopes = nullptr, *home = nullptr, *dtypes = nullptr;
  /* Throws. The list of a thread stays the same, and is looked up where it is not the thread that
   * asked last. */
  bool AtHome() const {
    static uint64_t thread = 0;
    static PyObject* stack = nullptr;
    const uint64_t self = PyThreadState_GetID(PyThreadState_Get());
    if (!stack || thread != self) {
      PyObject* found = PyObject_GetAttrString(scopes, "stack");
      if (!found) throw PythonError();
      Py_XDECREF(std::exchange(stack, found));
      thread = self;
    }
    const Py_ssize_t n = PyList_Check(stack) ? PyList_GET_SIZE(stack) : 0;
    return n > 0 && PyList_GET_ITEM(stack, n - 1) == home;
  }
} making;

/* Results of arrays of this floating dtype (and numbers) are of it, and of the shape of one of
 * them. */
bool MayWrite(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* out) {
  if (f.kind == kBools || !IsNumpy(out)) return false;
  const int dtype = Get(out)->dtype();
  if (!IsFloating(dtype)) return false;
  bool shaped = false;  // else `out` may be larger than what is computed, which NumPy repeats then
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!IsNumpy(args[i])) continue;
    if (Get(args[i])->dtype() != dtype) return false;
    shaped |= Get(args[i])->shape() == Get(out)->shape();
  }
  return shaped;
}

/* `out` may be null. Null without an exception: not a call for the record. */
PyObject* RunDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* out) {
  if (out && !MayWrite(f, args, n, out)) return nullptr;
  if (f.unary) return n == 1 && IsNumpy(args[0]) ? Invoke(PlainAttrs(f.unary), args, 1, out) : nullptr;
  if (n != 2) return nullptr;
  const bool first = IsNumpy(args[0]), second = IsNumpy(args[1]);
  if (!(first && second) && !(first && !IsArray(args[1])) && !(second && !IsArray(args[0]))) return nullptr;
  PyObject* result = RunBinary(f.binary, args[0], args[1], out);
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  return nullptr;
}

/* An axis as a part of a key. False: not one of Python's own integers, or too large, or too
 * many. */
bool AppendAxis(PyObject* o, int64_t* key, int* count) {
  if (!PyLong_CheckExact(o) || *count >= 8) return false;
  int overflow = 0;
  key[(*count)++] = AsInt64(o, &overflow);
  return overflow == 0;
}

/* `key`: whether dimensions are kept, how many numbers there are (none, 1: one, 2: a tuple), and
 * these. */
const AttrsPtr& TupleAttrs(const NumpyFunction& f, const int64_t* key, int count) {
  return Remembered(f.unary, key, static_cast<size_t>(count), [&] {
    AttrDict dict;
    if (key[0]) dict["keepdims"] = "1";
    if (key[1] == 1) dict["axis"] = std::to_string(key[2]);
    if (key[1] == 2) dict[f.tuple ? f.tuple : "axis"] = Text(key + 2, static_cast<size_t>(count - 2));
    return dict;
  });
}

constexpr int64_t whole_vector[] = {false, 2, -1};

/* With a key of TupleAttrs. */
PyObject* RunWithAxes(const NumpyFunction& f, PyObject* const* args, const int64_t* key, int count) {
  if (f.moves == kPermutes)
    if (PyObject* moved = PermuteNow(args[0], key[1] == 0 ? nullptr : key + 2, count - 2)) return moved;
  return Invoke(TupleAttrs(f, key, count), args, 1, nullptr);
}

/* f(a, entry, entry...) of a function whose parameter is a tuple. */
PyObject* SpreadDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n) {
  int64_t key[10] = {false, 2};
  int count = 2;
  for (Py_ssize_t i = 1; i < n; ++i)
    if (!AppendAxis(args[i], key, &count)) return nullptr;
  return RunWithAxes(f, args, key, count);
}

/* f(a), f(a, axis), f(a, axis=..., keepdims=...); or f(a, tuple). Null without an exception:
 * another call. */
PyObject* ReduceDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  if (f.kind == kSpreads && !names && n > 1 && IsNumpy(args[0]) && PyLong_CheckExact(args[1])) return SpreadDirectly(f, args, n);
  if (n < 1 || n > 2 || !IsNumpy(args[0])) return nullptr;
  PyObject* axis = n == 2 ? args[1] : Py_None;
  bool keepdims = false;
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    PyObject *name = PyTuple_GET_ITEM(names, i), *value = args[n + i];
    if (n == 1 && (f.tuple ? PyUnicode_CompareWithASCIIString(name, f.tuple) == 0 : IsName(name, known_names.axis, "axis")))
      axis = value;
    else if (f.keeps && PyBool_Check(value) && IsName(name, known_names.keepdims, "keepdims"))
      keepdims = value == Py_True;
    else
      return nullptr;
  }
  if (f.tuple && axis == Py_None && std::strcmp(f.tuple, "newshape") == 0) return nullptr;
  // NumPy allows some axes of an array without dimensions.
  if (!f.tuple && axis != Py_None && Get(args[0])->shape().ndim() == 0) return nullptr;
  if (f.tuple && axis != Py_None && (!PyTuple_CheckExact(axis) || PyTuple_GET_SIZE(axis) == 0)) return nullptr;
  int64_t key[10] = {keepdims, axis == Py_None ? 0 : PyTuple_CheckExact(axis) ? 2 : 1};
  int count = 2;
  if (PyTuple_CheckExact(axis)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(axis); ++i)
      if (!AppendAxis(PyTuple_GET_ITEM(axis, i), key, &count)) return nullptr;
  } else if (axis != Py_None && !AppendAxis(axis, key, &count)) {
    return nullptr;
  }
  return RunWithAxes(f, args, key, count);
}

/* f(a, number...), or f(a, name=number...) in the record's order. Null without an exception:
 * another call. */
PyObject* NumbersDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const std::vector<ParamInfo>& params = f.unary->params;
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (n < 1 || n + named != static_cast<Py_ssize_t>(params.size()) + 1 || !IsNumpy(args[0])) return nullptr;
  for (Py_ssize_t i = 0; i < named; ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), params[n - 1 + i].name.c_str()) != 0) return nullptr;
  int64_t key[8];
  int count = 0;
  for (Py_ssize_t i = 1; i < n + named; ++i)
    if (!AppendAxis(args[i], key, &count)) return nullptr;
  if (f.moves == kSwaps)
    if (PyObject* moved = SwapNow(args[0], key[0], key[1])) return moved;
  const AttrsPtr& attrs = Remembered(f.unary, key, static_cast<size_t>(count), [&] {
    AttrDict dict;
    for (int i = 0; i < count; ++i) dict[params[i].name] = std::to_string(key[i]);
    return dict;
  });
  return Invoke(attrs, args, 1, nullptr);
}

/* A shape of Python's own integers. False: something else, or too many dimensions. */
bool ReadShape(PyObject* o, int64_t* dims, int* ndim) {
  if (PyLong_CheckExact(o)) return AppendAxis(o, dims, ndim) && dims[0] >= 0;
  if (!PyTuple_CheckExact(o)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
    if (!AppendAxis(PyTuple_GET_ITEM(o, i), dims, ndim) || dims[i] < 0) return false;
  return true;
}

/* The attributes of the range of one, two or three of Python's own numbers; null: others. */
AttrsPtr RangeAttrs(const Op* op, PyObject* const* args, Py_ssize_t n, int dtype) {
  double values[3];
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (!PyFloat_CheckExact(args[i]) && !PyLong_CheckExact(args[i])) return nullptr;
    values[i] = PyFloat_AsDouble(args[i]);
    if (PyErr_Occurred()) {  // too large
      PyErr_Clear();
      return nullptr;
    }
    if (!IsExact(values[i])) return nullptr;
  }
  const double start = n > 1 ? values[0] : 0, stop = values[n > 1 ? 1 : 0], step = n > 2 ? values[2] : 1;
  if (step == 0) return nullptr;
  int64_t key[4] = {0, 0, 0, dtype};
  std::memcpy(key, &start, 8);
  std::memcpy(key + 1, &stop, 8);
  std::memcpy(key + 2, &step, 8);
  return Remembered(op, key, 4, [&] {
    return AttrDict{{"start", NumberText(start)}, {"stop", NumberText(stop)}, {"step", NumberText(step)}, {"dtype", DTypeName(dtype)}};
  });
}

/* The dtype of a call: its last argument, or the one named, None without them. False: another
 * call. */
bool FindDType(PyObject* const* args, Py_ssize_t n, PyObject* names, Py_ssize_t place, PyObject** dtype) {
  *dtype = n == place + 1 ? args[place] : Py_None;
  if (!names) return true;
  if (PyTuple_GET_SIZE(names) != 1 || *dtype != Py_None || !IsName(PyTuple_GET_ITEM(names, 0), known_names.dtype, "dtype")) return false;
  *dtype = args[n];
  return true;
}

/* The number of a dtype, of the default one for None; -1: none that is known here. */
int DTypeNumber(PyObject* dtype) {
  bool wide = false;
  if (dtype == Py_None) return MXIsNumpyDefaultDtype(&wide) == 0 && wide ? kFloat64 : kFloat32;
  PyObject* known = PyDict_GetItemWithError(making.dtypes, dtype);
  PyErr_Clear();
  return known ? static_cast<int>(PyLong_AsLong(known)) : -1;
}

/* A number of Python's that a double holds, to fill an array of `*dtype` with. With NumPy's
 * defaults whole ones make int64 of none. */
bool ReadNumber(PyObject* o, double* value, int* dtype, bool given) {
  if (!PyFloat_CheckExact(o) && !PyLong_CheckExact(o)) return false;
  *value = PyFloat_AsDouble(o);
  if (*value == -1 && PyErr_Occurred()) return PyErr_Clear(), false;
  if (PyLong_CheckExact(o) && !given && *dtype == kFloat64) *dtype = kInt64;
  return std::isfinite(*value) && (PyFloat_CheckExact(o) || IsExact(*value));
}

/* May a new array be cleared at once: is it small, and does nobody record what makes it? */
bool MayZero(const int64_t* dims, int ndim, int dtype) {
  constexpr int64_t kMostBytes = 4096;
  int64_t bytes = static_cast<int64_t>(DTypeSize(dtype));
  for (int i = 0; i < ndim; ++i) {
    if (dims[i] > kMostBytes) return false;
    bytes *= dims[i];
    if (bytes > kMostBytes) return false;
  }
  const ImperativeState& state = Imperative::State();
  return bytes > 0 && !state.recording && !state.deferred_compute && profiler::Active() == 0;
}

PyObject* Zeros(const Shape& shape, int dtype) {
  PyObject* o = NewBlank(shape, Context::CPU(0), dtype, numpy_type);
  std::memset(Get(o)->data().dptr<void>(), 0, static_cast<size_t>(shape.Size()) * DTypeSize(dtype));
  return o;
}

/* f(shape), f(shape, number), both also with a dtype behind that, or f(start, stop, step), and
 * dtype=..., on the device where operators work unless told otherwise. Null without an exception:
 * another call. */
PyObject* MakeDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t place = f.ranges ? 3 : f.kind == kFills ? 2 : 1;  // of the dtype
  if (!making.scopes || MakesSymbols() || n < (f.ranges ? 1 : place) || n > (f.ranges ? 3 : place + 1)) return nullptr;
  PyObject* dtype = Py_None;
  if (!FindDType(args, n, names, place, &dtype)) return nullptr;
  int number = DTypeNumber(dtype);
  if (number < 0 || (f.ranges && dtype == Py_None && number == kFloat64)) return nullptr;
  AttrsPtr attrs;
  if (f.ranges) {
    attrs = RangeAttrs(f.unary, args, n, number);
  } else {
    int64_t dims[8];
    int ndim = 0;
    double value = 0;
    if (!ReadShape(args[0], dims, &ndim)) return nullptr;
    if (f.kind == kFills && !ReadNumber(args[1], &value, &number, dtype != Py_None)) return nullptr;
    if (f.kind == kBlank) return making.AtHome() ? NewBlank(Shape(dims, ndim), Context::CPU(0), number, numpy_type) : nullptr;
    if (f.zeros && MayZero(dims, ndim, number)) return making.AtHome() ? Zeros(Shape(dims, ndim), number) : nullptr;
    attrs = FilledAttrs(f.unary, dims, static_cast<size_t>(ndim), number, f.kind == kFills ? &value : nullptr);
  }
  if (!attrs) return nullptr;
  return making.AtHome() ? Invoke(attrs, nullptr, 0, nullptr, numpy_type) : nullptr;
}

/* f(a, dtype). Null without an exception: another call. */
PyObject* CastDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (!making.dtypes || n + named != 2 || n < 1 || !IsNumpy(args[0]) || args[1] == Py_None) return nullptr;
  if (named && !IsName(PyTuple_GET_ITEM(names, 0), known_names.dtype, "dtype")) return nullptr;
  const int64_t number = DTypeNumber(args[1]);
  if (number < 0) return nullptr;
  const AttrsPtr& attrs = Remembered(f.unary, &number, 1, [&] { return AttrDict{{"dtype", DTypeName(static_cast<int>(number))}}; });
  return Invoke(attrs, args, 1, nullptr);
}

/* f(values), f(values, dtype), of lists, tuples and numbers; or f(a) of an array. Null without an
 * exception: another call. */
PyObject* ValuesDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  PyObject* dtype = Py_None;
  if (!making.scopes || n < 1 || n > 2 || !FindDType(args, n, names, 1, &dtype)) return nullptr;
  if (IsNumpy(args[0])) {
    if (dtype != Py_None) return nullptr;
    return f.kind == kAsArray ? Py_NewRef(args[0]) : Invoke(PlainAttrs(f.unary), args, 1, nullptr);
  }
  const bool sequence = PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]);
  if (!sequence && (f.kind == kAsArray || !(PyFloat_CheckExact(args[0]) || PyLong_CheckExact(args[0])))) return nullptr;
  const int number = DTypeNumber(dtype);
  if (number < 0 || !making.AtHome()) return nullptr;
  PyObject* made = (sequence ? ArrayOfSequence : ArrayOfNumber)(args[0], Context::CPU(0), number, numpy_type);
  if (made == Py_None) Py_CLEAR(made);
  return made;
}

/* f(a) of the kinds that have no other form here. Null without an exception: another call. */
PyObject* OneDirectly(const NumpyFunction& f, PyObject* a) {
  const NDArray* array = IsNumpy(a) ? Get(a) : nullptr;
  if (!array || array->is_none()) return nullptr;
  if (f.kind == kVector) return Invoke(TupleAttrs(f, whole_vector, 3), &a, 1, nullptr);
  const Context ctx = array->ctx();
  if (f.kind == kCopies) return ctx.is_gpu() || ctx.dev_type == DeviceType::kCPU ? Invoke(PlainAttrs(f.unary), &a, 1, nullptr) : nullptr;
  if (Imperative::State().deferred_compute || MakesSymbols()) return nullptr;
  if (f.kind == kBlankLike) return NewBlank(array->shape(), ctx, array->dtype(), numpy_type);
  PyObject* number = NumberIn(a);
  if (number == Py_None) Py_CLEAR(number);
  return number;
}

PyObject* SetMaking(PyObject*, PyObject* args) {
  Making m;
  if (!PyArg_ParseTuple(args, "OOO!", &m.scopes, &m.home, &PyDict_Type, &m.dtypes)) return nullptr;
  Py_INCREF(m.scopes);
  Py_INCREF(m.home);
  Py_INCREF(m.dtypes);
  std::swap(m, making);
  Py_XDECREF(m.scopes);
  Py_XDECREF(m.home);
  Py_XDECREF(m.dtypes);
  Py_RETURN_NONE;
}

/* Records whose results are views where threads ask for these: Python makes them. */
std::unordered_set<const Op*>& Viewing() {
  static auto* records = new std::unordered_set<const Op*>;
  return *records;
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const NumpyFunction& f = *reinterpret_cast<NumpyFunction*>(self);
  if (MakesViews() && Viewing().count(f.unary) != 0) return PyObject_Vectorcall(f.rest, args, count, names);
  const Py_ssize_t n = PyVectorcall_NARGS(count), named = names ? PyTuple_GET_SIZE(names) : 0;
  try {
    PyObject* result = nullptr;
    if (f.kind == kReduces || f.kind == kSpreads)
      result = ReduceDirectly(f, args, n, names);
    else if (f.kind == kMakes || f.kind == kFills || f.kind == kBlank)
      result = MakeDirectly(f, args, n, names);
    else if (f.kind == kCasts)
      result = CastDirectly(f, args, n, names);
    else if (f.kind == kNumbers)
      result = NumbersDirectly(f, args, n, names);
    else if (f.kind == kOfValues || f.kind == kAsArray)
      result = ValuesDirectly(f, args, n, names);
    else if (f.kind == kVector || f.kind == kBlankLike || f.kind == kCopies || f.kind == kItem)
      result = n == 1 && named == 0 ? OneDirectly(f, args[0]) : nullptr;
    else if (named == 0)
      result = RunDirectly(f, args, n, nullptr);
    else if (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "out") == 0)
      result = RunDirectly(f, args, n, args[n] == Py_None ? nullptr : args[n]);
    if (result || PyErr_Occurred()) return result;
  } catch (...) {
    SetError();
    return nullptr;
  }
  return PyObject_Vectorcall(f.rest, args, count, names);
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *rest, *dict;
  const char *array, *scalar, *reverse, *kind_name, *truth = "";
  if (!PyArg_ParseTuple(args, "OO!ssss|s", &rest, &PyDict_Type, &dict, &array, &scalar, &reverse, &kind_name, &truth)) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  NumpyFunction& f = *reinterpret_cast<NumpyFunction*>(self);
  f.call = Call;
  f.rest = Py_NewRef(rest);
  f.dict = Py_NewRef(dict);
  f.weakrefs = nullptr;
  f.unary = nullptr;
  f.binary = {nullptr, nullptr, nullptr, true, nullptr};
  f.kind = kReduces;
  f.keeps = f.ranges = false;
  f.moves = kStays;
  f.tuple = nullptr;
  for (int kind = 0; kind < kNumKinds; ++kind)
    if (std::strcmp(kind_names[kind], kind_name) == 0) f.kind = static_cast<Kind>(kind);
  f.zeros = f.kind == kMakes && std::strcmp(array, "_npi_zeros") == 0;
  try {
    const Op* op = Op::Get(array);
    for (const ParamInfo& p : op->params) {
      f.keeps = f.keeps || p.name == "keepdims";
      for (const char* name : {"axes", "newshape"})
        if (p.name == name) f.tuple = name;
      if (p.name == "axes") f.moves = kPermutes;
      if (p.name == "dim2") f.moves = kSwaps;
      f.ranges = f.ranges || p.name == "start";
    }
    if (op->input_names.size() <= 1) {
      f.unary = op;
    } else {
      f.binary.array = op;
      if (scalar[0]) f.binary.scalar = Op::Get(scalar);
      if (reverse[0]) f.binary.reverse = Op::Get(reverse);
      if (truth[0]) f.binary.truth = Op::Get(truth);
    }
    if (PyObject_HasAttrString(rest, "_shows")) Viewing().insert(f.unary);
  } catch (...) {
    SetError();
    Py_DECREF(self);
    return nullptr;
  }
  return self;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  NumpyFunction& f = *reinterpret_cast<NumpyFunction*>(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(f.rest);
  Py_VISIT(f.dict);
  return 0;
}
int Clear(PyObject* self) {
  NumpyFunction& f = *reinterpret_cast<NumpyFunction*>(self);
  Py_CLEAR(f.rest);
  Py_CLEAR(f.dict);
  return 0;
}
void Free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<NumpyFunction*>(self)->weakrefs) PyObject_ClearWeakRefs(self);
  Clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/* As a method of a class. */
PyObject* Bind(PyObject* self, PyObject* object, PyObject*) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}
PyObject* Show(PyObject* self) {
  PyObject* name = PyObject_GetAttrString(self, "__name__");
  if (!name) return nullptr;
  PyObject* text = PyUnicode_FromFormat("<function mx.np.%S>", name);
  Py_DECREF(name);
  return text;
}
/* The same function with another `__dict__`, as a method. */
PyObject* As(PyObject* self, PyObject* dict) {
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "_as(dict)");
    return nullptr;
  }
  PyTypeObject* type = Py_TYPE(self);
  PyObject* copy = type->tp_alloc(type, 0);
  if (!copy) return nullptr;
  const NumpyFunction& from = *reinterpret_cast<NumpyFunction*>(self);
  NumpyFunction& to = *reinterpret_cast<NumpyFunction*>(copy);
  to.call = from.call;
  to.rest = Py_NewRef(from.rest);
  to.dict = Py_NewRef(dict);
  to.weakrefs = nullptr;
  to.unary = from.unary;
  to.binary = from.binary;
  to.kind = from.kind;
  to.keeps = from.keeps;
  to.ranges = from.ranges;
  to.zeros = from.zeros;
  to.moves = from.moves;
  to.tuple = from.tuple;
  return copy;
}
/* Pickled by name, as functions and methods are. */
PyObject* Reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(NumpyFunction, call), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(NumpyFunction, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(NumpyFunction, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr},
                         {"_as", As, METH_O, "The same function with another __dict__."},
                         {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
                       {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(Show)},
                       {Py_tp_members, members},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, attributes},
                       {0, nullptr}};
// An immutable type: Python finds methods of such types without looking them up each time.
PyType_Spec spec = {
    "mxnet._cy3.ndarray.NumpyFunction", static_cast<int>(sizeof(NumpyFunction)), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE, slots};

PyMethodDef functions[] = {{"_set_making", SetMaking, METH_VARARGS,
                            "Sets the scopes of devices, the device where operators work unless told otherwise, "
                            "and a dictionary from dtypes to their numbers."},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddNumpyFunction(PyObject* module) {
  known_names = {PyUnicode_InternFromString("axis"), PyUnicode_InternFromString("keepdims"), PyUnicode_InternFromString("dtype")};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddObject(module, "NumpyFunction", type) != 0) throw PythonError();
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
