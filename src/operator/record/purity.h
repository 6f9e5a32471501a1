/* Is a call pure: does it give the same for the same inputs, and do nothing else? */
#ifndef MXNET_OPERATOR_RECORD_PURITY_H_
#define MXNET_OPERATOR_RECORD_PURITY_H_

#include <cstdint>

#include "mxnet/op.h"

namespace mxnet {

/* The reasons why a call is not, one bit each. */
enum Impurity : uint32_t {
  kDrawsRandom = 1,       // numbers that the next call does not get
  kWritesInputs = 2,      // auxiliary states, updated arrays
  kKeepsState = 4,        // between the calls of one node
  kShapesFromValues = 8,  // works on arrays: shapes of results may depend on what inputs hold
  kHoldsGraphs = 16,      // whose operators count as well
  kRunsProgram = 32       // the program's own code, which may do anything
};

/* All reasons. 0: pure. Who can live with some of them takes their bits away:
 * `ImpurityOf(attrs) & ~kKeepsState`. */
inline uint32_t ImpurityOf(const Attrs& attrs) {
  const Op& op = *attrs.op;
  return (op.uses_random ? uint32_t{kDrawsRandom} : 0) |
         (op.mutate_inputs && !op.mutate_inputs(attrs).empty() ? uint32_t{kWritesInputs} : 0) | (op.stateful ? uint32_t{kKeepsState} : 0) |
         (op.runs == RunBy::kArrays ? uint32_t{kShapesFromValues} : 0) | (attrs.subgraphs.empty() ? 0 : uint32_t{kHoldsGraphs}) |
         (op.runs == RunBy::kAsync ? uint32_t{kRunsProgram} : 0);
}
inline bool IsPure(const Attrs& attrs) { return ImpurityOf(attrs) == 0; }

}  // namespace mxnet
#endif  // MXNET_OPERATOR_RECORD_PURITY_H_
