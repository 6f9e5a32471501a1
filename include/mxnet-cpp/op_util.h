/* Wrappers of operators that 1.9.1's OpWrapperGenerator wrote include this header. */
#ifndef MXNET_CPP_OP_UTIL_H_
#define MXNET_CPP_OP_UTIL_H_

#include "mxnet-cpp/optional.h"

#endif
