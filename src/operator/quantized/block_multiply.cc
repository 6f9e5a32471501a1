// Which way products with blocks of few bits go, and how threads divide them.
#include <algorithm>
#include <vector>

#include "base/cache_sets.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"
#include "operator/quantized/block_job.h"

namespace mxnet {

MXNET_CPU_DECLARE(MXNET_PACKED_KERNELS)

namespace quantized {
namespace {

constexpr int64_t kSomeColumns = 64, kSomeRows = 16;  // of sums that wait for an addend, whose memory may be the result's

/* Sums, `pitch` apart, as results from row and column `first` on; they may lie there already. */
void Finish(const BlockJob& job, const float* sums, int64_t pitch, int64_t row, int64_t rows, int64_t first, int64_t columns) {
  if (!job.bias && !job.addend && !job.post) return;
  for (int64_t r = 0; r < rows; ++r, sums += pitch) {
    const int64_t at = (row + r) * job.hidden + first;
    float* out = job.out + at;
    const float *bias = job.bias ? job.bias + first : nullptr, *addend = job.addend ? job.addend + at : nullptr;
    if (bias || addend)
      for (int64_t i = 0; i < columns; ++i) out[i] = sums[i] + (bias ? bias[i] : 0.f) + (addend ? addend[i] : 0.f);
    if (job.post) nn::ApplyPost(job.post, out, out, columns);
  }
}

/*
 * Some columns go by all rows of data, `together` of which lie in the cache at a time.
 * dot(weight, columns, row, rows, sums, pitch) computes sums. Threads divide columns,
 * four at least.
 */
template <typename Dot>
void ByColumns(const BlockJob& job, int64_t together, int64_t least, const Dot& dot) {
  constexpr int64_t kColumns = 4;  // that the loops take together
  const int64_t groups = (job.hidden + kColumns - 1) / kColumns, rows = job.addend ? std::min(together, kSomeRows) : together;
  ParallelFor(groups, std::max<int64_t>(1, least / std::max<int64_t>(1, job.K() * job.rows)), [&](int64_t b, int64_t e) {
    float waiting[kSomeRows * kSomeColumns];
    const int64_t begin = b * kColumns, end = std::min(job.hidden, e * kColumns), most = job.addend ? kSomeColumns : end - begin;
    for (int64_t r = 0; r < job.rows; r += rows) {
      const int64_t some = std::min(rows, job.rows - r);
      for (int64_t first = begin; first < end; first += most) {
        const int64_t columns = std::min(most, end - first), pitch = job.addend ? kSomeColumns : job.hidden;
        float* sums = job.addend ? waiting : job.out + r * job.hidden + first;
        dot(job.weight.From(first), columns, r, some, sums, pitch);
        Finish(job, sums, pitch, r, some, first, columns);
      }
    }
  });
}

void MultiplyFew(KernelArgs& args, const BlockJob& job) {
  const int64_t k = job.K();
  float* split = nn::Workspace<float>(args, job.rows * k);
  ParallelFor(job.rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, k)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r)
      MXNET_CPU_CALL(SplitBlocks)(job.x + r * k, job.weight.blocks, job.weight.bytes, job.weight.bits, split + r * k);
  });
  constexpr int64_t kCached = 8192;  // numbers of data that stay near
  const int64_t together = std::max<int64_t>(4, kCached / std::max<int64_t>(1, k) / 4 * 4);
  ByColumns(job, together, 16384, [&](const BlockRows& weight, int64_t columns, int64_t r, int64_t rows, float* sums, int64_t pitch) {
    MXNET_CPU_CALL(DotBlocks)(weight, columns, split + r * k, k, rows, sums, pitch);
  });
}

