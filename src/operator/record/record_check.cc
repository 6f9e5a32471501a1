#include "operator/record/record_check.h"

#include <algorithm>

#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

namespace mxnet {
namespace {

std::string List(const std::vector<ParamInfo>& params) {
  std::string names;
  for (const ParamInfo& p : params) names += (names.empty() ? "" : ", ") + p.name;
  return names.empty() ? "no parameters" : names;
}

bool SameParameters(const Op& a, const Op& b) {
  const auto same = [](const ParamInfo& x, const ParamInfo& y) { return x.name == y.name && x.type == y.type; };
  return a.params.size() == b.params.size() && std::equal(a.params.begin(), a.params.end(), b.params.begin(), same);
}

void CheckRecompute(const Op& op, const std::function<const Op*(const std::string&)>& find) {
  const RecomputeRule& rule = op.recompute;
  if (rule.op.empty()) {
    MXNET_CHECK_KIND(rule.reads.empty() && rule.inputs < 0, Value)
        << "[" << op.name << "] its rule of recomputation names no operator; accepted: the name of one";
    return;
  }
  const Op* by = find(rule.op);
  MXNET_CHECK_KIND(by != nullptr && by->name == rule.op, Value)
      << "[" << op.name << "] is recomputed by " << rule.op << (by ? ", an alias of " + by->name : std::string(", which is no operator"))
      << "; accepted: the name of an operator";
  const int inputs = static_cast<int>(op.input_names.size()), outputs = static_cast<int>(op.output_names.size());
  MXNET_CHECK_KIND(rule.inputs <= inputs, Value)
      << "[" << op.name << "] is recomputed from " << rule.inputs << " inputs; it has " << inputs;
  for (int o : rule.reads)
    MXNET_CHECK_KIND(o >= 0 && o < outputs, Value)
        << "[" << op.name << "] is recomputed from its output " << o << "; it has " << outputs << " outputs";
  const int given = (rule.inputs < 0 ? inputs : rule.inputs) + static_cast<int>(rule.reads.size());
  const int wanted = static_cast<int>(by->input_names.size());
  MXNET_CHECK_KIND(given == wanted || !by->key_var_num_args.empty(), Value)
      << "[" << op.name << "] is recomputed by " << rule.op << " from " << given << " arrays; that takes " << wanted;
  MXNET_CHECK_KIND(SameParameters(op, *by), Value) << "[" << op.name << "] is recomputed by " << rule.op << ", which has other parameters ("
                                                   << List(by->params) << "); accepted: an operator with " << List(op.params);
}

void CheckWithRelu(const Op& op, const std::function<const Op*(const std::string&)>& find) {
  const WithRelu* both = op.trait<WithRelu>();
  if (!both) return;
  const Op* by = find(both->op);
  MXNET_CHECK_KIND(by != nullptr && by->input_names.size() == op.input_names.size() && SameParameters(op, *by), Value)
      << "[" << op.name << "] is computed together with relu by " << both->op << ", which "
      << (by ? "has other inputs or parameters" : "is no operator") << "; accepted: an operator with the same ones";
}

void CheckQuantized(const Op& op, const std::function<const Op*(const std::string&)>& find) {
  const Quantized* quantized = op.trait<Quantized>();
  if (!quantized) return;
  const Op* by = find(quantized->op);
  MXNET_CHECK_KIND(by != nullptr, Value) << "[" << op.name << "] is quantized as " << quantized->op << ", which is no operator";
  const int inputs = static_cast<int>(op.input_names.size()), kept = static_cast<int>(quantized->kept.size());
  for (int i : quantized->kept)
    MXNET_CHECK_KIND(i >= 0 && i < inputs, Value)
        << "[" << op.name << "] keeps input " << i << " as it is when quantized; it has " << inputs << " inputs";
  const int wanted = static_cast<int>(by->input_names.size());
  MXNET_CHECK_KIND(!by->key_var_num_args.empty() || by->list_inputs || wanted == 3 * inputs - 2 * kept, Value)
      << "[" << op.name << "] is quantized as " << by->name << ", which takes " << wanted << " arrays; accepted: one that takes "
      << 3 * inputs - 2 * kept;
  for (const ParamInfo& p : op.params)
    MXNET_CHECK_KIND(std::any_of(by->params.begin(), by->params.end(), [&](const ParamInfo& q) { return q.name == p.name; }), Value)
        << "[" << op.name << "] is quantized as " << by->name << ", which has no parameter '" << p.name << "'; accepted: an operator with "
        << List(op.params);
}

void CheckDTypes(const Op& op) {
  MXNET_CHECK_KIND(!op.dtypes.empty(), Value)
      << "[" << op.name << "] says no dtypes (set_dtypes); accepted: some of those of operator/record/dtypes.h, kAll for all of them";
}

void CheckPrecision(const Op& op) {
  const PrecisionCondition& condition = op.precision_condition;
  if (condition.parameter.empty() && condition.values.empty()) return;
  MXNET_CHECK_KIND(op.precision == Precision::kAny, Value)
      << "[" << op.name << "] declares a precision and a condition on " << condition.parameter << "; accepted: one of them";
  const auto p = std::find_if(op.params.begin(), op.params.end(), [&](const ParamInfo& i) { return i.name == condition.parameter; });
  MXNET_CHECK_KIND(p != op.params.end(), Value)
      << "[" << op.name << "] the condition of its precision is on '" << condition.parameter << "'; accepted: " << List(op.params);
  MXNET_CHECK_KIND(!condition.values.empty(), Value) << "[" << op.name << "] the condition of its precision on " << condition.parameter
                                                     << " has no values; accepted: values of " << p->type;
  for (const std::string& value : condition.values)
    MXNET_CHECK_KIND(p->type.find("'" + value + "'") != std::string::npos, Value)
        << "[" << op.name << "] the condition of its precision is on " << condition.parameter << "='" << value
        << "'; accepted: " << p->type;
}

}  // namespace

void CheckRecord(const Op& op, const std::function<const Op*(const std::string&)>& find) {
  CheckDTypes(op);
  CheckRecompute(op, find);
  CheckWithRelu(op, find);
  CheckQuantized(op, find);
  CheckPrecision(op);
  for (const Trait& trait : op.traits)
    if (trait.check) trait.check(op);
}

}  // namespace mxnet
