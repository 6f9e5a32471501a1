// Panels of floats from blocks of 2, 4 and 8 bits against the definition, for every instruction set
// that the machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "cpu_levels.h"
#include "operator/quantized/block_dense.h"

namespace mxnet {
namespace {

struct Weight {
  std::vector<uint8_t> packed;
  std::vector<float> scale, shift;
  int64_t count, blocks, bytes;
  int bits;
  BlockRows Rows(bool shifted) const { return {packed.data(), scale.data(), shifted ? shift.data() : nullptr, blocks, bytes, bits}; }
  float Of(bool shifted, int64_t row, int64_t block, int64_t i) const {
    const int each = 8 / bits;
    const int q = packed[static_cast<size_t>((row * blocks + block) * bytes + i / each)] >> (i % each * bits) & ((1 << bits) - 1);
    const auto at = static_cast<size_t>(row * blocks + block);
    return static_cast<float>(q) * scale[at] - (shifted ? shift[at] : scale[at] * static_cast<float>(1 << (bits - 1)));
  }
};

Weight Make(int bits, int64_t count, int64_t blocks, int64_t bytes) {
  std::mt19937 engine(static_cast<unsigned>(bits * 1000 + count * 100 + blocks * 10 + bytes));
  std::uniform_real_distribution<float> real(-1, 1);
  Weight w{{}, {}, {}, count, blocks, bytes, bits};
  for (int64_t i = 0; i < count * blocks * bytes; ++i) w.packed.push_back(static_cast<uint8_t>(engine()));
  for (int64_t i = 0; i < count * blocks; ++i) w.scale.push_back(1.5f + real(engine)), w.shift.push_back(8 * real(engine));
  return w;
}

class BlockPanels : public CpuLevelTest {};

/* The vectors hold the packed numbers' bytes and no more, so that a sanitizer sees reads behind
 * them. */
TEST_P(BlockPanels, AsDefined) {
  for (int bits : {2, 4, 8})
    for (int64_t bytes : {1, 2, 4, 6, 8, 16, 20, 64})
      for (int64_t count : {1, 5, 16, 31, 32})
        for (int64_t blocks : {1, 6, 64}) {  // 64 times 64: rows push each other out of the cache
          if (blocks == 64 && (bytes != 64 || count != 31)) continue;
          const Weight w = Make(bits, count, blocks, bytes);
          const int64_t first = blocks / 2, some = blocks - first, numbers = some * bytes * 8 / bits, width = 32;
          for (bool shifted : {false, true}) {
            std::vector<float> panel(static_cast<size_t>(numbers * width), -99);
            MXNET_CPU_CALL(FillPanel)(w.Rows(shifted), count, first, some, 0, panel.data(), width);
            const int64_t size = bytes * 8 / bits;
            for (int64_t i = 0; i < numbers; ++i)
              for (int64_t c = 0; c < width; ++c)
                ASSERT_NEAR(panel[static_cast<size_t>(i * width + c)], w.Of(shifted, std::min(c, count - 1), first + i / size, i % size),
                            1e-4)
                    << bits << " bits, " << bytes << " bytes, row " << c << " of " << count << ", number " << i;
          }
        }
}
MXNET_ON_CPU_LEVELS(BlockPanels);

}  // namespace
}  // namespace mxnet
