// Memory plans and executors.
#include "mxnet/executor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "common/graph_helpers.h"
#include "executor/plan/plan.h"

using namespace mxnet;  // NOLINT

namespace {

Symbol Var(const std::string& name) { return Symbol::Variable(name); }

/* A random differentiable graph over matrices of one size, with one or two outputs. */
Symbol RandomGraph(std::mt19937* random, int ops) {
  std::vector<Symbol> pool = {Var("a"), Var("b"), Var("c")};
  auto any = [&] { return pool[std::max<int>(0, static_cast<int>(pool.size()) - 1 - static_cast<int>((*random)() % 6))]; };
  for (int i = 0; i < ops; ++i) {
    const std::string name = "n" + std::to_string(i);
    switch ((*random)() % 7) {
      case 0: pool.push_back(Make("elemwise_add", {any(), any()}, {}, name)); break;
      case 1: pool.push_back(Make("elemwise_mul", {any(), any()}, {}, name)); break;
      case 2: pool.push_back(Make("tanh", {any()}, {}, name)); break;
      case 3: pool.push_back(Make("_mul_scalar", {any()}, {{"scalar", "0.5"}}, name)); break;
      case 4: pool.push_back(Make("sigmoid", {any()}, {}, name)); break;
      case 5: pool.push_back(Make("transpose", {Make("transpose", {any()}, {}, name + "t")}, {}, name)); break;
      default: pool.push_back(Make("add_n", {any(), any(), any()}, {{"num_args", "3"}}, name)); break;
    }
  }
  return (*random)() % 2 ? pool.back() : Symbol::Group({pool.back(), pool[pool.size() / 2]});
}

struct Results {
  std::vector<std::vector<float>> outputs, grads;
  PlanStats stats;
};

Results RunGraph(const Symbol& s, std::mt19937 random, OpReq req = OpReq::kWrite) {
  const Shape shape({3, 4});
  std::vector<NDArray> args, grads, heads;
  for (size_t i = 0; i < s.ListInputs(Symbol::kReadOnlyArgs).size(); ++i) {
    args.push_back(Random(shape, &random));
    grads.push_back(Filled(shape, 1));
  }
  auto e = Executor::Bind(s, Context::CPU(), {}, args, grads, std::vector<OpReq>(args.size(), req), {});
  for (size_t i = 0; i < s.outputs.size(); ++i) heads.push_back(Random(shape, &random));
  Results run;
  for (int twice = 0; twice < 2; ++twice) e->Forward(true);  // the second run replays the plan
  e->Backward(heads);
  for (const auto& o : e->Outputs()) run.outputs.push_back(Values(o));
  for (const auto& g : grads) run.grads.push_back(Values(g));
  run.stats = e->Stats();
  return run;
}

// ---- memory

TEST(PlanMemory, RandomBlocksNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    std::vector<MemoryBlock> blocks;
    const int n = 1 + static_cast<int>(random() % 120);
    for (int i = 0; i < n; ++i) {
      const int first = static_cast<int>(random() % 100);
      blocks.push_back({random() % 5 ? random() % 10000 : 0, first, first + static_cast<int>(random() % 20)});
    }
    for (int range : {0, 1, 3, 16}) {
      const MemoryPlan plan = PlanMemory(blocks, range);
      std::string why;
      EXPECT_TRUE(VerifyMemoryPlan(blocks, plan, &why)) << why;
      EXPECT_LE(plan.lower_bound_bytes, plan.arena_bytes);
      EXPECT_LE(plan.arena_bytes, plan.unshared_bytes);
      if (range == 0) {
        EXPECT_EQ(plan.arena_bytes, plan.unshared_bytes);
      }
      for (size_t o : plan.offsets) EXPECT_EQ(o % 64, 0u);
    }
    EXPECT_LE(PlanMemory(blocks, 16).arena_bytes, PlanMemory(blocks, 1).arena_bytes);
  }
}

