// Non-maximum suppression of boxes with scores, and its gradient.
#include <algorithm>
#include <cstring>

#include "mxnet/op.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/vision/boxes/boxes.h"
#include "operator/vision/boxes/gpu_boxes.h"

namespace mxnet {
namespace boxes {

struct BoxNmsParam : public Parameter<BoxNmsParam> {
  float overlap_thresh, valid_thresh;
  int topk, coord_start, score_index, id_index, background_id;
  bool force_suppress;
  int in_format, out_format;
  MXNET_DECLARE_PARAM(BoxNmsParam) {
    MXNET_FIELD(overlap_thresh).set_default(0.5f).describe("A box is dropped when a better one overlaps it by more than this.");
    MXNET_FIELD(valid_thresh).set_default(0.0f).describe("Boxes whose score is not above this are dropped.");
    MXNET_FIELD(topk).set_default(-1).describe(
        "How many of the best boxes take part, the others are dropped; negative: all; 0: the result is data.");
    MXNET_FIELD(coord_start).set_default(2).describe("Where the four numbers of the box begin in an entry.");
    MXNET_FIELD(score_index).set_default(1).describe("Where the score stands in an entry.");
    MXNET_FIELD(id_index).set_default(-1).describe("Where the class stands in an entry; negative: there is none.");
    MXNET_FIELD(background_id).set_default(-1).describe("Boxes of this class are dropped, where entries have a class.");
    MXNET_FIELD(force_suppress).set_default(false).describe("Boxes of different classes suppress each other, too.");
    MXNET_FIELD(in_format)
        .add_enum("corner", static_cast<int>(kCorner))
        .add_enum("center", static_cast<int>(kCenter))
        .set_default(static_cast<int>(kCorner))
        .describe("corner: boxes are (left, top, right, bottom); center: (x, y, width, height).");
    MXNET_FIELD(out_format)
        .add_enum("corner", static_cast<int>(kCorner))
        .add_enum("center", static_cast<int>(kCenter))
        .set_default(static_cast<int>(kCorner))
        .describe("Format of the boxes in the result.");
  }
};
MXNET_REGISTER_PARAM(BoxNmsParam);

namespace {

NmsLayout LayoutOf(const BoxNmsParam& p, const Shape& data) {
  NmsLayout l;
  const int n = data.ndim();
  l.batch = data.Prod(0, n - 2), l.boxes = data[n - 2], l.width = data[n - 1];
  l.take = p.topk < 0 ? l.boxes : std::min<int64_t>(p.topk, l.boxes);
  l.score = p.score_index, l.coord = p.coord_start, l.id = p.id_index < 0 ? -1 : p.id_index;
  l.background = p.background_id, l.threshold = p.overlap_thresh, l.least_score = p.valid_thresh;
  l.by_class = l.id >= 0 && !p.force_suppress;
  l.in_format = p.in_format, l.out_format = p.out_format;
  return l;
}

// One image: the positions of what is kept, best first. Returns how many.
template <typename T>
int64_t KeepBoxes(const NmsLayout& l, const T* data, std::vector<int64_t>* kept) {
  std::vector<int64_t> valid;
  std::vector<T> scores;
  for (int64_t i = 0; i < l.boxes; ++i) {
    const T* box = data + i * l.width;
    if (!(box[l.score] > static_cast<T>(l.least_score))) continue;
    if (l.id >= 0 && box[l.id] == static_cast<T>(l.background)) continue;
    valid.push_back(i);
    scores.push_back(box[l.score]);
  }
  const int64_t found = static_cast<int64_t>(valid.size()), take = std::min(found, l.take);
  std::vector<int64_t> order(take);
  OrderScores(scores.data(), found, take, false, order.data());
  BoxArrays<T> sorted(take, l.by_class);
  for (int64_t i = 0; i < take; ++i) {
    order[i] = valid[order[i]];
    const T* box = data + order[i] * l.width;
    sorted.Put(i, box + l.coord, l.in_format);
    if (l.by_class) sorted.id(i) = WholeId(box[l.id]);
  }
  NmsRule rule;
  rule.threshold = l.threshold;
  kept->resize(take);
  const int64_t count = SuppressGreedily(sorted, take, rule, take, kept->data());
  for (int64_t i = 0; i < count; ++i) (*kept)[i] = order[(*kept)[i]];
  return count;
}

// `from`: null or where entry i of the result stands in data, -1 where it is empty.
template <typename T>
void NmsOnCpu(KernelArgs& a, const NmsLayout& l) {
  const T* data = a.in[0].data<T>();
  T* out = a.out[0].data<T>();
  int64_t* from = nn::Wanted(a, 1) ? a.out[1].data<int64_t>() : nullptr;
  if (!nn::Wanted(a, 0)) return;
  const int64_t image = l.boxes * l.width, grain = std::max<int64_t>(1, 2000 / l.boxes);
  ParallelFor(l.batch, grain, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> kept;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t count = KeepBoxes(l, data + b * image, &kept);
      T* to = out + b * image;
      for (int64_t i = 0; i < count; ++i) {
        const T* box = data + b * image + kept[i] * l.width;
        std::copy(box, box + l.width, to + i * l.width);
        ConvertBox(to + i * l.width + l.coord, l.in_format, l.out_format);
      }
      std::fill(to + count * l.width, to + image, T(-1));
      if (!from) continue;
      std::copy(kept.begin(), kept.begin() + count, from + b * l.boxes);
      std::fill(from + b * l.boxes + count, from + (b + 1) * l.boxes, int64_t{-1});
    }
  });
}

void Nms(KernelArgs& args) {
  if (args.in[0].Size() == 0) return;
  const auto& p = args.param<BoxNmsParam>();
  const NmsLayout l = LayoutOf(p, args.in[0].shape);
  if (args.run.ctx.is_gpu()) return NmsOnDevice(args, l, p.topk == 0);
  if (p.topk == 0) {  // nothing takes part, and data stays as it is
    if (nn::Wanted(args, 0)) std::memcpy(args.out[0].dptr, args.in[0].dptr, args.in[0].Bytes());
    if (nn::Wanted(args, 1))
      for (int64_t i = 0; i < args.out[1].Size(); ++i) args.out[1].data<int64_t>()[i] = i % l.boxes;
    return;
  }
  nn::RunReal(args, [&l](KernelArgs& a, auto number) { NmsOnCpu<decltype(number)>(a, l); });
}

// (values, from) -> rows of values moved to where they come from (kBack), or fetched from there.
template <bool kBack>
void MoveRows(KernelArgs& args) {
  if (!nn::Wanted(args, 0) || args.out[0].Size() == 0) return;
  const Shape& s = args.out[0].shape;
  const int n = s.ndim();
  const int64_t batch = s.Prod(0, n - 2), boxes = s[n - 2];
  if (args.run.ctx.is_gpu()) return MoveRowsOnDevice(args, kBack, boxes, s[n - 1]);
  const size_t bytes = static_cast<size_t>(s[n - 1]) * DTypeSize(args.out[0].dtype);
  const char* values = static_cast<const char*>(args.in[0].dptr);
  char* out = static_cast<char*>(args.out[0].dptr);
  const int64_t* from = args.in[1].data<int64_t>();
  std::memset(out, 0, args.out[0].Bytes());
  ParallelFor(batch, std::max<int64_t>(1, 4096 / boxes), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      for (int64_t i = b * boxes; i < (b + 1) * boxes; ++i) {
        if (from[i] < 0 || from[i] >= boxes) continue;
        const int64_t there = b * boxes + from[i];
        std::memcpy(out + (kBack ? there : i) * bytes, values + (kBack ? i : there) * bytes, bytes);
      }
  });
}

