// Patterns, and the roles and views that they ask records for.
#include "executor/passes/core/pattern.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mxnet;           // NOLINT
using namespace mxnet::pattern;  // NOLINT

namespace {

/* One result of two float32 matrices x and y of shape (3, 3), and a vector of 3. */
struct Graph {
  const NodeEntry x{MakeVariable("x"), 0, 0}, y{MakeVariable("y"), 0, 0}, vector{MakeVariable("v"), 0, 0};
  PassGraph graph;
  std::unique_ptr<GraphInfo> info;
  Match match;

  bool Fits(const Pattern& pattern, const NodeEntry& e) {
    graph.outputs = {e};
    VariableTypes types = {{x.node.get(), {Shape{3, 3}, kFloat32}}, {y.node.get(), {Shape{3, 3}, kFloat32}}};
    types[vector.node.get()] = {Shape{3}, kFloat32};
    info = InferGraph(graph, types, InferSwitches::OfThread(true));
    return Matches(pattern, e, GraphView(graph, *info), &match);
  }
  static NodeEntry Scaled(const char* op, const NodeEntry& e, double number) {
    return MakeOp(op, {e}, {{"scalar", std::to_string(number)}, {"is_int", "0"}});
  }
  static NodeEntry Over(const char* op, const NodeEntry& e, const char* axis, bool keepdims = true) {
    return MakeOp(op, {e}, {{"axis", axis}, {"keepdims", keepdims ? "1" : "0"}});
  }
};

TEST(Roles, NamesOfOneFormulaShareThem) {
  const Graph g;
  for (const char* op : {"elemwise_add", "broadcast_add", "_npi_add", "_grad_add"})
    EXPECT_EQ(RoleOf(*MakeNode(op, {g.x, g.y})), Role::kAdd) << op;
  for (const char* op : {"sum", "_np_sum", "_npi_sum"}) EXPECT_EQ(RoleOf(*MakeNode(op, {g.x})), Role::kSum) << op;
  EXPECT_EQ(RoleOf(*MakeNode("Activation", {g.x}, {{"act_type", "relu"}})), Role::kRelu);
  EXPECT_EQ(RoleOf(*MakeNode("Activation", {g.x}, {{"act_type", "softsign"}})), Role::kNone);
  EXPECT_EQ(RoleOf(*MakeNode("_npi_var", {g.x}, {{"ddof", "1"}})), Role::kNone);
  EXPECT_EQ(RoleOf(*g.x.node), Role::kNone);
  EXPECT_EQ(RoleOf(*MakeNode("_plus_scalar", {g.x})), Role::kNone);  // one array
}

TEST(Roles, NumbersAsOperands) {
  const Graph g;
  const auto affine = [&](const char* op) { return AffineOf(*Graph::Scaled(op, g.x, 4).node); };
  for (const char* op : {"_minus_scalar", "_npi_subtract_scalar"}) EXPECT_TRUE(affine(op)->scale == 1 && affine(op)->shift == -4) << op;
  for (const char* op : {"_rminus_scalar", "_npi_rsubtract_scalar"}) EXPECT_TRUE(affine(op)->scale == -1 && affine(op)->shift == 4) << op;
  for (const char* op : {"_div_scalar", "_npi_true_divide_scalar"}) EXPECT_TRUE(affine(op)->scale == 0.25 && affine(op)->shift == 0) << op;
  for (const char* op : {"_rdiv_scalar", "_power_scalar", "_maximum_scalar", "_equal_scalar"}) EXPECT_FALSE(affine(op)) << op;
  EXPECT_FALSE(AffineOf(*Graph::Scaled("_div_scalar", g.x, 0).node));
  EXPECT_EQ(ExponentOf(*Graph::Scaled("_npi_power_scalar", g.x, -0.5).node), -0.5);
  EXPECT_EQ(ExponentOf(*Graph::Scaled("_rdiv_scalar", g.x, 1).node), -1);
  EXPECT_FALSE(ExponentOf(*Graph::Scaled("_rdiv_scalar", g.x, 2).node));
}

TEST(Roles, ViewsAreOfParsedParameters) {
  const Graph g;
  const auto softmax = View<SoftmaxView>(*MakeNode("_npx_softmax", {g.x}, {{"axis", "0"}, {"temperature", "None"}}));
  EXPECT_TRUE(softmax && softmax->axis == 0 && !softmax->temperature);
  EXPECT_FALSE(View<SoftmaxView>(*MakeNode("exp", {g.x})));
  EXPECT_EQ(PermutationOf(*MakeNode("_np_transpose", {g.x}), 3), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(PermutationOf(*MakeNode("SwapAxis", {g.x}, {{"dim1", "0"}, {"dim2", "-1"}}), 3), (std::vector<int>{2, 1, 0}));
  const auto all_but = ReductionOf(*MakeNode("sum", {g.x}, {{"axis", "[1]"}, {"exclude", "true"}}), 3);
  EXPECT_EQ(all_but->reduced, (std::vector<char>{1, 0, 1}));
}

TEST(Pattern, AProductIsSeenFlat) {
  Graph g;
  const Pattern x = Any(), pattern = 0.5 * x * (1 + Erf(x));
  const auto erf = [&](const NodeEntry& e) { return Graph::Scaled("_plus_scalar", MakeOp("erf", {e}), 1); };
  const NodeEntry halved = Graph::Scaled("_div_scalar", g.x, 2);
  EXPECT_TRUE(g.Fits(pattern, MakeOp("elemwise_mul", {halved, erf(g.x)})));
  EXPECT_TRUE(Same(g.match[x], g.x));
  EXPECT_TRUE(g.Fits(pattern, Graph::Scaled("_mul_scalar", MakeOp("_npi_multiply", {erf(g.x), g.x}), 0.5)));
  EXPECT_FALSE(g.Fits(pattern, MakeOp("elemwise_mul", {g.x, erf(g.x)})));     // the number is missing
  EXPECT_FALSE(g.Fits(pattern, MakeOp("elemwise_mul", {halved, erf(g.y)})));  // of something else
  EXPECT_FALSE(g.Fits(pattern, MakeOp("elemwise_add", {halved, erf(g.x)})));
  // what others read too is one factor
  EXPECT_TRUE(g.Fits(pattern, Graph::Scaled("_mul_scalar", MakeOp("elemwise_mul", {halved, erf(halved)}), 0.5)));
  EXPECT_TRUE(Same(g.match[x], halved));
}

TEST(Pattern, NumbersAreCaptured) {
  Graph g;
  const Number scale, shift;
  const Pattern x = Any(), pattern = scale * Exp(x) + shift;
  EXPECT_TRUE(
      g.Fits(pattern, Graph::Scaled("_minus_scalar", Graph::Scaled("_div_scalar", MakeOp("negative", {MakeOp("exp", {g.x})}), 4), 3)));
  EXPECT_DOUBLE_EQ(g.match[scale], -0.25);
  EXPECT_DOUBLE_EQ(g.match[shift], -3);
  EXPECT_TRUE(g.Fits(pattern, Graph::Scaled("_plus_scalar", MakeOp("exp", {g.x}), 3)));  // once
  EXPECT_DOUBLE_EQ(g.match[scale], 1);
}

TEST(Pattern, QuotientsAndPowers) {
  Graph g;
  const Pattern x = Any(), y = Any(), pattern = x / Sqrt(Exp(y));
  const NodeEntry e = MakeOp("exp", {g.y}), root = MakeOp("sqrt", {e});
  EXPECT_TRUE(g.Fits(pattern, MakeOp("broadcast_div", {g.x, root})));
  EXPECT_TRUE(g.Fits(pattern, MakeOp("broadcast_mul", {MakeOp("rsqrt", {e}), g.x})));
  EXPECT_TRUE(g.Fits(pattern, MakeOp("_npi_multiply", {g.x, Graph::Scaled("_npi_rtrue_divide_scalar", root, 1)})));
  EXPECT_TRUE(g.Fits(pattern, MakeOp("elemwise_mul", {Graph::Scaled("_power_scalar", e, -0.5), g.x})));
  EXPECT_TRUE(Same(g.match[x], g.x) && Same(g.match[y], g.y));
  EXPECT_FALSE(g.Fits(pattern, MakeOp("broadcast_div", {root, g.x})));
  EXPECT_FALSE(g.Fits(pattern, MakeOp("broadcast_div", {g.x, MakeOp("rsqrt", {e})})));
  EXPECT_FALSE(g.Fits(pattern, MakeOp("broadcast_mul", {g.x, root})));
  EXPECT_TRUE(g.Fits(Square(x), MakeOp("elemwise_mul", {g.x, g.x})));
  EXPECT_FALSE(g.Fits(Square(x), MakeOp("elemwise_mul", {g.x, g.y})));
}

TEST(Pattern, AReductionGoesOverOneAxis) {
  Graph g;
  const Axis axis;
  const Pattern x = Any(), centred = x - Mean(x, axis);
  const auto minus = [&](const NodeEntry& e, const char* op = "broadcast_sub") { return MakeOp(op, {g.x, e}); };
  EXPECT_TRUE(g.Fits(centred, minus(Graph::Over("mean", g.x, "-1"))));
  EXPECT_EQ(g.match[axis], 1);
  EXPECT_TRUE(g.Fits(centred, minus(MakeOp("expand_dims", {Graph::Over("_npi_mean", g.x, "0", false)}, {{"axis", "0"}}))));
  EXPECT_EQ(g.match[axis], 0);
  EXPECT_TRUE(g.Fits(centred, minus(MakeOp("broadcast_like", {Graph::Over("mean", g.x, "0"), g.x}), "elemwise_sub")));
  EXPECT_FALSE(g.Fits(centred, minus(Graph::Over("mean", g.x, "0", false))));  // of a square, over the other axis
  EXPECT_FALSE(g.Fits(centred, minus(Graph::Over("mean", g.x, "(0, 1)"))));
  EXPECT_FALSE(g.Fits(centred, minus(Graph::Over("sum", g.x, "1"))));
  EXPECT_FALSE(g.Fits(centred, minus(Graph::Over("mean", g.y, "1"))));
  const Pattern twice = Mean(x, axis) + Sum(x, axis);
  EXPECT_TRUE(g.Fits(twice, MakeOp("broadcast_add", {Graph::Over("sum", g.x, "1"), Graph::Over("mean", g.x, "1")})));
  EXPECT_FALSE(g.Fits(twice, MakeOp("broadcast_add", {Graph::Over("sum", g.x, "0"), Graph::Over("mean", g.x, "1")})));
}

TEST(Pattern, StopGradientsAreSeenWhereTheyMatter) {
  Graph g;
  const Axis axis;
  const Pattern x = Any(), sum = Sum(x, axis), largest = Reduce(Role::kMax, x, axis, true);
  const NodeEntry cut =
      MakeOp("BlockGrad", {MakeOp("expand_dims", {Graph::Over("max", MakeOp("BlockGrad", {g.x}), "1", false)}, {{"axis", "1"}})});
  EXPECT_TRUE(g.Fits(largest, cut));
  EXPECT_FALSE(g.Fits(sum, MakeOp("BlockGrad", {Graph::Over("sum", g.x, "1")})));
  EXPECT_TRUE(g.Fits(Detached(sum), MakeOp("BlockGrad", {Graph::Over("sum", g.x, "1")})));
}

TEST(Pattern, ReadersConditionsAndAlternatives) {
  Graph g;
  const Pattern x = Any(), inner = Exp(x), y = Any();
  const NodeEntry e = MakeOp("exp", {g.x});
  EXPECT_TRUE(g.Fits(inner.Once() + y, MakeOp("elemwise_add", {g.y, e})));
  EXPECT_FALSE(g.Fits(inner.Once() + inner.Once(), MakeOp("elemwise_add", {e, e})));
  EXPECT_TRUE(g.Fits(inner + inner, MakeOp("elemwise_add", {e, MakeOp("_npi_exp", {g.x})})));  // two that compute the same
  EXPECT_FALSE(g.Fits(inner + inner, MakeOp("elemwise_add", {e, MakeOp("exp", {g.y})})));
  // a reader that looks at the shape alone does not count
  EXPECT_TRUE(g.Fits(inner.Once() + y, MakeOp("elemwise_add", {e, MakeOp("reshape_like", {MakeOp("Flatten", {g.y}), e})})));
  const Pattern either = (Exp(x) | Log(y)).If([](const NodeEntry& found) { return found.node->name != "no"; });
  EXPECT_TRUE(g.Fits(either, MakeOp("log", {g.x})));
  EXPECT_TRUE(!g.match[x] && Same(g.match[y], g.x));
  EXPECT_FALSE(g.Fits(either, MakeOp("log", {g.x}, {}, "no")));
  // what failed leaves nothing behind
  EXPECT_TRUE(g.Fits((Exp(x) + Log(y)) | (Exp(y) + Exp(x)), MakeOp("elemwise_add", {e, MakeOp("exp", {g.y})})));
  EXPECT_TRUE(Same(g.match[y], g.x) && Same(g.match[x], g.y));
}

TEST(Pattern, Replacing) {
  Graph g;
  const Pattern x = Any();
  const NodeEntry e = MakeOp("exp", {g.x}, {}, "first"), out = MakeOp("exp", {e}, {}, "second");
  ASSERT_TRUE(g.Fits(Exp(Exp(x)), out));
  std::map<const Node*, NodeEntry> found;
  for (const NodeEntry& each : {e, out}) {
    ASSERT_TRUE(g.Fits(Exp(x), each));
    found[each.node.get()] = g.match[x];
  }
  PassGraph graph;
  graph.outputs = {out};
  Replace(&graph, found,
          [](const NodeEntry& of, const Renew& renew, const std::string& name) { return MakeNode("tanh", {renew(of)}, {}, name); });
  const Node& last = *graph.outputs[0].node;
  EXPECT_EQ(last.op()->name + last.name, "tanhsecond");
  EXPECT_EQ(last.inputs[0].node->op()->name, "tanh");
  EXPECT_EQ(out.node->op()->name, "exp");  // what others share is never changed
}

}  // namespace
