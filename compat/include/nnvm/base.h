/* For programs that include this header of NNVM, which MXNet 1.9.1 brought along. */
#ifndef NNVM_BASE_H_
#define NNVM_BASE_H_

#include "dmlc/base.h"
#include "dmlc/logging.h"
#include "dmlc/parameter.h"

#endif
