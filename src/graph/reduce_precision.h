// Mixed precision: the graph with amp_cast and amp_multicast put in.
#ifndef MXNET_GRAPH_REDUCE_PRECISION_H_
#define MXNET_GRAPH_REDUCE_PRECISION_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "mxnet/graph.h"

namespace mxnet {

struct ReducePrecisionRequest {
  struct Condition {
    std::string op, parameter;
    std::vector<std::string> values;
  };
  int target = kFloat16;                       // or kBfloat16
  std::vector<std::string> low, full, widest;  // operators by any of their names
  std::vector<Condition> full_if;              // full where the parameter has one of the values
  std::set<std::string> excluded;              // nodes that stay in float32
  std::set<std::string> params;                // variables that are the model's
  bool cast_params = false;                    // params that only 16-bit operators read become 16-bit themselves (attribute __dtype__)
  std::map<std::string, int> dtypes;           // of variables; float32 where not given
  bool graphs_as_given = false;  // nodes that hold graphs get the dtypes that they had, and results keep theirs; else float32.
                                 // Nodes that had the target dtype are not of `full`
};

/* What the records say of each operator (operator/record/precision.h). */
ReducePrecisionRequest PrecisionOfRecords(int target);

/*
 * Operators of `low` get floating inputs in the target dtype, as far as their dtype inference has
 * it (BatchNorm's gamma stays in float32), those of `full` (and excluded nodes) in float32, those
 * of `widest` in the widest of their inputs. All others run in what they are given, unless their
 * dtype inference refuses that: then in the widest, or in float32 when they write auxiliary states
 * or do not compute in the target dtype. The graphs of loops stay as they are: a node that holds
 * one with an operator of `full` gets float32 (graphs_as_given: what it had). Integers and float64
 * are never cast. Casts are shared. Throws Error(kValue) on another target and on names of no
 * operator.
 */
Symbol ReducePrecision(const Symbol& symbol, const ReducePrecisionRequest& request);

}  // namespace mxnet
#endif  // MXNET_GRAPH_REDUCE_PRECISION_H_
