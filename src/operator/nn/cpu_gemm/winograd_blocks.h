/*
 * Blocks of tiles, panels of filters and threads of a Winograd convolution, whatever its numbers
 * are (winograd_kernels.h says what V and M are). A Job has
 *
 *   int64_t tiles, filters, panels       what there is
 *   int64_t panel, rows                  filters of a panel, rows of a register tile
 *   int64_t weight_bytes                 of the transformed weights
 *   int64_t TileBytes()                  of a tile of V; those of several are multiples of 64
 *   int64_t ProductBytes(panels, tiles)  of M, a multiple of 64
 *   void Input(begin, end, v)            tiles [begin, end) of data into V; tile `begin` lies first
 *   void Products(v, begin, end, p, stop, m)   V of these tiles with panels [p, stop), and back to
 *                                        pixels
 */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_BLOCKS_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_BLOCKS_H_

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/round_up.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"

namespace mxnet {
namespace nn {
namespace winograd_blocks {

constexpr int64_t kBlock = 24;    // tiles transformed, multiplied and transformed back by one thread while they are in its cache
constexpr int64_t kFilters = 64;  // filters whose products are transformed back together
constexpr int64_t kSharedBytes =
    10 << 20;  // of tiles that threads share when weights are what has to be read most; in the last-level cache
constexpr int64_t kCopyBytes = 768 << 10, kMostCopies = 8;  // of tiles that each thread transforms for itself
constexpr int64_t kSharedBlock = 60;                        // of these, tiles multiplied and transformed back at a time
constexpr int64_t kSharedFilters = 32;
constexpr int64_t kLargeBytes = 4 << 20;  // weights that do not stay in a cache until they are wanted again

/* Panels [p, stop), `step` at a time. */
template <typename Job>
void Steps(const Job& job, const char* v, int64_t begin, int64_t end, int64_t p, int64_t stop, int64_t step, char* m) {
  for (; p < stop; p += step) job.Products(v, begin, end, p, std::min(stop, p + step), m);
}

// Small weights: read once per block of tiles of each thread, which then need not come from another
// core's cache.
template <typename Job>
void RunByTiles(const Job& job, int threads, int64_t block, const std::function<void*(size_t)>& workspace) {
  const int64_t tiles = job.tiles, step = std::min(job.panels, std::max<int64_t>(1, kFilters / job.panel));
  const int64_t v_size = RoundUp(job.TileBytes() * block, 64), m_size = job.ProductBytes(step, block);
  char* buffers = static_cast<char*>(workspace(static_cast<size_t>((v_size + m_size) * threads)));
  const int64_t blocks = RoundUp(RoundUp(tiles, block) / block, threads);  // of nearly equal size
  DividedItems items(threads, blocks);
  ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
    for (int64_t id = first; id < last; ++id) {
      char* own = buffers + id * (v_size + m_size);
      for (int64_t b; items.Next(id, &b);) {
        const int64_t begin = Share(tiles, blocks, b), end = Share(tiles, blocks, b + 1);
        job.Input(begin, end, own);
        Steps(job, own, begin, end, 0, job.panels, step, own + v_size);
      }
    }
  });
}

// Large weights are read from far away: once per many tiles, each thread its own filters.
template <typename Job>
void RunByFilters(const Job& job, int threads, int64_t block, const std::function<void*(size_t)>& workspace) {
  const int64_t panels = job.panels, tiles = job.tiles, tile_bytes = job.TileBytes();
  const int64_t step = std::max<int64_t>(1, std::min<int64_t>(kSharedFilters / job.panel, panels / threads));
  const int64_t most = std::max(block, kSharedBytes / tile_bytes), turns = RoundUp(tiles, most) / most;
  const int64_t shared = std::min(tiles, RoundUp(RoundUp(tiles, turns) / turns, job.rows));
  const int64_t parts = RoundUp(shared, kSharedBlock) / kSharedBlock,
                part_tiles = std::min(shared, RoundUp(RoundUp(shared, parts) / parts, job.rows));
  const int64_t v_size = RoundUp(tile_bytes * shared, 64), m_size = job.ProductBytes(step, part_tiles);
  // Tiles that fit into a thread's cache are transformed by each thread: reading what another one
  // wrote takes longer, above all where threads have no cache in common.
  const int64_t copies = threads > 1 && threads <= kMostCopies && v_size <= kCopyBytes ? threads : 1;
  char* buffers = static_cast<char*>(workspace(static_cast<size_t>(v_size * copies + m_size * threads)));
  // Groups that do not go round are cut into parts of the tiles; not all of them, for each part
  // reads the group's weights.
  const int64_t groups = RoundUp(panels, step) / step, rest = groups < 8 * threads ? groups % threads : 0, whole = groups - rest,
                cuts = rest ? threads / rest : 1;
  for (int64_t begin = 0; begin < tiles; begin += shared) {
    const int64_t count = std::min(shared, tiles - begin);
    if (copies == 1)
      ParallelForThreads(threads, count,
                         [&](int64_t first, int64_t last) { job.Input(begin + first, begin + last, buffers + first * tile_bytes); });
    SharedItems items(threads);  // whole groups, then parts of one
    for (int i = 0; i < threads; ++i)
      items.Set(
          i, Share(whole, threads, i + 1) - Share(whole, threads, i) + Share(rest * cuts, threads, i + 1) - Share(rest * cuts, threads, i));
    ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
      for (int64_t id = first; id < last; ++id) {
        char* v = buffers + (copies > 1 ? id * v_size : 0);
        if (copies > 1) job.Input(begin, begin + count, v);
        const auto group = [&](int64_t index, int64_t from, int64_t stop) {
          for (; from < stop; from += part_tiles)
            Steps(job, v + from * tile_bytes, begin + from, begin + std::min(stop, from + part_tiles), index * step,
                  std::min(panels, (index + 1) * step), step, buffers + v_size * copies + id * m_size);
        };
        int share;
        for (int64_t item; items.Next(static_cast<int>(id), &share, &item);) {
          const int64_t first_group = Share(whole, threads, share), groups_of = Share(whole, threads, share + 1) - first_group;
          if (item < groups_of) {
            group(first_group + item, 0, count);
          } else {
            const int64_t i = Share(rest * cuts, threads, share) + item - groups_of;
            group(whole + i / cuts, Share(count, cuts, i % cuts), Share(count, cuts, i % cuts + 1));
          }
        }
      }
    });
  }
}

}  // namespace winograd_blocks

/* `flops`: of the products. `workspace` gives 64-byte aligned workspace memory. */
template <typename Job>
void WinogradByBlocks(const Job& job, double flops, const std::function<void*(size_t)>& workspace) {
  namespace blocks = winograd_blocks;
  const int64_t block = RoundUp(blocks::kBlock, job.rows);
  const int threads = OmpThreadsForFlops(flops);
  const bool local =
      job.tiles >= 2 * block * threads || (threads > 1 && job.tiles >= 3 * job.rows / 2 * threads && job.filters <= 4 * job.tiles);
  if (local && job.weight_bytes <= blocks::kLargeBytes)
    blocks::RunByTiles(job, threads, block, workspace);
  else
    blocks::RunByFilters(job, threads, block, workspace);
}

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_WINOGRAD_BLOCKS_H_
