// Loops: shapes and dtypes, the gradient, the record of the backward pass.
#include "operator/control/scan.h"

#include <algorithm>
#include <unordered_map>

#include "mxnet/op.h"
#include "operator/nodes/graph_operators.h"
#include "operator/record/check.h"
#include "operator/record/dtypes.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace control {
namespace {

std::string Named(const Attrs& attrs) { return "[" + attrs.op->name + "] "; }

Shape SliceOf(const Attrs& attrs, const Shape& stack, bool flat) {
  if (!stack.ndim_known()) return Shape();
  MXNET_CHECK_KIND(stack.ndim() > 0, Value) << Named(attrs) << "data to go over has shape (); at least one dimension is needed";
  if (flat && stack.ndim() == 1) return Shape{1};
  return Shape(stack.dims() + 1, stack.ndim() - 1);
}

Shape StackOf(int64_t steps, const Shape& slice) {
  if (!slice.ndim_known()) return Shape();
  Shape stack(slice.ndim() + 1);
  stack[0] = steps;
  for (int i = 0; i < slice.ndim(); ++i) stack[i + 1] = slice[i];
  return stack;
}

/* One inference: what is known of the node, and of the body. */
template <typename T>
struct Known {
  std::vector<T> in, out;  // of the body
};

bool AllKnown(const ShapeVector& shapes) {
  return std::all_of(shapes.begin(), shapes.end(), [](const Shape& s) { return s.known(); });
}
bool AllKnown(const std::vector<int>& dtypes) { return std::find(dtypes.begin(), dtypes.end(), int{kDTypeUnknown}) == dtypes.end(); }

int64_t StepsOf(const Scan& s, const ShapeVector& in, const ShapeVector& out) {
  if (s.max_steps >= 0) return s.max_steps;
  for (int i : s.data_at)
    if (in[i].ndim() > 0 && in[i][0] >= 0) return in[i][0];
  for (int r = 0; r < s.num_stacks; ++r)
    if (out[r].ndim() > 0 && out[r][0] >= 0) return out[r][0];
  return Shape::kUnknownDim;
}

/* The graph's own errors name nodes inside it; this one names the loop, too. */
template <typename Infer>
bool InGraph(const Attrs& attrs, const Infer& infer) {
  try {
    return infer();
  } catch (const Error& e) {
    throw Error(e.kind(), "[" + attrs.op->name + "] in its graph: " + e.what());
  }
}

std::string NameOfOutput(const Scan& s, int o) {
  if (o < s.num_stacks) return "result " + std::to_string(o);
  if (o < s.num_stacks + s.num_states()) return "state " + std::to_string(o - s.num_stacks);
  return "output " + std::to_string(o);
}

void InferCondition(const Attrs& attrs, const InferSwitches& switches, const Scan& s, ShapeVector* in) {
  Known<Shape> known;
  for (const Source& source : s.condition_sources) known.in.push_back((*in)[s.input_of(source)]);
  known.out.resize(1);
  InGraph(attrs, [&] { return OfSubgraphs().infer_arguments(*s.condition.graph, switches, &known.in, &known.out); });
  for (size_t i = 0; i < known.in.size(); ++i) AssignShape(attrs, "data", &(*in)[s.input_of(s.condition_sources[i])], known.in[i]);
  if (known.out[0].known())
    MXNET_CHECK_KIND(known.out[0].Size() == 1, Value)
        << Named(attrs) << "the condition has shape " << known.out[0] << "; a condition is one number";
}

}  // namespace

