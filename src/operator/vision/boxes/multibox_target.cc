// Training targets of the single shot detector (Liu et al., "SSD: Single Shot MultiBox Detector",
// ECCV 2016, section 2.2).
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

struct MultiBoxTargetParam : public Parameter<MultiBoxTargetParam> {
  float overlap_threshold, ignore_label, negative_mining_ratio, negative_mining_thresh;
  int minimum_negative_samples;
  Tuple<float> variances;
  MXNET_DECLARE_PARAM(MultiBoxTargetParam) {
    MXNET_FIELD(overlap_threshold)
        .set_default(0.5f)
        .describe("Anchors whose overlap with a box is above this are matched with it; none of these if not above 0.");
    MXNET_FIELD(ignore_label).set_default(-1.0f).describe("Class of anchors that do not count.");
    MXNET_FIELD(negative_mining_ratio)
        .set_default(-1.0f)
        .describe("Background anchors for each matched one, the hardest; not above 0: all that are not matched.");
    MXNET_FIELD(negative_mining_thresh)
        .set_default(0.5f)
        .describe("Only anchors whose overlap with every box is below this are chosen as background.");
    MXNET_FIELD(minimum_negative_samples).set_default(0).describe("Accepted; 1.x does not use it on the CPU, either.");
    MXNET_FIELD(variances).set_default({0.1f, 0.1f, 0.2f, 0.2f}).describe("The four targets of a box are divided by these.");
  }
};
MXNET_REGISTER_PARAM(MultiBoxTargetParam);

