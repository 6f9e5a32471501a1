// _fused_attention in bfloat16: keys and values of a head are packed for the products of
// packed_bfloat_kernels.h, block by block of rows (attention.cc has the same in float32).
#include <algorithm>
#include <vector>

#include "base/cpu_limit.h"
#include "base/half.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "operator/nn/attention/attention.h"
#include "operator/nn/attention/attention_scores.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/cpu_gemm/packed_bfloat.h"
#include "operator/nn/cpu_gemm/packed_bfloat_kernels.h"
#include "operator/nn/cpu_gemm/packed_kernels.h"

namespace mxnet {
namespace nn {

#if defined(__x86_64__)

namespace {

constexpr int64_t kScores = 64 << 10;  // elements of a block of scores, which stays in the second-level cache
constexpr int64_t kLeastRows = 8;      // rows that pay for packing keys and values
constexpr int64_t kMostRows = 16 * kBfloatRows;

int64_t PackedSize(int64_t filters, int64_t depth) { return PackedVectors(filters, kBfloatLanes) * kBfloatLanes * ((depth + 1) / 2) * 2; }

/* What a thread works in. */
struct Room {
  std::vector<bfloat16> keys, values, weights;
  std::vector<float> scores;
  const bfloat16* rows[kMostRows];

  static void Grow(std::vector<bfloat16>* v, int64_t size) {
    if (v->size() < static_cast<size_t>(size)) v->resize(size);
  }
};

class BfloatHeads {
 public:
  explicit BfloatHeads(KernelArgs& args)
      : d(args, 0),
        block(std::min({d.rows, kMostRows, std::max<int64_t>(16, kScores / std::max<int64_t>(1, d.columns))})),
        scores_(args, 0, d),
        scale_(static_cast<float>(args.param<AttentionParam>().scale)),
        out_(args.out[0].data<bfloat16>()) {
    for (int i = 0; i < args.param<AttentionParam>().Arrays(); ++i) arrays_[i] = args.in[i].data<bfloat16>();
  }

  int64_t Columns(int64_t head) const { return scores_.Columns(head); }

  /* The keys and values of a head, for its blocks. */
  void Pack(int64_t head, int64_t columns, Room* room) const {
    Room::Grow(&room->keys, PackedSize(columns, d.width));
    Room::Grow(&room->values, PackedSize(d.value_width, columns));
    BfloatPackRows(columns, d.width, At(d.key, head, 0), d.key.row, room->keys.data());
    BfloatPackColumns(d.value_width, columns, At(d.value, head, 0), d.value.row, room->values.data());
  }

  void Block(int64_t head, int64_t first, int64_t n, int64_t columns, Room* room) const {
    bfloat16* out = out_ + Place(d.output, head, first);
    if (columns == 0) {
      for (int64_t i = 0; i < n; ++i) std::fill_n(out + i * d.output.row, d.value_width, bfloat16::FromBits(0));
      return;
    }
    const int64_t pitch = RoundUp(columns, 2);  // an even number of elements is what matrix tiles take
    Room::Grow(&room->weights, n * pitch);
    if (room->scores.size() < static_cast<size_t>(n * columns)) room->scores.resize(n * columns);
    float* scores = room->scores.data();
    BfloatBlock product;
    product.rows = room->rows, product.stride = product.count = n;

    const bool tiles = HasAmx();
    for (int64_t i = 0; i < n; ++i) room->rows[i] = At(d.query, head, first + i);
    if (tiles && d.width % 2 == 0) product.flat = room->rows[0], product.pitch = d.query.row;
    product.depth = d.width, product.filters = product.ld = columns;
    BfloatGemmsWide(product, room->keys.data(), 0, PackedPanels(columns, kBfloatLanes), {}, scores, columns);
    scores_.Softmax(head, first, n, columns, scale_, scores);
    for (int64_t i = 0; i < n; ++i) {
      bfloat16* const row = room->weights.data() + i * pitch;
      BfloatRound(scores + i * columns, row, columns);
      if (pitch > columns) row[columns] = bfloat16::FromBits(0);
      room->rows[i] = row;
    }
    product.flat = tiles ? room->weights.data() : nullptr, product.pitch = pitch;
    product.depth = columns, product.filters = d.value_width, product.ld = d.output.row;
    BfloatGemms(product, room->values.data(), 0, PackedPanels(d.value_width, kBfloatLanes), {}, out);
  }

  const AttentionDims d;
  const int64_t block;  // rows

 private:
  int64_t Place(const HeadsIn& in, int64_t head, int64_t row) const { return in.At(head / d.heads, head % d.heads, row); }
  const bfloat16* At(const HeadsIn& in, int64_t head, int64_t row) const { return arrays_[in.array] + Place(in, head, row); }

  const AttentionScores scores_;
  const float scale_;
  const bfloat16* arrays_[3] = {};
  bfloat16* const out_;
};

bool Fits(const KernelArgs& args) {
  const auto& p = args.param<AttentionParam>();
  if (p.dropout > 0 || p.zeros) return false;
  for (int i = 0; i < p.Arrays(); ++i)
    if (args.in[i].dtype != kBfloat16) return false;
  const AttentionDims d(args, 0);
  return BfloatAttentionTakes(d.rows) && d.columns > 0 && d.width > 0;
}

}  // namespace

bool BfloatAttentionTakes(int64_t rows) { return rows >= kLeastRows && BfloatGemmsHere(); }

bool BfloatAttention(KernelArgs& args) {
  if (!Fits(args)) return false;
  Ran("attention by blocks", HasAmx() ? RanAt::kAmx : RanAt::kAvx512Bf16);
  const BfloatHeads h(args);
  const AttentionDims& d = h.d;
  const int64_t blocks = (d.rows + h.block - 1) / h.block;
  const int64_t grain = std::max<int64_t>(1, 200000 / std::max<int64_t>(1, h.block * d.columns * (d.width + d.value_width)));
  ParallelFor(d.batch * d.heads * blocks, grain, [&](int64_t begin, int64_t end) {
    static thread_local Room room;
    int64_t packed = -1;
    for (int64_t item = begin; item < end; ++item) {
      const int64_t head = item / blocks, first = item % blocks * h.block, columns = h.Columns(head);
      if (head != packed && columns > 0) h.Pack(head, columns, &room);
      packed = head;
      h.Block(head, first, std::min(h.block, d.rows - first), columns, &room);
    }
  });
  return true;
}

#else  // the kernels are written for x86

bool BfloatAttentionTakes(int64_t) { return false; }
bool BfloatAttention(KernelArgs&) { return false; }

#endif

}  // namespace nn
}  // namespace mxnet
