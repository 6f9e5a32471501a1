#include "operator/vision/roi/deformable_psroi_twice.h"

#include <string>

#include "operator/control/written_out.h"

namespace mxnet {
namespace roi {
namespace {

using written::Add;
using written::Concat;
using written::Less;
using written::Number;
using written::Op2;
using written::Places;
using written::Reshape;
using written::Slice;
using written::Times;
using written::Where;

NodeEntry Op1(const char* op, const NodeEntry& x) { return MakeOp(op, {x}); }

/* x's `parts` along `axis` for each of `bins`: part bin * parts / bins. */
NodeEntry ByBin(const NodeEntry& x, int axis, int64_t parts, int64_t bins) {
  std::vector<NodeEntry> taken;
  for (int64_t b = 0; b < bins; ++b) taken.push_back(Slice(x, axis, b * parts / bins, b * parts / bins + 1));
  return Concat(taken, axis);
}

/* One coordinate of the points: dimensions are regions, channels, bins by y and x, samples by y and
 * x, of which some are 1. */
struct Coordinate {
  NodeEntry in;        // 1 within the image, else 0
  NodeEntry pixel[2];  // on both sides; the same twice where the point is on a pixel
  NodeEntry weight[2];
};

struct Maker {
  const DeformPoolWrittenOut& how;
  const NodeEntry &data, &rois;
  NodeEntry trans;  // (regions, channels, 2, bins, bins); null: none

  NodeEntry Count(int64_t n, const char* shape) const {  // 0 to n - 1, in the dtype of rois
    const NodeEntry one = Slice(Places(rois, 1, "(-1)"), 0, 0, 1);
    return Places(MakeOp("tile", {one}, {{"reps", "(" + std::to_string(n) + ",)"}}), 0, shape);
  }
  /* The group of each bin; half a step more, so that no quotient is rounded to the group before. */
  NodeEntry Groups(const char* shape) const {
    const NodeEntry steps = Number("_plus_scalar", Number("_mul_scalar", Count(how.bins, shape), static_cast<double>(how.groups)), 0.5);
    return Op1("floor", Number("_div_scalar", steps, static_cast<double>(how.bins)));
  }

