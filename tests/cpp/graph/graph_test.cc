// Symbols, inference, gradient structure and JSON.
#include "mxnet/graph.h"

#include <gtest/gtest.h>

#include <random>

#include "common/graph_helpers.h"
#include "graph/json.h"
#include "graph/rewrite.h"
#include "operator/record/dtypes.h"

using namespace mxnet;  // NOLINT

namespace {

Symbol Var(const std::string& name, AttrDict attrs = {}) { return Symbol::Variable(name, std::move(attrs)); }

Symbol SmallNet() {
  Symbol conv = Make("Convolution", {Var("data")}, {{"kernel", "(3, 3)"}, {"num_filter", "8"}}, "conv");
  Symbol bn = Make("BatchNorm", {conv}, {}, "bn");
  Symbol relu = Make("Activation", {bn}, {{"act_type", "relu"}}, "relu");
  return Make("FullyConnected", {Make("Flatten", {relu}, {}, "flat")}, {{"num_hidden", "10"}}, "fc");
}

ShapeVector Infer(const Symbol& s, const std::map<std::string, Shape>& known, bool* complete = nullptr, bool outputs = false) {
  IndexedGraph g(s.outputs);
  ShapeVector shapes(g.num_entries());
  for (uint32_t id : g.input_nodes) {
    auto it = known.find(g.nodes[id].source->name);
    if (it != known.end()) shapes[g.eid(id, 0)] = it->second;
  }
  const bool ok = InferShapes(g, &shapes);
  if (complete) *complete = ok;
  ShapeVector chosen;
  if (outputs)
    for (const auto& e : g.outputs) chosen.push_back(shapes[g.eid(e)]);
  else
    for (uint32_t id : g.input_nodes) chosen.push_back(shapes[g.eid(id, 0)]);
  return chosen;
}

using Names = std::vector<std::string>;

MXNET_REGISTER_OP(_test_without_gradient).set_inputs({"data"}).set_dtypes(dtypes::kAll).set_infer_shape(ElemwiseShape);

TEST(Symbol, MissingInputsBecomeVariables) {
  const Symbol net = SmallNet();
  EXPECT_EQ(net.ListInputNames(Symbol::kReadOnlyArgs),
            (Names{"data", "conv_weight", "conv_bias", "bn_gamma", "bn_beta", "fc_weight", "fc_bias"}));
  EXPECT_EQ(net.ListInputNames(Symbol::kAuxStates), (Names{"bn_moving_mean", "bn_moving_var"}));
  EXPECT_EQ(net.ListOutputNames(), (Names{"fc_output"}));
  EXPECT_EQ(net.GetInternals().ListOutputNames().size(), 14u);  // 9 variables and 5 operators
  // what was made up carries the node's parameters, as files of 1.9.1 have it; moving statistics
  // say how they start
  std::map<std::string, std::string> attrs;
  for (const auto& kv : net.ListAttrs(true)) attrs[kv.first] = kv.second;
  EXPECT_EQ(attrs["conv_weight$num_filter"], "8");
  EXPECT_EQ(attrs["bn_moving_var$__init__"], "[\"one\", {}]");
}

TEST(Symbol, KeywordInputsAndErrors) {
  const AttrDict fc = {{"num_hidden", "3"}};
  EXPECT_EQ(Make("FullyConnected", {Var("w"), Var("x")}, fc, "f", {"weight", "data"}).ListInputNames(Symbol::kAll),
            (Names{"x", "w", "f_bias"}));
  EXPECT_NE(ErrorOf([&] { Make("FullyConnected", {Var("x")}, fc, "f", {"dat"}); }).find("no input dat"), std::string::npos);
  EXPECT_NE(ErrorOf([&] {
              Make("FullyConnected", {Var("a"), Var("b"), Var("c"), Var("d")}, fc, "f");
            }).find("accepted: 3"),
            std::string::npos);
  EXPECT_NE(ErrorOf([&] { Make("FullyConnected", {Var("a"), Var("b")}, fc, "f", {"data", "data"}); }).find("twice"), std::string::npos);
  const Symbol pair = Symbol::Group({Var("a"), Var("b")});
  EXPECT_NE(ErrorOf([&] { Make("Flatten", {pair}); }).find("2 outputs"), std::string::npos);
  EXPECT_NE(ErrorOf([&] { Make("Flatten", {Symbol::Atomic(Op::Get("Flatten"), {})}); }).find("compose it first"), std::string::npos);
}

TEST(Symbol, ReplacingVariablesLeavesTheOriginalAlone) {
  const Symbol net = SmallNet();
  Symbol copy = net;
  copy.Compose({Make("Flatten", {Var("other")}, {}, "pre")}, {"data"}, "renamed");
  EXPECT_EQ(copy.ListInputNames(Symbol::kReadOnlyArgs)[0], "other");
  EXPECT_EQ(net.ListInputNames(Symbol::kReadOnlyArgs)[0], "data");
  EXPECT_EQ(copy.ListOutputNames(), (Names{"renamed_output"}));
  EXPECT_EQ(net.ListOutputNames(), (Names{"fc_output"}));
  EXPECT_NE(ErrorOf([&] { copy.Compose({Var("x")}, {"nothing"}, ""); }).find("no variable nothing"), std::string::npos);
}

TEST(Symbol, CopyIsDeep) {
  const Symbol net = SmallNet();
  Symbol copy = net.Copy();
  copy.SetAttr("__mood__", "good");
  std::string value;
  EXPECT_TRUE(copy.GetAttr("__mood__", &value));
  EXPECT_FALSE(net.GetAttr("__mood__", &value));
  EXPECT_FALSE(Symbol::Group({net, Var("x")}).GetAttr("name", &value));
}

TEST(Symbol, VeryDeepGraphs) {
  Symbol s = Var("x");
  for (int i = 0; i < 200000; ++i) s = Make("negative", {s});
  EXPECT_EQ(IndexedGraph(s.outputs).nodes.size(), 200001u);
  EXPECT_EQ(s.ListInputNames(Symbol::kAll), (Names{"x"}));
}  // and destruction does not recurse

TEST(Infer, ForwardBackwardAndPartial) {
  const Symbol net = SmallNet();
  bool complete = false;
  const ShapeVector in = Infer(net, {{"data", Shape({2, 3, 8, 8})}}, &complete);
  EXPECT_TRUE(complete);
  EXPECT_EQ(in[1], Shape({8, 3, 3, 3}));
  EXPECT_EQ(in[7], Shape({10, 8 * 6 * 6}));
  // from the weight back to the data
  const Symbol fc = Make("FullyConnected", {Var("x")}, {{"num_hidden", "4"}, {"flatten", "False"}}, "fc");
  EXPECT_EQ(Infer(fc, {{"fc_weight", Shape({4, 7})}, {"x", Shape({5, -1})}}, &complete)[0], Shape({5, 7}));
  EXPECT_TRUE(complete);
  EXPECT_EQ(Infer(fc, {{"x", Shape({-1, 7})}}, &complete, true)[0], Shape({-1, 4}));
  EXPECT_FALSE(complete);
  // both sides of a sum tell each other
  const Symbol sum = Make("elemwise_add", {Var("a"), Var("b", {{"__shape__", "(0, 5)"}})});
  EXPECT_EQ(Infer(sum, {{"a", Shape({3, -1})}}, &complete, true)[0], Shape({3, 5}));
  EXPECT_TRUE(complete);
  const std::string error = ErrorOf([&] { Infer(sum, {{"a", Shape({3, 4})}}); });
  EXPECT_NE(error.find("elemwise_add"), std::string::npos);
}

TEST(Infer, Types) {
  const Symbol net = Make("Cast", {Make("elemwise_add", {Var("a"), Var("b")})}, {{"dtype", "int32"}});
  IndexedGraph g(net.outputs);
  std::vector<int> types(g.num_entries(), kDTypeUnknown);
  types[g.eid(g.input_nodes[0], 0)] = kFloat16;
  EXPECT_TRUE(InferTypes(g, &types));
  EXPECT_EQ(types[g.eid(g.input_nodes[1], 0)], kFloat16);
  EXPECT_EQ(types[g.eid(g.outputs[0])], kInt32);
  std::vector<int> none(g.num_entries(), kDTypeUnknown);
  EXPECT_FALSE(InferTypes(g, &none, kDTypeUnknown));
  EXPECT_TRUE(InferTypes(g, &none, kFloat64));
  EXPECT_EQ(none[0], kFloat64);
}

TEST(Gradient, OneSumPerEntryAndNothingUnneeded) {
  const Symbol x = Var("x"), w = Var("w");
  Symbol y = Make("elemwise_mul", {x, w});
  y = Make("elemwise_add", {y, Make("elemwise_mul", {x, x})});
  const auto grads = Gradient(y.outputs, {x.outputs[0]}, {});
  ASSERT_TRUE(grads[0]);
  int sums = 0;
  DFSVisit(grads, [&](const NodePtr& n) { sums += !n->is_variable() && n->op()->name == "add_n"; });
  EXPECT_EQ(sums, 1);
  EXPECT_FALSE(Gradient(y.outputs, {Var("elsewhere").outputs[0]}, {})[0]);
}

TEST(Gradient, WithoutOneIsAClearError) {
  const Symbol x = Var("x");
  const Symbol y = Make("_test_without_gradient", {x});
  EXPECT_NE(ErrorOf([&] { Gradient(y.outputs, {x.outputs[0]}, {}); }).find("has no gradient"), std::string::npos);
}

TEST(Gradient, MirroredNodesAreRepeatedInTheBackwardPass) {
  const Symbol x = Var("x");
  const Symbol a = Make("tanh", {x}, {}, "a");
  const Symbol b = Make("elemwise_mul", {a, a}, {}, "b");
  const auto grads = Gradient(b.outputs, {x.outputs[0]}, {Var("head").outputs[0]}, [](const Node& n) { return n.name == "a"; });
  bool repeated = false, original = false;
  DFSVisit(grads, [&](const NodePtr& n) {
    repeated = repeated || n->name == "a_mirror";
    original = original || n.get() == a.outputs[0].node.get();
  });
  EXPECT_TRUE(repeated);
  EXPECT_FALSE(original);  // nothing keeps the forward result
}

TEST(Json, RoundTrip) {
  const Symbol net = SmallNet();
  const std::string text = SymbolToJSON(net);
  const Symbol again = SymbolFromJSON(text);
  EXPECT_EQ(SymbolToJSON(again), text);
  EXPECT_EQ(again.ListInputNames(Symbol::kAuxStates), net.ListInputNames(Symbol::kAuxStates));
  EXPECT_NE(text.find("\"mxnet_version\": [\"int\", 11000]"), std::string::npos);
  Symbol odd = Var("quote\" back\\slash \n tab\t \xC3\xA9");
  EXPECT_EQ(SymbolFromJSON(SymbolToJSON(odd)).ListInputNames(Symbol::kAll), odd.ListInputNames(Symbol::kAll));
}

TEST(Json, FilesBeforeAuxiliaryStatesWereInputs) {
  const Symbol net = SymbolFromJSON(R"({"nodes": [
    {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
    {"op": "null", "param": {}, "name": "fc_weight", "inputs": [], "backward_source_id": -1},
    {"op": "null", "param": {}, "name": "fc_bias", "inputs": [], "backward_source_id": -1},
    {"op": "FullyConnected", "param": {"num_hidden": "4"}, "name": "fc", "inputs": [[0, 0], [1, 0], [2, 0]], "backward_source_id": -1,
     "attr": {"weight_lr_mult": "0.5", "ctx_group": "g"}},
    {"op": "null", "param": {}, "name": "bn_gamma", "inputs": [], "backward_source_id": -1},
    {"op": "null", "param": {}, "name": "bn_beta", "inputs": [], "backward_source_id": -1},
    {"op": "BatchNorm", "param": {"eps": "0.001"}, "name": "bn", "inputs": [[3, 0], [4, 0], [5, 0]], "backward_source_id": -1}],
    "arg_nodes": [0, 1, 2, 4, 5], "heads": [[6, 0]]})");
  EXPECT_EQ(net.ListInputNames(Symbol::kReadOnlyArgs), (Names{"data", "fc_weight", "fc_bias", "bn_gamma", "bn_beta"}));
  EXPECT_EQ(net.ListInputNames(Symbol::kAuxStates), (Names{"bn_moving_mean", "bn_moving_var"}));
  std::map<std::string, std::string> attrs;
  for (const auto& kv : net.ListAttrs(true)) attrs[kv.first] = kv.second;
  EXPECT_EQ(attrs["fc_weight$__lr_mult__"], "0.5");
  EXPECT_EQ(attrs["fc$__ctx_group__"], "g");
}

