// Value types of mxnet/base.h, errors, 16-bit floats, CPU levels and ParallelFor.
#include "mxnet/base.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <sstream>
#include <thread>

#include "base/cache_sets.h"
#include "base/copy_run.h"
#include "base/cpu_dispatch.h"
#include "base/dtype.h"
#include "base/half.h"
#include "base/threads/borrowed_team.h"
#include "base/threads/omp.h"
#include "base/threads/shared_cores.h"
#include "base/threads/shared_items.h"
#include "mxnet/env.h"

using namespace mxnet;  // NOLINT

namespace {

template <typename F>
std::string MessageOf(Error::Kind kind, F&& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

}  // namespace

TEST(DType, NamesAndSizes) {
  for (int dtype = 0; dtype < kNumDTypes; ++dtype) {
    EXPECT_EQ(DTypeFromName(DTypeName(dtype)), dtype);
    VisitDType(dtype, "test", [&](auto tag) {
      using T = decltype(tag);
      EXPECT_EQ(DTypeOf<T>::value, dtype);
      EXPECT_EQ(DTypeSize(dtype), sizeof(T));
    });
  }
  EXPECT_EQ(DTypeSize(kDTypeUnknown), 0u);
  EXPECT_EQ(DTypeSize(kNumDTypes), 0u);
  EXPECT_STREQ(DTypeName(99), "unknown");
  const std::string message = MessageOf(Error::Kind::kType, [] { DTypeFromName("complex64"); });
  EXPECT_NE(message.find("complex64"), std::string::npos);
  EXPECT_NE(message.find("bfloat16"), std::string::npos);
  MessageOf(Error::Kind::kNotImplementedForDType, [] { VisitFloating(kInt8, "test", [](auto) {}); });
  MessageOf(Error::Kind::kNotImplementedForDType, [] { VisitDType(-1, "test", [](auto) {}); });
}

TEST(Context, TextRoundTrip) {
  for (const char* text : {"cpu(0)", "gpu(3)", "cpu_pinned(1)", "cpu_shared(0)"}) EXPECT_EQ(Context::FromString(text).str(), text);
  EXPECT_EQ(Context::FromString("gpu"), Context::GPU(0));
  EXPECT_EQ(Context::Make(3, 2), Context::CPUPinned(2));
  EXPECT_EQ(Context::CPUShared(1).execution(), Context::CPU(0));
  EXPECT_EQ(Context::GPU(1).execution(), Context::GPU(1));
  for (const char* text : {"", "tpu(0)", "cpu(", "cpu()", "cpu(-1)", "cpu(1", "cpu(1)x", "cpu(99999999999)", "cpu(1) "})
    MessageOf(Error::Kind::kValue, [&] { Context::FromString(text); });
  MessageOf(Error::Kind::kValue, [] { Context::Make(4, 0); });
  MessageOf(Error::Kind::kValue, [] { Context::Make(1, -1); });
}

TEST(Shape, TextAndKnowledge) {
  EXPECT_EQ(Shape().str(), "None");
  EXPECT_EQ(Shape({}).str(), "()");
  EXPECT_EQ(Shape({2}).str(), "(2,)");
  EXPECT_EQ(Shape({2, -1}).str(), "(2,-1)");
  EXPECT_FALSE(Shape().known());
  EXPECT_FALSE(Shape(2).known());
  EXPECT_TRUE(Shape({}).known());
  EXPECT_EQ(Shape({}).Size(), 1);
  EXPECT_EQ(Shape({2, 3, 4}).Size(), 24);
  EXPECT_EQ(Shape({2, 3, 4}).Prod(1, 3), 12);
  EXPECT_EQ(Shape({2, 3, 4}).Prod(1, 1), 1);
  EXPECT_NE(Shape({}), Shape());
  EXPECT_NE(Shape({1}), Shape({1, 1}));
}

TEST(Shape, SizeRefusesWhatHasNone) {
  const int64_t big = int64_t{1} << 40;
  MessageOf(Error::Kind::kValue, [] { Shape().Size(); });
  MessageOf(Error::Kind::kValue, [] { Shape({2, -1}).Size(); });
  MessageOf(Error::Kind::kValue, [] { Shape({-1, -1}).Size(); });
  const std::string message = MessageOf(Error::Kind::kValue, [&] { Shape({big, big}).Size(); });
  EXPECT_NE(message.find("(1099511627776,1099511627776)"), std::string::npos) << message;
  EXPECT_EQ(Shape({big, big, 0}).Size(), 0);  // as in NumPy
  EXPECT_EQ(Shape({big, big, 0}).Prod(0, 3), 0);
  MessageOf(Error::Kind::kValue, [&] { Shape({big, big, 0}).Prod(0, 2); });
  MessageOf(Error::Kind::kValue, [] { Shape(-2); });
}

// Every way to get from one rank to another, across the border between inline and heap storage.
TEST(Shape, AssignmentKeepsValues) {
  std::vector<std::vector<int64_t>> all;
  for (int ndim = 0; ndim <= 2 * Shape::kInlineDims; ++ndim) {
    all.emplace_back(ndim);
    for (int i = 0; i < ndim; ++i) all.back()[i] = 10 * ndim + i;
  }
  for (const auto& a : all) {
    for (const auto& b : all) {
      const Shape want(b);
      Shape copied(a), moved(a), assigned(a), source(b);
      copied = source;
      EXPECT_EQ(copied, want);
      EXPECT_EQ(source, want);
      moved = std::move(source);
      EXPECT_EQ(moved, want);
      EXPECT_FALSE(source.ndim_known());
      source = want;  // a moved-from shape can be used again
      EXPECT_EQ(source, want);
      assigned.Assign(b.data(), static_cast<int>(b.size()));
      EXPECT_EQ(std::vector<int64_t>(assigned.begin(), assigned.end()), b);
      Shape resized(a);
      resized.Resize(static_cast<int>(b.size()), 7);
      EXPECT_EQ(std::vector<int64_t>(resized.begin(), resized.end()), std::vector<int64_t>(b.size(), 7));
      resized.Resize(-1, 0);
      EXPECT_EQ(resized, Shape());
    }
    if (a.size() < 2) continue;
    Shape self(a);  // from a part of itself
    self.Assign(self.dims() + 1, static_cast<int>(a.size()) - 1);
    EXPECT_EQ(std::vector<int64_t>(self.begin(), self.end()), std::vector<int64_t>(a.begin() + 1, a.end()));
    Shape constructed(std::move(self));
    EXPECT_EQ(constructed.ndim(), static_cast<int>(a.size()) - 1);
  }
}

TEST(Shape, Merge) {
  Shape into;
  EXPECT_TRUE(MergeShape(&into, Shape()));
  EXPECT_FALSE(into.ndim_known());
  EXPECT_TRUE(MergeShape(&into, Shape({-1, 3})));
  EXPECT_TRUE(MergeShape(&into, Shape({2, -1})));
  EXPECT_EQ(into, Shape({2, 3}));
  EXPECT_FALSE(MergeShape(&into, Shape({2, 4})));
  into = Shape({2, 3});
  EXPECT_FALSE(MergeShape(&into, Shape({2, 3, 1})));
  int dtype = kDTypeUnknown;
  EXPECT_TRUE(MergeDType(&dtype, kInt8));
  EXPECT_TRUE(MergeDType(&dtype, kDTypeUnknown));
  EXPECT_FALSE(MergeDType(&dtype, kFloat32));
  EXPECT_EQ(dtype, kInt8);
}

TEST(Error, MessageCostsNothingUnlessNeeded) {
  int evaluated = 0;
  auto text = [&] { return ++evaluated; };
  MXNET_CHECK(true) << text();
  EXPECT_EQ(evaluated, 0);
  const std::string message = MessageOf(Error::Kind::kIndex, [&] { MXNET_CHECK_KIND(false, Index) << "[test] got " << text(); });
  EXPECT_EQ(message, "[test] got 1");
  EXPECT_EQ(evaluated, 1);
}

// The definition of round to nearest even, by comparing with the two neighbours among all
// representable values.
template <typename T>
void CheckNearest(float value, const std::vector<float>& sorted) {
  const float got = T(value);
  auto upper = std::lower_bound(sorted.begin(), sorted.end(), value);
  ASSERT_NE(upper, sorted.end());
  if (*upper == value) {
    EXPECT_EQ(got, value);
    return;
  }
  ASSERT_NE(upper, sorted.begin());
  const double low = *(upper - 1), high = *upper, below = value - low, above = high - value;
  if (below != above) {
    EXPECT_EQ(got, static_cast<float>(below < above ? low : high)) << value;
  } else {
    EXPECT_TRUE(got == static_cast<float>(low) || got == static_cast<float>(high));
    EXPECT_EQ(T(got).bits & 1, 0) << value << " is a tie and goes to the even neighbour";
  }
}

template <typename T>
void CheckRounding(uint16_t exponent_bits) {
  std::vector<float> finite;
  for (int bits = 0; bits < 0x10000; ++bits) {
    const T value = T::FromBits(static_cast<uint16_t>(bits));
    const float f = value;
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(T(f))));
    } else {
      EXPECT_EQ(T(f).bits, bits);  // survives the round trip
    }
    if ((bits & exponent_bits) != exponent_bits && bits != 0x8000) finite.push_back(f);
  }
  std::sort(finite.begin(), finite.end());
  for (size_t i = 0; i + 1 < finite.size(); ++i) {
    const float middle = static_cast<float>((static_cast<double>(finite[i]) + finite[i + 1]) / 2);
    CheckNearest<T>(middle, finite);
    CheckNearest<T>(std::nextafter(middle, INFINITY), finite);
    CheckNearest<T>(std::nextafter(middle, -INFINITY), finite);
  }
}