bool InferScanShape(const Attrs& attrs, const InferSwitches& switches, const Scan& s, ShapeVector* in, ShapeVector* out) {
  const int64_t steps = StepsOf(s, *in, *out);
  if (s.has_condition) InferCondition(attrs, switches, s, in);
  for (int d = 0; d < s.num_data(); ++d) {
    const Shape& data = (*in)[s.data_at[d]];
    MXNET_CHECK_KIND(data.ndim() < 1 || steps < 0 || data[0] < 0 || data[0] == steps, Value)
        << Named(attrs) << "data " << d << " has shape " << data << "; the first dimension is " << steps << " as in the others";
  }
  for (int j = 0; j < s.num_states(); ++j) {
    Shape& state = (*in)[s.state_at[j]];
    AssignShape(attrs, "state", &state, (*out)[s.num_stacks + j]);
    AssignShape(attrs, "state", &state, SliceOf(attrs, (*out)[s.state_stack(j)], false));
  }
  Known<Shape> known;
  for (const Source& source : s.sources) {
    const Shape& given = (*in)[s.input_of(source)];
    known.in.push_back(source.kind == Source::kData ? SliceOf(attrs, given, s.flat[source.index]) : given);
  }
  const bool forward = AllKnown(known.in);
  known.out.resize(s.body.parts.outputs.size());
  for (int r = 0; r < static_cast<int>(known.out.size()) && !forward; ++r) {
    const Shape& given = (*out)[s.output_of(r)];
    const bool of_data = r < s.num_stacks && s.like[r] >= 0;
    known.out[r] = s.is_state(r)   ? (*in)[s.state_at[r - s.num_stacks]]
                   : s.is_stack(r) ? SliceOf(attrs, given, of_data && s.flat[s.like[r]])
                                   : given;
  }
  InGraph(attrs, [&] { return OfSubgraphs().infer_arguments(*s.body.whole, switches, &known.in, &known.out); });
  for (size_t i = 0; i < s.sources.size(); ++i) {
    const Source& source = s.sources[i];
    Shape& given = (*in)[s.input_of(source)];
    if (source.kind != Source::kData)
      AssignShape(attrs, "data", &given, known.in[i]);
    else if (!(s.flat[source.index] && known.in[i] == Shape{1}))  // of (n,) or (n, 1): nothing is learnt
      AssignShape(attrs, "data", &given, StackOf(steps, known.in[i]));
  }
  for (int r = 0; r < static_cast<int>(known.out.size()); ++r) {
    const int o = s.output_of(r);
    if (s.is_state(r)) {
      Shape& state = (*in)[s.state_at[r - s.num_stacks]];
      Shape merged = state;
      MXNET_CHECK_KIND(MergeShape(&merged, known.out[r]), Value) << Named(attrs) << NameOfOutput(s, o) << " has shape " << state << ", and "
                                                                 << known.out[r] << " after a step; a state keeps its shape";
      state = merged;
      AssignShape(attrs, "state", &(*out)[o], merged);
    } else if (r < s.num_stacks && s.like[r] >= 0) {
      AssignShape(attrs, "gradient", &(*out)[o], (*in)[s.data_at[s.like[r]]]);
    } else {
      AssignShape(attrs, "output", &(*out)[o], s.is_stack(r) ? StackOf(steps, known.out[r]) : known.out[r]);
    }
  }
  for (int j = 0; j < s.num_states(); ++j) AssignShape(attrs, "states", &(*out)[s.state_stack(j)], StackOf(steps, (*in)[s.state_at[j]]));
  if (s.length_at >= 0) AssignShape(attrs, "length", &(*in)[s.length_at], Shape{1});
  if (s.has_condition) AssignShape(attrs, "steps", &(*out)[s.steps_output()], Shape{1});
  return AllKnown(*in) && AllKnown(*out);
}

