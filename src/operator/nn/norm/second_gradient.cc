#include "operator/nn/norm/second_gradient.h"

#include <cstdio>

namespace mxnet {
namespace nn {
namespace {

NodeEntry Mul(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); }
NodeEntry Add(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
NodeEntry Ones(const NodeEntry& like) { return MakeOp("ones_like", {like}); }
NodeEntry Zeros(const NodeEntry& like) { return MakeOp("zeros_like", {like}); }

NodeEntry PlusNumber(const NodeEntry& x, double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return MakeOp("_plus_scalar", {x}, {{"scalar", text}, {"is_int", "0"}});
}

}  // namespace

/*
 * With n = (x - mean) * r the normalized data, <z> the mean of z over what is normalized together
 * and L(z) = r (z - <z> - n <z n>), which is linear, symmetric and the derivative of n, the node's
 * results are L(og gamma), sum(og n) and sum(og). With u, v and w from above, a = og gamma:
 *   ograd: gamma L(u) + v n + w
 *   data:  L(v og) - r (n <a L(u)> + <a n> L(u) + <u n> L(a))
 *   gamma: sum(og L(u))
 */
std::vector<NodeEntry> NormalizationSecondGradient(const Normalization& norm, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &og = node->inputs[0], &x = node->inputs[1], &gamma = node->inputs[2];
  const NodeEntry &u = ograds[0], &v = ograds[1], &w = ograds[2];
  auto forward = [&](const NodeEntry& scale, const NodeEntry& shift) {
    return NodeEntry{MakeNodeLike(norm.forward, *node, {x, scale, shift}), 0, 0};
  };
  auto backward = [&](const NodeEntry& z, const NodeEntry& scale, uint32_t result) {
    return NodeEntry{MakeNodeLike("_backward_" + norm.forward, *node, {z, x, scale}), result, 0};
  };
  auto spread = [&](const NodeEntry& parameter) { return forward(Zeros(parameter), parameter); };  // to the data's shape
  auto arranged = [&](const NodeEntry& z) { return norm.arranged ? norm.arranged(z) : z; };
  auto mean = [&](const NodeEntry& z) { return MakeOp("mean", {arranged(z)}, norm.over); };

  const NodeEntry n = forward(Ones(gamma), Zeros(gamma)), gammas = spread(gamma), a = Mul(og, gammas);
  const NodeEntry lu = backward(u, Ones(gamma), 0), la = backward(og, gamma, 0);
  const NodeEntry centred = MakeOp("broadcast_sub", {arranged(x), mean(x)});
  const NodeEntry r = MakeOp("rsqrt", {PlusNumber(MakeOp("mean", {MakeOp("square", {centred})}, norm.over), norm.eps)});
  auto times = [&](const NodeEntry& z, const NodeEntry& means) { return MakeOp("broadcast_mul", {arranged(z), Mul(means, r)}); };
  const NodeEntry sum = Add(Add(times(n, mean(Mul(a, lu))), times(lu, mean(Mul(a, n)))), times(la, mean(Mul(u, n))));
  return {Add(Mul(gammas, lu), forward(v, w)),
          MakeOp("elemwise_sub", {backward(Mul(spread(v), og), Ones(gamma), 0), MakeOp("reshape_like", {sum, x})}),
          backward(Mul(og, lu), gamma, 2)};
}

}  // namespace nn
}  // namespace mxnet
