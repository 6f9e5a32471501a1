// NDArrayBase: construction from a handle, properties, waiting, copies between array and plain
// memory, views.
#include <pybind11/pybind11.h>
#include <structmember.h>

#include <new>
#include <string>
#include <utility>
#include <vector>

#include "binding.h"
#include "views.h"

namespace mxnet {
namespace python {
namespace {

PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (o) reinterpret_cast<PyNDArray*>(o)->writable = true;
  return o;
}

/* NDArrayBase(handle, writable=True): takes over a handle, a ctypes.c_void_p (a number could be any
 * address). None makes an array without shape and memory, as pickles of 1.x do. */
int Init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"handle", "writable", nullptr};
  PyObject* handle = nullptr;
  int writable = 1;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p", const_cast<char**>(names), &handle, &writable)) return -1;
  PyNDArray* a = reinterpret_cast<PyNDArray*>(self);
  if (handle == Py_None) {
    delete a->array;
    a->array = new NDArray();
    a->writable = writable != 0;
    return 0;
  }
  PyObject* value = PyObject_HasAttrString(handle, "value") ? PyObject_GetAttrString(handle, "value") : nullptr;
  if (!value) {
    try {
      throw Error(Error::Kind::kType,
                  std::string("[NDArray] got a ") + Py_TYPE(handle)->tp_name + "; accepted: a handle (see mx.nd.array for values)");
    } catch (...) {
      SetError();
    }
    return -1;
  }
  void* p = PyLong_Check(value) ? PyLong_AsVoidPtr(value) : nullptr;
  Py_DECREF(value);
  if (!p) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "[NDArray] got a null handle");
    return -1;
  }
  if (a->array != p) delete a->array;
  a->array = static_cast<NDArray*>(p);
  a->writable = writable != 0;
  TakeClass(self);
  return 0;
}

/* Objects of the classes of results, each with an array that is none; guarded by the interpreter
 * lock. */
constexpr int kMostSpare = 64;
PyObject* spare[kMostSpare];
int num_spare = 0;

/* Of exactly a class of results that FreeDirectly knows: their objects are alike. */
void Dealloc(PyObject* self);
bool IsResult(const PyTypeObject* type) {
  return (type == numpy_type || type == array_type) && type != base_type && type->tp_dealloc == Dealloc;
}

void Dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyNDArray* a = reinterpret_cast<PyNDArray*>(self);
  const bool result = IsResult(type);
  // A subclass's own tp_dealloc has done this.
  if (result && type->tp_finalize && PyObject_CallFinalizerFromDealloc(self) < 0) return;
  if (PyType_IS_GC(type)) PyObject_GC_UnTrack(self);
  if (a->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(a->part);
  if (num_views != 0) LetGo(a->array);
  NDArray* array = std::exchange(a->array, nullptr);
  if (result && array) {
    array->~NDArray();  // may run programs' own code, which frees others
    new (array) NDArray();
    if (num_spare < kMostSpare) {
      a->array = array;
      spare[num_spare++] = self;
      Py_DECREF(type);
      return;
    }
  }
  delete array;
  type->tp_free(self);
  Py_DECREF(type);
}

/* What was made while a graph was recorded has no values; its entry in that graph tells. */
void CheckComputed(const NDArray& a) {
  MXNET_CHECK_KIND(!a.deferred_entry || a.deferred_entry.node->is_variable(), Value)
      << "[NDArray] an array of shape " << a.shape()
      << " was made while the graph of a hybridized block was recorded and has no values; return it from forward";
}

NDArray* Described(PyObject* self) {
  NDArray* a = Peek(self);
  if (!a) throw Error(Error::Kind::kValue, "[NDArray] the array was not initialised");
  return a;
}
NDArray* Checked(PyObject* self) {
  Get(self);
  return Described(self);
}

PyObject* GetHandle(PyObject* self, void*) { return PointerObject(Get(self)); }
PyObject* GetWritable(PyObject* self, void*) { return PyBool_FromLong(reinterpret_cast<PyNDArray*>(self)->writable); }
PyObject* GetShape(PyObject* self, void*) {
  try {
    if (!Noted(kReadsShape, self)) return nullptr;
    const NDArray* a = Described(self);
    const int n = a->is_none() ? 0 : a->shape().ndim();
    PyObject* t = PyTuple_New(n);
    for (int i = 0; t && i < n; ++i) PyTuple_SET_ITEM(t, i, PyLong_FromLongLong(a->shape()[i]));
    return t;
  } catch (...) {
    SetError();
    return nullptr;
  }
}
PyObject* GetNdim(PyObject* self, void*) {
  if (!Noted(kReadsRank, self)) return nullptr;
  return PyLong_FromLong(Peek(self) && !Peek(self)->is_none() ? Peek(self)->shape().ndim() : -1);
}
PyObject* GetSize(PyObject* self, void*) {
  if (!Noted(kReadsShape, self)) return nullptr;
  return PyLong_FromLongLong(Peek(self) && !Peek(self)->is_none() ? Peek(self)->shape().Size() : 0);
}
PyObject* GetDType(PyObject* self, void*) {
  if (!Noted(kReadsDType, self)) return nullptr;
  return PyLong_FromLong(Peek(self) && !Peek(self)->is_none() ? Peek(self)->dtype() : -1);
}
PyObject* GetCtx(PyObject* self, void*) {
  if (!Noted(kReadsContext, self)) return nullptr;
  const NDArray* a = Peek(self);
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
    WaitForSignalsToo([a] { a->WaitToRead(); });
    Py_RETURN_NONE;
  });
}