TEST(Half, RoundsToNearestEven) { CheckRounding<float16>(0x7c00); }
TEST(Bfloat16, RoundsToNearestEven) { CheckRounding<bfloat16>(0x7f80); }

TEST(Half, Limits) {
  EXPECT_EQ(float16(65504.0f).bits, 0x7bff);
  EXPECT_EQ(float16(65519.99f).bits, 0x7bff);
  EXPECT_EQ(float16(65520.0f).bits, 0x7c00);  // the tie above the largest value is infinity
  EXPECT_EQ(float16(1e30f).bits, 0x7c00);
  EXPECT_EQ(float16(-INFINITY).bits, 0xfc00);
  EXPECT_EQ(float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(float16(1e-30f).bits, 0);
  EXPECT_EQ(static_cast<float>(float16::FromBits(1)), std::ldexp(1.0f, -24));
  EXPECT_EQ(bfloat16(3.4e38f).bits, 0x7f80);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<bfloat16>::max()), 0x1.fep127f);
  EXPECT_EQ(static_cast<float>(std::numeric_limits<float16>::epsilon()), std::ldexp(1.0f, -10));
  EXPECT_EQ(static_cast<float>(std::numeric_limits<bfloat16>::epsilon()), std::ldexp(1.0f, -7));
}

// Rounding a double to float first would turn "a little above the tie" into the tie.
TEST(Half, DoubleIsRoundedOnce) {
  const double tie = 1.0 + std::ldexp(1.0, -11);
  EXPECT_EQ(float16(tie).bits, 0x3c00);
  EXPECT_EQ(float16(tie + 1e-12).bits, 0x3c01);
  EXPECT_EQ(float16(-(tie + 1e-12)).bits, 0xbc01);
  EXPECT_EQ(float16(tie + std::ldexp(1.0, -10) - 1e-12).bits, 0x3c01);
  EXPECT_EQ(bfloat16(int64_t{(1 << 30) + (1 << 22) + 1}).bits, bfloat16(float((1 << 30) + (1 << 23))).bits);
  EXPECT_EQ(float16(1e300).bits, 0x7c00);
}

