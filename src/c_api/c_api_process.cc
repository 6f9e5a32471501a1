// Streams of other libraries, NVIDIA's tools, switches of the graph compiler.
#include "mxnet/c_api_process.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/device/device_query.h"
#include "base/file_kinds.h"
#include "c_api/c_api_common.h"
#include "executor/passes/core/passes.h"
#include "graph/constraints.h"
#include "library/library.h"
#include "ndarray/dlpack.h"
#include "profiler/device_tools.h"

using namespace mxnet;  // NOLINT

int MXPushStreamDep(NDArrayHandle handle, int stream) {
  API_BEGIN();
  OrderStreamBehind(*Computed(handle), stream);
  API_END();
}

int MXGetCurrentStream(int device_id, int* stream) {
  API_BEGIN(stream);
  const int count = DeviceCount(DeviceType::kGPU);
  MXNET_CHECK_KIND(device_id >= 0 && device_id < count, Value)
      << "[stream] gpu(" << device_id << ") of a machine with " << count << " GPUs that this library can use";
  *stream = static_cast<int>(kLegacyStream);
  API_END();
}

int MXNVTXRangePush(const char* name, mx_uint color) {
  API_BEGIN_UNSEEN();
  profiler::PushToolRange(Text(name, "a range's name"), color);
  API_END();
}

int MXNVTXRangePop() {
  API_BEGIN_UNSEEN();
  profiler::PopToolRange();
  API_END();
}

int MXCUDAProfilerStart() {
  API_BEGIN_UNSEEN();
  profiler::RecordForTools(true);
  API_END();
}

int MXCUDAProfilerStop() {
  API_BEGIN_UNSEEN();
  profiler::RecordForTools(false);
  API_END();
}

int MXSetOptimizationConstraints(unsigned int constraints, unsigned int* prev) {
  API_BEGIN_UNSEEN(prev);
  *prev = SetGraphConstraints(constraints);
  API_END();
}

int MXGetOptimizationConstraints(unsigned int* curr) {
  API_BEGIN_UNSEEN(curr);
  *curr = GraphConstraints();
  API_END();
}

int MXSetOptimizeLayout(bool val) {
  API_BEGIN_UNSEEN();
  LetLayoutsChange(val);
  API_END();
}

int MXGetOptimizeLayout(bool* val) {
  API_BEGIN_UNSEEN(val);
  *val = LayoutsMayChange();
  API_END();
}

int MXLoadLib(const char* path, unsigned verbose) {
  API_BEGIN();
  library::Load(Text(path, "the library's path"), verbose != 0);
  API_END();
}

int MXLoadTVMOp(const char* libpath) {
  API_BEGIN();
  const std::string path = Text(libpath, "the library's path");
  MXNET_THROW(Generic) << "[TVM] cannot load " << path
                       << ": this library runs no operators compiled by TVM; accepted: libraries of operators for MXLoadLib";
  API_END();
}

int MXLoadTVMConfig(ConfigSpaces) {
  API_BEGIN();
  MXNET_THROW(Generic) << "[TVM] this library runs no operators compiled by TVM, so they have no configuration";
  API_END();
}

int MXInitPSEnv(uint32_t num_vars, const char** keys, const char** vals) {
  API_BEGIN();
  NeedTexts(num_vars, keys, "variables' names");
  NeedTexts(num_vars, vals, "variables' values");
  for (uint32_t i = 0; i < num_vars; ++i)
    MXNET_CHECK_KIND(setenv(keys[i], vals[i], 1) == 0, Value)
        << "[kvstore] the variable '" << keys[i] << "' cannot be set: " << std::strerror(errno);
  API_END();
}

int MXFileKind(const char* path, const char** kind) {
  API_BEGIN(kind);
  const FileKind* found = KindOfFile(Text(path, "the file's name"));
  *kind = found ? found->name : "";
  API_END();
}

int MXFileKindOfBytes(const void* bytes, size_t size, const char** kind) {
  API_BEGIN(kind);
  Need(static_cast<int64_t>(size), static_cast<const char*>(bytes), "bytes of a file");
  const FileKind* found = KindOfBytes(size ? bytes : "", size);
  *kind = found ? found->name : "";
  API_END();
}

int MXFileKindWords(const char* kind, const char** what, const char** in_python, const char** in_c) {
  API_BEGIN(what, in_python, in_c);
  const FileKind* found = KindOfName(Text(kind, "the kind"));
  MXNET_CHECK_KIND(found, Value) << "[file kind] " << kind << "; accepted: what MXFileKind gives";
  *what = found->what;
  *in_python = found->in_python;
  *in_c = found->in_c ? found->in_c : found->in_python;
  API_END();
}
