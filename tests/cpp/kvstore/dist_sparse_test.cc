/* Row_sparse values in stores of jobs: with servers and without, whose ranks are threads of this
 * process. */
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#include "dist_cluster.h"
#include "kvstore/dist/row_messages.h"
#include "kvstore/dist/server.h"

namespace mxnet {
namespace kvstore {
namespace {

using Ids = std::vector<int64_t>;

NDArray Empty(const Shape& shape) { return NDArray::Make(TensorType(shape, kFloat32, StorageType::kRowSparse), Context::CPU()); }

/* Each row has the values of `rows` at its place. */
NDArray Sparse(const Shape& shape, const Ids& ids, const Values& rows) {
  NDArray a = Empty(shape);
  a.sparse()->Resize(static_cast<int64_t>(ids.size()));
  if (ids.empty()) return a;
  std::copy(ids.begin(), ids.end(), a.sparse()->index[SparseParts::kRows].data<int64_t>());
  std::copy(rows.begin(), rows.end(), a.sparse()->values.data<float>());
  return a;
}

NDArray Same(const Shape& shape, const Ids& ids, float value) {
  return Sparse(shape, ids, Values(ids.size() * RowBytes(shape, kFloat32) / 4, value));
}

NDArray Numbers(const Ids& ids) {
  NDArray a({static_cast<int64_t>(ids.size())}, Context::CPU(), kInt64);
  if (!ids.empty()) a.CopyBytesFrom(ids.data(), ids.size() * 8);
  return a;
}

Ids IdsOf(const NDArray& a) {
  a.WaitToRead();
  const int64_t* ids = a.sparse()->index[SparseParts::kRows].data<int64_t>();
  return Ids(ids, ids + a.sparse()->stored());
}

Values RowsOf(const NDArray& a) {
  a.WaitToRead();
  const float* values = a.sparse()->values.data<float>();
  return Values(values, values + a.sparse()->values.Size());
}

/* All elements. */
Values Whole(const NDArray& a) {
  const size_t row = RowBytes(a.shape(), kFloat32) / 4;
  Values all(static_cast<size_t>(a.shape().Size())), rows = RowsOf(a);
  const Ids ids = IdsOf(a);
  for (size_t i = 0; i < ids.size(); ++i) std::copy_n(rows.data() + i * row, row, all.data() + static_cast<size_t>(ids[i]) * row);
  return all;
}

struct Size {
  int workers, servers;
  const char* type;
};

class SparseJobs : public ::testing::TestWithParam<Size> {};

/* What a worker pushes in a round: some rows, or none. */
NDArray Pushed(const Shape& shape, int worker, int round) {
  std::mt19937 random(static_cast<unsigned>(worker * 100 + round));
  Ids ids;
  const unsigned out_of = 1u << (random() % 6);
  for (int64_t row = 0; row < shape[0]; ++row)
    if (random() % out_of == 0 && round != 2) ids.push_back(row);
  return Sparse(shape, ids, Random(ids.size() * RowBytes(shape, kFloat32) / 4, static_cast<unsigned>(worker + 7 * round)));
}

/* Random rows of values around the bounds: sums have the bits of adding in the order of the
 * workers. */
TEST_P(SparseJobs, SumsAreThoseOfAddingInTheOrderOfTheWorkers) {
  Bounds bounds("500", "64");
  const Size size = GetParam();
  Cluster cluster(size.workers, size.servers, size.type);
  const std::vector<Shape> shapes = {{90, 7}, {3, 5}, {1, 600}, {700}, {2000, 2, 3}, {4, 0}, {0, 3}};
  cluster.Run([&](int worker, KVStore* kv) {
    for (size_t k = 0; k < shapes.size(); ++k) {
      const Shape& shape = shapes[k];
      const KVKey key("k" + std::to_string(k));
      const Ids some = shape[0] > 2 ? Ids{0, shape[0] - 1} : Ids{};
      NDArray first = Same(shape, some, static_cast<float>(worker + 5)), whole = Empty(shape), rows = Empty(shape),
              dense(shape, Context::CPU());
      kv->Init({key}, {&first});
      kv->Pull({key}, {&whole});
      EXPECT_EQ(Whole(whole), Whole(Same(shape, some, 5))) << shape;
      for (int round = 0; round < 4; ++round) {
        Values sum(static_cast<size_t>(shape.Size()));
        for (int w = 0; w < size.workers; ++w) {
          const Values part = Whole(Pushed(shape, w, round));
          for (size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
        }
        NDArray value = Pushed(shape, worker, round);
        kv->Push({key}, {&value}, round);
        const int64_t last = std::max<int64_t>(shape[0] - 1, 0);
        const NDArray ids = Numbers(shape[0] > 0 ? Ids{last, 0, last, last / 2, 0} : Ids{});
        NDArray wanted = ids;
        kv->PullRowSparse({key}, {&rows}, {&wanted}, round);
        kv->Pull({key, key}, {&whole, &dense}, round);
        EXPECT_EQ(Whole(whole), sum) << shape << " round " << round;
        EXPECT_EQ(Read(dense), sum) << shape << " round " << round;
        Ids expected = shape[0] > 0 ? Ids{0, last / 2, last} : Ids{};
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        // workers without servers have the value themselves, and give no row of one without any
        if (size.servers == 0 && IdsOf(whole).empty()) expected.clear();
        ASSERT_EQ(IdsOf(rows), expected) << shape;
        const size_t row = RowBytes(shape, kFloat32) / 4;
        for (size_t i = 0; i < expected.size() * row; ++i)
          EXPECT_EQ(RowsOf(rows)[i], sum[static_cast<size_t>(expected[i / row]) * row + i % row]) << shape;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, SparseJobs,
                         ::testing::Values(Size{1, 1, "dist_sync"}, Size{2, 1, "dist"}, Size{3, 2, "dist_sync_device"},
                                           Size{2, 3, "dist_p3"}, Size{2, 0, "dist_sync"}, Size{3, 0, "dist_device_sync"}));

/* Dense values and rows in one sum, to a dense and to a row_sparse value. */
TEST(DistSparse, DenseAndSparseValuesGoTogether) {
  Bounds bounds("100", "64");
  for (const char* type : {"dist_sync", "dist_p3"})
    for (const bool stored_sparse : {false, true}) {
      Cluster cluster(2, 2, type);
      cluster.Run([&](int worker, KVStore* kv) {
        const Shape shape{40, 4};
        NDArray rows = Same(shape, {1, 39}, 2), dense = Full(160, 1).Reshape(shape), got(shape, Context::CPU()), taken = Empty(shape);
        kv->Init({"w"}, {stored_sparse ? &rows : &dense});
        Values both(160, 1), twice(160), sum(160);
        for (size_t i = 0; i < 160; ++i) {
          const bool there = i / 4 == 1 || i / 4 == 39;
          both[i] = there ? 3 : 1, twice[i] = there ? 4 : 0, sum[i] = there ? 5 : 1;
        }
        kv->Push({"w"}, {worker == 0 ? &rows : &dense});
        kv->Pull({"w"}, {&got});
        EXPECT_EQ(Read(got), both);
        kv->Push({"w"}, {&rows});
        kv->Pull({"w"}, {&got});
        EXPECT_EQ(Read(got), twice);
        kv->Pull({"w"}, {&taken});
        EXPECT_EQ(IdsOf(taken), (Ids{1, 39}));
        NDArray ids = Numbers({39, 0});
        kv->PullRowSparse({"w"}, {&taken}, {&ids});
        EXPECT_EQ(IdsOf(taken), (Ids{0, 39}));
        EXPECT_EQ(RowsOf(taken), (Values{0, 0, 0, 0, 4, 4, 4, 4}));
        if (worker == 0) {  // two values of one worker, of both kinds
          kv->Push({"w", "w"}, {&rows, &dense});
        } else {
          kv->Push({"w"}, {&rows});
        }
        kv->Pull({"w"}, {&got});
        EXPECT_EQ(Read(got), sum);
        kv->PushPull({"w"}, {&dense}, {"w"}, {&got});
        EXPECT_EQ(Read(got), Values(160, 2));
      });
    }
}

/* A dense value whose few rows are cut into pieces. */
TEST(DistSparse, RowsThatServersHavePiecesOf) {
  Bounds bounds("100", "64");
  Cluster cluster(2, 3, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    const Shape shape{2, 600};
    NDArray dense = Full(1200, 1).Reshape(shape), rows = Same(shape, {1}, 2), got = Empty(shape), ids = Numbers({1});
    kv->Init({"w"}, {&dense});
    kv->Push({"w"}, {&rows});
    kv->PullRowSparse({"w"}, {&got}, {&ids});
    EXPECT_EQ(IdsOf(got), (Ids{1}));
    EXPECT_EQ(RowsOf(got), Values(600, 4));
  });
}

/* The updater changes the rows that came, in values that have all of theirs. */
TEST(DistSparse, UpdatersGetRows) {
  Bounds bounds("100", "64");
  for (const char* type : {"dist_sync", "dist_p3", "dist_async"})
    for (const bool stored_sparse : {true, false}) {
      Cluster cluster(2, 2, type);
      cluster.Run([&](int worker, KVStore* kv) {
        const Shape shape{64, 4};
        NDArray first = Same(shape, {0, 30}, 1), dense(shape, Context::CPU()), got = Empty(shape);
        CopyFromTo(first, dense);
        if (!stored_sparse) kv->Init({"w"}, {&dense});
        if (stored_sparse) kv->Init({"w"}, {&first});
        kv->transport()->SendCommand(7, "0.5");
        for (int i = 0; i < 3; ++i) {
          NDArray pushed = Same(shape, {worker, 30, 63 - worker}, 2);
          kv->Push({"w"}, {&pushed});
        }
        kv->transport()->Barrier();
        NDArray ids = Numbers({62, 0, 1, 2, 30});
        kv->PullRowSparse({"w"}, {&got}, {&ids});
        EXPECT_EQ(IdsOf(got), (Ids{0, 1, 2, 30, 62}));
        const Values rows = RowsOf(got);
        for (size_t i = 0; i < 20; ++i) EXPECT_EQ(rows[i], (Values{-2, -3, 0, -5, -3})[i / 4]) << type << i;
      });
    }
}

/* Few rows of a large value: what travels is about as many bytes. */
TEST(DistSparse, OnlyRowsThatAreTouchedTravel) {
  const Shape shape{200000, 16};
  const Ids ids = {3, 500, 77777, 123456, 199999};
  constexpr size_t kRows = 5 * 16 * 4;
  for (const int servers : {2, 0}) {
    Cluster cluster(2, servers, "dist_sync");
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray first = Empty(shape), pushed = Same(shape, ids, 1), got = Empty(shape), wanted = Numbers(ids);
      kv->Init({"table"}, {&first});
      kv->transport()->Barrier();
      const size_t before = cluster.fabric().Sent();
      kv->transport()->Barrier();
      for (int i = 0; i < 10; ++i) {
        kv->Push({"table"}, {&pushed});
        kv->PullRowSparse({"table"}, {&got}, {&wanted});
        EXPECT_EQ(RowsOf(got), Values(80, 2));
      }
      kv->transport()->Barrier();
      const size_t sent = cluster.fabric().Sent() - before;
      // Ten rounds of two workers: the rows there and back, and heads.
      EXPECT_GT(sent, 10 * 2 * kRows) << worker;
      EXPECT_LT(sent, 10 * 2 * (2 * kRows + 2500)) << worker;
    });
  }
}

TEST(DistSparse, CompressionIsForDenseValues) {
  Cluster cluster(1, 1, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    NDArray table = Same({4, 2}, {1}, 1), dense = Full(8, 1).Reshape({4, 2});
    kv->Init({"table", "dense"}, {&table, &dense});
    kv->SetGradientCompression({{"type", "2bit"}, {"threshold", "0.5"}});
    for (const char* key : {"table", "dense"})
      EXPECT_NE(ErrorOf([&] { kv->Push({key}, {&table}); }).find("of a store with gradient compression; accepted: dense values"),
                std::string::npos);
    kv->Push({"dense"}, {&dense});
    kv->SetGradientCompression({{"type", "none"}});
    kv->PushPull({"table"}, {&table}, {"table"}, {&dense});
    EXPECT_EQ(Read(dense)[2], 1);
  });
}

/* Nobody waits for a push that could not be made. */
TEST(DistSparse, RowsThatACallerMixedUpAreAnErrorOnAllWorkers) {
  for (const int servers : {1, 0}) {
    Cluster cluster(2, servers, "dist_sync");
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray table = Same({4, 2}, {1, 2}, 1), got({4, 2}, Context::CPU());
      kv->Init({"w"}, {&table});
      if (worker == 1) {
        table.sparse()->index[SparseParts::kRows].data<int64_t>()[0] = 1 << 20;
        table.sparse()->state = SparseParts::kUnknown;
      }
      kv->PushPull({"w"}, {&table}, {"w"}, {&got});
      const std::string error = ErrorOf([&] { Read(got); });
      EXPECT_NE(error.find("indices[0] is 1048576"), std::string::npos) << error;
      cluster.job(worker)->Barrier(0);
    });
  }
}

TEST(DistSparse, RowsOutsideOfTheValueAreAnError) {
  Cluster cluster(1, 2, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    NDArray table = Same({4, 2}, {1, 2}, 1), got = Empty({4, 2}), ids = Numbers({1, 4}), fine = Numbers({2});
    kv->Init({"w"}, {&table});
    kv->PullRowSparse({"w"}, {&got}, {&ids});
    EXPECT_NE(ErrorOf([&] { got.WaitToRead(); }).find("row_ids[1] is 4; accepted: 0 to 3"), std::string::npos);
    kv->PullRowSparse({"w"}, {&got}, {&fine});
    EXPECT_EQ(RowsOf(got), (Values{1, 1}));
    NDArray dense({4, 2}, Context::CPU());
    EXPECT_NE(ErrorOf([&] { kv->PullRowSparse({"w"}, {&dense}, {&fine}); }).find("accepted: row_sparse"), std::string::npos);
  });
}

TEST(DistSparse, StoragesThatDifferAreAnError) {
  for (const int servers : {1, 0}) {
    Cluster cluster(2, servers, "dist_sync");
    cluster.Run([&](int worker, KVStore* kv) {
      NDArray table = Same({4, 2}, {1}, 1), dense({4, 2}, Context::CPU());
      const std::string error = ErrorOf([&] {
        kv->Init({"w"}, {worker == 0 ? &table : &dense});
        if (servers == 0) kv->Pull({"w"}, {&dense}), dense.WaitToRead();
      });
      if (worker == 0) return;  // it has the first value
      if (servers == 0) {
        EXPECT_NE(error.find("accepted: the same shape, dtype and storage"), std::string::npos) << error;
      } else {
        EXPECT_NE(error.find("storage type row_sparse on worker 0, and default on worker 1"), std::string::npos) << error;
        cluster.job(1)->Barrier(0);  // the other's init ends with it
      }
    });
  }
}

/* A pull of rows that waits for a worker's push ends when that worker does. */
TEST(DistSparse, PullsOfRowsThatWaitForALostWorkerFail) {
  Cluster cluster(2, 1, "dist_sync");
  cluster.Run([&](int worker, KVStore* kv) {
    NDArray table = Same({4, 2}, {1}, 1), got = Empty({4, 2}), ids = Numbers({1});
    kv->Init({"w"}, {&table});
    if (worker == 1) return cluster.fabric().Cut(1);
    kv->Push({"w"}, {&table});
    kv->PullRowSparse({"w"}, {&got}, {&ids});
    const std::string error = ErrorOf([&] { got.WaitToRead(); });
    EXPECT_NE(error.find("worker 1"), std::string::npos) << error;
  });
}

std::string Answer(Cluster* cluster, Head head, const std::vector<int64_t>& words, size_t bytes) {
  auto owner = std::make_shared<std::vector<int64_t>>(words);
  owner->resize(std::max(words.size(), bytes / 8 + 1));
  Message payload = MakeMessage(head, owner->data(), bytes, owner);
  return ErrorOf([&] { cluster->job(0)->AskAndWait(1, head, payload, 0, 10, "a test"); });
}

/* Nothing that is sent to a server leads it outside of what it has. */
TEST(DistSparse, ServersRefuseMalformedRows) {
  Cluster cluster(1, 1, "dist_async");
  cluster.Run([&](int, KVStore* kv) {
    const Shape shape{10, 4};
    NDArray table = Same(shape, {1, 5}, 1), got = Empty(shape), dense({10, 4}, Context::CPU());
    kv->Init({"sparse", "dense"}, {&table, &dense});
    constexpr int64_t kHuge = INT64_MAX, kWrap = int64_t{1} << 60;
    for (const char* key : {"sparse", "dense"}) {
      Head head;
      head.key = KeyHash(KVKey(key));
      head.count = 40;
      head.flags = kRows;
      for (const Kind kind : {Kind::kPush, Kind::kPull}) {
        head.kind = kind;
        const std::string row = kind == Kind::kPush ? "is malformed" : "rows of key";
        const size_t full = kind == Kind::kPush ? 64 + 2 * 16 : 24;
        EXPECT_NE(Answer(&cluster, head, {}, 0).find(row), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2}, 7).find(row), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2, 1, 5}, full - 1).find("bytes"), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2, 1, 5}, full + 1).find("bytes"), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2, 5, 1}, full).find("number 1 of the rows that came is 1"), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2, 5, 5}, full).find("number 1 of the rows that came is 5"), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2, -1, 5}, full).find("number 0 of the rows that came is -1"), std::string::npos);
        EXPECT_NE(Answer(&cluster, head, {2, 1, 10}, full).find("is 10; accepted: ascending numbers from 0 to 9"), std::string::npos);
        for (const int64_t count : {int64_t{-1}, int64_t{11}, kHuge, kWrap, -kHuge})
          EXPECT_NE(Answer(&cluster, head, {count, 1, 5}, full).find("came for a part of 10 rows"), std::string::npos) << count;
      }
    }
    // First values: not whole, outside, and of shapes that cannot be.
    InitText text;
    text.key = "new";
    text.named = true;
    text.shape = {10, 4};
    Head head;
    head.kind = Kind::kInit;
    head.key = 77;
    head.count = 40;
    head.flags = kRows | kFirst;
    const auto init = [&](std::vector<int64_t> words, size_t bytes) {
      const std::string front = text.Write();
      std::vector<int64_t> all(front.size() / 8);
      std::memcpy(all.data(), front.data(), front.size());
      all.insert(all.end(), words.begin(), words.end());
      return Answer(&cluster, head, all, front.size() + bytes);
    };
    EXPECT_NE(init({1, 10}, 80).find("is 10"), std::string::npos);
    EXPECT_NE(init({1, 3}, 79).find("not whole"), std::string::npos);
    EXPECT_NE(init({kWrap, 3}, 80).find("not whole"), std::string::npos);
    text.shape = {5, 4};
    EXPECT_NE(init({1, 3}, 80).find("shape is not its own"), std::string::npos);
    text.shape = {10, 4}, text.parts = 2, text.begin = 3;
    EXPECT_NE(init({1, 3}, 80).find("in a part that has none"), std::string::npos);
    head.dtype = 200, text.parts = 1;
    EXPECT_NE(init({1, 3}, 80), "");
    head.dtype = kFloat32;
    EXPECT_EQ(init({1, 3}, 80), "");
    kv->Pull({"sparse"}, {&dense});
    const std::string error = ErrorOf([&] { Read(dense); });
    EXPECT_NE(error.find("key 'sparse' is malformed"), std::string::npos) << error;  // the last push of an asynchronous store
    kv->transport()->SendCommand(7, "1");
    kv->Push({"sparse"}, {&table});
    kv->Pull({"sparse"}, {&dense});
    EXPECT_EQ(Read(dense), Values(40, 0));
  });
}