void CheckPlace(const Attrs& attrs, const char* name, int place, int64_t width, int coord) {
  MXNET_CHECK_KIND(place >= 0 && place < width, Value)
      << nn::Named(attrs) << name << "=" << place << "; an entry of data has places 0 to " << width - 1;
  MXNET_CHECK_KIND(place < coord || place > coord + 3, Value)
      << nn::Named(attrs) << name << "=" << place << " stands inside the box, which takes places " << coord << " to " << coord + 3;
}

Shape PositionsShape(const Shape& data) {
  std::vector<int64_t> dims;
  for (int i = 0; i + 1 < data.ndim(); ++i) dims.push_back(data[i]);
  return Shape(dims);
}

bool NmsShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "data", &(*in)[0], (*out)[0]);
  const Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int n = data.ndim();
  MXNET_CHECK_KIND(n >= 2, Value) << nn::Named(attrs) << "data has shape " << data << "; (..., boxes, width) is needed";
  const auto& p = attrs.get<BoxNmsParam>();
  const int64_t width = data[n - 1];
  if (width >= 0) {
    MXNET_CHECK_KIND(p.coord_start >= 0 && int64_t{p.coord_start} + 4 <= width, Value)
        << nn::Named(attrs) << "coord_start=" << p.coord_start << "; the 4 numbers of a box must lie within the " << width
        << " places of an entry of data " << data;
    CheckPlace(attrs, "score_index", p.score_index, width, p.coord_start);
    if (p.id_index >= 0) {
      CheckPlace(attrs, "id_index", p.id_index, width, p.coord_start);
      MXNET_CHECK_KIND(p.id_index != p.score_index, Value)
          << nn::Named(attrs) << "id_index and score_index are both " << p.id_index << "; they must differ";
    }
  }
  AssignShape(attrs, "the positions", &(*out)[1], PositionsShape(data));
  return data.known();
}

