/* Plans of reductions (src/kvstore/tree.h) on machines as they are, and stores that follow them. */
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "kvstore/tree.h"
#include "kvstore/tree_store.h"
#include "mxnet/env.h"
#include "mxnet/kvstore.h"

namespace mxnet {
namespace kvstore {
namespace {

/* NVLinks between the GPUs of a DGX-1 with V100, which a P3.16xlarge is too: a hybrid cube mesh. */
Links CubeMesh() {
  const int links[8][8] = {{0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
                           {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  Links all(8);
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < a; ++b) all.Set(a, b, links[a][b]);
  return all;
}

/* Two devices below each switch, two switches below each processor, and two processors. */
Links PcieTree() {
  Links all(8);
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < a; ++b) all.Set(a, b, a / 2 == b / 2 ? 16 : a / 4 == b / 4 ? 8 : 4);
  return all;
}

/* Values of which each is a power of two: a sum tells what was added up, and how often. */
std::string WrongWith(const ReductionTree& tree, int n) {
  std::vector<uint64_t> sums(n);
  for (int d = 0; d < n; ++d) sums[d] = uint64_t{1} << d;
  size_t rounds = 0;
  while ((1 << rounds) < n) ++rounds;
  if (tree.rounds.size() != rounds) return "has " + std::to_string(tree.rounds.size()) + " rounds";
  for (const auto& round : tree.rounds) {
    std::set<int> busy;
    for (const TreeStep& s : round) {
      if (!busy.insert(s.from).second || !busy.insert(s.to).second) return "a device is twice in a round";
      if (sums[s.from] & sums[s.to]) return "a value is added twice";
      sums[s.to] += sums[s.from];
      sums[s.from] = 0;
    }
  }
  return sums[tree.root] == (uint64_t{1} << n) - 1 ? "" : "the root lacks a value";
}

int MissingLinks(const Links& links, const ReductionTree& tree) {
  int missing = 0;
  for (const auto& round : tree.rounds)
    for (const TreeStep& s : round) missing += links.At(s.from, s.to) <= 0;
  return missing;
}

/* The least time of any tree, by trying all of them, with nothing remembered. */
double LeastTime(const Links& links, std::vector<int> set) {
  if (set.size() == 1) return 0;
  const size_t n = set.size();
  double least = std::numeric_limits<double>::infinity();
  for (unsigned mask = 1; mask < 1u << (n - 1); ++mask) {
    std::vector<int> mine{set[0]}, other;
    for (size_t i = 1; i < n; ++i) (mask >> (i - 1) & 1 ? other : mine).push_back(set[i]);
    if (std::max(mine.size(), other.size()) - std::min(mine.size(), other.size()) > 1) continue;
    for (size_t s = 0; s < other.size(); ++s) {
      std::swap(other[0], other[s]);
      const double link = links.At(set[0], other[0]) > 0 ? 1 / links.At(set[0], other[0]) : 1e6;
      least = std::min(least, link + std::max(LeastTime(links, mine), LeastTime(links, other)));
    }
  }
  return least;
}

TEST(ReductionTree, EveryMachineGetsTreesThatAddEachValueOnce) {
  std::mt19937 rng(3);
  std::vector<Links> machines{CubeMesh(), PcieTree(), Links(1), Links(2, 1), Links(4)};  // the last without any link
  for (int n : {2, 3, 4, 5, 6, 7, 8, 9, 16}) machines.push_back(Links(n, 25));           // DGX-2, H200: all links are equal
  for (int n : {3, 5, 6, 7}) {
    Links any(n);
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < a; ++b) any.Set(a, b, static_cast<double>(rng() % 4));
    machines.push_back(any);
  }
  for (const Links& links : machines) {
    for (bool exact : {false, true}) {
      for (double penalty : {0.0, 0.7, 1.0}) {
        if (exact && links.devices() > 9 && penalty != 0.7) continue;  // this takes a second
        const std::vector<ReductionTree> trees = PlanTrees(links, {exact, penalty});
        ASSERT_EQ(trees.size(), static_cast<size_t>(links.devices()));
        for (size_t r = 0; r < trees.size(); ++r) {
          EXPECT_EQ(trees[r].root, static_cast<int>(r));
          EXPECT_EQ(WrongWith(trees[r], links.devices()), "") << links.devices() << " devices, exact " << exact << ", root " << r;
        }
      }
    }
  }
  EXPECT_EQ(PlanTrees(Links(40, 1), {true, 0.7}).size(), 40u);  // too many to search
}

TEST(ReductionTree, CubeMeshUsesItsLinksOnly) {
  const Links links = CubeMesh();
  for (bool exact : {false, true}) {
    std::vector<int> uses(64, 0);
    for (const ReductionTree& tree : PlanTrees(links, {exact, 0.7})) {
      EXPECT_EQ(MissingLinks(links, tree), 0) << TreeText(tree, {"0", "1", "2", "3", "4", "5", "6", "7"});
      for (const auto& round : tree.rounds)
        for (const TreeStep& s : round) ++uses[std::min(s.from, s.to) * 8 + std::max(s.from, s.to)];
    }
    EXPECT_LE(*std::max_element(uses.begin(), uses.end()), 7);
    EXPECT_GE(64 - std::count(uses.begin(), uses.end(), 0), 12);  // of 16 pairs that have links
  }
  // Each GPU has two double links, and a root receives three times.
  EXPECT_DOUBLE_EQ(TreeTime(links, PlanTrees(links, {true, 1})[0]), 0.5 + 0.5 + 1);
}

TEST(ReductionTree, PcieTreesCrossEachLevelOnce) {
  for (bool exact : {false, true}) {
    for (const ReductionTree& tree : PlanTrees(PcieTree(), {exact, 1})) {
      for (const TreeStep& s : tree.rounds[0]) EXPECT_EQ(s.from / 2, s.to / 2);
      for (const TreeStep& s : tree.rounds[1]) EXPECT_EQ(s.from / 4, s.to / 4);
      EXPECT_NE(tree.rounds[2][0].from / 4, tree.rounds[2][0].to / 4);
    }
  }
}

TEST(ReductionTree, SearchFindsTheLeastTime) {
  std::mt19937 rng(7);
  double exact_total = 0, heuristic_total = 0;
  for (int n : {2, 3, 4, 5, 6, 7}) {
    for (int i = 0; i < 20; ++i) {
      Links links(n);
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < a; ++b) links.Set(a, b, 1 + static_cast<double>(rng() % 4));
      const std::vector<ReductionTree> exact = PlanTrees(links, {true, 1}), heuristic = PlanTrees(links, {false, 1});
      for (int root = 0; root < n; ++root) {
        std::vector<int> set{root};
        for (int d = 0; d < n; ++d)
          if (d != root) set.push_back(d);
        EXPECT_NEAR(TreeTime(links, exact[root]), LeastTime(links, set), 1e-9);
        EXPECT_GE(TreeTime(links, heuristic[root]), TreeTime(links, exact[root]) - 1e-9);
        exact_total += TreeTime(links, exact[root]);
        heuristic_total += TreeTime(links, heuristic[root]);
      }
    }
  }
  EXPECT_LT(heuristic_total, 1.5 * exact_total);
  EXPECT_GT(heuristic_total, exact_total);
}

TEST(ReductionTree, PenaltySpreadsTreesOverLinks) {
  const auto most_used = [](double penalty, bool exact) {
    std::vector<int> uses(64, 0);
    for (const ReductionTree& tree : PlanTrees(Links(8, 1), {exact, penalty}))
      for (const auto& round : tree.rounds)
        for (const TreeStep& s : round) ++uses[std::min(s.from, s.to) * 8 + std::max(s.from, s.to)];
    return *std::max_element(uses.begin(), uses.end());
  };
  for (bool exact : {false, true}) {
    EXPECT_GT(most_used(1, exact), 4);  // every tree takes the same links
    EXPECT_LE(most_used(0.7, exact), 4);
  }
}

class TreeStores : public ::testing::Test {
 protected:
  void SetUp() override { Env::Set("MXNET_KVSTORE_USETREE", "1"); }
  void TearDown() override {
    Env::Set("MXNET_KVSTORE_USETREE", "0");
    Env::Set("MXNET_KVSTORE_TREE_ARRAY_BOUND", "10000000");
    Env::Set("MXNET_KVSTORE_TREE_BACKTRACK", "0");
  }
  static NDArray Random(std::mt19937* rng, int64_t n, int device, int dtype = kFloat32) {
    std::normal_distribution<float> normal;
    NDArray a({n / 7, 7}, Context::CPU(), kFloat32), b({n / 7, 7}, Context::CPU(device), dtype);
    for (int64_t i = 0; i < n; ++i) a.data().data<float>()[i] = normal(*rng);
    CopyFromTo(a, b);
    return b;
  }
  static std::vector<float> Read(const NDArray& a) {
    NDArray f(a.shape(), Context::CPU(), kFloat32);
    CopyFromTo(a, f);
    std::vector<float> values(static_cast<size_t>(a.shape().Size()));
    f.CopyBytesTo(values.data(), values.size() * 4);
    return values;
  }
  /* push + pull on so many contexts; every output must be the same. */
  static std::vector<float> Sum(int devices, int64_t n, bool updater, std::vector<float>* in_order) {
    std::mt19937 rng(devices);
    auto kv = KVStore::Create("device");
    std::vector<NDArray> values, outs;
    in_order->assign(n, 0);
    for (int d = 0; d < devices; ++d) {
      values.push_back(Random(&rng, n, d));
      outs.emplace_back(values[0].shape(), Context::CPU(d), kFloat32);
      const std::vector<float> v = Read(values.back());
      for (int64_t i = 0; i < n; ++i) (*in_order)[i] += v[i];
    }
    values.push_back(Random(&rng, n, 0));  // a second one of the first device
    const std::vector<float> v = Read(values.back());
    for (int64_t i = 0; i < n; ++i) (*in_order)[i] += v[i];
    std::vector<std::vector<float>> before;
    for (const NDArray& a : values) before.push_back(Read(a));
    NDArray first(values[0].shape(), Context::CPU(), kFloat32);
    kv->Init({"w"}, {&first});
    if (updater) kv->SetUpdater([](const KVKey&, const NDArray& pushed, NDArray* stored) { CopyFromTo(pushed, *stored); });
    KVStore::Arrays in, out;
    for (NDArray& a : values) in.push_back(&a);
    for (NDArray& a : outs) out.push_back(&a);
    kv->PushPull(KVStore::Keys(in.size(), "w"), in, KVStore::Keys(out.size(), "w"), out);
    for (const NDArray& o : outs) EXPECT_EQ(Read(o), Read(outs[0]));
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(Read(values[i]), before[i]);  // what was pushed stays
    return Read(outs[0]);
  }
};

TEST_F(TreeStores, SumsAreThoseInOrderWithinRounding) {
  for (const char* bound : {"10000000", "10"}) {  // one tree, and slices along several
    Env::Set("MXNET_KVSTORE_TREE_ARRAY_BOUND", bound);
    for (const char* backtrack : {"0", "1"}) {
      Env::Set("MXNET_KVSTORE_TREE_BACKTRACK", backtrack);
      for (int devices : {1, 2, 3, 5, 8}) {
        for (bool updater : {false, true}) {
          std::vector<float> in_order;
          const std::vector<float> sum = Sum(devices, 21, updater, &in_order);
          for (size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], in_order[i], 1e-5) << devices << " devices, bound " << bound;
          EXPECT_EQ(sum, Sum(devices, 21, updater, &in_order));  // the same bits
        }
      }
    }
  }
}

TEST_F(TreeStores, OtherArraysAndTypesGoTheirWay) {
  std::mt19937 rng(1);
  auto kv = KVStore::Create("device");
  NDArray w = Random(&rng, 14, 0), a = Random(&rng, 14, 0, kFloat16), b = Random(&rng, 14, 1, kFloat16);
  NDArray one({2, 7}, Context::CPU(0), kFloat32), two({2, 7}, Context::CPU(1), kFloat16), three({2, 7}, Context::CPU(2), kFloat32);
  kv->Init({1}, {&w});
  kv->Push({1, 1}, {&a, &b});
  kv->Pull({1, 1, 1}, {&one, &two, &three});
  const std::vector<float> x = Read(a), y = Read(b), sum = Read(two);
  for (size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], x[i] + y[i], 5e-3);
  EXPECT_EQ(Read(one), Read(three));
  EXPECT_EQ(Read(one), sum);
  NDArray none_a({0, 7}, Context::CPU(0)), none_b({0, 7}, Context::CPU(1));
  kv->Init({2}, {&none_a});
  kv->PushPull({2, 2}, {&none_a, &none_b}, {2, 2}, {&none_a, &none_b});
  kv->SetGradientCompression({{"type", "2bit"}, {"threshold", "1"}});
  NDArray p = Random(&rng, 14, 0), q = Random(&rng, 14, 1);
  kv->PushPull({1, 1}, {&p, &q}, {1}, {&one});
  for (float v : Read(one)) EXPECT_EQ(v, std::round(v));
}

