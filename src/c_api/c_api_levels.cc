// Instructions: what the processor has, and what kernels use.
#include <string>

#include "base/cpu_limit.h"
#include "base/ran.h"
#include "c_api/c_api_symbol.h"
#include "graph/json.h"
#include "mxnet/c_api_plan.h"
#include "operator/nn/cpu_gemm/packed_bfloat.h"

namespace mxnet {
namespace {

std::string Name(RanAt at) { return QuoteJson(RanAtName(at)); }

/* Whatever the library was built for. */
RanAt Had() {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return RanAt::kAvx512;
  if (__builtin_cpu_supports("x86-64-v3")) return RanAt::kAvx2;
#endif
  return RanAt::kBaseline;
}

std::string Built() {
#if defined(MXNET_ONE_CPU_LEVEL)
  return Name(RanAtCpuLevel());
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return Name(RanAt::kBaseline) + ", " + Name(RanAt::kAvx2);
#else
  return Name(RanAt::kBaseline) + ", " + Name(RanAt::kAvx2) + ", " + Name(RanAt::kAvx512);
#endif
}

}  // namespace
}  // namespace mxnet

using namespace mxnet;

int MXGetCpuLevels(const char** out_json) {
  API_BEGIN(out_json);
  const CpuLimit& limit = LimitOfCpu();
  const bool limited = limit.level < CpuLevel::kV4 || !limit.vnni || !limit.bfloat16 || !limit.amx;
  *out_json = GiveText("{\"has\": " + Name(Had()) + ", \"uses\": " + Name(RanAtCpuLevel()) + ", \"built\": [" + Built() +
                       "], \"bfloat16\": " + (nn::BfloatGemmsHere() ? "true" : "false") +
                       ", \"amx\": " + (CurrentCpuLevel() == CpuLevel::kV4 && HasAmx() ? "true" : "false") +
                       ", \"limited\": " + (limited ? "true" : "false") + "}");
  API_END();
}
