// Which engine computes a convolution.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <sstream>

#include "base/device/device_interface.h"
#include "base/logging.h"
#include "mxnet/env.h"
#include "operator/gpu_library/bounded_cache.h"
#include "operator/gpu_library/convolution.h"

namespace mxnet {
namespace gpu_library {
namespace {

using Chosen = std::shared_ptr<const EngineConfig>;  // null: the graph is not supported
BoundedCache<Chosen>& g_chosen = *new BoundedCache<Chosen>(4096);

// Configs that are prepared: heuristics name the best first, the slowest take longer to measure
// than they could ever save, and most engines of graphs with something behind the convolution are
// compiled as they are prepared.
constexpr size_t kConsidered = 16, kConsideredFused = 6;

const char* const kNoteNames[] = {"tc", "dc", "rp", "fft", "nd", "w", "w4x4", "w6x6", "w13x13", "snp"};

void PrintChoice(const ConvProblem& problem, const ConvSettings& settings, const std::vector<EngineConfig>& considered, size_t best) {
  std::ostringstream text;
  text << "cuDNN " << problem.Text() << ": " << considered.size() << " configs, autotune " << settings.tune << ", heuristics "
       << settings.heuristic_mode;
  for (size_t i = 0; i < considered.size(); ++i)
    if (i == best || settings.verbose > 1) text << "\n  " << (i == best ? '*' : ' ') << i << ": " << ConfigText(considered[i]);
  LogInfo(text.str());
}

std::string SettingsKey(const ConvSettings& s) {
  Key key;
  key.Add(s.tune).Add(s.heuristic_mode).Add(s.forbidden).Add(static_cast<int64_t>(s.limit));
  for (int e : s.disabled) key.Add(e);
  return key.Take();
}

// Why there is no engine: what was asked for that rules engines out.
[[noreturn]] void ThrowNone(const ConvProblem& problem, const ConvSettings& settings, size_t named, size_t permitted, size_t too_large) {
  std::ostringstream why;
  if (too_large) {
    why << "every engine needs more than the " << (settings.limit >> 20)
        << " MiB that the operator's workspace permits; accepted: a larger workspace, or cudnn_tune=\"fastest\"";
  } else if (named && !permitted && settings.deterministic) {
    why << "MXNET_ENFORCE_DETERMINISM=1 and none of the " << named << " configs that cuDNN names is deterministic and permitted";
  } else if (named && !permitted) {
    why << "MXNET_CUDNN_ALLOW_*, MXNET_CUDNN_DISABLED_CONV_*_ENGINES, MXNET_CUDA_ALLOW_TENSOR_CORE and "
           "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION rule out all "
        << named << " configs that cuDNN names";
  } else {
    why << "cuDNN has no engine that takes it";
  }
  throw Error("[" + problem.Text() + "] " + why.str());
}

}  // namespace

void ForgetEngines() { g_chosen.Clear(); }

int ConvProblem::SpatialDims() const { return dims.in[0] == 1 && dims.out[0] == 1 && dims.kernel[0] == 1 && dims.pad[0] == 0 ? 2 : 3; }

std::string ConvProblem::CacheKey() const {
  Key key;
  key.Add(static_cast<int>(pass)).Add(dtype).Add(channels_last).Add(addend).Add(bias).Add(relu).Add(bias_dtype).Add(alignment).Add(device);
  key.Add(dims.batch).Add(dims.channels).Add(dims.filters).Add(dims.groups);
  for (int i = 0; i < 3; ++i)
    key.Add(dims.in[i]).Add(dims.out[i]).Add(dims.kernel[i]).Add(dims.stride[i]).Add(dims.dilate[i]).Add(dims.pad[i]);
  return key.Take();
}

std::string ConvProblem::Text() const {
  static const char* const kPass[] = {"forward convolution", "data gradient", "weight gradient"};
  std::ostringstream s;
  const int nd = SpatialDims(), first = 3 - nd;
  auto list = [&](const char* name, const int64_t* v) {
    s << ", " << name << " (";
    for (int i = first; i < 3; ++i) s << (i > first ? ", " : "") << v[i];
    s << ")";
  };
  s << kPass[static_cast<int>(pass)] << ", " << DTypeName(dtype) << ", "
    << (channels_last ? (nd == 2 ? "NHWC" : "NDHWC") : (nd == 2 ? "NCHW" : "NCDHW")) << ", batch " << dims.batch << ", channels "
    << dims.channels << " to " << dims.filters;
  if (dims.groups > 1) s << " in " << dims.groups << " groups";
  list("size", dims.in);
  list("kernel", dims.kernel);
  list("stride", dims.stride);
  list("pad", dims.pad);
  list("dilate", dims.dilate);
  if (addend) s << " + addend";
  if (bias) s << " + bias";
  if (relu) s << ", relu";
  return s.str();
}

ConvSettings SettingsFor(const ConvProblem& problem, int tune, uint64_t megabytes, const Env& env) {
  ConvSettings s;
  s.tune = tune < 0 ? env.cudnn_autotune_default : tune;
  s.heuristic_mode = env.cudnn_heur_mode;
  s.verbose = env.cudnn_algo_verbose_level;
  s.deterministic = env.enforce_determinism;
  s.limit = static_cast<size_t>(std::min<uint64_t>(megabytes, uint64_t{1} << 30) << 20);
  if (s.deterministic) s.forbidden |= kNondeterministic;
  if (!env.cudnn_allow_reduced_precision_reduction) s.forbidden |= kReducedPrecision;
  if (!env.cudnn_allow_fft) s.forbidden |= kFft;
  if (!env.cudnn_allow_winograd) s.forbidden |= kWinograd | kWinograd4x4 | kWinograd6x6 | kWinograd13x13;
  const bool conversion = env.cuda_allow_tensor_core && env.cuda_tensor_op_math_allow_conversion;
  if (!conversion) s.forbidden |= kDownConvert;
  // Engines that round float32 to TensorFloat32 call that using tensor cores, not converting.
  if (!env.cuda_allow_tensor_core || (problem.dtype == kFloat32 && !conversion)) s.forbidden |= kTensorCore;
  switch (problem.pass) {
    case nn::ConvPass::kForward: s.disabled = env.cudnn_disabled_conv_fwd_engines; break;
    case nn::ConvPass::kBackwardData: s.disabled = env.cudnn_disabled_conv_dgrad_engines; break;
    case nn::ConvPass::kBackwardWeights: s.disabled = env.cudnn_disabled_conv_wgrad_engines; break;
  }
  return s;
}

bool Permitted(const EngineConfig& config, const ConvSettings& settings) {
  return !(config.notes & settings.forbidden) &&
         std::find(settings.disabled.begin(), settings.disabled.end(), config.engine) == settings.disabled.end();
}

std::string ConfigText(const EngineConfig& c) {
  std::ostringstream s;
  s << "engine " << c.engine << " knobs ";
  for (size_t i = 0; i < c.knobs.size(); ++i) s << (i ? "," : "") << c.knobs[i].first << "=" << c.knobs[i].second;
  if (c.knobs.empty()) s << "-";
  s << " notes ";
  bool any = false;
  for (size_t i = 0; i < sizeof kNoteNames / sizeof *kNoteNames; ++i) {
    if (!(c.notes >> i & 1u)) continue;
    s << (any ? "," : "") << kNoteNames[i];
    any = true;
  }
  if (!any) s << "-";
  s << " workspace " << c.workspace;
  if (c.milliseconds >= 0) {
    char time[32];
    std::snprintf(time, sizeof time, " time %.3f ms", static_cast<double>(c.milliseconds));
    s << time;
  }
  return s.str();
}

std::shared_ptr<const EngineConfig> ChooseEngine(const ConvProblem& problem, const ConvSettings& settings,
                                                 const std::function<ConvOperands()>& operands,
                                                 const std::function<void*(size_t)>& workspace, const RunContext& run) {
  const std::string key = problem.CacheKey() + SettingsKey(settings);
  Chosen chosen;
  if (g_chosen.Find(key, &chosen)) return chosen;
  const EngineLibrary* library = GpuInterface().convolution.get();
  MXNET_CHECK(library) << "[" << problem.Text() << "] on " << run.ctx
                       << ": this build has no convolutions for GPUs; accepted: cpu contexts";
  const std::vector<EngineConfig> named = library->candidates(problem, settings.heuristic_mode, run);
  std::vector<EngineConfig> considered;
  const bool alone = !problem.addend && !problem.bias && !problem.relu;
  size_t permitted = 0, too_large = 0;
  for (const EngineConfig& c : named) {
    if (!Permitted(c, settings)) continue;
    ++permitted;
    EngineConfig config = c;
    if (!library->prepare(problem, &config, run)) continue;
    if (settings.tune != 2 && config.workspace > settings.limit) {
      ++too_large;
      continue;
    }
    considered.push_back(std::move(config));
    if (settings.tune == 0 && settings.verbose < 2) break;  // the first will do, unless all are to be shown
    if (considered.size() == (alone ? kConsidered : kConsideredFused)) break;
  }
  if (considered.empty()) {
    const bool half = IsHalf(problem.dtype);
    const bool asked_away = permitted < named.size() || too_large;  // by settings: nothing else may be done instead
    if (alone && !problem.channels_last && (asked_away || !half)) ThrowNone(problem, settings, named.size(), permitted, too_large);
    g_chosen.Put(key, nullptr);
    return nullptr;
  }
  size_t best = 0;
  if (settings.tune != 0 && considered.size() > 1) {
    const ConvOperands measured = operands();
    size_t largest = 0;
    for (const EngineConfig& c : considered) largest = std::max(largest, c.workspace);
    void* block = nullptr;
    while (largest) {  // what the fastest may need need not be there
      try {
        block = workspace(largest);
        break;
      } catch (const Error& e) {
        if (e.kind() != Error::Kind::kOutOfMemory) throw;
        size_t next = 0;
        for (const EngineConfig& c : considered)
          if (c.workspace < largest) next = std::max(next, c.workspace);
        largest = next;
      }
    }
    for (size_t i = 0; i < considered.size(); ++i) {
      EngineConfig& c = considered[i];
      if (c.workspace <= largest) c.milliseconds = library->time(problem, c, measured, c.workspace ? block : nullptr, run);
      const float before = considered[best].milliseconds;
      if (c.milliseconds >= 0 && (before < 0 || c.milliseconds < before)) best = i;
    }
  }
  if (settings.verbose > 0) PrintChoice(problem, settings, considered, best);
  chosen = std::make_shared<const EngineConfig>(considered[best]);
  g_chosen.Put(key, chosen);
  return chosen;
}

}  // namespace gpu_library
}  // namespace mxnet
