// Regions of interest from a region proposal network (Ren et al., "Faster R-CNN: Towards Real-Time
// Object Detection with Region Proposal Networks", NIPS 2015).
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

struct ProposalParam : public Parameter<ProposalParam> {
  int rpn_pre_nms_top_n, rpn_post_nms_top_n;
  float threshold;
  int rpn_min_size;
  Tuple<float> scales, ratios;
  int feature_stride;
  bool output_score, iou_loss;
  MXNET_DECLARE_PARAM(ProposalParam) {
    MXNET_FIELD(rpn_pre_nms_top_n).set_default(6000).describe("How many of the best boxes take part in suppression; all if not above 0.");
    MXNET_FIELD(rpn_post_nms_top_n).set_default(300).describe("How many boxes of an image there are in the result.");
    MXNET_FIELD(threshold).set_default(0.7f).describe("A box is suppressed when a better one overlaps it by more than this.");
    MXNET_FIELD(rpn_min_size).set_default(16).describe("Boxes smaller than this times the image's scale rank last.");
    MXNET_FIELD(scales).set_default({4.0f, 8.0f, 16.0f, 32.0f}).describe("Sizes of anchors in cells.");
    MXNET_FIELD(ratios).set_default({0.5f, 1.0f, 2.0f}).describe("Ratios of height to width of anchors.");
    MXNET_FIELD(feature_stride).set_default(16).describe("Pixels of the image in a cell, along each side.");
    MXNET_FIELD(output_score).set_default(false).describe("Return the scores as well.");
    MXNET_FIELD(iou_loss).set_default(false).describe("bbox_pred holds differences of corners, not of centers and logarithms of sizes.");
  }
  int64_t anchors() const { return int64_t{1} * scales.size() * ratios.size(); }
};
MXNET_REGISTER_PARAM(ProposalParam);

namespace {

// Corners of the anchors of the first cell. Widths and heights of a cell of each ratio are rounded
// to pixels before they are scaled.
std::vector<float> BaseAnchors(const ProposalParam& p) {
  std::vector<float> all;
  const float side = static_cast<float>(p.feature_stride), middle = 0.5f * (side - 1);
  for (float ratio : p.ratios.values)
    for (float scale : p.scales.values) {
      const float w = std::floor(std::sqrt(std::floor(side * side / ratio)) + 0.5f) * scale;
      const float h = std::floor(w / scale * ratio + 0.5f) * scale;
      all.insert(all.end(), {middle - 0.5f * (w - 1), middle - 0.5f * (h - 1), middle + 0.5f * (w - 1), middle + 0.5f * (h - 1)});
    }
  return all;
}

struct Map {
  int64_t batch, anchors, height, width;
  int64_t cells() const { return height * width; }
  int64_t boxes() const { return cells() * anchors; }
};

template <typename T>
T Cut(T v, T limit) {  // NaN stays
  v = v > limit ? limit : v;
  return v < 0 ? T(0) : v;
}

// The box that four predictions make of an anchor.
template <typename T>
void MoveAnchor(const T* anchor, const T* d, bool corners, T* box) {
  if (corners) {
    for (int k = 0; k < 4; ++k) box[k] = anchor[k] + d[k];
    return;
  }
  const T half = T(0.5), w = anchor[2] - anchor[0] + 1, h = anchor[3] - anchor[1] + 1;
  const T x = d[0] * w + (anchor[0] + half * (w - 1)), y = d[1] * h + (anchor[1] + half * (h - 1));
  const T new_w = std::exp(d[2]) * w, new_h = std::exp(d[3]) * h;
  box[0] = x - half * (new_w - 1), box[1] = y - half * (new_h - 1);
  box[2] = x + half * (new_w - 1), box[3] = y + half * (new_h - 1);
}

// Boxes and scores of an image: cell by cell, all anchors of each.
template <typename T>
void AllBoxes(const ProposalParam& p, const Map& m, const std::vector<float>& base, const T* prob, const T* pred, const T* info, T* boxes,
              T* scores) {
  const T stride = static_cast<T>(p.feature_stride), high = info[0], wide = info[1];
  const T rows = std::trunc(high / stride), columns = std::trunc(wide / stride), least = static_cast<T>(p.rpn_min_size) * info[2];
  ParallelFor(m.height, std::max<int64_t>(1, 1024 / (m.width * m.anchors + 1)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < m.width; ++j)
        for (int64_t k = 0; k < m.anchors; ++k) {
          const int64_t cell = i * m.width + j, at = cell * m.anchors + k;
          T anchor[4], d[4], *box = boxes + 4 * at;
          for (int c = 0; c < 4; ++c) {
            anchor[c] = static_cast<T>(base[4 * k + c]) + static_cast<T>(c % 2 ? i : j) * stride;
            d[c] = pred[(4 * k + c) * m.cells() + cell];
          }
          MoveAnchor(anchor, d, p.iou_loss, box);
          for (int c = 0; c < 4; ++c) box[c] = Cut(box[c], (c % 2 ? high : wide) - 1);
          T score = prob[(m.anchors + k) * m.cells() + cell];
          if (!(static_cast<T>(i) < rows && static_cast<T>(j) < columns)) score = -1;  // outside of the image
          if (box[2] - box[0] + 1 < least || box[3] - box[1] + 1 < least) {
            for (int c = 0; c < 4; ++c) box[c] += c < 2 ? -least / 2 : least / 2;
            score = -1;
          }
          scores[at] = score;
        }
  });
}

