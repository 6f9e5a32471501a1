// The switches of a thread that inference reads: what was found under one setting is not used under
// another one, by eager calls or by compiled graphs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mxnet/executor.h"
#include "mxnet/imperative.h"
#include "mxnet/numpy_shapes.h"
#include "mxnet/op.h"
#include "operator/record/numpy_types.h"

using namespace mxnet;  // NOLINT

namespace {

class SwitchScope {
 public:
  SwitchScope() : float64_(numpy::DefaultIsFloat64()), shapes_(NumpyShapes()) {}
  ~SwitchScope() { numpy::DefaultIsFloat64() = float64_, SetNumpyShapes(shapes_); }

 private:
  const bool float64_, shapes_;
};

/* The dtypes of the results, by setting; empty: the operator does not take these arrays. */
std::vector<int> Wanted(const Attrs& attrs, const std::vector<int>& dtypes, bool float64) {
  TensorTypes in, out(static_cast<size_t>(attrs.op->NumOutputs(attrs)));
  for (int t : dtypes) in.emplace_back(Shape({3}), t, StorageType::kDense);
  InferSwitches switches;
  switches.float64_default = float64;
  std::vector<int> found;
  try {
    if (!InferCall(attrs, switches, &in, &out)) return {};
  } catch (const Error&) {
    return {};
  }
  for (const TensorType& t : in)
    if (t.shape != Shape({3})) return {};
  for (size_t i = 0; i < dtypes.size(); ++i)
    if (in[i].dtype != dtypes[i]) return {};
  for (const TensorType& t : out) found.push_back(t.dtype);
  return found;
}

std::vector<int> DTypesOf(const std::vector<NDArray>& arrays) {
  std::vector<int> dtypes;
  for (const NDArray& a : arrays) dtypes.push_back(a.dtype());
  return dtypes;
}

std::vector<NDArray*> Pointers(std::vector<NDArray>* arrays) {
  std::vector<NDArray*> pointers;
  for (NDArray& a : *arrays) pointers.push_back(&a);
  return pointers;
}

struct Call {
  AttrsPtr attrs;
  std::vector<int> dtypes;
  std::vector<int> wanted[2];
};

/* Calls whose results' dtypes differ between the two settings of the default float. */
std::vector<Call> CallsThatDiffer() {
  std::vector<Call> calls;
  for (const Op* op : Op::ListUnique()) {
    if (!op->reads_switches() || op->name.compare(0, 9, "_backward") == 0) continue;
    AttrsPtr attrs;
    try {
      attrs = MakeAttrs(op, {});
    } catch (const Error&) {
      continue;
    }
    const int n = op->NumInputs(*attrs);
    if (n < 1 || n > 2) continue;
    for (int first : {kInt32, kInt64, kFloat32}) {
      for (int second : {kFloat32, kInt32}) {
        std::vector<int> dtypes = {first, second};
        dtypes.resize(static_cast<size_t>(n));
        Call call = {attrs, dtypes, {Wanted(*attrs, dtypes, false), Wanted(*attrs, dtypes, true)}};
        if (call.wanted[0] != call.wanted[1] && !call.wanted[0].empty() && !call.wanted[1].empty()) calls.push_back(std::move(call));
      }
    }
  }
  return calls;
}

std::vector<NDArray> Inputs(const Call& call) {
  std::vector<NDArray> inputs;
  for (int t : call.dtypes) {
    inputs.emplace_back(Shape({3}), Context::CPU(), t);
    const std::vector<char> zeros(3 * DTypeSize(t), 0);
    inputs.back().CopyBytesFrom(zeros.data(), zeros.size());
  }
  return inputs;
}

TEST(Switches, EagerCallsFollowTheDefaultFloat) {
  const SwitchScope scope;
  const std::vector<Call> calls = CallsThatDiffer();
  EXPECT_GT(calls.size(), 50u);
  for (const Call& call : calls) {
    std::vector<NDArray> inputs = Inputs(call);
    for (int round = 0; round < 5; ++round) {
      numpy::DefaultIsFloat64() = round & 1;
      std::vector<NDArray> outputs(call.wanted[0].size());
      Imperative::Invoke(call.attrs, Pointers(&inputs), Pointers(&outputs));
      ASSERT_EQ(DTypesOf(outputs), call.wanted[round & 1]) << call.attrs->op->name << ", round " << round;
    }
  }
}

TEST(Switches, CompiledGraphsFollowTheDefaultFloat) {
  const SwitchScope scope;
  for (const Call& call : CallsThatDiffer()) {
    Symbol graph;
    auto node = std::make_shared<Node>();
    node->name = "node";
    node->attrs = call.attrs;
    for (size_t i = 0; i < call.dtypes.size(); ++i) node->inputs.push_back({MakeVariable("x" + std::to_string(i)), 0, 0});
    graph.outputs = {{node, 0, 0}};
    const auto op = CachedOp::Create(graph, {{"inline_limit", "0"}, {"static_alloc", "true"}});
    std::vector<NDArray> inputs = Inputs(call);
    for (int round = 0; round < 5; ++round) {
      numpy::DefaultIsFloat64() = round & 1;
      std::vector<NDArray> outputs(1);
      op->Invoke(Pointers(&inputs), Pointers(&outputs));
      ASSERT_EQ(outputs[0].dtype(), call.wanted[round & 1][0]) << call.attrs->op->name << ", round " << round;
    }
  }
}

// A draw without a shape is one number, in NumPy's shapes an array without dimensions.
TEST(Switches, CompiledDrawsFollowTheShapes) {
  const SwitchScope scope;
  Symbol graph;
  graph.outputs = {MakeOp("_random_uniform", {}, {{"shape", "()"}}, "draw")};
  const auto op = CachedOp::Create(graph, {{"inline_limit", "0"}});
  for (int round = 0; round < 4; ++round) {
    SetNumpyShapes(round & 1);
    std::vector<NDArray> outputs(1);
    op->Invoke({}, Pointers(&outputs));
    ASSERT_EQ(outputs[0].shape(), round & 1 ? Shape(std::vector<int64_t>()) : Shape({1})) << "round " << round;
  }
}

}  // namespace
