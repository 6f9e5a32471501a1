// A decoder's keys and values in buffers that have room for more: new rows are written behind those
// that are there, in place where the caller lets input and output be one buffer, and attention
// looks at what is filled alone. So a step takes time for the tokens so far, not for the buffers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/half.h"
#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/attention/attention_rows.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/softmax/softmax_kernels.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/shared/on_host.h"
#include "operator/shared/panel_gemm.h"

namespace mxnet {
namespace nn {
namespace {

// ---- new rows

struct CacheAppendParam : public Parameter<CacheAppendParam> {
  int64_t room, least;
  bool with_dropped;
  MXNET_DECLARE_PARAM(CacheAppendParam) {
    MXNET_FIELD(room).set_default(0).describe("Rows of the result; 0: as many as the cache has. What is behind the cache's is 0.");
    MXNET_FIELD(least).set_default(0).describe("Least of the lengths that are accepted.");
    MXNET_FIELD(with_dropped).set_default(false).describe("`dropped` rows of the cache are left out first, and those behind them move up.");
  }
};
MXNET_REGISTER_PARAM(CacheAppendParam);

bool AppendShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const Shape &cache = (*in)[0], &rows = (*in)[1];
  const int64_t room = attrs.get<CacheAppendParam>().room;
  if (!cache.known() || !rows.known()) return false;
  MXNET_CHECK_KIND(
      cache.ndim() == 4 && rows.ndim() == 3 && rows[0] == cache[0] && rows[2] == cache[1] * cache[3] && (room == 0 || room >= cache[2]),
      Value)
      << "[_cache_append] cache " << cache << " with room for " << room << " and rows " << rows
      << "; accepted: (batch, heads, length, size) and (batch, steps, heads x size)";
  for (size_t i = 2; i < in->size(); ++i)
    AssignShape(attrs, i == 2 ? "starts" : i == 3 ? "lengths" : "dropped", &(*in)[i], Shape{cache[0]});
  AssignShape(attrs, "output", &(*out)[0], Shape{cache[0], cache[1], room == 0 ? cache[2] : room, cache[3]});
  return true;
}

bool AppendType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  for (size_t i = 2; i < in->size(); ++i)
    if ((*in)[i] == kDTypeUnknown) (*in)[i] = kInt64;
  const int dtype = (*in)[0] != kDTypeUnknown ? (*in)[0] : (*in)[1] != kDTypeUnknown ? (*in)[1] : (*out)[0];
  if (dtype == kDTypeUnknown) return false;
  AssignType(attrs, "cache", &(*in)[0], dtype);
  AssignType(attrs, "rows", &(*in)[1], dtype);
  AssignType(attrs, "output", &(*out)[0], dtype);
  return true;
}

void Append(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  const TBlob &cache = args.in[0], &rows = args.in[1], &out = args.out[0];
  const int64_t batch = cache.shape[0], heads = cache.shape[1], length = cache.shape[2], room = out.shape[2], steps = rows.shape[1];
  const size_t row = static_cast<size_t>(cache.shape[3]) * DTypeSize(out.dtype);
  const int64_t *starts = AsInt64(args, args.in[2]), *lengths = AsInt64(args, args.in[3]);
  const int64_t* const dropped = args.param<CacheAppendParam>().with_dropped ? AsInt64(args, args.in[4]) : nullptr;
  const int64_t least = args.param<CacheAppendParam>().least;
  for (int64_t b = 0; b < batch; ++b) {
    MXNET_CHECK_KIND(lengths[b] >= least, Index)
        << "[_cache_append] length " << lengths[b] << " of example " << b << "; accepted: " << least << " to " << room;
    MXNET_CHECK_KIND(!dropped || (dropped[b] >= 0 && dropped[b] <= length), Index)
        << "[_cache_append] " << dropped[b] << " rows of example " << b << " are dropped; accepted: 0 to " << length;
    const int64_t end = std::min(lengths[b], starts[b] > INT64_MAX - steps ? INT64_MAX : starts[b] + steps);
    MXNET_CHECK_KIND(starts[b] >= 0 && end <= room, Index)
        << "[_cache_append] rows from " << starts[b] << " to " << end << " of example " << b << "; accepted: 0 to " << room;
  }
  char* const y = static_cast<char*>(out.dptr);
  const char* const x = static_cast<const char*>(cache.dptr);
  const char* const added = static_cast<const char*>(rows.dptr);
  const bool moved = x != y;
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, static_cast<int64_t>(row) * (moved ? room : steps)));
  ParallelFor(batch * heads, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t b = i / heads, h = i % heads;
      char* const to = y + static_cast<size_t>(i * room) * row;
      const int64_t drop = dropped ? dropped[b] : 0, left = length - drop;
      const char* const from = x + static_cast<size_t>(i * length + drop) * row;
      if (moved) {
        std::memcpy(to, from, static_cast<size_t>(left) * row);
        std::memset(to + static_cast<size_t>(left) * row, 0, static_cast<size_t>(room - left) * row);
      } else if (drop > 0) {
        std::memmove(to, from, static_cast<size_t>(std::min(left, starts[b])) * row);
      }
      for (int64_t s = 0; s < steps && starts[b] + s < lengths[b]; ++s)
        std::memcpy(to + static_cast<size_t>(starts[b] + s) * row, added + static_cast<size_t>((b * steps + s) * heads + h) * row, row);
    }
  });
}

