/* Shared by the files of the compiled binding. */
#ifndef MXNET_PYTHON_BINDING_H_
#define MXNET_PYTHON_BINDING_H_

#include <Python.h>

#include "mxnet/ndarray.h"

namespace mxnet {
namespace python {

/* Thrown when a Python exception is already set. */
struct PythonError {};

/* Turns the exception being handled into a Python exception. */
void SetError();
bool IsArray(PyObject* o);
NDArray* Get(PyObject* o);
/* A new Python array that owns `a`. */
PyObject* Wrap(NDArray* a);
/* Adds the CachedOp type to the module. */
void AddCachedOp(PyObject* module);

}  // namespace python
}  // namespace mxnet

#endif  // MXNET_PYTHON_BINDING_H_