bool InferScanType(const Attrs& attrs, const InferSwitches& switches, const Scan& s, std::vector<int>* in, std::vector<int>* out) {
  if (s.has_condition) {
    Known<int> known;
    for (const Source& source : s.condition_sources) known.in.push_back((*in)[s.input_of(source)]);
    known.out.assign(1, kDTypeUnknown);
    InGraph(attrs, [&] { return OfSubgraphs().infer_argument_types(*s.condition.graph, switches, &known.in, &known.out); });
    for (size_t i = 0; i < known.in.size(); ++i) AssignType(attrs, "data", &(*in)[s.input_of(s.condition_sources[i])], known.in[i]);
  }
  for (int j = 0; j < s.num_states(); ++j) {
    AssignType(attrs, "state", &(*in)[s.state_at[j]], (*out)[s.num_stacks + j]);
    AssignType(attrs, "state", &(*in)[s.state_at[j]], (*out)[s.state_stack(j)]);
  }
  Known<int> known;
  for (const Source& source : s.sources) known.in.push_back((*in)[s.input_of(source)]);
  const bool forward = AllKnown(known.in);
  known.out.assign(s.body.parts.outputs.size(), kDTypeUnknown);
  for (int r = 0; r < static_cast<int>(known.out.size()) && !forward; ++r)
    known.out[r] = s.is_state(r) ? (*in)[s.state_at[r - s.num_stacks]] : (*out)[s.output_of(r)];
  InGraph(attrs, [&] { return OfSubgraphs().infer_argument_types(*s.body.whole, switches, &known.in, &known.out); });
  for (size_t i = 0; i < s.sources.size(); ++i) AssignType(attrs, "data", &(*in)[s.input_of(s.sources[i])], known.in[i]);
  for (int r = 0; r < static_cast<int>(known.out.size()); ++r) {
    const int o = s.output_of(r);
    if (s.is_state(r)) {
      int& state = (*in)[s.state_at[r - s.num_stacks]];
      MXNET_CHECK_KIND(MergeDType(&state, known.out[r]), Type)
          << Named(attrs) << NameOfOutput(s, o) << " is " << DTypeName(state) << ", and " << DTypeName(known.out[r])
          << " after a step; a state keeps its dtype";
      AssignType(attrs, "state", &(*out)[o], state);
    } else {
      AssignType(attrs, "output", &(*out)[o], known.out[r]);
    }
  }
  for (int j = 0; j < s.num_states(); ++j) AssignType(attrs, "states", &(*out)[s.state_stack(j)], (*in)[s.state_at[j]]);
  if (s.length_at >= 0) AssignType(attrs, "length", &(*in)[s.length_at], kInt64);
  if (s.has_condition) AssignType(attrs, "steps", &(*out)[s.steps_output()], kInt64);
  return AllKnown(*in) && AllKnown(*out);
}

std::vector<int> WrittenByScan(const Attrs& attrs, const Scan& s) {
  std::vector<int> written;
  for (size_t i = 0; i < s.sources.size(); ++i) {
    if (!s.body.mutated[i]) continue;
    MXNET_CHECK_KIND(s.sources[i].kind == Source::kConstant, Value)
        << Named(attrs) << "an operator of its graph writes " << s.body.parts.inputs[i]->name
        << ", which is data or a state of the loop; accepted: auxiliary states from outside of it";
    written.push_back(s.input_of(s.sources[i]));
  }
  return written;
}

double ScanFlops(const Scan& s, Span<const TBlob> in) {
  double step = 500.0 * static_cast<double>(s.body.parts.nodes.size());
  for (const Source& source : s.sources) {
    const TBlob& blob = in[s.input_of(source)];
    const double steps = source.kind == Source::kData && blob.shape.ndim() > 0 ? std::max<double>(blob.shape[0], 1) : 1;
    step += 10 * static_cast<double>(blob.Size()) / steps;
  }
  int64_t steps = s.max_steps;
  if (steps < 0) steps = s.num_data() > 0 && in[s.data_at[0]].shape.ndim() > 0 ? in[s.data_at[0]].shape[0] : 1;
  return step * static_cast<double>(steps);
}

// ---- the gradient: a loop over the steps in the other direction

namespace {

/* Collects the backward loop's inputs and results. */
class BackwardLoop {
 public:
  BackwardLoop(const Scan& s, const std::vector<char>& present)
      : s_(s), loop_(std::make_shared<Scan>()), made_(std::make_shared<BackwardNode>()), present_(present) {}

