// Calls of ONNX models with arrays of numbers and strings. Whatever else there is (lists,
// sequences) goes through ctypes (mxnet/onnx/_model.py).
#include "onnx_call.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "mxnet/c_api_onnx.h"

namespace mxnet {
namespace python {
namespace {

struct FreeValue {
  void operator()(void* value) const { MXOnnxValueFree(value); }
};
using OnnxValue = std::unique_ptr<void, FreeValue>;

void Check(int status) {
  if (status == 0) return;
  PyErr_SetString(PyExc_RuntimeError, MXGetLastError());
  throw PythonError();
}

struct Release {
  void operator()(PyObject* object) const { Py_DECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;

Owned Own(PyObject* object) {
  if (!object) throw PythonError();
  return Owned(object);
}

/* Strings as ((sizes), [str]). */
PyObject* StringsOf(const OnnxValue& value) {
  int ndim = 0;
  int64_t count = 0;
  const int64_t* dims = nullptr;
  const char** texts = nullptr;
  Check(MXOnnxValueGetStrings(value.get(), &ndim, &dims, &count, &texts));
  const Owned shape = Own(PyTuple_New(ndim)), list = Own(PyList_New(count));
  for (int i = 0; i < ndim; ++i) PyTuple_SET_ITEM(shape.get(), i, Own(PyLong_FromLongLong(dims[i])).release());
  for (int64_t i = 0; i < count; ++i) PyList_SET_ITEM(list.get(), i, Own(PyUnicode_FromString(texts[i])).release());
  return Own(PyTuple_Pack(2, shape.get(), list.get())).release();
}

/* A tensor as an array, strings as above, anything else as the value's address, which the caller
 * frees then. */
PyObject* ResultOf(OnnxValue value, PyTypeObject* type) {
  int kind = kMXOnnxNone;
  Check(MXOnnxValueGetKind(value.get(), &kind));
  if (kind == kMXOnnxStrings) return StringsOf(value);
  if (kind != kMXOnnxTensor) return PointerObject(value.release());
  NDArrayHandle array = nullptr;
  Check(MXOnnxValueGetTensor(value.get(), &array));
  return Wrap(static_cast<NDArray*>(array), type);
}

/* str or bytes; *out stays null where one is something else. */
int ValueOfTexts(const std::vector<int64_t>& dims, PyObject* const* objects, Py_ssize_t count, OnnxValueHandle* out) {
  std::vector<const char*> texts;
  for (PyObject* const* o = objects; o != objects + count; ++o) {
    if (!*o || (!PyUnicode_Check(*o) && !PyBytes_Check(*o))) return 0;
    texts.push_back(PyUnicode_Check(*o) ? PyUnicode_AsUTF8(*o) : PyBytes_AS_STRING(*o));
    if (!texts.back()) throw PythonError();
  }
  return MXOnnxValueCreateStrings(static_cast<int>(dims.size()), dims.data(), static_cast<int64_t>(texts.size()), texts.data(), out);
}

/* Of an array whose format in the buffer protocol is this; -1: the library has none. */
int DTypeOf(const char* format, Py_ssize_t size) {
  if (!format || !format[0] || format[1]) return -1;
  static const int signed_ints[] = {kInt8, kInt16, kInt32, kInt64}, unsigned_ints[] = {kUint8, kUint16, kUint32, kUint64};
  const int place = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
  if (place >= 0 && std::strchr("bhilq", format[0])) return signed_ints[place];
  if (place >= 0 && std::strchr("BHILQ", format[0])) return unsigned_ints[place];
  return format[0] == 'e' ? kFloat16 : format[0] == 'f' ? kFloat32 : format[0] == 'd' ? kFloat64 : format[0] == '?' ? kBool : -1;
}

/* The kind of NumPy's strings of fixed width in this format ('w': of 4 bytes a character, 's': of
 * bytes); 0: others, and those of another byte order. */
char WidthKind(const char* format) {
  if (!format) return 0;
  const size_t digits = std::strspn(format, "0123456789");
  const char kind = format[digits];
  return (kind == 'w' || kind == 's') && format[digits + 1] == '\0' ? kind : 0;
}

/* Appends a character as UTF-8; false: it is none. */
bool AppendCharacter(uint32_t c, std::string* text) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
  const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const int heads[] = {0, 0xC0, 0xE0, 0xF0};
  text->push_back(static_cast<char>(heads[more] | (c >> (6 * more))));
  for (int i = more - 1; i >= 0; --i) text->push_back(static_cast<char>(0x80 | (c >> (6 * i) & 0x3F)));
  return true;
}

/* Strings of fixed width, which zeros fill up. */
int ValueOfWidths(const Py_buffer& buffer, char kind, const std::vector<int64_t>& dims, OnnxValueHandle* out) {
  const size_t each = kind == 'w' ? sizeof(uint32_t) : 1;
  const size_t width = static_cast<size_t>(buffer.itemsize) / each;
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  std::string all;
  std::vector<size_t> starts;
  for (int64_t i = 0; i < count; ++i) {
    const char* const item = static_cast<const char*>(buffer.buf) + static_cast<size_t>(i) * width * each;
    const auto character = [&](size_t at) {
      uint32_t c = static_cast<unsigned char>(item[at]);
      if (each != 1) std::memcpy(&c, item + at * each, each);
      return c;
    };
    size_t size = width;
    while (size > 0 && character(size - 1) == 0) --size;
    starts.push_back(all.size());
    for (size_t at = 0; at < size; ++at) {
      if (each == 1)
        all.push_back(item[at]);
      else if (!AppendCharacter(character(at), &all))
        return 0;
    }
    all.push_back('\0');
  }
  std::vector<const char*> texts;
  for (const size_t start : starts) texts.push_back(all.data() + start);
  return MXOnnxValueCreateStrings(static_cast<int>(dims.size()), dims.data(), count, texts.data(), out);
}

/* Subclasses and what else has a buffer are left to NumPy. */
bool IsTheirs(PyObject* given) { return std::strcmp(Py_TYPE(given)->tp_name, "numpy.ndarray") == 0; }

/* Values that a call reads where NumPy has them, and what keeps them there until it has. */
class Borrowed {
 public:
  void Add(OnnxValueHandle value, std::unique_ptr<HeldBuffer> buffer) { values_.emplace_back(value, std::move(buffer)); }
  /* Behind a call. */
  void Finish() {
    for (auto& each : values_) MXOnnxValueFinish(each.first);
  }