TEST(CpuDispatch, LevelsAgreeBitForBit) {
  std::mt19937 random(7);
  std::vector<float> floats(70001);
  for (float& f : floats) {
    const uint32_t bits = random();
    std::memcpy(&f, &bits, sizeof(f));
  }
  for (size_t i = 0; i < floats.size(); i += 2) floats[i] = std::ldexp(static_cast<float>(random()) - 2e9f, -31 - static_cast<int>(i % 40));
  std::vector<float16> halves(0x10000);
  for (int i = 0; i < 0x10000; ++i) halves[i].bits = static_cast<uint16_t>(i);

  const CpuLevel detected = DetectedCpuLevel();
  std::vector<std::vector<uint16_t>> narrow, narrow_b;
  std::vector<std::vector<uint32_t>> wide;
  for (CpuLevel cap : {CpuLevel::kV2, CpuLevel::kV3, CpuLevel::kV4}) {
#ifdef MXNET_ONE_CPU_LEVEL
    const CpuLevel expected = detected;
#else
    const CpuLevel expected = std::min(cap, detected);
#endif
    EXPECT_EQ(CapCpuLevel(cap), expected);
    EXPECT_EQ(CurrentCpuLevel(), expected);
    narrow.emplace_back(floats.size());
    FloatToHalf(floats.data(), reinterpret_cast<float16*>(narrow.back().data()), floats.size());
    narrow_b.emplace_back(floats.size());
    FloatToBfloat(floats.data(), reinterpret_cast<bfloat16*>(narrow_b.back().data()), floats.size());
    wide.emplace_back(halves.size());
    HalfToFloat(halves.data(), reinterpret_cast<float*>(wide.back().data()), halves.size());
    std::vector<float> back(floats.size());
    BfloatToFloat(reinterpret_cast<const bfloat16*>(narrow_b.back().data()), back.data(), back.size());
    for (size_t i = 0; i < back.size(); i += 97) EXPECT_EQ(detail::FloatBits(back[i]), uint32_t{narrow_b.back()[i]} << 16);
  }
  CapCpuLevel(CpuLevel::kV4);
  for (size_t i = 0; i < floats.size(); ++i) ASSERT_EQ(narrow[0][i], detail::FloatToHalfBits(floats[i])) << i;
  for (size_t level = 1; level < narrow.size(); ++level) {
    EXPECT_EQ(narrow[level], narrow[0]);
    EXPECT_EQ(narrow_b[level], narrow_b[0]);
    EXPECT_EQ(wide[level], wide[0]);
  }
}