  /* `y`: the one along the height, else the one along the width. */
  Coordinate Of(bool y) const {
    auto corner = [&](int place, double more) {  // of the regions
      const NodeEntry rounded = Op1("round", Reshape(Slice(rois, 1, place, place + 1), "(-1, 1, 1, 1, 1, 1)"));
      return Number("_minus_scalar", Number("_mul_scalar", Number("_plus_scalar", rounded, more), how.scale), 0.5);
    };
    const NodeEntry first = corner(y ? 2 : 1, 0);
    const NodeEntry size = Number("_maximum_scalar", Less(corner(y ? 4 : 3, 1), first), 0.1);
    const NodeEntry bin = Number("_div_scalar", size, static_cast<double>(how.bins));
    const NodeEntry bins = Count(how.bins, y ? "(1, 1, -1, 1, 1, 1)" : "(1, 1, 1, -1, 1, 1)");
    const NodeEntry samples =
        Number("_div_scalar", Count(how.samples, y ? "(1, 1, 1, 1, -1, 1)" : "(1, 1, 1, 1, 1, -1)"), static_cast<double>(how.samples));
    NodeEntry at = Add(first, Times(Add(bins, samples), bin));
    if (trans) {
      const NodeEntry moved = Reshape(Slice(trans, 2, y ? 1 : 0, y ? 2 : 1), "(0, 0, -3, 0, 1, 1)");
      at = Add(at, Times(Number("_mul_scalar", moved, how.trans_std), size));
    }
    const NodeEntry last = Reshape(Op1("max", Places(data, y ? 2 : 3, "(-1)")), "(1, 1, 1, 1, 1, 1)");
    Coordinate c;
    c.in = Times(Number("_greater_equal_scalar", at, -0.5), Op2("broadcast_lesser_equal", at, Number("_plus_scalar", last, 0.5)));
    at = Where(c.in, at, Op1("zeros_like", at));
    at = Op2("broadcast_minimum", Number("_maximum_scalar", at, 0), last);
    c.pixel[0] = Op1("floor", at), c.pixel[1] = Op1("ceil", at);
    c.weight[1] = Less(at, c.pixel[0]), c.weight[0] = Number("_rminus_scalar", c.weight[1], 1);
    return c;
  }
};

/* (regions, 2 * classes, parts, parts) -> (regions, channels, 2, bins, bins): channel c belongs to
 * class c * classes / channels. */
NodeEntry OffsetsOf(const DeformPoolWrittenOut& how, const NodeEntry& trans) {
  const NodeEntry classes = Reshape(trans, "(0, -4, -1, 2, -2)");
  const NodeEntry most = Number("_plus_scalar", Op1("max", Places(classes, 1, "(-1)")), 1);
  const NodeEntry channel = MakeOp("tile", {Reshape(most, "(1)")}, {{"reps", "(" + std::to_string(how.channels) + ",)"}});
  // half a channel more: no quotient is rounded to the class before
  const NodeEntry exact =
      Number("_div_scalar", Times(Number("_plus_scalar", Places(channel, 0, "(-1)"), 0.5), channel), static_cast<double>(how.channels));
  const NodeEntry of_channels = MakeOp("take", {classes, Op1("BlockGrad", Op1("floor", exact))}, {{"axis", "1"}});
  return ByBin(ByBin(of_channels, 3, how.parts, how.bins), 4, how.parts, how.bins);
}

}  // namespace

NodeEntry WriteOutDeformPool(const DeformPoolWrittenOut& how, const std::vector<NodeEntry>& inputs) {
  const NodeEntry &data = inputs[0], rois = Op1("BlockGrad", inputs[1]);
  const Maker make{how, data, rois, how.no_trans ? NodeEntry() : OffsetsOf(how, inputs[2])};
  const Coordinate y = make.Of(true), x = make.Of(false);
  // regions of images that there are
  const NodeEntry image = Reshape(Slice(rois, 1, 0, 1), "(-1, 1, 1, 1, 1, 1)");
  const NodeEntry last = Reshape(Op1("max", Places(data, 0, "(-1)")), "(1, 1, 1, 1, 1, 1)");
  const NodeEntry there = Times(Number("_greater_scalar", image, -1), Op2("broadcast_lesser", image, Number("_plus_scalar", last, 1)));
  const NodeEntry of = Op1("trunc", Where(there, image, Op1("zeros_like", image)));
  const NodeEntry channel = make.Count(how.channels, "(1, -1, 1, 1, 1, 1)");
  const NodeEntry in = Times(Times(there, Times(y.in, x.in)), Op1("ones_like", channel));  // every dimension in full
  auto full = [&](const NodeEntry& e) { return Op1("BlockGrad", Op2("broadcast_like", e, in)); };
  const NodeEntry down = make.Groups("(1, 1, -1, 1, 1, 1)"), right = make.Groups("(1, 1, 1, -1, 1, 1)");
  // (batch, channels, groups, groups, height, width)
  const std::string channels = std::to_string(how.channels), groups = std::to_string(how.groups);
  const NodeEntry by_channel = Reshape(data, ("(0, -4, " + channels + ", -1, -2)").c_str());
  const NodeEntry planes = Reshape(by_channel, ("(0, 0, -4, " + groups + ", " + groups + ", -2)").c_str());
  NodeEntry sum;
  for (int corner = 0; corner < 4; ++corner) {
    const int a = corner / 2, b = corner % 2;
    const NodeEntry at = MakeOp("stack", {full(of), full(channel), full(down), full(right), full(y.pixel[a]), full(x.pixel[b])},
                                {{"num_args", "6"}, {"axis", "0"}});
    const NodeEntry part = Times(Op2("gather_nd", planes, at), Times(Times(y.weight[a], x.weight[b]), in));
    sum = sum ? Add(sum, part) : part;
  }
  const AttrDict samples = {{"axis", "(4, 5)"}};
  const NodeEntry count = Number("_maximum_scalar", MakeOp("sum", {in}, samples), 1);
  return Op2("broadcast_div", MakeOp("sum", {sum}, samples), count);
}

}  // namespace roi
}  // namespace mxnet
