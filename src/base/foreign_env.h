/* Variables of the environment that belong to other libraries, to launchers or to a job.
 * foreign_env.inc lists them; another name is an error. They are read at each call. */
#ifndef MXNET_BASE_FOREIGN_ENV_H_
#define MXNET_BASE_FOREIGN_ENV_H_

#include <string>

#include "mxnet/base.h"

namespace mxnet {

/* Is it there, be it empty? */
MXNET_DLL bool ForeignIsSet(const char* name);
/* For messages: ", NAME='value'", or nothing where the variable is not set. */
MXNET_DLL std::string ForeignVariable(const char* name);
/* The value, or nothing. */
MXNET_DLL std::string ForeignText(const char* name);
/* A number of at least 0, `otherwise` where the variable is not set. Throws Error(kValue). */
MXNET_DLL double ForeignNumber(const char* name, double otherwise);

}  // namespace mxnet
#endif  // MXNET_BASE_FOREIGN_ENV_H_