/* Sums of rows go through the CPU, those of dense keys of the same call along trees. */
TEST_F(TreeStores, RowSparseValuesAreAddedUp) {
  const TensorType type({4, 2}, kFloat32, StorageType::kRowSparse);
  auto kv = KVStore::Create("device");
  std::vector<NDArray> values;
  for (int i = 0; i < 2; ++i) {
    values.push_back(NDArray::Make(type, Context::CPU(i)));
    values.back().sparse()->Resize(1);
    values.back().sparse()->index[SparseParts::kRows].data<int64_t>()[0] = 2 * i;
    std::fill_n(values.back().sparse()->values.data<float>(), 2, 3.0f);
  }
  NDArray one({2}, Context::CPU(0)), two({2}, Context::CPU(1)), dense({4, 2}, Context::CPU(1)), rows = NDArray::Make(type, Context::CPU(0));
  const float numbers[2] = {1, 2};
  one.CopyBytesFrom(numbers, 8), two.CopyBytesFrom(numbers, 8);
  kv->Init({"rows", "w"}, {&values[0], &one});
  kv->PushPull({"rows", "rows", "w", "w"}, {&values[0], &values[1], &one, &two}, {"rows", "rows", "w"}, {&dense, &rows, &one});
  EXPECT_EQ(Read(dense), (std::vector<float>{3, 3, 0, 0, 3, 3, 0, 0}));
  EXPECT_EQ(Read(one), (std::vector<float>{2, 4}));
  rows.WaitToRead();
  EXPECT_EQ(rows.sparse()->stored(), 2);
}

}  // namespace
}  // namespace kvstore
}  // namespace mxnet
