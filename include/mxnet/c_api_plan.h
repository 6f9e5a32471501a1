/*
 * Compiled plans through C: what they are, and what mixed precision asks of operators (the pass
 * itself is MXReducePrecisionSymbol, c_api.h). Failures: see c_api_error.h.
 */
#ifndef MXNET_C_API_PLAN_H_
#define MXNET_C_API_PLAN_H_

#include "mxnet/c_api.h"

/*
 * The plan that ran last as one JSON object (docs/explain.md), with the times of `runs` runs, node
 * by node, on the CPU; 0: none. Nothing of the caller's is written. `inputs` in the order of a
 * call; a null handle stands for zeros. The text lives until this thread's next call.
 */

/* Of an executor, with the arrays that are bound. */
MXNET_C_DLL int MXExecutorExplain(ExecutorHandle handle, int runs, const char** out_json);

/* Of a compiled graph, with `num_inputs` arrays or none. */
MXNET_C_DLL int MXCachedOpExplain(CachedOpHandle handle, int num_inputs, NDArrayHandle* inputs, int runs, const char** out_json);
/* {operator: [precision, parameter, [values], is a loss]} as JSON: 1 gains from 16 bits, 2 needs
 * float32 (with a parameter: for these values), 3 inputs share the widest dtype; a loss is the
 * network's output at the same time, and true for the operator's own name, not for an alias. */
MXNET_C_DLL int MXListOpPrecisions(const char** out_json);
/* The processor's instructions as one JSON object: `has` (its level: "SSE4.2", "AVX2", "AVX-512"),
 * `uses` (the level of this library's kernels), `built` (the levels that they were compiled for),
 * `bfloat16` (whether they use the processor's products of bfloat16), `limited` (whether
 * ONEDNN_MAX_CPU_ISA allows less than there is to have). */
MXNET_C_DLL int MXGetCpuLevels(const char** out_json);

#endif  // MXNET_C_API_PLAN_H_
