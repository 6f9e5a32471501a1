// Quantization: the graph with operators on 8-bit integers in the place of those on float32.
#ifndef MXNET_GRAPH_QUANTIZE_H_
#define MXNET_GRAPH_QUANTIZE_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/graph.h"

namespace mxnet {

struct QuantizeRequest {
  std::set<std::string> excluded;      // nodes that stay
  std::set<std::string> excluded_ops;  // operators that stay, by any of their names; others are ignored
  std::set<std::string> offline;       // variables that are read as NAME_quantize, NAME_quantize_min and NAME_quantize_max
  std::string dtype = "int8";          // or uint8, or auto: uint8 where no value is negative
  /* Of the nodes that are not layers (convolution, dense, recurrent) only those between two layers,
   * with nothing but such nodes on the way. */
  bool smart = false;
  /* A relu is one step with what it follows: the range is that of the relu's result. What nodes in
   * float32 alone read comes from 32-bit integers. Nodes that are not layers stay where what they
   * read comes in float32 and what reads them wants that, and those that move floats. */
  bool merge = false;
  /* With merge: ranges will be set. Then a clip from 0 to a number behind a layer is a relu, for
   * the range ends where the clip does. */
  bool calibrated = false;
};

struct QuantizedSymbol {
  Symbol symbol;
  std::vector<std::string> calibrated;  // results of the old graph whose range it wants to know
};

/*
 * Nodes whose record names a quantized form (Quantized, operator/record/traits.h) become that form,
 * as far as the request allows. Their inputs come from NAME_quantize nodes, their 32-bit results go
 * through requantize_NAME, and what nodes in float32 read comes from NAME_dequantize. Other nodes
 * stay, shared with the old graph. Throws Error(kValue) on another dtype.
 */
QuantizedSymbol Quantize(const Symbol& symbol, const QuantizeRequest& request);

/* The quantized graph with ranges, by the names that Quantize gave; others are ignored. */
Symbol SetRanges(const Symbol& quantized, const std::map<std::string, std::pair<float, float>>& ranges);

}  // namespace mxnet
#endif  // MXNET_GRAPH_QUANTIZE_H_
