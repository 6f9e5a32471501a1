/* nnvm::Tuple, for programs and generated wrappers of operators that include NNVM's header, which
 * MXNet 1.9.1 brought along. */
#include "mxnet-cpp/optional.h"
