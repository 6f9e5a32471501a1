// Boxes relative to anchors: offsets of the center in units of the anchor's size and logarithms of
// the ratios of sizes (Girshick et al., "Rich feature hierarchies for accurate object detection",
// CVPR 2014, appendix C).
#include <algorithm>
#include <cmath>
#include <cstring>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/vision/boxes/boxes.h"
#include "operator/vision/boxes/gpu_boxes.h"

namespace mxnet {
namespace boxes {

struct BoxDecodeParam : public Parameter<BoxDecodeParam> {
  float std0, std1, std2, std3, clip;
  int format;
  MXNET_DECLARE_PARAM(BoxDecodeParam) {
    MXNET_FIELD(std0).set_default(1.0f).describe("Factor of the offset in x.");
    MXNET_FIELD(std1).set_default(1.0f).describe("Factor of the offset in y.");
    MXNET_FIELD(std2).set_default(1.0f).describe("Factor of the logarithm of the width.");
    MXNET_FIELD(std3).set_default(1.0f).describe("Factor of the logarithm of the height.");
    MXNET_FIELD(clip).set_default(-1.0f).describe("Upper limit of the logarithms; none if not above 0.");
    MXNET_FIELD(format)
        .add_enum("corner", static_cast<int>(kCorner))
        .add_enum("center", static_cast<int>(kCenter))
        .set_default(static_cast<int>(kCenter))
        .describe("Format of anchors: (left, top, right, bottom) or (x, y, width, height).");
  }
};
MXNET_REGISTER_PARAM(BoxDecodeParam);

namespace {

enum EncodeInput : int { kSamples, kMatches, kAnchors, kRefs, kMeans, kStds };

// Center and size from corners. 1.x gives the same bits.
template <typename T>
void CenterOf(const T* corners, T* box) {
  box[2] = corners[2] - corners[0], box[3] = corners[3] - corners[1];
  box[0] = corners[0] + box[2] / 2, box[1] = corners[1] + box[3] / 2;
}

template <typename T>
void EncodeOnCpu(KernelArgs& a) {
  const int64_t batch = a.in[kSamples].shape[0], n = a.in[kSamples].shape[1], refs = a.in[kRefs].shape[1];
  const T *samples = a.in[kSamples].data<T>(), *matches = a.in[kMatches].data<T>(), *anchors = a.in[kAnchors].data<T>(),
          *ref = a.in[kRefs].data<T>(), *mean = a.in[kMeans].data<T>(), *std = a.in[kStds].data<T>();
  T *target = nn::Wanted(a, 0) ? a.out[0].data<T>() : nullptr, *mask = nn::Wanted(a, 1) ? a.out[1].data<T>() : nullptr;
  ParallelFor(batch * n, 4096, [=](int64_t begin, int64_t end) {
    const T* boxes = nullptr;  // of the sample that ends at `stop`
    for (int64_t i = begin, stop = begin; i < end; ++i) {
      if (i == stop) {
        boxes = ref + 4 * refs * (i / n);
        stop = (i / n + 1) * n;
      }
      const T match = std::trunc(matches[i]);
      const bool on = samples[i] > T(0.5) && match >= 0 && match < static_cast<T>(refs);
      T code[4] = {0, 0, 0, 0};
      if (on) {
        T own[4], other[4];
        CenterOf(anchors + 4 * i, own);
        CenterOf(boxes + 4 * static_cast<int64_t>(match), other);
        for (int k = 0; k < 2; ++k) {
          code[k] = ((other[k] - own[k]) / own[k + 2] - mean[k]) / std[k];
          const double ratio = static_cast<double>(other[k + 2] / own[k + 2]);
          code[k + 2] = static_cast<T>((std::log(ratio) - static_cast<double>(mean[k + 2])) / static_cast<double>(std[k + 2]));
        }
      }
      const T ones[4] = {T(on), T(on), T(on), T(on)};
      if (target) std::memcpy(target + 4 * i, code, sizeof(code));
      if (mask) std::memcpy(mask + 4 * i, ones, sizeof(ones));
    }
  });
}

void Encode(KernelArgs& args) {
  if (args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return EncodeOnDevice(args);
  nn::RunReal(args, [](KernelArgs& a, auto number) { EncodeOnCpu<decltype(number)>(a); });
}

bool EncodeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  for (int i : {kMeans, kStds}) AssignShape(attrs, i == kMeans ? "means" : "stds", &(*in)[i], Shape{4});
  AssignShape(attrs, "matches", &(*in)[kMatches], (*in)[kSamples]);
  AssignShape(attrs, "samples", &(*in)[kSamples], (*in)[kMatches]);
  const Shape& s = (*in)[kSamples];
  if (!s.ndim_known()) return false;
  MXNET_CHECK_KIND(s.ndim() == 2, Value) << nn::Named(attrs) << "samples has shape " << s << "; (batch, anchors) is needed";
  const Shape boxes{s[0], s[1], 4};
  AssignShape(attrs, "anchors", &(*in)[kAnchors], boxes);
  AssignShape(attrs, "refs", &(*in)[kRefs], Shape{s[0], Shape::kUnknownDim, 4});
  AssignShape(attrs, "output0", &(*out)[0], boxes);
  AssignShape(attrs, "output1", &(*out)[1], boxes);
  return s.known() && (*in)[kRefs].known();
}

template <typename T>
void DecodeOnCpu(KernelArgs& a) {
  const auto& p = a.param<BoxDecodeParam>();
  const int64_t n = a.in[0].shape[1], all = a.in[0].shape[0] * n;
  const T *data = a.in[0].data<T>(), *anchors = a.in[1].data<T>();
  T* out = a.out[0].data<T>();
  const T s0 = static_cast<T>(p.std0), s1 = static_cast<T>(p.std1), s2 = static_cast<T>(p.std2), s3 = static_cast<T>(p.std3),
          clip = static_cast<T>(p.clip);
  ParallelFor(all, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T center[4];
      const T* own = anchors + i % n * 4;
      if (p.format == kCorner) {
        CenterOf(own, center);
        own = center;
      }
      const T* d = data + 4 * i;
      const T x = d[0] * s0 * own[2] + own[0], y = d[1] * s1 * own[3] + own[1];
      T log_w = d[2] * s2, log_h = d[3] * s3;
      if (clip > 0) log_w = log_w > clip ? clip : log_w, log_h = log_h > clip ? clip : log_h;
      const T w = std::exp(log_w) * own[2] / 2, h = std::exp(log_h) * own[3] / 2;
      out[4 * i] = x - w, out[4 * i + 1] = y - h, out[4 * i + 2] = x + w, out[4 * i + 3] = y + h;
    }
  });
}

void Decode(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) {
    const auto& p = args.param<BoxDecodeParam>();
    return DecodeOnDevice(args, {{p.std0, p.std1, p.std2, p.std3}, p.clip, p.format});
  }
  nn::RunReal(args, [](KernelArgs& a, auto number) { DecodeOnCpu<decltype(number)>(a); });
}

