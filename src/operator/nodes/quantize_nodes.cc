#include "operator/nodes/quantize_nodes.h"

#include <cstdlib>

#include "mxnet/op.h"
#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace graph_ops {

NodePtr Quantize(const NodeEntry& e, const std::string& out_type, const std::string& name) {
  return MakeNode("_contrib_quantize_v2", {e}, {{"out_type", out_type}}, name);
}
NodePtr QuantizeAsymmetric(const NodeEntry& e, const std::string& name) { return MakeNode("_contrib_quantize_asym", {e}, {}, name); }
bool QuantizesFloats(const Node& node) {
  static const Op *const symmetric = Op::Get("_contrib_quantize_v2"), *const asymmetric = Op::Get("_contrib_quantize_asym");
  return node.op() == symmetric || node.op() == asymmetric;
}
NodePtr Requantize(const std::vector<NodeEntry>& sums, const std::string& out_type, const std::string& name) {
  return MakeNode("_contrib_requantize", sums, {{"out_type", out_type}}, name);
}
NodePtr ReluOfIntegers(const std::vector<NodeEntry>& integers, const std::string& name) {
  return MakeNode("_contrib_quantized_act", integers, {{"act_type", "relu"}}, name);
}
constexpr double kSteps = 2147483647;  // of 32 bits, from 0 to the maximum
NodeEntry DequantizeSums(const std::vector<NodeEntry>& sums, const std::string& name) {
  const NodeEntry numbers = MakeOp("Cast", {sums[0]}, {{"dtype", "float32"}}, name + "_numbers");
  const NodeEntry step = MakeOp("_mul_scalar", {sums[2]}, {{"scalar", ExactText(1 / kSteps)}}, name + "_step");
  return MakeOp("broadcast_mul", {numbers, step}, {}, name);
}
NodeEntry Dequantize(const std::vector<NodeEntry>& integers, const std::string& name) {
  return MakeOp("_contrib_dequantize", integers, {}, name);
}

namespace {
bool Is(const Node& node, const char* op) { return !node.is_variable() && node.op()->name == op; }
}  // namespace

std::optional<KnownRange> RangeOf(const Node& node) {
  if (!Requantizes(node) && !Is(node, "_contrib_quantize_v2")) return std::nullopt;
  const AttrDict& dict = node.attrs->dict;
  const auto low = dict.find("min_calib_range"), high = dict.find("max_calib_range"), type = dict.find("out_type");
  if (low == dict.end() || high == dict.end()) return std::nullopt;
  KnownRange range;
  range.low = std::strtof(low->second.c_str(), nullptr), range.high = std::strtof(high->second.c_str(), nullptr);
  const std::string dtype = type == dict.end() ? "int8" : type->second;
  range.is_unsigned = dtype == "uint8" || (dtype == "auto" && range.low >= 0);
  range.halves = !Requantizes(node);
  return range;
}
std::optional<NodeEntry> DequantizedSums(const Node& node) {
  if (!Is(node, "broadcast_mul")) return std::nullopt;
  const Node &numbers = *node.inputs[0].node, &step = *node.inputs[1].node;
  if (!Is(numbers, "Cast") || !Is(step, "_mul_scalar") || step.attrs->dict.at("scalar") != ExactText(1 / kSteps)) return std::nullopt;
  const NodeEntry &sums = numbers.inputs[0], &largest = step.inputs[0];
  if (sums.node != largest.node || sums.index != 0 || largest.index != 2) return std::nullopt;
  return sums;
}
bool Requantizes(const Node& node) { return Is(node, "_contrib_requantize"); }
bool SumsIntegers(const Node& node) { return Is(node, "_contrib_quantized_elemwise_add") && !node.attrs->dict.count("min_calib_range"); }
bool IsReluOfIntegers(const Node& node) { return Is(node, "_contrib_quantized_act"); }
bool KeepsRange(const Node& node) { return IsReluOfIntegers(node) || Is(node, "_contrib_quantized_pooling"); }

}  // namespace graph_ops
}  // namespace mxnet
