// _fused_pointwise: a graph of pointwise operators computed tile by tile, so that what lies between
// them never leaves the first-level cache.
//
// Every step runs the same loop as the operator would alone, and half types are rounded after every
// step: the results are the same bits.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_activation.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/loops/gather.h"
#include "operator/pointwise/recipe.h"
#include "operator/pointwise/repeats.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/runtime/subgraph.h"
#include "operator/shared/activation_kernels.h"

namespace mxnet {
namespace pointwise {

struct FusedPointwiseParam : public Parameter<FusedPointwiseParam> {
  int num_args;
  Shape shape;
  MXNET_DECLARE_PARAM(FusedPointwiseParam) {
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs.");
    MXNET_FIELD(shape).set_default_none().describe("Of the result, where it is larger than what the inputs broadcast to.");
  }
};
MXNET_REGISTER_PARAM(FusedPointwiseParam);

namespace {

constexpr int64_t kTile = 2048;  // elements: some buffers of that size fit the first-level cache

/* Where an operand of a step is: an input of the node, or the result of an earlier step. */
struct Place {
  bool input;
  int index;  // of the input or of the buffer
};

struct Step {
  Recipe recipe;
  Loop loop = nullptr;
  std::vector<Place> from;         // by operand
  int to = 0;                      // buffer; -1: the output
  int dtype = kFloat32;            // that the result is rounded to
  alignas(8) char numbers[3 * 8];  // p, q, r or the number, in the compute type
};

struct Program : OpState {
  std::vector<Step> steps;
  std::vector<int> dtypes;  // of the inputs
  int buffers = 0, compute = kF32;
};

/* The graph of a fused node. Its operators have one output each. */
struct FusedGraph : Subgraph {
  SubgraphTypes types;

  FusedGraph(const Attrs& attrs, const InferSwitches& switches, const std::vector<int>& input_types) : Subgraph(Read(attrs)) {
    types = InferSubgraphTypes(attrs, switches, *attrs.subgraphs[0], input_types);
  }
  int dtype(const Node* n) const { return types.at(n)[0]; }
  const NodePtr& root() const { return outputs[0].node; }

