// What onnxruntime's optimizer writes around attention: texts without their padding, one behind the
// other, and biases of relative positions.
#include <algorithm>
#include <cmath>

#include "onnx/convert/attention/attention.h"

namespace mxnet {
namespace onnx {

namespace {

/* Texts of a batch in the rows of one array. */
struct Packing {
  int64_t batch, length;
  Sizes places;   // of each row in (batch, length)
  Sizes lengths;  // of each text
};

/* `offsets`: the places of all rows, then those of the padding, (batch, length). */
Packing ReadPacking(const Call& c, int offsets, int64_t rows) {
  CheckRank(c, offsets, 2, 2);
  Packing p;
  p.batch = c.in(offsets).shape()[0], p.length = c.in(offsets).shape()[1];
  p.places = c.Ints(offsets);
  p.lengths.assign(static_cast<size_t>(p.batch), 0);
  if (rows > p.batch * p.length) c.Refuse(Text(rows) + " rows for places of shape " + Text(c.in(offsets).shape()));
  p.places.resize(static_cast<size_t>(rows));
  for (int64_t at : p.places) {
    if (at < 0 || at >= p.batch * p.length) c.Refuse("a row has place " + Text(at) + " of " + Text(p.batch * p.length));
    ++p.lengths[static_cast<size_t>(at / p.length)];
  }
  return p;
}

/* Rows (rows, size) at their places, (batch, length, size); zeros elsewhere. */
Value Spread(const Call& c, const Packing& p, const Value& rows) {
  const int64_t size = rows.shape()[1], count = rows.shape()[0];
  Sizes from(static_cast<size_t>(p.batch * p.length), count);  // a row of zeros behind the others
  for (int64_t i = 0; i < count; ++i) from[static_cast<size_t>(p.places[static_cast<size_t>(i)])] = i;
  const Value all = Join(c, {rows, c.Filled(Shape{1, size}, rows.dtype(), 0)}, 0);
  return Take(c, all, IntsLike(c, from, {p.batch, p.length}), 0);
}

Value Packed(const Call& c, const Packing& p, const Value& x) {
  if (p.places.empty()) return c.Filled(Shape{0, x.shape()[2]}, x.dtype(), 0);
  return Take(c, c.Reshape(x, Shape{p.batch * p.length, x.shape()[2]}), c.IntTensor(p.places), 0);
}

/* Texts see themselves, without padding. */
Value OwnBias(const Call& c, const Packing& p, int dtype) {
  std::vector<double> bias;
  for (int64_t n : p.lengths)
    for (int64_t j = 0; j < p.length; ++j) bias.push_back(j < std::max<int64_t>(1, n) ? 0 : -std::numeric_limits<double>::infinity());
  return FloatsLike(c, bias, {p.batch, 1, 1, p.length}, dtype);
}

void AttendRows(Call& c, const Packing& p, const Value& q, const Value& k, const Value& v, int attention_bias) {
  AttentionOptions options;
  options.scale = c.Attr("scale", 0.0f);
  c.Ignore("mask_filter_value");  // there is no padding to hide
  Value bias = OwnBias(c, p, q.dtype());
  if (c.has(attention_bias)) bias = AddBias(c, bias, c.in(attention_bias));
  c.Out(Packed(c, p, JoinHeads(c, Attend(c, q, k, v, bias, options).y)));
}

}  // namespace

void ConvertPackedAttention(Call& c) {  // rows, weight, bias, places, running lengths, attention bias
  CheckRank(c, 0, 2, 2);
  CheckRank(c, 1, 2, 2);
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  const Packing p = ReadPacking(c, 3, c.in(0).shape()[0]);
  const Sizes sizes = PackedSizes(c, c.in(1));
  const Value all = Spread(c, p, PackedProduct(c, c.in(0), c.in(1), c.in(2)));
  const auto part = [&](int64_t from, int64_t size) { return SplitHeads(c, SliceAxis(c, all, 2, from, from + size), heads); };
  AttendRows(c, p, part(0, sizes[0]), part(sizes[0], sizes[1]), part(sizes[0] + sizes[1], sizes[2]), 5);
}

/* queries, keys, values, their bias, places, running lengths, attention bias. Without keys the
 * queries are (rows, heads, 3, size) of all three. */
void ConvertPackedMultiHeadAttention(Call& c) {
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  const Value& query = c.in(0);
  const bool together = !c.has(1);
  CheckRank(c, 0, together ? 4 : 2, together ? 4 : 2);
  const Packing p = ReadPacking(c, 4, query.shape()[0]);
  int64_t from = 0;
  const auto read = [&](int i) {
    Value x;
    if (together) {
      const Shape& s = query.shape();
      x = c.Reshape(SliceAxis(c, query, 2, i, i + 1), Shape{s[0], s[1] * s[3]});
    } else {
      x = c.in(i);
    }
    const int64_t size = x.shape()[1];
    if (c.has(3)) x = Add(c, x, SliceAxis(c, c.in(3), 0, from, from + size));
    from += size;
    return SplitHeads(c, Spread(c, p, x), heads);
  };
  const Value q = read(0), k = read(1), v = read(2);
  AttendRows(c, p, q, k, v, 6);
}

void ConvertRemovePadding(Call& c) {  // data, lengths -> rows, places, running lengths, the longest
  CheckRank(c, 0, 3, 3);
  const int64_t batch = c.in(0).shape()[0], length = c.in(0).shape()[1];
  Packing p{batch, length, {}, c.Ints(1)};
  if (static_cast<int64_t>(p.lengths.size()) != batch)
    c.Refuse("there are " + Text(c.in(1).size()) + " lengths for " + Text(batch) + " texts");
  Sizes padding, sums(1, 0);
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t n = p.lengths[static_cast<size_t>(i)];
    if (n < 0 || n > length) c.Refuse("a text has " + Text(n) + " of " + Text(length) + " words");
    for (int64_t j = 0; j < length; ++j) (j < n ? p.places : padding).push_back(i * length + j);
    sums.push_back(sums.back() + n);
  }
  Sizes places = p.places;
  places.insert(places.end(), padding.begin(), padding.end());
  c.Out(0, Packed(c, p, c.in(0)));
  c.Out(1, IntsLike(c, places, {batch, length}, kInt32));
  c.Out(2, IntsLike(c, sums, {batch + 1}, kInt32));
  c.Out(3, IntsLike(c, {batch ? *std::max_element(p.lengths.begin(), p.lengths.end()) : 0}, {1}, kInt32));
}

void ConvertRestorePadding(Call& c) {  // rows, places
  CheckRank(c, 0, 2, 2);
  c.Out(Spread(c, ReadPacking(c, 1, c.in(0).shape()[0]), c.in(0)));
}

namespace {

/* As T5 counts: near ones one by one, far ones in buckets that grow with the distance. */
int64_t BucketOf(int64_t distance, int64_t buckets, int64_t farthest, bool both) {
  int64_t first = 0, n = -distance;
  if (both) {
    buckets /= 2;
    if (n < 0) first = buckets, n = -n;
  } else {
    n = std::max<int64_t>(0, n);
  }
  const int64_t exact = buckets / 2;
  if (n < exact) return first + n;
  const float ratio =
      std::log(static_cast<float>(n) / static_cast<float>(exact)) / std::log(static_cast<float>(farthest) / static_cast<float>(exact));
  return first + std::min(buckets - 1, exact + static_cast<int64_t>(ratio * static_cast<float>(buckets - exact)));
}

}  // namespace

void ConvertRelativePositionBias(Call& c) {  // table (buckets, heads), how many queries, how many keys
  CheckRank(c, 0, 2, 2);
  const int64_t farthest = c.Attr("max_distance", int64_t{0}), queries = c.Int(1), keys = c.Int(2);
  const bool both = c.Attr("is_bidirectional", int64_t{0}) != 0;
  const int64_t buckets = c.in(0).shape()[0], heads = c.in(0).shape()[1];
  if (buckets < (both ? 4 : 2) || farthest <= buckets / (both ? 4 : 2))
    c.Refuse("attribute max_distance is " + Text(farthest) + " with " + Text(buckets) + " buckets");
  if (queries < 0 || keys < 0 || (queries > 0 && keys > kMostListed / queries))
    c.Refuse("a bias of " + Text(queries) + " x " + Text(keys) + " elements");
  Sizes rows;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) rows.push_back(BucketOf(j - i, buckets, farthest, both));
  const Value taken = c.Op("take", {c.Transpose(c.in(0), {1, 0}), IntsLike(c, rows, {queries, keys})}, {{"axis", "1"}, {"mode", "clip"}});
  c.Out(c.Reshape(taken, Shape{1, heads, queries, keys}));
}

