// From the predictions of the single shot detector to boxes (Liu et al., "SSD: Single Shot MultiBox
// Detector", ECCV 2016).
#include <algorithm>
#include <cmath>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/tuple_field.h"
#include "operator/vision/boxes/boxes.h"
#include "operator/vision/boxes/gpu_boxes.h"

namespace mxnet {
namespace boxes {

struct MultiBoxDetectionParam : public Parameter<MultiBoxDetectionParam> {
  bool clip;
  float threshold;
  int background_id;
  float nms_threshold;
  bool force_suppress;
  Tuple<float> variances;
  int nms_topk;
  MXNET_DECLARE_PARAM(MultiBoxDetectionParam) {
    MXNET_FIELD(clip).set_default(true).describe("Cut coordinates to [0, 1].");
    MXNET_FIELD(threshold).set_default(0.01f).describe("Anchors whose best score is below this are dropped.");
    MXNET_FIELD(background_id).set_default(0).describe("Accepted; the background is class 0 whatever it says, as in 1.x.");
    MXNET_FIELD(nms_threshold)
        .set_default(0.5f)
        .describe("A box is suppressed when a better one overlaps it by this or more; no suppression and no order if outside of (0, 1].");
    MXNET_FIELD(force_suppress).set_default(false).describe("Boxes of different classes suppress each other, too.");
    MXNET_FIELD(variances).set_default({0.1f, 0.1f, 0.2f, 0.2f}).describe("The four predictions for a box are multiplied by these.");
    MXNET_FIELD(nms_topk).set_default(-1).describe("How many of the best boxes can stay; all if not above 0.");
  }
};
MXNET_REGISTER_PARAM(MultiBoxDetectionParam);

namespace {

constexpr int64_t kEntry = 6;  // class, score, corners

// The box of an anchor and its four predictions.
template <typename T>
void DecodeAnchor(const T* anchor, const T* loc, const T* variance, bool clip, T* box) {
  const T w = anchor[2] - anchor[0], h = anchor[3] - anchor[1], x = (anchor[0] + anchor[2]) / 2, y = (anchor[1] + anchor[3]) / 2;
  const T cx = loc[0] * variance[0] * w + x, cy = loc[1] * variance[1] * h + y;
  const T half_w = std::exp(loc[2] * variance[2]) * w / 2, half_h = std::exp(loc[3] * variance[3]) * h / 2;
  box[0] = cx - half_w, box[1] = cy - half_h, box[2] = cx + half_w, box[3] = cy + half_h;
  if (clip)
    for (int k = 0; k < 4; ++k) box[k] = box[k] < 0 ? T(0) : box[k] > 1 ? T(1) : box[k];
}

struct Sizes {
  int64_t batch, classes, anchors;
};

// The anchors that are not dropped, in their order: entries of `out`. Returns how many.
template <typename T>
int64_t FindBoxes(const MultiBoxDetectionParam& p, const Sizes& s, const T* prob, const T* loc, const T* anchors, T* out) {
  std::vector<T> score(s.anchors, T(-1));
  std::vector<int32_t> best(s.anchors, -1);
  for (int64_t c = 1; c < s.classes; ++c) {
    const T* row = prob + c * s.anchors;
    for (int64_t i = 0; i < s.anchors; ++i) {
      const bool better = row[i] > score[i];
      score[i] = better ? row[i] : score[i];
      best[i] = better ? static_cast<int32_t>(c - 1) : best[i];
    }
  }
  T variance[4];
  for (int k = 0; k < 4; ++k) variance[k] = static_cast<T>(p.variances[k]);
  int64_t count = 0;
  for (int64_t i = 0; i < s.anchors; ++i) {
    if (best[i] < 0 || score[i] < static_cast<T>(p.threshold)) continue;
    T* entry = out + kEntry * count++;
    entry[0] = static_cast<T>(best[i]), entry[1] = score[i];
    DecodeAnchor(anchors + 4 * i, loc + 4 * i, variance, p.clip, entry + 2);
  }
  return count;
}

// Orders the first `count` entries by score and sets the class of suppressed ones to -1. Entries
// behind nms_topk stand where they were found.
template <typename T>
void SuppressEntries(const MultiBoxDetectionParam& p, int64_t count, T* out) {
  const int64_t take = p.nms_topk > 0 ? std::min<int64_t>(p.nms_topk, count) : count;
  if (take == 0) return;
  const std::vector<T> found(out, out + count * kEntry);
  std::vector<T> scores(count);
  for (int64_t i = 0; i < count; ++i) scores[i] = found[i * kEntry + 1];
  std::vector<int64_t> order(take), kept(take);
  OrderScores(scores.data(), count, take, false, order.data());
  BoxArrays<T> sorted(take, !p.force_suppress);
  for (int64_t i = 0; i < take; ++i) {
    const T* entry = &found[order[i] * kEntry];
    std::copy(entry, entry + kEntry, out + i * kEntry);
    sorted.Put(i, entry + 2, kCorner);
    if (sorted.has_ids()) sorted.id(i) = static_cast<int32_t>(entry[0]);
  }
  NmsRule rule;  // at or above the threshold: above the number before it
  rule.threshold = std::nextafter(static_cast<T>(p.nms_threshold), T(-1));
  const int64_t stay = SuppressGreedily(sorted, take, rule, take, kept.data());
  for (int64_t i = take; i < count; ++i) out[i * kEntry] = T(-1);
  int64_t next = 0;
  for (int64_t i = 0; i < take; ++i) {
    if (next < stay && kept[next] == i)
      ++next;
    else
      out[i * kEntry] = T(-1);
  }
}

void Detection(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& p = args.param<MultiBoxDetectionParam>();
  const Sizes s{args.in[0].shape[0], args.in[0].shape[1], args.in[0].shape[2]};
  const bool suppress = p.nms_threshold > 0 && p.nms_threshold <= 1;
  if (args.run.ctx.is_gpu()) {
    DetectionSettings d{p.clip, p.threshold, {}, suppress, p.nms_threshold, p.force_suppress, p.nms_topk > 0 ? p.nms_topk : s.anchors};
    for (int k = 0; k < 4; ++k) d.variances[k] = p.variances[k];
    return DetectionOnDevice(args, d);
  }
  nn::RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const T *prob = a.in[0].data<T>(), *loc = a.in[1].data<T>(), *anchors = a.in[2].data<T>();
    T* out = a.out[0].data<T>();
    ParallelFor(s.batch, std::max<int64_t>(1, 4096 / s.anchors), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        T* to = out + b * s.anchors * kEntry;
        const int64_t count = FindBoxes(p, s, prob + b * s.classes * s.anchors, loc + b * 4 * s.anchors, anchors, to);
        std::fill(to + count * kEntry, to + s.anchors * kEntry, T(-1));
        if (suppress) SuppressEntries(p, count, to);
      }
    });
  });
}

