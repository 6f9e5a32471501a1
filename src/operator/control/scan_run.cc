// Loops: the kernel. Slices are places in the node's arrays: no data move, but for states where
// nothing else says where they are.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "operator/control/scan.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace control {
namespace {

/* Where a state is: in two buffers in turn, in a stacked result that is the same, or in the stacked
 * states that the backward pass wants. */
struct StatePlace {
  char *initial = nullptr, *last = nullptr;  // the node's arrays; last: null when nobody wants it
  size_t bytes = 0;
  int result = -1;          // same as this stacked result
  char* stacked = nullptr;  // states at the beginning of the steps
  char* buffers[2] = {};    // in turn
  char* now = nullptr;      // at the beginning of the step that runs
  char* next = nullptr;     // at its end
};

class Loop {
 public:
  Loop(const Scan& scan, KernelArgs& args) : s_(scan), a_(args), weights_(&args) {}

  void Run() {
    rows_ = Rows();
    PlaceStates();
    ZeroSums();
    const Programs::Request request = BodyRequest();
    if (std::all_of(request.req.begin(), request.req.end(), [](OpReq r) { return r == OpReq::kNull; })) return;
    const std::shared_ptr<GraphRun> body = RunOf(a_, 0, [&] { return s_.programs->Take(s_.body, request); });
    changed_ = ChangedInputs(a_);
    int64_t steps = 0;
    {
      RunScope scope(*body, a_);
      SetConstants(*body, s_.sources);
      steps = s_.has_condition ? While(*body) : For(*body);
    }
    FinishStates();
    ZeroRest(steps);
    if (s_.has_condition && Wanted(s_.steps_output())) WriteInt64(a_, steps, a_.out[s_.steps_output()].dptr);
  }

 private:
  bool Wanted(int output) const { return a_.req[output] != OpReq::kNull; }
  char* Out(int output) const { return static_cast<char*>(a_.out[output].dptr); }

  int64_t Rows() const {
    if (s_.max_steps >= 0) return s_.max_steps;
    return a_.in[s_.data_at[0]].shape[0];
  }
  /* Of the graph's input. */
  Shape ShapeOf(const Source& source) const {
    const Shape& shape = a_.in[s_.input_of(source)].shape;
    if (source.kind != Source::kData) return shape;
    if (s_.flat[source.index] && shape.ndim() == 1) return Shape{1};
    return Shape(shape.dims() + 1, shape.ndim() - 1);
  }

  Programs::Request RequestFor(const HeldGraph& graph, const std::vector<Source>& sources) const {
    Programs::Request r;
    r.ctx = ContextOf(a_);
    r.is_train = a_.is_train;
    r.switches = a_.switches;
    for (const Source& source : sources) r.inputs.emplace_back(ShapeOf(source), a_.in[s_.input_of(source)].dtype, StorageType::kDense);
    r.req.assign(graph.parts.outputs.size(), OpReq::kNull);
    std::fill_n(r.req.begin(), graph.num_results, OpReq::kWrite);
    return r;
  }
  Programs::Request BodyRequest() const {
    Programs::Request r = RequestFor(s_.body, s_.sources);
    for (int i = 0; i < static_cast<int>(r.req.size()); ++i) {
      if (s_.is_state(i))
        r.req[i] = states_[i - s_.num_stacks].result >= 0 ? OpReq::kNull : OpReq::kWrite;
      else
        r.req[i] = !Wanted(s_.output_of(i)) ? OpReq::kNull : s_.is_stack(i) ? OpReq::kWrite : OpReq::kAdd;
    }
    return r;
  }

  // ---- states