namespace {

// What does not differ among the images of a batch.
template <typename T>
struct TargetProblem {
  const MultiBoxTargetParam& p;
  const T* anchors;
  BoxArrays<T> list;
  int64_t n, labels, width, classes;
  TargetProblem(const MultiBoxTargetParam& param, const TBlob& anchor, const TBlob& label, const TBlob& pred)
      : p(param),
        anchors(anchor.data<T>()),
        list(anchor.shape[1], false),
        n(anchor.shape[1]),
        labels(label.shape[1]),
        width(label.shape[2]),
        classes(pred.shape[1]) {
    for (int64_t i = 0; i < n; ++i) list.Put(i, anchors + 4 * i, kCorner);
  }
};

constexpr double kLeastOverlap = 1e-6;  // that the best anchor of a box has with it

// match[i] = box of anchor i or -1; most[i] = its largest overlap with a box.
template <typename T>
void MatchAnchors(const TargetProblem<T>& q, const T* label, int64_t count, std::vector<int64_t>* match, std::vector<T>* most) {
  BoxArrays<T> boxes(count, false);
  for (int64_t k = 0; k < count; ++k) boxes.Put(k, label + k * q.width + 1, kCorner);
  std::vector<T> overlap(count * q.n);
  std::vector<int64_t> nearest(q.n, 0);
  most->assign(q.n, T(-1));
  for (int64_t k = 0; k < count; ++k) {
    T* row = &overlap[k * q.n];
    MXNET_CPU_CALL(OverlapRow)(sizeof(T) == sizeof(double), q.list.list(), q.n, boxes.list(), k, row);
    for (int64_t i = 0; i < q.n; ++i)
      if (row[i] > (*most)[i]) (*most)[i] = row[i], nearest[i] = k;
  }
  match->assign(q.n, -1);
  std::vector<int64_t> best(count, -1);  // of the anchors that are free; -2: the box has one
  auto find = [&](int64_t k) {
    const T* row = &overlap[k * q.n];
    best[k] = -1;
    for (int64_t i = 0; i < q.n; ++i)
      if ((*match)[i] < 0 && row[i] > (best[k] < 0 ? static_cast<T>(kLeastOverlap) : row[best[k]])) best[k] = i;
  };
  for (int64_t k = 0; k < count; ++k) find(k);
  while (true) {
    int64_t at = -1;  // of equal overlaps the one with the first anchor
    for (int64_t k = 0; k < count; ++k) {
      if (best[k] < 0) continue;
      const T here = overlap[k * q.n + best[k]], there = at < 0 ? T(-1) : overlap[at * q.n + best[at]];
      if (here > there || (here == there && best[k] < best[at])) at = k;
    }
    if (at < 0) break;
    const int64_t anchor = best[at];
    (*match)[anchor] = at;
    best[at] = -2;
    for (int64_t k = 0; k < count; ++k)
      if (best[k] == anchor) find(k);
  }
  if (!(q.p.overlap_threshold > 0)) return;
  for (int64_t i = 0; i < q.n; ++i)
    if ((*match)[i] < 0 && (*most)[i] > static_cast<T>(q.p.overlap_threshold)) (*match)[i] = nearest[i];
}

// Sets cls[i] = 0 for the anchors that look least like background.
template <typename T>
void MineNegatives(const TargetProblem<T>& q, const T* pred, const std::vector<int64_t>& match, const std::vector<T>& most, T* cls) {
  const int64_t positive = q.n - std::count(match.begin(), match.end(), -1);
  const double wanted = static_cast<double>(static_cast<float>(positive) * q.p.negative_mining_ratio);
  std::vector<int64_t> candidates;
  std::vector<T> background;
  for (int64_t i = 0; i < q.n; ++i) {
    if (match[i] >= 0 || !(most[i] < static_cast<T>(q.p.negative_mining_thresh))) continue;
    T top = pred[i], sum = 0;
    for (int64_t c = 1; c < q.classes; ++c) top = std::max(top, pred[c * q.n + i]);
    for (int64_t c = 0; c < q.classes; ++c) sum += std::exp(pred[c * q.n + i] - top);
    candidates.push_back(i);
    background.push_back(std::exp(pred[i] - top) / sum);
  }
  const int64_t found = static_cast<int64_t>(candidates.size());
  const int64_t take = wanted < static_cast<double>(found) ? static_cast<int64_t>(wanted) : found;
  std::vector<int64_t> order(take);
  OrderScores(background.data(), found, take, true, order.data());
  for (int64_t i : order) cls[candidates[i]] = 0;
}

template <typename T>
void EncodeTarget(const TargetProblem<T>& q, const T* anchor, const T* box, T* code) {
  const T aw = anchor[2] - anchor[0], ah = anchor[3] - anchor[1], half = T(0.5);
  const T ax = (anchor[0] + anchor[2]) * half, ay = (anchor[1] + anchor[3]) * half;
  const T bw = box[2] - box[0], bh = box[3] - box[1], bx = (box[0] + box[2]) * half, by = (box[1] + box[3]) * half;
  const auto& v = q.p.variances;
  code[0] = (bx - ax) / aw / static_cast<T>(v[0]);
  code[1] = (by - ay) / ah / static_cast<T>(v[1]);
  code[2] = std::log(bw / aw) / static_cast<T>(v[2]);
  code[3] = std::log(bh / ah) / static_cast<T>(v[3]);
}

// One image. Boxes end at the first of class -1.
template <typename T>
void TargetOfImage(const TargetProblem<T>& q, const T* label, const T* pred, T* loc, T* mask, T* cls) {
  std::fill(loc, loc + 4 * q.n, T(0));
  std::fill(mask, mask + 4 * q.n, T(0));
  std::fill(cls, cls + q.n, static_cast<T>(q.p.ignore_label));
  int64_t count = 0;
  while (count < q.labels && label[count * q.width] != T(-1)) ++count;
  if (count == 0) return;
  std::vector<int64_t> match;
  std::vector<T> most;
  MatchAnchors(q, label, count, &match, &most);
  if (q.p.negative_mining_ratio > 0)
    MineNegatives(q, pred, match, most, cls);
  else
    std::fill(cls, cls + q.n, T(0));
  for (int64_t i = 0; i < q.n; ++i) {
    if (match[i] < 0) continue;
    const T* box = label + match[i] * q.width;
    cls[i] = box[0] + 1;
    std::fill(mask + 4 * i, mask + 4 * i + 4, T(1));
    EncodeTarget(q, q.anchors + 4 * i, box + 1, loc + 4 * i);
  }
}

void Target(KernelArgs& args) {
  if (args.out[2].Size() == 0) return;
  const auto& p = args.param<MultiBoxTargetParam>();
  if (args.run.ctx.is_gpu()) {
    TargetSettings s{p.overlap_threshold, p.ignore_label, p.negative_mining_ratio, p.negative_mining_thresh, {}};
    for (int i = 0; i < 4; ++i) s.variances[i] = p.variances[i];
    return TargetOnDevice(args, s);
  }
  nn::RunReal(args, [&p](KernelArgs& a, auto number) {
    using T = decltype(number);
    const TargetProblem<T> q(p, a.in[0], a.in[1], a.in[2]);
    T* out[3];
    const int64_t batch = a.in[1].shape[0], size[3] = {4 * q.n, 4 * q.n, q.n};
    for (int i = 0; i < 3; ++i) out[i] = nn::Wanted(a, i) ? a.out[i].data<T>() : nn::Workspace<T>(a, batch * size[i]);
    ParallelFor(batch, std::max<int64_t>(1, 4096 / q.n), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b)
        TargetOfImage(q, a.in[1].data<T>() + b * q.labels * q.width, a.in[2].data<T>() + b * q.classes * q.n, out[0] + b * size[0],
                      out[1] + b * size[1], out[2] + b * size[2]);
    });
  });
}