PyObject* WaitToWrite(PyObject* self, PyObject*) {
  return Guard([&]() -> PyObject* {
    NDArray* a = Checked(self);
    WaitForSignalsToo([a] { a->WaitToWrite(); });
    Py_RETURN_NONE;
  });
}

/* Memory that Python code names by its address or by an object that lends it. */
class Memory {
 public:
  ~Memory() {
    if (view_.obj) PyBuffer_Release(&view_);
  }
  /* The address; null with a Python exception where `of` has not `bytes` of them. */
  void* Open(PyObject* of, size_t bytes, bool write) {
    if (PyLong_Check(of)) return PyLong_AsVoidPtr(of);
    if (PyObject_GetBuffer(of, &view_, write ? PyBUF_WRITABLE : PyBUF_SIMPLE) != 0) return nullptr;
    if (static_cast<size_t>(view_.len) >= bytes) return view_.buf;
    PyErr_Format(PyExc_ValueError, "memory of %zd bytes; at least %zu are needed", view_.len, bytes);
    return nullptr;
  }
  size_t lent() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_ = {};
};

/* _copy_to(memory, bytes) and _copy_from(memory, bytes): blocking copies between the array and
 * plain memory. */
template <bool kTo>
PyObject* CopyMemory(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  return Guard([&]() -> PyObject* {
    if (nargs != 2) {
      PyErr_SetString(PyExc_TypeError, "expected (memory, bytes)");
      return nullptr;
    }
    const size_t bytes = PyLong_AsSize_t(args[1]);
    if (PyErr_Occurred()) return nullptr;
    Memory memory;
    void* p = memory.Open(args[0], bytes, kTo);
    if (PyErr_Occurred()) return nullptr;
    NDArray* a = Checked(self);
    if (!kTo) CheckWritable(self);
    if (!Noted(kTo ? kReadsValue : kWritesInPlace, self)) return nullptr;
    if (kTo) CheckComputed(*a);
    MXNET_CHECK_KIND(kTo || !a->deferred_entry || !Imperative::State().deferred_compute, Value)
        << "[NDArray] values written into a result of a recorded graph";
    if (kTo) WaitForSignalsToo([a] { a->WaitToRead(); });  // the copy itself may not be left alone
    {
      GilRelease unlocked(true);
      if (kTo)
        a->CopyBytesTo(p, bytes);
      else
        a->CopyBytesFrom(p, bytes);
    }
    Py_RETURN_NONE;
  });
}

}  // namespace

PyObject* NumberIn(PyObject* self) {
  return Guard([&]() -> PyObject* {
    NDArray* a = Checked(self);
    if (!Noted(kReadsValue, self)) return nullptr;
    CheckComputed(*a);
    if (a->is_none() || a->shape().Size() != 1 || a->dtype() == kFloat16 || a->dtype() == kBfloat16) Py_RETURN_NONE;
    alignas(8) char bytes[8];
    if (!ReadNow(*a, bytes, DTypeSize(a->dtype()))) {
      WaitForSignalsToo([a] { a->WaitToRead(); });
      GilRelease unlocked(true);
      a->CopyBytesTo(bytes, DTypeSize(a->dtype()));
    }
    switch (a->dtype()) {
      case kFloat32: return PyFloat_FromDouble(*reinterpret_cast<float*>(bytes));
      case kFloat64: return PyFloat_FromDouble(*reinterpret_cast<double*>(bytes));
      case kInt32: return PyLong_FromLong(*reinterpret_cast<int32_t*>(bytes));
      case kInt64: return PyLong_FromLongLong(*reinterpret_cast<int64_t*>(bytes));
      case kUint8: return PyLong_FromLong(*reinterpret_cast<uint8_t*>(bytes));
      case kInt8: return PyLong_FromLong(*reinterpret_cast<int8_t*>(bytes));
      case kBool: return PyBool_FromLong(bytes[0] != 0);
      default: Py_RETURN_NONE;
    }
  });
}

