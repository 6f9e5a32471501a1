/* Attention, as several operators make it. */
#ifndef MXNET_ONNX_CONVERT_ATTENTION_ATTENTION_H_
#define MXNET_ONNX_CONVERT_ATTENTION_ATTENTION_H_

#include <functional>

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

struct AttentionResult {
  Value y;                             // (batch, heads, queries, value size)
  Value raw, capped, biased, weights;  // scores after each step: (batch, heads, queries, keys)
};

struct AttentionOptions {
  double scale = 0;  // 0: 1 / sqrt(size)
  double softcap = 0;
  int softmax_dtype = kDTypeUnknown;
  bool empty_rows = false;                                           // may a row of the bias be -inf throughout?
  std::function<Value(const Value&)> change_scores, change_weights;  // before and after softmax
};

/* q (batch, heads, queries, size), k and v (batch, kv heads, keys, size); bias broadcasts over the
 * scores, or is none. */
AttentionResult Attend(const Call& c, const Value& q, const Value& k, const Value& v, const Value& bias, const AttentionOptions& options);
/* 0 where queries may look and -inf elsewhere, (queries, keys): at keys up to its own place +
 * offset + right, and from its own place + offset - left on; -1: no bound. */
Value WindowBias(const Call& c, int64_t queries, int64_t keys, int64_t offset, int64_t left, int64_t right, int dtype);
/* 0 where the mask is true, and -inf (or `low`) elsewhere. */
Value BiasOfMask(const Call& c, const Value& mask, int dtype, double low);
/* (batch, length, heads * size) -> (batch, heads, length, size), and back. */
Value SplitHeads(const Call& c, const Value& x, int64_t heads);
Value JoinHeads(const Call& c, const Value& x);
/* Two parts of every pair turned by angles whose cosines and sines are given: x (batch, length,
 * heads, size), cos and sin broadcast over (batch, length, 1, turned / 2). */
Value Rotate(const Call& c, const Value& x, const Value& cos, const Value& sin, int64_t turned, bool interleaved);
Value AddBias(const Call& c, const Value& a, const Value& b);  // either may be none

/* Attention to caches that are filled to `lengths` (batch,); the queries (batch, steps, heads x
 * size) are those from `starts` (batch,) on. */
struct CachedAttention {
  Value query, key, value;  // caches (batch, groups, length, size), or (batch, length, groups x size)
  Value starts, lengths;
  Value mask, sink;  // of four dimensions, by head; or none
  Value sources;     // (batch, length): of which example a key is; or none
  int64_t heads = 1, groups = 1;
  int64_t window = 0;  // of keys, with the query's own; 0: none
  double scale = 0, softcap = 0;
  bool causal = true;
};
/* (batch, steps, heads x value size) in the dtype of the queries. */
Value AttendCached(const Call& c, const CachedAttention& a);
/* A cache with rows (batch, steps, groups x size) from `starts` to `lengths`. `room`: of the
 * result; 0: that of the cache. `least`: of tokens in each example. */
Value Appended(const Call& c, const Value& cache, const Value& rows, const CachedAttention& a, int64_t room = 0, int64_t least = 0);
/* The float16 of the file, where the caches are that. */
Value Cache(const Call& c, const Value& x);

/* Bias of a mask over keys: (batch, keys), (batch, queries, keys), (batch, 1, ...) of 0 and 1, or
 * (batch,) or (3 batch + 2,) that begin with lengths. */
Value KeyBias(const Call& c, const Value& mask, int64_t batch, int64_t keys, int dtype, double low);

/* Scores as com.microsoft's operators return them: finite. */
Value ScoresOut(const Call& c, const AttentionResult& r);

/* The widths of queries, keys and values in a weight (input, all of them). */
Sizes PackedSizes(const Call& c, const Value& weight);
/* x times that weight; bias may be none. */
Value PackedProduct(const Call& c, const Value& x, const Value& w, const Value& bias);

/* Which inputs of a node they are. */
struct AttentionInputs {
  int bias, mask, attention_bias, past_key, past_value, past_length, indirection;
};
/* Queries, keys and values are inputs 0 to 2. */
void AttendBuffers(Call& c, const AttentionInputs& at, int64_t heads, bool causal, double low);

void ConvertMultiHeadAttention(Call& c);
void ConvertDecoderMaskedAttention(Call& c);
void ConvertMicrosoftAttention(Call& c);
void ConvertQuantizedAttention(Call& c);
void ConvertGroupQueryAttention(Call& c);
void ConvertMicrosoftRotary(Call& c);
void ConvertPackedAttention(Call& c);
void ConvertPackedMultiHeadAttention(Call& c);
void ConvertRemovePadding(Call& c);
void ConvertSparseAttention(Call& c);
void ConvertRestorePadding(Call& c);
void ConvertRelativePositionBias(Call& c);
void ConvertGatedRelativePositionBias(Call& c);
void ConvertLinearAttention(Call& c);
void ConvertCausalConv(Call& c);
void ConvertGatedDeltaNet(Call& c);
void ConvertVarlenCausalConv(Call& c);
void ConvertLinearAttentionGate(Call& c);
void ConvertGatedNorm(Call& c);
void ConvertScaledSilu(Call& c);
void ConvertGatedAdd(Call& c);
void ConvertSectionedRotary(Call& c);
void ConvertGemmaRotary(Call& c);
void ConvertFlexAttention(Call& c);

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_ATTENTION_ATTENTION_H_
