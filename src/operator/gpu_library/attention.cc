// Which engine computes attention.
#include "operator/gpu_library/attention.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <sstream>

#include "base/device/device_interface.h"
#include "base/dtype.h"
#include "mxnet/env.h"
#include "operator/gpu_library/bounded_cache.h"

namespace mxnet {
namespace gpu_library {
namespace {

using Chosen = std::shared_ptr<const EngineConfig>;
BoundedCache<Chosen>& g_chosen = *new BoundedCache<Chosen>(1024);

Chosen Choose(const AttentionProblem& problem, const Env& env, const RunContext& run) {
  const AttentionLibrary* library = GpuInterface().attention.get();
  const bool half = IsHalf(problem.dtype);
  if (!library || !half || !env.cuda_allow_tensor_core || (problem.backward && env.enforce_determinism)) return nullptr;
  const uint32_t forbidden = env.enforce_determinism ? kNondeterministic : 0u;
  for (EngineConfig& config : library->candidates(problem, env.cudnn_heur_mode, run))
    if (!(config.notes & forbidden) && library->prepare(problem, &config, run)) return std::make_shared<const EngineConfig>(config);
  return nullptr;
}

}  // namespace

void ForgetAttention() { g_chosen.Clear(); }

void AttentionProblem::BecomeBackward() {
  backward = true, statistics = false;
  if (!mask || (mask_dims[2] == rows && mask_dims[3] == columns)) return;
  mask_dims[2] = rows, mask_dims[3] = columns, mask_dtype = kFloat32;  // who runs it makes such a mask
}

void AttentionProblem::LieSeparately() {
  auto lie = [this](int64_t length, int64_t size) { return AttentionStrides{length * heads * size, size, heads * size}; };
  query = lie(rows, width), key = lie(columns, width), value = lie(columns, value_width), output = lie(rows, value_width);
}

std::string AttentionProblem::CacheKey() const {
  Key all;
  all.Add(backward)
      .Add(statistics)
      .Add(dtype)
      .Add(batch)
      .Add(heads)
      .Add(rows)
      .Add(columns)
      .Add(width)
      .Add(value_width)
      .Add(mask)
      .Add(mask_dtype)
      .Add(alignment)
      .Add(device);
  int32_t bits;
  std::memcpy(&bits, &dropout, sizeof bits);
  all.Add(bits);
  for (const AttentionStrides* s : {&query, &key, &value, &output}) all.Add(s->example).Add(s->head).Add(s->row);
  for (int64_t d : mask_dims) all.Add(d);
  return all.Take();
}

std::string AttentionProblem::Text() const {
  std::ostringstream s;
  s << "attention"
    << (backward     ? " backward"
        : statistics ? " with statistics"
                     : "")
    << ", " << DTypeName(dtype) << ", batch " << batch << ", heads " << heads << ", rows " << rows << ", columns " << columns << ", width "
    << width << ", of values " << value_width;
  s << ", rows of query " << query.row << ", key " << key.row << ", value " << value.row << " apart";
  if (mask)
    s << ", mask (" << mask_dims[0] << ", " << mask_dims[1] << ", " << mask_dims[2] << ", " << mask_dims[3] << ") "
      << DTypeName(mask_dtype);
  if (dropout > 0) s << ", dropout " << dropout;
  return s.str();
}

std::shared_ptr<const EngineConfig> ChooseAttention(const AttentionProblem& problem, const Env& env, const RunContext& run) {
  Key settings;
  settings.Add(env.cudnn_heur_mode).Add(env.cuda_allow_tensor_core).Add(env.enforce_determinism);
  const std::string key = problem.CacheKey() + settings.Take();
  Chosen chosen;
  if (g_chosen.Find(key, &chosen)) return chosen;
  chosen = Choose(problem, env, run);
  if (chosen && problem.statistics) {  // who reads them?
    AttentionProblem backward = problem;
    backward.BecomeBackward();
    if (!ChooseAttention(backward, env, run)) chosen = nullptr;
  }
  g_chosen.Put(key, chosen);
  return chosen;
}

}  // namespace gpu_library
}  // namespace mxnet