bool NmsType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "data", &(*in)[0], (*out)[0]);
  AssignType(attrs, "the positions", &(*out)[1], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

bool MoveShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  AssignShape(attrs, "output", &(*out)[0], (*in)[0]);
  AssignShape(attrs, "values", &(*in)[0], (*out)[0]);
  const Shape& values = (*in)[0];
  if (!values.ndim_known()) return false;
  MXNET_CHECK_KIND(values.ndim() >= 2, Value) << nn::Named(attrs) << "values has shape " << values << "; (..., boxes, width) is needed";
  AssignShape(attrs, "the positions", &(*in)[1], PositionsShape(values));
  return values.known();
}

bool MoveType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  AssignType(attrs, "output", &(*out)[0], (*in)[0]);
  AssignType(attrs, "values", &(*in)[0], (*out)[0]);
  AssignType(attrs, "the positions", &(*in)[1], kInt64);
  return (*in)[0] != kDTypeUnknown;
}

MXNET_REGISTER_OP(_contrib_box_nms)
    .describe(
        "Non-maximum suppression: of boxes that overlap, only the one of the highest score stays.\n\n"
        "data has shape (..., boxes, width). Each entry of the last dimension holds a score, the four numbers of a box and maybe a class, "
        "at places that the arguments tell; what else it holds goes along.\n"
        "Boxes are taken in the order of falling scores, equal ones in the order of data. One stays if no better one that stayed, of its "
        "class, overlaps it by more than overlap_thresh; the overlap is the area of the intersection over that of the union. Classes are "
        "compared without their fractions.\n"
        "The result has the shape of data: the boxes that stayed, best first, and behind them entries of -1. NaN scores are dropped, and a "
        "box with a NaN coordinate overlaps nothing.\n"
        "The gradient of each entry goes to the entry of data that it came from, unchanged also where the formats differ. float16, "
        "bfloat16, float32 and float64.")
    .alias("_contrib_box_non_maximum_suppression")
    .alias("_npx_box_nms")
    .set_param<BoxNmsParam>()
    .set_inputs({"data"})
    .set_outputs({"output0", "output1"}, nullptr, [](const Attrs&) { return 1; })
    .set_infer_shape(NmsShape)
    .set_infer_type(NmsType)
    .set_dtypes(dtypes::kFloats)
    .set_expensive_to_recompute()
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_backward_contrib_box_nms", {ograds[0], NodeEntry{node, 1, 0}})};
    })
    .set_kernel(Nms);

MXNET_REGISTER_OP(_backward_contrib_box_nms)
    .describe("Gradient of box_nms: each row of values goes to the place in data that it came from; the others are 0.")
    .set_inputs({"values", "positions"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(MoveShape)
    .set_infer_type(MoveType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_backward_backward_contrib_box_nms", {ograds[0], node->inputs[1]}), NodeEntry{}};
    })
    .set_kernel(MoveRows<true>);

MXNET_REGISTER_OP(_backward_backward_contrib_box_nms)
    .describe("Rows of values at the places that box_nms kept; 0 where it kept none.")
    .set_inputs({"values", "positions"})
    .set_dtypes(dtypes::kAll)
    .set_infer_shape(MoveShape)
    .set_infer_type(MoveType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      return std::vector<NodeEntry>{MakeOp("_backward_contrib_box_nms", {ograds[0], node->inputs[1]}), NodeEntry{}};
    })
    .set_kernel(MoveRows<false>);

}  // namespace
}  // namespace boxes
}  // namespace mxnet
