// CachedOp: a hybridized block's compiled graph as a callable Python object.
#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <vector>

#include "binding.h"
#include "mxnet/executor.h"
#include "mxnet/imperative.h"
#include "mxnet/profiler.h"

namespace mxnet {
namespace python {
namespace {

struct PyCachedOp {
  PyObject_HEAD std::shared_ptr<CachedOp>* op;
  char numpy;  // the symbol is mx.sym.np's: so are the results, whatever the inputs are
};

/* Whether a symbol follows NumPy's rules; -1 and an exception when its class cannot say. */
int IsNumpySymbol(PyObject* sym) {
  PyObject* said = PyObject_GetAttrString(sym, "_numpy");
  if (!said) {
    PyErr_Clear();
    return 0;  // a stand-in with a handle alone
  }
  const int truth = PyObject_IsTrue(said);
  Py_DECREF(said);
  return truth;
}

/* CachedOp(sym, flags=(), thread_safe=False): `sym` has a `handle`, flags is a sequence of (name,
 * value) pairs. */
int Init(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"sym", "flags", "thread_safe", nullptr};
  PyObject *sym = nullptr, *flags = nullptr;
  int thread_safe = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|Op", const_cast<char**>(names), &sym, &flags, &thread_safe)) return -1;
  try {
    PyObject* handle = PyObject_GetAttrString(sym, "handle");
    if (!handle) throw PythonError();
    PyObject* value = PyLong_Check(handle) ? (Py_INCREF(handle), handle) : PyObject_GetAttrString(handle, "value");
    Py_DECREF(handle);
    if (!value) throw PythonError();
    auto* symbol = static_cast<Symbol*>(PyLong_AsVoidPtr(value));
    Py_DECREF(value);
    if (!symbol) throw PyErr_Occurred() ? Error("") : Error(Error::Kind::kValue, "[CachedOp] got a null symbol");
    std::map<std::string, std::string> options;
    if (flags && flags != Py_None) {
      PyObject* items = PySequence_Fast(flags, "[CachedOp] flags must be a sequence of (name, value) pairs");
      if (!items) throw PythonError();
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items); ++i) {
        PyObject* pair = PySequence_Fast(PySequence_Fast_GET_ITEM(items, i), "[CachedOp] flags must be (name, value) pairs");
        if (!pair || PySequence_Fast_GET_SIZE(pair) != 2) {
          Py_XDECREF(pair);
          Py_DECREF(items);
          if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "[CachedOp] flags must be (name, value) pairs");
          throw PythonError();
        }
        PyObject* text = PyObject_Str(PySequence_Fast_GET_ITEM(pair, 1));
        const char* key = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(pair, 0));
        if (text && key) options[key] = PyUnicode_AsUTF8(text);
        Py_XDECREF(text);
        Py_DECREF(pair);
        if (PyErr_Occurred()) {
          Py_DECREF(items);
          throw PythonError();
        }
      }
      Py_DECREF(items);
    }
    if (thread_safe) options["thread_safe"] = "1";
    const int numpy = IsNumpySymbol(sym);
    if (numpy < 0) throw PythonError();
    auto* made = new std::shared_ptr<CachedOp>(CachedOp::Create(*symbol, options));
    auto* c = reinterpret_cast<PyCachedOp*>(self);
    delete c->op;
    c->op = made;
    c->numpy = static_cast<char>(numpy);
    return 0;
  } catch (...) {
    SetError();
    return -1;
  }
}