template <typename T>
struct ImageMemory {
  std::vector<T> boxes, scores, ranks;
  std::vector<int64_t> order, kept;
};

// `to`: rows (image, corners); `score_to` may be null.
template <typename T>
void ProposeForImage(KernelArgs& a, const Map& m, const std::vector<float>& base, int64_t image, ImageMemory<T>* memory) {
  const auto& p = a.param<ProposalParam>();
  ImageMemory<T>& w = *memory;
  const int64_t n = m.boxes(), post = p.rpn_post_nms_top_n;
  const int64_t pre = p.rpn_pre_nms_top_n > 0 ? std::min<int64_t>(p.rpn_pre_nms_top_n, n) : n;
  w.boxes.resize(4 * n), w.scores.resize(n), w.order.resize(pre), w.kept.resize(pre);
  AllBoxes(p, m, base, a.in[0].data<T>() + image * 2 * n, a.in[1].data<T>() + image * 4 * n, a.in[2].data<T>() + image * 3, w.boxes.data(),
           w.scores.data());
  w.ranks = w.scores;
  for (T& s : w.ranks)
    if (s != s) s = -std::numeric_limits<T>::infinity();
  OrderScores(w.ranks.data(), n, pre, false, w.order.data());
  BoxArrays<T> sorted(pre, false);
  for (int64_t i = 0; i < pre; ++i) {
    const T* box = &w.boxes[4 * w.order[i]];
    sorted.Put(i, box, kCorner);
    sorted.area(i) = (box[2] - box[0] + 1) * (box[3] - box[1] + 1);
  }
  NmsRule rule;
  rule.threshold = p.threshold, rule.extent = 1;
  const int64_t count = SuppressGreedily(sorted, pre, rule, post, w.kept.data());
  for (int64_t i = 0; i < post; ++i) {  // what is missing is filled up with the same again
    const int64_t at = count > 0 ? w.order[w.kept[i % count]] : -1;
    if (nn::Wanted(a, 0)) {
      T* row = a.out[0].data<T>() + (image * post + i) * 5;
      row[0] = static_cast<T>(image);
      for (int c = 0; c < 4; ++c) row[c + 1] = at < 0 ? T(0) : w.boxes[4 * at + c];
    }
    if (nn::Wanted(a, 1)) a.out[1].data<T>()[image * post + i] = at < 0 ? T(0) : w.scores[at];
  }
}

void Propose(KernelArgs& args) {
  if (args.out[0].Size() == 0) return;
  const auto& p = args.param<ProposalParam>();
  const Shape& prob = args.in[0].shape;
  const Map m{prob[0], p.anchors(), prob[2], prob[3]};
  const std::vector<float> base = BaseAnchors(p);
  if (args.run.ctx.is_gpu()) {
    const int64_t pre = p.rpn_pre_nms_top_n > 0 ? std::min<int64_t>(p.rpn_pre_nms_top_n, m.boxes()) : m.boxes();
    return ProposeOnDevice(args, base, {pre, p.rpn_post_nms_top_n, p.threshold, p.rpn_min_size, p.feature_stride, p.iou_loss});
  }
  nn::RunReal(args, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    ParallelFor(m.batch, 1, [&](int64_t begin, int64_t end) {
      ImageMemory<T> memory;
      for (int64_t b = begin; b < end; ++b) ProposeForImage(a, m, base, b, &memory);
    });
  });
}

