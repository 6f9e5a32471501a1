// _foreach: a graph for every slice of the data.
#include <type_traits>

#include "operator/control/control_param.h"
#include "operator/control/scan.h"
#include "operator/record/dtypes.h"
#include "operator/runtime/holds_graphs.h"

namespace mxnet {
namespace control {

#define MXNET_FOREACH_FIELDS                                                                                                    \
  MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs, the graph among them.");                                 \
  MXNET_FIELD(num_outputs).set_lower_bound(0).describe("Number of outputs: stacked results and last states.");                  \
  MXNET_FIELD(num_out_data).set_lower_bound(0).describe("How many of the graph's results are stacked; the others are states."); \
  MXNET_FIELD(in_state_locs).describe("Which inputs of the graph the states are.");                                             \
  MXNET_FIELD(in_data_locs).describe("Which inputs of the graph slices of the data are.");                                      \
  MXNET_FIELD(remain_locs).describe("Which inputs of the graph get the same array in every step.");

struct ForeachParam : public Parameter<ForeachParam> {
  int num_args, num_outputs, num_out_data;
  Locations in_state_locs, in_data_locs, remain_locs;
  MadeOfGraphs<Scan> made;
  std::shared_ptr<CallStates> calls;
  MXNET_DECLARE_PARAM(ForeachParam) { MXNET_FOREACH_FIELDS }
};
MXNET_REGISTER_PARAM(ForeachParam);

struct NpxForeachParam : public Parameter<NpxForeachParam> {
  int num_args, num_outputs, num_out_data;
  Locations in_state_locs, in_data_locs, remain_locs, in_state_index;
  MadeOfGraphs<Scan> made;
  std::shared_ptr<CallStates> calls;
  MXNET_DECLARE_PARAM(NpxForeachParam) {
    MXNET_FOREACH_FIELDS
    MXNET_FIELD(in_state_index).describe("Which states the graph's inputs at `in_state_locs` are.");
  }
};
MXNET_REGISTER_PARAM(NpxForeachParam);

namespace {

/* By place in in_state_locs: which state. */
std::vector<int64_t> InOrder(const Locations& places) {
  std::vector<int64_t> order;
  for (int j = 0; j < places.size(); ++j) order.push_back(j);
  return order;
}
std::vector<int64_t> StateOrder(const ForeachParam& p) { return InOrder(p.in_state_locs); }
std::vector<int64_t> StateOrder(const NpxForeachParam& p) {
  return p.in_state_index.size() == p.in_state_locs.size() ? p.in_state_index.values : InOrder(p.in_state_locs);
}

/* Whether a slice of a vector has shape (1,), as in 1.x, and not (). */
template <typename Param>
constexpr bool kClassicSlices = std::is_same_v<Param, ForeachParam>;

template <typename Param>
std::shared_ptr<const Scan> MakeScan(const Attrs& attrs) {
  const Param& p = attrs.get<Param>();
  CheckGraphs(attrs, 1);
  auto scan = std::make_shared<Scan>();
  scan->body = Hold(attrs.subgraphs[0]);
  const int inputs = scan->body.num_inputs(), data = p.in_data_locs.size(), remain = p.remain_locs.size();
  const int states = p.num_outputs - p.num_out_data;
  MXNET_CHECK_KIND(p.num_out_data >= 0 && states >= 0 && p.num_outputs == scan->body.num_results, Value)
      << "[" << attrs.op->name << "] num_outputs is " << p.num_outputs << ", num_out_data " << p.num_out_data << "; its graph has "
      << scan->body.num_results << " results";
  MXNET_CHECK_KIND(data > 0, Value) << "[" << attrs.op->name << "] in_data_locs is empty; accepted: one array to go over, or more";
  MXNET_CHECK_KIND(data + p.in_state_locs.size() + remain == inputs && p.num_args == 1 + data + p.in_state_locs.size() + remain, Value)
      << "[" << attrs.op->name << "] num_args is " << p.num_args << ", and in_data_locs, in_state_locs and remain_locs name "
      << data + p.in_state_locs.size() + remain << " inputs of a graph that has " << inputs;
  CheckLocations(attrs, "in_data_locs", p.in_data_locs, inputs);
  CheckLocations(attrs, "in_state_locs", p.in_state_locs, inputs);
  CheckLocations(attrs, "remain_locs", p.remain_locs, inputs);
  scan->sources.assign(inputs, {Source::kConstant, -1});
  for (int d = 0; d < data; ++d) {
    scan->sources[p.in_data_locs[d]] = {Source::kData, d};
    scan->data_at.push_back(d);
  }
  const std::vector<int64_t> order = StateOrder(p);
  scan->state_at.assign(states, -1);
  for (int j = 0; j < p.in_state_locs.size(); ++j) {
    MXNET_CHECK_KIND(order[j] >= 0 && order[j] < states, Value)
        << "[" << attrs.op->name << "] input " << p.in_state_locs[j] << " of its graph is state " << order[j] << " of " << states;
    scan->sources[p.in_state_locs[j]] = {Source::kState, static_cast<int>(order[j])};
    int& at = scan->state_at[order[j]];
    if (at < 0) at = data + j;
  }
  for (int j = 0; j < states; ++j)
    MXNET_CHECK_KIND(scan->state_at[j] >= 0, Value) << "[" << attrs.op->name << "] its graph never reads state " << j;
  for (int c = 0; c < remain; ++c) {
    scan->sources[p.remain_locs[c]] = {Source::kConstant, c};
    scan->constant_at.push_back(data + p.in_state_locs.size() + c);
  }
  // 2.0 gives a state as often as the graph reads it.
  for (int j = 0; j < p.in_state_locs.size(); ++j)
    if (scan->state_at[order[j]] != data + j) scan->constant_at.push_back(data + j);
  for (const Source& source : scan->sources)
    MXNET_CHECK_KIND(source.index >= 0, Value) << "[" << attrs.op->name
                                               << "] in_data_locs, in_state_locs and remain_locs name an input of its graph twice";
  scan->flat.assign(data, kClassicSlices<Param>);
  scan->num_stacks = p.num_out_data;
  scan->like.assign(p.num_out_data, -1);
  return scan;
}

template <typename Param>
std::shared_ptr<const Scan> ScanOf(const Attrs& attrs) {
  if (attrs.subgraphs.empty()) return nullptr;
  return attrs.get<Param>().made.Get(attrs.subgraphs, [&] { return MakeScan<Param>(attrs); });
}

template <typename Param>
void Register(const char* name) {
  Op& op = Op::Register(name);
  op.describe(
        "Runs a graph for every slice of the data along their first dimension, one after the other.\n\n"
        "In each step the graph gets a slice of each array of `data`, the states that the step before has left, and "
        "whatever else it reads. It gives results, which are stacked along a new first dimension, and the next "
        "states, of the same shapes and dtypes. The outputs are the stacked results and the states behind the last "
        "step. mx.sym.contrib.foreach makes such nodes from a Python function.\n\n"
        "The graph is compiled once for its shapes, whatever the number of steps. For the gradient the states at the "
        "beginning of each step are kept; all else is computed again.")
      .template set_param<Param>()
      .set_variadic("data", [](const Attrs& a) { return a.get<Param>().num_args - 1; })
      .set_dtypes(dtypes::kAll)
      .set_trait(HoldsGraphs{{"fn"}})
      .set_trait(CallStatesIn<Param>());
  SetScan(&op, ScanOf<Param>, [](const Attrs& a) { return a.get<Param>().num_outputs; });
}

[[maybe_unused]] const bool registered = [] {
  Register<ForeachParam>("_foreach");
  Register<NpxForeachParam>("_npx_foreach");
  return true;
}();

}  // namespace
}  // namespace control
}  // namespace mxnet
