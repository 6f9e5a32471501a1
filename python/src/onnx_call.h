/* Calls of ONNX models. */
#ifndef MXNET_PYTHON_ONNX_CALL_H_
#define MXNET_PYTHON_ONNX_CALL_H_

#include <Python.h>

namespace mxnet {
namespace python {

/* Adds the function onnx_run to the module. */
void AddOnnxCall(PyObject* module);

}  // namespace python
}  // namespace mxnet

#endif  // MXNET_PYTHON_ONNX_CALL_H_
