/* What a program has switched, as far as inference depends on it. */
#ifndef MXNET_INFER_SWITCHES_H_
#define MXNET_INFER_SWITCHES_H_

#include "mxnet/error.h"

namespace mxnet {

/*
 * What a program has switched, and where a call stands, as far as that changes what inference
 * gives. INVARIANT: results of inference are kept under these too, where the record reads them
 * (Op::reads_switches).
 */
struct InferSwitches {
  bool float64_default = false;  // npx.set_np(dtype=True): the default float is float64, as NumPy's
  bool numpy_shapes = false;     // npx.set_np(shape=True): 0 in a shape is a size, () an element
  bool in_graph = false;         // the call is a node of a graph, where 1.x programs leave sizes open by 0

  MXNET_DLL static InferSwitches OfThread(bool in_graph = false);
  bool operator==(const InferSwitches& o) const {
    return float64_default == o.float64_default && numpy_shapes == o.numpy_shapes && in_graph == o.in_graph;
  }
  bool operator!=(const InferSwitches& o) const { return !(*this == o); }
};

}  // namespace mxnet
#endif  // MXNET_INFER_SWITCHES_H_