bool DecodeShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape &data = (*in)[0], &anchors = (*in)[1];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() == 3, Value) << nn::Named(attrs) << "data has shape " << data << "; (batch, anchors, 4) is needed";
  CheckBoxShape(attrs, "data", data);
  if (!anchors.ndim_known()) AssignShape(attrs, "anchors", &(*in)[1], Shape{1, data[1], 4});
  MXNET_CHECK_KIND(anchors.ndim() >= 3, Value) << nn::Named(attrs) << "anchors has shape " << anchors << "; (1, anchors, 4) is needed";
  CheckBoxShape(attrs, "anchors", anchors);
  if (!data.known() || !anchors.known()) return false;
  MXNET_CHECK_KIND(anchors.Size() == data[1] * 4, Value)
      << nn::Named(attrs) << "anchors has shape " << anchors << "; data " << data << " needs (1, " << data[1] << ", 4)";
  return true;
}

MXNET_REGISTER_OP(_contrib_box_encode)
    .describe(
        "What a network has to predict so that its anchors become the boxes that they are matched with.\n\n"
        "samples (batch, anchors) chooses anchors by numbers above 0.5, matches (batch, anchors) tells the position of the box among refs "
        "(batch, boxes, 4); anchors (batch, anchors, 4) and refs are corners. For an anchor with center (x, y) and size (w, h) and a box "
        "(x', y', w', h') the first result, (batch, anchors, 4), holds (x' - x) / w, (y' - y) / h, log(w' / w) and log(h' / h), each less "
        "its mean and divided by its std. The second result is 1 for chosen anchors. All others have 0 in both, as have those whose match "
        "is no position in refs. There is no gradient. float16, bfloat16, float32 and float64.\n"
        "Girshick et al., \"Rich feature hierarchies for accurate object detection and semantic segmentation\", CVPR 2014.")
    .alias("_npx_box_encode")
    .set_inputs({"samples", "matches", "anchors", "refs", "means", "stds"})
    .set_outputs({"output0", "output1"})
    .set_infer_shape(EncodeShape)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(Encode);

MXNET_REGISTER_OP(_contrib_box_decode)
    .describe(
        "Boxes from what a network predicts for its anchors; the inverse of box_encode.\n\n"
        "data has shape (batch, anchors, 4), anchors (1, anchors, 4). Of d0 to d3, each times its std, the box has the center "
        "(d0 * w + x, d1 * h + y) and the size (exp(d2) * w, exp(d3) * h), where (x, y, w, h) is the anchor. The result holds corners. "
        "There is no gradient. float16, bfloat16, float32 and float64.\n"
        "Girshick et al., \"Rich feature hierarchies for accurate object detection and semantic segmentation\", CVPR 2014.")
    .alias("_npx_box_decode")
    .set_param<BoxDecodeParam>()
    .set_inputs({"data", "anchors"})
    .set_infer_shape(DecodeShape)
    .set_dtypes(dtypes::kFloats)
    .set_zero_gradient()
    .set_kernel(Decode);

}  // namespace
}  // namespace boxes
}  // namespace mxnet
