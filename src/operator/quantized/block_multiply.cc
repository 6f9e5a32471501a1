// Which way products with blocks of few bits go, and how threads divide them.
#include <algorithm>
#include <vector>

#include "base/cache_sets.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"
#include "operator/quantized/block_job.h"
#include "operator/quantized/block_words.h"

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

constexpr int64_t kMostRows = 512;    // of data at a time: a panel is filled once for them
constexpr int64_t kDepth = 1024;      // of a panel of floats: it stays in the second-level cache
constexpr int64_t kByteDepth = 4096;  // of a panel of bytes
constexpr int64_t kTogether = 4;      // panels for which a part of the data is read at a time

/* Panels of `width` columns, the last of which may be wider or narrower, with `depth` blocks of the
 * weight, and how threads divide them. */
struct PanelPlan {
  int64_t width, panels, depth;
  int threads;
  int64_t row_blocks, groups;  // items are a group of panels with a block of rows
  PanelPlan(const BlockJob& job, int64_t width, int64_t panels, int64_t numbers)
      : width(width),
        panels(panels),
        depth(std::min(job.weight.blocks, std::max<int64_t>(1, numbers / job.BlockSize()))),
        threads(OmpThreadsForFlops(2.0 * static_cast<double>(job.rows * job.hidden) * static_cast<double>(job.K()))),
        row_blocks((job.rows + kMostRows - 1) / kMostRows),
        groups(std::max((panels + kTogether - 1) / kTogether, std::min<int64_t>(panels, threads > 1 ? 4 * threads : 1))) {}
};

/* A panel of some blocks of the weight, and where its sums go. */
struct PanelPart {
  int64_t row, column, columns, first, blocks;
  int64_t ahead;  // FillPanel
  const float *bias, *addend;
  float* out;
  bool ends;  // all blocks were multiplied then
};

/* multiply(part) for the panels of a group with a block of rows, then the function behind sums.
 * `bounded`: multiply has applied relu and clip. */
template <typename F>
void PanelsOf(const BlockJob& job, const PanelPlan& plan, int64_t row, int64_t rows, int64_t group, bool bounded, const F& multiply) {
  const int64_t hidden = job.hidden, blocks = job.weight.blocks, row_bytes = blocks * job.weight.bytes,
                begin = Share(plan.panels, plan.groups, group), end = Share(plan.panels, plan.groups, group + 1);
  for (int64_t b = 0; b < blocks; b += plan.depth)
    for (int64_t p = begin; p < end; ++p) {
      PanelPart part;
      part.row = row, part.column = p * plan.width, part.columns = p + 1 == plan.panels ? hidden - part.column : plan.width;
      part.first = b, part.blocks = std::min(plan.depth, blocks - b), part.ends = b + part.blocks == blocks;
      part.ahead = p + 1 < end ? plan.width * row_bytes
                   : part.ends ? 0
                               : (begin - p) * plan.width * row_bytes + part.blocks * job.weight.bytes;
      const int64_t at = row * hidden + part.column;
      part.out = job.out + at;
      part.addend = b > 0 ? part.out : job.addend ? job.addend + at : nullptr;
      part.bias = part.ends && job.bias ? job.bias + part.column : nullptr;
      multiply(part);
    }
  if (!job.post || (bounded && (job.post.kind == nn::EpilogueKind::kRelu || job.post.kind == nn::EpilogueKind::kClip))) return;
  const int64_t first = begin * plan.width, last = end == plan.panels ? hidden : end * plan.width;
  for (int64_t r = row; r < row + rows; ++r)
    nn::ApplyPost(job.post, job.out + r * hidden + first, job.out + r * hidden + first, last - first);
}

