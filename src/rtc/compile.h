/*
 * CUDA C text to machine code with NVRTC, remembered on disk (cache.h). Needs no device: the architecture is given. Linked only when USE_CUDA=ON.
 */
#ifndef MXNET_RTC_COMPILE_H_
#define MXNET_RTC_COMPILE_H_

#include <map>
#include <string>
#include <vector>

namespace mxnet {
namespace rtc {

struct CompileRequest {
  std::string name;                  // for messages: "pointwise_add.cu"
  std::string source;
  std::vector<std::string> options;  // NVRTC's, without the architecture
  std::string architecture;          // "sm_90": machine code (cubin); "compute_90": PTX
  std::vector<std::string> names;    // C++ names whose mangled form is wanted, e.g. "my::kernel<float>"
};

struct CompiledCode {
  std::string code;                              // cubin or PTX
  std::map<std::string, std::string> mangled;    // by CompileRequest::names
};

/*
 * Throws Error(kGeneric) "[rtc] NAME does not compile ..." with NVRTC's log. With MXNET_RTC_VERBOSE the source and the log of everything compiled are printed.
 * Safe from several threads.
 */
CompiledCode Compile(const CompileRequest& request);
/* The same through the cache in `folder` ("" = CacheFolder()); a damaged entry is compiled and written again. */
CompiledCode CompileCached(const CompileRequest& request, const std::string& folder = "");

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_COMPILE_H_
