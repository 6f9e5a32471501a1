// What a record says of itself and of other records is checked: a typo is an error that names it.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "operator/pointwise/recipe.h"
#include "operator/record/dtypes.h"
#include "operator/record/precision.h"
#include "operator/record/recompute.h"
#include "operator/record/record_check.h"
#include "operator/record/traits.h"
#include "operator/record/traits_graph.h"

using namespace mxnet;  // NOLINT

namespace {

/* What checking `op` throws; empty: nothing. */
std::string Complaint(const Op& op) {
  try {
    CheckRecord(op, Op::Find);
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::kValue);
    return e.what();
  }
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Records, AllOfThemHold) {
  int rules = 0, conditions = 0, recipes = 0;
  for (const Op* op : Op::ListUnique()) {
    EXPECT_EQ(Complaint(*op), "");
    rules += FindRecomputeRule(*op) != nullptr;
    conditions += PrecisionConditionOf(*op) != nullptr;
    recipes += op->trait<pointwise::FusionRecipe>() != nullptr;
  }
  EXPECT_GE(rules, 4);
  EXPECT_GE(conditions, 2);
  EXPECT_GE(recipes, 100);
}

TEST(Records, AllOfThemSayTheirDTypes) {
  for (const Op* record : Op::ListUnique()) {
    EXPECT_FALSE(record->dtypes.empty()) << record->name;
    EXPECT_EQ(std::set<int>(record->dtypes.begin(), record->dtypes.end()).size(), record->dtypes.size())
        << record->name << " names one twice";
  }
  Op op = *Op::Get("relu");
  op.dtypes.clear();
  EXPECT_TRUE(Has(Complaint(op), "[relu] says no dtypes (set_dtypes); accepted: some of those of operator/record/dtypes.h"));
}

TEST(Records, SetsOfDTypesHaveTheirMembers) {
  EXPECT_EQ(dtypes::List(dtypes::kFloats), "float32, float64, float16, bfloat16");
  EXPECT_EQ(dtypes::List(dtypes::kReals | dtypes::kBytes), "float32, float64, uint8, int8");
  EXPECT_EQ(dtypes::List(dtypes::kClassic - dtypes::kFloats), "uint8, int8, int32, int64, bool");
  EXPECT_EQ(std::vector<int>(dtypes::kAll).size(), static_cast<size_t>(kNumDTypes));
  for (int dtype = 0; dtype < kNumDTypes; ++dtype) {
    EXPECT_EQ(dtypes::kFloats.Has(dtype), IsFloating(dtype));
    EXPECT_EQ(dtypes::kHalves.Has(dtype), IsHalf(dtype));
    EXPECT_EQ(dtypes::kIntegersAndBool.Has(dtype), !IsFloating(dtype));
    EXPECT_EQ(dtypes::kBytes.Has(dtype), DTypeSize(dtype) == 1 && dtype != kBool);
  }
  EXPECT_FALSE(dtypes::kAll.Has(kDTypeUnknown) || dtypes::kAll.Has(kNumDTypes) || dtypes::kAll.Has(64));
}

TEST(Records, ARuleOfRecomputationNamesAnOperatorThatFits) {
  const Op dropout = *Op::Get("Dropout");
  Op op = dropout;
  op.recompute.op = "_backward_Dropuot";
  EXPECT_TRUE(Has(Complaint(op), "[Dropout] is recomputed by _backward_Dropuot, which is no operator"));
  op = dropout;
  op.recompute.op = "identity";
  EXPECT_TRUE(Has(Complaint(op), "identity, an alias of _copy"));
  op = dropout;
  op.recompute.reads = {2};
  EXPECT_TRUE(Has(Complaint(op), "from its output 2; it has 2 outputs"));
  op = dropout;
  op.recompute.inputs = 2;
  EXPECT_TRUE(Has(Complaint(op), "from 2 inputs; it has 1"));
  op = dropout;
  op.recompute.reads = {0, 1};
  EXPECT_TRUE(Has(Complaint(op), "from 3 arrays; that takes 2"));
  op = dropout;
  op.recompute.op = "elemwise_mul";
  EXPECT_TRUE(Has(Complaint(op), "other parameters (no parameters); accepted: an operator with p, mode, axes"));
  op = dropout;
  op.recompute.op.clear();
  EXPECT_TRUE(Has(Complaint(op), "names no operator"));
}

