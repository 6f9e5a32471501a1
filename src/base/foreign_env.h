/* Variables of the environment that belong to other programs, so that they are in no table of ours:
 * for messages. */
#ifndef MXNET_BASE_FOREIGN_ENV_H_
#define MXNET_BASE_FOREIGN_ENV_H_

#include <string>

#include "mxnet/base.h"

namespace mxnet {

/* ", NAME='value'", or nothing where the variable is not set. */
MXNET_DLL std::string ForeignVariable(const char* name);

}  // namespace mxnet
#endif  // MXNET_BASE_FOREIGN_ENV_H_
