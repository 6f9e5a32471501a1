#include "base/device/own_library.h"

#include <dlfcn.h>

namespace mxnet {

void* OpenOwnLibrary(const char* file, std::string* why) {
  Dl_info self;
  static const int here = 0;
  std::string folder;
  if (dladdr(&here, &self) != 0 && self.dli_fname != nullptr) folder = self.dli_fname;
  folder.resize(folder.find_last_of('/') == std::string::npos ? 0 : folder.find_last_of('/') + 1);
  why->clear();
  for (const char* below : {"", "../"}) {  // tests link this library's objects, and lie one folder deeper
    if (void* object = dlopen((folder + below + file).c_str(), RTLD_NOW | RTLD_LOCAL)) return object;
    const char* error = dlerror();
    if (why->empty() && error) *why = error;
  }
  return nullptr;
}

}  // namespace mxnet