void MultiplyIntegers(KernelArgs& args, const BlockJob& job) {
  const int64_t pieces = IntegerRow::Pieces(job.weight.blocks * job.weight.bytes), k = job.K();
  std::vector<IntegerRow> rows(static_cast<size_t>(job.rows));
  int8_t* numbers = nn::Workspace<int8_t>(args, job.rows * pieces * 2 * IntegerRow::kPiece);
  const int64_t each = pieces * IntegerRow::kPiece / 4;
  float *scales = nn::Workspace<float>(args, job.rows * each), *sums_of = nn::Workspace<float>(args, job.rows * each);
  for (int64_t r = 0; r < job.rows; ++r)
    rows[static_cast<size_t>(r)] = {numbers + r * pieces * 2 * IntegerRow::kPiece, scales + r * each, sums_of + r * each};
  ParallelFor(job.rows, std::max<int64_t>(1, 16384 / k), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r)
      MXNET_CPU_CALL(IntegerBlocks)(job.x + r * k, job.weight.blocks, job.weight.bytes, rows[static_cast<size_t>(r)]);
  });
  constexpr int64_t kCached = 16384;  // bytes of data that stay near
  ByColumns(job, std::max<int64_t>(4, kCached / k / 4 * 4), 65536,
            [&](const BlockRows& weight, int64_t columns, int64_t r, int64_t some, float* sums, int64_t pitch) {
              MXNET_CPU_CALL(DotIntegers)(weight, columns, rows.data() + r, some, sums, pitch);
            });
}

// ---- many rows

constexpr int64_t kMostRows = 512;  // of data at a time: a panel is filled once for them
constexpr int64_t kDepth = 1024;    // of a panel: it stays in the second-level cache
constexpr int64_t kTogether = 4;    // panels for which a part of the data is read at a time

/* The rows of data at a time, in which order they are multiplied with which panels. */
struct PanelPlan {
  int lanes = MXNET_CPU_CALL(PackedLanes)();
  int64_t panels, blocks, groups, depth;  // blocks of rows; groups of panels; blocks of the weight in a panel
  explicit PanelPlan(const BlockJob& job, int threads)
      : panels(nn::PackedPanels(job.hidden, lanes)),
        blocks((job.rows + kMostRows - 1) / kMostRows),
        groups(std::max((panels + kTogether - 1) / kTogether, std::min<int64_t>(panels, threads > 1 ? 4 * threads : 1))),
        depth(std::min(job.weight.blocks, std::max<int64_t>(1, kDepth / job.BlockSize()))) {}
  int64_t Width() const { return 2 * lanes; }
  int64_t Room(const BlockJob& job) const { return depth * job.BlockSize() * 3 * lanes + 16; }  // the last panel may be wider
};

/* What is done to sums of the panel whose first result is `at` elements behind job.out, when blocks
 * of the weight from `begin` on were multiplied; `ends`: they are the last. */
nn::PackedEpilogue EpilogueOf(const BlockJob& job, int64_t begin, bool ends, int64_t column, int64_t at) {
  nn::PackedEpilogue e;
  e.addend = begin > 0 ? job.out + at : job.addend ? job.addend + at : nullptr;
  if (!ends) return e;
  if (job.bias) e.bias = job.bias + column;
  if (job.post.kind == nn::EpilogueKind::kRelu) e.low = 0;
  if (job.post.kind == nn::EpilogueKind::kClip) e.low = job.post.a, e.high = job.post.b;
  return e;
}