  std::shared_ptr<const BackwardNode> Make() {
    const HeldGradient gradient = Differentiate(s_.body, present_);
    Results(gradient);
    if (!any_) return made_;
    Finish(gradient);
    return made_;
  }

 private:
  /* The gradient of what `kind` and `index` name: the sum over the body's inputs that it feeds. */
  NodeEntry Of(const HeldGradient& gradient, Source::Kind kind, int index) const {
    NodeEntry sum;
    for (size_t i = 0; i < s_.sources.size(); ++i) {
      if (s_.sources[i].kind != kind || s_.sources[i].index != index || !gradient.grads[i]) continue;
      sum = sum ? graph_ops::AddOf(sum, gradient.grads[i]) : gradient.grads[i];
    }
    return sum;
  }

  void Results(const HeldGradient& gradient) {
    made_->gives.assign(s_.num_data() + s_.num_states() + s_.num_constants() + (s_.length_at >= 0), -1);
    std::vector<int> at_stack, at_sum;  // node inputs by result
    std::vector<NodeEntry> sums;
    for (int d = 0; d < s_.num_data(); ++d) {
      const NodeEntry g = Of(gradient, Source::kData, d);
      if (!g) continue;
      results_.push_back(g);
      loop_->like.push_back(Data({Ref::kInput, s_.data_at[d]}, s_.flat[d]));
      at_stack.push_back(s_.data_at[d]);
    }
    loop_->num_stacks = static_cast<int>(results_.size());
    for (int j = 0; j < s_.num_states(); ++j) {
      NodeEntry g = Of(gradient, Source::kState, j);
      const NodePtr& head = gradient.heads[s_.num_stacks + j];
      if (present_[s_.body.parts.outputs.size() + j]) {
        state_heads_[j] = MakeVariable("_ograd_state" + std::to_string(j));
        const NodeEntry of_stack{state_heads_[j], 0, 0};
        g = g ? graph_ops::AddOf(g, of_stack) : of_stack;  // a state of bools has no gradient, and no sum
      }
      if (!g) g = graph_ops::ZerosLike({head, 0, 0});
      results_.push_back(g);
    }
    for (int c = 0; c < s_.num_constants(); ++c) {
      const NodeEntry g = Of(gradient, Source::kConstant, c);
      if (!g) continue;
      sums.push_back(g);
      at_sum.push_back(s_.constant_at[c]);
    }
    loop_->num_sums = static_cast<int>(sums.size());
    results_.insert(results_.end(), sums.begin(), sums.end());
    for (size_t r = 0; r < at_stack.size(); ++r) made_->gives[at_stack[r]] = static_cast<int>(r);
    for (int j = 0; j < s_.num_states(); ++j) made_->gives[s_.state_at[j]] = loop_->num_stacks + j;
    for (size_t r = 0; r < at_sum.size(); ++r) made_->gives[at_sum[r]] = loop_->num_stacks + s_.num_states() + static_cast<int>(r);
    any_ = !results_.empty();
  }