/* Whatever comes, in any order. */
TEST(DistSparse, ServersRefuseRowsOfNoSense) {
  Cluster cluster(1, 1, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    const Shape shape{10, 2};
    NDArray table = Same(shape, {1, 5}, 1), other = Same(shape, {2}, 1), got = Empty(shape);
    kv->Init({"w", "other"}, {&table, &other});
    std::mt19937 random(11);
    const auto number = [&] {
      const int64_t any[] = {0, 1, 2, 3, 9, 10, 11, -1, INT64_MAX, INT64_MIN, int64_t{1} << 61, static_cast<int64_t>(random())};
      return any[random() % 12];
    };
    for (int i = 0; i < 3000; ++i) {
      Head head;
      head.kind = random() % 8 ? random() % 2 ? Kind::kPush : Kind::kPull : Kind::kInit;
      head.flags = static_cast<uint16_t>((random() % 4 ? kRows : 0) | (random() % 4 ? kSync : 0) | (random() % 8 ? 0 : kFirst));
      head.key = random() % 4 ? KeyHash(KVKey("other")) : number();
      head.version = 0;
      head.count = random() % 4 ? 20 : number();
      head.compression = random() % 8 ? 0 : static_cast<int32_t>(random() % 4);
      head.request = random() % 4 ? 0 : -1;
      auto words = std::make_shared<std::vector<int64_t>>(24);
      for (int64_t& w : *words) w = number();
      if (random() % 2) (*words)[0] = static_cast<int64_t>(random() % 3), (*words)[1] = static_cast<int64_t>(random() % 5), (*words)[2] = 7;
      const size_t bytes = random() % 2 ? 64 + 8 * static_cast<size_t>((*words)[0] & 3) : random() % 190;
      cluster.job(0)->Tell(1, head, MakeMessage(head, words->data(), bytes, words), 0);
    }
    kv->PushPull({"w"}, {&table}, {"w"}, {&got});
    EXPECT_EQ(Whole(got), Whole(table));
  });
}