 private:
  static Subgraph Read(const Attrs& attrs) {
    MXNET_CHECK_KIND(attrs.subgraphs.size() == 1, Value)
        << "[_fused_pointwise] " << attrs.subgraphs.size() << " graphs; it needs one, with one output";
    Subgraph graph = ReadSubgraph(*attrs.subgraphs[0]);
    MXNET_CHECK_KIND(graph.outputs.size() == 1, Value)
        << "[_fused_pointwise] its graph has " << graph.outputs.size() << " outputs; it needs one";
    return graph;
  }
};

Recipe StepRecipe(const Node& n, int dtype) {
  Recipe recipe;
  MXNET_CHECK_KIND(RecipeOf(*n.attrs, dtype, &recipe), Value) << "[_fused_pointwise] " << n.op()->name << " is not a pointwise operator";
  return recipe;
}

/* That of the result, but for a float64 graph whose last step is a cast. */
int ComputeOf(const FusedGraph& graph) {
  const Node& result = *graph.root();
  const int dtype = graph.dtype(&result);
  if (result.is_variable() || StepRecipe(result, dtype).kind != Recipe::kCopy) return ComputeFor(dtype, false);
  return graph.dtype(result.inputs[0].node.get()) == kFloat64 ? int{kF64} : ComputeFor(dtype, false);
}

void Put(int compute, double v, void* to) {
  if (compute == kF32)
    *static_cast<float*>(to) = static_cast<float>(v);
  else
    *static_cast<double*>(to) = v;
}

// A loop's scalar operand must be one that it knows; others are spread over a buffer.
std::shared_ptr<Program> Compile(const Attrs& attrs, const InferSwitches& switches, const std::vector<int>& inputs) {
  const FusedGraph graph(attrs, switches, inputs);
  const Node* const root = graph.root().get();
  auto program = std::make_shared<Program>();
  program->dtypes = inputs;
  program->compute = ComputeOf(graph);
  std::vector<std::pair<const Node*, Recipe>> order;
  std::unordered_map<const Node*, const Node*> same;  // a cast to the compute type gives what it gets
  auto source = [&](const NodeEntry& e) {
    auto it = same.find(e.node.get());
    return it == same.end() ? e.node.get() : it->second;
  };
  std::unordered_map<const Node*, int> uses, input, buffer;
  for (const NodePtr& n : graph.nodes) {
    if (n->is_variable()) continue;
    const int dtype = graph.dtype(n.get());
    const Recipe recipe = StepRecipe(*n, dtype);
    if (recipe.kind == Recipe::kCopy && dtype == ComputeDType(program->compute) && n.get() != root) {
      same[n.get()] = source(n->inputs.at(0));
      continue;
    }
    order.emplace_back(n.get(), recipe);
    for (const auto& e : n->inputs) ++uses[source(e)];
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) input[graph.inputs[i].get()] = static_cast<int>(i);
  std::vector<int> free;
  for (const auto& member : order) {
    const Node* n = member.first;
    Step step;
    step.recipe = member.second;
    step.dtype = graph.dtype(n);
    const Recipe& r = step.recipe;
    for (int i = 0; i < 3; ++i) Put(program->compute, r.params[i], step.numbers + i * ComputeSize(program->compute));
    if (r.kind == Recipe::kForward) step.loop = ForwardLoop(r.row, program->compute);
    if (r.kind == Recipe::kGradient) step.loop = GradientLoop(r.row, r.side, program->compute);
    if (r.kind == Recipe::kSum) step.loop = ForwardLoop(k_add, program->compute);
    auto place = [&](const NodeEntry& e) {
      const Node* from = source(e);
      return from->is_variable() ? Place{true, input.at(from)} : Place{false, buffer.at(from)};
    };
    if (r.kind == Recipe::kSum) {
      for (const auto& e : n->inputs) step.from.push_back(place(e));
    } else {
      for (int k = 0; k < r.count; ++k)
        step.from.push_back(r.operand[k] == Recipe::kNumber ? Place{true, -1} : place(n->inputs.at(r.operand[k])));
    }
    std::vector<int> released;
    for (const auto& e : n->inputs)
      if (--uses[source(e)] == 0 && !source(e)->is_variable()) released.push_back(buffer.at(source(e)));
    // a loop may write where it reads, element for element
    free.insert(free.end(), released.begin(), released.end());
    if (n == root) {
      step.to = -1;
    } else if (free.empty()) {
      step.to = program->buffers++;
    } else {
      step.to = free.back();
      free.pop_back();
    }
    buffer[n] = step.to;
    program->steps.push_back(step);
  }
  return program;
}

/* How an input lies along the output's elements. */
struct Source {
  const char* ptr;
  int dtype;
  bool single = false, along = false;  // one element for all; element by element with the output
  Steps steps;                         // otherwise
  int64_t row = 0;                     // each element is for so many of the output that lie behind one another; 0: spread over them
};

void Describe(const TBlob& in, const TBlob& out, Source* s) {
  s->ptr = static_cast<const char*>(in.dptr);
  s->dtype = in.dtype;
  const int64_t total = out.Size();
  if (in.Size() == total && SameOrder(in, out)) {
    s->along = true;
    return;
  }
  if (in.Size() == 1) {
    s->single = true;
    return;
  }
  const int nd = out.shape.ndim(), shift = nd - in.shape.ndim();
  MXNET_CHECK_KIND(nd <= kMaxDims, Value) << "[_fused_pointwise] tensors of " << nd << " dimensions; at most " << kMaxDims;
  int64_t stride[kMaxDims] = {};
  std::vector<int> memory;  // the input's dimensions from the slowest to the fastest
  for (int i = 0; i < in.shape.ndim(); ++i) memory.push_back(i);
  if (in.layout == Layout::kChannelsLast && in.shape.ndim() > 2) std::rotate(memory.begin() + 1, memory.begin() + 2, memory.end());
  int64_t running = 1;
  for (size_t i = memory.size(); i-- > 0;) {
    const int d = memory[i];
    stride[d + shift] = in.shape[d] == 1 ? 0 : running;
    running *= in.shape[d];
  }
  std::vector<int> order;
  for (int i = 0; i < nd; ++i) order.push_back(i);
  if (out.layout == Layout::kChannelsLast && nd > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  for (int d : order) {
    if (out.shape[d] != 1) s->steps.Add(out.shape[d], stride[d]);
  }
}

template <typename T>
void AddInto(const void* x, void* sum, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(sum)[i] += static_cast<const T*>(x)[i];
}

/*
 * Loops that take an operand as a single element are called for one row of the output after the
 * other where rows are long: then only one element for each row has to be read. REQUIRES: as in
 * Source, sources that are neither single nor along have one dimension or more.
 */
void FindRows(const Program& program, std::vector<Source>* sources) {
  constexpr int64_t kLongRow = 32;
  const auto repeats = [](const Source& s) {
    return !s.single && !s.along && s.steps.ndim > 1 && s.steps.stride[s.steps.ndim - 1] == 0 && s.steps.dim[s.steps.ndim - 1] >= kLongRow;
  };
  std::vector<bool> rows(sources->size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const Source& s = (*sources)[i];
    Repeats once(kTile);
    if (!repeats(s)) continue;
    once.Add(0, s.steps.ndim, s.steps.dim, s.steps.stride);
    rows[i] = !once.Has(0);
  }
  if (std::find(rows.begin(), rows.end(), true) == rows.end()) return;
  for (const Step& step : program.steps) {
    std::vector<size_t> found;
    bool takes = step.recipe.kind == Recipe::kForward || step.recipe.kind == Recipe::kGradient;
    for (size_t k = 0; k < step.from.size(); ++k) {
      const Place& from = step.from[k];
      if (!from.input || from.index < 0 || !rows[from.index]) continue;
      found.push_back(from.index);
      takes = takes && (step.recipe.masks >> (1u << k) & 1u);
    }
    if (!takes || found.size() > 1)
      for (size_t i : found) rows[i] = false;
  }
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i]) (*sources)[i].row = (*sources)[i].steps.dim[--(*sources)[i].steps.ndim];
}

/* Everything that one range of tiles needs. */
class Runner {
 public:
  Runner(const Program& p, const KernelArgs& args, const std::vector<Source>& sources)
      : p_(p),
        args_(args),
        sources_(sources),
        own_(ComputeDType(p.compute)),
        width_(ComputeSize(p.compute)),
        // buffers of steps, of inputs that must be gathered or converted, of spread numbers, of a
        // result to be added or rounded, of a sum
        bytes_((p.buffers + sources.size() + kExtras) * kTile * width_ + 64) {
    static thread_local std::vector<char> memory;
    if (memory.size() < bytes_) memory.resize(bytes_);
    base_ = AlignedTo64<char>(memory.data());
    // single elements are spread once
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Source& s = sources_[i];
      if (!s.single && !s.along && !s.row) repeats_.Add(static_cast<int>(i), s.steps.ndim, s.steps.dim, s.steps.stride);
      if (!s.single) continue;
      char* to = Input(i);
      LoadFn(s.dtype, p_.compute)(s.ptr, to, 1);
      Spread(to);
    }
  }

