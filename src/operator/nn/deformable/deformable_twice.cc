#include "operator/nn/deformable/deformable_twice.h"

#include <string>

#include "operator/control/written_out.h"

namespace mxnet {
namespace nn {
namespace {

using written::Add;
using written::Less;
using written::Number;
using written::Op2;
using written::Places;
using written::Reshape;
using written::Times;
using written::Where;

/* One coordinate of the places that are sampled, (batch and group, taps, height, width). */
struct Coordinate {
  NodeEntry in;        // 1 within the image and its surroundings, else 0
  NodeEntry pixel[2];  // on both sides of the place, within the image
  NodeEntry weight[2];
};

/* `data`: the images; `axis` 2 or 3 of it. `offset`: from the window's places, `tap` the places in
 * the window. */
Coordinate CoordinateOf(const DeformCall& c, const NodeEntry& data, int axis, const NodeEntry& offset, const NodeEntry& tap) {
  const int i = axis - 2;
  const NodeEntry from = Places(offset, axis, i == 0 ? "(1, 1, -1, 1)" : "(1, 1, 1, -1)");
  const NodeEntry first =
      Number("_minus_scalar", Number("_mul_scalar", from, static_cast<double>(c.stride[i])), static_cast<double>(c.pad[i]));
  NodeEntry at = Add(offset, Add(first, Number("_mul_scalar", tap, static_cast<double>(c.dilate[i]))));
  const NodeEntry last = Reshape(MakeOp("max", {Places(data, axis, "(-1)")}), "(1, 1, 1, 1)");
  const bool nearest = c.beyond == Beyond::kNearest;
  Coordinate made;
  made.in = Times(Number(nearest ? "_greater_equal_scalar" : "_greater_scalar", at, nearest ? 0 : -1),
                  Op2("broadcast_lesser", at, Number("_plus_scalar", last, 1)));
  at = Where(made.in, at, MakeOp("zeros_like", {at}));
  if (nearest) at = Op2("broadcast_minimum", at, last);
  const NodeEntry before = MakeOp("floor", {at}), part = Less(at, before);
  for (int side = 0; side < 2; ++side) {
    const NodeEntry pixel = Number("_plus_scalar", before, side);
    made.pixel[side] = Op2("broadcast_minimum", Number("_maximum_scalar", pixel, 0), last);
    const NodeEntry exists = Op2("broadcast_equal", pixel, made.pixel[side]);
    made.weight[side] = Times(exists, side == 1 ? part : Number("_rminus_scalar", part, 1));
  }
  return made;
}

/* Bilinear samples of images (batch, height, width, channels): another dimension of channels
 * behind those of the coordinates. */
NodeEntry Sample(const NodeEntry& images, const Coordinate& y, const Coordinate& x, const NodeEntry& factor) {
  const NodeEntry batch = Op2("broadcast_like", Places(images, 0, "(-1, 1, 1, 1)"), y.in);
  NodeEntry sum;
  for (int corner = 0; corner < 4; ++corner) {
    const int down = corner / 2, right = corner % 2;
    const NodeEntry at = MakeOp("stack", {batch, y.pixel[down], x.pixel[right]}, {{"num_args", "3"}, {"axis", "0"}});
    const NodeEntry weight = Times(Times(y.weight[down], x.weight[right]), factor);
    const NodeEntry part = Times(Op2("gather_nd", images, at), MakeOp("expand_dims", {weight}, {{"axis", "4"}}));
    sum = sum ? Add(sum, part) : part;
  }
  return sum;
}

}  // namespace

NodeEntry WriteOutDeformable(const DeformCall& c, const std::vector<NodeEntry>& in, const NodeEntry& like) {
  const std::string own = std::to_string(c.deformable_groups), taps = std::to_string(c.taps());
  // (batch, groups with offsets x n, ...) -> (batch x groups, n, ...)
  auto by_group = [&](const NodeEntry& x) { return Reshape(Reshape(x, ("(0, -4, " + own + ", -1, -2)").c_str()), "(-3, -2)"); };
  const NodeEntry offsets = Reshape(by_group(in[1]), ("(0, -4, " + taps + ", 2, -2)").c_str());
  const NodeEntry split = MakeOp("SliceChannel", {offsets}, {{"num_outputs", "2"}, {"axis", "2"}, {"squeeze_axis", "1"}});
  const NodeEntry& weight = in[c.weight()];
  const NodeEntry tap = Places(Reshape(weight, "(0, 0, -1)"), 2, "(1, -1, 1, 1)");
  const NodeEntry row = MakeOp("floor", {Number("_div_scalar", tap, static_cast<double>(c.kernel[1]))});
  const NodeEntry column = Less(tap, Number("_mul_scalar", row, static_cast<double>(c.kernel[1])));
  const Coordinate y = CoordinateOf(c, in[0], 2, {split.node, 0, 0}, row), x = CoordinateOf(c, in[0], 3, {split.node, 1, 0}, column);
  NodeEntry factor = Times(y.in, x.in);
  if (c.masked) factor = Times(factor, by_group(in[2]));
  const NodeEntry images = MakeOp("transpose", {by_group(in[0])}, {{"axes", "(0, 2, 3, 1)"}});
  const NodeEntry sampled = MakeOp("transpose", {Sample(images, y, x, factor)}, {{"axes", "(0, 4, 1, 2, 3)"}});
  // (batch, channels, taps, places): a convolution over the taps is left
  const NodeEntry columns = Reshape(Reshape(Reshape(sampled, ("(-4, -1, " + own + ", -2)").c_str()), "(0, -3, -2)"), "(0, 0, 0, -3)");
  std::vector<NodeEntry> inputs = {columns, Reshape(weight, "(0, 0, -1, 1)")};
  if (!c.no_bias) inputs.push_back(in[c.weight() + 1]);
  const NodeEntry result = MakeOp("Convolution", inputs,
                                  {{"kernel", "(" + taps + ", 1)"},
                                   {"num_filter", std::to_string(c.filters)},
                                   {"num_group", std::to_string(c.groups)},
                                   {"no_bias", c.no_bias ? "1" : "0"}});
  return Op2("reshape_like", result, like);
}

}  // namespace nn
}  // namespace mxnet