TEST(CopyRun, CopiesWhateverThePlacesInTheirPages) {
  std::vector<char> from(3 * 4096), to(4 * 4096), expected(to.size());
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7 + i / 251);
  for (size_t bytes : {0, 1, 255, 256, 2048, 2049, 2304, 4096, 5000}) {
    for (size_t ahead : {0, 1, 20, 63, 64, 4095}) {
      std::fill(to.begin(), to.end(), 'x');
      expected = to;
      char* const page = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(to.data()) + 4095) & ~uintptr_t{4095});
      char* const source = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(from.data()) + 4095) & ~uintptr_t{4095});
      CopyRun(page + ahead, source, bytes);
      std::copy(source, source + bytes, expected.data() + (page - to.data()) + ahead);
      ASSERT_EQ(to, expected) << bytes << " bytes, " << ahead << " ahead";
    }
  }
}

class ParallelForTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Env::Set("OMP_NUM_THREADS", "4");
    AssumeCores(Cores::kOwn);
  }
  void TearDown() override {
    AssumeCores(Cores::kMeasured);
    Env::Set("OMP_NUM_THREADS", "");
    Env::Set("MXNET_CPU_PARALLEL_SIZE", "");
  }
};

TEST_F(ParallelForTest, CoversEveryItemOnce) {
  for (int64_t n : {0, 1, 3, 4, 5, 1000, 1001}) {
    for (int threads : {0, 1, 2, 4, 7}) {
      std::vector<std::atomic<int>> seen(n);
      std::atomic<int> calls{0};
      ParallelForThreads(threads, n, [&](int64_t begin, int64_t end) {
        ++calls;
        for (int64_t i = begin; i < end; ++i) ++seen[i];
      });
      for (auto& s : seen) EXPECT_EQ(s, 1);
      EXPECT_EQ(calls, std::min<int64_t>(n, std::max(threads, 1)));
    }
  }
}

