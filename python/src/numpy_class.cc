// What the class mx.np.ndarray does without Python: its length, truth and numbers, going through
// its rows, and some attributes. The class has them in Python as well, for everything that is not
// common: what is traced, dtypes that only NumPy has, errors.
#include <Python.h>
#include <structmember.h>

#include <algorithm>
#include <cstring>

#include "binding.h"
#include "mxnet/op.h"
#include "remembered.h"
#include "views.h"

namespace mxnet {
namespace python {
namespace {

// ---- slots

/* Python's own, which look for the methods of the class. */
lenfunc slow_length;
inquiry slow_bool;
unaryfunc slow_float, slow_int;
getiterfunc slow_iter;

/* The array for its shape and dtype, if they may be read without telling anybody. */
const NDArray* Plain(PyObject* self) {
  const NDArray* a = Peek(self);
  return a && !a->is_none() && !Imperative::State().deferred_compute ? a : nullptr;
}

/* The number in an array of size 1; null without an exception: for Python. */
PyObject* PlainNumber(PyObject* self) {
  const NDArray* a = Plain(self);
  PyObject* number = a && a->shape().Size() == 1 ? NumberIn(self) : nullptr;
  if (number == Py_None) Py_CLEAR(number);
  return number;
}

Py_ssize_t Length(PyObject* self) {
  const NDArray* a = Plain(self);
  return a && a->shape().ndim() > 0 ? static_cast<Py_ssize_t>(a->shape()[0]) : slow_length(self);
}

int Bool(PyObject* self) {
  PyObject* number = PlainNumber(self);
  if (!number) return PyErr_Occurred() ? -1 : slow_bool(self);
  const int truth = PyObject_IsTrue(number);
  Py_DECREF(number);
  return truth;
}

/* `make` of the number; `slow` of the array where there is none. */
PyObject* Converted(PyObject* self, PyObject* (*make)(PyObject*), unaryfunc slow) {
  PyObject* number = PlainNumber(self);
  if (!number) return PyErr_Occurred() ? nullptr : slow(self);
  PyObject* made = make(number);
  Py_DECREF(number);
  return made;
}
PyObject* Float(PyObject* self) { return Converted(self, PyNumber_Float, slow_float); }
PyObject* Int(PyObject* self) { return Converted(self, PyNumber_Long, slow_int); }

// ---- going through the rows

struct Rows {
  PyObject_HEAD PyObject* array;
  Py_ssize_t next, count;
};
PyTypeObject* rows_type;

PyObject* Iter(PyObject* self) {
  const NDArray* a = Plain(self);
  if (!a || a->shape().ndim() == 0) return slow_iter(self);
  Rows* rows = PyObject_GC_New(Rows, rows_type);
  if (!rows) return nullptr;
  rows->array = Py_NewRef(self);
  rows->next = 0;
  rows->count = static_cast<Py_ssize_t>(a->shape()[0]);
  PyObject_GC_Track(rows);
  return reinterpret_cast<PyObject*>(rows);
}

PyObject* Next(PyObject* self) {
  Rows* rows = reinterpret_cast<Rows*>(self);
  if (rows->next >= rows->count) return nullptr;
  PyObject* key = PyLong_FromSsize_t(rows->next++);
  PyObject* row = key ? PyObject_GetItem(rows->array, key) : nullptr;
  Py_XDECREF(key);
  return row;
}

int TraverseRows(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<Rows*>(self)->array);
  return 0;
}

void FreeRows(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(reinterpret_cast<Rows*>(self)->array);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyType_Slot rows_slots[] = {{Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                            {Py_tp_iternext, reinterpret_cast<void*>(Next)},
                            {Py_tp_traverse, reinterpret_cast<void*>(TraverseRows)},
                            {Py_tp_dealloc, reinterpret_cast<void*>(FreeRows)},
                            {0, nullptr}};
PyType_Spec rows_spec = {"mxnet._cy3.ndarray.Rows", static_cast<int>(sizeof(Rows)), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, rows_slots};

// ---- attributes

enum Attribute { kDType, kItemSize, kBytes, kTransposed, kNumAttributes };
const char* const attribute_names[kNumAttributes] = {"dtype", "itemsize", "nbytes", "T"};

/* A property, with these behind its own members. */
struct Added {
  PyObject* dict;   // with the text that describes it
  PyObject* table;  // the dtypes by number
  int attribute;
};
Added& AddedTo(PyObject* property) { return *reinterpret_cast<Added*>(reinterpret_cast<char*>(property) + PyProperty_Type.tp_basicsize); }

/* Null without an exception: for Python. */
PyObject* Read(const Added& added, PyObject* self) {
  const NDArray* a = Plain(self);
  if (!a) return nullptr;
  switch (added.attribute) {
    case kDType: return a->dtype() < PyTuple_GET_SIZE(added.table) ? Py_NewRef(PyTuple_GET_ITEM(added.table, a->dtype())) : nullptr;
    case kItemSize: return PyLong_FromSize_t(DTypeSize(a->dtype()));
    case kBytes: return PyLong_FromSize_t(DTypeSize(a->dtype()) * static_cast<size_t>(a->shape().Size()));
    default: break;
  }
  if (a->shape().ndim() < 2) return Py_NewRef(self);
  if (MakesViews() && !Imperative::State().recording) {
    Layout turned = LayoutOf(*a);
    std::reverse(turned.count.begin(), turned.count.end());
    std::reverse(turned.step.begin(), turned.step.end());
    return Show(*a, turned, reinterpret_cast<PyNDArray*>(self)->writable, ClassOf(self));
  }
  if (PyObject* turned = PermuteNow(self, nullptr, 0)) return turned;
  static const Op* op = Op::Get("_npi_transpose");
  return Invoke(PlainAttrs(op), &self, 1, nullptr);
}

PyObject* GetAttribute(PyObject* property, PyObject* object, PyObject* type) {
  if (object && IsNumpy(object)) {
    try {
      PyObject* value = Read(AddedTo(property), object);
      if (value || PyErr_Occurred()) return value;
    } catch (...) {
      SetError();
      return nullptr;
    }
  }
  return PyProperty_Type.tp_descr_get(property, object, type);
}

/* NumpyProperty(function, attribute, dtypes): a property of mx.np.ndarray that `function` has and
 * the binding reads. */
int InitProperty(PyObject* self, PyObject* args, PyObject*) {
  PyObject *function, *table;
  const char* name;
  if (!PyArg_ParseTuple(args, "OsO!", &function, &name, &PyTuple_Type, &table)) return -1;
  Added& added = AddedTo(self);
  Py_XSETREF(added.table, Py_NewRef(table));
  added.attribute = kNumAttributes;
  for (int i = 0; i < kNumAttributes; ++i)
    if (std::strcmp(attribute_names[i], name) == 0) added.attribute = i;
  if (added.attribute == kNumAttributes) {
    PyErr_SetString(PyExc_ValueError, "[binding] an attribute that arrays of mx.np do not have");
    return -1;
  }
  PyObject* own = PyTuple_Pack(1, function);
  if (!own) return -1;
  const int done = PyProperty_Type.tp_init(self, own, nullptr);
  Py_DECREF(own);
  return done;
}

/* Properties live as long as the class that has them: forever. */
PyTypeObject* NewPropertyType() {
  const Py_ssize_t dict = PyProperty_Type.tp_basicsize + static_cast<Py_ssize_t>(offsetof(Added, dict));
  static PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET, dict, READONLY, nullptr}, {nullptr, 0, 0, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(InitProperty)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(GetAttribute)},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec = {"mxnet._cy3.ndarray.NumpyProperty", static_cast<int>(PyProperty_Type.tp_basicsize + sizeof(Added)), 0,
                      Py_TPFLAGS_DEFAULT, slots};
  PyObject* bases = PyTuple_Pack(1, &PyProperty_Type);
  PyObject* type = bases ? PyType_FromSpecWithBases(&spec, bases) : nullptr;
  Py_XDECREF(bases);
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

void HastenSlots(PyTypeObject* type) {
  slow_length = type->tp_as_mapping->mp_length;
  slow_bool = type->tp_as_number->nb_bool;
  slow_float = type->tp_as_number->nb_float;
  slow_int = type->tp_as_number->nb_int;
  slow_iter = type->tp_iter;
  // Subclasses made in Python take their methods, not these.
  if (!slow_length || !slow_bool || !slow_float || !slow_int || !slow_iter) return;
  type->tp_as_mapping->mp_length = type->tp_as_sequence->sq_length = Length;
  type->tp_as_number->nb_bool = Bool;
  type->tp_as_number->nb_float = Float;
  type->tp_as_number->nb_int = Int;
  type->tp_iter = Iter;
}

void AddNumpyClass(PyObject* module) {
  PyTypeObject* property = NewPropertyType();
  rows_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&rows_spec));
  if (!property || !rows_type || PyModule_AddObject(module, "NumpyProperty", reinterpret_cast<PyObject*>(property)) != 0)
    throw PythonError();
}

}  // namespace python
}  // namespace mxnet