 private:
  std::vector<std::pair<OnnxValueHandle, std::unique_ptr<HeldBuffer>>> values_;
};

/* Of NumPy's array. Small ones are copied. */
int ValueOfBuffer(PyObject* given, Borrowed* borrowed, OnnxValueHandle* out) {
  constexpr Py_ssize_t kLeastBorrowed = 1 << 16;
  constexpr int kFlags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT;
  const HeldBuffer held(given, kFlags);
  if (!held.held) return PyErr_Clear(), 0;
  const Py_buffer& buffer = held.view;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "sizes of buffers are read as they are");
  const auto* const sizes = reinterpret_cast<const int64_t*>(buffer.shape);
  const int dtype = DTypeOf(buffer.format, buffer.itemsize);
  if (dtype < 0) {
    const std::vector<int64_t> dims(sizes, sizes + buffer.ndim);
    if (buffer.format && buffer.format[0] == 'O' && !buffer.format[1])
      return ValueOfTexts(dims, static_cast<PyObject* const*>(buffer.buf), buffer.len / buffer.itemsize, out);
    const char kind = WidthKind(buffer.format);
    return kind ? ValueOfWidths(buffer, kind, dims, out) : 0;
  }
  const bool lies_well = reinterpret_cast<uintptr_t>(buffer.buf) % static_cast<size_t>(buffer.itemsize) == 0;
  if (buffer.len < kLeastBorrowed || !lies_well)
    return MXOnnxValueCreateFromBytes(dtype, buffer.ndim, sizes, buffer.buf, static_cast<size_t>(buffer.len), out);
  auto kept = std::make_unique<HeldBuffer>(given, kFlags);  // for longer than `held`
  if (!kept->held) return PyErr_Clear(), 0;
  const int status = MXOnnxValueCreateOnBytes(dtype, buffer.ndim, sizes, buffer.buf, static_cast<size_t>(buffer.len), out);
  if (status == 0) borrowed->Add(*out, std::move(kept));
  return status;
}

/* ((sizes), [str or bytes]). */
int ValueOfList(PyObject* given, OnnxValueHandle* out) {
  if (PyTuple_GET_SIZE(given) != 2) return 0;
  PyObject *shape = PyTuple_GET_ITEM(given, 0), *list = PyTuple_GET_ITEM(given, 1);
  if (!PyTuple_CheckExact(shape) || !PyList_CheckExact(list)) return 0;
  std::vector<int64_t> dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); ++i) {
    dims.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i)));
    if (PyErr_Occurred()) throw PythonError();
  }
  return ValueOfTexts(dims, PySequence_Fast_ITEMS(list), PyList_GET_SIZE(list), out);
}

