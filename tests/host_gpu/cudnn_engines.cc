// Engines of cuDNN's backend: which the heuristics name for a graph, with notes and knobs, what
// they refuse after all, plans, and execution. Numbers, notes and knobs are some of those that
// cuDNN 9.19 names for a Hopper GPU, with engines by Winograd, FFT and of narrower inputs beside
// them, so that every filter meets something. HOST_GPU_CUDNN_REFUSE (fused, channels_last, half,
// attention, with commas) has plans refused.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cudnn_descriptor.h"
#include "cudnn_handle.h"
#include "host_gpu.h"
#include "libraries.h"

namespace host_gpu {
namespace cudnn {

enum Kind : unsigned { kForward = 1, kData = 2, kFilter = 4, kFused = 8, kAttention = 16, kAttentionBackward = 32, kOther = 64 };

struct EngineInfo {
  int64_t index;
  unsigned kinds;
  std::vector<cudnnBackendNumericalNote_t> notes;
  std::vector<std::map<int, int64_t>> configs;  // knobs
  enum { kNone, kSmall, kLarge } workspace;
  bool last_resort;
};

namespace {

constexpr char kFinalize[] = "cudnnBackendFinalize", kExecute[] = "cudnnBackendExecute";

const std::vector<EngineInfo>& Engines() {
  using I = EngineInfo;
  constexpr auto kTc = CUDNN_NUMERICAL_NOTE_TENSOR_CORE, kNd = CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC, kFft = CUDNN_NUMERICAL_NOTE_FFT,
                 kW = CUDNN_NUMERICAL_NOTE_WINOGRAD, kW4 = CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
                 kDc = CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, kSnp = CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP;
  static const std::vector<EngineInfo>* const engines =
      new std::vector<EngineInfo>{{67, kForward, {kTc}, {{{2, 5}, {28, 1}}, {{2, 4}, {28, 1}}}, I::kNone, false},
                                  {38, kForward, {kTc}, {{{2, 1}, {14, 4}, {18, 0}}}, I::kSmall, false},
                                  {71, kData, {kTc}, {{{2, 1}, {28, 1}}, {{2, 4}, {28, 1}}}, I::kNone, false},
                                  {68, kFilter, {kTc}, {{{2, 5}, {18, 1}}, {{2, 7}, {18, 1}}}, I::kSmall, false},
                                  {28, kForward, {}, {{{2, 4}, {3, 0}}}, I::kSmall, true},
                                  {25, kData, {kNd}, {{{2, 2}, {3, 0}}}, I::kNone, true},
                                  {20, kFilter, {kNd}, {{{2, 6}, {3, 0}}}, I::kNone, true},
                                  {6, kForward | kData, {kW, kW4}, {{}}, I::kSmall, false},
                                  {4, kForward | kData | kFilter, {kFft}, {{}}, I::kLarge, false},
                                  {30, kForward | kData | kFilter, {kTc, kDc}, {{{2, 3}}}, I::kNone, false},
                                  {51, kFused, {kTc}, {{{2, 5}, {28, 1}}, {{2, 4}, {28, 1}}}, I::kNone, false},
                                  {44, kFused, {}, {{{2, 12}, {18, 0}}}, I::kSmall, false},
                                  {11, kFused, {}, {{{2, 4}, {3, 0}}}, I::kSmall, true},
                                  {2, kData, {}, {{{2, 1}, {3, 0}}}, I::kSmall, false},
                                  {1, kForward | kData | kFilter, {}, {{}}, I::kSmall, true},
                                  {0, kForward | kData | kFilter | kFused, {kSnp}, {{}}, I::kNone, true},
                                  {2, kAttention, {kTc}, {{{24, 7}}}, I::kNone, false},
                                  {1, kAttention, {kTc}, {{{24, 6}}, {{24, 3}}}, I::kSmall, false},
                                  {6, kAttentionBackward, {kTc}, {{{24, 26}}}, I::kSmall, false},
                                  {7, kAttentionBackward, {kTc}, {{{24, 28}}}, I::kNone, false},
                                  {0, kOther, {}, {{}}, I::kNone, true}};
  return *engines;
}

Kind KindOf(const Graph& g) {
  const auto is = [&g](cudnnBackendDescriptorType_t type) {
    return std::count_if(g.operations.begin(), g.operations.end(), [type](const Operation& o) { return o.kind == type; });
  };
  const auto convolutions = std::count_if(g.operations.begin(), g.operations.end(), IsConvolution),
             products = is(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  const auto pointwise = is(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  if (convolutions == 1 && g.operations.size() == 1) {
    const auto kind = g.operations[0].kind;
    return kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR         ? kForward
           : kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR ? kData
                                                                                  : kFilter;
  }
  if (convolutions == 1 && g.operations[0].kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
      static_cast<size_t>(pointwise) + 1 == g.operations.size())
    return kFused;
  if (!convolutions && products == 2) return kAttention;
  if (!convolutions && products > 2) return kAttentionBackward;
  return kOther;
}

bool Has(const EngineInfo& e, cudnnBackendNumericalNote_t note) { return std::find(e.notes.begin(), e.notes.end(), note) != e.notes.end(); }

// Of the graph's operations that multiply: their inputs.
template <typename Test>
bool AllFactors(const Graph& g, Test test) {
  for (const Operation& o : g.operations)
    if (IsConvolution(o) || o.kind == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
      for (const Tensor& t : o.inputs)
        if (!test(t)) return false;
  return true;
}
bool InHalf(const Graph& g) {
  return AllFactors(g, [](const Tensor& t) { return t.number == Number::kHalf || t.number == Number::kBfloat16; });
}
bool InFloat(const Graph& g) {
  return AllFactors(g, [](const Tensor& t) { return t.number == Number::kFloat; });
}
bool ChannelsLast(const Graph& g) {
  return AllFactors(g, [](const Tensor& t) { return t.dims.size() > 2 && t.strides[1] == 1 && (t.dims[1] > 1 || t.strides[2] != 1); });
}

// Empty, or why the engine does not compute the graph.
std::string WhyNot(const EngineInfo& e, const Graph& g) {
  const Kind kind = KindOf(g);
  if (!(e.kinds & kind)) return "another kind of graph";
  if (kind & (kAttention | kAttentionBackward)) {
    if (kind == kAttentionBackward ? !InHalf(g) : !InHalf(g) && !InFloat(g) && g.wide) return "types";
    for (const auto& t : g.tensors) {
      if (t.second.is_virtual || t.second.by_value || t.second.dims.size() != 4) continue;
      if (t.second.alignment < 16) return "an operand that may lie on less than 16 bytes";
    }
    // both factors of the first product have the width as their inner size
    for (const Operation& o : g.operations) {
      if (o.kind != CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR) continue;
      const int64_t width = o.inputs[0].dims.back();
      if (width % 8 || width > 256) return "a width of " + std::to_string(width);
      break;
    }
    return "";
  }
  if (kind == kOther) return "";
  const Operation& c = g.operations[0];
  if (g.wide && (Has(e, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) || Has(e, CUDNN_NUMERICAL_NOTE_FFT) || Has(e, CUDNN_NUMERICAL_NOTE_WINOGRAD) ||
                 kind == kFused))
    return "float64";
  if (Has(e, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) && !InFloat(g)) return "nothing to convert";
  const Tensor& w = kind == kFilter ? c.output : c.inputs[1];
  const bool simple = std::all_of(c.stride.begin(), c.stride.end(), [](int64_t v) { return v == 1; }) &&
                      std::all_of(c.dilation.begin(), c.dilation.end(), [](int64_t v) { return v == 1; });
  const bool three = std::all_of(w.dims.begin() + 2, w.dims.end(), [](int64_t v) { return v == 3; });
  if (Has(e, CUDNN_NUMERICAL_NOTE_WINOGRAD) && !(simple && three && w.dims.size() == 4)) return "not a kernel of 3 x 3 with steps of 1";
  if (Has(e, CUDNN_NUMERICAL_NOTE_FFT) && !(simple && w.dims.size() == 4 && w.dims[2] > 1)) return "not a large kernel with steps of 1";
  if (Has(e, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) &&
      std::any_of(g.tensors.begin(), g.tensors.end(), [](const auto& t) { return !t.second.is_virtual && t.second.alignment < 16; }))
    return "an operand that may lie on less than 16 bytes";
  return "";
}

int64_t WorkspaceOf(const EngineInfo& e, const Graph& g) {
  int64_t largest = 0;
  for (const auto& t : g.tensors) largest = std::max(largest, t.second.Count());
  return e.workspace == EngineInfo::kNone ? 0 : e.workspace == EngineInfo::kSmall ? 4096 + largest / 16 * 4 : largest * 32;
}

Content Made(cudnnBackendDescriptorType_t type) {
  auto d = std::make_shared<Descriptor>();
  d->type = type;
  d->finalized = true;
  return d;
}

Content EngineContent(const Content& graph, const EngineInfo& info) {
  Content d = Made(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  d->engine = std::make_shared<Engine>(Engine{graph->graph, &info});
  d->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, {}, {graph}};
  d->Keep<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, {info.index});
  d->Keep(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, info.notes);
  d->Keep<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, {});
  std::map<int, std::pair<int64_t, int64_t>> ranges;
  for (const auto& knobs : info.configs)
    for (const auto& k : knobs) {
      auto& range = ranges.emplace(k.first, std::make_pair(k.second, k.second)).first->second;
      range = {std::min(range.first, k.second), std::max(range.second, k.second)};
    }
  Attribute infos;
  infos.type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  for (const auto& r : ranges) {
    Content k = Made(CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR);
    k->Keep<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, {static_cast<cudnnBackendKnobType_t>(r.first)});
    k->Keep<int64_t>(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64, {r.second.first});
    k->Keep<int64_t>(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64, {r.second.second});
    k->Keep<int64_t>(CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64, {1});
    infos.links.push_back(k);
  }
  d->attributes[CUDNN_ATTR_ENGINE_KNOB_INFO] = infos;
  return d;
}

Content ConfigContent(const Content& engine, const std::map<int, int64_t>& knobs) {
  Content d = Made(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  d->config = std::make_shared<Config>(Config{*engine->engine, knobs});
  d->attributes[CUDNN_ATTR_ENGINECFG_ENGINE] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, {}, {engine}};
  Attribute choices;
  choices.type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  for (const auto& k : knobs) {
    Content choice = Made(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    choice->Keep<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                                         {static_cast<cudnnBackendKnobType_t>(k.first)});
    choice->Keep<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, {k.second});
    choices.links.push_back(choice);
  }
  d->attributes[CUDNN_ATTR_ENGINECFG_KNOB_CHOICES] = choices;
  return d;
}

}  // namespace

cudnnStatus_t FinalizeHeuristics(Descriptor* d) {
  const Content graph = d->Link(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  const auto mode = d->Value<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  if (!graph->graph->has_handle && !d->Has(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP))
    return Fail(CUDNN_STATUS_BAD_PARAM, kFinalize, "engine heuristics: the graph has no handle, and no device is described");
  if (mode < 0 || mode >= CUDNN_HEUR_MODES_COUNT)
    return Fail(CUDNN_STATUS_BAD_PARAM, kFinalize, "engine heuristics: mode " + std::to_string(mode));
  const Kind kind = KindOf(*graph->graph);
  const bool network = mode == CUDNN_HEUR_MODE_B;
  if (network && kind & (kAttention | kAttentionBackward | kOther))
    return Fail(CUDNN_STATUS_NOT_SUPPORTED, kFinalize, "engine heuristics: mode B knows convolutions alone");
  Attribute results;
  results.type = CUDNN_TYPE_BACKEND_DESCRIPTOR;
  for (const EngineInfo& e : Engines()) {
    if (!(e.kinds & kind) || (mode == CUDNN_HEUR_MODE_FALLBACK && !e.last_resort)) continue;
    // engines of last resort are named whatever the graph; a plan of theirs may still be refused
    if (mode != CUDNN_HEUR_MODE_FALLBACK && !WhyNot(e, *graph->graph).empty()) continue;
    const Content engine = EngineContent(graph, e);
    for (const auto& knobs : e.configs) {
      results.links.push_back(ConfigContent(engine, mode == CUDNN_HEUR_MODE_FALLBACK ? std::map<int, int64_t>() : knobs));
      if (mode == CUDNN_HEUR_MODE_FALLBACK) break;
    }
  }
  if (network && results.links.size() > 1) std::swap(results.links[0], results.links[1]);
  d->attributes[CUDNN_ATTR_ENGINEHEUR_RESULTS] = results;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizeEngine(Descriptor* d) {
  const Content graph = d->Link(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  const int64_t index = d->Value<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, -1);
  for (const EngineInfo& e : Engines())
    if (e.index == index && WhyNot(e, *graph->graph).empty()) {
      d->attributes = EngineContent(graph, e)->attributes;
      d->engine = std::make_shared<Engine>(Engine{graph->graph, &e});
      return CUDNN_STATUS_SUCCESS;
    }
  return Fail(CUDNN_STATUS_NOT_SUPPORTED, kFinalize, "engine: number " + std::to_string(index) + " does not take the graph");
}

cudnnStatus_t FinalizeConfig(Descriptor* d) {
  const Content engine = d->Link(CUDNN_ATTR_ENGINECFG_ENGINE);
  std::map<int, int64_t> knobs;
  for (const Content& k : d->Links(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
    const int type = k->Value<int>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, 0);
    const int64_t value = k->Value<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0);
    const std::vector<Content> infos = engine->Links(CUDNN_ATTR_ENGINE_KNOB_INFO);
    const bool fits = std::any_of(infos.begin(), infos.end(), [&](const Content& i) {
      return i->Value<int>(CUDNN_ATTR_KNOB_INFO_TYPE, -1) == type && value >= i->Value<int64_t>(CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, 0) &&
             value <= i->Value<int64_t>(CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, 0);
    });
    if (!fits)
      return Fail(CUDNN_STATUS_NOT_SUPPORTED, kFinalize, "engine config: knob " + std::to_string(type) + " = " + std::to_string(value));
    knobs[type] = value;
  }
  d->config = std::make_shared<Config>(Config{*engine->engine, knobs});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizePlan(Descriptor* d) {
  const std::shared_ptr<const Config> config = d->Link(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG)->config;
  const Graph& g = *config->engine.graph;
  if (!d->Has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) && !d->Has(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP))
    return Fail(CUDNN_STATUS_BAD_PARAM, kFinalize, "execution plan: neither a handle nor a described device");
  auto refused = [](const std::string& why) { return Fail(CUDNN_STATUS_NOT_SUPPORTED, kFinalize, "execution plan: " + why); };
  const std::string why = WhyNot(*config->engine.info, g);
  if (!why.empty()) return refused(why);
  const Kind kind = KindOf(g);
  if (kind == kFused && Refuses("CUDNN", "fused")) return refused("asked to refuse fused graphs");
  if (kind & (kAttention | kAttentionBackward) && Refuses("CUDNN", "attention")) return refused("asked to refuse attention");
  if (kind & (kForward | kData | kFilter | kFused)) {
    if (ChannelsLast(g) && Refuses("CUDNN", "channels_last")) return refused("asked to refuse channels last");
    if (InHalf(g) && Refuses("CUDNN", "half")) return refused("asked to refuse 16-bit types");
  }
  const int64_t bytes = WorkspaceOf(*config->engine.info, g);
  d->Keep<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, {bytes});
  d->plan = std::make_shared<Plan>(Plan{*config, bytes});
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizePack(Descriptor* d) {
  auto pack = std::make_shared<Pack>();
  const std::vector<int64_t> uids = d->Values<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const std::vector<void*> pointers = d->Values<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  if (uids.size() != pointers.size())
    return Fail(CUDNN_STATUS_BAD_PARAM, kFinalize,
                "variant pack: " + std::to_string(uids.size()) + " numbers, " + std::to_string(pointers.size()) + " pointers");
  for (size_t i = 0; i < uids.size(); ++i)
    if (!pack->pointers.emplace(uids[i], pointers[i]).second)
      return Fail(CUDNN_STATUS_BAD_PARAM, kFinalize, "variant pack: the number " + std::to_string(uids[i]) + " twice");
  pack->workspace = d->Value<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
  d->pack = pack;
  return CUDNN_STATUS_SUCCESS;
}

namespace {

// The first byte of each element, from that of the first.
std::vector<size_t> Elements(const Tensor& t) {
  std::vector<size_t> all = {0};
  for (size_t d = 0; d < t.dims.size(); ++d) {
    std::vector<size_t> longer;
    longer.reserve(all.size() * static_cast<size_t>(t.dims[d]));
    for (size_t at : all)
      for (int64_t i = 0; i < t.dims[d]; ++i) longer.push_back(at + static_cast<size_t>(i * t.strides[d]) * SizeOf(t.number));
    all = std::move(longer);
  }
  return all;
}
// Do two tensors have bytes in common? Those that lie between each other's elements (interleaved
// ones) have none.
bool ShareBytes(const Tensor& one, const char* at, const Tensor& other, const char* there) {
  std::vector<char> taken(static_cast<size_t>(one.Extent()) * SizeOf(one.number));
  for (size_t e : Elements(one)) std::fill_n(taken.begin() + static_cast<std::ptrdiff_t>(e), SizeOf(one.number), 1);
  for (size_t e : Elements(other))
    for (size_t i = 0; i < SizeOf(other.number); ++i) {
      const std::ptrdiff_t byte = there + e + i - at;
      if (byte >= 0 && byte < static_cast<std::ptrdiff_t>(taken.size()) && taken[static_cast<size_t>(byte)]) return true;
    }
  return false;
}

// Whether what is written lies upon something else. An operand of pointwise operations may be the
// result itself, element for element.
std::string Overlaps(const Graph& g, const Pack& pack) {
  for (const Operation& o : g.operations) {
    const Tensor& out = o.output;
    if (out.is_virtual) continue;
    const char *to = static_cast<const char*>(pack.pointers.at(out.uid)),
               *end = to + static_cast<size_t>(out.Extent()) * SizeOf(out.number);
    for (const auto& entry : g.tensors) {
      const Tensor& t = entry.second;
      if (t.is_virtual || t.by_value || t.uid == out.uid) continue;
      const char *from = static_cast<const char*>(pack.pointers.at(t.uid)),
                 *last = from + static_cast<size_t>(t.Extent()) * SizeOf(t.number);
      if (from >= end || last <= to || !ShareBytes(out, to, t, from)) continue;
      const bool same = from == to && t.dims == out.dims && t.strides == out.strides && t.type == out.type;
      const bool pointwise = std::all_of(g.operations.begin(), g.operations.end(), [&](const Operation& p) {
        return p.kind == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
               std::none_of(p.inputs.begin(), p.inputs.end(), [&](const Tensor& i) { return i.uid == t.uid; });
      });
      if (!same || !pointwise) return out.Text() + " is written upon " + t.Text();
    }
    const char* workspace = static_cast<const char*>(pack.workspace);
    if (workspace && workspace >= to && workspace < end) return out.Text() + " lies upon the workspace";
  }
  return "";
}

}  // namespace

cudnnStatus_t Execute(cudnnHandle_t given, const Descriptor& plan, const Descriptor& variant) {
  auto bad = [](const std::string& why) { return Fail(CUDNN_STATUS_BAD_PARAM, kExecute, why); };
  const Handle* handle = HandleOf(given);
  if (!handle) return bad("not a handle");
  if (!plan.plan || !variant.pack)
    return Fail(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, kExecute, "not a finalized plan and a finalized variant pack");
  const std::shared_ptr<const Graph> graph = plan.plan->config.engine.graph;
  const std::shared_ptr<const Pack> pack = variant.pack;
  std::map<int64_t, double> numbers;
  for (const auto& entry : graph->tensors) {
    const Tensor& t = entry.second;
    const auto at = pack->pointers.find(t.uid);
    if (t.is_virtual) {
      if (at != pack->pointers.end()) return bad(t.Text() + " is virtual, and has a pointer");
      continue;
    }
    if (at == pack->pointers.end() || !at->second) return bad(t.Text() + " has no pointer");
    const size_t size = SizeOf(t.number), bytes = static_cast<size_t>(t.Extent()) * size;
    if (t.by_value) {
      if (OnDevice(at->second, size)) return bad(t.Text() + " is given by value, and lies on a device");
      numbers[t.uid] = Load<double>(t.number, at->second, 0);
      continue;
    }
    if (reinterpret_cast<uintptr_t>(at->second) % static_cast<uintptr_t>(t.alignment))
      return bad(t.Text() + " is not aligned to " + std::to_string(t.alignment) + " bytes");
    if (!OnDevice(at->second, bytes))
      return bad(t.Text() + ": its " + std::to_string(bytes) + " bytes do not lie in one allocation of a device");
  }
  for (const auto& p : pack->pointers)
    if (!graph->tensors.count(p.first)) return bad("a pointer for " + std::to_string(p.first) + ", which is no tensor of the graph");
  const int64_t workspace = plan.plan->workspace;
  if (workspace && (!pack->workspace || !OnDevice(pack->workspace, static_cast<size_t>(workspace))))
    return bad("the workspace does not have the " + std::to_string(workspace) + " bytes that the plan asked for");
  if (workspace && reinterpret_cast<uintptr_t>(pack->workspace) % 16) return bad("the workspace is not aligned to 16 bytes");
  const std::string overlaps = Overlaps(*graph, *pack);
  if (!overlaps.empty()) return bad(overlaps);
  if (NullMode()) return CUDNN_STATUS_SUCCESS;
  const EngineInfo& e = *plan.plan->config.engine.info;
  Arithmetic arithmetic;
  arithmetic.inputs_in_half = Has(e, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  arithmetic.inputs_in_tensor_float = !arithmetic.inputs_in_half && Has(e, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  const cudaError_t error = Submit(handle->stream, "cuDNN plan", [graph, pack, numbers, arithmetic, workspace] {
    if (workspace) std::memset(pack->workspace, 0xff, static_cast<size_t>(workspace));  // whoever keeps something there loses it
    Compute(*graph, *pack, numbers, arithmetic);
  });
  return error == cudaSuccess ? CUDNN_STATUS_SUCCESS : Fail(CUDNN_STATUS_EXECUTION_FAILED, kExecute, "the stream did not take the work");
}

Handle* HandleOf(cudnnHandle_t handle) {
  Handle* h = reinterpret_cast<Handle*>(handle);
  return h && h->magic == kHandleMagic ? h : nullptr;
}

}  // namespace cudnn
}  // namespace host_gpu

using namespace host_gpu;         // NOLINT: the functions below have C names
using namespace host_gpu::cudnn;  // NOLINT

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  HOST_GPU_COUNT_CALL();
  host_gpu::CheckNoLaunch("cudnnCreate");
  if (!handle) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnCreate", "no place for the handle");
  Handle* made = new Handle;
  if (cudaGetDevice(&made->device) != cudaSuccess) {
    delete made;
    return Fail(CUDNN_STATUS_NOT_INITIALIZED, "cudnnCreate", "no device");
  }
  made->magic = kHandleMagic;
  *handle = reinterpret_cast<cudnnHandle_t>(made);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  HOST_GPU_COUNT_CALL();
  Handle* h = HandleOf(handle);
  if (!h) return Fail(CUDNN_STATUS_BAD_PARAM, "cudnnDestroy", "not a handle, or destroyed before");
  h->magic = 0;
  delete h;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  HOST_GPU_COUNT_CALL();
  Handle* h = HandleOf(handle);
  if (!h) return Fail(CUDNN_STATUS_BAD_PARAM, "cudnnSetStream", "not a handle");
  h->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
  HOST_GPU_COUNT_CALL();
  const Content p = ContentOf(plan), v = ContentOf(pack);
  if (!p || !v) return Fail(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "cudnnBackendExecute", "not a descriptor, or destroyed");
  return Execute(handle, *p, *v);
}

}  // extern "C"