  void Run(int64_t begin, int64_t end) {
    const TBlob& out = args_.out[0];
    const bool add = args_.req[0] == OpReq::kAdd;
    Repeats::Walk walk;
    for (int64_t at = begin, n; at < end; at += n) {
      n = repeats_.Next(at, end, &walk);
      for (size_t i = 0; i < sources_.size(); ++i) {
        const Source& s = sources_[i];
        if (s.single || (walk.again && repeats_.Has(static_cast<int>(i)))) continue;
        Read(s, at, n, i);
      }
      at_ = at;
      char* result = static_cast<char*>(out.dptr) + at * DTypeSize(out.dtype);
      for (const Step& step : p_.steps) {
        const bool last = step.to < 0, round = step.dtype != own_;
        char* to = last && !round && !add ? result : last ? Extra(1) : Buffer(step.to);
        const char* before = nullptr;  // what is added to before it is rounded
        if (last && add) {
          before = result;
          if (round) LoadFn(step.dtype, p_.compute)(result, Extra(0), n), before = Extra(0);
        }
        RunStep(step, to, n, before);
        if (!round) {
          if (before) std::memcpy(result, to, n * width_);
          continue;
        }
        StoreFn(step.dtype, p_.compute)(to, last ? result : Extra(0), n);
        if (!last) LoadFn(step.dtype, p_.compute)(Extra(0), to, n);
      }
    }
  }

  /* What the steps read of an input for elements [at, at + n) of the output. */
  void Read(const Source& s, int64_t at, int64_t n, size_t i) {
    const bool convert = s.dtype != own_;
    const size_t size = DTypeSize(s.dtype);
    if (s.row) n = (at + n - 1) / s.row - at / s.row + 1, at /= s.row;
    if (s.along) {
      current_[i] = s.ptr + at * size;
    } else {
      current_[i] = convert ? Extra(0) : Input(i);
      MXNET_CPU_CALL(GatherElements)(s.steps, s.ptr, size, at, n, const_cast<char*>(current_[i]));
    }
    if (!convert) return;
    LoadFn(s.dtype, p_.compute)(current_[i], Input(i), n);
    current_[i] = Input(i);
  }

