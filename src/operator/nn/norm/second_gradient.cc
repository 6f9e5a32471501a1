#include "operator/nn/norm/second_gradient.h"

#include <utility>

#include "operator/nodes/make_nodes.h"

namespace mxnet {
namespace nn {
namespace {

NodeEntry Mul(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_mul", {a, b}); }
NodeEntry Add(const NodeEntry& a, const NodeEntry& b) { return MakeOp("elemwise_add", {a, b}); }
NodeEntry Ones(const NodeEntry& like) { return MakeOp("ones_like", {like}); }
NodeEntry Zeros(const NodeEntry& like) { return MakeOp("zeros_like", {like}); }

NodeEntry PlusNumber(const NodeEntry& x, double number) {
  return MakeOp("_plus_scalar", {x}, {{"scalar", ExactText(number)}, {"is_int", "0"}});
}

}  // namespace

Normalization NormalizationOf(const std::string& forward, const NodePtr& node, AttrDict over, double eps,
                              Normalization::MakeEntry arranged) {
  const NodeEntry data = node->inputs[1];
  return {node->inputs[0],
          data,
          node->inputs[2],
          [=](const NodeEntry& gamma, const NodeEntry& beta) {
            return NodeEntry{MakeNodeLike(forward, *node, {data, gamma, beta}), 0, 0};
          },
          [=](const NodeEntry& ograd, const NodeEntry& gamma, uint32_t result) {
            return NodeEntry{MakeNodeLike("_backward_" + forward, *node, {ograd, data, gamma}), result, 0};
          },
          std::move(over),
          eps,
          std::move(arranged),
          nullptr};
}

/*
 * With n = (x - mean) * r the normalized data, <z> the mean of z over what is normalized together
 * and L(z) = r (z - <z> - n <z n>), which is linear, symmetric and the derivative of n, the node's
 * results are L(og gamma), sum(og n) and sum(og). With u, v and w from above, a = og gamma:
 *   ograd: gamma L(u) + v n + w
 *   data:  L(v og) - r (n <a L(u)> + <a n> L(u) + <u n> L(a))
 *   gamma: sum(og L(u))
 * Where mean and r are given, L(z) = r z, and of the gradient of data L(v og) remains.
 */
std::vector<NodeEntry> NormalizationSecondGradient(const Normalization& norm, const std::vector<NodeEntry>& ograds) {
  const NodeEntry &og = norm.ograd, &x = norm.data, &gamma = norm.gamma;
  const NodeEntry &u = ograds[0], &v = ograds[1], &w = ograds[2];
  auto spread = [&](const NodeEntry& parameter) { return norm.forward(Zeros(parameter), parameter); };  // to the data's shape
  auto arranged = [&](const NodeEntry& z) { return norm.arranged ? norm.arranged(z) : z; };
  auto mean = [&](const NodeEntry& z) { return MakeOp("mean", {arranged(z)}, norm.over); };

  const NodeEntry n = norm.forward(Ones(gamma), Zeros(gamma)), gammas = spread(gamma), a = Mul(og, gammas);
  const NodeEntry lu = norm.backward(u, Ones(gamma), 0), la = norm.backward(og, gamma, 0);
  const NodeEntry centred = MakeOp("broadcast_sub", {arranged(x), mean(x)});
  const NodeEntry r = MakeOp("rsqrt", {PlusNumber(MakeOp("mean", {MakeOp("square", {centred})}, norm.over), norm.eps)});
  auto times = [&](const NodeEntry& z, const NodeEntry& means) { return MakeOp("broadcast_mul", {arranged(z), Mul(means, r)}); };
  const NodeEntry sum = Add(Add(times(n, mean(Mul(a, lu))), times(lu, mean(Mul(a, n)))), times(la, mean(Mul(u, n))));
  NodeEntry by_statistics = MakeOp("reshape_like", {sum, x});
  if (norm.of_the_data) by_statistics = norm.of_the_data(by_statistics);
  return {Add(Mul(gammas, lu), norm.forward(v, w)),
          MakeOp("elemwise_sub", {norm.backward(Mul(spread(v), og), Ones(gamma), 0), by_statistics}), norm.backward(Mul(og, lu), gamma, 2)};
}

}  // namespace nn
}  // namespace mxnet