MXNET_REGISTER_OP(_cache_append)
    .describe(
        "cache, of shape (batch, heads, length, size), with new rows (batch, steps, heads x size): those of example b at starts[b] and "
        "behind it, as many as are before lengths[b].")
    .set_param<CacheAppendParam>()
    .set_inputs({"cache", "rows", "starts", "lengths", "dropped"},
                [](const Attrs& a) { return 4 + a.get<CacheAppendParam>().with_dropped; })
    .set_dtypes(dtypes::kFloats | dtypes::Set{kInt8, kUint8})
    .set_inplace([](const Attrs& a) {
      return a.get<CacheAppendParam>().room == 0 ? std::vector<std::pair<int, int>>{{0, 0}} : std::vector<std::pair<int, int>>{};
    })
    .set_infer_shape(AppendShape)
    .set_infer_type(AppendType)
    .set_kernel([](KernelArgs& args) { OnHost(args, Append); });

// ---- attention

struct CachedAttentionParam : public Parameter<CachedAttentionParam> {
  int64_t heads, groups, window;
  double scale, softcap;
  bool causal, packed, with_mask, with_sink, with_sources;
  MXNET_DECLARE_PARAM(CachedAttentionParam) {
    MXNET_FIELD(heads).set_lower_bound(1).describe("Heads of the queries.");
    MXNET_FIELD(groups).set_lower_bound(1).describe("Heads of the keys and values.");
    MXNET_FIELD(scale).set_default(1).describe("Of the products of queries and keys.");
    MXNET_FIELD(softcap).set_default(0).describe("Scores s become softcap * tanh(s / softcap); 0: they stay.");
    MXNET_FIELD(window).set_default(0).describe("A query sees its own key and those before it, so many in all; 0: all.");
    MXNET_FIELD(causal).set_default(true).describe("No query sees keys behind its own.");
    MXNET_FIELD(packed).set_default(false).describe(
        "A byte of the caches is two numbers of 4 bits, each with 8 added, the first one in the low half.");
    MXNET_FIELD(with_mask).set_default(false).describe("mask is added to the scores.");
    MXNET_FIELD(with_sink).set_default(false).describe("sink, by head, is one more score in each softmax, of a value of 0.");
    MXNET_FIELD(with_sources).set_default(false).describe("Key j of example b is that of example sources[b, j], as of beams.");
  }
};
MXNET_REGISTER_PARAM(CachedAttentionParam);

/* How a cache lies: (batch, groups, length, size) or (batch, length, groups x size). */
struct CacheLies {
  CacheLies(const Shape& s, int64_t groups, bool packed)
      : fits(s.ndim() == 4 ? s[1] == groups : s.ndim() == 3 && s[2] % groups == 0),
        flat(s.ndim() == 3),
        length(fits ? s[flat ? 1 : 2] : 0),
        bytes(!fits  ? 0
              : flat ? s[2] / groups
                     : s[3]),
        size(packed ? 2 * bytes : bytes),
        row(flat ? bytes * groups : bytes),
        group(flat ? bytes : bytes * length),
        example(groups * bytes * length) {}
  bool fits, flat;
  int64_t length;               // of a group
  int64_t bytes, size;          // elements of a row as the array has them, and numbers in them
  int64_t row, group, example;  // elements from one to the next
};