TEST(DistSparse, OtherDtypesAreConverted) {
  Bounds bounds("10", "64");
  Cluster cluster(2, 2, "dist_sync");
  cluster.Run([&](int, KVStore* kv) {
    const Shape shape{20, 2};
    NDArray table = Same(shape, {1, 15}, 1), got = Empty(shape);
    NDArray wide = NDArray::Make(TensorType(shape, kFloat64, StorageType::kRowSparse), Context::CPU()), whole = wide.Copy(Context::CPU());
    CopyFromTo(table, wide);
    kv->Init({"w"}, {&table});
    kv->PushPull({"w"}, {&wide}, {"w", "w"}, {&got, &whole});
    EXPECT_EQ(Whole(got), Whole(Same(shape, {1, 15}, 2)));
    CopyFromTo(whole, table);
    EXPECT_EQ(Whole(table), Whole(got));
  });
}

/* Servers go on with the rows that they have written. */
TEST(DistSparse, SnapshotsHaveRows) {
  char folder[] = "/tmp/dist_sparse_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("PS_SNAPSHOT_FOLDER", folder, 1);
  setenv("PS_SNAPSHOT_INTERVAL", "0", 1);
  const Shape shape{6, 2};
  for (const bool again : {false, true}) {
    Cluster cluster(1, 1, "dist_sync");
    cluster.Run([&](int, KVStore* kv) {
      NDArray first = Same(shape, {0}, 1), pushed = Same(shape, {1, 4}, 3), got = Empty(shape);
      kv->Init({"w"}, {&first});
      kv->Pull({"w"}, {&got});
      EXPECT_EQ(IdsOf(got), again ? (Ids{1, 4}) : Ids{0});
      for (int i = 0; i < 3; ++i) kv->PushPull({"w"}, {&pushed}, {"w"}, {&got});
      EXPECT_EQ(Whole(got), Whole(pushed));
    });
  }
  unsetenv("PS_SNAPSHOT_FOLDER");
  unsetenv("PS_SNAPSHOT_INTERVAL");
  for (int step = 0; step < 8; ++step) unlink((std::string(folder) + "/server-0-of-1-step-" + std::to_string(step) + ".params").c_str());
  EXPECT_EQ(rmdir(folder), 0);
}