/* f(thread, row, rows, group) for all items. */
template <typename F>
void ForItems(const BlockJob& job, const PanelPlan& plan, const F& f) {
  DividedItems items(plan.threads, plan.row_blocks * plan.groups);
  ParallelForThreads(plan.threads, plan.threads, [&](int64_t first, int64_t last) {
    for (int64_t id = first; id < last; ++id)
      for (int64_t item; items.Next(id, &item);) {
        const int64_t i = item / plan.groups, row = Share(job.rows, plan.row_blocks, i);
        f(id, row, Share(job.rows, plan.row_blocks, i + 1) - row, item % plan.groups);
      }
  });
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

/* `count` elements for each thread, which begin with a line of the cache. */
template <typename T>
T* OfThreads(KernelArgs& args, const PanelPlan& plan, int64_t* count) {
  *count = RoundUp(*count, kCacheLine / static_cast<int64_t>(sizeof(T)));
  return AlignedTo64<T>(nn::Workspace<T>(args, plan.threads * *count + kCacheLine));
}

void MultiplyMany(KernelArgs& args, const BlockJob& job) {
  const int lanes = MXNET_CPU_CALL(PackedLanes)();
  const PanelPlan plan(job, 2 * lanes, nn::PackedPanels(job.hidden, lanes), kDepth);
  int64_t pitch, room = plan.depth * job.BlockSize() * 3 * lanes;  // the last panel may have three vectors
  const float* x = Apart(args, job, &pitch);
  float* panels = OfThreads<float>(args, plan, &room);
  ForItems(job, plan, [&](int64_t thread, int64_t row, int64_t count, int64_t group) {
    const float* rows[kMostRows];
    for (int64_t r = 0; r < count; ++r) rows[r] = x + (row + r) * pitch;
    nn::PackedBlock block;
    block.count = block.stride = count, block.rows = rows, block.ld = job.hidden;
    float* panel = panels + thread * room;
    PanelsOf(job, plan, row, count, group, true, [&](const PanelPart& part) {
      block.depth = part.blocks * job.BlockSize(), block.shift = part.first * job.BlockSize(), block.filters = part.columns;
      MXNET_CPU_CALL(FillPanel)
      (job.weight.From(part.column), part.columns, part.first, part.blocks, part.ahead, panel, RoundUp(part.columns, lanes));
      nn::PackedEpilogue e;
      e.addend = part.addend, e.bias = part.bias;
      if (part.ends && job.post.kind == nn::EpilogueKind::kRelu) e.low = 0;
      if (part.ends && job.post.kind == nn::EpilogueKind::kClip) e.low = job.post.a, e.high = job.post.b;
      MXNET_CPU_CALL(PackedGemms)(block, panel, 0, 1, e, part.out);
    });
  });
}

/* The data in 8 bits. */
std::vector<ByteRow> ByteRows(KernelArgs& args, const BlockJob& job) {
  const int64_t blocks = job.weight.blocks, pitch = job.K() + kCacheLine;
  std::vector<ByteRow> rows(static_cast<size_t>(job.rows));
  int8_t* numbers = nn::Workspace<int8_t>(args, job.rows * pitch);
  float *scales = nn::Workspace<float>(args, job.rows * blocks), *sums = nn::Workspace<float>(args, job.rows * blocks);
  int32_t* less = nn::Workspace<int32_t>(args, job.rows * blocks);
  ParallelFor(job.rows, std::max<int64_t>(1, 16384 / job.K()), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) {
      rows[static_cast<size_t>(r)] = {numbers + r * pitch, scales + r * blocks, sums + r * blocks, less + r * blocks};
      MXNET_CPU_CALL(FillByteRow)(job.x + r * job.K(), job.weight, rows[static_cast<size_t>(r)]);
    }
  });
  return rows;
}

void MultiplyBytes(KernelArgs& args, const BlockJob& job) {
  const int64_t width = MXNET_CPU_CALL(BytePanelColumns)(), size = job.BlockSize();
  const PanelPlan plan(job, width, (job.hidden + width - 1) / width, kByteDepth);
  const std::vector<ByteRow> rows = ByteRows(args, job);
  int64_t room = plan.depth * size * width, factors = plan.depth * width;
  uint8_t* panels = OfThreads<uint8_t>(args, plan, &room);
  float *panel_scales = OfThreads<float>(args, plan, &factors), *panel_shifts = OfThreads<float>(args, plan, &factors);
  ForItems(job, plan, [&](int64_t thread, int64_t row, int64_t count, int64_t group) {
    BytePanel panel{
        panels + thread * room, panel_scales + thread * factors, job.weight.shift ? panel_shifts + thread * factors : nullptr, 0, 0, size};
    PanelsOf(job, plan, row, count, group, false, [&](const PanelPart& part) {
      panel.first = part.first, panel.blocks = part.blocks;
      MXNET_CPU_CALL(FillBytePanel)(job.weight.From(part.column), part.columns, part.first, part.blocks, part.ahead, panel);
      MXNET_CPU_CALL(MultiplyBytePanel)
      (panel, rows.data() + row, count, {part.out, job.hidden, part.columns, part.bias, part.addend});
    });
  });
}

