// _while_loop: a graph while a condition holds.
#include <algorithm>

#include "operator/control/control_param.h"
#include "operator/control/scan.h"
#include "operator/record/dtypes.h"
#include "operator/runtime/holds_graphs.h"

namespace mxnet {
namespace control {

struct WhileLoopParam : public Parameter<WhileLoopParam> {
  int num_args, num_outputs, num_out_data, max_iterations;
  Locations cond_input_locs, func_input_locs, func_var_locs;
  MadeOfGraphs<Scan> made;
  std::shared_ptr<CallStates> calls;
  MXNET_DECLARE_PARAM(WhileLoopParam) {
    MXNET_FIELD(num_args).set_lower_bound(2).describe("Number of inputs, the two graphs among them.");
    MXNET_FIELD(num_outputs).describe("Number of outputs: stacked results and last loop variables.");
    MXNET_FIELD(num_out_data).set_lower_bound(0).describe("How many of the results of `func` are stacked.");
    MXNET_FIELD(max_iterations).set_lower_bound(1).describe("After so many steps the loop ends in any case.");
    MXNET_FIELD(cond_input_locs).describe("By input of the graph `cond`: which input of this operator it is.");
    MXNET_FIELD(func_input_locs).describe("By input of the graph `func`: which input of this operator it is.");
    MXNET_FIELD(func_var_locs).describe("By loop variable: which input of the graph `func` it is.");
  }
};
MXNET_REGISTER_PARAM(WhileLoopParam);

namespace {

/* The constant that an input of the node is. */
int ConstantAt(Scan* scan, int input) {
  auto& at = scan->constant_at;
  const auto known = std::find(at.begin(), at.end(), input);
  if (known != at.end()) return static_cast<int>(known - at.begin());
  at.push_back(input);
  return static_cast<int>(at.size()) - 1;
}

std::shared_ptr<const Scan> MakeScan(const Attrs& attrs) {
  const WhileLoopParam& p = attrs.get<WhileLoopParam>();
  CheckGraphs(attrs, 2);
  auto scan = std::make_shared<Scan>();
  scan->has_condition = true;
  scan->condition = Hold(attrs.subgraphs[0]);
  scan->body = Hold(attrs.subgraphs[1]);
  scan->max_steps = p.max_iterations;
  const int inputs = p.num_args - 2, vars = p.func_var_locs.size();
  const std::string op = "[" + attrs.op->name + "] ";
  MXNET_CHECK_KIND(scan->condition.num_results == 1, Value)
      << op << "the graph of the condition has " << scan->condition.num_results << " results; accepted: one";
  MXNET_CHECK_KIND(p.num_outputs == p.num_out_data + vars && p.num_outputs == scan->body.num_results && vars > 0, Value)
      << op << "num_outputs is " << p.num_outputs << ", num_out_data " << p.num_out_data << " and there are " << vars
      << " loop variables; its graph has " << scan->body.num_results << " results";
  MXNET_CHECK_KIND(p.func_input_locs.size() == scan->body.num_inputs() && p.cond_input_locs.size() == scan->condition.num_inputs(), Value)
      << op << "cond_input_locs and func_input_locs name " << p.cond_input_locs.size() << " and " << p.func_input_locs.size()
      << " inputs; its graphs have " << scan->condition.num_inputs() << " and " << scan->body.num_inputs();
  CheckLocations(attrs, "cond_input_locs", p.cond_input_locs, inputs);
  CheckLocations(attrs, "func_input_locs", p.func_input_locs, inputs);
  CheckLocations(attrs, "func_var_locs", p.func_var_locs, p.func_input_locs.size());
  std::vector<int> variable(inputs, -1);  // by input of the node
  for (int j = 0; j < vars; ++j) {
    const int at = static_cast<int>(p.func_input_locs[p.func_var_locs[j]]);
    MXNET_CHECK_KIND(variable[at] < 0, Value) << op << "input " << at << " is named as two loop variables";
    variable[at] = j;
    scan->state_at.push_back(at);
  }
  const auto source = [&](int64_t input) {
    const int at = static_cast<int>(input);
    return variable[at] >= 0 ? Source{Source::kState, variable[at]} : Source{Source::kConstant, ConstantAt(scan.get(), at)};
  };
  for (int64_t input : p.func_input_locs.values) scan->sources.push_back(source(input));
  for (int64_t input : p.cond_input_locs.values) scan->condition_sources.push_back(source(input));
  for (int i = 0; i < inputs; ++i)  // what nobody reads
    if (variable[i] < 0) ConstantAt(scan.get(), i);
  scan->num_stacks = p.num_out_data;
  scan->like.assign(p.num_out_data, -1);
  return scan;
}

std::shared_ptr<const Scan> ScanOf(const Attrs& attrs) {
  if (attrs.subgraphs.empty()) return nullptr;
  return attrs.get<WhileLoopParam>().made.Get(attrs.subgraphs, [&] { return MakeScan(attrs); });
}

[[maybe_unused]] const bool registered = [] {
  Op& op = Op::Register("_while_loop");
  op.alias("_npx_while_loop")
      .describe(
          "Runs the graph `func` again and again, while the result of the graph `cond`, one number, is true, but at "
          "most `max_iterations` times.\n\n"
          "Both graphs get the loop variables, and whatever else they read. `func` gives results, which are stacked "
          "along a new first dimension of size `max_iterations`, and the next loop variables, of the same shapes and "
          "dtypes. Slices of steps that are not made are zero. The outputs are the stacked results and the loop "
          "variables behind the last step. mx.sym.contrib.while_loop makes such nodes from Python functions.")
      .set_param<WhileLoopParam>()
      .set_variadic("data", [](const Attrs& a) { return a.get<WhileLoopParam>().num_args - 2; })
      .set_dtypes(dtypes::kAll)
      .set_trait(HoldsGraphs{{"cond", "func"}})
      .set_trait(CallStatesIn<WhileLoopParam>());
  SetScan(&op, ScanOf, [](const Attrs& a) { return a.get<WhileLoopParam>().num_outputs; });
  return true;
}();

}  // namespace
}  // namespace control
}  // namespace mxnet