TEST(Records, WhatComputesReluTooFits) {
  Op op = *Op::Get("_backward_BatchNorm_recompute");
  ASSERT_NE(op.trait<WithRelu>(), nullptr);
  op.set_trait(WithRelu{"_backward_BatchNorm_relu"});
  EXPECT_TRUE(Has(Complaint(op), "together with relu by _backward_BatchNorm_relu, which is no operator"));
  op.set_trait(WithRelu{"relu"});
  EXPECT_TRUE(Has(Complaint(op), "by relu, which has other inputs or parameters"));
}

TEST(Records, AQuantizedFormFits) {
  const Op flatten = *Op::Get("Flatten");
  Op op = flatten;
  op.set_trait(Quantized{"_contrib_quantized_flat"});
  EXPECT_TRUE(Has(Complaint(op), "[Flatten] is quantized as _contrib_quantized_flat, which is no operator"));
  op.set_trait(Quantized{"relu"});
  EXPECT_TRUE(Has(Complaint(op), "relu, which takes 1 arrays; accepted: one that takes 3"));
  op.set_trait(Quantized{"relu", {1}});
  EXPECT_TRUE(Has(Complaint(op), "keeps input 1 as it is when quantized; it has 1 inputs"));
  op = *Op::Get("Activation");
  op.set_trait(Quantized{"relu", {0}});
  EXPECT_TRUE(Has(Complaint(op), "relu, which has no parameter 'act_type'"));
}

TEST(Records, AConditionOfPrecisionNamesAParameterAndItsValues) {
  const Op leaky = *Op::Get("LeakyReLU");
  Op op = leaky;
  op.set_precision_condition("act_typ", {"elu"});
  EXPECT_TRUE(Has(Complaint(op), "is on 'act_typ'; accepted: act_type, slope"));
  op = leaky;
  op.set_precision_condition("act_type", {"elu", "sellu"});
  EXPECT_TRUE(Has(Complaint(op), "act_type='sellu'; accepted: {'elu'"));
  op = leaky;
  op.set_precision_condition("act_type", {});
  EXPECT_TRUE(Has(Complaint(op), "act_type has no values"));
  op = leaky;
  op.set_precision(Precision::kFull);
  EXPECT_TRUE(Has(Complaint(op), "declares a precision and a condition on act_type"));
}

TEST(Records, ARecipeIsOneThatSomeLoopFollows) {
  const auto with = [](const char* name, auto change) {
    Op op = *Op::Get(name);
    pointwise::FusionRecipe recipe = *op.trait<pointwise::FusionRecipe>();
    change(&recipe);
    op.set_trait(recipe);
    return Complaint(op);
  };
  using pointwise::FusionRecipe;
  using pointwise::Recipe;
  EXPECT_TRUE(Has(with("exp", [](FusionRecipe* r) { r->prepared.row = 100000; }), "row 100000 of the pointwise table"));
  EXPECT_TRUE(Has(with("exp", [](FusionRecipe* r) { r->prepared.kind = Recipe::kSum; }), "is a sum; accepted: operators that take any"));
  EXPECT_TRUE(Has(with("add_n", [](FusionRecipe* r) { r->prepared.kind = Recipe::kCopy; }), "is not a sum, but the operator takes any"));
  EXPECT_TRUE(Has(with("exp", [](FusionRecipe* r) { r->prepared.count = 2; }), "operand 1 of its recipe is input 1; the operator has 1"));
  EXPECT_TRUE(Has(with("exp", [](FusionRecipe* r) { r->prepared.count = 4; }), "has 4 operands; accepted: 1 to 3"));
  EXPECT_TRUE(Has(with("_mul_scalar", [](FusionRecipe* r) { r->fill = nullptr; }), "operand 1 of its recipe is input -1"));
  EXPECT_TRUE(Has(with("_mul_scalar", [](FusionRecipe* r) { r->prepared.masks = 2; }), "operands that are all arrays"));
  const auto no_derivative = [](FusionRecipe* r) { r->prepared.kind = Recipe::kGradient, r->prepared.side = 1; };
  EXPECT_TRUE(Has(with("exp", no_derivative), "derivative 1 of row exp, which has none"));
}

}  // namespace