TEST(PlanMemory, TheVerifierFindsOverlaps) {
  const std::vector<MemoryBlock> blocks = {{100, 0, 2}, {100, 2, 3}};
  MemoryPlan plan = PlanMemory(blocks, 16);
  std::string why;
  ASSERT_TRUE(VerifyMemoryPlan(blocks, plan, &why));
  plan.offsets[1] = plan.offsets[0] + 64;
  EXPECT_FALSE(VerifyMemoryPlan(blocks, plan, &why));
}

TEST(Plan, RandomGraphsGiveTheSameHoweverTheyArePlanned) {
  std::mt19937 random(2);
  for (int round = 0; round < 30; ++round) {
    const Symbol s = RandomGraph(&random, 5 + static_cast<int>(random() % 40));
    const std::mt19937 data(static_cast<unsigned>(round));
    Results plain;
    {
      EnvScope share("NNVM_EXEC_MATCH_RANGE", "0"), inplace("MXNET_EXEC_ENABLE_INPLACE", "0"), cse("MXNET_ELIMINATE_COMMON_EXPR", "0"),
          bulk("MXNET_EXEC_BULK_EXEC_TRAIN", "0");
      plain = RunGraph(s, data);
    }
    const Results planned = RunGraph(s, data);
    EXPECT_LE(planned.stats.arena_bytes, plain.stats.arena_bytes);
    EXPECT_LE(planned.stats.num_bulks, plain.stats.num_bulks);
    ASSERT_EQ(plain.outputs, planned.outputs);
    ASSERT_EQ(plain.grads.size(), planned.grads.size());
    for (size_t i = 0; i < plain.grads.size(); ++i)
      for (size_t k = 0; k < plain.grads[i].size(); ++k)
        ASSERT_NEAR(plain.grads[i][k], planned.grads[i][k], 1e-4 * (1 + std::fabs(plain.grads[i][k])));
    const Results added = RunGraph(s, data, OpReq::kAdd);  // onto ones
    for (size_t i = 0; i < plain.grads.size(); ++i)
      for (size_t k = 0; k < plain.grads[i].size(); ++k)
        ASSERT_NEAR(plain.grads[i][k] + 1, added.grads[i][k], 1e-4 * (1 + std::fabs(plain.grads[i][k])));
  }
}

TEST(Plan, RandomPlansKeepLiveEntriesApart) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const Symbol s = RandomGraph(&random, 60);
    const size_t n = s.ListInputs(Symbol::kAll).size();
    PlanRequest request;
    request.symbol = s;
    request.inputs.assign(n, {Shape({5, 7}), kFloat32});
    request.is_train = true;
    request.grad_req.assign(n, OpReq::kWrite);
    const auto plan = Plan::Compile(request);
    std::string why;
    ASSERT_TRUE(VerifyMemoryPlan(plan->blocks, plan->memory, &why)) << why;
    // independently of the planner: whoever reads a place reads what the last writer of exactly
    // that place left there
    std::map<size_t, int> writer;  // offset -> node that wrote it last
    std::map<size_t, std::pair<size_t, int>> live;
    for (size_t t = 0; t < plan->nodes.size(); ++t) {
      const auto& node = plan->nodes[t];
      for (int i = 0; i < node.num_in; ++i) {
        const auto& b = plan->blobs[node.in + i];
        if (b.place != Plan::Place::kSlot && node.attrs->op->name != "zeros_like" && node.attrs->op->name != "ones_like") {
          ASSERT_TRUE(writer.count(b.at)) << node.name;
        }
      }
      for (int o = 0; o < node.num_out; ++o) {
        const auto& b = plan->blobs[node.out + o];
        if (b.place == Plan::Place::kSlot) continue;
        const size_t end = b.at + b.shape.Bytes();
        for (auto it = live.begin(); it != live.end();)
          it = it->first < end && b.at < it->second.first ? (writer.erase(it->first), live.erase(it)) : std::next(it);
        writer[b.at] = static_cast<int>(t);
        live[b.at] = {end, static_cast<int>(t)};
      }
    }
  }
}

