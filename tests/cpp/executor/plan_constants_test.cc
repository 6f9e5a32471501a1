// Constants of a plan that are dropped while nobody reads them and computed again when somebody
// asks.
#include "executor/plan/plan_constants.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <vector>

#include "mxnet/op.h"

namespace mxnet {
namespace {

constexpr int64_t kFloats = 1 << 16;
constexpr PlanConstants::Postponed kNode = PlanConstants::Postponed::kNode;

/* Two constant nodes of one result; the second reads the first's. `readers` layers read the
 * second's: as their weight, or else as their data. */
struct Fixture {
  Plan plan;
  char* memory;
  std::vector<int> computed;
  size_t bytes = kFloats * sizeof(float);

  explicit Fixture(int readers, size_t gap = 0, bool weights = true) {
    plan.constant_bytes = 2 * bytes + gap;
    memory = static_cast<char*>(mmap(nullptr, plan.constant_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    auto blob = [&](size_t offset) {
      Plan::Blob b;
      b.shape.shape = Shape{kFloats};
      b.shape.dtype = kFloat32;
      b.place = Plan::Place::kConstant, b.at = offset;
      plan.blobs.push_back(b);
      return static_cast<int>(plan.blobs.size()) - 1;
    };
    auto node = [&](int in, int num_in, int out, int num_out, bool constant) {
      Plan::Node n{};
      n.in = in, n.num_in = num_in, n.out = out, n.num_out = num_out, n.constant = constant;
      plan.nodes.push_back(n);
    };
    const int first = blob(0), again = blob(0), second = blob(bytes + gap);
    node(first, 0, first, 1, true);
    node(again, 1, second, 1, true);
    for (int i = 0; i < readers; ++i) {
      const int in = blob(bytes + gap);
      blob(bytes + gap);
      plan.blobs[weights ? in : in + 1].place = Plan::Place::kNowhere;
      node(in, 2, in, 0, false);
      plan.nodes.back().attrs = MakeAttrs(Op::Get("FullyConnected"), {{"num_hidden", "1"}, {"no_bias", "True"}});
    }
    for (int t : {0, 1}) Compute(t);
  }
  ~Fixture() { munmap(memory, plan.constant_bytes); }
  float* Data(int node) { return reinterpret_cast<float*>(memory + plan.blobs[plan.nodes[node].out].at); }
  // The first node gives 7, the second adds 1 to it.
  void Compute(int node) {
    computed.push_back(node);
    for (int64_t i = 0; i < kFloats; ++i) Data(node)[i] = node == 0 ? 7.f : Data(0)[i] + 1;
  }
  std::unique_ptr<PlanConstants> Constants() {
    auto constants = std::make_unique<PlanConstants>(plan, [this](int node) { Compute(node); });
    constants->PutAt(memory);
    return constants;
  }
  bool All(int node, float value) {
    for (int64_t i = 0; i < kFloats; ++i)
      if (Data(node)[i] != value) return false;
    return true;
  }
};

TEST(PlanConstants, DroppedAndComputedAgain) {
  Fixture f(1, 192);  // the second piece does not begin with a page
  const auto owner = f.Constants();
  PlanConstants& constants = *owner;
  constants.Done(f.Data(1));
  EXPECT_EQ(f.bytes, constants.dropped_bytes());
  EXPECT_EQ(0.f, f.Data(1)[kFloats / 2]);
  EXPECT_TRUE(f.All(0, 7));   // its neighbour on the same page is whole
  constants.Done(f.Data(0));  // its only reader is the other node
  EXPECT_EQ(2 * f.bytes, constants.dropped_bytes());
  f.computed.clear();
  constants.Need(f.Data(1));
  EXPECT_TRUE(f.All(1, 8));
  EXPECT_EQ((std::vector<int>{0, 1}), f.computed);  // what it is computed from comes first
  EXPECT_EQ(0u, constants.dropped_bytes());
  f.computed.clear();
  constants.Need(f.Data(1));
  EXPECT_TRUE(f.computed.empty());
}

TEST(PlanConstants, WhatPlanComputesIsThere) {
  Fixture f(1);
  const auto owner = f.Constants();
  PlanConstants& constants = *owner;
  constants.Done(f.Data(1));
  f.Compute(1);
  constants.Computed(1);
  EXPECT_EQ(0u, constants.dropped_bytes());
  f.computed.clear();
  constants.Need(f.Data(1));
  EXPECT_TRUE(f.computed.empty());
}

/* A constant node that reads a slot, and the layer that has its result as the weight. */
struct OfSlot : Fixture {
  OfSlot() : Fixture(1) {
    plan.num_inputs = 1;
    plan.slot_blobs = {{plan.nodes[0].in}};
    plan.blobs[plan.nodes[0].in].place = Plan::Place::kSlot, plan.blobs[plan.nodes[0].in].at = 0;
    plan.nodes[0].in = Again(plan.nodes[0].in), plan.nodes[0].num_in = 1;
    for (int t : {0, 1}) plan.nodes[t].attrs = MakeAttrs(Op::Get("exp"), {});
  }
  int Again(int blob) {  // the node's result is a constant still
    Plan::Blob result = plan.blobs[blob];
    result.place = Plan::Place::kConstant, result.at = 0;
    plan.blobs.push_back(plan.blobs[blob]);
    plan.blobs[blob] = result;
    return static_cast<int>(plan.blobs.size()) - 1;
  }
};

TEST(PlanConstants, PlansOfOneModelKnowEqualWeights) {
  OfSlot f, g;
  const auto one = f.Constants(), two = g.Constants();
  EXPECT_EQ(0u, one->Identity(f.Data(1)));  // nothing is known of the slot
  float weight = 0, elsewhere = 0;
  one->Know(0, &weight, 5);
  two->Know(0, &elsewhere, 5);  // a copy by another plan's place, of the same contents
  const uint64_t before = one->Identity(f.Data(1));
  EXPECT_NE(0u, before);
  EXPECT_EQ(5u, one->Identity(&weight));
  EXPECT_EQ(before, two->Identity(g.Data(1)));
  EXPECT_NE(before, one->Identity(f.Data(0)));
  one->Know(0, &weight, 6);  // written
  EXPECT_NE(before, one->Identity(f.Data(1)));
  one->Know(0, &elsewhere, 6);  // another array
  EXPECT_EQ(0u, one->Identity(&weight));
  EXPECT_EQ(6u, one->Identity(&elsewhere));
}

TEST(PlanConstants, KeptForOtherReadersAndStrangers) {
  Fixture f(2);
  const auto owner = f.Constants();
  PlanConstants& constants = *owner;
  constants.Done(f.Data(1));
  EXPECT_EQ(0u, constants.dropped_bytes());
  EXPECT_TRUE(f.All(1, 8));
  float other = 0;
  constants.Done(&other);
  constants.Need(&other);
  constants.Done(f.Data(1) + 1);
  EXPECT_EQ(0u, constants.dropped_bytes());
}

TEST(PlanConstants, NotComputedUntilSomebodyAsks) {
  for (int readers : {1, 2}) {
    Fixture f(readers);
    const auto constants = f.Constants();
    f.computed.clear();
    std::memset(f.memory, 0xff, f.plan.constant_bytes);
    EXPECT_EQ(kNode, constants->Postpone(0));
    EXPECT_EQ(kNode, constants->Postpone(1));
    EXPECT_EQ(2 * f.bytes, constants->dropped_bytes());
    EXPECT_TRUE(f.computed.empty());
    constants->Need(f.Data(1));
    EXPECT_EQ((std::vector<int>{0, 1}), f.computed);
    EXPECT_TRUE(f.All(1, 8));
    EXPECT_EQ(kNode, constants->Postpone(1));  // what it is made of has changed
    constants->Need(f.Data(1));
    EXPECT_EQ((std::vector<int>{0, 1, 1}), f.computed);
  }
}

TEST(PlanConstants, ComputedWhereAReaderDoesNotAsk) {
  Fixture f(1, 0, false);
  const auto constants = f.Constants();
  EXPECT_EQ(PlanConstants::Postponed::kNothing, constants->Postpone(1));
  EXPECT_EQ(kNode, constants->Postpone(0));  // the node that reads it asks
}

}  // namespace
}  // namespace mxnet
