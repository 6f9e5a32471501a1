#!/usr/bin/env python3
"""Writes include/mxnet/c_api.h and c_predict_api.h from a list of prototypes, one per line.

    python tools/gen_c_api_header.py PROTOTYPES [LIBRARY]

Only functions that the built library (default build/release/libmxnet.so) exports are declared, so
that a program which compiles also links.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

TYPES = '''#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DEFAULT(x) = x
#define MXNET_EXTERN_C extern "C"
#else
#define DEFAULT(x)
#define MXNET_EXTERN_C
#endif
#ifndef MXNET_C_DLL
#define MXNET_C_DLL MXNET_EXTERN_C __attribute__((visibility("default")))
#endif

typedef uint32_t mx_uint;
typedef uint32_t nn_uint;
typedef float mx_float;
typedef int64_t dim_t;
/* Opaque handles. Each comes from a function of this interface and goes back through the matching Free. */
typedef void* NDArrayHandle;
typedef const void* FunctionHandle;
typedef void* AtomicSymbolCreator;
typedef void* OpHandle;
typedef void* SymbolHandle;
typedef void* GraphHandle;
typedef void* ExecutorHandle;
typedef void* CachedOpHandle;
typedef void* KVStoreHandle;
typedef void* DataIterCreator;
typedef void* DataIterHandle;
typedef void* DatasetCreator;
typedef void* DatasetHandle;
typedef void* BatchifyFunctionCreator;
typedef void* BatchifyFunctionHandle;
typedef void* RecordIOHandle;
typedef void* RtcHandle;
typedef void* CudaModuleHandle;
typedef void* CudaKernelHandle;
typedef void* ProfileHandle;
typedef void* DLManagedTensorHandle;
typedef const void* ContextHandle;
typedef const void* EngineFnPropertyHandle;
typedef void* EngineVarHandle;
typedef void* ConfigSpaces;
typedef void* PredictorHandle;
typedef void* NDListHandle;

struct LibFeature {
  const char* name;
  bool enabled;
};
/* A table of callbacks and their contexts, as custom operators and functions pass it. */
struct MXCallbackList {
  int num_callbacks;
  int (**callbacks)(void);
  void** contexts;
};
enum CustomFunctionProps { kCustomFunctionBackward, kCustomFunctionDelete };
typedef int (*CustomFunctionBwdFunc)(int num_ograds, int num_igrads, void** ptrs, const int* reqs, const int is_train, void* state);
typedef int (*CustomFunctionDelFunc)(void* state);
typedef int (*CustomOpPropCreator)(const char* op_type, const int num_kwargs, const char** keys, const char** values, struct MXCallbackList* ret);
typedef void (*ExecutorMonitorCallback)(const char* name, NDArrayHandle array, void* handle);
typedef void (*CachedOpMonitorCallback)(const char* name, const char* opr_name, NDArrayHandle array);
typedef void (*PredMonitorCallback)(const char* name, NDArrayHandle array, void* handle);
typedef void (*MXKVStoreUpdater)(int key, NDArrayHandle recv, NDArrayHandle local, void* handle);
typedef void (*MXKVStoreStrUpdater)(const char* key, NDArrayHandle recv, NDArrayHandle local, void* handle);
typedef void (*MXKVStoreServerController)(int head, const char* body, void* controller_handle);
typedef void (*EngineAsyncFunc)(void* run_context, void* on_complete, void* param);
typedef void (*EngineSyncFunc)(void* run_context, void* param);
typedef void (*EngineFuncParamDeleter)(void* param);
'''

OWN = '''
/* Ours, not in 1.9.1. */
/* Kind of the last error of this thread: 0 generic, 1 value, 2 type, 3 index, 4 dtype not supported, 5 out of memory, 6 input or output. */
MXNET_C_DLL int MXGetLastErrorKind(void);
/* Seven figures of a compiled plan: arena bytes, bytes without sharing, largest live set, nodes, bulks, results computed in place, nodes removed. */
MXNET_C_DLL int MXExecutorGetPlanStats(ExecutorHandle handle, uint64_t *out_values);
MXNET_C_DLL int MXCachedOpGetPlanStats(CachedOpHandle handle, uint64_t *out_values);
/* The destructor of a Python capsule of a DLPack tensor: frees what nobody consumed. Native, because it also runs while an exception is on its way and
   while the interpreter ends, when no Python function can be called. `capsule` is a PyObject*; the process must hold the interpreter. */
MXNET_C_DLL void MXNDArrayFreeDLPackCapsule(void* capsule);
/* The passes of the plan compiler in the order in which they run: name and one sentence, in turn. */
MXNET_C_DLL int MXListPlanPasses(uint32_t *out_size, const char ***out_texts);
/* A training step of `symbol` in at most `budget` bytes of arena (0: as few as possible). Shapes and dtypes by input name; gradients of the arguments
   `grad_names` (none: of all). `out_symbol` is a copy with __force_mirroring__ on the nodes to recompute, whose names are `out_names`. out_bytes: arena,
   its lower bound, arena without recomputation. out_costs: rough nanoseconds and FLOPs of a step, and of what is recomputed: four values. */
MXNET_C_DLL int MXSymbolPlanMemory(SymbolHandle symbol, int dev_type, int dev_id, uint32_t num_shapes, const char** shape_names, const int64_t* shape_data,
                                   const uint32_t* shape_idx, uint32_t num_dtypes, const char** dtype_names, const int* dtypes, uint32_t num_grads, const char** grad_names,
                                   uint64_t budget, SymbolHandle* out_symbol, uint64_t* out_bytes, double* out_costs, uint32_t* out_num_names, const char*** out_names);
/* Operations that this thread pushes from now on fail with "called at `site`" ("train.py:12"), unless the binding knows better; null ends that. */
MXNET_C_DLL int MXEngineMarkCallSite(const char* site);
/* 1 while the profiler runs (paused or not), else 0. */
MXNET_C_DLL int MXGetProfilerState(int *out);
/* Four counts of operations since start: pushed, computed on the pushing thread, computed in bulks; and of bulks. */
MXNET_C_DLL int MXEngineStats(uint64_t* out);
'''


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def main():
    have = exported(sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "build/release/libmxnet.so"))
    seen, main_lines, pred_lines = set(), [], []
    out, section = main_lines, ""
    for line in open(sys.argv[1], encoding="utf-8"):
        line = line.strip()
        if line.startswith("#"):
            out = pred_lines if "predict" in line else main_lines
            continue
        m = re.match(r"(.*?)\b((?:MX|NN)\w+)\((.*)\)$", line)
        if not m or m.group(2) in seen or m.group(2) not in have:
            continue
        seen.add(m.group(2))
        args = m.group(3) or "void"
        out.append(f"MXNET_C_DLL {m.group(1).strip()} {m.group(2)}({args});")
    head = ("/*\n * {what}\n *\n * Every function returns 0 on success and -1 on failure; MXGetLastError() then tells why, on the same thread. Pointers that a function\n"
            " * hands out through `out` arguments stay valid until the next call on the same thread or handle. Written by tools/gen_c_api_header.py.\n */\n#ifndef {guard}\n#define {guard}\n\n")
    tail = "\n#endif  /* {guard} */\n"
    with open(os.path.join(ROOT, "include/mxnet/c_api.h"), "w") as f:
        f.write(head.format(what="The C interface of libmxnet.so.", guard="MXNET_C_API_H_") + TYPES + OWN + "\n" + "\n".join(main_lines) + "\n" + tail.format(guard="MXNET_C_API_H_"))
    with open(os.path.join(ROOT, "include/mxnet/c_predict_api.h"), "w") as f:
        f.write(head.format(what="The C interface for inference: a symbol, its parameters, inputs in, outputs out.", guard="MXNET_C_PREDICT_API_H_")
                + '#include "mxnet/c_api.h"\n\n' + "\n".join(pred_lines) + "\n" + tail.format(guard="MXNET_C_PREDICT_API_H_"))


main()
