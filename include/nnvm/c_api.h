/* For programs that include the header of NNVM, which MXNet 1.9.1 brought along. */
#ifndef NNVM_C_API_H_
#define NNVM_C_API_H_

#include "mxnet/c_api_nnvm.h"

#endif