  void PlaceStates() {
    states_.resize(s_.num_states());
    for (int j = 0; j < s_.num_states(); ++j) {
      StatePlace& p = states_[j];
      const TBlob& initial = a_.in[s_.state_at[j]];
      p.initial = static_cast<char*>(initial.dptr);
      weights_.Stay(initial.dptr);
      p.bytes = initial.Bytes();
      const int last = s_.num_stacks + j;
      p.last = Wanted(last) ? Out(last) : nullptr;
      if (Wanted(s_.state_stack(j))) {
        p.stacked = Out(s_.state_stack(j));
      } else {
        p.result = SameResult(j);
        if (p.result < 0) {
          p.buffers[0] = p.last ? p.last : static_cast<char*>(a_.workspace(std::max<size_t>(p.bytes, 1)));
          p.buffers[1] = static_cast<char*>(a_.workspace(std::max<size_t>(p.bytes, 1)));
        }
      }
      if (p.stacked && !p.last) p.last = static_cast<char*>(a_.workspace(std::max<size_t>(p.bytes, 1)));
    }
  }
  /* The stacked result, if one is wanted, that is what the state becomes. */
  int SameResult(int state) const {
    const NodeEntry e = Original(s_.body.parts.outputs[s_.num_stacks + state]);
    if (e.node->is_variable()) return -1;
    for (int r = 0; r < s_.num_stacks; ++r) {
      const NodeEntry o = Original(s_.body.parts.outputs[r]);
      if (o.node == e.node && o.index == e.index && Wanted(r) && a_.out[r].dtype == a_.in[s_.state_at[state]].dtype) return r;
    }
    return -1;
  }
  int64_t Row(int64_t step) const { return s_.reverse ? steps_ - 1 - step : step; }
  char* SliceOf(char* stack, size_t bytes, int64_t step) const { return stack + static_cast<size_t>(Row(step)) * bytes; }

  void BeginStates() {
    for (StatePlace& p : states_) {
      p.now = p.initial;
      if (!p.stacked || steps_ == 0) continue;
      p.now = SliceOf(p.stacked, p.bytes, 0);
      CopyBytes(a_, p.initial, p.now, p.bytes);
    }
  }
  /* Where states are to be behind `step`. */
  void NextStates(int64_t step) {
    for (StatePlace& p : states_) {
      if (p.stacked)
        p.next = step + 1 < steps_ ? SliceOf(p.stacked, p.bytes, step + 1) : p.last;
      else if (p.result >= 0)
        p.next = SliceOf(Out(p.result), p.bytes, step);
      else
        p.next = p.buffers[(steps_ - 1 - step) & 1];
    }
  }
  void FinishStates() {
    for (const StatePlace& p : states_)
      if (p.last) CopyBytes(a_, p.now, p.last, p.bytes);
  }

  // ---- steps

  void SetConstants(const GraphRun& run, const std::vector<Source>& sources) {
    for (size_t i = 0; i < run.inputs.size(); ++i) {
      const Source& source = sources[run.inputs[i]];
      // slices of data and states lie elsewhere than what is asked for
      if (source.kind != Source::kConstant || !run.run->Asks(static_cast<int>(i))) weights_.Stay(a_.in[s_.input_of(source)].dptr);
      if (source.kind == Source::kConstant)
        run.run->SetInput(static_cast<int>(i), a_.in[s_.input_of(source)].dptr, changed_[s_.input_of(source)]);
    }
  }

  /* What changes from step to step, found once. */
  struct Moving {
    int input, state;  // of the program; state -1: data
    char* base;
    size_t bytes;
  };
  void Find(const GraphRun& body) {
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const int at = body.inputs[i];
      const Source& source = s_.sources[at];
      const TBlob& blob = a_.in[s_.input_of(source)];
      const int input = static_cast<int>(i);
      if (source.kind == Source::kState)
        moving_in_.push_back({input, source.index, nullptr, 0});
      else if (source.kind == Source::kData)
        moving_in_.push_back({input, -1, static_cast<char*>(blob.dptr), SliceBytes(blob)});
      else if (s_.body.mutated[at])
        moving_in_.push_back({input, -1, static_cast<char*>(blob.dptr), 0});  // other contents in each step
    }
    for (size_t o = 0; o < body.outputs.size(); ++o) {
      const int result = body.outputs[o], output = static_cast<int>(o);
      if (s_.is_state(result)) {
        moving_out_.push_back({output, result - s_.num_stacks, nullptr, 0});
      } else if (s_.is_stack(result)) {
        const TBlob& blob = a_.out[s_.output_of(result)];
        moving_out_.push_back({output, -1, static_cast<char*>(blob.dptr), SliceBytes(blob)});
      } else {
        body.run->SetOutput(output, Out(result));
      }
    }
  }
  size_t SliceBytes(const TBlob& blob) const { return rows_ > 0 ? blob.Bytes() / static_cast<size_t>(rows_) : 0; }

  void Step(const GraphRun& body, int64_t step) {
    NextStates(step);
    for (const Moving& m : moving_in_)
      body.run->SetInput(m.input, m.state >= 0 ? states_[m.state].now : SliceOf(m.base, m.bytes, step), true);
    for (const Moving& m : moving_out_) body.run->SetOutput(m.input, m.state >= 0 ? states_[m.state].next : SliceOf(m.base, m.bytes, step));
    body.run->Run(Row(step));
    for (StatePlace& p : states_) p.now = p.next;
  }

