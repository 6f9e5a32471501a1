/* Functions of the module that run operators by name for the functions of mx.np. */
#ifndef MXNET_PYTHON_NUMPY_CALL_H_
#define MXNET_PYTHON_NUMPY_CALL_H_

#include "binding.h"

namespace mxnet {
namespace python {

/* Whether functions without inputs make symbols on this thread. */
bool MakesSymbols();
/* Adds numpy_call, of_one_dtype and set_symbols. */
void AddNumpyCall(PyObject* module);

}  // namespace python
}  // namespace mxnet
#endif  // MXNET_PYTHON_NUMPY_CALL_H_
