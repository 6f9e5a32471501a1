#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mxnet/env.h"
#include "operator/nn/attention/attention_scores.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"

namespace mxnet {
namespace nn {

AttentionScores::AttentionScores(KernelArgs& args, int first, const AttentionDims& d)
    : columns_(d.columns), safe_(Env::Get().safe_accumulation), zeros_(args.param<AttentionParam>().zeros) {
  const auto& p = args.param<AttentionParam>();
  if (p.mask) {
    mask_ = args.in[first + p.Arrays()];
    allows_ = mask_.dtype == kBool;
    const Shape& m = mask_.shape;
    step_[0] = m[0] == 1 ? 0 : m[1] * m[2], step_[1] = m[1] == 1 ? 0 : m[2], step_[2] = m[2] == 1 ? 0 : 1;
  }
  if (p.length) {
    const TBlob& lengths = args.in[first + p.LengthAt()];
    lengths_ = AsInt64(args, lengths);
    lengths_each_ = lengths.shape[1];
  }
}

SoftmaxCall AttentionScores::Call(int64_t columns) const {
  SoftmaxCall call;
  call.length = columns;
  call.safe = safe_;
  return call;
}

int64_t AttentionScores::Columns(int64_t head) const {
  if (!lengths_) return columns_;
  const int64_t* l = lengths_ + head * lengths_each_;
  return std::clamp<int64_t>(lengths_each_ ? *std::max_element(l, l + lengths_each_) : 0, 0, columns_);
}

/* Scales a row, and makes -infinity of what a boolean mask forbids. False: nothing counts. */
bool AttentionScores::AllowedOnly(int64_t head, int64_t row, int64_t columns, float scale, float* scores) const {
  const unsigned char* allowed = mask_.data<unsigned char>() + head * step_[0] + row * step_[1];
  const int64_t given =
      lengths_ ? std::clamp<int64_t>(lengths_[head * lengths_each_ + (lengths_each_ > 1 ? row : 0)], 0, columns) : columns;
  bool any = false;
  for (int64_t j = 0; j < given; ++j) {
    const bool yes = allowed[j * step_[2]];
    any |= yes;
    scores[j] = yes ? scores[j] * scale : -std::numeric_limits<float>::infinity();
  }
  return any;
}

void AttentionScores::Softmax(int64_t head, int64_t first, int64_t n, int64_t columns, float scale, float* scores) const {
  SoftmaxCall softmax = Call(columns);
  if (lengths_ && lengths_each_ > 1) softmax.lengths = lengths_ + head * lengths_each_ + first;
  static thread_local std::vector<int64_t> some;  // for each row: all columns are looked at, or none counts
  static thread_local std::vector<float> room;    // a line of a mask in half precision
  if (allows_) {
    if (some.size() < static_cast<size_t>(n)) some.resize(n);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t given =
          lengths_ ? std::clamp<int64_t>(lengths_[head * lengths_each_ + (lengths_each_ > 1 ? first + i : 0)], 0, columns) : columns;
      some[i] = AllowedOnly(head, first + i, columns, scale, scores + i * columns) ? given : 0;
    }
    softmax.lengths = some.data();
  } else if (mask_.dptr) {
    const int64_t elements = step_[2] ? columns : 1;
    const bool half = IsHalf(mask_.dtype);
    if (half && room.size() < static_cast<size_t>(elements)) room.resize(elements);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = head * step_[0] + (first + i) * step_[1];
      if (half && (i == 0 || step_[1])) ReadFloats(mask_, from, room.data(), elements);
      const float* line = half ? room.data() : mask_.data<float>() + from;
      float* s = scores + i * columns;
      if (step_[2]) {
        for (int64_t j = 0; j < columns; ++j) s[j] = s[j] * scale + line[j];
      } else {
        for (int64_t j = 0; j < columns; ++j) s[j] = s[j] * scale + line[0];
      }
    }
  } else {
    softmax.scale = static_cast<double>(scale);
  }
  MXNET_CPU_CALL(SoftmaxForward)(softmax, kFloat32, scores, scores, 0, n);
  for (int64_t i = 0; zeros_ && columns > 0 && i < n; ++i)  // one that is NaN makes its sum NaN, and so all of them
    if (std::isnan(scores[i * columns])) std::fill_n(scores + i * columns, columns, 0.f);
}

}  // namespace nn
}  // namespace mxnet