/* Panels [begin, end) of a block of rows. */
void Panels(const BlockJob& job, const PanelPlan& plan, nn::PackedBlock block, int64_t row, int64_t begin, int64_t end, float* panel) {
  const int64_t size = job.BlockSize(), hidden = job.hidden, width = plan.Width(), weight_row = job.weight.blocks * job.weight.bytes;
  for (int64_t b = 0; b < job.weight.blocks; b += plan.depth) {
    const int64_t some = std::min(plan.depth, job.weight.blocks - b);
    const bool ends = b + some == job.weight.blocks;
    block.depth = some * size, block.shift = b * size;
    for (int64_t p = begin; p < end; ++p) {
      const int64_t column = p * width, at = row * hidden + column;
      const int64_t back = ends ? 0 : (begin - p) * width * weight_row + some * job.weight.bytes;
      block.filters = p + 1 == plan.panels ? hidden - column : width;
      MXNET_CPU_CALL(FillPanel)
      (job.weight.From(column), block.filters, b, some, p + 1 < end ? width * weight_row : back, panel, RoundUp(block.filters, plan.lanes));
      MXNET_CPU_CALL(PackedGemms)(block, panel, 0, 1, EpilogueOf(job, b, ends, column, at), job.out + at);
    }
  }
  if (!job.post || job.post.kind == nn::EpilogueKind::kRelu || job.post.kind == nn::EpilogueKind::kClip) return;
  const int64_t first = begin * width, last = end == plan.panels ? hidden : end * width;
  for (int64_t r = row; r < row + block.count; ++r)
    nn::ApplyPost(job.post, job.out + r * hidden + first, job.out + r * hidden + first, last - first);
}

/* The data, rows a line of the cache further apart where they would push each other out of it. */
const float* Apart(KernelArgs& args, const BlockJob& job, int64_t* pitch) {
  const int64_t k = job.K();
  *pitch = k;
  if (!RowsCollide(k * 4, MXNET_CPU_CALL(PackedRows)())) return job.x;
  *pitch = k + kCacheLine / 4;
  float* data = nn::Workspace<float>(args, job.rows * *pitch);
  ParallelFor(job.rows, std::max<int64_t>(1, 65536 / k), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) std::copy_n(job.x + r * k, k, data + r * *pitch);
  });
  return data;
}

void MultiplyMany(KernelArgs& args, const BlockJob& job) {
  const int threads = OmpThreadsForFlops(2.0 * static_cast<double>(job.rows * job.hidden) * static_cast<double>(job.K()));
  const PanelPlan plan(job, threads);
  int64_t pitch;
  const float* x = Apart(args, job, &pitch);
  float* panels = nn::Workspace<float>(args, threads * plan.Room(job) + 16);
  panels = AlignedTo64<float>(panels);
  DividedItems items(threads, plan.blocks * plan.groups);
  ParallelForThreads(threads, threads, [&](int64_t first, int64_t last) {
    const float* rows[kMostRows];
    for (int64_t id = first; id < last; ++id)
      for (int64_t item; items.Next(id, &item);) {
        const int64_t i = item / plan.groups, group = item % plan.groups, row = Share(job.rows, plan.blocks, i);
        nn::PackedBlock block;
        block.count = block.stride = Share(job.rows, plan.blocks, i + 1) - row, block.rows = rows, block.ld = job.hidden;
        for (int64_t r = 0; r < block.count; ++r) rows[r] = x + (row + r) * pitch;
        Panels(job, plan, block, row, Share(plan.panels, plan.groups, group), Share(plan.panels, plan.groups, group + 1),
               panels + id * plan.Room(job));
      }
  });
}

/* From how many rows on filling panels pays: AVX-512 has a loop of its own for 4 bits. */
int64_t ManyRows(int bits) { return bits != 4 ? 12 : CurrentCpuLevel() == CpuLevel::kV4 ? 17 : 8; }

}  // namespace

void MultiplyBlocks(KernelArgs& args, const BlockJob& job) {
  if (job.in_integers && job.weight.bits == 4 && IntegerRow::Takes(job.weight.bytes) && job.K() > 0) {
    Ran("blocks, data in 8 bits");
    MultiplyIntegers(args, job);
  } else if (job.rows >= ManyRows(job.weight.bits) && job.K() > 0) {
    Ran("panels of blocks");
    MultiplyMany(args, job);
  } else {
    Ran("blocks");
    MultiplyFew(args, job);
  }
}

}  // namespace quantized
}  // namespace mxnet