TEST(Plan, GradientsMatchFiniteDifferences) {
  std::mt19937 random(4);
  const Shape shape({2, 3});
  for (int round = 0; round < 15; ++round) {
    const Symbol s = RandomGraph(&random, 8)[0];
    std::vector<NDArray> args, grads;
    for (size_t i = 0; i < s.ListInputs(Symbol::kReadOnlyArgs).size(); ++i) {
      args.push_back(Random(shape, &random));
      grads.push_back(Filled(shape, 0));
    }
    auto e = Executor::Bind(s, Context::CPU(), {}, args, grads, std::vector<OpReq>(args.size(), OpReq::kWrite), {});
    e->Forward(true);
    e->Backward({Filled(shape, 1)});
    for (size_t i = 0; i < args.size(); ++i) {
      std::vector<float> x = Values(args[i]);
      const std::vector<float> g = Values(grads[i]);
      for (size_t k = 0; k < x.size(); k += 2) {
        const float h = 1e-2f, old = x[k];
        double sides[2];
        for (int side = 0; side < 2; ++side) {
          x[k] = old + (side ? h : -h);
          args[i].CopyBytesFrom(x.data(), x.size() * sizeof(float));
          e->Forward(false);
          sides[side] = 0;
          for (float v : Values(e->Outputs()[0])) sides[side] += v;
        }
        x[k] = old;
        args[i].CopyBytesFrom(x.data(), x.size() * sizeof(float));
        const double estimate = (sides[1] - sides[0]) / (2 * h);
        EXPECT_NEAR(estimate, g[k], 2e-2 * (1 + std::fabs(estimate)));
      }
    }
  }
}

TEST(Plan, ALongChainSharesTwoBuffers) {
  EnvScope node_by_node("MXNET_PLAN_PASSES_OFF", "remove_identities");
  Symbol s = Var("x");
  for (int i = 0; i < 50; ++i) s = Make("transpose", {s}, {}, "t" + std::to_string(i));  // cannot work in place
  PlanRequest request;
  request.symbol = s;
  request.inputs = {{Shape({64, 64}), kFloat32}};
  const auto plan = Plan::Compile(request);
  EXPECT_EQ(plan->stats.arena_bytes, 2u * 64 * 64 * 4);
  EXPECT_EQ(plan->stats.lower_bound_bytes, plan->stats.arena_bytes);
  EXPECT_EQ(plan->stats.num_bulks, 1);
}

TEST(Plan, CommonSubexpressionsAreComputedOnce) {
  EnvScope node_by_node("MXNET_USE_FUSION", "0");
  const Symbol x = Var("x");
  const Symbol s = Make("elemwise_add", {Make("tanh", {x}, {}, "t1"), Make("tanh", {x}, {}, "t2")});
  PlanRequest request;
  request.symbol = s;
  request.inputs = {{Shape({2, 2}), kFloat32}};
  EXPECT_EQ(Plan::Compile(request)->stats.num_nodes, 2);
  EnvScope off("MXNET_ELIMINATE_COMMON_EXPR", "0");
  EXPECT_EQ(Plan::Compile(request)->stats.num_nodes, 3);
}

TEST(Plan, MirroringKeepsLessAndComputesTheSame) {
  Symbol s = Var("x");
  for (int i = 0; i < 12; ++i) {
    s = Make("FullyConnected", {s}, {{"num_hidden", "64"}, {"no_bias", "True"}}, "f" + std::to_string(i));
    s = Make("sigmoid", {Make("tanh", {s}, {}, "t" + std::to_string(i))}, {}, "s" + std::to_string(i));
  }
  std::vector<PlanStats> stats;
  std::vector<std::vector<float>> grads;
  for (const char* mirror : {"0", "1"}) {
    EnvScope scope("MXNET_BACKWARD_DO_MIRROR", mirror);
    std::mt19937 random(5);
    std::vector<NDArray> args, arg_grads;
    for (const auto& n : s.ListInputs(Symbol::kAll)) {
      const Shape shape = n->name == "x" ? Shape({128, 64}) : Shape({64, 64});
      args.push_back(Random(shape, &random));
      arg_grads.push_back(Filled(shape, 0));
    }
    auto e = Executor::Bind(s, Context::CPU(), {}, args, arg_grads, std::vector<OpReq>(args.size(), OpReq::kWrite), {});
    e->Forward(true);
    e->Backward({Filled(Shape({128, 64}), 1)});
    stats.push_back(e->Stats());
    grads.push_back(Values(arg_grads[1]));
  }
  EXPECT_LT(stats[1].arena_bytes, stats[0].arena_bytes * 3 / 4);
  EXPECT_EQ(grads[0], grads[1]);
}