void Dealloc(PyObject* self) {
  delete reinterpret_cast<PyCachedOp*>(self)->op;
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/* op(*arrays, out=None) -> array or list of arrays. */
PyObject* Call(PyObject* self, PyObject* args, PyObject* kwargs) {
  try {
    auto* c = reinterpret_cast<PyCachedOp*>(self);
    if (!c->op) throw Error(Error::Kind::kValue, "[CachedOp] was not initialised");
    std::vector<NDArray*> in, out;
    if (c->numpy && !numpy_type) {  // whose module tells us its class
      PyObject* module = PyImport_ImportModule("mxnet.numpy");
      if (!module) throw PythonError();
      Py_DECREF(module);
    }
    PyTypeObject* type = c->numpy ? numpy_type : array_type;  // of the results: mx.np's also where an input is
    Kept kept;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
      PyObject* a = PyTuple_GET_ITEM(args, i);
      if (!IsArray(a))
        throw Error(Error::Kind::kType,
                    "[CachedOp] input " + std::to_string(i) + " is a " + Py_TYPE(a)->tp_name + "; accepted: an NDArray");
      in.push_back(Get(a));
      if (IsNumpy(a)) type = numpy_type;
    }
    PyObject* given = kwargs ? PyDict_GetItemString(kwargs, "out") : nullptr;
    if (given == Py_None) given = nullptr;
    const size_t num = (*c->op)->symbol().outputs.size();
    std::vector<std::unique_ptr<NDArray>> fresh;
    if (given) {
      if (IsArray(given)) {
        out.push_back(Get(given));
      } else {
        for (Py_ssize_t i = 0; (PyList_Check(given) || PyTuple_Check(given)) && i < PySequence_Fast_GET_SIZE(given); ++i) {
          PyObject* a = PySequence_Fast_GET_ITEM(given, i);
          if (!IsArray(a)) throw Error(Error::Kind::kType, "[CachedOp] `out` must hold NDArrays");
          kept.Add(a);
          out.push_back(Get(a));
        }
      }
      for (Py_ssize_t i = 0; i < static_cast<Py_ssize_t>(out.size()); ++i) CheckWritable(IsArray(given) ? given : kept.objects[i]);
      if (out.size() != num)
        throw Error(Error::Kind::kValue,
                    "[CachedOp] got " + std::to_string(out.size()) + " arrays in `out`; accepted: " + std::to_string(num));
    } else {
      for (size_t i = 0; i < num; ++i) {
        fresh.emplace_back(new NDArray());
        out.push_back(fresh.back().get());
      }
    }
    {
      // Compiling a plan or running a large graph inline takes long; other Python threads go on
      // meanwhile.
      GilRelease unlocked(true, true);
      profiler::NameScope profiled(profiler::NameScope::kApiCall, "CachedOp::Invoke");
      (*c->op)->Invoke(in, out);
    }
    if (given) {
      Py_INCREF(given);
      return given;
    }
    if (num == 1) return Wrap(fresh[0].release(), type);
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(num));
    for (size_t i = 0; list && i < num; ++i) {
      PyObject* o = Wrap(fresh[i].release(), type);
      if (!o) {
        Py_DECREF(list);
        return nullptr;
      }
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), o);
    }
    return list;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

/* Address of the std::shared_ptr<CachedOp>, which is what a CachedOpHandle of the C interface
 * is. */
PyObject* GetHandle(PyObject* self, void*) { return PointerObject(reinterpret_cast<PyCachedOp*>(self)->op); }

PyGetSetDef getset[] = {{"handle", GetHandle, nullptr, "Native handle, owned by this object: a c_void_p.", nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {
    {"is_np_sym", T_BOOL, offsetof(PyCachedOp, numpy), 0, "Whether results are arrays of mx.np whatever the inputs are."},
    {nullptr, 0, 0, 0, nullptr}};

// Also that of the class in python/mxnet/_ctypes/ndarray.py.
const char* const kDoc = R"(Compiled graph as a callable: what a hybridized block runs, which makes one for itself.

Parameters
----------
sym : Symbol
flags : sequence of (str, value)
    ``static_alloc``, ``static_shape``, ``inline_limit`` and so on, as of
    `HybridBlock.hybridize`.
thread_safe : bool
    Whether several threads may call it at once.

A call takes the values of the symbol's inputs, in the order of `list_inputs`, and gives an
array, or a list of them.

>>> x, y = mx.sym.var('x'), mx.sym.var('y')
>>> function = mx.nd.CachedOp(2 * x + y, [('static_alloc', True)])
>>> function(mx.nd.array([1, 2]), mx.nd.array([10, 20])).asnumpy()
array([12., 24.], dtype=float32)
)";

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)},
                       {Py_tp_init, reinterpret_cast<void*>(Init)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(Call)},
                       {Py_tp_getset, getset},
                       {Py_tp_members, members},
                       {Py_tp_doc, const_cast<char*>(kDoc)},
                       {0, nullptr}};
PyType_Spec spec = {"mxnet._cy3.ndarray.CachedOp", sizeof(PyCachedOp), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

}  // namespace

void AddCachedOp(PyObject* module) {
  PyObject* type = PyType_FromSpec(&spec);
  if (type) PyModule_AddObject(module, "CachedOp", type);
}

}  // namespace python
}  // namespace mxnet
