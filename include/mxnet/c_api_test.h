/*
 * The test backends of 1.9.1, "default" and "default_v2", whose parts of graphs are made of the
 * operators that a caller names. Plans are compiled without backends, so the graphs that come out
 * are equal to those that go in. The names are kept for the process.
 *
 * All functions return 0, or -1 with MXGetLastError. Any thread may call them.
 */
#ifndef MXNET_C_API_TEST_H_
#define MXNET_C_API_TEST_H_

#include "mxnet/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `ret_sym_handle`: the graph for a backend with these operators, which the caller frees. */
MXNET_DLL int MXBuildSubgraphByOpNames(SymbolHandle sym_handle, const char* prop_name, const mx_uint num_ops, const char** op_names,
                                       SymbolHandle* ret_sym_handle);
/* The operators of a backend in executors from now on. */
MXNET_DLL int MXSetSubgraphPropertyOpNames(const char* prop_name, const mx_uint num_ops, const char** op_names);
/* Those in MXOptimizeForBackend and MXGenBackendSubgraph, which refuse a backend without any. */
MXNET_DLL int MXSetSubgraphPropertyOpNamesV2(const char* prop_name, const mx_uint num_ops, const char** op_names);
/* Forgets what MXSetSubgraphPropertyOpNames said; not an error where that is nothing. */
MXNET_DLL int MXRemoveSubgraphPropertyOpNames(const char* prop_name);
/* Forgets what MXSetSubgraphPropertyOpNamesV2 said; not an error where that is nothing. */
MXNET_DLL int MXRemoveSubgraphPropertyOpNamesV2(const char* prop_name);

#ifdef __cplusplus
}
#endif

#endif /* MXNET_C_API_TEST_H_ */
