#include "operator/vision/spatial/sampler_twice.h"

#include <string>

#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace nn {
namespace {

NodeEntry Add(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
NodeEntry Less(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_sub", {a, b}); }
NodeEntry Times(const NodeEntry& a, const NodeEntry& b) { return MakeOp("broadcast_mul", {a, b}); }
NodeEntry Number(const char* op, const NodeEntry& x, double number) {
  return MakeOp(op, {x}, {{"scalar", ExactText(number)}, {"is_int", "0"}});
}

// x (0) or y (1) of a grid, which stays a dimension.
NodeEntry Coordinate(const NodeEntry& grid, int which) {
  return MakeOp("slice_axis", {grid}, {{"axis", "1"}, {"begin", std::to_string(which)}, {"end", std::to_string(which + 1)}});
}
NodeEntry Grid(const NodeEntry& x, const NodeEntry& y) { return MakeOp("Concat", {x, y}, {{"num_args", "2"}, {"dim", "1"}}); }

NodeEntry Sample(const NodeEntry& data, const NodeEntry& grid) { return MakeOp("BilinearSampler", {data, grid}); }
// Gradient 0 or 1: of the data or of the grid.
NodeEntry SampleBack(const NodeEntry& ograd, const NodeEntry& data, const NodeEntry& grid, uint32_t which) {
  return NodeEntry{MakeNode("_backward_BilinearSampler", {ograd, data, grid}), which, 0};
}

// The points of a grid moved to the pixels on either side of them, along one coordinate.
struct Neighbours {
  NodeEntry before, behind, pixels;  // pixels: per unit of the coordinate
};
Neighbours NeighboursOf(const NodeEntry& data, const NodeEntry& grid, int which) {
  const NodeEntry places = MakeOp("_contrib_arange_like", {data}, {{"axis", which == 0 ? "3" : "2"}});
  const NodeEntry last = MakeOp("Reshape", {MakeOp("max", {places})}, {{"shape", "(1, 1, 1, 1)"}});
  const NodeEntry pixels = Number("_mul_scalar", last, 0.5), divisor = Number("_maximum_scalar", pixels, 0.5);  // one pixel: not by 0
  const NodeEntry first = MakeOp("floor", {Times(Number("_plus_scalar", Coordinate(grid, which), 1), pixels)});
  auto at = [&](double step) {
    const NodeEntry moved = Number("_plus_scalar", MakeOp("broadcast_div", {Number("_plus_scalar", first, step), divisor}), -1);
    return which == 0 ? Grid(moved, Coordinate(grid, 1)) : Grid(Coordinate(grid, 0), moved);
  };
  return {at(0), at(1), pixels};
}

/*
 * Between two columns of pixels a sample is linear in x, and between two rows in y. So its
 * derivative in x is that of the samples at these columns, D = (sample(behind) - sample(before)) *
 * pixels, which depends on y alone. The node computed og times the samples' derivatives in data and
 * grid; with u and w from above, what is differentiated is sum(og sample(u)) + sum(og w D(data)).
 */
std::vector<NodeEntry> SecondGradient(const NodeEntry& og, const NodeEntry& data, const NodeEntry& grid, const NodeEntry& u,
                                      const NodeEntry& w) {
  NodeEntry of_ograd = Sample(u, grid), of_data, of_other[2];
  for (int which = 0; which < 2; ++which) {
    const Neighbours n = NeighboursOf(data, grid, which);
    const NodeEntry slope = Times(Coordinate(w, which), n.pixels), g = Times(og, slope);
    of_ograd = Add(of_ograd, Times(Less(Sample(data, n.behind), Sample(data, n.before)), slope));
    const NodeEntry to_data = Less(SampleBack(g, data, n.behind, 0), SampleBack(g, data, n.before, 0));
    of_data = which == 0 ? to_data : Add(of_data, to_data);
    of_other[1 - which] = Coordinate(Less(SampleBack(g, data, n.behind, 1), SampleBack(g, data, n.before, 1)), 1 - which);
  }
  return {of_ograd, of_data, Add(SampleBack(og, u, grid, 1), Grid(of_other[0], of_other[1]))};
}

}  // namespace

std::vector<NodeEntry> SamplerSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  return SecondGradient(node->inputs[0], node->inputs[1], node->inputs[2], ograds[0], ograds[1]);
}

// The grid is linear in loc.
std::vector<NodeEntry> TransformerSecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const AttrDict affine = {{"transform_type", "affine"}, {"target_shape", node->attrs->dict.at("target_shape")}};
  auto grid = [&](const NodeEntry& loc) { return MakeOp("GridGenerator", {loc}, affine); };
  std::vector<NodeEntry> grads = SecondGradient(node->inputs[0], node->inputs[1], grid(node->inputs[2]), ograds[0], grid(ograds[1]));
  grads[2] = MakeOp("_backward_GridGenerator", {grads[2]}, affine);
  return grads;
}

}  // namespace nn
}  // namespace mxnet