  void Prepare() {
    current_.assign(sources_.size(), nullptr);
    for (size_t i = 0; i < sources_.size(); ++i) current_[i] = Input(i);
  }

 private:
  static constexpr int kExtras = 6;
  char* Buffer(int i) { return base_ + i * kTile * width_; }
  char* Input(size_t i) { return Buffer(p_.buffers + static_cast<int>(i)); }
  char* Extra(int i) { return Buffer(p_.buffers + static_cast<int>(sources_.size()) + i); }
  char* Number(int k) { return Extra(2 + k); }
  const void* At(const Place& p) { return p.input ? current_[p.index] : Buffer(p.index); }
  void Spread(char* to) {
    if (width_ == 4)
      std::fill_n(reinterpret_cast<uint32_t*>(to), kTile, *reinterpret_cast<uint32_t*>(to));
    else
      std::fill_n(reinterpret_cast<uint64_t*>(to), kTile, *reinterpret_cast<uint64_t*>(to));
  }

  // In the order of add_n, which begins with what is there. The last addition alone writes `to`:
  // that may be where a term is.
  void RunSum(const Step& step, char* to, int64_t n, const char* before) {
    const size_t terms = step.from.size();
    if (terms == 1 && !before) return static_cast<void>(std::memcpy(to, At(step.from[0]), n * width_));
    const void* sum = before ? static_cast<const void*>(before) : At(step.from[0]);
    for (size_t k = before ? 0 : 1; k < terms; ++k) {
      const void* ptrs[kMaxOperands] = {sum, At(step.from[k])};
      char* next = k + 1 == terms ? to : Extra(5);
      step.loop(ptrs, next, n, 0);
      sum = next;
    }
  }

  /* The operand that has one element for each row of the output, or -1. */
  int RowOperand(const Step& step) const {
    for (size_t k = 0; k < step.from.size(); ++k)
      if (step.from[k].input && step.from[k].index >= 0 && sources_[step.from[k].index].row) return static_cast<int>(k);
    return -1;
  }

  void RunRows(const Step& step, const void** ptrs, char* to, int64_t n, int operand) {
    const int64_t row = sources_[step.from[operand].index].row;
    for (int64_t done = 0, m = row - at_ % row; done < n; done += m, m = row) {
      m = std::min(m, n - done);
      step.loop(ptrs, to + done * width_, m, 1u << operand);
      for (int k = 0; k < step.recipe.count; ++k) ptrs[k] = static_cast<const char*>(ptrs[k]) + (k == operand ? 1 : m) * width_;
    }
  }

  /* With `before`: added to that. */
  void RunStep(const Step& step, char* to, int64_t n, const char* before) {
    const Recipe& r = step.recipe;
    if (r.kind == Recipe::kSum) return RunSum(step, to, n, before);
    const void* ptrs[kMaxOperands] = {};
    unsigned mask = 0;
    for (int k = 0; k < r.count; ++k)
      if (r.operand[k] == Recipe::kNumber || (step.from[k].input && sources_[step.from[k].index].single)) mask |= 1u << k;
    const int row = RowOperand(step);
    if (row >= 0) mask = 1u << row;
    if (!(r.masks >> mask & 1u)) mask = 0;
    for (int k = 0; k < r.count; ++k) {
      if (r.operand[k] != Recipe::kNumber) {
        ptrs[k] = At(step.from[k]);
        continue;
      }
      ptrs[k] = step.numbers;
      if (mask >> k & 1u) continue;
      std::memcpy(Number(k), step.numbers, width_);
      Spread(Number(k));
      ptrs[k] = Number(k);
    }
    if (r.kind == Recipe::kCopy) {
      if (ptrs[0] != to) std::memcpy(to, ptrs[0], n * width_);
    } else if (r.kind == Recipe::kActivation) {
      MXNET_CPU_CALL(ActivationForward)(r.row, own_, ptrs[0], to, n, r.params[0]);
    } else if (r.kind == Recipe::kActivationGradient) {
      MXNET_CPU_CALL(ActivationBackward)(r.row, own_, ptrs[0], ptrs[1], to, n, r.params[0]);
    } else {
      if (r.has_params) {
        if (r.count == 1)
          for (int i = 0; i < 3; ++i) ptrs[1 + i] = step.numbers + i * width_;
        else
          ptrs[2] = step.numbers;
      }
      if (row < 0)
        step.loop(ptrs, to, n, mask);
      else
        RunRows(step, ptrs, to, n, row);
    }
    if (!before) return;
    if (p_.compute == kF32)
      AddInto<float>(before, to, n);
    else
      AddInto<double>(before, to, n);
  }