// ---- words that a plan keeps

const char* WordsOf(KernelArgs& args, const BlockJob& job) {
  constexpr uint64_t kForm = 0x776f << 8;  // beside others of the same size
  const BlockRows& w = job.weight;
  const int64_t panels = BlockWords::Panels(job.hidden), bytes = BlockWords::PanelBytes(w), together = BlockWords::kColumns;
  const auto pack = [&job, bytes, together](BlockRows rows, int64_t begin, int64_t end, float* form) {
    for (int64_t p = begin; p < end; ++p, rows = rows.From(together))
      MXNET_CPU_CALL(PackBlockWords)(rows, std::min(together, job.hidden - p * together), reinterpret_cast<char*>(form) + p * bytes);
  };
  bool read = false;
  const auto read_scales = [&] {
    read = true;
    args.NeedWeights(w.scale);
  };
  const auto parts = [&] {
    read_scales();
    nn::WeightParts all;
    const auto row = static_cast<size_t>(w.blocks * w.bytes);
    all.count = panels, all.bytes = static_cast<size_t>(together) * row, all.all = static_cast<size_t>(job.hidden) * row;
    all.fill = [&](const void* from, int64_t begin, int64_t end, float* form, void*) {
      BlockRows rows = w.From(begin * together);
      rows.packed = static_cast<const uint8_t*>(from);
      pack(rows, begin, end, form);
    };
    return all;
  };
  const auto fill = [&](float* form) { nn::FillWhole(parts(), w.packed, form); };
  const uint64_t form = nn::kOfContentsAlone | kForm | static_cast<uint64_t>(w.bits);
  const auto kept = [&](std::initializer_list<int> beside) {
    return reinterpret_cast<const char*>(nn::KeptWeights(args, job.weight_input, w.packed, form, panels * bytes / 4, fill, beside, parts));
  };
  const char* words = w.shift ? kept({job.scale_input, job.shift_input}) : kept({job.scale_input});
  if (read) args.DoneWithWeights(w.scale);
  return words;
}

void MultiplyWords(KernelArgs& args, const BlockJob& job) {
  constexpr int64_t kTogether = 4 * BlockWords::kColumns, kAlone = 1 << 19;  // columns; multiplications of a thread
  const char* words = WordsOf(args, job);
  const std::vector<ByteRow> rows = ByteRows(args, job);
  const int64_t groups = (job.hidden + kTogether - 1) / kTogether, bytes = BlockWords::PanelBytes(job.weight);
  ParallelFor(groups, std::max<int64_t>(1, kAlone / ((job.rows + 1) * job.K() * kTogether)), [&](int64_t b, int64_t e) {
    for (int64_t first = b * kTogether; first < std::min(job.hidden, e * kTogether); first += kTogether) {
      const int64_t columns = std::min(kTogether, job.hidden - first);
      float* out = job.out + first;
      MXNET_CPU_CALL(MultiplyBlockWords)
      (job.weight, words + first / BlockWords::kColumns * bytes, rows.data(), job.rows,
       {out, job.hidden, columns, job.bias ? job.bias + first : nullptr, job.addend ? job.addend + first : nullptr});
      if (job.post)
        for (int64_t r = 0; r < job.rows; ++r) nn::ApplyPost(job.post, out + r * job.hidden, out + r * job.hidden, columns);
    }
  });
}

// ---- few rows in 8 bits

/* Room for so many rows. */
std::vector<ByteLanes> LanesFor(KernelArgs& args, const BlockJob& job, int64_t count) {
  const int64_t pieces = ByteLanes::Pieces(job.weight.blocks * job.weight.bytes),
                numbers = pieces * ByteLanes::kPiece * 8 / job.weight.bits, lanes = pieces * ByteLanes::kPiece / 4,
                blocks = RoundUp(job.weight.blocks, ByteLanes::kGroup);
  int8_t* all = nn::Workspace<int8_t>(args, count * numbers);
  float *scales = nn::Workspace<float>(args, count * blocks), *sums = nn::Workspace<float>(args, count * blocks);
  int32_t* less = nn::Workspace<int32_t>(args, count * lanes);
  std::vector<ByteLanes> rows(static_cast<size_t>(count));
  for (int64_t r = 0; r < count; ++r)
    rows[static_cast<size_t>(r)] = {all + r * numbers, scales + r * blocks, sums + r * blocks, less + r * lanes};
  return rows;
}