/* The C function's status; *out is null where the value is none of these. `borrowed`: who keeps the
 * memory of NumPy's arrays; null: they are something else. */
int ValueOf(PyObject* given, Borrowed* borrowed, OnnxValueHandle* out) {
  if (PyObject_TypeCheck(given, array_type)) return Peek(given) ? MXOnnxValueCreateTensor(Get(given), out) : 0;
  if (PyTuple_CheckExact(given)) return ValueOfList(given, out);
  return borrowed && IsTheirs(given) ? ValueOfBuffer(given, borrowed, out) : 0;
}

/* The arrays that outputs are written to, by name. */
struct Given {
  explicit Given(PyObject* dictionary) {
    PyObject *name = nullptr, *array = nullptr;
    for (Py_ssize_t at = 0; dictionary && PyDict_Next(dictionary, &at, &name, &array);) {
      const bool known = PyUnicode_CheckExact(name) && PyObject_TypeCheck(array, array_type) && Peek(array);
      if (!known) return;
      names.push_back(PyUnicode_AsUTF8(name));
      if (!names.back()) throw PythonError();
      arrays.push_back(Get(array));
    }
    all = true;
  }
  bool all = false;  // are what they should be
  std::vector<const char*> names;
  std::vector<NDArrayHandle> arrays;
};

/* The inputs of a call. The caller keeps names and values. */
class Inputs {
 public:
  explicit Inputs(size_t count) {
    names_.reserve(count);
    handles_.reserve(count);
  }
  ~Inputs() {
    for (OnnxValueHandle handle : handles_) MXOnnxValueFree(handle);
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  /* `theirs`: 0, NumPy's arrays are something else; else they are read. */
  bool Add(PyObject* name, PyObject* value, long theirs) {
    if (!PyUnicode_CheckExact(name)) return false;
    names_.push_back(PyUnicode_AsUTF8(name));
    if (!names_.back()) throw PythonError();
    OnnxValueHandle handle = nullptr;
    status_ = ValueOf(value, theirs != 0 ? &borrowed_ : nullptr, &handle);
    if (status_ != 0 || !handle) return false;
    handles_.push_back(handle);
    if (PyObject_TypeCheck(value, array_type)) {
      any_ours_ = true;
      if (IsNumpy(value)) type_ = numpy_type;
    }
    return true;
  }
  /* The class of results: of mx.np also where `theirs` says so (2) and no array is ours. */
  PyTypeObject* TypeOfResults(long theirs) const { return !any_ours_ && theirs == 2 ? numpy_type : type_; }
  bool empty() const { return handles_.empty(); }
  int status() const { return status_; }  // of the C function that refused one

  /* The C function's status. Other Python threads run meanwhile. */
  int Run(void* model, const Given& given, std::vector<OnnxValue>* results) {
    int count = 0, status = 0;
    OnnxValueHandle* out = nullptr;
    {
      GilRelease unlocked(true, true);
      status =
          MXOnnxModelRunInto(model, static_cast<int>(handles_.size()), names_.data(), handles_.data(), static_cast<int>(given.names.size()),
                             const_cast<const char**>(given.names.data()), const_cast<NDArrayHandle*>(given.arrays.data()), &count, &out);
      borrowed_.Finish();
    }
    if (status != 0) return status;
    results->reserve(static_cast<size_t>(count));  // the list that `out` points to is the thread's, for its next call
    for (int i = 0; i < count; ++i) results->emplace_back(out[i]);
    return 0;
  }

 private:
  std::vector<const char*> names_;
  std::vector<OnnxValueHandle> handles_;
  Borrowed borrowed_;
  PyTypeObject* type_ = array_type;
  bool any_ours_ = false;
  int status_ = 0;
};

/* A number that a caller gave. */
long NumberOf(PyObject* given) {
  const long number = PyLong_AsLong(given);
  if (number == -1 && PyErr_Occurred()) throw PythonError();
  return number;
}

void* ModelOf(PyObject* given) {
  void* const model = PyLong_AsVoidPtr(given);
  if (!model && PyErr_Occurred()) throw PythonError();
  return model;
}

/* What a function of this file returns where it made no call. */
PyObject* Refusal(const Inputs& inputs) {
  if (inputs.status() != 0) return PyLong_FromLong(inputs.status());
  Py_RETURN_NONE;
}

/* A list, or a tuple where a result is no array. */
PyObject* ListOf(std::vector<OnnxValue> results, PyTypeObject* type) {
  const auto count = static_cast<Py_ssize_t>(results.size());
  Owned list = Own(PyList_New(count));
  bool all_arrays = true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const result = Own(ResultOf(std::move(results[static_cast<size_t>(i)]), type)).release();
    all_arrays = all_arrays && Py_TYPE(result) == type;
    PyList_SET_ITEM(list.get(), i, result);
  }
  return all_arrays ? list.release() : PyList_AsTuple(list.get());
}