  const Program& p_;
  const KernelArgs& args_;
  const std::vector<Source>& sources_;
  Repeats repeats_{kTile};
  int64_t at_ = 0;  // where the tile begins
  const int own_;   // dtype of the compute type
  const int64_t width_;
  const size_t bytes_;
  char* base_;
  std::vector<const char*> current_;
};

/* The same graph as one generated kernel. Casts are steps that only round. */
struct DeviceFusion : OpState {
  DeviceProgram program;
  std::vector<double> numbers;
  std::vector<int> dtypes;  // of the inputs
};

std::shared_ptr<DeviceFusion> CompileForDevice(const Attrs& attrs, const InferSwitches& switches, const std::vector<int>& inputs) {
  const FusedGraph graph(attrs, switches, inputs);
  auto fusion = std::make_shared<DeviceFusion>();
  DeviceProgram& p = fusion->program;
  fusion->dtypes = inputs;
  p.name = "fused_pointwise";
  p.compute = ComputeOf(graph);
  std::unordered_map<const Node*, DeviceValue> place;
  for (size_t i = 0; i < graph.inputs.size(); ++i) place[graph.inputs[i].get()] = {DeviceValue::kInput, static_cast<int>(i)};
  auto number = [&](double v) {
    fusion->numbers.push_back(v);
    return DeviceValue{DeviceValue::kNumber, p.numbers++};
  };
  for (const NodePtr& n : graph.nodes) {
    if (n->is_variable()) continue;
    const int dtype = graph.dtype(n.get());
    const Recipe r = StepRecipe(*n, dtype);
    DeviceStep step;
    auto add_step = [&] {
      place[n.get()] = {DeviceValue::kStep, static_cast<int>(p.steps.size())};
      p.steps.push_back(step);
      step.from = {place[n.get()]};
    };
    auto finish = [&] {
      if (n != graph.root() && dtype != ComputeDType(p.compute)) step.round_to = dtype;
      add_step();
    };
    if (r.kind == Recipe::kCopy || r.kind == Recipe::kSum) {
      step.function = pointwise::Forward(r.kind == Recipe::kSum ? k_add : k_identity);
      step.from.push_back(place.at(n->inputs.at(0).node.get()));
      for (size_t k = 1; r.kind == Recipe::kSum && k < n->inputs.size(); ++k) {  // rounded once, behind the last term
        step.from.push_back(place.at(n->inputs[k].node.get()));
        if (k + 1 < n->inputs.size()) add_step();
      }
      finish();
      continue;
    }
    const bool activation = r.kind == Recipe::kActivation || r.kind == Recipe::kActivationGradient;
    if (activation)
      step.function = ActivationFunction(r.row, r.kind == Recipe::kActivationGradient);
    else
      step.function = r.kind == Recipe::kForward ? pointwise::Forward(r.row) : Gradient(r.row, r.side);
    for (int k = 0; k < r.count; ++k)
      step.from.push_back(r.operand[k] == Recipe::kNumber ? number(r.params[0]) : place.at(n->inputs.at(r.operand[k]).node.get()));
    if (activation || r.has_params) {
      step.params = p.numbers;
      for (double v : r.params) number(v);
    }
    finish();
  }
  return fusion;
}

/* What the node keeps for its inputs' dtypes, made anew by `make` for others. */
template <typename Compiled>
std::shared_ptr<Compiled> KeptFor(const KernelArgs& args,
                                  std::shared_ptr<Compiled> (*make)(const Attrs&, const InferSwitches&, const std::vector<int>&)) {
  std::shared_ptr<Compiled> kept;
  if (args.state) kept = std::dynamic_pointer_cast<Compiled>(*args.state);
  const auto same = [](int dtype, const TBlob& in) { return dtype == in.dtype; };
  if (kept && std::equal(kept->dtypes.begin(), kept->dtypes.end(), args.in.begin(), args.in.end(), same)) return kept;
  std::vector<int> dtypes;
  for (const TBlob& in : args.in) dtypes.push_back(in.dtype);
  kept = make(*args.attrs, args.switches, dtypes);
  if (args.state) *args.state = kept;
  return kept;
}

void RunOnDevice(KernelArgs& args) {
  const std::shared_ptr<DeviceFusion> fusion = KeptFor(args, CompileForDevice);
  RunProgram(fusion->program, args.in, fusion->numbers.data(), args.out[0], args.req[0], args.run);
}

void Forward(KernelArgs& args) {
  const TBlob& out = args.out[0];
  const int64_t total = out.Size();
  if (args.req[0] == OpReq::kNull || total == 0) return;
  MXNET_CHECK_KIND(IsFloating(out.dtype), Type) << "[_fused_pointwise] dtype " << DTypeName(out.dtype) << "; accepted: "
                                                << "float32, float64, float16, bfloat16";
  if (args.run.ctx.is_gpu()) return RunOnDevice(args);
  Ran("pointwise program");
  const std::shared_ptr<Program> program = KeptFor(args, Compile);
  std::vector<Source> sources(args.in.size());
  for (size_t i = 0; i < sources.size(); ++i) Describe(args.in[i], out, &sources[i]);
  FindRows(*program, &sources);
  const int64_t tiles = (total + kTile - 1) / kTile;
  const int threads = static_cast<int>(std::min<int64_t>(tiles, OmpThreads(total * static_cast<int64_t>(program->steps.size()))));
  ParallelForThreads(threads, tiles, [&](int64_t b, int64_t e) {
    Runner runner(*program, args, sources);
    runner.Prepare();
    runner.Run(b * kTile, std::min(e * kTile, total));
  });
}

bool InferFusedShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape& given = attrs.get<FusedPointwiseParam>().shape;
  if (in->empty()) return (*out)[0].known();
  Shape all = (*in)[0];
  for (size_t i = 1; i < in->size(); ++i) all = BroadcastShape(attrs.op->name, all, (*in)[i]);
  if (given.known() && all.known()) all = BroadcastShape(attrs.op->name, all, given);
  if (all.ndim_known()) AssignShape(attrs, "output", &(*out)[0], all);
  bool known = (*out)[0].known();
  for (const Shape& s : *in) known = known && s.known();
  return known;
}