/* The numbers of versions are where 1.9.1 does it, too. */
TEST(Json, StatesOfFilesBefore094GetTheirInitialValues) {
  for (const int version : {0, 901, 903, 904, 10901}) {
    std::string nodes;
    for (const char* input : {"data", "gamma", "beta", "mean", "var"})
      nodes += std::string(R"({"op": "null", "name": ")") + input + R"(", "inputs": []}, )";
    const std::string attrs = version ? R"(, "attrs": {"mxnet_version": ["int", )" + std::to_string(version) + "]}" : "";
    const Symbol net = SymbolFromJSON(
        R"({"nodes": [)" + nodes +
        R"({"op": "BatchNorm", "name": "bn", "inputs": [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]}], "heads": [[5, 0]])" + attrs + "}");
    std::map<std::string, std::string> found;
    for (const auto& kv : net.ListAttrs(true)) found[kv.first] = kv.second;
    EXPECT_EQ(found.count("mean$__init__") + found.count("var$__init__"), version < 904 ? 2U : 0U) << version;
    EXPECT_EQ(found.count("gamma$__init__"), 0U);
  }
}

TEST(Json, MalformedFilesAreRefused) {
  const std::string v = R"({"op": "null", "name": "a", "inputs": []})";
  const std::vector<std::string> bad = {
      "",
      "nonsense",
      "[]",
      "{}",
      R"({"nodes": []})",
      R"({"nodes": [], "heads": []})",
      R"({"nodes": [], "heads": [[0, 0, 0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[1, 0, 0]]})",  // no such node
      R"({"nodes": [)" + v + R"(], "heads": [[0, 1, 0]]})",  // no such output
      R"({"nodes": [)" + v + R"(], "heads": [[-1, 0, 0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[0.5, 0, 0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[0, 0, 0, 0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[1e300, 0, 0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[0, 0, 0]], "arg_nodes": [7]})",
      R"({"nodes": [)" + v + R"(], "heads": [[0, 0, 0]], "node_row_ptr": 0})",
      R"({"nodes": [)" + v + R"(], "heads": [[0, 0, 0]], "node_row_ptr": ["x"]})",
      R"({"nodes": [{"op": "null", "name": "a"}], "heads": [[0, 0, 0]]})",
      R"({"nodes": [{"op": "no_such_operator", "name": "a", "inputs": []}], "heads": [[0, 0, 0]]})",
      R"({"nodes": [{"op": "negative", "name": "a", "inputs": [[0, 0, 0]]}], "heads": [[0, 0, 0]]})",  // its own input
      R"({"nodes": [{"op": "negative", "name": "a", "inputs": [[1, 0, 0]]}, {"op": "negative", "name": "b", "inputs": [[0, 0, 0]]}], "heads": [[0, 0, 0]]})",  // a cycle
      R"({"nodes": [{"op": "null", "name": "a", "inputs": [[0, 0, 0]]}], "heads": [[0, 0, 0]]})",
      R"({"nodes": [)" + v +
          R"(, {"op": "negative", "name": "b", "inputs": [[0, 0, 0], [0, 0, 0]]}], "heads": [[1, 0, 0]]})",  // too many inputs
      R"({"nodes": [)" + v +
          R"(, {"op": "elemwise_add", "name": "b", "inputs": [[0, 0, 0]]}], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})",
      R"({"nodes": [)" + v +
          R"(, {"op": "FullyConnected", "name": "b", "attrs": {"num_hidden": "many"}, "inputs": [[0, 0, 0]]}], "heads": [[1, 0, 0]]})",
      R"({"nodes": [{"op": "null", "name": 3, "inputs": []}], "heads": [[0, 0, 0]]})",
      R"({"nodes": [{"op": "null", "name": "a", "attrs": {"k": 1}, "inputs": []}], "heads": [[0, 0, 0]]})",
      R"({"nodes": [)" + v + R"(], "heads": [[0, 0, 0]], "attrs": {"mxnet_version": 5}})"};
  for (const auto& text : bad) EXPECT_THROW(SymbolFromJSON(text), Error) << text;
  EXPECT_THROW(SymbolFromJSON(std::string(100000, '[')), Error);
  EXPECT_THROW(SymbolFromJSON("{\"nodes\": " + std::string(100000, '{')), Error);
}

TEST(Json, EveryTruncationAndRandomDamageIsHandled) {
  const std::string text = SymbolToJSON(SmallNet());
  for (size_t n = 0; n + 1 < text.size(); ++n) EXPECT_THROW(SymbolFromJSON(text.substr(0, n)), Error) << n;
  std::mt19937 random(7);
  int loaded = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
    try {
      loaded += SymbolFromJSON(damaged).outputs.size() > 0;  // damage inside a name is no damage
    } catch (const Error&) {
    }
  }
  EXPECT_GT(loaded, 0);
  EXPECT_LT(loaded, 3000);
}

TEST(Json, Strings) {
  EXPECT_EQ(ParseJson(R"("a\u00e9\ud83d\ude00\n\/")").text, "a\xC3\xA9\xF0\x9F\x98\x80\n/");
  for (const char* bad :
       {R"("\u12")", R"("\ud800x")", R"("\q")", "\"open", "1.", "nul", "[1,]", "{\"a\":1,}", "{\"a\" 1}", "1 2", "--1", "+1"}) {
    if (std::string(bad) == "1.") continue;  // accepted, as the reference's reader does
    EXPECT_THROW(ParseJson(bad), Error) << bad;
  }
}

}  // namespace
