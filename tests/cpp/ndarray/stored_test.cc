// Arrays whose contents lie somewhere else: filled when they are read, given back when nobody holds
// them.
#include "ndarray/stored.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "executor/plan/plan_constants.h"
#include "mxnet/engine.h"
#include "ndarray/container_reader.h"

namespace mxnet {
namespace {

constexpr int64_t kFloats = 1 << 14;

/* Sevens, and how often they were read. */
class Sevens final : public StoredContents {
 public:
  explicit Sevens(int64_t count) : count_(count) {}
  void Read(void* to) const override {
    ++reads;
    std::fill(static_cast<float*>(to), static_cast<float*>(to) + count_, 7.f);
  }
  mutable std::atomic<int> reads{0};

 private:
  const int64_t count_;
};

struct Stored {
  std::shared_ptr<Sevens> contents;
  NDArray array;
  explicit Stored(int64_t count = kFloats)
      : contents(std::make_shared<Sevens>(count)), array(StoredArray(Shape{count}, kFloat32, contents)) {}
  const float* memory() const { return static_cast<const float*>(array.chunk()->handle.dptr); }
};

TEST(Stored, ReadWhenHeldAndGivenBack) {
  Stored s;
  EXPECT_TRUE(s.array.delayed());
  EXPECT_EQ(0, s.contents->reads);
  ASSERT_TRUE(HoldStored(s.array.chunk()));
  ASSERT_TRUE(HoldStored(s.array.chunk()));  // somebody else
  EXPECT_EQ(1, s.contents->reads);
  EXPECT_EQ(7.f, s.memory()[kFloats - 1]);
  ReleaseStored(s.array.chunk());
  EXPECT_EQ(7.f, s.memory()[0]);  // the other one holds it
  ReleaseStored(s.array.chunk());
  EXPECT_EQ(0.f, s.memory()[kFloats / 2]);
  ASSERT_TRUE(HoldStored(s.array.chunk()));
  EXPECT_EQ(2, s.contents->reads);
  EXPECT_EQ(7.f, s.memory()[kFloats / 2]);
  ReleaseStored(s.array.chunk());
}

TEST(Stored, WhoReadsItOtherwiseKeepsIt) {
  Stored s;
  std::vector<float> copy(kFloats);
  s.array.CopyBytesTo(copy.data(), copy.size() * sizeof(float));
  EXPECT_EQ(std::vector<float>(kFloats, 7.f), copy);
  EXPECT_FALSE(s.array.delayed());
  EXPECT_FALSE(HoldStored(s.array.chunk()));
  EXPECT_EQ(7.f, s.memory()[5]);
  EXPECT_EQ(1, s.contents->reads);
  EXPECT_EQ(s.contents->id(), StoredIn(s.array));
}

TEST(Stored, WrittenOnesAreArraysLikeOthers) {
  Stored s;
  const std::vector<float> ones(kFloats, 1.f);
  s.array.CopyBytesFrom(ones.data(), ones.size() * sizeof(float));
  EXPECT_EQ(0u, StoredIn(s.array));
  EXPECT_FALSE(HoldStored(s.array.chunk()));
  std::vector<float> copy(kFloats);
  s.array.CopyBytesTo(copy.data(), copy.size() * sizeof(float));
  EXPECT_EQ(ones, copy);
}

TEST(Stored, ViewsAndCopies) {
  Stored s;
  const NDArray copy = s.array.Slice(3, 9).Copy(Context::CPU());
  std::vector<float> values(6);
  copy.CopyBytesTo(values.data(), values.size() * sizeof(float));
  EXPECT_EQ(std::vector<float>(6, 7.f), values);
  EXPECT_EQ(0u, StoredIn(s.array.Slice(3, 9)));
}

TEST(Stored, SmallOnesAreFilledAtOnce) {
  Stored s(10);
  EXPECT_FALSE(s.array.delayed());
  EXPECT_EQ(1, s.contents->reads);
  EXPECT_EQ(s.contents->id(), StoredIn(s.array));
  EXPECT_NE(s.contents->id(), StoredIn(Stored(10).array));
}

TEST(Stored, NumbersOfContents) {
  NDArray a(Shape{4, 2}, Context::CPU(), kFloat32), b(Shape{4, 2}, Context::CPU(), kFloat32);
  const std::vector<float> ones(8, 1.f);
  a.CopyBytesFrom(ones.data(), ones.size() * sizeof(float));
  const uint64_t before = ContentsNumber(a);
  EXPECT_NE(0u, before);
  EXPECT_EQ(before, ContentsNumber(a));
  EXPECT_EQ(before, ContentsNumber(a.Slice(0, 4)));
  EXPECT_NE(before, ContentsNumber(b));
  EXPECT_NE(before, ContentsNumber(a.Slice(1, 3)));
  EXPECT_NE(before, ContentsNumber(a.Reshape(Shape{2, 4})));
  a.CopyBytesFrom(ones.data(), ones.size() * sizeof(float));
  EXPECT_NE(before, ContentsNumber(a));
  EXPECT_EQ(ContentsNumber(Stored().array) == 0, false);
  float memory[8] = {};
  TBlob blob;
  blob.dptr = memory;
  blob.shape = Shape{8};
  blob.dtype = kFloat32;
  EXPECT_EQ(0u, ContentsNumber(NDArray(blob, nullptr)));  // its owner may write it unseen
}

TEST(Stored, AnArrayInAnothersPlaceHasAnotherNumber) {
  std::set<uint64_t> numbers;
  for (int i = 0; i < 100; ++i) {
    const NDArray a(Shape{3}, Context::CPU(), kFloat32);  // its chunk is taken again
    EXPECT_TRUE(numbers.insert(ContentsNumber(a)).second);
  }
}

TEST(Stored, ThreadsHoldAndRelease) {
  Stored s;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        if (!HoldStored(s.array.chunk())) ++wrong;
        for (int64_t k = 0; k < kFloats; k += 777) wrong += s.memory()[k] != 7.f;
        ReleaseStored(s.array.chunk());
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(0, wrong);
}

/* A plan with two inputs that are asked for. */
struct Watching {
  Plan plan;
  std::unique_ptr<PlanConstants> constants;
  Watching() {
    plan.num_inputs = 2;
    constants = std::make_unique<PlanConstants>(plan, [](int) {});
  }
};

TEST(Stored, PlansHoldInputsFromNeedToDone) {
  Stored s, other;
  Watching one, two;
  EXPECT_TRUE(one.constants->Watch(0, s.array));
  EXPECT_TRUE(two.constants->Watch(1, s.array));
  EXPECT_EQ(one.constants->Identity(s.memory()), two.constants->Identity(s.memory()));
  EXPECT_NE(0u, one.constants->Identity(s.memory()));
  one.constants->Need(s.memory());
  one.constants->Need(s.memory());
  two.constants->Need(s.memory());
  EXPECT_EQ(1, s.contents->reads);
  one.constants->Done(s.memory());
  EXPECT_EQ(7.f, s.memory()[9]);
  two.constants.reset();  // a plan that goes lets go
  EXPECT_EQ(0.f, s.memory()[9]);
  one.constants->Need(s.memory());
  EXPECT_TRUE(one.constants->Watch(0, other.array));  // the slot has another array now
  EXPECT_EQ(0.f, s.memory()[9]);
  EXPECT_EQ(0u, one.constants->Identity(s.memory()));
  EXPECT_NE(0u, one.constants->Identity(other.memory()));
}

TEST(Stored, OneArrayInTwoSlotsStays) {
  Stored s;
  Watching w;
  EXPECT_TRUE(w.constants->Watch(0, s.array));
  EXPECT_FALSE(w.constants->Watch(1, s.array));
  EXPECT_FALSE(s.array.delayed());
  w.constants->Need(s.memory());
  w.constants->Done(s.memory());
  EXPECT_EQ(7.f, s.memory()[9]);
}

/* A file of the container that is removed with it. */
class File {
 public:
  explicit File(const std::vector<NDArray>& arrays) : path_(testing::TempDir() + "/shortened.params") { SaveNDArrays(path_, arrays, {}); }
  ~File() { unlink(path_.c_str()); }
  StoredBytes Open() const { return StoredBytes(std::make_shared<StoredFile>(path_, "load")); }
  void Shorten() const { ASSERT_EQ(truncate(path_.c_str(), 8), 0); }