void MultiplyLanes(KernelArgs& args, const BlockJob& job) {
  const std::vector<ByteLanes> rows = LanesFor(args, job, job.rows);
  ParallelFor(job.rows, std::max<int64_t>(1, 16384 / job.K()), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; ++r) MXNET_CPU_CALL(FillByteLanes)(job.x + r * job.K(), job.weight, rows[static_cast<size_t>(r)]);
  });
  ByColumns(job, 4, 65536, [&](const BlockRows& weight, int64_t columns, int64_t r, int64_t some, float* sums, int64_t pitch) {
    MXNET_CPU_CALL(DotByteLanes)(weight, columns, rows.data() + r, some, sums, pitch);
  });
}

/* Floats as sums of bytes, to their last digit. False, and nothing done, where they are not. */
bool MultiplyPlanes(KernelArgs& args, const BlockJob& job) {
  constexpr int64_t kPlanes = ByteLanes::kPlanes;
  const std::vector<ByteLanes> planes = LanesFor(args, job, job.rows * kPlanes);
  for (int64_t r = 0; r < job.rows; ++r)
    if (!MXNET_CPU_CALL(FillPlanes)(job.x + r * job.K(), job.weight, planes.data() + r * kPlanes)) return false;
  ByColumns(job, 4, 65536, [&](const BlockRows& weight, int64_t columns, int64_t r, int64_t some, float* sums, int64_t pitch) {
    for (int64_t i = 0; i < some; ++i) MXNET_CPU_CALL(DotPlanes)(weight, columns, planes.data() + (r + i) * kPlanes, sums + i * pitch);
  });
  return true;
}

constexpr int64_t kFewPlanes = 3;  // rows up to which planes of bytes are faster than floats

/* Are blocks whole words, whose sums of products 32 bits hold? */
bool BytesTake(const BlockJob& job) {
  return job.weight.bytes % 4 == 0 && job.BlockSize() <= 1 << 15 && job.K() > 0 && MXNET_CPU_CALL(BytePanelColumns)() > 0;
}

/* From how many rows on filling panels of bytes pays. */
int64_t ManyByteRows(int bits) { return bits == 8 ? 7 : 5; }

/* From how many rows on filling panels pays: AVX-512 has a loop of its own for 4 bits. */
int64_t ManyRows(int bits) { return bits != 4 ? 12 : CurrentCpuLevel() == CpuLevel::kV4 ? 17 : 8; }

}  // namespace

void MultiplyBlocks(KernelArgs& args, const BlockJob& job) {
  const bool words = BytesTake(job), bytes = words && job.in_integers;
  if (bytes && nn::KeepsWeights(args, job.weight_input)) {
    Ran("words of blocks, data in 8 bits", RanAt::kAvx512Vnni);
    return MultiplyWords(args, job);
  }
  if (job.weight_input >= 0) {  // all others read them as they lie
    args.NeedWeights(job.weight.packed);
    args.NeedWeights(job.weight.scale);
  }
  if (bytes && job.rows < ManyByteRows(job.weight.bits) && ByteLanes::Takes(job.weight.bytes)) {
    Ran("blocks, data in 8 bits", RanAt::kAvx512Vnni);
    MultiplyLanes(args, job);
  } else if (bytes) {
    Ran("panels of blocks, data in 8 bits", RanAt::kAvx512Vnni);
    MultiplyBytes(args, job);
  } else if (job.in_integers && job.weight.bits == 4 && IntegerRow::Takes(job.weight.bytes) && job.K() > 0) {
    Ran("blocks, data in 8 bits");
    MultiplyIntegers(args, job);
  } else if (job.rows >= ManyRows(job.weight.bits) && job.K() > 0) {
    Ran("panels of blocks");
    MultiplyMany(args, job);
  } else {
    if (words && job.rows <= kFewPlanes && job.weight.bits == 8 && ByteLanes::Takes(job.weight.bytes) && MultiplyPlanes(args, job)) {
      Ran("blocks, data in 24 bits", RanAt::kAvx512Vnni);
      return;
    }
    Ran("blocks");
    MultiplyFew(args, job);
  }
}

}  // namespace quantized
}  // namespace mxnet
