// Quantization over the C interface.
#include <cmath>

#include "c_api/c_api_symbol.h"
#include "executor/passes/fusion/fold_parameters.h"
#include "graph/quantize.h"

using namespace mxnet;

namespace {

std::set<std::string> NameSet(uint32_t count, const char** names, const char* what) {
  const std::vector<std::string> list = Names(count, names, what);
  return {list.begin(), list.end()};
}

bool IsSmart(const char* mode) {
  const std::string text = Text(mode, "the quantize mode");
  MXNET_CHECK_KIND(text == "full" || text == "smart", Value) << "[quantization] quantize mode '" << text << "'; accepted: full, smart";
  return text == "smart";
}

QuantizeRequest Request(uint32_t num_excluded, const char** excluded, uint32_t num_excluded_ops, const char** excluded_ops,
                        uint32_t num_offline, const char** offline, const char* dtype, const char* mode) {
  QuantizeRequest r;
  r.excluded = NameSet(num_excluded, excluded, "nodes' names");
  r.excluded_ops = NameSet(num_excluded_ops, excluded_ops, "operators' names");
  r.offline = NameSet(num_offline, offline, "parameters' names");
  r.dtype = Text(dtype, "the quantized dtype");
  r.smart = IsSmart(mode);
  return r;
}

void GiveQuantized(QuantizedSymbol q, bool with_names, SymbolHandle* symbol, uint32_t* num_names, const char*** names) {
  if (!with_names) q.calibrated.clear();
  GiveStrings(std::move(q.calibrated), num_names, names);
  *symbol = new Symbol(std::move(q.symbol));
}

}  // namespace

int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, const int* dev_type, const uint32_t num_excluded_sym_names,
                     const char** excluded_sym_names, const uint32_t num_excluded_op_names, const char** excluded_op_names,
                     const uint32_t num_offline, const char** offline_params, const char* quantized_dtype, const bool calib_quantize,
                     const char* quantize_mode, const char* quantize_granularity, uint32_t* out_num_calib_names,
                     const char*** out_calib_names) {
  API_BEGIN(ret_sym_handle, out_num_calib_names, out_calib_names);
  MXNET_CHECK_KIND(dev_type != nullptr, Value) << "[quantization] dev_type is NULL; accepted: the address of a device type's number";
  const std::string granularity = Text(quantize_granularity, "the granularity");
  MXNET_CHECK_KIND(granularity == "tensor-wise" || granularity == "channel-wise", Value)
      << "[quantization] granularity '" << granularity << "'; accepted: tensor-wise, channel-wise";
  const QuantizeRequest r = Request(num_excluded_sym_names, excluded_sym_names, num_excluded_op_names, excluded_op_names, num_offline,
                                    offline_params, quantized_dtype, quantize_mode);
  GiveQuantized(Quantize(*AsSymbol(sym_handle), r), calib_quantize, ret_sym_handle, out_num_calib_names, out_calib_names);
  API_END();
}

int MXQuantizeSymbolEx(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, const uint32_t num_excluded_sym_names,
                       const char** excluded_sym_names, const uint32_t num_excluded_op_names, const char** excluded_op_names,
                       const uint32_t num_offline, const char** offline_params, const char* quantized_dtype, const bool calibrated,
                       const char* quantize_mode, uint32_t* out_num_calib_names, const char*** out_calib_names) {
  API_BEGIN(ret_sym_handle, out_num_calib_names, out_calib_names);
  QuantizeRequest r = Request(num_excluded_sym_names, excluded_sym_names, num_excluded_op_names, excluded_op_names, num_offline,
                              offline_params, quantized_dtype, quantize_mode);
  r.merge = true;
  r.calibrated = calibrated;
  GiveQuantized(Quantize(*AsSymbol(sym_handle), r), true, ret_sym_handle, out_num_calib_names, out_calib_names);
  API_END();
}

int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, const uint32_t num_layers, const char** layer_names,
                                     const float* low_quantiles, const float* high_quantiles, SymbolHandle* ret_sym_handle) {
  API_BEGIN(ret_sym_handle);
  const std::vector<std::string> names = Names(num_layers, layer_names, "names of results");
  Need(num_layers, low_quantiles, "least values");
  Need(num_layers, high_quantiles, "greatest values");
  std::map<std::string, std::pair<float, float>> ranges;
  for (uint32_t i = 0; i < num_layers; ++i) {
    const float low = low_quantiles[i], high = high_quantiles[i];
    MXNET_CHECK_KIND(std::isfinite(low) && std::isfinite(high) && low <= high, Value)
        << "[quantization] the range of " << names[i] << " is " << low << " to " << high << "; accepted: finite numbers, the least first";
    ranges[names[i]] = {low, high};
  }
  *ret_sym_handle = new Symbol(SetRanges(*AsSymbol(qsym_handle), ranges));
  API_END();
}

int MXSymbolFoldParameters(SymbolHandle sym_handle, const uint32_t num_shapes, const char** shape_names, const int64_t* shape_data,
                           const uint32_t* shape_idx, const uint32_t num_kept, const char** kept, SymbolHandle* out_symbol,
                           SymbolHandle* out_made, uint32_t* out_num_names, const char*** out_names) {
  API_BEGIN(out_symbol, out_made, out_num_names, out_names);
  const auto shapes = GivenShapes("quantization", num_shapes, shape_names, shape_data, shape_idx);
  FoldedSymbol folded = FoldIntoParameters(*AsSymbol(sym_handle), shapes, NameSet(num_kept, kept, "nodes' names"));
  GiveStrings(std::move(folded.names), out_num_names, out_names);
  *out_symbol = new Symbol(std::move(folded.symbol));
  *out_made = new Symbol(std::move(folded.made));
  API_END();
}