TEST_F(ParallelForTest, GrainAndVariablesDecideTheThreads) {
  auto ranges = [](int64_t n, int64_t grain) {
    std::atomic<int> calls{0};
    ParallelFor(n, grain, [&](int64_t, int64_t) { ++calls; });
    return calls.load();
  };
  EXPECT_EQ(ranges(100, 10), 4);
  EXPECT_EQ(ranges(100, 40), 2);
  EXPECT_EQ(ranges(100, 51), 1);
  EXPECT_EQ(ranges(199999, 0), 1);
  EXPECT_EQ(ranges(200000, 0), 4);
  Env::Set("MXNET_CPU_PARALLEL_SIZE", "10");
  EXPECT_EQ(ranges(10, 0), 4);
  EXPECT_EQ(OmpThreads(9), 1);
  Env::Set("OMP_NUM_THREADS", "2");
  EXPECT_EQ(ranges(100, 1), 2);
  EXPECT_EQ(SetThreadOmpLimit(1), 0);
  EXPECT_EQ(ranges(100, 1), 1);
  EXPECT_EQ(SetThreadOmpLimit(0), 1);
  std::atomic<int> inner{0};
  ParallelFor(2, 1, [&](int64_t, int64_t) { inner += OmpMaxThreads(); });
  EXPECT_EQ(inner, 2) << "no parallel region inside a parallel region";
}

TEST_F(ParallelForTest, ExceptionReachesTheCaller) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::string message = MessageOf(Error::Kind::kIndex, [] {
      ParallelFor(100, 1, [](int64_t begin, int64_t) {
        if (begin > 0) MXNET_THROW(Index) << "[test] from a thread";
      });
    });
    EXPECT_EQ(message, "[test] from a thread");
  }
}

TEST_F(ParallelForTest, LibrariesSeeTheSameNumber) {
  const int outside = omp_get_max_threads();
  Env::Set("OMP_NUM_THREADS", "3");
  {
    OmpScope scope;
    EXPECT_EQ(omp_get_max_threads(), 3);
    SetThreadOmpLimit(2);
    OmpScope inner;
    EXPECT_EQ(omp_get_max_threads(), 2);
    SetThreadOmpLimit(0);
  }
  EXPECT_EQ(omp_get_max_threads(), outside);
}

TEST(Threads, Name) {
  std::thread([] {
    char name[16];
    SetThreadName("a name that is longer than fifteen");
    ASSERT_EQ(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
    EXPECT_STREQ(name, "a name that is ");
  }).join();
}

// Without the fork handler the child waits for threads that exist only in the parent.
#ifndef __SANITIZE_THREAD__  // there loops have other threads, and a child has none
TEST_F(ParallelForTest, TeamsOfLibrariesCount) {
  std::atomic<int> stage{0};
  const int before = OpenTeams() - (HasTeam() ? 1 : 0);
  GiveBackOwnTeam();
  std::thread other([&] {
    const OmpScope library(2);  // what calls oneDNN
    stage = 1;
    while (stage != 2) std::this_thread::yield();
  });
  while (stage != 1) std::this_thread::yield();
  EXPECT_EQ(OpenTeams(), before + 1);
  {
    const BorrowedTeam team;
    EXPECT_EQ(OmpMaxThreads(), 1);  // no second team beside the library's
  }
  stage = 2;
  other.join();
  EXPECT_EQ(OpenTeams(), before);
}

TEST_F(ParallelForTest, BorrowedTeamsAreKeptWhereNobodyElseHasOne) {
  const pid_t child = fork();  // nobody has a team there
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    int step = 0, failed = 0;  // the first that fails
    const auto expect = [&](bool good) {
      ++step;
      if (!good && !failed) failed = step;
    };
    const auto loop = [] {
      std::atomic<int> threads{0};
      ParallelFor(2, 1, [&](int64_t, int64_t) { ++threads; });
      return threads.load();
    };
    expect(OpenTeams() == 0);
    for (int i = 0; i < 3; ++i) {
      const BorrowedTeam team;
      expect(loop() == 2);
    }
    expect(OpenTeams() == 1);  // kept
    GiveBackKeptTeam();
    expect(OpenTeams() == 1);  // nobody else has one
    std::atomic<int> stage{0};
    std::thread other([&] {
      loop();  // for good
      stage = 1;
      while (stage != 2) std::this_thread::yield();
      expect(HasTeam());
      GiveBackOwnTeam();  // somebody asked for it
      expect(!HasTeam() && OpenTeams() == 0);
      loop();
    });
    while (stage != 1) std::this_thread::yield();
    expect(OpenTeams() == 2);
    GiveBackKeptTeam();
    expect(OpenTeams() == 1);
    {
      const BorrowedTeam team;
      expect(loop() == 1);  // no second team
    }
    expect(OmpMaxThreads() == 4);
    stage = 2;
    other.join();
    expect(OpenTeams() == 0);  // a thread that ends takes its team along
    _exit(failed);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0) << "number of the expectation that failed";
}
TEST_F(ParallelForTest, ChildOfForkComputes) {
  auto sum = [] {
    std::atomic<int64_t> total{0};
    ParallelFor(1000, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) total += i;
    });
    return total.load();
  };
  ASSERT_EQ(sum(), 499500);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    int64_t in_thread = 0;
    const int64_t in_main = sum();
    std::thread([&] { in_thread = sum(); }).join();
    std::atomic<int> ranges{0};
    ParallelFor(100, 1, [&](int64_t, int64_t) { ++ranges; });
    _exit(in_main == 499500 && in_thread == 499500 && ranges == 4 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_EQ(sum(), 499500);
}

