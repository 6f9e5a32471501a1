// mxnet._cy3.ndarray: the compiled binding of arrays and eager operators; what it is made of is in
// binding.h.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "binding.h"
#include "mxnet/base.h"
#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "numpy_call.h"
#include "onnx_call.h"
#include "views.h"

namespace mxnet {
namespace python {
namespace {

const Op* OpFromHandle(PyObject* handle) {
  const Op* op = static_cast<const Op*>(PyLong_AsVoidPtr(handle));
  if (!op) {
    if (PyErr_Occurred()) throw PythonError();
    throw Error(Error::Kind::kValue, "[binding] got a null operator handle");
  }
  return op;
}

/* invoke(op_handle, inputs, keys, values, out): inputs is a tuple or list of arrays, keys and
 * values are tuples. kNumpy: invoke_np, whose arrays are of mx.np, and its results. */
template <bool kNumpy>
PyObject* PyInvoke(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  try {
    if (nargs < 4 || nargs > 5 || !(PyTuple_Check(args[1]) || PyList_Check(args[1])) || !PyTuple_Check(args[2]) ||
        !PyTuple_Check(args[3])) {
      PyErr_Format(PyExc_TypeError, "%s(op_handle, inputs, keys, values, out=None)", kNumpy ? "invoke_np" : "invoke");
      return nullptr;
    }
    const Op* op = OpFromHandle(args[0]);
    PyObject** inputs = PySequence_Fast_ITEMS(args[1]);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(args[1]);
    if (kNumpy) RefuseClassic(op, inputs, n);
    AttrsPtr attrs = ParseAttrs(op, args[2], args[3], static_cast<int>(n));
    return Invoke(attrs, inputs, n, nargs == 5 ? args[4] : nullptr, kNumpy ? numpy_type : nullptr);
  } catch (...) {
    SetError();
    return nullptr;
  }
}

}  // namespace

namespace {

#if PY_VERSION_HEX >= 0x030B0000
/* Where a frame is, "file:line". Python finds a line by going through the function's table from its
 * beginning, so a place is looked up once. REQUIRES: the interpreter lock. */
std::string SiteOf(PyFrameObject* frame, PyCodeObject* code, const char* file) {
  struct Known {
    PyCodeObject* code = nullptr;  // kept alive
    int instruction = -1;
    std::string site;
  };
  static Known known[128];
  const int instruction = PyFrame_GetLasti(frame);
  Known& place = known[(reinterpret_cast<uintptr_t>(code) / 16 + static_cast<uintptr_t>(instruction) / 2) % 128];
  if (place.code != code || place.instruction != instruction) {
    place.site = std::string(file) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
    place.instruction = instruction;
    Py_INCREF(code);
    Py_XDECREF(reinterpret_cast<PyObject*>(std::exchange(place.code, code)));
  }
  return place.site;
}
#else
std::string SiteOf(PyFrameObject* frame, PyCodeObject*, const char* file) {
  return std::string(file) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
}
#endif

}  // namespace

std::string CallSite() {
  if (!Py_IsInitialized() || !PyGILState_Check()) return "";
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  Py_XINCREF(frame);
  std::string site;
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    // Functions of operators are compiled from generated text: <operator take>.
    const bool own = file && ((!package_folder.empty() && std::strncmp(file, package_folder.c_str(), package_folder.size()) == 0) ||
                              std::strncmp(file, "<operator ", 10) == 0);
    if (file && !own) site = SiteOf(frame, code, file);
    Py_DECREF(code);
    PyFrameObject* back = site.empty() ? PyFrame_GetBack(frame) : nullptr;
    Py_DECREF(frame);
    frame = back;
  }
  return site;
}

namespace {

PyObject* SetNDArrayClass(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), base_type)) {
    PyErr_SetString(PyExc_TypeError, "[binding] expected a subclass of NDArrayBase");
    return nullptr;
  }
  Py_INCREF(cls);
  Py_XDECREF(reinterpret_cast<PyObject*>(array_type));
  array_type = reinterpret_cast<PyTypeObject*>(cls);
  FreeDirectly(array_type);
  Py_RETURN_NONE;
}

PyObject* SetNumpyClass(PyObject*, PyObject* cls) {
  if (!PyType_Check(cls) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls), array_type)) {
    PyErr_SetString(PyExc_TypeError, "[binding] expected a subclass of NDArray");
    return nullptr;
  }
  Py_INCREF(cls);
  Py_XDECREF(reinterpret_cast<PyObject*>(numpy_type));
  numpy_type = reinterpret_cast<PyTypeObject*>(cls);
  FreeDirectly(numpy_type);
  HastenSlots(numpy_type);
  Py_RETURN_NONE;
}

/* _configure(attr_to_str, error_classes, package_folder, arithmetic) */
PyObject* Configure(PyObject*, PyObject* args) {
  PyObject *f, *classes, *arithmetic;
  const char* folder;
  if (!PyArg_ParseTuple(args, "OO!sO", &f, &PyTuple_Type, &classes, &folder, &arithmetic)) return nullptr;
  package_folder = folder;
  Py_INCREF(f);
  Py_XDECREF(attr_to_str);
  attr_to_str = f;
  Py_INCREF(classes);
  Py_XDECREF(error_classes);
  error_classes = classes;
  try {
    SetArithmetic(arithmetic, kClassic);
  } catch (...) {
    SetError();
    return nullptr;
  }
  Py_RETURN_NONE;
}

