/* Epilogues of fused operators: as text, found in a graph, applied on the CPU. */
#ifndef MXNET_OPERATOR_NN_COMMON_EPILOGUE_H_
#define MXNET_OPERATOR_NN_COMMON_EPILOGUE_H_

#include <cstdint>
#include <string>

#include "mxnet/node.h"
#include "operator/shared/epilogue_op.h"

namespace mxnet {
namespace nn {

/* "relu", "clip:0,6", ...; nothing for kNone. ParsePost throws Error(kValue) naming `op`. */
std::string EpilogueText(const EpilogueOp& post);
EpilogueOp ParsePost(const char* op, const std::string& text);

/* Does this node compute such a function of its input 0, in every mode? */
bool EpilogueOf(const Node& node, EpilogueOp* post);

/* y[i] = post(x[i]); x and y may be the same. Serial. */
void ApplyPost(const EpilogueOp& post, const float* x, float* y, int64_t n);

/* Takes `key` out of a node's text; false when it is not there. */
bool TakeText(AttrDict* dict, const char* key, std::string* value);
bool TakeFlag(const char* op, AttrDict* dict, const char* key);

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_EPILOGUE_H_
