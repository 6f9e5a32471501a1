// Weights of 4 bits times data of 8 bits against plain sums, for every instruction set that the
// machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cpu_levels.h"
#include "operator/quantized/block_words.h"

namespace mxnet {
namespace {

struct Case {
  int64_t count, rows, blocks, bytes;
  std::vector<uint8_t> packed;
  std::vector<float> scale, shift, x;
  int64_t K() const { return blocks * bytes * 2; }
};

Case Make(int64_t count, int64_t rows, int64_t blocks, int64_t bytes) {
  std::mt19937 engine(static_cast<unsigned>(count * 7 + rows * 5 + blocks * 3 + bytes));
  std::uniform_real_distribution<float> real(-1, 1);
  Case c{count, rows, blocks, bytes, {}, {}, {}, {}};
  for (int64_t i = 0; i < count * blocks * bytes; ++i) c.packed.push_back(static_cast<uint8_t>(engine()));
  for (int64_t i = 0; i < count * blocks; ++i) c.scale.push_back(1.5f + real(engine)), c.shift.push_back(8 * real(engine));
  for (int64_t i = 0; i < rows * c.K(); ++i) c.x.push_back(real(engine));
  return c;
}

// By the definition: each block of data in 8 bits, sums in double.
double Expected(const Case& c, int64_t r, int64_t i, bool shifted) {
  double sum = 0;
  for (int64_t b = 0; b < c.blocks; ++b) {
    const float* x = c.x.data() + r * c.K() + b * c.bytes * 2;
    float largest = 0;
    for (int64_t j = 0; j < 2 * c.bytes; ++j) largest = std::max(largest, std::fabs(x[j]));
    const float steps = largest > 0 ? 127 / largest : 0;
    for (int64_t j = 0; j < 2 * c.bytes; ++j) {
      const int q = c.packed[static_cast<size_t>((i * c.blocks + b) * c.bytes + j / 2)] >> (j % 2 * 4) & 15;
      const double scale = c.scale[static_cast<size_t>(i * c.blocks + b)];
      const double weight = shifted ? q * scale - c.shift[static_cast<size_t>(i * c.blocks + b)] : (q - 8) * scale;
      sum += weight * std::nearbyint(x[j] * steps) * (static_cast<double>(largest) / 127);
    }
  }
  return sum;
}

std::vector<float> Computed(const Case& c, bool shifted) {
  const int64_t pieces = IntegerRow::Pieces(c.blocks * c.bytes), numbers = pieces * 2 * IntegerRow::kPiece,
                lanes = pieces * IntegerRow::kPiece / 4;
  std::vector<int8_t> bytes(static_cast<size_t>(c.rows * numbers), 99);
  std::vector<float> scales(static_cast<size_t>(c.rows * lanes), NAN), sums = scales, out(static_cast<size_t>(c.rows * c.count), -7);
  std::vector<IntegerRow> rows;
  for (int64_t r = 0; r < c.rows; ++r) {
    rows.push_back({bytes.data() + r * numbers, scales.data() + r * lanes, sums.data() + r * lanes});
    MXNET_CPU_CALL(IntegerBlocks)(c.x.data() + r * c.K(), c.blocks, c.bytes, rows.back());
  }
  const BlockRows weight{c.packed.data(), c.scale.data(), shifted ? c.shift.data() : nullptr, c.blocks, c.bytes, 4};
  MXNET_CPU_CALL(DotIntegers)(weight, c.count, rows.data(), c.rows, out.data(), c.count);
  return out;
}

// The same by the words that a plan keeps, and a bias and an addend.
std::vector<float> ComputedByWords(const Case& c, bool shifted, const std::vector<float>& bias, const std::vector<float>& addend) {
  const BlockRows weight{c.packed.data(), c.scale.data(), shifted ? c.shift.data() : nullptr, c.blocks, c.bytes, 4};
  const int64_t together = BlockWords::kColumns, panels = BlockWords::Panels(c.count), size = BlockWords::PanelBytes(weight);
  std::vector<char> words(static_cast<size_t>(panels * size));
  for (int64_t p = 0; p < panels; ++p)
    MXNET_CPU_CALL(PackBlockWords)(weight.From(p * together), std::min(together, c.count - p * together), words.data() + p * size);
  std::vector<int8_t> bytes(static_cast<size_t>(c.rows * c.K()), 99);
  std::vector<float> scales(static_cast<size_t>(c.rows * c.blocks), NAN), sums = scales, out(static_cast<size_t>(c.rows * c.count), -7);
  std::vector<int32_t> less(static_cast<size_t>(c.rows * c.blocks), 99);
  std::vector<ByteRow> rows;
  for (int64_t r = 0; r < c.rows; ++r) {
    rows.push_back({bytes.data() + r * c.K(), scales.data() + r * c.blocks, sums.data() + r * c.blocks, less.data() + r * c.blocks});
    MXNET_CPU_CALL(FillByteRow)(c.x.data() + r * c.K(), weight, rows.back());
  }
  MXNET_CPU_CALL(MultiplyBlockWords)(weight, words.data(), rows.data(), c.rows, {out.data(), c.count, c.count, bias.data(), addend.data()});
  return out;
}

using BlockIntegersTest = CpuLevelTest;

TEST_P(BlockIntegersTest, WordsOfPlansGiveTheSame) {
  if (MXNET_CPU_CALL(BytePanelColumns)() == 0) GTEST_SKIP() << "no instructions for products of bytes";
  for (int64_t count : {1, 15, 16, 33, 50, 64, 70})
    for (int64_t rows : {1, 2, 3, 5, 8, 9, 19})
      for (int64_t blocks : {1, 3, 16})
        for (int64_t bytes : {4, 12, 16, 20, 64})
          for (bool shifted : {false, true}) {
            const Case c = Make(count, rows, blocks, bytes);
            std::vector<float> bias, addend;
            for (int64_t i = 0; i < count; ++i) bias.push_back(static_cast<float>(i));
            for (int64_t i = 0; i < rows * count; ++i) addend.push_back(static_cast<float>(i % 37));
            const std::vector<float> out = ComputedByWords(c, shifted, bias, addend);
            for (int64_t i = 0; i < rows * count; ++i) {
              const double expected =
                  Expected(c, i / count, i % count, shifted) + bias[static_cast<size_t>(i % count)] + addend[static_cast<size_t>(i)];
              ASSERT_NEAR(out[static_cast<size_t>(i)], expected, 2e-4 * std::sqrt(static_cast<double>(c.K())))
                  << count << ' ' << rows << ' ' << blocks << ' ' << bytes << ' ' << shifted << " at " << i;
            }
          }
}

TEST_P(BlockIntegersTest, EqualsPlainSums) {
  for (int64_t count : {1, 4, 7})
    for (int64_t rows : {1, 3, 4, 9})
      for (int64_t blocks : {1, 2, 3, 4, 5, 9, 16})
        for (int64_t bytes : {16, 32, 64, 128})
          for (bool shifted : {false, true}) {
            const Case c = Make(count, rows, blocks, bytes);
            const std::vector<float> out = Computed(c, shifted);
            for (int64_t r = 0; r < rows; ++r)
              for (int64_t i = 0; i < count; ++i) {
                const double expected = Expected(c, r, i, shifted);
                ASSERT_NEAR(out[static_cast<size_t>(r * count + i)], expected, 2e-4 * std::sqrt(static_cast<double>(c.K())))
                    << count << ' ' << rows << ' ' << blocks << ' ' << bytes << ' ' << shifted << " at " << r << ' ' << i;
              }
          }
}

TEST_P(BlockIntegersTest, WhatIsNoNumberGivesNaNInItsRowAlone) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Case c = Make(5, 3, 4, 16);
    c.x[static_cast<size_t>(c.K() + 40)] = bad;
    const std::vector<float> out = Computed(c, false);
    for (int64_t i = 0; i < 15; ++i) EXPECT_EQ(std::isnan(out[static_cast<size_t>(i)]), i / 5 == 1) << i;
  }
}

TEST_P(BlockIntegersTest, ZerosAndTinyNumbersGiveZeros) {
  for (float value : {0.f, 1e-42f}) {
    Case c = Make(4, 2, 3, 32);
    for (float& x : c.x) x = value;
    for (float y : Computed(c, true)) EXPECT_NEAR(y, 0, 1e-30);
  }
}

MXNET_ON_CPU_LEVELS(BlockIntegersTest);

}  // namespace
}  // namespace mxnet
