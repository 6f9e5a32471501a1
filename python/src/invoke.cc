// Eager operators: parameters parsed once per distinct set of values, outputs made or checked,
// errors turned into Python exceptions.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "mxnet/op.h"
#include "mxnet/profiler.h"

namespace mxnet {
namespace python {

PyTypeObject* base_type = nullptr;
PyTypeObject* array_type = nullptr;
PyTypeObject* numpy_type = nullptr;
PyTypeObject* sparse_types[2] = {nullptr, nullptr};
PyObject* attr_to_str = nullptr;
PyObject* error_classes = nullptr;
PyObject* trace_note = nullptr;
std::string package_folder;

void SetError() {
  try {
    throw;
  } catch (const Error& e) {
    if (PyErr_CheckSignals() != 0 || SetInterrupt()) return;  // KeyboardInterrupt, where a Ctrl-C has let the call fail
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

void CheckWritable(PyObject* o) {
  if (!reinterpret_cast<PyNDArray*>(o)->writable)
    throw Error(Error::Kind::kValue, "[NDArray] the array is read-only; accepted: a writable one as `out` or target of an assignment");
  NoteWrite(o, false);
}

void WarnOfCopy(PyObject* o) {
  reinterpret_cast<PyNDArray*>(o)->cut_out = false;
  const char* text =
      "[indexing] a write into a copy: x[:, 1], x[::2] and their like share no memory with x, as in MXNet 1.9 and 2.0; NumPy's do. "
      "x[key] = value and x[key] += value write into x; x[key].copy() says that a copy is meant; npx.set_np(views=True) makes NumPy's "
      "views";
  if (PyErr_WarnEx(PyExc_UserWarning, text, 1) != 0) throw PythonError();
}

namespace {

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
    Kept item;  // turning one into text may change the list
    key->push_back('(');
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(v); ++i) {
      PyObject* element = PySequence_Fast_GET_ITEM(v, i);
      if (PyList_CheckExact(v)) item.Add(element);
      AppendKey(key, element);
    }
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

/* Throws for inputs of both classes: their rules differ. Operators that write their inputs, update
 * rules among them, have states of either. */
void CheckOneClass(const Attrs& attrs, PyObject* const* inputs, Py_ssize_t num_inputs) {
  bool found[2] = {false, false};
  for (Py_ssize_t i = 0; i < num_inputs; ++i) found[IsNumpy(inputs[i])] = true;
  if (!found[0] || !found[1] || !attrs.op->MutateInputs(attrs).empty()) return;
  throw Error(Error::Kind::kType, "[" + attrs.op->name +
                                      "] got arrays of mx.nd and of mx.np; accepted: one kind (as_np_ndarray() and as_nd_ndarray() "
                                      "make one of the other, sharing memory)");
}

bool EngineRunsAtOnce() {
  static const bool naive = std::strcmp(Engine::Get()->type(), "NaiveEngine") == 0;
  return naive;
}

}  // namespace

void RefuseClassic(const Op* op, PyObject* const* inputs, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i)
    if (IsArray(inputs[i]) && !IsNumpy(inputs[i]))
      throw Error(Error::Kind::kType, "[" + op->name + "] input " + std::to_string(i) +
                                          " is an array of mx.nd; accepted: one of mx.np (as_np_ndarray() makes it one, sharing memory)");
}

AttrsPtr ParseAttrs(const Op* op, PyObject* keys, PyObject* values, int num_inputs) {
  const Py_ssize_t n = PyTuple_GET_SIZE(keys);
  if (PyTuple_GET_SIZE(values) != n) throw Error(Error::Kind::kValue, "[" + op->name + "] parameter names and values differ in number");
  return ParseAttrs(op, PySequence_Fast_ITEMS(keys), PySequence_Fast_ITEMS(values), n, num_inputs);
}

AttrsPtr ParseAttrs(const Op* op, PyObject* const* names, PyObject* const* values, Py_ssize_t n, int num_inputs) {
  static thread_local AttrsCache cache;
  static thread_local std::string key;
  key.assign(reinterpret_cast<const char*>(&op), sizeof(op));
  if (!op->key_var_num_args.empty()) key.append(reinterpret_cast<const char*>(&num_inputs), sizeof(num_inputs));
  for (Py_ssize_t i = 0; i < n; ++i) {
    AppendKey(&key, names[i]);
    AppendKey(&key, values[i]);
  }
  if (const AttrsPtr* known = cache.Find(key)) return *known;
  const std::string saved = key;  // parsing may come back here through attr_to_str
  AttrDict dict;
  for (Py_ssize_t i = 0; i < n; ++i) dict[ToText(names[i])] = ToText(values[i]);
  if (!op->key_var_num_args.empty() && !dict.count(op->key_var_num_args)) dict[op->key_var_num_args] = std::to_string(num_inputs);
  AttrsPtr attrs = MakeAttrs(op, std::move(dict));
  CheckPublic(*attrs);
  if (AttrsCache::Takes(saved, *op)) cache.Put(saved, attrs);
  return attrs;
}

namespace {

/* Buffers of finished calls, which nest through array functions. All are used with the interpreter
 * lock held. */
struct Lease {
  struct Buffers {
    std::vector<NDArray*> in, results;
    Buffers* next;
  };
  Buffers* const b;
  Lease() : b(spare ? spare : new Buffers) {
    if (spare) spare = b->next;
    b->in.clear();
    b->results.clear();
  }
  ~Lease() {
    b->next = spare;
    spare = b;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  static Buffers* spare;
};
Lease::Buffers* Lease::spare = nullptr;

/* What is made by one call, in its order; freed again when the operator throws. */
struct Fresh {
  PyObject* small[4];
  std::vector<PyObject*> large;
  int count = 0;
  NDArray* Add(PyTypeObject* type) {
    PyObject* o = NewResult(type);
    if (!o) throw PythonError();
    if (count < 4)
      small[count] = o;
    else
      large.push_back(o);
    ++count;
    return Get(o);
  }
  PyObject* Release(int i) { return std::exchange(i < 4 ? small[i] : large[i - 4], nullptr); }
  PyObject* Take(int i) {
    PyObject* o = Release(i);
    TakeClass(o);
    return o;
  }
  ~Fresh() {
    for (int i = 0; i < count; ++i) Py_XDECREF(Release(i));
  }
};

/* A call of the short way (Imperative::InvokeAtOnce), without lists. Null without an exception:
 * another call, or one that is to be refused. */
PyObject* InvokeAtOnce(const AttrsPtr& attrs, PyObject* const* inputs, Py_ssize_t num_inputs, PyTypeObject* type) {
  constexpr Py_ssize_t kMost = 3;
  const Op& op = *attrs->op;
  if (num_inputs > kMost || op.num_outputs || op.num_visible_outputs || op.output_names.size() != 1 || profiler::Active() != 0)
    return nullptr;
  NDArray* in[kMost];
  for (Py_ssize_t i = 0; i < num_inputs; ++i) {
    if (!IsArray(inputs[i]) || (i > 0 && Py_TYPE(inputs[i]) != Py_TYPE(inputs[0]))) return nullptr;
    in[i] = Get(inputs[i]);
  }
  if (!type) type = num_inputs > 0 ? ClassOf(inputs[0]) : array_type;
  PyObject* result = NewResult(type);
  if (!result) throw PythonError();
  try {
    if (Imperative::InvokeAtOnce(attrs, Span<NDArray* const>(in, static_cast<int>(num_inputs)), Get(result))) return result;
  } catch (...) {
    Py_DECREF(result);
    throw;
  }
  Py_DECREF(result);
  return nullptr;
}

PyObject* InvokeKept(const AttrsPtr& attrs, PyObject* const* inputs, Py_ssize_t num_inputs, PyObject* out, PyTypeObject* type) {
  if (!out || out == Py_None) {
    PyObject* result = InvokeAtOnce(attrs, inputs, num_inputs, type);
    if (result) return result;
  }
  const Lease lease;
  std::vector<NDArray*>&in = lease.b->in, &results = lease.b->results;
  const Op* op = attrs->op;
  for (Py_ssize_t i = 0; i < num_inputs; ++i) {
    if (!IsArray(inputs[i]))
      throw Error(Error::Kind::kType,
                  "[" + op->name + "] input " + std::to_string(i) + " is a " + Py_TYPE(inputs[i])->tp_name + "; accepted: an NDArray");
    in.push_back(Get(inputs[i]));
  }
  if (numpy_type && num_inputs > 1) CheckOneClass(*attrs, inputs, num_inputs);
  if (!type) type = num_inputs > 0 ? ClassOf(inputs[0]) : array_type;
  const int total = op->NumOutputs(*attrs), visible = op->NumVisibleOutputs(*attrs);
  std::vector<PyObject*> given;
  if (out && out != Py_None) {
    if (IsArray(out)) {
      given.push_back(out);
    } else if (PyTuple_Check(out) || PyList_Check(out)) {
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(out); ++i) given.push_back(PySequence_Fast_GET_ITEM(out, i));
    } else {
      throw Error(Error::Kind::kType,
                  "[" + op->name + "] `out` is a " + std::string(Py_TYPE(out)->tp_name) + "; accepted: an NDArray or a list of them");
    }
    if (static_cast<int>(given.size()) != visible && static_cast<int>(given.size()) != total)
      throw Error(Error::Kind::kValue,
                  "[" + op->name + "] got " + std::to_string(given.size()) + " arrays in `out`; accepted: " + std::to_string(visible));
    for (PyObject* o : given) {
      if (!IsArray(o))
        throw Error(Error::Kind::kType, "[" + op->name + "] `out` holds a " + std::string(Py_TYPE(o)->tp_name) + "; accepted: NDArrays");
      CheckWritable(o);
      if (!Noted(kWritesInPlace, o)) throw PythonError();
      results.push_back(Get(o));
    }
  }
  Fresh fresh;
  while (static_cast<int>(results.size()) < total) results.push_back(fresh.Add(type));
  Kept kept;
  AttrsPtr held;
  // Who may wait, here or in an engine that runs all at once, must not hold the interpreter lock:
  // custom operators want it.
  const RunBy runs = op->RunsBy(*attrs);
  const bool free = runs == RunBy::kArrays || runs == RunBy::kAsync || EngineRunsAtOnce();
  if (free) {
    for (Py_ssize_t i = 0; i < num_inputs; ++i) kept.Add(inputs[i]);
    for (PyObject* o : given) kept.Add(o);
    held = attrs;
  }
  {
    GilRelease unlocked(free, true);
    profiler::NameScope profiled(profiler::NameScope::kApiCall, "MXImperativeInvokeEx");
    const size_t read = given.empty() ? static_cast<size_t>(visible) : given.size();
    Imperative::Invoke(free ? held : attrs, in, results, nullptr, read);
  }
  for (PyObject* o : given) {
    TakeClass(o);  // an array without shape and memory may have got any storage
    if (!reinterpret_cast<PyNDArray*>(o)->part || !part_written || !Imperative::State().recording || !Imperative::HasHistory(*Get(o)))
      continue;
    PyObject* done = PyObject_CallOneArg(part_written, o);
    if (!done) return nullptr;
    Py_DECREF(done);
  }
  if (!given.empty()) {
    Py_INCREF(out);
    return out;
  }
  if (visible == 1) return fresh.Take(0);
  PyObject* list = PyList_New(visible);
  if (!list) return nullptr;
  for (int i = 0; i < visible; ++i) PyList_SET_ITEM(list, i, fresh.Take(i));
  return list;
}

/* Taking views may give up the interpreter lock, and other threads may change the lists then. */
PyObject* InvokeOnViews(const AttrsPtr& attrs, PyObject* const* inputs, Py_ssize_t num_inputs, PyObject* out, PyTypeObject* type) {
  const AttrsPtr held = attrs;
  Kept kept;
  for (Py_ssize_t i = 0; i < num_inputs; ++i) kept.Add(inputs[i]);
  PyObject* own = out && PyList_Check(out) ? PyList_AsTuple(out) : Py_XNewRef(out);
  if (out && !own) throw PythonError();
  PyObject* result = nullptr;
  try {
    result = InvokeKept(held, kept.objects.data(), num_inputs, own, type);
  } catch (...) {
    Py_XDECREF(own);
    throw;
  }
  if (result && result == own) {
    Py_DECREF(result);
    result = Py_NewRef(out);
  }
  Py_XDECREF(own);
  return result;
}

}  // namespace

PyObject* Invoke(const AttrsPtr& attrs, PyObject* const* inputs, Py_ssize_t num_inputs, PyObject* out, PyTypeObject* type) {
  return (__builtin_expect(num_views != 0, 0) ? InvokeOnViews : InvokeKept)(attrs, inputs, num_inputs, out, type);
}

}  // namespace python
}  // namespace mxnet
