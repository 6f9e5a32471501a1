// Products by matrix tiles against loops, in memory of exactly their size. Where the processor has
// none, that layers do without them.
#include "operator/nn/cpu_gemm/amx_products.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "base/cpu_limit.h"
#include "base/half.h"

namespace mxnet {
namespace nn {
namespace {

struct Case {
  int64_t rows, columns, segments, depth, apart;  // apart: units between rows, which overlap where that is less than the depth
};

std::vector<uint8_t> Random(size_t n, unsigned seed) {
  std::vector<uint8_t> v(n);
  std::mt19937 gen(seed);
  for (uint8_t& x : v) x = static_cast<uint8_t>(gen());
  return v;
}

/* A row's segments lie `step` units apart. */
struct Problem {
  Case c;
  int64_t step;
  std::vector<uint8_t> a, b;
  explicit Problem(const Case& given) : c(given), step(c.rows * c.apart + 3) {
    a = Random(static_cast<size_t>(((c.segments - 1) * step + (c.rows - 1) * c.apart + c.depth) * 4), 1);
    b = Random(static_cast<size_t>(c.segments * c.depth * c.columns * 4), 2);
  }
  const uint8_t* A(int64_t row, int64_t segment, int64_t unit) const { return a.data() + (segment * step + row * c.apart + unit) * 4; }
  const uint8_t* B(int64_t segment, int64_t unit, int64_t column) const {
    return b.data() + ((segment * c.depth + unit) * c.columns + column) * 4;
  }
  /* All blocks of rows, each sum written as often as its row is computed. */
  void Run(AmxKind kind, const void* start, void* sums) const {
    AmxOperands o;
    o.pitch = c.apart * 4, o.segments = c.segments, o.step = step * 4, o.depth = c.depth, o.b = b.data(), o.b_pitch = c.columns * 4;
    o.start = start, o.sums_pitch = c.columns;
    const AmxScope scope(c.rows, c.depth);
    for (int64_t i = 0; i < c.rows; i += kAmxGroup) {
      const AmxRows group(c.rows, i);
      ASSERT_LE(group.from + group.rows, c.rows);
      ASSERT_GE(group.fresh, group.from);
      o.a = A(group.from, 0, 0), o.sums = static_cast<char*>(sums) + group.from * c.columns * 4;
      AmxProducts(kind, o, group.rows, c.columns);
    }
  }
};

const Case kCases[] = {{1, 16, 1, 1, 1},    {1, 32, 1, 16, 16},  {3, 32, 1, 5, 7},    {15, 16, 2, 17, 20},
                       {16, 32, 1, 32, 32}, {17, 32, 1, 16, 16}, {31, 32, 3, 9, 3},   {32, 16, 1, 40, 1},
                       {33, 32, 1, 16, 17}, {47, 32, 3, 48, 16}, {49, 32, 1, 19, 19}, {100, 16, 7, 7, 2}};

template <typename A>
void CheckBytes(AmxKind kind) {
  for (const Case& c : kCases) {
    const Problem p(c);
    std::vector<int32_t> start(static_cast<size_t>(c.columns)), sums(static_cast<size_t>(c.rows * c.columns), 7);
    for (int64_t j = 0; j < c.columns; ++j) start[j] = static_cast<int32_t>(1000 - 77 * j);
    for (bool begins : {false, true}) {
      p.Run(kind, begins ? start.data() : nullptr, sums.data());
      for (int64_t i = 0; i < c.rows; ++i)
        for (int64_t j = 0; j < c.columns; ++j) {
          int32_t sum = begins ? start[j] : 0;
          for (int64_t s = 0; s < c.segments; ++s)
            for (int64_t u = 0; u < c.depth; ++u)
              for (int k = 0; k < 4; ++k) sum += static_cast<A>(p.A(i, s, u)[k]) * static_cast<int8_t>(p.B(s, u, j)[k]);
          ASSERT_EQ(sum, sums[i * c.columns + j]) << c.rows << "x" << c.columns << " depth " << c.depth << " row " << i << " column " << j;
        }
    }
  }
}

TEST(AmxProducts, UnsignedBytes) {
  if (!HasAmx()) GTEST_SKIP() << "no AMX";
  CheckBytes<uint8_t>(AmxKind::kUnsigned);
}

TEST(AmxProducts, SignedBytes) {
  if (!HasAmx()) GTEST_SKIP() << "no AMX";
  CheckBytes<int8_t>(AmxKind::kSigned);
}

/* Small whole numbers, whose sums are exact in any order. */
TEST(AmxProducts, Bfloat) {
  if (!HasAmx()) GTEST_SKIP() << "no AMX";
  for (const Case& c : kCases) {
    Problem p(c);
    for (std::vector<uint8_t>* v : {&p.a, &p.b})
      for (size_t i = 0; i + 1 < v->size(); i += 2) {
        const bfloat16 number(static_cast<float>((*v)[i] % 17) - 8);
        std::memcpy(v->data() + i, &number, sizeof(number));
      }
    std::vector<float> start(static_cast<size_t>(c.columns), 0.5f), sums(static_cast<size_t>(c.rows * c.columns));
    p.Run(AmxKind::kBfloat, start.data(), sums.data());
    const auto at = [](const uint8_t* unit, int k) {
      bfloat16 number;
      std::memcpy(&number, unit + 2 * k, sizeof(number));
      return static_cast<float>(number);
    };
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j) {
        float sum = 0.5f;
        for (int64_t s = 0; s < c.segments; ++s)
          for (int64_t u = 0; u < c.depth; ++u)
            for (int k = 0; k < 2; ++k) sum += at(p.A(i, s, u), k) * at(p.B(s, u, j), k);
        ASSERT_EQ(sum, sums[i * c.columns + j]) << c.rows << "x" << c.columns << " depth " << c.depth << " row " << i << " column " << j;
      }
  }
}

/* Rows of a block: each is fresh once, in order, and tiles are whole where there are enough rows.
 */
TEST(AmxProducts, RowsOfABlock) {
  for (int64_t block = 1; block < 120; ++block) {
    int64_t next = 0;
    for (int64_t i = 0; i < block; i += kAmxGroup) {
      const AmxRows group(block, i);
      EXPECT_EQ(next, group.fresh);
      EXPECT_GE(group.from, 0);
      EXPECT_TRUE(group.rows >= kAmxRows || block < kAmxRows);
      EXPECT_LE(group.rows, kAmxGroup);
      next = group.from + group.rows;
    }
    EXPECT_EQ(block, next);
  }
}

}  // namespace
}  // namespace nn
}  // namespace mxnet