bool AttentionShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<CachedAttentionParam>();
  const Shape &q = (*in)[0], &k = (*in)[1], &v = (*in)[2];
  if (!q.known() || !k.known() || !v.known()) return false;
  const CacheLies keys(k, p.groups, p.packed), values(v, p.groups, p.packed);
  MXNET_CHECK_KIND(q.ndim() == 3 && keys.fits && values.fits && k[0] == q[0] && v[0] == q[0] && keys.length == values.length &&
                       p.heads % p.groups == 0 && q[2] == p.heads * keys.size,
                   Value)
      << "[_cached_attention] query " << q << ", key " << k << ", value " << v << " with " << p.heads << " heads in " << p.groups
      << " groups; accepted: query (batch, steps, heads x size), key and value (batch, groups, length, size) or (batch, length, groups x "
         "size)";
  for (int i : {3, 4}) AssignShape(attrs, i == 3 ? "starts" : "lengths", &(*in)[i], Shape{q[0]});
  if (p.with_mask) {
    const Shape& m = (*in)[5];
    if (!m.known()) return false;
    MXNET_CHECK_KIND(m.ndim() == 4 && (m[0] == 1 || m[0] == q[0]) && (m[1] == 1 || m[1] == p.heads) && (m[2] == 1 || m[2] == q[1]), Value)
        << "[_cached_attention] mask " << m << "; accepted: (batch, heads, steps, columns), all but the last may be 1";
  }
  if (p.with_sink) AssignShape(attrs, "sink", &(*in)[5 + p.with_mask], Shape{p.heads});
  if (p.with_sources) AssignShape(attrs, "sources", &(*in)[5 + p.with_mask + p.with_sink], Shape{q[0], keys.length});
  AssignShape(attrs, "output", &(*out)[0], Shape{q[0], q[1], p.heads * values.size});
  return true;
}

bool AttentionType(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const auto& p = attrs.get<CachedAttentionParam>();
  for (int i : {1, 2})
    if ((*in)[i] == kDTypeUnknown) (*in)[i] = kFloat32;
  for (int i : {3, 4})
    if ((*in)[i] == kDTypeUnknown) (*in)[i] = kInt64;
  AssignType(attrs, "query", &(*in)[0], kFloat32);
  const int more = 5 + p.with_mask + p.with_sink;
  for (int i = 5; i < more; ++i) AssignType(attrs, "mask", &(*in)[i], kFloat32);
  if (p.with_sources) AssignType(attrs, "sources", &(*in)[more], kInt64);
  AssignType(attrs, "output", &(*out)[0], kFloat32);
  return true;
}

constexpr int64_t kScores = 128 << 10;  // elements of a block of scores
constexpr int64_t kWidenedRows = 128;   // of a cache of fewer bits, at a time
constexpr int64_t kPart = 64;           // keys that are packed together
constexpr int64_t kManySteps = 8;       // from here on keys and values are packed
constexpr int64_t kPackedBlock = 48;    // queries at a time: no more, for those before most keys see few
static_assert(kWidenedRows % kPart == 0 && kPart % kPackColumns == 0, "parts are whole");

/* What a thread needs to attend. */
struct CachedRoom {
  std::vector<float> scores, wide, keys, values;
  int64_t packed = -1;  // group of an example whose keys and values are packed
};
constexpr int64_t kMostStart = int64_t{1} << 40;

class CachedHeads {
 public:
  explicit CachedHeads(KernelArgs& args)
      : p_(args.param<CachedAttentionParam>()),
        q_(args.in[0].data<float>()),
        y_(args.out[0].data<float>()),
        keys_{args.in[1], CacheLies(args.in[1].shape, p_.groups, p_.packed)},
        values_{args.in[2], CacheLies(args.in[2].shape, p_.groups, p_.packed)},
        batch_(args.in[0].shape[0]),
        steps_(args.in[0].shape[1]),
        shared_(p_.heads / p_.groups),
        together_(steps_ == 1 ? shared_ : 1),
        packs_(steps_ >= kManySteps && !p_.with_sources),
        block_(std::max<int64_t>(
            1, std::min(packs_ ? std::min(steps_, kPackedBlock) : steps_, kScores / std::max<int64_t>(1, keys_.lies.length)))),
        blocks_((steps_ + block_ - 1) / block_),
        starts_(AsInt64(args, args.in[3])),
        lengths_(AsInt64(args, args.in[4])) {
    if (p_.with_mask) mask_ = &args.in[5];
    if (p_.with_sink) sink_ = args.in[5 + p_.with_mask].data<float>();
    if (p_.with_sources) sources_ = args.in[5 + p_.with_mask + p_.with_sink].data<int64_t>();
    const int64_t most = mask_ ? std::min(keys_.lies.length, mask_->shape[3]) : keys_.lies.length;
    for (int64_t b = 0; b < batch_; ++b) {
      MXNET_CHECK_KIND(lengths_[b] <= most, Index)
          << "[_cached_attention] length " << lengths_[b] << " of example " << b << "; accepted: at most " << most;
      MXNET_CHECK_KIND(starts_[b] >= -kMostStart && starts_[b] <= kMostStart, Index)
          << "[_cached_attention] start " << starts_[b] << " of example " << b << "; accepted: -" << kMostStart << " to " << kMostStart;
      for (int64_t j = 0; sources_ && j < lengths_[b]; ++j) {
        const int64_t from = sources_[b * keys_.lies.length + j];
        MXNET_CHECK_KIND(from >= 0 && from < batch_, Index)
            << "[_cached_attention] source " << from << " of key " << j << " of example " << b << "; accepted: 0 to " << batch_ - 1;
      }
    }
  }

