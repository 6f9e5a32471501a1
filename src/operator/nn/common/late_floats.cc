#include "operator/nn/common/late_floats.h"

#include "base/dtype.h"
#include "base/half.h"
#include "base/mix.h"
#include "base/threads/omp.h"
#include "mxnet/op.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/record/traits.h"

namespace mxnet {
namespace nn {

bool LateFloats::Take(int input, TBlob* blob) {
  const auto* asks = args_.attrs->op->trait<AsksForWeights>();
  if (!asks || !asks->halves || input >= 32 || !(asks->inputs >> input & 1) || (asks->when && !asks->when(*args_.attrs))) return false;
  if (!IsHalf(blob->dtype) || blob->Size() == 0 || args_.run.ctx.is_gpu() || !KeepsWeights(args_, input)) return false;
  TBlob floats = *blob;
  floats.dtype = kFloat32;
  floats.dptr = args_.workspace(static_cast<size_t>(blob->Size()) * sizeof(float));
  late_.push_back({*blob, floats, false});
  *blob = floats;
  return true;
}

void LateFloats::Need(const void* weights) {
  Late* const late = Find(weights);
  if (!late) {
    if (outer_) outer_->Need(weights);
    return;
  }
  if (late->there) return;
  if (outer_) outer_->Need(late->half.dptr);
  late->there = true;
  const size_t size = DTypeSize(late->half.dtype);
  ParallelFor(late->half.Size(), 1 << 15, [&](int64_t begin, int64_t end) {
    HalvesToFloat(late->half.dtype, static_cast<const char*>(late->half.dptr) + static_cast<size_t>(begin) * size,
                  late->floats.data<float>() + begin, end - begin);
  });
}

void LateFloats::Done(const void* weights) {
  if (!Find(weights) && outer_) outer_->Done(weights);
}

uint64_t LateFloats::Identity(const void* weights) {
  if (!outer_) return 0;
  const Late* const late = Find(weights);
  if (!late) return outer_->Identity(weights);
  const uint64_t identity = outer_->Identity(late->half.dptr);
  return identity ? Mix(identity, static_cast<uint64_t>(late->half.dtype)) | 1 : 0;
}

PlanWeights::ReadPart LateFloats::Parts(const void* weights) {
  const Late* const late = Find(weights);
  if (!late) return outer_ ? outer_->Parts(weights) : ReadPart();
  if (late->there) return {};
  if (outer_) outer_->Need(late->half.dptr);
  return [half = late->half](size_t offset, void* to, size_t size) {
    HalvesToFloat(half.dtype, static_cast<const char*>(half.dptr) + offset / 2, static_cast<float*>(to),
                  static_cast<int64_t>(size / sizeof(float)));
  };
}

PlanWeights::ReadPart LateFloats::TransposedParts(const void* weights) {
  return Find(weights) ? ReadPart() : TransposedPartsOf(outer_, weights);
}

bool LateFloats::HasRoomFor(const void* weights, size_t more, bool anyway) {
  const Late* const late = Find(weights);
  return mxnet::HasRoomFor(outer_, late ? late->half.dptr : weights, more, anyway);
}

const void* LateFloats::Original(PlanWeights* plan_weights, const void* weights) {
  auto* const floats = dynamic_cast<LateFloats*>(plan_weights);
  const Late* const late = floats ? floats->Find(weights) : nullptr;
  return late ? late->half.dptr : weights;
}

LateFloats::Late* LateFloats::Find(const void* weights) {
  for (Late& l : late_)
    if (l.floats.dptr == weights) return &l;
  return nullptr;
}

void HalvesToFloat(int dtype, const void* from, float* to, int64_t n) {
  if (dtype == kFloat16)
    HalfToFloat(static_cast<const float16*>(from), to, n);
  else
    BfloatToFloat(static_cast<const bfloat16*>(from), to, n);
}

}  // namespace nn
}  // namespace mxnet