template <bool kMulti>
bool ProposalShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<ProposalParam>();
  const std::string op = nn::Named(attrs);
  MXNET_CHECK_KIND(p.anchors() > 0, Value) << op << "scales=" << p.scales << ", ratios=" << p.ratios << "; at least one of each is needed";
  MXNET_CHECK_KIND(p.feature_stride > 0, Value) << op << "feature_stride=" << p.feature_stride << "; it must be above 0";
  MXNET_CHECK_KIND(p.rpn_post_nms_top_n >= 0, Value) << op << "rpn_post_nms_top_n=" << p.rpn_post_nms_top_n << "; it must not be negative";
  const Shape& prob = (*in)[0];
  if (!prob.ndim_known()) return false;
  MXNET_CHECK_KIND(prob.ndim() == 4, Value) << op << "cls_prob has shape " << prob << "; (batch, 2 * anchors, height, width) is needed";
  MXNET_CHECK_KIND(kMulti || prob[0] == 1 || prob[0] < 0, Value)
      << op << "cls_prob has shape " << prob << "; the batch must be 1 (MultiProposal takes more)";
  MXNET_CHECK_KIND(prob[1] == 2 * p.anchors() || prob[1] < 0, Value)
      << op << "cls_prob has shape " << prob << "; " << p.anchors() << " anchors (scales and ratios) need " << 2 * p.anchors()
      << " channels";
  AssignShape(attrs, "bbox_pred", &(*in)[1], Shape{prob[0], 4 * p.anchors(), prob[2], prob[3]});
  AssignShape(attrs, "im_info", &(*in)[2], Shape{prob[0], 3});
  const int64_t rows = prob[0] < 0 ? Shape::kUnknownDim : prob[0] * p.rpn_post_nms_top_n;
  AssignShape(attrs, "output", &(*out)[0], Shape{rows, 5});
  AssignShape(attrs, "score", &(*out)[1], Shape{rows, 1});
  return prob.known();
}

void Register(const char* name, const std::string& batch, bool multi) {
  Op::Register(name)
      .describe(
          "Regions of interest from the predictions of a region proposal network.\n\n"
          "cls_prob has shape (batch, 2 * anchors, height, width), scores of background and then of foreground of each anchor; bbox_pred "
          "(batch, 4 * anchors, height, width); im_info (batch, 3) holds height, width and scale of each image. " +
          batch +
          " The result has shape (batch * rpn_post_nms_top_n, 5): the number of the image and corners in pixels; with output_score also "
          "the scores (batch * rpn_post_nms_top_n, 1).\n"
          "Anchors are moved and scaled by the predictions and cut at the border of the image. The best rpn_pre_nms_top_n of them go "
          "through non-maximum suppression, and what stays is repeated if it is less than rpn_post_nms_top_n. Too small boxes, which are "
          "enlarged, and cells outside of the image have score -1; NaN scores rank last. The gradient is 0. float16, bfloat16, float32 and "
          "float64.\n"
          "Ren et al., \"Faster R-CNN: Towards Real-Time Object Detection with Region Proposal Networks\", NIPS 2015.")
      .set_param<ProposalParam>()
      .set_inputs({"cls_prob", "bbox_pred", "im_info"})
      .set_outputs({"output", "score"}, nullptr, [](const Attrs& a) { return a.get<ProposalParam>().output_score ? 2 : 1; })
      .set_infer_shape(multi ? ProposalShape<true> : ProposalShape<false>)
      .set_dtypes(dtypes::kFloats)
      .set_zero_gradient()
      .set_kernel(Propose);
}

[[maybe_unused]] const bool registered = [] {
  Register("_contrib_Proposal", "The batch is 1.", false);
  Register("_contrib_MultiProposal", "There is no limit to the batch.", true);
  return true;
}();

}  // namespace
}  // namespace boxes
}  // namespace mxnet