  int64_t Items() const { return batch_ * p_.heads / together_ * blocks_; }
  int64_t Work() const { return block_ * together_ * keys_.lies.length * (keys_.lies.size + values_.lies.size); }

  void Run(int64_t item, CachedRoom* room) const {
    const int64_t at = item / blocks_, first = item % blocks_ * block_, n = std::min(block_, steps_ - first);
    const int64_t each = p_.heads / together_, b = at / each, head = at % each * together_;
    const int64_t rows = together_ > 1 ? together_ : n, size = keys_.lies.size, value_size = values_.lies.size;
    float* y = y_ + ((b * steps_ + first) * p_.heads + head) * value_size;
    const int64_t y_row = together_ > 1 ? value_size : p_.heads * value_size;
    const auto [begin, end] = Seen(b, first, n);
    if (begin >= end) {
      for (int64_t i = 0; i < rows; ++i) std::fill_n(y + i * y_row, value_size, 0.f);
      return;
    }
    const FloatRows query{q_ + ((b * steps_ + first) * p_.heads + head) * size, together_ > 1 ? size : p_.heads * size};
    const int64_t group = head / shared_;
    const auto [from, to] = packs_ ? Pack(b, group, room) : std::make_pair(begin, end);
    const int64_t skipped = packs_ ? (begin - from) / kPart * kPart : 0, left = from + skipped;
    const int64_t columns = packs_ ? std::min(RoundUp(end - left, kPart), to - left) : end - left, line = columns + (sink_ ? 1 : 0);
    room->scores.resize(static_cast<size_t>(rows * line));
    float* const scores = room->scores.data() + (sink_ ? 1 : 0);
    if (packs_)
      MXNET_CPU_CALL(PackedGemm)(rows, columns, size, query.data, query.row, room->keys.data() + skipped * size, scores, line, false);
    else
      Pieces(keys_, b, group, begin, end, room, [&](int64_t done, int64_t count, const FloatRows& keys) {
        MXNET_CPU_CALL(KeyProducts)(rows, count, size, static_cast<float>(p_.scale), query, keys, scores + done, line);
      });
    for (int64_t i = 0; i < rows; ++i)
      Softmax(b, head + (together_ > 1 ? i : 0), together_ > 1 ? first : first + i, left, columns, scores + i * line);
    for (int64_t done = 0; packs_ && done < columns; done += kPart) MXNET_CPU_CALL(PackedGemm)
    (rows, value_size, std::min(kPart, columns - done), scores + done, line,
     room->values.data() + (skipped + done) * PackedColumns(value_size), y, y_row, done > 0);
    if (packs_) return;
    Pieces(values_, b, group, begin, end, room, [&](int64_t done, int64_t count, const FloatRows& values) {
      MXNET_CPU_CALL(ValueSums)(rows, count, value_size, {scores + done, line}, values, done > 0, y, y_row);
    });
  }

 private:
  struct Part {
    const TBlob& blob;
    CacheLies lies;
  };
  /* Which keys query s of example b sees. */
  int64_t To(int64_t b, int64_t s) const {
    return std::max<int64_t>(0, p_.causal ? std::min(lengths_[b], starts_[b] + s + 1) : lengths_[b]);
  }
  int64_t From(int64_t b, int64_t s) const { return p_.window > 0 ? std::max<int64_t>(0, starts_[b] + s + 1 - p_.window) : 0; }

  /* Keys that one of n queries from `first` on sees, which are [first, second). */
  std::pair<int64_t, int64_t> Seen(int64_t b, int64_t first, int64_t n) const {
    std::pair<int64_t, int64_t> seen(keys_.lies.length, 0);
    for (int64_t s = first; s < first + n; ++s) seen = {std::min(seen.first, From(b, s)), std::max(seen.second, To(b, s))};
    return seen;
  }