  void Finish(const HeldGradient& gradient) {
    loop_->body = Hold(OfSubgraphs().make(results_));
    for (int j = 0; j < s_.num_states(); ++j) states_.push_back({Ref::kOgrad, s_.num_stacks + j});
    std::unordered_map<const Node*, Source> from;
    const auto used = [&](const NodePtr& v) {
      const auto& inputs = loop_->body.parts.inputs;
      return std::find(inputs.begin(), inputs.end(), v) != inputs.end();
    };
    for (int i = 0; i < s_.body.num_inputs(); ++i) {
      const NodePtr& v = s_.body.parts.inputs[i];
      if (!used(v)) continue;
      const Source& source = s_.sources[i];
      if (source.kind == Source::kData)
        from[v.get()] = {Source::kData, Data({Ref::kInput, s_.data_at[source.index]}, s_.flat[source.index])};
      else if (source.kind == Source::kState)
        from[v.get()] = {Source::kData, Data({Ref::kOutput, s_.state_stack(source.index)}, false)};
      else
        from[v.get()] = {Source::kConstant, Constant({Ref::kInput, s_.constant_at[source.index]})};
    }
    for (int r = 0; r < static_cast<int>(gradient.heads.size()); ++r) {
      const NodePtr& v = gradient.heads[r];
      if (!used(v)) continue;
      if (s_.is_stack(r))
        from[v.get()] = {Source::kData, Data({Ref::kOgrad, s_.output_of(r)}, r < s_.num_stacks && s_.like[r] >= 0 && s_.flat[s_.like[r]])};
      else if (s_.is_state(r))
        from[v.get()] = {Source::kState, r - s_.num_stacks};
      else
        from[v.get()] = {Source::kConstant, Constant({Ref::kOgrad, r})};
    }
    for (const auto& v : state_heads_) from[v.second.get()] = {Source::kData, Data({Ref::kOgrad, s_.state_stack(v.first)}, false)};
    for (int k = 0; k < s_.body.num_kept(); ++k)
      if (used(gradient.kept[k])) from[gradient.kept[k].get()] = {Source::kData, Data({Ref::kOutput, s_.kept(k)}, false)};
    for (const NodePtr& v : loop_->body.parts.inputs) loop_->sources.push_back(from.at(v.get()));
    loop_->max_steps = s_.max_steps;
    if (data_.empty() && s_.max_steps < 0) Data({Ref::kInput, s_.data_at.at(0)}, s_.flat[0]);
    Inputs();
  }

  // The node's inputs: [data][states][constants][length].
  void Inputs() {
    auto put = [this](const std::vector<Ref>& refs, std::vector<int>* at) {
      for (const Ref& ref : refs) {
        at->push_back(static_cast<int>(made_->inputs.size()));
        made_->inputs.push_back(ref);
      }
    };
    put(data_, &loop_->data_at);
    put(states_, &loop_->state_at);
    put(constants_, &loop_->constant_at);
    loop_->reverse = !s_.reverse;
    if (s_.has_condition || s_.length_at >= 0) {
      loop_->length_at = static_cast<int>(made_->inputs.size());
      made_->inputs.push_back(s_.has_condition ? Ref{Ref::kOutput, s_.steps_output()} : Ref{Ref::kInput, s_.length_at});
    }
    auto param = std::make_shared<ScanParam>();
    auto attrs = std::make_shared<Attrs>();
    attrs->op = Op::Get("_backward_foreach");
    attrs->subgraphs.push_back(loop_->body.graph);
    param->scan = loop_;
    attrs->param = std::move(param);
    made_->attrs = std::move(attrs);
  }

  static int Find(std::vector<Ref>* refs, const Ref& ref) {
    for (size_t i = 0; i < refs->size(); ++i)
      if ((*refs)[i].kind == ref.kind && (*refs)[i].index == ref.index) return static_cast<int>(i);
    refs->push_back(ref);
    return static_cast<int>(refs->size()) - 1;
  }
  int Data(const Ref& ref, bool flat) {
    const int at = Find(&data_, ref);
    if (at == static_cast<int>(loop_->flat.size())) loop_->flat.push_back(flat);
    return at;
  }
  int Constant(const Ref& ref) { return Find(&constants_, ref); }

  const Scan& s_;
  std::shared_ptr<Scan> loop_;
  std::shared_ptr<BackwardNode> made_;
  const std::vector<char>& present_;
  std::vector<NodeEntry> results_;
  std::map<int, NodePtr> state_heads_;  // by state: the gradient of its values at the beginning of the steps
  std::vector<Ref> data_, states_, constants_;
  bool any_ = false;
};

std::shared_ptr<const Scan> OfBackward(const Attrs& a) { return a.param ? a.get<ScanParam>().scan : nullptr; }

const Scan& Need(const Attrs& a, const std::shared_ptr<const Scan>& scan) {
  MXNET_CHECK_KIND(scan, Value) << "[" << a.op->name
                                << "] holds no graph; accepted: nodes that mx.sym.contrib makes, and files with `subgraphs`";
  return *scan;
}

}  // namespace