 private:
  const std::string path_;
};

Error::Kind KindOf(const std::function<void()>& fails) {
  try {
    fails();
  } catch (const Error& e) {
    return e.kind();
  }
  return Error::Kind::kGeneric;
}

// A map of the file would end the process.
TEST(Stored, FilesThatAreShortenedWhileTheyAreRead) {
  const NDArray dense(Shape{1 << 16}, Context::CPU(), kFloat32);
  for (const bool maps : {false, true}) {
    const File file({dense});
    container::Reader before(file.Open(), maps), headers(file.Open(), maps);
    headers.Read<uint64_t>("magic");
    const size_t values = headers.Skip(1 << 17, "values");
    std::vector<char> to(1 << 16);
    headers.CopyTo(to.data(), values, to.size());
    file.Shorten();
    EXPECT_EQ(KindOf([&] { before.Read<uint64_t>("magic"); }), Error::Kind::kIO);
    EXPECT_EQ(KindOf([&] { headers.Read<uint64_t>("magic"); }), Error::Kind::kIO);
    EXPECT_EQ(KindOf([&] { headers.CopyTo(to.data(), values, to.size()); }), Error::Kind::kIO);
  }
}

// Words that cross the ends of what is read ahead, and bytes from far behind.
TEST(Stored, WordsOfAFileAreThoseOfMemory) {
  const NDArray array(Shape{10000}, Context::CPU(), kInt32);
  for (int32_t i = 0; i < 10000; ++i) array.data().dptr<int32_t>()[i] = i;
  const std::string bytes = [&] {
    const File file({array});
    StoredBytes stored = file.Open();
    std::string all(stored.size(), '\0');
    stored.CopyTo(&all[0], 0, all.size());
    return all;
  }();
  const File file({array});
  container::Reader there(file.Open(), false), here(StoredBytes(bytes.data(), bytes.size(), nullptr), false);
  for (there.Skip(3, "some"), here.Skip(3, "some"); here.left() >= 8;) EXPECT_EQ(there.Read<uint64_t>("word"), here.Read<uint64_t>("word"));
  std::vector<char> a(20000), b(20000);
  for (const size_t begin : {0, 4000, 5, 16000}) {
    for (const size_t size : {1, 16383, 16384, 20000}) {
      there.CopyTo(a.data(), begin, size);
      here.CopyTo(b.data(), begin, size);
      EXPECT_EQ(a, b) << begin << ' ' << size;
    }
  }
}

}  // namespace
}  // namespace mxnet
