/* The C++ front end as one header. docs/cpp.md shows how a program uses it. */
#ifndef MXNET_CPP_MXNETCPP_H_
#define MXNET_CPP_MXNETCPP_H_

#include "mxnet-cpp/executor.h"
#include "mxnet-cpp/initializer.h"
#include "mxnet-cpp/io.h"
#include "mxnet-cpp/kvstore.h"
#include "mxnet-cpp/lr_scheduler.h"
#include "mxnet-cpp/metric.h"
#include "mxnet-cpp/monitor.h"
#include "mxnet-cpp/ndarray.h"
#include "mxnet-cpp/op.h"
#include "mxnet-cpp/op_suppl.h"
#include "mxnet-cpp/operator.h"
#include "mxnet-cpp/optimizer.h"
#include "mxnet-cpp/symbol.h"

#endif  // MXNET_CPP_MXNETCPP_H_