std::vector<NodeEntry> ScanGradient(const Scan& s, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  // A state's gradient goes from step to step, whether one comes in behind the last or not. To the
  // hidden outputs gradients come when the backward pass itself is differentiated.
  std::vector<char> present;
  for (int r = 0; r < static_cast<int>(s.body.parts.outputs.size()); ++r)
    present.push_back(s.is_state(r) || !IsZeros(ograds[s.output_of(r)]));
  for (int j = 0; j < s.num_states(); ++j) present.push_back(!IsZeros(ograds[s.state_stack(j)]));
  std::shared_ptr<const BackwardNode> backward;
  {
    std::lock_guard<std::mutex> lock(s.backwards->mutex);
    auto& made = s.backwards->made[std::string(present.begin(), present.end())];
    if (!made) made = BackwardLoop(s, present).Make();
    backward = made;
  }
  return backward->Make(node, ograds);
}

void SetScan(Op* op, std::shared_ptr<const Scan> (*of)(const Attrs&), int (*visible)(const Attrs&)) {
  op->set_outputs(
        {"output"},
        [=](const Attrs& a) {
          const auto scan = of(a);
          return scan ? scan->num_outputs() : visible(a);
        },
        visible)
      .set_list_outputs([=](const Attrs& a) {
        const auto scan = of(a);
        const int shown = visible(a), all = scan ? scan->num_outputs() : shown;
        std::vector<std::string> names;
        for (int o = 0; o < all; ++o)
          names.push_back(o >= shown ? "hidden" + std::to_string(o - shown) : shown == 1 ? "output" : "output" + std::to_string(o));
        return names;
      })
      .set_mutate_inputs([=](const Attrs& a) {
        const auto scan = of(a);
        return scan ? WrittenByScan(a, *scan) : std::vector<int>();
      })
      .set_infer_shape([=](const Attrs& a, const InferSwitches& s, ShapeVector* in, ShapeVector* out) {
        return InferScanShape(a, s, Need(a, of(a)), in, out);
      })
      .set_infer_type([=](const Attrs& a, const InferSwitches& s, std::vector<int>* in, std::vector<int>* out) {
        return InferScanType(a, s, Need(a, of(a)), in, out);
      })
      .set_gradient([=](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return ScanGradient(Need(*node->attrs, of(*node->attrs)), node, ograds);
      })
      .set_flops([=](const Attrs& a, Span<const TBlob> in, Span<const TBlob>) { return ScanFlops(Need(a, of(a)), in); })
      .set_uses_random()
      .set_depends_on_training()
      .set_trait(HonoursNullOutputs{})
      .set_kernel([=](KernelArgs& args) { RunScan(Need(*args.attrs, of(*args.attrs)), args); });
}

namespace {

int VisibleOfBackward(const Attrs& a) { return a.param ? a.get<ScanParam>().scan->num_visible() : 1; }

[[maybe_unused]] const bool registered = [] {
  Op& op = Op::Register("_backward_foreach");
  op.describe("The backward pass of _foreach and _while_loop: a loop over their steps in the other direction.")
      .set_inputs({"data"},
                  [](const Attrs& a) {
                    const auto scan = OfBackward(a);
                    return scan ? scan->num_data() + scan->num_states() + scan->num_constants() + (scan->length_at >= 0) : 0;
                  })
      .set_dtypes(dtypes::kAll)
      .set_list_inputs([](const Attrs& a) {
        const auto scan = OfBackward(a);
        std::vector<std::string> names;
        const int n = scan ? scan->num_data() + scan->num_states() + scan->num_constants() + (scan->length_at >= 0) : 0;
        for (int i = 0; i < n; ++i) names.push_back("data" + std::to_string(i));
        return names;
      });
  op.set_trait(CallStatesIn<ScanParam>());
  SetScan(&op, OfBackward, VisibleOfBackward);
  return true;
}();

}  // namespace
}  // namespace control
}  // namespace mxnet