/* Everything that the layout (_to_layout) and folding passes treat: convolutions, normalisation,
 * pooling, concatenation, sums, plain operators between. */
Symbol ConvolutionalNet(int concat_dim) {
  auto conv = [](Symbol in, const std::string& name, const char* filters, const char* kernel, const char* pad) {
    return Make("Convolution", {in},
                {{"kernel", kernel}, {"num_filter", filters}, {"pad", pad}, {"no_bias", name == "c2" ? "True" : "False"}}, name);
  };
  Symbol s = Make("BatchNorm", {conv(Var("x"), "c1", "6", "(3, 3)", "(1, 1)")}, {{"fix_gamma", "False"}, {"eps", "1e-3"}}, "b1");
  s = Make("Activation", {s}, {{"act_type", "relu"}}, "r1");
  Symbol side = Make("BatchNorm", {conv(s, "c2", "6", "(1, 1)", "(0, 0)")}, {}, "b2");
  s = Make("Concat", {Make("elemwise_add", {s, side}, {}, "sum"), Make("tanh", {s}, {}, "t"), conv(s, "c3", "6", "(3, 3)", "(1, 1)")},
           {{"dim", std::to_string(concat_dim)}, {"num_args", "3"}}, "cat");
  s = Make("Pooling", {s}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}, "p");
  return Symbol::Group({Make("FullyConnected", {Make("Flatten", {s}, {}, "flat")}, {{"num_hidden", "5"}}, "f"), side});
}

struct Bound {
  std::shared_ptr<Executor> executor;
  std::vector<NDArray> grads;
};

Bound BindNet(const Symbol& s, bool with_grads) {
  std::mt19937 random(9);
  Bound b;
  std::vector<NDArray> args, aux;
  IndexedGraph g(s.outputs);
  ShapeVector shapes(g.num_entries());
  shapes[g.eid(g.input_nodes[0], 0)] = Shape({2, 3, 8, 8});
  EXPECT_TRUE(InferShapes(g, &shapes));
  for (const auto& n : s.ListInputs(Symbol::kReadOnlyArgs)) {
    const Shape& shape = shapes[g.eid(g.id.at(n.get()), 0)];
    args.push_back(Random(shape, &random));
    b.grads.push_back(with_grads ? Filled(shape, 0) : NDArray());
  }
  for (const auto& n : s.ListInputs(Symbol::kAuxStates))
    aux.push_back(Filled(shapes[g.eid(g.id.at(n.get()), 0)], n->name.find("var") != std::string::npos ? 0.7f : 0.3f));
  b.executor =
      Executor::Bind(s, Context::CPU(), {}, args, b.grads, std::vector<OpReq>(args.size(), with_grads ? OpReq::kWrite : OpReq::kNull), aux);
  return b;
}

void ExpectNear(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t k = 0; k < a[i].size(); ++k) ASSERT_NEAR(a[i][k], b[i][k], tolerance * (1 + std::fabs(a[i][k]))) << i;
}

TEST(Plan, ChannelsLastGivesTheSameAsPlain) {
  for (int dim : {1, 0, 3}) {
    Results results[2];
    for (int on = 0; on < 2; ++on) {
      EnvScope scope("MXNET_ONEDNN_ENABLED", on ? "1" : "0");
      Bound b = BindNet(ConvolutionalNet(dim), true);
      std::mt19937 random(10);
      b.executor->Forward(true);
      b.executor->Backward({Random(b.executor->Outputs()[0].shape(), &random), Random(b.executor->Outputs()[1].shape(), &random)});
      for (const auto& o : b.executor->Outputs()) results[on].outputs.push_back(Values(o));
      for (const auto& a : b.grads) results[on].grads.push_back(Values(a));
      for (const auto& a : b.executor->aux) results[on].outputs.push_back(Values(a));
      EXPECT_EQ(b.executor->DebugStr().find("channels-last") != std::string::npos, on == 1);
    }
    ExpectNear(results[0].outputs, results[1].outputs, 1e-4);
    ExpectNear(results[0].grads, results[1].grads, 5e-3);
  }
}

