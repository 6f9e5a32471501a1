// Functions of mx.np of one or two operands as callables whose common call costs what an operator
// does: arrays and numbers alone go to the record, everything else to a function in Python.
#include <Python.h>
#include <structmember.h>

#include <cstddef>

#include "binding.h"

namespace mxnet {
namespace python {
namespace {

/* INVARIANT: `rest` is a Python function, and `dict` has what it is called, its text and
 * `__wrapped__`, which shows its signature. `unary` or `binary.array` is set, not both. */
struct NumpyFunction {
  PyObject_HEAD vectorcallfunc call;
  PyObject *rest, *dict, *weakrefs;
  const Op* unary;
  BinaryRecords binary;
};

/* Null without an exception: not a call for the record. */
PyObject* RunDirectly(const NumpyFunction& f, PyObject* const* args, Py_ssize_t n) {
  if (f.unary) return n == 1 && IsNumpy(args[0]) ? Invoke(PlainAttrs(f.unary), args, 1, nullptr) : nullptr;
  if (n != 2) return nullptr;
  const bool first = IsNumpy(args[0]), second = IsNumpy(args[1]);
  if (!(first && second) && !(first && !IsArray(args[1])) && !(second && !IsArray(args[0]))) return nullptr;
  PyObject* result = RunBinary(f.binary, args[0], args[1], nullptr);
  if (result != Py_NotImplemented) return result;
  Py_DECREF(result);
  return nullptr;
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
  const NumpyFunction& f = *reinterpret_cast<NumpyFunction*>(self);
  if (!names || PyTuple_GET_SIZE(names) == 0) {
    try {
      PyObject* result = RunDirectly(f, args, PyVectorcall_NARGS(count));
      if (result || PyErr_Occurred()) return result;
    } catch (...) {
      SetError();
      return nullptr;
    }
  }
  return PyObject_Vectorcall(f.rest, args, count, names);
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *rest, *dict;
  const char *array, *scalar, *reverse;
  if (!PyArg_ParseTuple(args, "OO!sss", &rest, &PyDict_Type, &dict, &array, &scalar, &reverse)) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  NumpyFunction& f = *reinterpret_cast<NumpyFunction*>(self);
  f.call = Call;
  f.rest = Py_NewRef(rest);
  f.dict = Py_NewRef(dict);
  f.weakrefs = nullptr;
  f.unary = nullptr;
  f.binary = {nullptr, nullptr, nullptr, true};
  try {
    const Op* op = Op::Get(array);
    if (op->input_names.size() == 1) {
      f.unary = op;
    } else {
      f.binary.array = op;
      if (scalar[0]) f.binary.scalar = Op::Get(scalar);
      if (reverse[0]) f.binary.reverse = Op::Get(reverse);
    }
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
PyObject* Text(PyObject* self) {
  PyObject* name = PyObject_GetAttrString(self, "__name__");
  if (!name) return nullptr;
  PyObject* text = PyUnicode_FromFormat("<function mx.np.%S>", name);
  Py_DECREF(name);
  return text;
}
/* Pickled by name, as functions are. */
PyObject* Reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__name__"); }

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(NumpyFunction, call), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(NumpyFunction, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(NumpyFunction, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};
PyMethodDef methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
                       {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(Text)},
                       {Py_tp_members, members},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, attributes},
                       {0, nullptr}};
PyType_Spec spec = {"mxnet._cy3.ndarray.NumpyFunction", static_cast<int>(sizeof(NumpyFunction)), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots};

}  // namespace

void AddNumpyFunction(PyObject* module) {
  PyObject* type = PyType_FromSpec(&spec);
  if (!type || PyModule_AddObject(module, "NumpyFunction", type) != 0) throw PythonError();
}

}  // namespace python
}  // namespace mxnet
