/* Variables of the environment that belong to other programs or to a job's launcher, so that they
 * are in no table of ours. */
#ifndef MXNET_BASE_FOREIGN_ENV_H_
#define MXNET_BASE_FOREIGN_ENV_H_

#include <string>

#include "mxnet/base.h"

namespace mxnet {

/* For messages: ", NAME='value'", or nothing where the variable is not set. */
MXNET_DLL std::string ForeignVariable(const char* name);
/* The value, or nothing. */
MXNET_DLL std::string ForeignText(const char* name);
/* A number of at least 0, `otherwise` where the variable is not set. Throws Error(kValue). */
MXNET_DLL double ForeignNumber(const char* name, double otherwise);

}  // namespace mxnet
#endif  // MXNET_BASE_FOREIGN_ENV_H_