/* onnx_run(handle, names, values, theirs, given): the C function's status, a list of results (a
 * tuple where one is no array), or None where a value is something else. `theirs`: 0, NumPy's
 * arrays are something else; else they are read, and where no array is ours, results are arrays of
 * mx.nd (1) or mx.np (2). `given`: a dictionary of arrays of ours that outputs are written to. */
PyObject* OnnxRun(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 5 || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]) || PyTuple_GET_SIZE(args[1]) != PyTuple_GET_SIZE(args[2]) ||
      !PyDict_Check(args[4]))
    return PyErr_Format(PyExc_TypeError, "onnx_run(handle, names, values, theirs, given): two tuples of one length, a dictionary");
  try {
    void* const model = ModelOf(args[0]);
    const long theirs = NumberOf(args[3]);
    const Py_ssize_t n = PyTuple_GET_SIZE(args[1]);
    Inputs inputs(static_cast<size_t>(n));
    for (Py_ssize_t i = 0; i < n; ++i)
      if (!inputs.Add(PyTuple_GET_ITEM(args[1], i), PyTuple_GET_ITEM(args[2], i), theirs)) return Refusal(inputs);
    if (inputs.empty()) Py_RETURN_NONE;
    const Given given(args[4]);
    if (!given.all) Py_RETURN_NONE;
    std::vector<OnnxValue> results;
    if (const int status = inputs.Run(model, given, &results)) return PyLong_FromLong(status);
    return ListOf(std::move(results), inputs.TypeOfResults(theirs));
  } catch (...) {
    SetError();
    return nullptr;
  }
}

/* What a dictionary has, value after name. Other Python threads may change it during the call. */
Kept ItemsOf(PyObject* dictionary) {
  Kept kept;
  kept.objects.reserve(2 * static_cast<size_t>(PyDict_GET_SIZE(dictionary)));
  PyObject *name = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dictionary, &at, &name, &value);) {
    kept.Add(name);
    kept.Add(value);
  }
  return kept;
}

bool AddAll(const Kept& items, long theirs, Inputs* inputs) {
  for (size_t i = 0; i < items.objects.size(); i += 2)
    if (!inputs->Add(items.objects[i], items.objects[i + 1], theirs)) return false;
  return !inputs->empty();
}

/* onnx_named(handle, inputs, outputs, theirs): as onnx_run for a dictionary of inputs, without
 * outputs that are given. Where all results are arrays, they are a dictionary with the names in the
 * tuple `outputs`. */
PyObject* OnnxNamed(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4 || !PyDict_Check(args[1]) || !PyTuple_Check(args[2]))
    return PyErr_Format(PyExc_TypeError, "onnx_named(handle, inputs, outputs, theirs): a dictionary, a tuple");
  try {
    void* const model = ModelOf(args[0]);
    const long theirs = NumberOf(args[3]);
    const Kept items = ItemsOf(args[1]);
    Inputs inputs(items.objects.size() / 2);
    if (!AddAll(items, theirs, &inputs)) return Refusal(inputs);
    std::vector<OnnxValue> results;
    if (const int status = inputs.Run(model, Given(nullptr), &results)) return PyLong_FromLong(status);
    Owned list = Own(ListOf(std::move(results), inputs.TypeOfResults(theirs)));
    if (!PyList_CheckExact(list.get()) || PyList_GET_SIZE(list.get()) != PyTuple_GET_SIZE(args[2])) return list.release();
    Owned named = Own(PyDict_New());
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[2]); ++i)
      if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(args[2], i), PyList_GET_ITEM(list.get(), i)) != 0) throw PythonError();
    return named.release();
  } catch (...) {
    SetError();
    return nullptr;
  }
}