  /* Packs what queries of a group see, in parts of kPart keys, which are scaled. Gives where these
   * are. */
  std::pair<int64_t, int64_t> Pack(int64_t b, int64_t group, CachedRoom* room) const {
    const auto seen = Seen(b, 0, steps_);
    const int64_t begin = seen.first, end = seen.second;
    if (room->packed == b * p_.groups + group) return seen;
    room->packed = b * p_.groups + group;
    const int64_t size = keys_.lies.size, value_size = values_.lies.size, value_columns = PackedColumns(value_size);
    room->keys.resize(static_cast<size_t>(PackedSize(end - begin, size)));
    room->values.resize(static_cast<size_t>((end - begin) * value_columns));
    const float scale = static_cast<float>(p_.scale);
    Pieces(keys_, b, group, begin, end, room, [&](int64_t from, int64_t count, const FloatRows& keys) {
      float* const to = room->keys.data() + from * size;
      MXNET_CPU_CALL(PackColumns)(true, count, size, keys.data, keys.row, to);
#pragma omp simd
      for (int64_t i = 0; i < PackedSize(count, size); ++i) to[i] *= scale;
    });
    Pieces(values_, b, group, begin, end, room, [&](int64_t from, int64_t count, const FloatRows& values) {
      for (int64_t done = 0; done < count; done += kPart) {
        float* const to = room->values.data() + (from + done) * value_columns;
        MXNET_CPU_CALL(PackColumns)(false, value_size, std::min(kPart, count - done), values.data + done * values.row, values.row, to);
      }
    });
    return seen;
  }

  /* Keys or values [begin, end) of a group in float32, from `begin` on. */
  template <typename F>
  void Pieces(const Part& cache, int64_t example, int64_t group, int64_t begin, int64_t end, CachedRoom* room, F&& f) const {
    const CacheLies& lies = cache.lies;
    if (cache.blob.dtype != kFloat32 || sources_) room->wide.resize(static_cast<size_t>(kWidenedRows * lies.size));
    float* const wide = room->wide.data();
    if (sources_) {
      for (int64_t from = begin; from < end; from += kWidenedRows) {
        const int64_t count = std::min(kWidenedRows, end - from);
        for (int64_t i = 0; i < count; ++i) {
          const int64_t source = sources_[example * lies.length + from + i];
          Widen(cache.blob, source * lies.example + group * lies.group + (from + i) * lies.row, wide + i * lies.size, lies.bytes);
        }
        f(from - begin, count, FloatRows{wide, lies.size});
      }
      return;
    }
    const int64_t at = example * lies.example + group * lies.group + begin * lies.row;
    if (cache.blob.dtype == kFloat32) return f(int64_t{0}, end - begin, FloatRows{cache.blob.data<const float>() + at, lies.row});
    for (int64_t from = 0; from < end - begin; from += kWidenedRows) {
      const int64_t count = std::min(kWidenedRows, end - begin - from), first = at + from * lies.row;
      if (!lies.flat) Widen(cache.blob, first, wide, count * lies.bytes);
      for (int64_t i = 0; lies.flat && i < count; ++i) Widen(cache.blob, first + i * lies.row, wide + i * lies.size, lies.bytes);
      f(from, count, FloatRows{wide, lies.size});
    }
  }
  /* `count` elements from `at` on. */
  static void Widen(const TBlob& cache, int64_t at, float* to, int64_t count) {
    if (cache.dtype == kFloat32) {
      std::memcpy(to, cache.data<const float>() + at, static_cast<size_t>(count) * sizeof(float));
      return;
    }
    if (cache.dtype == kFloat16) return HalfToFloat(cache.data<const float16>() + at, to, count);
    if (cache.dtype == kInt8) {
      const int8_t* const x = cache.data<const int8_t>() + at;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(x[i]);
      return;
    }
    const uint8_t* const x = cache.data<const uint8_t>() + at;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      to[2 * i] = static_cast<float>((x[i] & 15) - 8);
      to[2 * i + 1] = static_cast<float>((x[i] >> 4) - 8);
    }
  }

  /* Scores of one query and keys [begin, begin + columns) become weights. */
  void Softmax(int64_t b, int64_t head, int64_t s, int64_t begin, int64_t columns, float* scores) const {
    const int64_t from = std::min(columns, std::max<int64_t>(0, From(b, s) - begin)),
                  to = std::max(from, std::min(columns, To(b, s) - begin));
    std::fill_n(scores, from, 0.f);
    std::fill(scores + to, scores + columns, 0.f);
    if (p_.softcap > 0) {
      const float cap = static_cast<float>(p_.softcap);
      for (int64_t j = from; j < to; ++j) scores[j] = cap * std::tanh(scores[j] / cap);
    }
    bool any = from < to;
    if (mask_) {
      const Shape& m = mask_->shape;
      const float* add =
          mask_->data<float>() + (((m[0] > 1 ? b : 0) * m[1] + (m[1] > 1 ? head : 0)) * m[2] + (m[2] > 1 ? s : 0)) * m[3] + begin;
      any = false;
      for (int64_t j = from; j < to; ++j) any |= (scores[j] += add[j]) != -std::numeric_limits<float>::infinity();
    }
    if (!any) {
      std::fill_n(scores + from, to - from, 0.f);
      return;
    }
    // the sink's place is the one before the first score
    float* const x = scores + from - (sink_ ? 1 : 0);
    const float kept = *x;
    if (sink_) *x = sink_[head];
    SoftmaxCall call;
    call.length = scores + to - x;
    call.safe = false;
    MXNET_CPU_CALL(SoftmaxForward)(call, kFloat32, x, x, 0, 1);
    if (sink_) *x = from > 0 ? 0.f : kept;
  }

  const CachedAttentionParam& p_;
  const float* const q_;
  float* const y_;
  const Part keys_, values_;
  const int64_t batch_, steps_;
  const int64_t shared_, together_;  // heads of a group; those that are rows of one product, where there is one step
  const bool packs_;
  const int64_t block_, blocks_;  // queries at a time
  const int64_t *const starts_, *const lengths_;
  const TBlob* mask_ = nullptr;
  const float* sink_ = nullptr;
  const int64_t* sources_ = nullptr;  // (batch, length)
};