bool DetectionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &prob = (*in)[0], &anchor = (*in)[2];
  const auto& p = attrs.get<MultiBoxDetectionParam>();
  const std::string op = nn::Named(attrs);
  MXNET_CHECK_KIND(p.variances.size() == 4, Value) << op << "variances=" << p.variances << "; four numbers are needed";
  if (!prob.ndim_known()) return false;
  MXNET_CHECK_KIND(prob.ndim() == 3, Value) << op << "cls_prob has shape " << prob << "; (batch, classes, anchors) is needed";
  AssignShape(attrs, "loc_pred", &(*in)[1], Shape{prob[0], prob[2] < 0 ? Shape::kUnknownDim : 4 * prob[2]});
  AssignShape(attrs, "anchor", &(*in)[2], Shape{1, prob[2], 4});
  AssignShape(attrs, "output", &(*out)[0], Shape{prob[0], prob[2], kEntry});
  return prob.known() && (*in)[1].known() && anchor.known();
}

MXNET_REGISTER_OP(_contrib_MultiBoxDetection)
    .describe(
        "The boxes that a single shot detector found.\n\n"
        "cls_prob has shape (batch, classes, anchors), class 0 is the background; loc_pred (batch, 4 * anchors) holds the predictions that "
        "MultiBoxTarget makes targets of; anchor (1, anchors, 4). The result has shape (batch, anchors, 6): class less one, score and "
        "corners.\n"
        "Each anchor gives a box of its best class, unless that score is below threshold. Boxes are ordered by falling scores, and those "
        "that a better one of their class overlaps get class -1, as do those behind nms_topk, which stand at places of no meaning. Unused "
        "entries are -1. The gradient is 0. float16, bfloat16, float32 and float64.\n"
        "Liu et al., \"SSD: Single Shot MultiBox Detector\", ECCV 2016.")
    .alias("_npx_multibox_detection")
    .set_param<MultiBoxDetectionParam>()
    .set_inputs({"cls_prob", "loc_pred", "anchor"})
    .set_infer_shape(DetectionShape)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(Detection);

}  // namespace
}  // namespace boxes
}  // namespace mxnet
