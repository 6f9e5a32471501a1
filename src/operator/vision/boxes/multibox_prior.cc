// Anchors of the single shot detector (Liu et al., "SSD: Single Shot MultiBox Detector", ECCV
// 2016).
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

struct MultiBoxPriorParam : public Parameter<MultiBoxPriorParam> {
  Tuple<float> sizes, ratios;
  bool clip;
  Tuple<float> steps, offsets;
  MXNET_DECLARE_PARAM(MultiBoxPriorParam) {
    MXNET_FIELD(sizes).set_default({1.0f}).describe("Sizes of anchors; 1 is the height of the image.");
    MXNET_FIELD(ratios).set_default({1.0f}).describe("Ratios of width to height.");
    MXNET_FIELD(clip).set_default(false).describe("Cut coordinates to [0, 1].");
    MXNET_FIELD(steps).set_default({-1.0f, -1.0f}).describe("Distances of centers in y and x; not above 0: 1 / height, 1 / width.");
    MXNET_FIELD(offsets).set_default({0.5f, 0.5f}).describe("Where centers lie in a cell, in y and x.");
  }
};
MXNET_REGISTER_PARAM(MultiBoxPriorParam);

namespace {

// Half widths and heights of the anchors of a cell: all sizes with the first ratio, then the first
// size with the other ratios. Then where centers begin and how far apart they are, in y and x.
template <typename T>
std::vector<T> PriorTable(const MultiBoxPriorParam& p, int64_t height, int64_t width) {
  std::vector<T> t;
  const T h = static_cast<T>(height), w = static_cast<T>(width);
  auto put = [&](float size, float ratio) {
    const T s = static_cast<T>(size), root = std::sqrt(static_cast<T>(ratio));
    t.push_back(s * h / w * root / 2);
    t.push_back(s / root / 2);
  };
  for (float size : p.sizes.values) put(size, p.ratios[0]);
  for (int i = 1; i < p.ratios.size(); ++i) put(p.sizes[0], p.ratios[i]);
  const bool own = p.steps[0] > 0 && p.steps[1] > 0;
  for (int i = 0; i < 2; ++i) {
    t.push_back(static_cast<T>(p.offsets[i]));
    t.push_back(own ? static_cast<T>(p.steps[i]) : 1 / (i ? w : h));
  }
  return t;
}

template <typename T>
void PriorOnCpu(const std::vector<T>& table, int64_t height, int64_t width, bool clip, T* out) {
  const int64_t each = static_cast<int64_t>(table.size()) / 2 - 2;
  const T* centers = table.data() + 2 * each;
  ParallelFor(height, std::max<int64_t>(1, 4096 / (width * each)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < width; ++j) {
        const T y = (static_cast<T>(i) + centers[0]) * centers[1], x = (static_cast<T>(j) + centers[2]) * centers[3];
        for (int64_t k = 0; k < each; ++k) {
          const T w = table[2 * k], h = table[2 * k + 1], box[4] = {x - w, y - h, x + w, y + h};
          T* to = out + ((i * width + j) * each + k) * 4;
          for (int c = 0; c < 4; ++c) to[c] = clip ? std::min(std::max(box[c], T(0)), T(1)) : box[c];
        }
      }
  });
}

void Prior(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const auto& p = args.param<MultiBoxPriorParam>();
  const int64_t height = args.in[0].shape[2], width = args.in[0].shape[3];
  KernelArgs alone = args;  // data is there for its shape
  alone.in = args.out;
  nn::RunReal(alone, [&](KernelArgs& a, auto number) {
    using T = decltype(number);
    const std::vector<T> table = PriorTable<T>(p, height, width);
    if (a.run.ctx.is_gpu()) return PriorOnDevice(a, std::vector<double>(table.begin(), table.end()), width, p.clip);
    PriorOnCpu(table, height, width, p.clip, a.out[0].data<T>());
  });
}

bool PriorShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<MultiBoxPriorParam>();
  const std::string op = nn::Named(attrs);
  MXNET_CHECK_KIND(p.sizes.size() > 0, Value) << op << "sizes=" << p.sizes << "; at least one is needed";
  MXNET_CHECK_KIND(p.ratios.size() > 0, Value) << op << "ratios=" << p.ratios << "; at least one is needed";
  MXNET_CHECK_KIND(p.steps.size() == 2, Value) << op << "steps=" << p.steps << "; one for y and one for x are needed";
  MXNET_CHECK_KIND(p.offsets.size() == 2, Value) << op << "offsets=" << p.offsets << "; one for y and one for x are needed";
  for (const Tuple<float>* numbers : {&p.sizes, &p.ratios, &p.steps, &p.offsets})
    for (const float v : numbers->values)
      MXNET_CHECK_KIND(std::isfinite(v), Value) << op << "sizes=" << p.sizes << ", ratios=" << p.ratios << ", steps=" << p.steps
                                                << ", offsets=" << p.offsets << "; all must be finite";
  MXNET_CHECK_KIND(p.steps[0] * p.steps[1] >= 0, Value) << op << "steps=" << p.steps << "; both or none must be above 0";
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(data.ndim() >= 4, Value) << op << "data has shape " << data << "; (batch, channels, height, width) is needed";
  const bool known = data[2] >= 0 && data[3] >= 0;
  const int64_t each = p.sizes.size() + p.ratios.size() - 1;
  AssignShape(attrs, "output", &(*out)[0], Shape{1, known ? data[2] * data[3] * each : Shape::kUnknownDim, 4});
  return data.known();
}

MXNET_REGISTER_OP(_contrib_MultiBoxPrior)
    .describe(
        "Anchors of the single shot detector: boxes of several sizes and ratios around each cell of a map of features.\n\n"
        "data has shape (batch, channels, height, width), of which height and width matter. The result has shape (1, height * width * n, "
        "4), where n is the number of sizes and ratios less one: of each cell, row by row, all sizes with the first ratio, then the first "
        "size with the other ratios. Corners are fractions of the image's width and height. A box of size s and ratio r is s / sqrt(r) of "
        "the image's height high, and r times as wide if cells are squares. The gradient is 0. float16, bfloat16, "
        "float32 and float64.\n"
        "Liu et al., \"SSD: Single Shot MultiBox Detector\", ECCV 2016.")
    .alias("_npx_multibox_prior")
    .set_param<MultiBoxPriorParam>()
    .set_inputs({"data"})
    .set_infer_shape(PriorShape)
    .set_precision(Precision::kFull)
    .set_dtypes(dtypes::kFloats)
    .set_shape_only_from(0)
    .set_zero_gradient()
    .set_kernel(Prior);

}  // namespace
}  // namespace boxes
}  // namespace mxnet
