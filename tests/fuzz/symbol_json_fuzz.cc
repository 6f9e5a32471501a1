// Symbol files: damaged ones, and sound ones that ask for absurd things.
#include <gtest/gtest.h>

#include "fuzz.h"
#include "mxnet/error.h"
#include "mxnet/graph.h"

using namespace mxnet;  // NOLINT

namespace {

/* Reads a graph and does with it what a program does next. */
void Use(const std::string& json) {
  const Symbol s = SymbolFromJSON(json);
  s.ListInputNames(Symbol::kAll);
  s.ListOutputNames();
  const IndexedGraph g(s.outputs);
  ShapeVector shapes(g.num_entries());
  for (uint32_t id : g.input_nodes)
    if (g.nodes[id].source->name == "data") shapes[g.eid(id, 0)] = Shape({2, 3, 8, 8});
  InferShapes(g, &shapes);
  SymbolToJSON(s);
}

const std::vector<std::string> kTokens = {"{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "\"",
                                          "\\",
                                          "\\u0000",
                                          "\\ud800",
                                          "null",
                                          "true",
                                          "\"op\"",
                                          "\"name\"",
                                          "\"attrs\"",
                                          "\"param\"",
                                          "\"attr\"",
                                          "\"inputs\"",
                                          "\"nodes\"",
                                          "\"heads\"",
                                          "\"arg_nodes\"",
                                          "\"node_row_ptr\"",
                                          "\"subgraphs\"",
                                          "\"control_deps\"",
                                          "\"mxnet_version\"",
                                          "\"int\"",
                                          "[0, 0, 0]",
                                          "[1, 0]",
                                          "\"Convolution\"",
                                          "\"FullyConnected\"",
                                          "\"Concat\"",
                                          "\"num_args\"",
                                          "\"SliceChannel\"",
                                          "\"num_outputs\"",
                                          "\"Reshape\"",
                                          "\"shape\"",
                                          "\"(0, -1)\"",
                                          "\"(-4, 9223372036854775807, -1)\"",
                                          "\"transpose\"",
                                          "\"axes\"",
                                          "\"Pooling\"",
                                          "\"kernel\"",
                                          "\"(3, 3)\"",
                                          "\"num_filter\"",
                                          "\"__shape__\"",
                                          "\"__init__\"",
                                          "\"lr_mult\"",
                                          "\"BatchNorm\"",
                                          "\"RNN\"",
                                          "\"slice\"",
                                          "\"begin\"",
                                          "\"tile\"",
                                          "\"reps\"",
                                          "\"_zeros\"",
                                          "\"_CachedOp\"",
                                          "\"Custom\"",
                                          std::string("\0", 1),
                                          "\xff\xfe"};

TEST(SymbolJsonFuzz, DamagedFiles) {
  fuzz::Mutator mutator(
      1,
      {fuzz::Data("gluon_net-symbol.json"),
       R"({"nodes": [{"op": "null", "name": "data", "inputs": []}, {"op": "Concat", "name": "c", "attrs": {"num_args": "2", "dim": "1"}, "inputs": [[0, 0, 0], [0, 0, 0]]},
                               {"op": "SliceChannel", "name": "s", "attrs": {"num_outputs": "3", "axis": "2"}, "inputs": [[1, 0, 0]]}],
                               "arg_nodes": [0], "node_row_ptr": [0, 1, 2, 5], "heads": [[2, 1, 0]], "attrs": {"mxnet_version": ["int", 10901]}})",
       R"({"nodes": [{"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1, "attr": {"lr_mult": "0.1"}},
                               {"op": "BatchNorm", "param": {"eps": "0.001", "momentum": "0.9"}, "name": "bn", "inputs": [[0, 0]], "backward_source_id": -1}],
                               "arg_nodes": [0], "heads": [[1, 0]]})"},
      kTokens);
  fuzz::Run(&mutator, 3000, {2048, 4 << 20}, Use);
}

TEST(SymbolJsonFuzz, NumbersThatNobodyMeans) {
  auto node = [](const std::string& op, const std::string& attrs) {
    return R"({"nodes": [{"op": "null", "name": "data", "inputs": []}, {"op": ")" + op + R"(", "name": "n", "attrs": {)" + attrs +
           R"(}, "inputs": [[0, 0, 0]]}], "arg_nodes": [0], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})";
  };
  for (const std::string& json :
       {node("Concat", R"x("num_args": "2000000000")x"), node("add_n", R"x("num_args": "2000000000")x"),
        node("SliceChannel", R"x("num_outputs": "2000000000")x"), node("SliceChannel", R"x("num_outputs": "4294967297")x"),
        node("tile", R"x("reps": "(9223372036854775807, 9223372036854775807)")x"),
        node("Reshape", R"x("shape": "(-4, 9223372036854775807, -1)")x"), node("repeat", R"x("repeats": "9223372036854775807")x"),
        node("Pooling", R"x("kernel": "(9223372036854775807, 3)")x"),
        node("Pad", R"x("mode": "constant", "pad_width": "(0,9223372036854775807,0,9223372036854775807)")x"),
        node("expand_dims", R"x("axis": "2147483647")x"), node("transpose", R"x("axes": "(7, 7, 7, 7)")x"),
        node("one_hot", R"x("depth": "9223372036854775807")x"),
        node("UpSampling", R"x("scale": "2000000000", "sample_type": "nearest", "num_args": "1")x")}) {
    fuzz::Allocations::Reset();
    try {
      Use(json);
    } catch (const Error&) {
    }
    EXPECT_LE(fuzz::Allocations::Peak(), size_t{16} << 20) << json;
  }
}

// Depth costs no stack: neither of the text nor of the graph.
TEST(SymbolJsonFuzz, DeepOnes) {
  EXPECT_THROW(SymbolFromJSON(std::string(1000000, '[')), Error);
  EXPECT_THROW(SymbolFromJSON("{\"nodes\": " + std::string(1000000, '{')), Error);
  std::string chain = R"({"nodes": [{"op": "null", "name": "data", "inputs": []})";
  constexpr int kNodes = 20000;
  for (int i = 0; i < kNodes; ++i)
    chain += ", {\"op\": \"relu\", \"name\": \"r" + std::to_string(i) + "\", \"inputs\": [[" + std::to_string(i) + ", 0, 0]]}";
  chain += "], \"arg_nodes\": [0], \"heads\": [[" + std::to_string(kNodes) + R"(, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})";
  Use(chain);
}

}  // namespace
