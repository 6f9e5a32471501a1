/* Shared objects of ours that lie beside libmxnet.so and are opened when they are needed. */
#ifndef MXNET_BASE_DEVICE_OWN_LIBRARY_H_
#define MXNET_BASE_DEVICE_OWN_LIBRARY_H_

#include <string>

#include "mxnet/base.h"

namespace mxnet {

/* A handle for dlsym; the object stays open. Null: `why` says why it cannot be opened. */
MXNET_DLL void* OpenOwnLibrary(const char* file, std::string* why);

}  // namespace mxnet
#endif  // MXNET_BASE_DEVICE_OWN_LIBRARY_H_