namespace {

/* _value(): the number in an array of size 1, or None where only NumPy has its type. */
PyObject* Value(PyObject* self, PyObject*) { return NumberIn(self); }

/* _lists(): the values as nested lists, or None where only NumPy has their type. */
PyObject* NestedLists(PyObject* self, PyObject*) {
  return Guard([&]() -> PyObject* {
    NDArray* a = Checked(self);
    if (!Noted(kReadsValue, self)) return nullptr;
    CheckComputed(*a);
    if (a->is_none()) Py_RETURN_NONE;
    return ListsOf(a);
  });
}

/* _load_raw(bytes): becomes the array that is written there, as pickles of 1.x hold one. What it
 * was is let go. */
PyObject* LoadRaw(PyObject* self, PyObject* bytes) {
  constexpr size_t kLongCopy = 1 << 16;
  return Guard([&]() -> PyObject* {
    if (PyLong_Check(bytes)) {
      PyErr_SetString(PyExc_TypeError, "expected bytes, not an address");
      return nullptr;
    }
    Memory memory;
    const void* p = memory.Open(bytes, 0, false);
    if (!p && PyErr_Occurred()) return nullptr;
    NDArray* loaded = nullptr;
    {
      GilRelease unlocked(memory.lent() > kLongCopy);
      loaded = new NDArray(LoadNDArrayRaw(p, memory.lent()));
    }
    delete std::exchange(reinterpret_cast<PyNDArray*>(self)->array, loaded);
    reinterpret_cast<PyNDArray*>(self)->writable = true;
    TakeClass(self);
    Py_RETURN_NONE;
  });
}

PyObject* Detach(PyObject* self, PyObject*) {
  return Guard([&]() -> PyObject* { return Wrap(new NDArray(Checked(self)->Detach()), ClassOf(self)); });
}

/* A view of what may not be written may not be written either. In a recorded graph nothing shares
 * memory: Python asks for operators there. */
PyObject* WrapView(PyObject* self, NDArray view) {
  if (!Noted(kReadsValue, self)) return nullptr;
  PyObject* o = Wrap(new NDArray(std::move(view)), ClassOf(self));
  if (o) reinterpret_cast<PyNDArray*>(o)->writable = reinterpret_cast<PyNDArray*>(self)->writable;
  return o;
}

PyObject* At(PyObject* self, PyObject* index) {
  return Guard([&]() -> PyObject* {
    const NDArray* a = Checked(self);
    int64_t i = PyLong_AsLongLong(index);
    if (i == -1 && PyErr_Occurred()) return nullptr;
    if (i < 0 && a->shape().ndim() > 0) i += a->shape()[0];
    return WrapView(self, a->At(i));
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
    return WrapView(self, Checked(self)->Slice(begin, end));
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
    return WrapView(self, a->Reshape(NDArray::InferReshape(a->shape(), codes, PyObject_IsTrue(args[1]) == 1)));
  });
}

PyGetSetDef getset[] = {{"handle", GetHandle, nullptr, "Native array, owned by this object: a ctypes.c_void_p.", nullptr},
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
    {"_copy_to", FastCall(CopyMemory<true>), METH_FASTCALL, "Copies the contents to memory: an address, or an object that lends it."},
    {"_copy_from", FastCall(CopyMemory<false>), METH_FASTCALL, "Fills the array from memory at an address."},
    {"_value", Value, METH_NOARGS, "The number in an array of size 1; None where its type is not Python's."},
    {"_lists", NestedLists, METH_NOARGS, "The values as nested lists; None where their type is not Python's."},
    {"_load_raw", LoadRaw, METH_O, "Becomes the array that is written in bytes, as pickles hold one."},
    {"_detach", Detach, METH_NOARGS, "A view without autograd history."},
    {"_at", At, METH_O, "Row view; negative indices count from the end."},
    {"_slice", FastCall(Slice), METH_FASTCALL, "View of rows [begin, end)."},
    {"_reshape_view", FastCall(ReshapeView), METH_FASTCALL, "View of another shape; codes 0, -1, -2, -3, -4."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyNDArray, weakrefs), READONLY, nullptr},
                         {"_part", T_OBJECT, offsetof(PyNDArray, part), 0, "What mxnet._binding.written_parts notes."},
                         {nullptr, 0, 0, 0, nullptr}};

const PyType_Slot own_slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                                 {Py_tp_init, reinterpret_cast<void*>(Init)},
                                 {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                                 {Py_tp_getset, getset},
                                 {Py_tp_methods, methods},
                                 {Py_tp_members, members},
                                 {Py_tp_hash, reinterpret_cast<void*>(_Py_HashPointer)},
                                 {Py_tp_doc, const_cast<char*>("Native part of mxnet.nd.NDArray.")},
                                 {0, nullptr}};

}  // namespace