void Attention(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  const int dtype = args.in[1].dtype;
  const bool known = dtype == kFloat32 || dtype == kFloat16 || dtype == kInt8 || dtype == kUint8;
  MXNET_CHECK_KIND(known && dtype == args.in[2].dtype && args.param<CachedAttentionParam>().packed == (dtype == kUint8), Type)
      << "[_cached_attention] keys and values of " << DTypeName(dtype) << " and " << DTypeName(args.in[2].dtype)
      << "; accepted: float32, float16, int8, and uint8 with `packed`";
  Ran("attention to a cache", RanAt::kNone);
  const CachedHeads heads(args);
  const int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, heads.Work()));
  ParallelFor(heads.Items(), grain, [&](int64_t begin, int64_t end) {
    static thread_local CachedRoom room;
    room.packed = -1;
    for (int64_t item = begin; item < end; ++item) heads.Run(item, &room);
  });
}

MXNET_REGISTER_OP(_cached_attention)
    .describe(
        "softmax(scale * query key^T) value for queries (batch, steps, heads x size) and keys and values of float32, float16, int8 or 4 "
        "bits, "
        "(batch, groups, length, size) or (batch, length, groups x size), of which example b has filled the first lengths[b]; its queries "
        "are those from place starts[b] on. Heads "
        "share the keys of a group. A query that sees no key gives 0.")
    .set_param<CachedAttentionParam>()
    .set_inputs({"query", "key", "value", "starts", "lengths", "mask", "sink", "sources"},
                [](const Attrs& a) {
                  const auto& p = a.get<CachedAttentionParam>();
                  return 5 + p.with_mask + p.with_sink + p.with_sources;
                })
    .set_list_inputs([](const Attrs& a) {
      const auto& p = a.get<CachedAttentionParam>();
      std::vector<std::string> names = {"query", "key", "value", "starts", "lengths"};
      if (p.with_mask) names.push_back("mask");
      if (p.with_sink) names.push_back("sink");
      if (p.with_sources) names.push_back("sources");
      return names;
    })
    .set_dtypes({kFloat32})
    .set_infer_shape(AttentionShape)
    .set_infer_type(AttentionType)
    .set_flops([](const Attrs&, Span<const TBlob> in, Span<const TBlob>) {
      return 4.0 * static_cast<double>(in[0].Size()) * static_cast<double>(in[1].shape[in[1].shape.ndim() - 2]);
    })
    .set_kernel([](KernelArgs& args) { OnHost(args, Attention); });

}  // namespace
}  // namespace nn
}  // namespace mxnet