TEST(Plan, AdditionAndReluJoinTheConvolution) {
  auto conv = [](Symbol in, const std::string& name, const char* no_bias) {
    return Make("Convolution", {in}, {{"kernel", "(3, 3)"}, {"num_filter", "6"}, {"pad", "(1, 1)"}, {"no_bias", no_bias}}, name);
  };
  auto relu = [](Symbol in, const std::string& name) { return Make("Activation", {in}, {{"act_type", "relu"}}, name); };
  const Symbol a = relu(conv(Var("x"), "c1", "False"), "r1");
  const Symbol b = relu(Make("elemwise_add", {a, conv(a, "c2", "True")}, {}, "s1"), "r2");  // a ends here
  const Symbol c = relu(Make("elemwise_add", {conv(b, "c3", "False"), conv(b, "c4", "True")}, {}, "s2"), "r3");
  const Symbol d = Make("elemwise_add", {conv(c, "c5", "True"), c}, {}, "s3");
  const Symbol net = Symbol::Group(
      {d, Make("tanh", {c}, {}, "t"), Make("elemwise_add", {b, conv(c, "c6", "True")}, {}, "s4")});  // b and c have other readers
  std::vector<std::vector<float>> results[3];
  for (int way = 0; way < 3; ++way) {  // nothing fused, fused, fused without the library
    EnvScope compiled("MXNET_ONEDNN_ENABLED", way == 0 ? "0" : "1");
    Bound bound = BindNet(net, false);
    const std::string text = bound.executor->DebugStr();
    EXPECT_EQ(text.find(" elemwise_add \"") == std::string::npos && text.find(" Activation \"") == std::string::npos, way > 0) << text;
    EnvScope runs("MXNET_ONEDNN_ENABLED", way == 1 ? "1" : "0");
    for (int repeat = 0; repeat < 2; ++repeat) bound.executor->Forward(false);
    for (const auto& o : bound.executor->Outputs()) results[way].push_back(Values(o));
  }
  ExpectNear(results[0], results[1], 1e-4);
  ExpectNear(results[0], results[2], 1e-4);
}

TEST(Plan, BatchNormIsFoldedAndFollowsItsParameters) {
  Bound b = BindNet(ConvolutionalNet(1), false);
  const std::string text = b.executor->DebugStr();
  EXPECT_NE(text.find("_fold_scale_shift"), std::string::npos);
  EXPECT_NE(text.find("_fused_convolution"), std::string::npos);
  EXPECT_EQ(text.find(" BatchNorm \""), std::string::npos);
  auto outputs = [](const Bound& x) {
    std::vector<std::vector<float>> values;
    for (const auto& o : x.executor->Outputs()) values.push_back(Values(o));
    return values;
  };
  // the folded graph can be written down, read and run
  const Symbol folded = SymbolFromJSON(SymbolToJSON(b.executor->OptimizedSymbol()));
  std::map<std::string, NDArray> by_name;
  for (size_t i = 0; i < b.executor->args.size(); ++i) by_name[b.executor->ArgNames()[i]] = b.executor->args[i];
  for (size_t i = 0; i < b.executor->aux.size(); ++i) by_name[b.executor->AuxNames()[i]] = b.executor->aux[i];
  std::vector<NDArray> again_args;
  for (const auto& n : folded.ListInputNames(Symbol::kAll)) again_args.push_back(by_name.at(n));
  auto again = Executor::Bind(folded, Context::CPU(), {}, again_args, {}, {}, {});
  again->Forward(false);
  b.executor->Forward(false);
  for (size_t i = 0; i < again->Outputs().size(); ++i) EXPECT_EQ(Values(again->Outputs()[i]), Values(b.executor->Outputs()[i]));

  // a head gradient forbids folding: compare with what the training graph repeats
  Bound unfolded = BindNet(ConvolutionalNet(1), true);
  auto forward_unfolded = [&] {
    unfolded.executor->Forward(false);
    unfolded.executor->Backward({Filled(unfolded.executor->Outputs()[0].shape(), 1),
                                 Filled(unfolded.executor->Outputs()[1].shape(), 1)});  // repeats it without folding
    return outputs(unfolded);
  };
  std::mt19937 random(11);
  for (int round = 0; round < 3; ++round) {
    b.executor->Forward(false);
    b.executor->Forward(false);  // the folded parameters are kept
    ExpectNear(outputs(b), forward_unfolded(), 1e-4);
    for (size_t i = 1; i < b.executor->args.size(); ++i) {  // new parameters
      const std::vector<float> fresh = Values(Random(b.executor->args[i].shape(), &random));
      for (Bound* x : {&b, &unfolded}) x->executor->args[i].CopyBytesFrom(fresh.data(), fresh.size() * sizeof(float));
    }
    const std::vector<float> variance(6, 0.5f + 0.1f * static_cast<float>(round));
    for (Bound* x : {&b, &unfolded}) x->executor->aux[1].CopyBytesFrom(variance.data(), 24);
  }
}

