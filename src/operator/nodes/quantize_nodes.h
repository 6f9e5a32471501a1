/*
 * The operators that quantization puts into graphs on its own account. Their names stand here
 * alone. Outputs are 8-bit integers, the minimum and the maximum.
 */
#ifndef MXNET_OPERATOR_NODES_QUANTIZE_NODES_H_
#define MXNET_OPERATOR_NODES_QUANTIZE_NODES_H_

#include <optional>
#include <string>
#include <vector>

#include "mxnet/node.h"

namespace mxnet {
namespace graph_ops {

/* `out_type`: int8, uint8 or auto. */
NodePtr Quantize(const NodeEntry& e, const std::string& out_type, const std::string& name);
/* With a scale and a shift in the places of minimum and maximum. */
NodePtr QuantizeAsymmetric(const NodeEntry& e, const std::string& name);
/* Is it one of these two? */
bool QuantizesFloats(const Node& node);
/* `sums`: 32-bit integers, minimum and maximum. */
NodePtr Requantize(const std::vector<NodeEntry>& sums, const std::string& out_type, const std::string& name);
/* max(x, 0). */
NodePtr ReluOfIntegers(const std::vector<NodeEntry>& integers, const std::string& name);
/* What such sums stand for, in float32. */
NodeEntry DequantizeSums(const std::vector<NodeEntry>& sums, const std::string& name);
/* The same of 8-bit integers. */
NodeEntry Dequantize(const std::vector<NodeEntry>& integers, const std::string& name);

// ---- what passes ask

/* The range that a node gives its integers in every run. */
struct KnownRange {
  bool is_unsigned = false;
  float low = 0, high = 0;
  bool halves = false;  // its larger magnitude is as many steps as Levels says (quantized.h), else WholeLevels
};
/* Of a node that Requantize or Quantize made and calibration has given a range; nothing: it finds
 * one in each run, or the node is another. */
std::optional<KnownRange> RangeOf(const Node& node);
/* Is it made by Requantize? */
bool Requantizes(const Node& node);
/* The sums that a node which DequantizeSums made reads; nothing: it is another node. */
std::optional<NodeEntry> DequantizedSums(const Node& node);
/* The sum of two arrays of integers, as 32-bit integers. */
bool SumsIntegers(const Node& node);
/* max(x, 0) of integers. */
bool IsReluOfIntegers(const Node& node);
/* Is the range of the result that of the first input, beside that operator? */
bool KeepsRange(const Node& node);

/* Trait of an operator of images that takes 8-bit integers in any layout. */
struct ByteImages {};

/* Trait: results behind the first, which are ranges, are the same for any contents of the examples,
 * where `when` holds. So a run over some of a batch's examples gives them as well. */
struct RangesStay {
  bool (*when)(const Attrs&) = nullptr;  // null: always
};

/* Trait of a float operator whose quantized form also takes 32-bit integers as that input, a bias:
 * 8 bits are too few for one beside sums of 32 bits. The range is then that of 2^31 - 1. */
struct WideBias {
  int input;
};

}  // namespace graph_ops
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NODES_QUANTIZE_NODES_H_