/* The switches of this thread. set_mode(recording, training): None leaves one alone; returns both
 * as they were. */
PyObject* SetMode(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2) {
    PyErr_SetString(PyExc_TypeError, "set_mode(recording, training)");
    return nullptr;
  }
  ImperativeState& state = Imperative::State();
  PyObject* before = PyTuple_Pack(2, state.recording ? Py_True : Py_False, state.training ? Py_True : Py_False);
  if (before && args[0] != Py_None) state.recording = PyObject_IsTrue(args[0]) == 1;
  if (before && args[1] != Py_None) state.training = PyObject_IsTrue(args[1]) == 1;
  return before;
}

PyObject* SetTraceNote(PyObject*, PyObject* f) {
  Py_INCREF(f);
  Py_XDECREF(trace_note);
  trace_note = f;
  Py_RETURN_NONE;
}

PyObject* SetPartWritten(PyObject*, PyObject* f) {
  Py_INCREF(f);
  Py_XDECREF(part_written);
  part_written = f;
  Py_RETURN_NONE;
}

PyObject* IsTraced(PyObject*, PyObject*) {
  const ImperativeState& state = Imperative::State();
  return PyBool_FromLong(state.recording || state.deferred_compute);
}

PyObject* IsRecorded(PyObject*, PyObject* array) {
  const ImperativeState& state = Imperative::State();
  const NDArray* a = IsArray(array) ? Get(array) : nullptr;
  return PyBool_FromLong(state.deferred_compute || (state.recording && a && Imperative::HasHistory(*a)));
}

PyObject* WaitAll(PyObject*, PyObject*) {
  try {
    WaitForSignalsToo([] { Engine::Get()->WaitForAll(); });
    Py_RETURN_NONE;
  } catch (...) {
    SetError();
    return nullptr;
  }
}

PyMethodDef functions[] = {
    {"new_array", FastCall(NewArray), METH_FASTCALL, "new_array(shape tuple, device type, device id, dtype number, delayed, numpy=False)"},
    {"array_of_lists", FastCall(ArrayOfLists), METH_FASTCALL,
     "array_of_lists(values, device type, device id, dtype number, numpy): numbers of nested lists; None where NumPy has to judge them."},
    {"array_of", FastCall(ArrayOf), METH_FASTCALL,
     "array_of(values, device type, device id, dtype number, numpy): a copy of NumPy's array `values`, which has that dtype."},
    {"filled", FastCall(Filled), METH_FASTCALL,
     "filled(op_handle, value or None, shape tuple, device type, device id, dtype number, numpy=False)"},
    {"set_mode", FastCall(SetMode), METH_FASTCALL, "set_mode(recording, training): what they were; None leaves one alone."},
    {"wait_all", WaitAll, METH_NOARGS, "Blocks until nothing is pending; raises the first failure that nobody has seen."},
    {"is_traced", IsTraced, METH_NOARGS, "Whether autograd records or deferred compute traces on this thread."},
    {"is_recorded", IsRecorded, METH_O, "Whether an operation on the array would be recorded on this thread, for gradients or a graph."},
    {"_set_indexing", SetIndexing, METH_VARARGS, "_set_indexing(get, set, numpy=False): Python's functions for x[key] and x[key] = value."},
    {"invoke", FastCall(PyInvoke<false>), METH_FASTCALL, "invoke(op_handle, inputs, keys, values, out=None)"},
    {"_set_trace_note", SetTraceNote, METH_O, "Sets the function (kind, array) that is told what a recorded forward reads."},
    {"_set_part_written", SetPartWritten, METH_O, "Sets the function that is given a part of another array after a recorded write."},
    {"_set_sparse_classes", SetSparseClasses, METH_VARARGS, "_set_sparse_classes(row_sparse, csr): the classes of sparse results."},
    {"_set_ndarray_class", SetNDArrayClass, METH_O, "Sets the class of results."},
    {"invoke_np", FastCall(PyInvoke<true>), METH_FASTCALL,
     "invoke_np(op_handle, inputs, keys, values, out=None): of mx.np arrays, with such results"},
    {"_numpy_base", NumpyBase, METH_VARARGS, "_numpy_base(class, rows): a subclass with the operators of mx.np."},
    {"_set_numpy_class", SetNumpyClass, METH_O, "Sets the class of mx.np's results."},
    {"_configure", Configure, METH_VARARGS, "Sets helpers that live in Python."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void AddFunctions(PyObject* module) {
  if (PyModule_AddFunctions(module, functions) != 0) throw pybind11::error_already_set();
}

}  // namespace python
}  // namespace mxnet

PYBIND11_MODULE(ndarray, m) {
  using namespace mxnet::python;  // NOLINT
  AddNDArrayBase(m.ptr());
  AddFunctions(m.ptr());
  AddCachedOp(m.ptr());
  AddNumpyFunction(m.ptr());
  AddNumpyCall(m.ptr());
  AddNumpyClass(m.ptr());
  AddStoreCalls(m.ptr());
  AddOnnxCall(m.ptr());
  AddViews(m.ptr());
  AddCallbackGuard(m.ptr());
  // Of what the module was made: mxnet._binding compares.
  m.attr("_sources") = kSources;
  m.attr("_version") = MXNET_VERSION_STRING;
  mxnet::Engine::SetCallSiteProvider(CallSite);
}
