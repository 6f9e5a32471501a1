/*
 * CUDA C text to machine code with NVRTC, remembered on disk (cache.h). Needs no device: the
 * architecture is given. Linked only when USE_CUDA=ON.
 */
#ifndef MXNET_RTC_COMPILE_H_
#define MXNET_RTC_COMPILE_H_

#include <map>
#include <string>
#include <vector>

namespace mxnet {
namespace rtc {

struct CompileRequest {
  std::string name;  // for messages: "pointwise_add.cu"
  std::string source;
  std::vector<std::string> options;  // NVRTC's, without the architecture
  std::string architecture;          // "sm_90": machine code (cubin); "compute_90": PTX
  std::vector<std::string> names;    // C++ names whose mangled form is wanted, e.g. "my::kernel<float>"
};

struct CompiledCode {
  std::string code;                            // cubin or PTX
  std::map<std::string, std::string> mangled;  // by CompileRequest::names
};

/*
 * What to compile for a device of compute capability `number` (90 for 9.0): its machine code, or,
 * when it is newer than this NVRTC, the newest PTX that NVRTC makes ("compute_121"), of which the
 * driver makes code. Throws Error(kGeneric) for a device that is older than all it knows.
 */
std::string CodeFor(int number);
/* PTX that devices from `number` on take. */
std::string PtxFor(int number);

/*
 * Throws Error(kGeneric) "[rtc] NAME does not compile ..." with NVRTC's log. With MXNET_RTC_VERBOSE
 * the source and the log of everything compiled are printed. Safe from several threads.
 */
CompiledCode Compile(const CompileRequest& request);
/* The same through the cache in `folder` ("" = CacheFolder()); a damaged entry is compiled and
 * written again. */
CompiledCode CompileCached(const CompileRequest& request, const std::string& folder = "");

}  // namespace rtc
}  // namespace mxnet
#endif  // MXNET_RTC_COMPILE_H_