// ---- executors

TEST(Executor, OutputsThatAreInputsOrTwice) {
  const Symbol x = Var("x"), y = Make("negative", {x});
  auto e = Executor::Bind(Symbol::Group({x, y, y, x}), Context::CPU(), {}, {Filled(Shape({3}), 2)}, {Filled(Shape({3}), 0)},
                          {OpReq::kWrite}, {});
  e->Forward(true);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Values(e->Outputs()[i]), std::vector<float>(3, i == 0 || i == 3 ? 2.f : -2.f));
  e->Backward({Filled(Shape({3}), 1), Filled(Shape({3}), 10), Filled(Shape({3}), 100), Filled(Shape({3}), 1000)});
  EXPECT_EQ(Values(e->arg_grads[0]), std::vector<float>(3, 1001.f - 110.f));
}

TEST(Executor, RequestsAndMissingGradients) {
  const Symbol s = Make("elemwise_mul", {Var("a"), Make("BlockGrad", {Var("b")})});
  const Shape shape({2});
  auto e = Executor::Bind(s, Context::CPU(), {}, {Filled(shape, 3), Filled(shape, 4)}, {Filled(shape, 100), Filled(shape, 100)},
                          {OpReq::kAdd, OpReq::kWrite}, {});
  e->Forward(true);
  EXPECT_NE(ErrorOf([&] { e->Backward({}); }).find("needs a head gradient"), std::string::npos);
  e->Backward({Filled(shape, 1)});
  EXPECT_EQ(Values(e->arg_grads[0]), std::vector<float>(2, 104));
  EXPECT_EQ(Values(e->arg_grads[1]), std::vector<float>(2, 0));  // no gradient flows: written as zero
  // the activations are gone: repeated on demand
  e->Backward({Filled(shape, 1)});
  EXPECT_EQ(Values(e->arg_grads[0]), std::vector<float>(2, 108));
  e->Forward(false);
  e->Backward({Filled(shape, 2)});
  EXPECT_EQ(Values(e->arg_grads[0]), std::vector<float>(2, 116));
}

