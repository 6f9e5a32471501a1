/*
 * Shared by the files of the compiled binding.
 *
 * NDArrayBase is a plain CPython type (no pybind11 instance) because an eager operator's whole
 * budget is under a microsecond: one small object per result, arithmetic through type slots,
 * parameters parsed once per distinct set of values.
 */
#ifndef MXNET_PYTHON_BINDING_H_
#define MXNET_PYTHON_BINDING_H_

#include <Python.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "mxnet/c_api.h"
#include "mxnet/imperative.h"
#include "mxnet/interruptible.h"
#include "mxnet/ndarray.h"
#include "mxnet/node.h"

namespace mxnet {
void CheckPublic(const Attrs& attrs);  // src/operator/record/check.h, which no header that is installed can show

namespace python {

/* Thrown when a Python exception is already set. */
struct PythonError {};

/* INVARIANT: `array` is null only between tp_alloc and the end of construction, or when
 * construction failed. */
struct PyNDArray {
  PyObject_HEAD NDArray* array;
  PyObject* weakrefs;
  PyObject* part;  // of which array it is a part that autograd would not know of (mxnet._binding.written_parts); null: of none
  bool writable;
  bool cut_out;  // copied out of an array that a program still has, where NumPy makes a view
};

extern PyTypeObject* base_type;        // NDArrayBase
extern PyTypeObject* array_type;       // the class of results (mx.nd.NDArray)
extern PyTypeObject* numpy_type;       // that of results of mx.np.ndarray, a subclass; null before mx.np is imported
extern PyTypeObject* sparse_types[2];  // of row_sparse and csr arrays, subclasses of mx.nd.NDArray; null before Python names them
extern PyObject* attr_to_str;          // Python function for values that have no obvious text
extern PyObject* error_classes;        // tuple by Error::Kind
extern const char* const kSources;     // checksum of the files of this folder (cmake/binding_sources.cmake)
extern std::string package_folder;     // where the package's own Python files are, with a separator at the end

/* A function of METH_FASTCALL as method tables take it: void (*)() is the type that GCC lets every
 * function be cast to and from without a warning. */
template <typename F>
inline PyCFunction FastCall(F* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/* Of views (views.h): how many are alive, and how many threads ask for them, or did when they
 * ended. Guarded by the interpreter lock. */
extern int num_views, threads_with_views;
bool MakesViewsHere();
/* Whether mx.np makes views where NumPy does, on this thread. */
inline bool MakesViews() { return __builtin_expect(threads_with_views != 0, 0) && MakesViewsHere(); }
/* Has a view and what it shows hold the same values. May give up the interpreter lock. */
void Settle(const NDArray* a);

/* The array for its shape, dtype and device alone, and for new ones. */
inline NDArray* Peek(PyObject* o) { return reinterpret_cast<PyNDArray*>(o)->array; }
/* The array to be read and written. */
inline NDArray* Get(PyObject* o) {
  if (__builtin_expect(num_views != 0, 0)) Settle(Peek(o));
  return Peek(o);
}
/* Where the values of a dense array on the host lie, without what NDArray::data makes beside. */
inline char* MemoryOf(const NDArray& a) {
  Chunk* chunk = a.chunk();
  if (chunk->is_delayed()) chunk->Allocate();
  return static_cast<char*>(chunk->handle.dptr) + a.byte_offset();
}
/* The classes of results first: asking whether one is a subclass goes through all its bases. */
inline bool IsArray(PyObject* o) {
  const PyTypeObject* type = Py_TYPE(o);
  return type == numpy_type || type == array_type || (type != &PyFloat_Type && type != &PyLong_Type && PyObject_TypeCheck(o, base_type));
}

inline bool IsNumpy(PyObject* o) {
  return numpy_type && (Py_TYPE(o) == numpy_type || (Py_TYPE(o) != array_type && PyType_IsSubtype(Py_TYPE(o), numpy_type)));
}
/* The class of what is computed from an array, if it is dense. */
inline PyTypeObject* ClassOf(PyObject* o) { return IsNumpy(o) ? numpy_type : array_type; }

/* What a forward that is being recorded reads of an array; the bits that
 * mxnet._arrays.tracing knows. */
enum TraceRead { kReadsShape = 1, kReadsDType = 2, kReadsContext = 4, kReadsRank = 16, kReadsValue = 32, kWritesInPlace = 64 };
extern PyObject* trace_note;  // Python function (kind, array) that is told of it
/* Called where such a read happens. False: the function raised. Costs one look at the thread's
 * state while nothing is recorded. */
inline bool Noted(TraceRead kind, PyObject* array) {
  if (__builtin_expect(!Imperative::State().deferred_compute || !trace_note, 1)) return true;
  PyObject* done = PyObject_CallFunction(trace_note, "iO", static_cast<int>(kind), array);
  Py_XDECREF(done);
  return done != nullptr;
}

/* Turns the exception being handled into a Python exception. */
void SetError();
/* Notes that `part` is whole[key], taken while autograd records. False with an exception. */
bool NotePart(PyObject* part, PyObject* whole, PyObject* key);
extern PyObject* part_written;  // Python function that is given an array with such a note after a recorded write
/* A new Python array that owns `a`, of a sparse class where that is sparse. */
PyObject* Wrap(NDArray* a, PyTypeObject* type);
/* Gives an array of a class of results that has become sparse the class of its storage. */
void BecomeSparse(PyObject* o);
inline void TakeClass(PyObject* o) {
  if (__builtin_expect(Peek(o)->is_sparse(), 0)) BecomeSparse(o);
}
/* Function of the module: the classes of row_sparse and csr arrays. */
PyObject* SetSparseClasses(PyObject* module, PyObject* args);
/* A new Python array without shape and memory, for a result. Null with an exception. */
PyObject* NewResult(PyTypeObject* type);
/* Has a class of results freed by the binding alone. */
void FreeDirectly(PyTypeObject* type);
/* A ctypes.c_void_p: a plain number would reach C functions as an int, cut to 32 bits. */
PyObject* PointerObject(void* p);
/* Throws Error(kValue) for an array that was made read-only. */
void CheckWritable(PyObject* o);
/* The first write into an array that was cut out warns of it, if it would be lost. Throws what the
 * warning raises. `assigned`: by x[key] = value; else x may be what x[key] += value writes back. */
void WarnOfCopy(PyObject* o);
inline void NoteWrite(PyObject* o, bool assigned) {
  if (__builtin_expect(reinterpret_cast<PyNDArray*>(o)->cut_out, 0) && (assigned || Py_REFCNT(o) > 1)) WarnOfCopy(o);
}

/* Where the user's program is: the innermost Python frame outside of this package, "file:line"; ""
 * without the interpreter lock. */
std::string CallSite();

/* Lets other Python threads run while this one works in the library. `pushes`: it pushes
 * operations, whose errors are to name the call site. */
struct GilRelease {
  explicit GilRelease(bool wanted, bool pushes = false) : marked(wanted && pushes) {
    if (marked) MXEngineMarkCallSite(CallSite().c_str());
    state = wanted ? PyEval_SaveThread() : nullptr;
  }
  ~GilRelease() {
    try {
      if (state) PyEval_RestoreThread(state);
    } catch (...) {
      // The interpreter ends, and has this thread, a daemon, exit; C++ functions that catch errors
      // would not let it. It sleeps until the process is over.
      for (;;) pause();
    }
    if (marked) MXEngineMarkCallSite(nullptr);
  }
  bool marked;
  PyThreadState* state;
};

/* Calls what waits for the engine, and Python's handlers of signals meanwhile. What they raise ends
 * the wait. */
template <typename F>
void WaitForSignalsToo(F&& wait) {
  for (;;) {
    try {
      GilRelease unlocked(true);
      InterruptibleWaits scope;
      return wait();
    } catch (const WaitInterrupted&) {
    }
    if (PyErr_CheckSignals() != 0) throw PythonError();
  }
}

/* References to what a call uses while other Python threads run: they may empty the list that it
 * came in. */
struct Kept {
  ~Kept() {
    for (PyObject* o : objects) Py_DECREF(o);
  }
  void Add(PyObject* o) {
    Py_INCREF(o);
    objects.push_back(o);
  }
  std::vector<PyObject*> objects;
};

/* What an object's buffer protocol gave, given back at the end; where it gave none, an exception is
 * set. */
struct HeldBuffer {
  HeldBuffer(PyObject* o, int flags) : held(PyObject_GetBuffer(o, &view, flags) == 0) {}
  ~HeldBuffer() {
    if (held) PyBuffer_Release(&view);
  }
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  Py_buffer view;
  const bool held;
};

/* One of Python's own integers; `*overflow` says that it does not fit. Small ones, without a
 * call. */
inline int64_t AsInt64(PyObject* o, int* overflow) {
#if PY_VERSION_HEX < 0x030C0000
  const Py_ssize_t digits = Py_SIZE(o);
  if (digits >= -1 && digits <= 1) {
    *overflow = 0;
    return digits * static_cast<int64_t>(reinterpret_cast<PyLongObject*>(o)->ob_digit[0]);
  }
#endif
  return PyLong_AsLongLongAndOverflow(o, overflow);
}

/* Parsed parameters, remembered per thread by value. `keys` and `values` are tuples of equal
 * length. */
AttrsPtr ParseAttrs(const Op* op, PyObject* keys, PyObject* values, int num_inputs);
/* As above, for `n` names and values side by side. */
AttrsPtr ParseAttrs(const Op* op, PyObject* const* names, PyObject* const* values, Py_ssize_t n, int num_inputs);
/* Refuse arrays of mx.nd among the inputs of an operator that is called for mx.np. */
void RefuseClassic(const Op* op, PyObject* const* inputs, Py_ssize_t n);
/* Runs an operator. `out`: null, None, an array or a sequence of arrays. Results are of `type`, or
 * of the inputs' class if it is null. Returns a new reference. */
PyObject* Invoke(const AttrsPtr& attrs, PyObject* const* inputs, Py_ssize_t num_inputs, PyObject* out, PyTypeObject* type = nullptr);

/* Classic arrays and those of mx.np have operators and rules of indexing of their own. */
enum ArrayType { kClassic, kNumpy, kNumArrayTypes };
inline ArrayType ArrayTypeOf(PyObject* o) { return IsNumpy(o) ? kNumpy : kClassic; }

/* The attributes of an operator without parameters, parsed once. */
const AttrsPtr& PlainAttrs(const Op* op);
/* The records behind a function of two operands, null where it has none. `reverse` is for scalar OP
 * array. `typed`: those with a number have a parameter is_int. `truth` is for bool arrays beside
 * True or False, on either side, whose result is bool as that of two bool arrays. */
struct BinaryRecords {
  const Op *array, *scalar, *reverse;
  bool typed;
  const Op* truth = nullptr;
};
/* Of two arrays, or an array and a number; otherwise NotImplemented. Throws. */
PyObject* RunBinary(const BinaryRecords& records, PyObject* a, PyObject* b, PyObject* out);
/* Adds the NumpyFunction type to the module: functions of mx.np of one or two operands. */
void AddNumpyFunction(PyObject* module);

/* Type slots of Python's operators: a list that ends with {0, nullptr}. */
const PyType_Slot* ArithmeticSlots(ArrayType type);
/* Which records they run, from rows (method, operator of two arrays, of an array and a number, of a
 * number and an array), one for each; "" where there is none. Throws. */
void SetArithmetic(PyObject* rows, ArrayType type);
/* Type slots of x[key] and x[key] = value, likewise, and what sets Python's functions (get, set,
 * whether of mx.np) for the keys that they leave to it. */
const PyType_Slot* IndexingSlots();
PyObject* SetIndexing(PyObject* module, PyObject* args);
/* The same for keys with index arrays, which nothing may be tracing. GatherItem: null without an
 * exception, ScatterItem: 1, where Python has to look at the key. They throw. */
PyObject* GatherItem(PyObject* self, PyObject* key);
int ScatterItem(PyObject* self, PyObject* key, PyObject* value);
/* The indices, none of them negative, that an array on the host holds for an axis. `*same`: they
 * are the array's own numbers, int64. False where Python has to look: out of range, or no numbers.
 */
bool HostIndices(const NDArray& index, int64_t size, std::vector<int64_t>* values, bool* same);
/* Functions of the module: new_array(shape tuple, device type, device id, dtype number, delayed,
 * numpy=False) has whatever the memory held, filled(op handle, value or None, shape tuple, device
 * type, device id, dtype number, numpy=False) what _zeros, _ones or _full write, array_of(values,
 * device type, device id, dtype number, numpy) what NumPy's array `values` of that dtype holds. */
PyObject* NewArray(PyObject* module, PyObject* const* args, Py_ssize_t nargs);
PyObject* ArrayOf(PyObject* module, PyObject* const* args, Py_ssize_t nargs);
PyObject* Filled(PyObject* module, PyObject* const* args, Py_ssize_t nargs);
/* Function of the module: array_of_lists, with array_of's arguments, has the numbers of nested
 * lists, and is None where NumPy has to judge them. */
PyObject* ArrayOfLists(PyObject* module, PyObject* const* args, Py_ssize_t nargs);
/* The same in C++, for lists and tuples, and for a number an array without dimensions. They
 * throw. */
PyObject* ArrayOfSequence(PyObject* source, Context ctx, int dtype, PyTypeObject* type);
PyObject* ArrayOfNumber(PyObject* source, Context ctx, int dtype, PyTypeObject* type);
/* The values of an array as nested lists, or None where only NumPy has their type. Throws. */
PyObject* ListsOf(NDArray* array);
/* A new array that holds `bytes` at `from`. Throws. */
PyObject* NewOf(const Shape& shape, Context ctx, int dtype, PyTypeObject* type, const void* from, size_t bytes);
/* A new array with whatever the memory held. Throws. */
PyObject* NewBlank(const Shape& shape, Context ctx, int dtype, PyTypeObject* type);
/* Copies all of a small dense array on the host that nobody writes; false for others. */
bool ReadNow(const NDArray& a, void* to, size_t bytes);
/* A new array of `shape` with those elements of a small array that GatherStrided brings, copied at
 * once. Null without an exception, for an operator to copy them: of large arrays and on devices,
 * while something writes the array, records or measures, and while there are views. Throws. */
PyObject* GatherNow(PyObject* of, const Shape& shape, int64_t offset, int ndim, const int64_t* count, const int64_t* step);
/* The same for an array with its axes in another order (null: turned round), and with two of them
 * swapped; null also for axes that an operator refuses. */
PyObject* PermuteNow(PyObject* of, const int64_t* axes, int num_axes);
PyObject* SwapNow(PyObject* of, int64_t axis, int64_t other);
/* The number in an array of size 1, or None where only NumPy has its type. Null with an
 * exception. */
PyObject* NumberIn(PyObject* self);
/* Adds the NDArrayBase type, which results have until Python names a subclass. */
void AddNDArrayBase(PyObject* module);
/* Lets Python's own calls (len, bool, float, int, iter) on mx.np's class end in the binding. */
void HastenSlots(PyTypeObject* type);
/* Adds the NumpyProperty type to the module: attributes of mx.np's class. */
void AddNumpyClass(PyObject* module);
/* Function of the module: _numpy_base(class, rows) is a subclass with mx.np's operators. */
PyObject* NumpyBase(PyObject* module, PyObject* args);
/* Adds the functions that call key-value stores. */
void AddStoreCalls(PyObject* module);
void AddCallbackGuard(PyObject* module);
/* Sets the KeyboardInterrupt that has ended a callback on this thread, of which the library knows
 * the text alone. False where there is none. */
bool SetInterrupt();
/* Adds the CachedOp type to the module. */
void AddCachedOp(PyObject* module);

}  // namespace python
}  // namespace mxnet

#endif  // MXNET_PYTHON_BINDING_H_