// Without the count of constructors the child waits for the thread that is in one.
TEST(Fork, WaitsForTheConstructorOfALocalStaticObject) {
  struct Slow {
    explicit Slow(std::atomic<bool>* begun) {
      *begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      made = true;
    }
    bool made = false;
  };
  static std::atomic<bool> begun{false};
  const auto object = []() -> Slow& {
    static Slow slow(&begun);
    return slow;
  };
  std::thread maker([&] { object(); });
  while (!begun) std::this_thread::yield();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);  // ends a child that hangs
    _exit(object().made ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  maker.join();
}
#endif

// Whatever the cache: more rows at one distance collide sooner, lines that follow each other and
// rows a line off a page do not, and hundreds of rows in one set do.
TEST(CacheSets, RowsCollide) {
  for (int64_t distance : {64, 192, 1024, 4096, 8192, 4096 * 3, 1 << 20})
    for (int rows = 1; rows < 64; ++rows)
      EXPECT_LE(RowsCollide(distance, rows), RowsCollide(distance, rows + 1)) << distance << ' ' << rows;
  for (int rows = 1; rows <= 14; ++rows) {
    EXPECT_FALSE(RowsCollide(kCacheLine, rows));
    EXPECT_FALSE(RowsCollide((1 << 16) + kCacheLine, rows));
  }
  EXPECT_FALSE(RowsCollide(1 << 20, 1));
  EXPECT_TRUE(RowsCollide(1 << 20, 500));
}

// Shares of any sizes: every item is handed out once, one's own in order; a thread that comes alone
// gets all.
TEST(SharedItems, EachOnce) {
  std::mt19937 gen(5);
  for (int shares : {1, 2, 3, 16, 17, 40}) {
    for (int threads : {1, 2, 5}) {
      SharedItems items(shares);
      std::vector<std::vector<std::atomic<int>>> taken(shares);
      int64_t total = 0;
      for (int i = 0; i < shares; ++i) {
        const int64_t count = gen() % 5 ? static_cast<int64_t>(gen() % 300) : 0;
        items.Set(i, count);
        taken[i] = std::vector<std::atomic<int>>(count);
        total += count;
      }
      std::atomic<int64_t> got{0};
      std::atomic<bool> in_order{true};
      std::vector<std::thread> team;
      for (int t = 0; t < threads; ++t)
        team.emplace_back([&, t] {
          int share;
          int64_t before = -1;
          for (int64_t item; items.Next(t % shares, &share, &item); ++got) {
            if (share == t % shares && threads <= shares) {
              if (item <= before) in_order = false;
              before = item;
            }
            ++taken.at(share).at(item);
          }
        });
      for (std::thread& t : team) t.join();
      EXPECT_EQ(got, total);
      EXPECT_TRUE(in_order);
      for (const auto& share : taken)
        for (const auto& n : share) EXPECT_EQ(n, 1);
    }
  }
}