/* NumPy, as far as results need it. Kept until the process ends. */
class Numpy {
 public:
  Numpy() {
    const Owned numpy = Own(PyImport_ImportModule("numpy"));
    empty_ = Own(PyObject_GetAttrString(numpy.get(), "empty")).release();
    const std::pair<int, const char*> names[] = {{kFloat16, "float16"}, {kFloat32, "float32"}, {kFloat64, "float64"}, {kBool, "bool"},
                                                 {kInt8, "int8"},       {kInt16, "int16"},     {kInt32, "int32"},     {kInt64, "int64"},
                                                 {kUint8, "uint8"},     {kUint16, "uint16"},   {kUint32, "uint32"},   {kUint64, "uint64"}};
    for (const auto& each : names)
      dtypes_.emplace_back(each.first, Own(PyObject_CallMethod(numpy.get(), "dtype", "s", each.second)).release());
  }
  /* Not a guarded local: a thread that waits for another one's import would keep the interpreter's
   * lock. */
  static const Numpy& Get() {
    static std::atomic<const Numpy*> numpy{nullptr};
    if (!numpy.load(std::memory_order_acquire)) numpy.store(new Numpy, std::memory_order_release);
    return *numpy.load(std::memory_order_acquire);
  }
  /* A copy of a small array that nobody writes; null for others. */
  Owned CopyOf(const NDArray& array) const {
    PyObject* dtype = nullptr;
    for (const auto& each : dtypes_)
      if (each.first == array.dtype()) dtype = each.second;
    if (!dtype || array.is_none()) return nullptr;
    const int ndim = array.shape().ndim();
    const Owned shape = Own(PyTuple_New(ndim));
    for (int i = 0; i < ndim; ++i) PyTuple_SET_ITEM(shape.get(), i, Own(PyLong_FromLongLong(array.shape()[i])).release());
    PyObject* const arguments[] = {shape.get(), dtype};
    Owned made = Own(PyObject_Vectorcall(empty_, arguments, 2, nullptr));
    const HeldBuffer to(made.get(), PyBUF_WRITABLE);
    if (!to.held) throw PythonError();
    return ReadNow(array, to.view.buf, static_cast<size_t>(to.view.len)) ? std::move(made) : nullptr;
  }

 private:
  PyObject* empty_ = nullptr;
  std::vector<std::pair<int, PyObject*>> dtypes_;
};

/* onnx_numpy(handle, inputs, wanted): as onnx_run for a dictionary of inputs, with results of
 * NumPy. `wanted`: a tuple of the numbers of results; None: all. A tuple of all results, not of
 * NumPy, where one of the wanted is large, still being written, or of a dtype that NumPy lacks, or
 * one is no array. */
PyObject* OnnxNumpy(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  const bool all = nargs == 3 && args[2] == Py_None;
  if (nargs != 3 || !PyDict_Check(args[1]) || (!all && !PyTuple_Check(args[2])))
    return PyErr_Format(PyExc_TypeError, "onnx_numpy(handle, inputs, wanted): a dictionary, a tuple or None");
  try {
    const Numpy& numpy = Numpy::Get();
    void* const model = ModelOf(args[0]);
    const Kept items = ItemsOf(args[1]);
    Inputs inputs(items.objects.size() / 2);
    if (!AddAll(items, 1, &inputs)) return Refusal(inputs);
    std::vector<OnnxValue> results;
    if (const int status = inputs.Run(model, Given(nullptr), &results)) return PyLong_FromLong(status);
    Owned made = Own(ListOf(std::move(results), array_type));
    if (!PyList_CheckExact(made.get())) return made.release();
    const Py_ssize_t number = PyList_GET_SIZE(made.get()), count = all ? number : PyTuple_GET_SIZE(args[2]);
    Owned list = Own(PyList_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Py_ssize_t at = all ? i : NumberOf(PyTuple_GET_ITEM(args[2], i));
      if (at < 0 || at >= number) return PyErr_Format(PyExc_IndexError, "onnx_numpy: result %zd of %zd", at, number);
      Owned copy = numpy.CopyOf(*Get(PyList_GET_ITEM(made.get(), at)));
      if (!copy) return PyList_AsTuple(made.get());
      PyList_SET_ITEM(list.get(), i, copy.release());
    }
    return list.release();
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyMethodDef functions[] = {
    {"onnx_run", FastCall(OnnxRun), METH_FASTCALL,
     "onnx_run(handle, names, values, theirs, given): a list of results; the C function's status where it failed; None where a value "
     "is something else; the list is a tuple where a result is no array."},
    {"onnx_named", FastCall(OnnxNamed), METH_FASTCALL,
     "onnx_named(handle, inputs, outputs, theirs): onnx_run for inputs by name; the results are a dictionary if all are arrays."},
    {"onnx_numpy", FastCall(OnnxNumpy), METH_FASTCALL,
     "onnx_numpy(handle, inputs, wanted): onnx_run for inputs by name; a list of NumPy's arrays, the results of these numbers (None: all); "
     "a tuple of all results where one is large or something else."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddOnnxCall(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
