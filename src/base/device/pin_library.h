/* Keeps the library loaded, for threads of its own that run until the process ends: a program may
 * close it, and they need their code. */
#ifndef MXNET_BASE_DEVICE_PIN_LIBRARY_H_
#define MXNET_BASE_DEVICE_PIN_LIBRARY_H_

#include <dlfcn.h>

namespace mxnet {

inline void PinLibrary() {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&PinLibrary), &self) != 0 && self.dli_fname != nullptr)
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace mxnet
#endif  // MXNET_BASE_DEVICE_PIN_LIBRARY_H_