  int64_t For(const GraphRun& body) {
    steps_ = rows_;
    if (s_.length_at >= 0) {
      weights_.Stay(a_.in[s_.length_at].dptr);
      ReadNumber(a_, a_.in[s_.length_at].dptr, &steps_, sizeof steps_);
      MXNET_CHECK_KIND(steps_ >= 0 && steps_ <= rows_, Value)
          << "[" << a_.attrs->op->name << "] the number of steps is " << steps_ << "; accepted: 0 to " << rows_;
    }
    BeginStates();
    Find(body);
    for (int64_t step = 0; step < steps_; ++step) Step(body, step);
    return steps_;
  }

  /* While an input is true. */
  int64_t WhileTrue(const GraphRun& body, const Source& source) {
    const TBlob& given = a_.in[s_.input_of(source)];
    weights_.Stay(given.dptr);
    steps_ = rows_;  // at most
    BeginStates();
    Find(body);
    int64_t step = 0;
    for (; step < rows_; ++step) {
      if (!ReadTruth(a_, source.kind == Source::kState ? states_[source.index].now : given.dptr, given.dtype)) break;
      Step(body, step);
    }
    return step;
  }

  int64_t While(const GraphRun& body) {
    if (s_.condition.copied >= 0) return WhileTrue(body, s_.condition_sources[s_.condition.copied]);
    const std::shared_ptr<GraphRun> condition =
        RunOf(a_, 1, [&] { return s_.condition_programs->Take(s_.condition, RequestFor(s_.condition, s_.condition_sources)); });
    TBlob truth;
    truth.dtype = ConditionType();
    truth.dptr = a_.workspace(64);
    steps_ = rows_;  // at most
    BeginStates();
    Find(body);
    RunScope scope(*condition, a_);
    SetConstants(*condition, s_.condition_sources);
    condition->run->SetOutput(0, truth.dptr);
    int64_t step = 0;
    for (; step < rows_; ++step) {
      for (size_t i = 0; i < condition->inputs.size(); ++i) {
        const Source& source = s_.condition_sources[condition->inputs[i]];
        if (source.kind == Source::kState) condition->run->SetInput(static_cast<int>(i), states_[source.index].now, true);
      }
      condition->run->Run(step);
      if (!ReadTruth(a_, truth.dptr, truth.dtype)) break;
      Step(body, step);
    }
    return step;
  }
  int ConditionType() const {
    std::vector<int> in, out(1, kDTypeUnknown);
    for (const Source& source : s_.condition_sources) in.push_back(a_.in[s_.input_of(source)].dtype);
    OfSubgraphs().infer_argument_types(*s_.condition.graph, a_.switches, &in, &out);
    return out[0];
  }

  // ---- results

  void ZeroSums() const {
    for (int o = s_.num_stacks + s_.num_states(); o < s_.num_visible(); ++o)
      if (Wanted(o)) ZeroBytes(a_, Out(o), a_.out[o].Bytes());
  }
  /* Slices of steps that were not made. */
  void ZeroRest(int64_t steps) const {
    if (steps == rows_) return;
    for (int r = 0; r < static_cast<int>(s_.body.parts.outputs.size()); ++r)
      if (s_.is_stack(r)) ZeroRows(s_.output_of(r), steps);
    for (int j = 0; j < s_.num_states(); ++j) ZeroRows(s_.state_stack(j), steps);
  }
  void ZeroRows(int output, int64_t steps) const {
    if (!Wanted(output)) return;
    const size_t slice = SliceBytes(a_.out[output]), made = slice * static_cast<size_t>(steps);
    ZeroBytes(a_, Out(output) + made, slice * static_cast<size_t>(rows_) - made);
  }

  const Scan& s_;
  KernelArgs& a_;
  HeldWeights weights_;
  int64_t rows_ = 0, steps_ = 0;
  std::vector<StatePlace> states_;
  std::vector<Moving> moving_in_, moving_out_;
  std::vector<char> changed_;  // by input of the node
};

}  // namespace

void RunScan(const Scan& scan, KernelArgs& args) { Loop(scan, args).Run(); }

}  // namespace control
}  // namespace mxnet