PyObject* Wrap(NDArray* a, PyTypeObject* type) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) {
    delete a;
    return nullptr;
  }
  reinterpret_cast<PyNDArray*>(o)->array = a;
  reinterpret_cast<PyNDArray*>(o)->writable = true;
  TakeClass(o);
  return o;
}

void BecomeSparse(PyObject* o) {
  PyTypeObject *before = Py_TYPE(o), *type = sparse_types[Peek(o)->storage_type() == StorageType::kCSR];
  if (!type || (before != array_type && before != numpy_type)) return;  // or a program's own class
  Py_INCREF(type);
  Py_SET_TYPE(o, type);
  Py_DECREF(before);
}

/* Their objects have to look like those of the class of results, which become them. */
PyObject* SetSparseClasses(PyObject*, PyObject* args) {
  PyTypeObject* given[2];
  if (!PyArg_ParseTuple(args, "O!O!", &PyType_Type, &given[0], &PyType_Type, &given[1])) return nullptr;
  for (PyTypeObject* type : given) {
    if (PyType_IsSubtype(type, array_type) && type->tp_basicsize == array_type->tp_basicsize && type->tp_dictoffset == 0 &&
        PyType_IS_GC(type) == PyType_IS_GC(array_type))
      continue;
    PyErr_SetString(PyExc_TypeError, "[binding] expected two subclasses of NDArray without members of their own");
    return nullptr;
  }
  for (int i = 0; i < 2; ++i) {
    Py_INCREF(given[i]);
    Py_XDECREF(reinterpret_cast<PyObject*>(sparse_types[i]));
    sparse_types[i] = given[i];
  }
  Py_RETURN_NONE;
}

PyObject* NewResult(PyTypeObject* type) {
  if (num_spare == 0 || !IsResult(type)) return Wrap(new NDArray(), type);
  PyObject* o = PyObject_Init(spare[--num_spare], type);
  reinterpret_cast<PyNDArray*>(o)->weakrefs = nullptr;
  reinterpret_cast<PyNDArray*>(o)->part = nullptr;
  reinterpret_cast<PyNDArray*>(o)->writable = true;
  reinterpret_cast<PyNDArray*>(o)->cut_out = false;
  if (PyType_IS_GC(type)) PyObject_GC_Track(o);
  return o;
}

void FreeDirectly(PyTypeObject* type) {
  const bool alike = type->tp_basicsize == static_cast<Py_ssize_t>(sizeof(PyNDArray)) && type->tp_itemsize == 0 &&
                     type->tp_dictoffset == 0 && PyType_IS_GC(type) == PyType_IS_GC(array_type);
  if (alike) type->tp_dealloc = Dealloc;
}

PyObject* PointerObject(void* p) {
  static PyObject* pointer_type = nullptr;
  if (!pointer_type) {
    PyObject* module = PyImport_ImportModule("ctypes");
    if (!module) return nullptr;
    pointer_type = PyObject_GetAttrString(module, "c_void_p");
    Py_DECREF(module);
    if (!pointer_type) return nullptr;
  }
  return PyObject_CallFunction(pointer_type, "N", PyLong_FromVoidPtr(p));
}

void AddNDArrayBase(PyObject* module) {
  std::vector<PyType_Slot> slots;
  for (const PyType_Slot* part : {ArithmeticSlots(kClassic), IndexingSlots(), own_slots}) {
    for (; part->slot != 0; ++part) slots.push_back(*part);
  }
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"mxnet._cy3.ndarray.NDArrayBase", sizeof(PyNDArray), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddObjectRef(module, "NDArrayBase", type) != 0) throw pybind11::error_already_set();
  base_type = reinterpret_cast<PyTypeObject*>(type);
  array_type = base_type;
  Py_INCREF(type);
}

PyObject* NumpyBase(PyObject*, PyObject* args) {
  PyObject *cls, *rows;
  if (!PyArg_ParseTuple(args, "O!O", &PyType_Type, &cls, &rows)) return nullptr;
  try {
    SetArithmetic(rows, kNumpy);
    std::vector<PyType_Slot> slots;
    for (const PyType_Slot* part = ArithmeticSlots(kNumpy); part->slot != 0; ++part) slots.push_back(*part);
    slots.push_back({Py_tp_hash, reinterpret_cast<void*>(_Py_HashPointer)});
    slots.push_back({Py_tp_doc, const_cast<char*>("Native part of mxnet.np.ndarray.")});
    slots.push_back({0, nullptr});
    PyType_Spec spec = {"mxnet._cy3.ndarray.NumpyBase", sizeof(PyNDArray), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
    PyObject* bases = PyTuple_Pack(1, cls);
    PyObject* type = bases ? PyType_FromSpecWithBases(&spec, bases) : nullptr;
    Py_XDECREF(bases);
    return type;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

}  // namespace python
}  // namespace mxnet
