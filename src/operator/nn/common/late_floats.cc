#include "operator/nn/common/late_floats.h"

#include "base/mix.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/record/asked_weights.h"

namespace mxnet {
namespace nn {

bool LateFloats::Take(int input, TBlob* blob) {
  if (!IsHalf(blob->dtype) || blob->Size() == 0 || args_.run.ctx.is_gpu() || !KeepsWeights(args_, input)) return false;
  if (!KernelAsksFor(*args_.attrs, input, blob->dtype)) return false;
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
  ReadFloats(late->half, late->floats.data<float>());
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
    ReadFloats(half, static_cast<int64_t>(offset / sizeof(float)), static_cast<float*>(to), static_cast<int64_t>(size / sizeof(float)));
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

}  // namespace nn
}  // namespace mxnet