TEST(Executor, ChecksWhatIsBound) {
  const Symbol s = Make("elemwise_add", {Var("a"), Var("b")});
  const NDArray two = Filled(Shape({2}), 1), three = Filled(Shape({3}), 1);
  EXPECT_NE(ErrorOf([&] { Executor::Bind(s, Context::CPU(), {}, {two}, {}, {}, {}); }).find("got 1 arguments"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Executor::Bind(s, Context::CPU(), {}, {two, three}, {}, {}, {}); }).find("elemwise_add"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Executor::Bind(s, Context::CPU(), {}, {two, NDArray()}, {}, {}, {}); }).find("b is missing"), std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              Executor::Bind(s, Context::CPU(), {}, {two, two}, {three, NDArray()}, {}, {});
            }).find("gradient of a"),
            std::string::npos);
  auto e = Executor::Bind(s, Context::CPU(), {}, {two, two}, {two, NDArray()}, {}, {});
  e->Backward({Filled(Shape({2}), 3)});  // runs the forward pass that is missing
  EXPECT_EQ(Values(e->arg_grads[0]), std::vector<float>(2, 3));
}

TEST(Executor, ReshapeSharesMemory) {
  const Symbol s = Make("FullyConnected", {Var("x")}, {{"num_hidden", "3"}, {"no_bias", "True"}}, "f");
  auto e = Executor::Bind(s, Context::CPU(), {}, {Filled(Shape({4, 2}), 1), Filled(Shape({3, 2}), 1)}, {}, {}, {});
  auto smaller = e->Reshape({{"x", Shape({2, 2})}}, false, false);
  EXPECT_EQ(smaller->args[0].chunk(), e->args[0].chunk());
  EXPECT_EQ(smaller->args[1].chunk(), e->args[1].chunk());
  smaller->Forward(false);
  EXPECT_EQ(Values(smaller->Outputs()[0]), std::vector<float>(6, 2));
  EXPECT_NE(ErrorOf([&] { e->Reshape({{"x", Shape({8, 2})}}, false, false); }).find("allow_up_sizing"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { e->Reshape({{"x", Shape({4, 1})}}, false, false); }).find("partial_shaping"), std::string::npos);
  auto larger = e->Reshape({{"x", Shape({8, 2})}}, false, true);
  larger->Forward(false);
  EXPECT_EQ(larger->Outputs()[0].shape(), Shape({8, 3}));
}

TEST(Executor, MonitorAndPartialForward) {
  EnvScope node_by_node("MXNET_USE_FUSION", "0");
  const Symbol s = Make("negative", {Make("tanh", {Var("x")}, {}, "t")}, {}, "n");
  auto e = Executor::Bind(s, Context::CPU(), {}, {Filled(Shape({2}), 0.5f)}, {}, {}, {});
  std::vector<std::string> seen;
  e->SetMonitor([&](const char* name, const char* op,
                    const NDArray& a) { seen.push_back(std::string(name) + ":" + op + ":" + std::to_string(Values(a)[0]).substr(0, 5)); },
                true);
  e->Forward(false);
  EXPECT_EQ(seen, (std::vector<std::string>{"x:tanh:0.500", "t_input0:tanh:0.500", "t_output:tanh:0.462", "n_input0:negative:0.462",
                                            "n_output:negative:-0.46"}));
  e->SetMonitor(nullptr, false);
  e->args[0].CopyBytesFrom(std::vector<float>(2, 0).data(), 8);
  EXPECT_EQ(e->PartialForward(false, 0), 1);
  EXPECT_EQ(e->PartialForward(false, 1), 0);
  EXPECT_EQ(Values(e->Outputs()[0])[0], -0.f);
}

// Nodes that go over the batch in micro_batches run as one step: with the first of them.
TEST(Executor, PartialForwardOfLoops) {
  const Symbol s = Make(
      "relu", {Make("Pooling", {Make("tanh", {Var("x")}, {}, "t")}, {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"pool_type", "max"}}, "p")},
      {}, "r");
  const NDArray x = Filled(Shape({16, 64, 128, 128}), 0.5f);
  auto e = Executor::Bind(s, Context::CPU(), {}, {x}, {}, {}, {});
  ASSERT_NE(e->DebugStr().find(" micro_batches"), std::string::npos) << e->DebugStr();
  for (int step = 0; e->PartialForward(false, step); ++step) {
  }
  const std::vector<float> y = Values(e->Outputs()[0]);
  for (size_t i = 0; i < y.size(); i += 65537) ASSERT_FLOAT_EQ(y[i], std::tanh(0.5f)) << i;
}

}  // namespace
