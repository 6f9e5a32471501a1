/*
 * What was converted for other shapes, and serves once more.
 *
 * A decoder whose cache grows has new shapes in each step, but most of its nodes read what has the
 * same shape as before. Converting such a node again would give the same operators with the same
 * parameters, so they are copied. What a converter knows is in Values and in the file; one that
 * looks at the nodes behind its inputs says so (GraphBuilder::LookBack), and is always called.
 */
#ifndef MXNET_ONNX_RUN_REUSE_H_
#define MXNET_ONNX_RUN_REUSE_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "onnx/builder.h"

namespace mxnet {
namespace onnx {

/* The conversion of each node that was made last. Not thread-safe. */
class Conversions {
 public:
  /* The results of a node that reads `inputs`, in the graph of `builder`; empty: it is to be
   * converted. */
  std::vector<Value> Take(const NodeProto& node, const std::vector<const Value*>& inputs, GraphBuilder* builder) const;
  /* As it was converted last; null when it was not. */
  const std::vector<Value>* ResultsOf(const NodeProto& node) const;
  const std::vector<Value>* InputsOf(const NodeProto& node) const;
  void Put(const NodeProto& node, std::vector<Value> inputs, std::vector<Value> results, Traces traces);

 private:
  struct Made {
    std::vector<Value> inputs, results;
    Traces traces;
  };
  std::unordered_map<const NodeProto*, Made> made_;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_RUN_REUSE_H_
