#include <algorithm>
#include <vector>

#include "base/round_up.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed_bfloat.h"
#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"
#include "operator/nn/rnn/rnn_bfloat.h"
#include "operator/shared/gemm.h"
#include "operator/shared/half_product.h"

namespace mxnet {
namespace nn {
namespace {

static_assert(kHalfPanel == 2 * kBfloatLanes, "a panel is two vectors");

constexpr double kFasterTiles = 4;    // than float32; gates take their time beside the products
constexpr int64_t kPacked = 1 << 16;  // elements that pay for a thread

/* f(panel, first column, columns) for panels of a packed matrix, on several threads. */
template <typename F>
void ForPanels(int64_t filters, int64_t depth, F&& f) {
  const int64_t panels = HalfPanels(filters);
  ParallelFor(panels, std::max<int64_t>(1, kPacked / (kHalfPanel * depth)), [&](int64_t b, int64_t e) {
    for (int64_t p = b; p < e; ++p) {
      const int64_t first = p * kHalfPanel;
      f(p, first, (p + 1 < panels ? first + kHalfPanel : filters) - first);
    }
  });
}

int64_t Even(int64_t depth) { return RoundUp(depth, int64_t{2}); }

}  // namespace

#if defined(__x86_64__)

bool RnnInBfloat(const KernelArgs& args, int data) {
  const auto& p = args.param<RNNParam>();
  const TBlob& x = args.in[data];
  if (x.dtype != kBfloat16 || x.Size() == 0 || !BfloatGemmsHere()) return false;
  const RnnDims d = DimsOf(p, x.shape);
  return d.hidden % 2 == 0 && d.out % 2 == 0;
}

void HalfPackRows(int64_t filters, int64_t depth, const bfloat16* from, bfloat16* packed) {
  ForPanels(filters, depth, [=](int64_t, int64_t first, int64_t n) {
    BfloatPackRows(n, depth, from + first * depth, depth, packed + first * Even(depth));
  });
}

void HalfPackColumns(int64_t filters, int64_t depth, const bfloat16* from, bfloat16* packed) {
  ForPanels(filters, depth,
            [=](int64_t, int64_t first, int64_t n) { BfloatPackColumns(n, depth, from + first, filters, packed + first * Even(depth)); });
}

void HalfPackGates(int64_t gates, int64_t hidden, int64_t depth, const bfloat16* from, bfloat16* packed) {
  ForPanels(RoundUp(hidden, kHalfPanel) * gates, depth, [=](int64_t panel, int64_t first, int64_t) {
    const int64_t gate = panel % gates, unit = panel / gates * kHalfPanel, units = std::min(kHalfPanel, hidden - unit);
    const bfloat16* rows = from + (gate * hidden + unit) * depth;
    std::vector<bfloat16> whole;
    if (units < kHalfPanel) {
      whole.assign(static_cast<size_t>(kHalfPanel * depth), bfloat16::FromBits(0));
      std::copy_n(rows, units * depth, whole.data());
      rows = whole.data();
    }
    BfloatPackRows(kHalfPanel, depth, rows, depth, packed + first * Even(depth));
  });
}

#else  // the kernels are written for x86

bool RnnInBfloat(const KernelArgs&, int) { return false; }
void HalfPackRows(int64_t, int64_t, const bfloat16*, bfloat16*) {}
void HalfPackColumns(int64_t, int64_t, const bfloat16*, bfloat16*) {}
void HalfPackGates(int64_t, int64_t, int64_t, const bfloat16*, bfloat16*) {}

#endif

int64_t HalfPackedSize(int64_t filters, int64_t depth) { return PackedVectors(filters, kBfloatLanes) * kBfloatLanes * Even(depth) / 2; }
int64_t HalfPanels(int64_t filters) { return PackedPanels(filters, kBfloatLanes); }

void HalfProductTo(const HalfMatrix& a, int64_t filters, const bfloat16* packed, float* room, float* sums) {
  float* const own = room ? room : sums;
  const double flops = 2.0 * static_cast<double>(a.count) * static_cast<double>(a.depth) * static_cast<double>(filters);
  ParallelForThreads(OmpThreadsForFlops(flops / kFasterTiles), HalfPanels(filters), [&](int64_t b, int64_t e) {
    const int64_t first = b * kHalfPanel, end = e == HalfPanels(filters) ? filters : e * kHalfPanel;
    HalfSums(a, filters, packed, b, e, nullptr, own + first, filters);
    for (int64_t i = 0; room && i < a.count; ++i)
      for (int64_t j = i * filters + first; j < i * filters + end; ++j) sums[j] += own[j];
  });
}

void HalfTransposed(KernelArgs& args, int64_t m, int64_t n, int64_t k, const bfloat16* a, const bfloat16* b, bfloat16* c) {
  HalfProduct product;
  product.dtype = kBfloat16, product.trans_a = true, product.m = m, product.n = n, product.k = k;
  product.a = a, product.b = b, product.c = c;
  if (MultiplyHalf(product, args.workspace)) return;
  float *left = Workspace<float>(args, k * m), *right = Workspace<float>(args, k * n), *sums = Workspace<float>(args, m * n);
  BfloatToFloat(a, left, k * m);
  BfloatToFloat(b, right, k * n);
  Gemm(true, false, m, n, k, left, right, 0.f, sums);
  FloatToBfloat(sums, c, m * n);
}

bfloat16* Rounded(KernelArgs& args, const float* from, int64_t n) {
  auto* const to = Workspace<bfloat16>(args, n);
  ParallelFor(n, 1 << 15, [&](int64_t b, int64_t e) { FloatToBfloat(from + b, to + b, e - b); });
  return to;
}

HalfMatrix HalfRows(KernelArgs& args, const bfloat16* from, int64_t count, int64_t depth) {
  if (depth % 2 == 0) return {from, depth, count, depth};
  auto* const to = Workspace<bfloat16>(args, count * (depth + 1));
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(from + i * depth, depth, to + i * (depth + 1));
    to[i * (depth + 1) + depth] = bfloat16::FromBits(0);
  }
  return {to, depth + 1, count, depth};
}

HalfMatrix RoundedRows(KernelArgs& args, const float* from, int64_t count, int64_t depth) {
  return HalfRows(args, Rounded(args, from, count * depth), count, depth);
}

}  // namespace nn
}  // namespace mxnet