// The dtype of the inputs, unless casts within say otherwise.
bool InferFusedType(const Attrs& attrs, const InferSwitches& switches, std::vector<int>* in, std::vector<int>* out) {
  if (attrs.subgraphs.size() != 1) return SameType(attrs, in, out);
  const FusedGraph graph(attrs, switches, *in);
  bool known = true;
  for (size_t i = 0; i < in->size(); ++i) {
    AssignType(attrs, "an input", &(*in)[i], graph.dtype(graph.inputs[i].get()));
    known = known && (*in)[i] != kDTypeUnknown;
  }
  AssignType(attrs, "output", &(*out)[0], graph.dtype(graph.root().get()));
  return known && (*out)[0] != kDTypeUnknown;
}

[[maybe_unused]] Op& record =
    Op::Register("_fused_pointwise")
        .describe(
            "A graph of pointwise operators computed in one pass over cache-sized tiles; made by the plan compiler. Inputs broadcast to "
            "the output.")
        .set_param<FusedPointwiseParam>()
        .set_variadic("data", [](const Attrs& a) { return a.get<FusedPointwiseParam>().num_args; })
        .set_dtypes(dtypes::kAll)
        .set_infer_shape(InferFusedShape)
        .set_infer_type(InferFusedType)
        .set_layout(LayoutRule::kChannelsLast)
        .set_inplace([](const Attrs& a) {
          std::vector<std::pair<int, int>> pairs;
          for (int i = 0; i < a.get<FusedPointwiseParam>().num_args; ++i) pairs.push_back({i, 0});
          return pairs;
        })
        .set_flops([](const Attrs& a, Span<const TBlob>, Span<const TBlob> out) { return a.subgraphs.empty() ? 0.0 : 3.0 * out[0].Size(); })
        .set_stateful()
        .set_supports_add()
        .set_kernel(static_cast<void (*)(KernelArgs&)>(Forward));

}  // namespace

}  // namespace pointwise
}  // namespace mxnet
