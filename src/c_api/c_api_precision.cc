// Mixed precision over the C interface.
#include "c_api/c_api_symbol.h"
#include "graph/json.h"
#include "graph/reduce_precision.h"
#include "mxnet/c_api_plan.h"
#include "operator/record/precision.h"

using namespace mxnet;

int MXReducePrecisionSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, uint32_t num_args, const int* arg_type_data,
                            uint32_t num_ind_ptr, const int* ind_ptr, const int* target_dtype, const int cast_optional_params,
                            const uint32_t num_target_dtype_op_names, const uint32_t num_fp32_op_names,
                            const uint32_t num_widest_dtype_op_names, const uint32_t num_conditional_fp32_op_names,
                            const uint32_t num_excluded_symbols, const uint32_t num_model_params, const char** target_dtype_op_names,
                            const char** fp32_op_names, const char** widest_dtype_op_names, const char** conditional_fp32_op_names,
                            const char** excluded_symbols, const char** conditional_param_names, const char** conditional_param_vals,
                            const char** model_param_names, const char** arg_names) {
  API_BEGIN(ret_sym_handle);
  ReducePrecisionRequest r;
  MXNET_CHECK_KIND(target_dtype != nullptr, Value) << "[amp] target_dtype is NULL; accepted: the address of a dtype's number";
  r.target = *target_dtype;
  r.cast_params = cast_optional_params != 0;
  r.low = Names(num_target_dtype_op_names, target_dtype_op_names, "operators' names");
  r.full = Names(num_fp32_op_names, fp32_op_names, "operators' names");
  r.widest = Names(num_widest_dtype_op_names, widest_dtype_op_names, "operators' names");
  MXNET_CHECK_KIND(num_conditional_fp32_op_names == 0 || num_ind_ptr > num_conditional_fp32_op_names, Value)
      << "[amp] " << num_ind_ptr << " positions for the values of " << num_conditional_fp32_op_names
      << " conditional operators; one more than operators is accepted";
  const std::vector<std::string> conditional =
      Names(num_conditional_fp32_op_names, conditional_fp32_op_names, "conditional operators' names");
  NeedTexts(num_conditional_fp32_op_names, conditional_param_names, "conditions' parameters");
  Need(num_ind_ptr, ind_ptr, "positions of values");
  for (uint32_t i = 0; i < num_conditional_fp32_op_names; ++i) {
    Need(ind_ptr[i + 1], conditional_param_vals, "conditions' values");
    MXNET_CHECK_KIND(ind_ptr[i] >= 0, Value) << "[amp] position " << ind_ptr[i] << " of a condition's values; accepted: 0 or more";
    ReducePrecisionRequest::Condition c;
    c.op = conditional[i];
    c.parameter = conditional_param_names[i];
    for (int k = ind_ptr[i]; k < ind_ptr[i + 1]; ++k) c.values.push_back(Text(conditional_param_vals[k], "a parameter's value"));
    r.full_if.push_back(std::move(c));
  }
  for (const auto& name : Names(num_excluded_symbols, excluded_symbols, "nodes' names")) r.excluded.insert(name);
  for (const auto& name : Names(num_model_params, model_param_names, "parameters' names")) r.params.insert(name);
  NeedTexts(num_args, arg_names, "arguments' names");
  Need(num_args, arg_type_data, "arguments' dtypes");
  for (uint32_t i = 0; i < num_args; ++i) r.dtypes[arg_names[i]] = arg_type_data[i];
  *ret_sym_handle = new Symbol(ReducePrecision(*AsSymbol(sym_handle), r));
  API_END();
}

int MXListOpPrecisions(const char** out_json) {
  API_BEGIN(out_json);
  std::string json = "{";
  auto add = [&json](const std::string& name, const std::string& rest) {
    json += (json.size() > 1 ? ", " : "") + QuoteJson(name) + ": " + rest;
  };
  for (const Op* op : Op::ListUnique()) {
    std::string rest;
    if (const PrecisionCondition* c = PrecisionConditionOf(*op)) {
      rest = "[2, " + QuoteJson(c->parameter) + ", [";
      for (size_t i = 0; i < c->values.size(); ++i) rest += (i ? ", " : "") + QuoteJson(c->values[i]);
      rest += "]";
    } else {
      rest = "[" + std::to_string(static_cast<int>(PrecisionOf(*op))) + ", \"\", []";
    }
    add(op->name, rest + (op->trait<LossAndOutput>() ? ", true]" : ", false]"));
    for (const auto& alias : op->aliases) add(alias, rest + ", false]");
  }
  *out_json = GiveText(json + "}");
  API_END();
}
