/* The functions that were NNVM's: a part of the C interface, whose rules stand in c_api.h. */
#ifndef MXNET_C_API_NNVM_H_
#define MXNET_C_API_NNVM_H_

#include "mxnet/c_api.h"

/* The functions NN... do what MX... of the same name do, for programs that were written for NNVM.
 * Errors are the same ones. */

/* Sets what NNGetLastError and MXGetLastError give on this thread. The text is copied. */
MXNET_C_DLL void NNAPISetLastError(const char* msg);

/* MXGetLastError. */
MXNET_C_DLL const char* NNGetLastError(void);

/* MXListAllOpNames. */
MXNET_C_DLL int NNListAllOpNames(nn_uint* out_size, const char*** out_array);

/* The handle of an operator, by name or alias. An unknown name is an error with similar ones. */
MXNET_C_DLL int NNGetOpHandle(const char* op_name, OpHandle* op_out);

/* Handles of operators without aliases. They live as long as the library. */
MXNET_C_DLL int NNListUniqueOps(nn_uint* out_size, OpHandle** out_array);

/* What is known of an operator, as MXSymbolGetAtomicSymbolInfo. */
MXNET_C_DLL int NNGetOpInfo(OpHandle op, const char** real_name, const char** description, nn_uint* num_doc_args, const char*** arg_names,
                            const char*** arg_type_infos, const char*** arg_descriptions, const char** return_type);

/* MXSymbolCreateAtomicSymbol. */
MXNET_C_DLL int NNSymbolCreateAtomicSymbol(OpHandle op, nn_uint num_param, const char** keys, const char** vals, SymbolHandle* out);

/* MXSymbolCreateVariable. */
MXNET_C_DLL int NNSymbolCreateVariable(const char* name, SymbolHandle* out);

/* MXSymbolCreateGroup. */
MXNET_C_DLL int NNSymbolCreateGroup(nn_uint num_symbols, SymbolHandle* symbols, SymbolHandle* out);

/* The nodes of `handle` are computed after those of `src_dep`. */
MXNET_C_DLL int NNAddControlDeps(SymbolHandle handle, SymbolHandle src_dep);

/* MXSymbolFree. */
MXNET_C_DLL int NNSymbolFree(SymbolHandle symbol);

/* MXSymbolCopy. */
MXNET_C_DLL int NNSymbolCopy(SymbolHandle symbol, SymbolHandle* out);

/* MXSymbolPrint. */
MXNET_C_DLL int NNSymbolPrint(SymbolHandle symbol, const char** out_str);

/* MXSymbolGetAttr. */
MXNET_C_DLL int NNSymbolGetAttr(SymbolHandle symbol, const char* key, const char** out, int* success);

/* MXSymbolSetAttr for `num_param` attributes. */
MXNET_C_DLL int NNSymbolSetAttrs(SymbolHandle symbol, nn_uint num_param, const char** keys, const char** values);

/* `recursive_option` 0: of all nodes, as MXSymbolListAttr. 1: of the symbol's node alone. */
MXNET_C_DLL int NNSymbolListAttrs(SymbolHandle symbol, int recursive_option, nn_uint* out_size, const char*** out);

/* New symbols of inputs. `option` 0: all, 1: arguments, 2: auxiliary states. */
MXNET_C_DLL int NNSymbolListInputVariables(SymbolHandle symbol, int option, nn_uint* out_size, SymbolHandle** out_sym_array);

/* Names of the same inputs, with the same options. */
MXNET_C_DLL int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint* out_size, const char*** out_str_array);

/* MXSymbolListOutputs. */
MXNET_C_DLL int NNSymbolListOutputNames(SymbolHandle symbol, nn_uint* out_size, const char*** out_str_array);

/* MXSymbolGetNumOutputs. */
MXNET_C_DLL int NNSymbolGetNumOutputs(SymbolHandle symbol, nn_uint* output_count);

/* MXSymbolGetInternals. */
MXNET_C_DLL int NNSymbolGetInternals(SymbolHandle symbol, SymbolHandle* out);

/* MXSymbolGetChildren. */
MXNET_C_DLL int NNSymbolGetChildren(SymbolHandle symbol, SymbolHandle* out);

/* MXSymbolGetOutput. */
MXNET_C_DLL int NNSymbolGetOutput(SymbolHandle symbol, nn_uint index, SymbolHandle* out);

/* MXSymbolCompose. */
MXNET_C_DLL int NNSymbolCompose(SymbolHandle sym, const char* name, nn_uint num_args, const char** keys, SymbolHandle* args);

#endif /* MXNET_C_API_NNVM_H_ */
