// Parts of images: what ResampleWindow reads and makes. Random numbers of the image pipeline.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/cpu_dispatch.h"
#include "io/image/pipeline.h"
#include "mxnet/base.h"
#include "operator/image/resample.h"

using namespace mxnet;         // NOLINT
using namespace mxnet::image;  // NOLINT

namespace {

int64_t Between(std::mt19937* random, int64_t low, int64_t high) { return low + static_cast<int64_t>((*random)()) % (high - low + 1); }

TEST(ResampleWindow, GivesPixelsOfTheWholeFromItsPartAlone) {
  const CpuLevel detected = DetectedCpuLevel();
  for (const CpuLevel level : {CpuLevel::kV2, CpuLevel::kV3}) {
    if (level > detected) continue;
    CapCpuLevel(level);
    std::mt19937 random(3);
    for (int round = 0; round < 600; ++round) {
      const auto method = static_cast<Interpolation>(round % kInterpolations);
      const ImageSize size{Between(&random, 1, 60), Between(&random, 1, 60), round % 3 == 0 ? 1 : round % 5 == 0 ? 4 : 3};
      const bool halves = round % 7 == 0, same = round % 11 == 0;
      const int64_t height = same ? size.height : halves ? (size.height + 1) / 2 : Between(&random, 1, 90);
      const int64_t width = same ? size.width : halves ? (size.width + 1) / 2 : Between(&random, 1, 90);
      std::vector<uint8_t> from(static_cast<size_t>(size.height * size.width * size.channels) + 8);
      for (uint8_t& v : from) v = static_cast<uint8_t>(random());
      std::vector<uint8_t> whole(static_cast<size_t>(height * width * size.channels));
      Resample(kUint8, method, from.data(), size, size.width * size.channels, whole.data(), height, width);

      Window want;
      want.height = Between(&random, 1, height), want.width = Between(&random, 1, width);
      want.y = Between(&random, 0, height - want.height), want.x = Between(&random, 0, width - want.width);
      const Window have = ResampleSource(method, size, height, width, want);
      ASSERT_TRUE(have.y >= 0 && have.x >= 0 && have.height > 0 && have.width > 0);
      ASSERT_TRUE(have.y + have.height <= size.height && have.x + have.width <= size.width);
      const size_t row = static_cast<size_t>(have.width * size.channels);
      std::vector<uint8_t> part(row * static_cast<size_t>(have.height) + 8);  // and no pixel beside it
      for (int64_t y = 0; y < have.height; ++y)
        std::memcpy(part.data() + static_cast<size_t>(y) * row, from.data() + ((have.y + y) * size.width + have.x) * size.channels, row);
      std::vector<uint8_t> made(static_cast<size_t>(want.height * want.width * size.channels));
      ResampleWindow(method, part.data(), size, have, made.data(), height, width, want);
      const size_t line = static_cast<size_t>(want.width * size.channels);
      for (int64_t y = 0; y < want.height; ++y)
        ASSERT_EQ(
            std::memcmp(made.data() + static_cast<size_t>(y) * line, whole.data() + ((want.y + y) * width + want.x) * size.channels, line),
            0)
            << "round " << round << " method " << method << " row " << y;
    }
  }
  CapCpuLevel(detected);
}

// Along a side that keeps its length, taps have weight 0. They are read nevertheless.
TEST(ResampleSource, HasAllTapsWhereOneSideKeepsItsLength) {
  for (const Interpolation method : {kLinear, kCubic, kLanczos}) {
    const int64_t left = method == kLanczos ? 3 : method == kCubic ? 1 : 0, right = left + 1;
    const Window down = ResampleSource(method, {40, 40, 3}, 40, 20, {20, 0, 1, 20}),
                 across = ResampleSource(method, {40, 40, 3}, 20, 40, {0, 20, 20, 1});
    EXPECT_TRUE(down.y <= 20 - left && down.y + down.height > 20 + right) << method;
    EXPECT_TRUE(across.x <= 20 - left && across.x + across.width > 20 + right) << method;
    const Window same = ResampleSource(method, {40, 40, 3}, 40, 40, {20, 7, 1, 2});
    EXPECT_TRUE(same.y == 20 && same.x == 7 && same.height == 1 && same.width == 2) << method;
  }
}

TEST(Draws, DependOnTheirPlaceAlone) {
  auto some = [](uint64_t seed, uint32_t stream, uint64_t epoch, uint64_t position) {
    Draws draws(seed, stream, epoch, position);
    std::vector<uint32_t> bits(9);
    for (uint32_t& b : bits) b = draws.Bits();
    return bits;
  };
  const auto first = some(1, 0, 2, 3);
  EXPECT_EQ(first, some(1, 0, 2, 3));
  for (const auto& other : {some(2, 0, 2, 3), some(1, 1, 2, 3), some(1, 0, 3, 3), some(1, 0, 2, 4), some(1, 0, 2, uint64_t{1} << 32)})
    EXPECT_NE(first, other);
}

TEST(Draws, HaveTheirDistributions) {
  constexpr int n = 20000;
  double uniform = 0, normal = 0, squares = 0;
  int places[7] = {0};
  for (int i = 0; i < n; ++i) {
    Draws draws(5, kDrawAugment, 0, static_cast<uint64_t>(i));
    const double u = draws.Uniform(), z = draws.Normal();
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform += u, normal += z, squares += z * z;
    ++places[draws.Integer(-3, 3) + 3];
  }
  EXPECT_NEAR(uniform / n, 0.5, 0.01);
  EXPECT_NEAR(normal / n, 0, 0.03);
  EXPECT_NEAR(squares / n, 1, 0.05);
  for (int count : places) EXPECT_NEAR(count, n / 7.0, 250);
  Draws draws(0, 0, 0, 0);
  EXPECT_EQ(draws.Integer(4, 4), 4);
  EXPECT_EQ(draws.Integer(4, -9), 4);
}

}  // namespace