bool TargetShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &anchor = (*in)[0], &label = (*in)[1], &pred = (*in)[2];
  const auto& p = attrs.get<MultiBoxTargetParam>();
  const std::string op = nn::Named(attrs);
  MXNET_CHECK_KIND(p.variances.size() == 4, Value) << op << "variances=" << p.variances << "; four numbers are needed";
  MXNET_CHECK_KIND(!(p.negative_mining_ratio > 0) || p.negative_mining_thresh > 0, Value)
      << op << "negative_mining_thresh=" << p.negative_mining_thresh << "; with a negative_mining_ratio it must be above 0";
  if (!anchor.ndim_known() || !label.ndim_known()) return false;
  MXNET_CHECK_KIND(anchor.ndim() == 3 && (anchor[0] == 1 || anchor[0] < 0), Value)
      << op << "anchor has shape " << anchor << "; (1, anchors, 4) is needed";
  CheckBoxShape(attrs, "anchor", anchor);
  MXNET_CHECK_KIND(label.ndim() == 3 && (label[2] >= 5 || label[2] < 0), Value)
      << op << "label has shape " << label << "; (batch, boxes, 5 or more) is needed";
  AssignShape(attrs, "cls_pred", &(*in)[2], Shape{label[0], Shape::kUnknownDim, anchor[1]});
  const int64_t codes = anchor[1] < 0 ? Shape::kUnknownDim : 4 * anchor[1];
  for (int i = 0; i < 2; ++i) AssignShape(attrs, i ? "loc_mask" : "loc_target", &(*out)[i], Shape{label[0], codes});
  AssignShape(attrs, "cls_target", &(*out)[2], Shape{label[0], anchor[1]});
  if (pred.known())
    MXNET_CHECK_KIND(pred[1] > 0, Value) << op << "cls_pred has shape " << pred << "; at least the background is needed as a class";
  return anchor.known() && label.known() && pred.known();
}

MXNET_REGISTER_OP(_contrib_MultiBoxTarget)
    .describe(
        "Training targets of the single shot detector: which anchor has to find which box.\n\n"
        "anchor has shape (1, anchors, 4), label (batch, boxes, 5 or more): class and corners of each box, ended by a class of -1; "
        "cls_pred "
        "(batch, classes, anchors) holds predicted scores, of the background first.\n"
        "Each box is matched with an anchor, the pair of the largest overlap first; then each other anchor with the box that it overlaps "
        "most, if by more than overlap_threshold. loc_target (batch, 4 * anchors) holds offsets of centers over sizes and logarithms of "
        "ratios of sizes, over variances; loc_mask is 1 there and both are 0 for anchors without a box. cls_target (batch, anchors) is the "
        "class of the box plus 1, and 0 for background. With negative_mining_ratio only some anchors are background, those of the lowest "
        "predicted probability of it; all others, and images without a box, get ignore_label. The gradient is 0. float16, bfloat16, "
        "float32 and float64.\n"
        "Liu et al., \"SSD: Single Shot MultiBox Detector\", ECCV 2016.")
    .alias("_npx_multibox_target")
    .set_param<MultiBoxTargetParam>()
    .set_inputs({"anchor", "label", "cls_pred"})
    .set_outputs({"loc_target", "loc_mask", "cls_target"})
    .set_infer_shape(TargetShape)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(Target);

}  // namespace
}  // namespace boxes
}  // namespace mxnet
