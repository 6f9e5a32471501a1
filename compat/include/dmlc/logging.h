/* LOG, the CHECK macros and dmlc::Error, for programs that include dmlc-core's header, which MXNet
 * 1.9.1 brought along. */
#include "mxnet-cpp/logging.h"
