/* Reductions on a GPU through generated kernels; texts are made in every build. */
#ifndef MXNET_OPERATOR_REDUCE_GPU_REDUCE_H_
#define MXNET_OPERATOR_REDUCE_GPU_REDUCE_H_

#include <functional>
#include <string>
#include <vector>

#include "operator/reduce/reduce.h"
#include "rtc/kernel.h"

namespace mxnet {
namespace reduce {

/* All that a kernel depends on. */
struct DeviceReduction {
  enum What { kReduce, kArgMax, kArgMin } what = kReduce;
  Kind kind = kSum;
  int in_dtype = kFloat32, out_dtype = kFloat32;
  bool integer = false;  // accumulated in int64, else double
  bool partial = false;  // raw accumulators of parts are stored, not results
  bool again = false;    // such accumulators are read
  bool add = false, sqrt = false, has_initial = false;
  int kept = 0, reduced = 0;  // dimensions of each kind
  int lanes = 256;            // neighbouring threads that share a result (along the reduced elements); 256 / lanes results per block
  bool columns = false;       // neighbouring threads have neighbouring results instead
  int width = 1;              // elements per load, along the innermost dimension: `width` results for each thread with `columns`
  bool large = false;         // 2^31 results or more
};
const rtc::Kernel& ReductionKernel(const DeviceReduction& r, const char* name);

/* As reduce::Reduce, on run.stream. `workspace`: KernelArgs::workspace, for long reductions with
 * few results. */
void ReduceOnDevice(const RunContext& run, const std::function<void*(size_t)>& workspace, Kind kind, const TBlob& in,
                    const std::vector<char>& reduced, const Finish& finish, bool as_float, const TBlob& out, OpReq req);
/* Positions of the largest (smallest) elements of (outer, length, inner) along the middle; the
 * first of equals, the first NaN before everything. */
void ArgReduceOnDevice(const RunContext& run, const std::function<void*(size_t)>& workspace, const TBlob& in, int64_t outer, int64_t length,
                       int64_t inner, bool max, const TBlob& out, OpReq req);

}  // namespace reduce
}  // namespace mxnet
#endif  // MXNET_OPERATOR_REDUCE_GPU_REDUCE_H_