TEST(Sharding, PartsOfSparseValuesAreRows) {
  for (const int servers : {1, 2, 5})
    for (const int64_t row : {1, 7, 64, 1000})
      for (const int64_t rows : {0, 1, 3, 100}) {
        ShardingOptions options;
        options.servers = servers;
        options.split_from = 500;
        options.slice = 64;
        options.row = row;
        options.whole_rows = true;
        const std::vector<Part> parts = Shard(KeyHash(KVKey("table")), rows * row, options);
        EXPECT_TRUE(AreRows(parts, row));
        int64_t count = 0;
        for (const Part& part : parts) count += part.count;
        EXPECT_EQ(count, rows * row);
        EXPECT_EQ(parts.size() > 1, servers > 1 && rows > 1 && rows * row >= 500);
      }
}

/* Dense values are split at rows where that leaves the parts about even. */
TEST(Sharding, PartsOfDenseValuesAreRowsWhereTheyCanBe) {
  ShardingOptions options;
  options.servers = 4;
  options.split_from = 1000;
  const auto parts = [&](int64_t rows, int64_t row) {
    options.row = row;
    return Shard(KeyHash(KVKey("w")), rows * row, options);
  };
  EXPECT_TRUE(AreRows(parts(10000, 50), 50));
  EXPECT_TRUE(AreRows(parts(64, 128), 128));
  EXPECT_FALSE(AreRows(parts(3, 1000), 1000));
  for (const auto& [rows, row] : std::vector<std::pair<int64_t, int64_t>>{{10000, 50}, {3, 1000}, {100, 37}}) {
    const std::vector<Part> all = parts(rows, row);
    EXPECT_EQ(all.size(), 4u);
    for (const Part& part : all) {
      EXPECT_EQ(part.begin % 64, 0);
      EXPECT_LE(part.count, rows * row / 4 * 9 / 8 + 64);
    }
  }
}

}  // namespace
}  // namespace kvstore
}  // namespace mxnet