/* queries, their bias, bias of positions, weight (size, gates), bias, factors, places */
void ConvertGatedRelativePositionBias(Call& c) {
  const int64_t heads = c.Attr("num_heads", int64_t{0});
  Value x = Add(c, c.in(0), c.in(1));
  if (c.has(6)) x = Spread(c, ReadPacking(c, 6, x.shape()[0]), x);
  const Value q = SplitHeads(c, x, heads);
  const Shape& s = q.shape();
  const int64_t gates = c.in(3).shape()[1] / 2;
  if (gates < 1 || c.in(3).shape() != Shape{s[3], 2 * gates}) c.Refuse("the weight has shape " + Text(c.in(3).shape()));
  const Value product = PackedProduct(c, q, c.in(3), c.in(4));
  const Value sums = Sigmoid(c, Sum(c, c.Reshape(product, Shape{s[0], s[1], s[2], 2, gates}), {4}, false));
  const Value update = SliceAxis(c, sums, 3, 0, 1), reset = SliceAxis(c, sums, 3, 1, 2);
  const Value factor = AddNumber(c, Mul(c, update, AddNumber(c, Mul(c, reset, c.in(5)), -1)), 2);
  c.Out(Mul(c, factor, c.in(2)));
}

}  // namespace onnx
}  // namespace mxnet
