// Sparse arrays: parts and their memory, checks of what callers fill in, copies between storages,
// and random programs against serial execution on dense arrays, also from several threads.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <thread>

#include "mxnet/engine.h"
#include "mxnet/imperative.h"
#include "mxnet/ndarray.h"
#include "mxnet/op.h"
#include "operator/record/call_cost.h"
#include "operator/record/sparse_form.h"

using namespace mxnet;  // NOLINT

namespace {

NDArray Dense(const Shape& shape, const std::vector<float>& values) {
  NDArray a(shape, Context::CPU(), kFloat32);
  a.CopyBytesFrom(values.data(), values.size() * sizeof(float));
  return a;
}

NDArray Integers(const std::vector<int64_t>& values) {
  NDArray a(Shape{static_cast<int64_t>(values.size())}, Context::CPU(), kInt64);
  a.CopyBytesFrom(values.data(), values.size() * sizeof(int64_t));
  return a;
}

template <typename T>
std::vector<T> Values(const NDArray& a) {
  std::vector<T> values(static_cast<size_t>(a.shape().Size()));
  a.CopyBytesTo(values.data(), values.size() * sizeof(T));
  return values;
}

NDArray RunOp(const std::string& op, const std::vector<NDArray>& inputs, const AttrDict& dict = {}) {
  std::vector<NDArray*> in;
  std::vector<NDArray> kept = inputs;
  for (NDArray& a : kept) in.push_back(&a);
  NDArray out;
  Imperative::Invoke(MakeAttrs(Op::Get(op), dict), in, {&out});
  return out;
}

NDArray Cast(const NDArray& a, const char* storage) { return RunOp("cast_storage", {a}, {{"stype", storage}}); }

std::string Message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

NDArray Make(StorageType storage, const Shape& shape) { return NDArray::Make(TensorType(shape, kFloat32, storage), Context::CPU()); }

TEST(SparseArrays, BeginEmptyAndKeepMemoryThatSuffices) {
  const NDArray a = Make(StorageType::kCSR, Shape{3, 4});
  EXPECT_EQ(Values<int64_t>(CopyOfPart(a, SparseParts::kIndptr)), (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_EQ(CopyOfPart(a, SparseParts::kColumns).shape(), (Shape{0}));
  SparseParts* const parts = a.sparse();
  parts->Resize(100);
  const void* const before = parts->values.memory.dptr;
  parts->Resize(7);
  EXPECT_EQ(parts->values.memory.dptr, before);
  EXPECT_EQ(parts->stored(), 7);
  parts->Resize(0);
  EXPECT_EQ(Values<float>(Cast(a, "default")), std::vector<float>(12, 0));
}

TEST(SparseArrays, RefuseShapesAndReadsOfDenseMemory) {
  EXPECT_NE(Message([] { Make(StorageType::kCSR, Shape{3}); }).find("two dimensions"), std::string::npos);
  EXPECT_NE(Message([] { Make(StorageType::kRowSparse, Shape(std::vector<int64_t>())); }).find("at least one dimension"),
            std::string::npos);
  const NDArray a = Make(StorageType::kRowSparse, Shape{3, 4});
  EXPECT_NE(Message([&] { a.data(); }).find("row_sparse array"), std::string::npos);
  EXPECT_NE(Message([&] { a.Slice(0, 1); }).find("no views"), std::string::npos);
  EXPECT_NE(Message([&] { a.Reshape(Shape{12}); }).find("no views"), std::string::npos);
}

/* Parts that lead outside are found before any kernel reads them, and by CheckSparse with their
 * places. */
TEST(SparseArrays, WhatCallersFillInIsLookedAt) {
  struct Case {
    std::vector<int64_t> indptr, columns;
    const char* what;
  };
  const Case cases[] = {
      {{0, 1, 3}, {0, 1, 4}, "indices[2] is 4"},
      {{0, 1, 3}, {0, -1, 1}, "indices[1] is -1"},
      {{1, 1, 3}, {0, 1, 2}, "indptr"},
      {{0, 1, 2}, {0, 1, 2}, "indptr"},
      {{0, 4, 3}, {0, 1, 2}, "indptr[2] is 3 behind 4"},
      {{0, INT64_MIN, 3}, {0, 1, 2}, "indptr[1] is -9223372036854775808 behind 0"},
      {{0, 3}, {0, 1, 2}, "indptr"},
  };
  for (const Case& c : cases) {
    const NDArray a = Make(StorageType::kCSR, Shape{2, 4});
    SetPart(a, -1, Dense(Shape{3}, {1, 2, 3}));
    SetPart(a, SparseParts::kIndptr, Integers(c.indptr));
    SetPart(a, SparseParts::kColumns, Integers(c.columns));
    EXPECT_NE(Message([&] { Values<float>(Cast(a, "default")); }).find(c.what), std::string::npos) << c.what;
    EXPECT_NE(Message([&] { CheckSparse(a, true); }), "") << c.what;
  }
  const NDArray rows = Make(StorageType::kRowSparse, Shape{5, 2});
  for (const auto& ids : std::vector<std::vector<int64_t>>{{0, 5}, {-1, 2}, {3, 1}, {2, 2}, {1}}) {
    SetPart(rows, -1, Dense(Shape{2, 2}, {1, 2, 3, 4}));
    SetPart(rows, SparseParts::kRows, Integers(ids));
    EXPECT_NE(Message([&] { Values<float>(Cast(rows, "default")); }), "") << ids.back();
    EXPECT_NE(Message([&] { CheckSparse(rows, true); }), "") << ids.back();
  }
  EXPECT_NE(Message([&] { SetPart(rows, -1, Dense(Shape{2, 3}, {1, 2, 3, 4, 5, 6})); }), "");
  EXPECT_NE(Message([&] { SetPart(rows, SparseParts::kRows, Dense(Shape{2}, {0, 1})); }), "");
  EXPECT_NE(Message([&] { CopyOfPart(rows, 1); }), "");
}

// Whether a product is handed to a thread that has others to help it depends on it.
TEST(SparseArrays, ProductsCostWhatTheyStore) {
  const int64_t stored = 50;
  const NDArray csr = Make(StorageType::kCSR, Shape{100, 300});
  SetPart(csr, -1, Dense(Shape{stored}, std::vector<float>(stored, 1)));
  const NDArray wide = Dense(Shape{300, 8}, std::vector<float>(2400, 1)), out = Dense(Shape{100, 8}, std::vector<float>(800));
  const NDArray turned = Dense(Shape{8, 300}, std::vector<float>(2400, 1));
  const auto flops = [&](const char* name, const AttrDict& dict, const std::vector<NDArray>& inputs, const NDArray& result) {
    std::vector<TBlob> in;
    for (const NDArray& a : inputs) in.push_back(a.blob());
    const TBlob to = result.blob();
    return CostOf(*AttrsOfForm(MakeAttrs(Op::Get(name), dict)), in, Span<const TBlob>(&to, 1), true).flops;
  };
  EXPECT_DOUBLE_EQ(flops("dot", {}, {csr, wide}, out), 2 * stored * (8 + 9));
  EXPECT_DOUBLE_EQ(flops("dot", {{"transpose_a", "True"}}, {csr, out}, wide), 2 * stored * (8 + 9));
  EXPECT_DOUBLE_EQ(flops("dot", {{"transpose_b", "True"}}, {turned, csr}, Dense(Shape{8, 100}, std::vector<float>(800))),
                   2 * stored * (8 + 9));
  EXPECT_DOUBLE_EQ(flops("FullyConnected", {{"num_hidden", "8"}, {"no_bias", "True"}}, {csr, turned}, out), 2 * stored * (8 + 9));
}

// A table of millions of rows is updated on its caller where a batch names few of them.
TEST(SparseArrays, LazyUpdatesCostTheRowsThatTheyTouch) {
  const NDArray weight = Dense(Shape{1000, 4}, std::vector<float>(4000)), grad = Make(StorageType::kRowSparse, Shape{1000, 4});
  SetPart(grad, -1, Dense(Shape{2, 4}, std::vector<float>(8, 1)));
  SetPart(grad, SparseParts::kRows, Integers({3, 900}));
  const std::vector<TBlob> in = {weight.blob(), grad.blob()};
  const auto elements = [&](const char* lazy) {
    const AttrsPtr attrs = AttrsOfForm(MakeAttrs(Op::Get("sgd_update"), {{"lr", "0.1"}, {"lazy_update", lazy}}));
    return CostOf(*attrs, in, Span<const TBlob>(in.data(), 1), true).elements;
  };
  EXPECT_EQ(elements("True"), 8 + 2 * (8 + 2 * CallCost::kElementsOfRow));
  EXPECT_EQ(elements("False"), 8 + 2 * 4000);
}

TEST(SparseArrays, UnsortedColumnsAddUpWhereOrderDoesNotMatter) {
  const NDArray a = Make(StorageType::kCSR, Shape{1, 4});
  SetPart(a, -1, Dense(Shape{3}, {1, 2, 3}));
  SetPart(a, SparseParts::kIndptr, Integers({0, 3}));
  SetPart(a, SparseParts::kColumns, Integers({3, 0, 3}));
  EXPECT_EQ(Values<float>(Cast(a, "default")), (std::vector<float>{2, 0, 0, 4}));
  EXPECT_NE(Message([&] { CheckSparse(a, true); }).find("ascending"), std::string::npos);
  EXPECT_EQ(Message([&] { CheckSparse(a, false); }), "");
}

TEST(SparseArrays, CopiesBetweenStoragesAndDTypes) {
  const NDArray dense = Dense(Shape{3, 2}, {0, 0, 1, 2, 0, 3});
  for (const char* from : {"default", "row_sparse", "csr"})
    for (StorageType to : {StorageType::kDense, StorageType::kRowSparse, StorageType::kCSR})
      for (int dtype : {kFloat32, kFloat64, kInt32}) {
        const NDArray source = Cast(dense, from);
        if (dtype != kFloat32 && source.storage_type() != to) continue;  // a cast of storage keeps the dtype
        const NDArray target = NDArray::Make(TensorType(Shape{3, 2}, dtype, to), Context::CPU());
        CopyFromTo(source, target);
        NDArray back(Shape{3, 2}, Context::CPU(), dtype);
        CopyFromTo(target, back);
        NDArray numbers(Shape{3, 2}, Context::CPU(), kFloat32);
        CopyFromTo(back, numbers);
        EXPECT_EQ(Values<float>(numbers), Values<float>(dense)) << from;
      }
}

/* Parts of a length that does not fit are copied as they are, and refused where they are read. */
TEST(SparseArrays, CopiesOfWrongParts) {
  const NDArray a = Make(StorageType::kCSR, Shape{1, 4});
  std::vector<int64_t> indptr(5000, 0);
  SetPart(a, SparseParts::kIndptr, Integers(indptr));
  const NDArray b = a.Copy(Context::CPU());
  EXPECT_EQ(Values<int64_t>(CopyOfPart(b, SparseParts::kIndptr)), indptr);
  EXPECT_NE(Message([&] { Values<float>(Cast(b, "default")); }).find("5000 numbers"), std::string::npos);
}

/* What has no form runs dense, into arrays of any storage, and is counted. */
TEST(SparseArrays, FallBackOnDenseCopies) {
  const uint64_t before = CountFallbacks();
  const NDArray a = Cast(Dense(Shape{2, 2}, {0, 1, 2, 0}), "csr");
  EXPECT_EQ(RunOp("softmax", {a}).storage_type(), StorageType::kDense);
  const NDArray out = Make(StorageType::kRowSparse, Shape{2, 2});
  Imperative::Run(MakeAttrs(Op::Get("exp"), {}), {a}, {OpReq::kWrite}, {out}, false);
  const std::vector<float> got = Values<float>(Cast(out, "default"));
  EXPECT_FLOAT_EQ(got[0], 1);
  EXPECT_FLOAT_EQ(got[1], std::exp(1.f));
  EXPECT_GE(CountFallbacks(), before + 2);
}

/* Random sums, products and casts of a few arrays of all storages: the engine's order gives what
 * the same program gives on dense arrays, step by step. */
void RandomProgram(int seed) {
  std::mt19937 rng(static_cast<unsigned>(seed));
  const Shape shape{9, 5};
  std::vector<NDArray> dense, any;
  const char* const storages[] = {"default", "row_sparse", "csr"};
  for (int i = 0; i < 6; ++i) {
    std::vector<float> values(45);
    for (float& v : values) v = rng() % 3 == 0 ? static_cast<float>(static_cast<int>(rng() % 9) - 4) : 0;
    dense.push_back(Dense(shape, values));
    any.push_back(Cast(dense.back(), storages[i % 3]));
  }
  for (int step = 0; step < 200; ++step) {
    const size_t a = rng() % 6, b = rng() % 6, to = rng() % 6;
    switch (rng() % 4) {
      case 0: {
        dense[to] = RunOp("elemwise_add", {dense[a], dense[b]});
        any[to] = RunOp("elemwise_add", {any[a], any[b]});
        break;
      }
      case 1: {
        dense[to] = RunOp("clip", {dense[a]}, {{"a_min", "-3"}, {"a_max", "3"}});
        any[to] = RunOp("clip", {any[a]}, {{"a_min", "-3"}, {"a_max", "3"}});
        break;
      }
      case 2: {
        any[to] = Cast(any[a], storages[rng() % 3]);
        dense[to] = dense[a];
        break;
      }
      default: {  // into arrays that are there
        if (to == a) continue;
        const NDArray target = dense[to].Copy(Context::CPU());
        CopyFromTo(dense[a], target);
        dense[to] = target;
        CopyFromTo(any[a], any[to]);
      }
    }
  }
  for (size_t i = 0; i < any.size(); ++i) EXPECT_EQ(Values<float>(Cast(any[i], "default")), Values<float>(dense[i])) << seed << ' ' << i;
}

TEST(SparseArrays, RandomProgramsGiveWhatDenseOnesGive) {
  for (int seed = 0; seed < 8; ++seed) RandomProgram(seed);
}

TEST(SparseArrays, RandomProgramsOnSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([t] { RandomProgram(100 + t); });
  for (std::thread& t : threads) t.join();
}

/* Several readers settle one array that a caller filled. */
TEST(SparseArrays, ReadersSettleTogether) {
  const NDArray a = Make(StorageType::kCSR, Shape{1, 4});
  SetPart(a, -1, Dense(Shape{2}, {1, 2}));
  SetPart(a, SparseParts::kIndptr, Integers({0, 2}));
  SetPart(a, SparseParts::kColumns, Integers({1, 3}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&a] { EXPECT_EQ(Values<float>(Cast(a, "default")), (std::vector<float>{0, 1, 0, 2})); });
  for (std::thread& t : threads) t.join();
}

}  // namespace
