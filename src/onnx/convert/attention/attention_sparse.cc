// Attention to those blocks of keys that a matrix of blocks names, as Phi-3's small models have it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/convert/attention/attention.h"
#include "onnx/convert/neural/window.h"

namespace mxnet {
namespace onnx {

namespace {

// Inputs of SparseAttention.
enum SparseInput : int { kQuery, kKey, kValue, kPastKey, kPastValue, kBlockRows, kBlockColumns, kTotal, kLengths, kCos, kSin };

// Of queries and keys, whether they see each other: of 32 heads, 2048 of each.
constexpr int64_t kMostBlocks = int64_t{1} << 27;

struct SparseSizes {
  int64_t heads, groups, batch, steps, size, block;
};

SparseSizes SizesOf(const Call& c, bool packed) {
  SparseSizes g{};
  g.heads = c.Attr("num_heads", int64_t{0}), g.groups = c.Attr("kv_num_heads", int64_t{0}),
  g.block = c.Attr("sparse_block_size", int64_t{0});
  CheckSmall(c, "num_heads, kv_num_heads, sparse_block_size", {g.heads, g.groups, g.block}, 1);
  CheckRank(c, kQuery, 3, 3);
  const Shape& s = c.in(kQuery).shape();
  g.batch = s[0], g.steps = s[1], g.size = s[2] / (packed ? g.heads + 2 * g.groups : g.heads);
  const Shape more{g.batch, g.steps, g.groups * g.size};
  if (g.heads % g.groups || (!packed && (c.in(kKey).shape() != more || c.in(kValue).shape() != more)))
    c.Refuse("queries have shape " + Text(s) + " for " + Text(g.heads) + " heads and " + Text(g.groups) + " of keys" +
             (packed ? "" : ", keys " + Text(c.in(kKey).shape()) + ", values " + Text(c.in(kValue).shape())));
  return g;
}

/* 0 where a block of queries sees a block of keys, minus infinity elsewhere: (blocks, layouts x
 * blocks). The node has the rows of each layout as a compressed matrix. */
Value SeenBlocks(const Call& c, int64_t* layouts, int64_t* blocks) {
  for (int i : {kBlockRows, kBlockColumns}) CheckRank(c, i, 2, 2);
  const int64_t rows = c.in(kBlockRows).shape()[1], most = c.in(kBlockColumns).shape()[1];
  *layouts = c.in(kBlockRows).shape()[0], *blocks = rows - 1;
  if (rows < 2 || c.in(kBlockColumns).shape()[0] != *layouts)
    c.Refuse("block_row_indices have shape " + Text(c.in(kBlockRows).shape()) + ", block_col_indices " + Text(c.in(kBlockColumns).shape()));
  if (*layouts > kMostBlocks || *blocks > kMostBlocks || *blocks * *blocks * *layouts > kMostBlocks)
    c.Refuse("there are " + Text(*layouts) + " layouts of " + Text(*blocks) + " blocks; accepted: up to " + Text(kMostBlocks) +
             " pairs of blocks");
  const std::vector<int64_t> begins = c.Ints(kBlockRows), columns = c.Ints(kBlockColumns);
  std::vector<double> bias(static_cast<size_t>(*blocks * *layouts * *blocks), -std::numeric_limits<double>::infinity());
  for (int64_t l = 0; l < *layouts; ++l)
    for (int64_t r = 0; r < *blocks; ++r) {
      const int64_t begin = begins[static_cast<size_t>(l * rows + r)], end = begins[static_cast<size_t>(l * rows + r + 1)];
      if (begin < 0 || end > most) c.Refuse("block_row_indices name columns " + Text(begin) + " to " + Text(end) + " of " + Text(most));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = columns[static_cast<size_t>(l * most + i)];
        if (column < 0 || column >= *blocks) c.Refuse("a block is " + Text(column) + "; accepted: 0 to " + Text(*blocks - 1));
        bias[static_cast<size_t>((r * *layouts + l) * *blocks + column)] = 0;
      }
    }
  return FloatsLike(c, bias, {*blocks, *layouts * *blocks}, kFloat32);
}

/* The mask (batch, heads, steps, room) of queries at these places (batch, steps). Heads take the
 * layouts in turn. */
Value MaskAt(const Call& c, const SparseSizes& g, const Value& places, int64_t room) {
  int64_t layouts = 0, blocks = 0;
  const Value seen = SeenBlocks(c, &layouts, &blocks);
  if (g.heads % layouts) c.Refuse("there are " + Text(layouts) + " layouts for " + Text(g.heads) + " heads");
  if (room > blocks * g.block) c.Refuse("caches have room for " + Text(room) + " tokens; accepted: up to " + Text(blocks * g.block));
  const Value size = c.Scalar(static_cast<double>(g.block), kFloat64);
  const Value block = c.Cast(Unary(c, "floor", Div(c, c.Cast(places, kFloat64), size)), kInt64);
  const Value last = BinaryNumber(c, "minimum", block, static_cast<double>(blocks - 1));
  const Value rows = c.Reshape(Take(c, seen, last, 0), Shape{g.batch, g.steps, layouts, blocks});
  const Value by_layout = c.Reshape(c.Transpose(rows, {0, 2, 1, 3}), Shape{g.batch, 1, layouts, g.steps, blocks, 1});
  const int64_t times = layouts == 1 ? 1 : g.heads / layouts;
  const Value wide = c.BroadcastTo(by_layout, Shape{g.batch, times, layouts, g.steps, blocks, g.block});
  return SliceAxis(c, c.Reshape(wide, Shape{g.batch, times * layouts, g.steps, blocks * g.block}), 3, 0, room);
}

/* Rows (batch, steps, heads x size), turned by their places where the node asks for that. */
Value Turned(const Call& c, const Value& x, int64_t heads, const Value& places) {
  if (c.Attr("do_rotary", int64_t{0}) == 0) return x;
  const Shape s = x.shape();
  const int64_t half = c.in(kCos).shape()[1];
  const auto angles = [&](int i) { return c.Reshape(Take(c, c.in(i), places, 0), Shape{s[0], s[1], 1, half}); };
  const Value apart = c.Reshape(x, Shape{s[0], s[1], heads, s[2] / heads});
  return c.Reshape(Rotate(c, apart, angles(kCos), angles(kSin), 2 * half, c.Attr("rotary_interleaved", int64_t{0}) != 0), s);
}

}  // namespace

void ConvertSparseAttention(Call& c) {
  const bool packed = !c.has(kKey);
  const SparseSizes g = SizesOf(c, packed);
  CachedAttention a;
  a.heads = g.heads, a.groups = g.groups, a.scale = c.Attr("scale", 0.0f);
  for (const char* name : {"do_rotary", "rotary_interleaved"}) c.Ignore(name);
  for (int i : {kPastKey, kPastValue}) CheckRank(c, i, 4, 4);
  if (c.in(kLengths).size() != g.batch) c.Refuse("key_total_sequence_lengths have shape " + Text(c.in(kLengths).shape()));
  if (c.Attr("do_rotary", int64_t{0}) != 0 && !(c.has(kCos) && c.has(kSin))) c.Refuse("cos_cache or sin_cache is not there");
  a.lengths = c.Reshape(c.Cast(c.in(kLengths), kInt64), Shape{g.batch});
  a.starts = BinaryNumber(c, "maximum", AddNumber(c, a.lengths, -static_cast<double>(g.steps)), 0);
  const Value places = Add(c, c.Reshape(a.starts, Shape{g.batch, 1}), c.Reshape(CountUp(c, g.steps), Shape{1, g.steps}));
  const auto rows = [&](int i, int64_t from, int64_t size) { return packed ? SliceAxis(c, c.in(kQuery), 2, from, from + size) : c.in(i); };
  const int64_t width = g.heads * g.size, more = g.groups * g.size;
  a.query = Turned(c, rows(kQuery, 0, width), g.heads, places);
  const auto appended = [&](int past, const Value& x) {
    const Value cache = Cache(c, c.in(past));
    return Appended(c, cache, c.Cast(x, cache.dtype()), a);
  };
  a.key = appended(kPastKey, Turned(c, rows(kKey, width, more), g.groups, places));
  a.value = appended(kPastValue, rows(kValue, width + more, more));
  a.mask = MaskAt(c, g, places, a.key.shape()[2]);
  c.Out(0, AttendCached(c, a));
  c.Out(1, a.key), c.Out(2, a.value);
}

}  // namespace onnx
}  // namespace mxnet
