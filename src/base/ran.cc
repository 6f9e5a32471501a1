#include "base/ran.h"

#include <cstring>
#include <mutex>
#include <unordered_set>

#include "base/cpu_dispatch.h"

namespace mxnet {

namespace detail {
__thread RanParts* g_ran = nullptr;
}

const char* RanAtName(RanAt at) {
  switch (at) {
    case RanAt::kNone: return nullptr;
#if defined(__x86_64__)
    case RanAt::kBaseline: return "SSE4.2";
#else
    case RanAt::kBaseline: return "baseline";
#endif
    case RanAt::kAvx2: return "AVX2";
    case RanAt::kAvx2Vnni: return "AVX2 VNNI";
    case RanAt::kAvx512: return "AVX-512";
    case RanAt::kAvx512Vnni: return "AVX-512 VNNI";
    case RanAt::kAvx512Bf16: return "AVX-512 BF16";
    case RanAt::kAmx: return "AMX";
  }
  return nullptr;
}

RanAt RanAtCpuLevel() {
  switch (CurrentCpuLevel()) {
    case CpuLevel::kV4: return RanAt::kAvx512;
    case CpuLevel::kV3: return RanAt::kAvx2;
    default: return RanAt::kBaseline;
  }
}

void RanParts::Add(RanPart part) {
  for (int i = 0; i < count; ++i)
    if (parts[i].at == part.at && std::strcmp(parts[i].name, part.name) == 0) return;
  if (count < kMost) parts[count++] = part;
}

const char* InternRan(const std::string& text) {
  static auto* mutex = new std::mutex;
  static auto* texts = new std::unordered_set<std::string>;  // whose elements stay where they are
  std::lock_guard<std::mutex> lock(*mutex);
  return texts->insert(text).first->c_str();
}

RanPart RanOfLibrary(const char* library, const std::string& own_name, RanAt otherwise) {
  const auto has = [&](const char* word) { return own_name.find(word) != std::string::npos; };
  RanAt at = otherwise;
  if (has("amx"))
    at = RanAt::kAmx;
  else if (has("avx512_core_bf16") || has("avx512_core_fp16"))
    at = RanAt::kAvx512Bf16;
  else if (has("avx512_core_vnni"))
    at = RanAt::kAvx512Vnni;
  else if (has("avx512"))
    at = RanAt::kAvx512;
  else if (has("avx2_vnni"))
    at = RanAt::kAvx2Vnni;
  else if (has("avx2"))
    at = RanAt::kAvx2;
  else if (has("sse41") || has("avx"))
    at = RanAt::kBaseline;
  else if (has("ref"))
    at = RanAt::kNone;
  return {InternRan(std::string(library) + " " + own_name), at};
}

}  // namespace mxnet
