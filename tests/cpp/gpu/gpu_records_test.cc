/*
 * Records that only the CPU has stay out of plans for a GPU. The networks below make every pass
 * that is the CPU's alone change something, and every record without a GPU kernel appear, in plans
 * for the CPU; a pass or record without a network here is found too.
 */
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "common/graph_helpers.h"
#include "executor/plan/plan.h"

namespace mxnet {
namespace {

struct Network {
  std::string name;
  Symbol symbol;
  std::map<std::string, Shape> shapes;  // of what cannot be inferred
  bool train = false;
  bool mirror = false;  // MXNET_BACKWARD_DO_MIRROR
};

PlanRequest Request(const Network& network, const Context& ctx) {
  PlanRequest request;
  request.symbol = network.symbol;
  request.ctx = ctx;
  request.is_train = network.train;
  const IndexedGraph g(network.symbol.outputs);
  ShapeVector shapes(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    auto it = network.shapes.find(g.nodes[id].source->name);
    if (it != network.shapes.end()) shapes[g.eid(id, 0)] = it->second;
  }
  EXPECT_TRUE(InferShapes(g, &shapes)) << network.name;
  for (const auto& n : network.symbol.ListInputs(Symbol::kAll)) {
    request.inputs.emplace_back(shapes[g.eid(g.id.at(n.get()), 0)], kFloat32);
  }
  std::set<const Node*> moving;
  for (const auto& n : network.symbol.ListInputs(Symbol::kAuxStates)) moving.insert(n.get());
  if (network.train)
    for (const auto& n : network.symbol.ListInputs(Symbol::kAll))
      request.grad_req.push_back(moving.count(n.get()) ? OpReq::kNull : OpReq::kWrite);
  return request;
}

Symbol Convolve(const Symbol& x, const std::string& name, int filters, const char* kernel, const char* pad = "(0, 0)", int groups = 1) {
  return Make("Convolution", {x},
              {{"kernel", kernel},
               {"pad", pad},
               {"num_filter", std::to_string(filters)},
               {"num_group", std::to_string(groups)},
               {"no_bias", "True"}},
              name);
}
Symbol Norm(const Symbol& x, const std::string& name) { return Make("BatchNorm", {x}, {{"fix_gamma", "False"}}, name); }
Symbol Relu(const Symbol& x, const std::string& name) { return Make("relu", {x}, {}, name); }
Symbol Number(const char* op, const Symbol& x, const char* scalar, const std::string& name) {
  return Make(op, {x}, {{"scalar", scalar}}, name);
}

/* Residual blocks of a deep network. */
Symbol Residual(int blocks) {
  Symbol x = Convolve(Symbol::Variable("data"), "stem", 32, "(3, 3)", "(1, 1)");
  for (int i = 0; i < blocks; ++i) {
    const std::string n = std::to_string(i);
    Symbol y = Relu(Norm(Convolve(x, "a" + n, 8, "(1, 1)"), "na" + n), "ra" + n);
    y = Relu(Norm(Convolve(y, "b" + n, 8, "(3, 3)", "(1, 1)"), "nb" + n), "rb" + n);
    y = Norm(Convolve(y, "c" + n, 32, "(1, 1)"), "nc" + n);
    x = Relu(Make("elemwise_add", {y, x}, {}, "sum" + n), "r" + n);
  }
  return Make("mean", {x}, {{"axis", "(2, 3)"}}, "mean");
}

Symbol Expansion() {
  const Symbol wide = Relu(Convolve(Symbol::Variable("data"), "expand", 32, "(1, 1)"), "r0");
  return Convolve(Relu(Convolve(wide, "depthwise", 32, "(3, 3)", "(1, 1)", 32), "r1"), "project", 8, "(1, 1)");
}

Symbol Attention() {
  const Symbol scores = Make("batch_dot", {Number("_mul_scalar", Symbol::Variable("q"), "0.5", "scaled"), Symbol::Variable("k")},
                             {{"transpose_b", "True"}}, "scores");
  return Make("batch_dot", {Make("Dropout", {Make("softmax", {scores}, {}, "weights")}, {}, "dropped"), Symbol::Variable("v")}, {},
              "attention");
}

/* Layer normalization, gelu and softmax as formulas, and a chain of pointwise operators. */
Symbol Formulas() {
  const AttrDict last = {{"axis", "-1"}, {"keepdims", "True"}};
  const Symbol x = Make("sin", {Symbol::Variable("data")}, {}, "sin");
  const Symbol centred = Make("broadcast_sub", {x, Make("mean", {x}, last, "mean")}, {}, "centred");
  const Symbol variance = Make("mean", {Make("square", {centred}, {}, "squares")}, last, "variance");
  const Symbol deviation = Make("sqrt", {Number("_plus_scalar", variance, "1e-5", "safe")}, {}, "deviation");
  const Symbol normal = Make("FullyConnected", {Make("broadcast_div", {centred, deviation}, {}, "normal")}, {{"num_hidden", "8"}}, "dense");
  const Symbol half =
      Number("_plus_scalar", Make("erf", {Number("_mul_scalar", normal, "0.70710678118654752", "inner")}, {}, "erf"), "1", "one");
  const Symbol gelu = Number("_mul_scalar", Make("elemwise_mul", {normal, half}, {}, "product"), "0.5", "gelu");
  const Symbol y = Make("FullyConnected", {gelu}, {{"num_hidden", "8"}}, "dense2");
  const Symbol powers = Make("exp", {Make("broadcast_sub", {y, Make("max", {y}, last, "max")}, {}, "below")}, {}, "powers");
  const Symbol shares = Make("broadcast_div", {powers, Make("sum", {powers}, last, "total")}, {}, "shares");
  return Make("cos", {Number("_plus_scalar", Make("tanh", {shares}, {}, "tanh"), "1", "plus")}, {}, "cos");
}

/* A recurrent layer as Gluon makes it: parameters that are kept apart and joined. */
Symbol Recurrent() {
  std::vector<Symbol> parts;
  for (const char* name : {"i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias"})
    parts.push_back(Make("Reshape", {Symbol::Variable(name)}, {{"shape", "(-1,)"}}, std::string(name) + "_flat"));
  const Symbol joined = Make("_rnn_param_concat", parts, {{"dim", "0"}, {"num_args", "4"}}, "joined");
  return Make("RNN", {Symbol::Variable("data"), joined, Symbol::Variable("state")},
              {{"mode", "rnn_tanh"}, {"state_size", "6"}, {"num_layers", "1"}}, "rnn");
}

/* Images large enough that a batch of them does not fit in the caches. */
Symbol Large() {
  return Relu(Convolve(Relu(Convolve(Symbol::Variable("data"), "c0", 32, "(3, 3)", "(1, 1)"), "r0"), "c1", 32, "(3, 3)", "(1, 1)"), "r1");
}

/* Channels of two groups in turn. */
Symbol Shuffled() {
  const Symbol groups = Make("Reshape", {Relu(Symbol::Variable("data"), "r")}, {{"shape", "(2, 2, 8, 10, 10)"}}, "groups");
  const Symbol turned = Make("transpose", {groups}, {{"axes", "(0, 2, 1, 3, 4)"}}, "turned");
  return Make("Reshape", {turned}, {{"shape", "(2, 16, 10, 10)"}}, "shuffled");
}

/* Layers on 8-bit integers, each with its step back to 8 bits. */
Symbol Bytes() {
  const AttrDict range = {{"min_calib_range", "-1"}, {"max_calib_range", "1"}};
  AttrDict to_bytes = range;
  to_bytes["out_type"] = "int8";
  const auto layer = [&](const char* op, const Symbol& x, const std::string& name, AttrDict dict) {
    const Symbol w = Make("_contrib_quantize_v2", {Symbol::Variable(name + "_weight")}, to_bytes, name + "_weight_bytes");
    dict["no_bias"] = "True";
    const Symbol sums = Make(op, {x[0], w[0], x[1], x[2], w[1], w[2]}, std::move(dict), name);
    return Make("_contrib_requantize", {sums[0], sums[1], sums[2]}, range, name + "_back");
  };
  const Symbol data = Make("_contrib_quantize_v2", {Symbol::Variable("data")}, to_bytes, "data_bytes");
  const Symbol convolved = layer("_contrib_quantized_conv", data, "conv", {{"kernel", "(3, 3)"}, {"num_filter", "8"}});
  const Symbol scores = layer("_contrib_quantized_fully_connected", convolved, "dense", {{"num_hidden", "4"}});
  return Make("_contrib_dequantize", {scores[0], scores[1], scores[2]}, {}, "scores");
}

std::vector<Network> Networks() {
  const std::map<std::string, Shape> images = {{"data", {2, 16, 10, 10}}}, rows = {{"q", {6, 7, 8}}, {"k", {6, 9, 8}}, {"v", {6, 9, 8}}};
  std::vector<Network> networks;
  for (bool train : {false, true}) {
    const std::string suffix = train ? ", training" : "";
    networks.push_back({"residual" + suffix, Residual(1), {{"data", {2, 3, 10, 10}}}, train});
    networks.push_back({"expansion" + suffix, Expansion(), images, train});
    networks.push_back({"attention" + suffix, Attention(), rows, train});
    networks.push_back({"formulas" + suffix, Formulas(), {{"data", {4, 12}}}, train});
    networks.push_back(
        {"recurrent" + suffix,
         Recurrent(),
         {{"data", {5, 2, 4}}, {"state", {1, 2, 6}}, {"i2h_weight", {6, 4}}, {"h2h_weight", {6, 6}}, {"i2h_bias", {6}}, {"h2h_bias", {6}}},
         train});
  }
  networks.push_back({"residual, training with recomputation", Residual(4), {{"data", {4, 3, 16, 16}}}, true, true});
  networks.push_back({"norm and relu", Relu(Norm(Symbol::Variable("data"), "n"), "r"), images});
  networks.push_back({"shuffled channels", Shuffled(), images});
  networks.push_back({"bytes", Bytes(), {{"data", {2, 16, 10, 10}}, {"conv_weight", {8, 16, 3, 3}}, {"dense_weight", {4, 512}}}});
  networks.push_back({"large batch", Large(), {{"data", {64, 32, 64, 64}}}});
  return networks;
}

TEST(DeviceRecords, ThoseOfTheCpuAloneAreInNoPlanForAGpu) {
  std::set<std::string> cpu_records, seen_records, cpu_passes, seen_passes, device_passes;
  for (const Op* op : Op::ListUnique())
    if (op->KernelFor(DeviceType::kCPU) && !op->KernelFor(DeviceType::kGPU)) cpu_records.insert(op->name);
  for (const Network& network : Networks()) {
    SCOPED_TRACE(network.name);
    EnvScope mirror("MXNET_BACKWARD_DO_MIRROR", network.mirror ? "1" : "");
    const auto cpu = Plan::Compile(Request(network, Context::CPU()));
    for (const auto& n : cpu->nodes)
      if (cpu_records.count(n.attrs->op->name)) seen_records.insert(n.attrs->op->name);
    for (const PassRecord& pass : cpu->passes) {
      cpu_passes.insert(pass.name);
      if (pass.changed) seen_passes.insert(pass.name);
    }
    std::shared_ptr<const Plan> gpu;
    const std::string error =
        ErrorOf([&] { gpu = Plan::Compile(Request(network, Context::GPU(0))); });  // it refuses nodes that have no kernel
    EXPECT_EQ(error, "");
    if (!gpu) continue;
    EXPECT_EQ(gpu->has_backward, network.train);
    for (const auto& n : gpu->nodes) {
      EXPECT_EQ(cpu_records.count(n.attrs->op->name), 0u) << n.name << ", " << n.attrs->op->name;
      EXPECT_NE(n.kernel, nullptr) << n.name << ", " << n.attrs->op->name;
    }
    for (const PassRecord& pass : gpu->passes) device_passes.insert(pass.name);
  }
  for (const std::string& pass : cpu_passes)
    EXPECT_TRUE(device_passes.count(pass) || seen_passes.count(pass)) << pass << " is the CPU's alone and no network here triggers it";
  for (const std::string& record : cpu_records)
    EXPECT_EQ(seen_records.count(record), 1u) << record << " has no GPU kernel and no network here makes it on the CPU";
}

}  // namespace
}  // namespace mxnet
