// Layers on 8-bit integers through oneDNN: sums in 32 bits, scaled before they are written.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/cpu_limit.h"
#include "base/mix.h"
#include "base/ran.h"
#include "base/threads/library_threads.h"
#include "base/threads/omp.h"
#include "operator/nn/common/fused.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/onednn/onednn_common.h"
#include "operator/quantized/bytes.h"
#include "operator/quantized/packed_layer.h"
#include "operator/quantized/quantized.h"
#include "operator/quantized_fused/fused_layer.h"

namespace mxnet {
namespace quantized {
namespace {

using nn::Key;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;
using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

struct LayerEntry : nn::CacheEntry {
  dnnl::primitive primitive;
  nn::Operand src, weight, dst, bias;
  dnnl::memory workspace, scale, scales, dst_step, src_zero, dst_zero;
  RanPart ran;
};

Type TypeOf(int dtype) {
  switch (dtype) {
    case kUint8: return Type::u8;
    case kInt32: return Type::s32;
    case kFloat32: return Type::f32;
    default: return Type::s8;
  }
}

bool HasStep(const LayerCall& call) { return call.dst_type == kInt8 || call.dst_type == kUint8; }

/* Functions of values take these as they are. */
bool CountsSteps(const LayerCall& call) { return !call.post && (HasStep(call) || call.between); }

/* oneDNN adds the zero point before it rounds, which moves ties: results are whole by then. */
bool RoundsFirst(const LayerCall& call) { return CountsSteps(call) && HasStep(call) && call.dst_zero != 0; }

/* The call with values counted in steps, as SumsFinish has them. Its arrays of filters lie in the
 * workspace. The step of `between` becomes what its whole numbers are multiplied by. */
LayerCall InSteps(KernelArgs& args, LayerCall call) {
  const float step = HasStep(call) ? call.dst_step : 1, unit = call.between ? call.between->step : step;
  const auto counted = [&](const float* values, float by) {
    float* made = nn::Workspace<float>(args, call.dims.filters);
    for (int64_t i = 0; i < call.dims.filters; ++i) made[i] = values[i] / by;
    return made;
  };
  if (call.scales)
    call.scales = counted(call.scales, unit);
  else
    call.scale /= unit;
  if (call.bias) call.bias = counted(call.bias, call.bias_last ? step : unit);
  call.dst_step = 1;
  constexpr float kMost = std::numeric_limits<float>::max();
  for (float* value : {&call.addend_step, &call.low, &call.high})
    *value = std::min(kMost, std::max(-kMost, *value / step));  // oneDNN takes no infinity
  if (call.between) call.between->step = unit / step;
  return call;
}

Tag DataTag(int nd, bool last) {
  if (nd == 0) return Tag::ab;
  if (nd == 1) return last ? Tag::nwc : Tag::ncw;
  if (nd == 2) return last ? Tag::nhwc : Tag::nchw;
  return last ? Tag::ndhwc : Tag::ncdhw;
}

constexpr int kBetweenOps = 3;

/* `places`: spatial dimensions of the result. */
dnnl::primitive_attr AttrOf(const LayerCall& call, int places) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_scales_mask(DNNL_ARG_SRC, 0);
  if (call.scales) attr.set_scales_mask(DNNL_ARG_WEIGHTS, call.dims.groups > 1 ? 3 : 1);
  if (HasStep(call) && !CountsSteps(call)) attr.set_scales_mask(DNNL_ARG_DST, 0);
  if (call.src_zero) attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  if (call.dst_zero) attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  using A = dnnl::algorithm;
  dnnl::post_ops after;
  if (call.between) {
    const Affine& r = *call.between;
    const ByteLimits limits = LimitsOf(r.dtype);
    const auto zero = static_cast<float>(r.zero);
    after.append_eltwise(A::eltwise_round, 0.f, 0.f);
    after.append_eltwise(A::eltwise_clip, limits.low - zero, limits.high - zero);
    after.append_eltwise(A::eltwise_linear, r.step, 0.f);
    if (call.bias_last) {
      Dims dims(static_cast<size_t>(places + 2), 1);
      dims[1] = call.dims.filters;
      after.append_binary(A::binary_add, Desc(dims, Type::f32, DataTag(places, false)));
    }
  }
  if (call.accumulate) after.append_sum(call.addend_step, call.addend_zero, TypeOf(call.addend_type));
  if (call.relu) after.append_eltwise(A::eltwise_relu, 0.f, 0.f);
  nn::AppendPost(call.post, &after);
  if (call.cuts) after.append_eltwise(A::eltwise_clip, call.low, call.high);
  if (RoundsFirst(call)) after.append_eltwise(A::eltwise_round, 0.f, 0.f);
  attr.set_post_ops(after);
  return attr;
}

template <typename Primitive>
void Finish(LayerEntry* entry, const typename Primitive::primitive_desc& pd, const Desc& src, const Desc& weight, const Desc& dst,
            int64_t filters) {
  dnnl::engine& engine = nn::OnednnEngine();
  entry->primitive = Primitive(pd);
  entry->ran = nn::OnednnName(pd);
  entry->src.Init(src, pd.src_desc());
  entry->weight.Init(weight, pd.weights_desc());
  entry->dst.Init(dst, pd.dst_desc());
  const Desc bias(Dims{filters}, Type::f32, Tag::a);
  entry->bias.Init(bias, bias);
  entry->workspace = dnnl::memory(pd.scratchpad_desc(), engine, nullptr);
  const Desc one(Dims{1}, Type::f32, Tag::a);
  entry->scale = dnnl::memory(one, engine, nullptr);
  entry->scales = dnnl::memory(bias, engine, nullptr);
  entry->dst_step = dnnl::memory(one, engine, nullptr);
  const Desc whole(Dims{1}, Type::s32, Tag::a);
  entry->src_zero = dnnl::memory(whole, engine, nullptr);
  entry->dst_zero = dnnl::memory(whole, engine, nullptr);
}

Tag WeightTag(int nd, bool groups, bool last) {
  if (groups) {
    if (nd == 1) return last ? Tag::abdc : Tag::goiw;
    if (nd == 2) return last ? Tag::abdec : Tag::goihw;
    return last ? Tag::abdefc : Tag::goidhw;
  }
  if (nd == 1) return last ? Tag::owi : Tag::oiw;
  if (nd == 2) return last ? Tag::ohwi : Tag::oihw;
  return last ? Tag::odhwi : Tag::oidhw;
}

std::unique_ptr<nn::CacheEntry> MakeConvolution(const LayerCall& call) {
  const nn::ConvDims& d = call.dims;
  int first = 0;
  while (first < 2 && d.in[first] == 1 && d.out[first] == 1 && d.kernel[first] == 1 && d.pad[first] == 0) ++first;
  const int nd = 3 - first;
  Dims src_dims{d.batch, d.channels}, dst_dims{d.batch, d.filters}, weight_dims, stride, dilate, pad, pad_end;
  if (d.groups > 1)
    weight_dims = {d.groups, d.filters / d.groups, d.channels / d.groups};
  else
    weight_dims = {d.filters, d.channels};
  for (int i = first; i < 3; ++i) {
    src_dims.push_back(d.in[i]);
    dst_dims.push_back(d.out[i]);
    weight_dims.push_back(d.kernel[i]);
    stride.push_back(d.stride[i]);
    dilate.push_back(d.dilate[i] - 1);
    pad.push_back(d.pad[i]);
    pad_end.push_back((d.out[i] - 1) * d.stride[i] + (d.kernel[i] - 1) * d.dilate[i] + 1 - d.in[i] - d.pad[i]);
  }
  const Type src_type = TypeOf(call.src_type), dst_type = TypeOf(call.dst_type);
  const Desc src(src_dims, src_type, DataTag(nd, true)), dst(dst_dims, dst_type, DataTag(nd, true)),
      weight(weight_dims, Type::s8, Tag::any);
  const Desc bias(Dims{d.filters}, Type::f32, Tag::a);
  using Forward = dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto direct = dnnl::algorithm::convolution_direct;
  dnnl::engine& engine = nn::OnednnEngine();
  const Forward::primitive_desc pd =
      call.bias && !call.bias_last
          ? Forward::primitive_desc(engine, kind, direct, src, weight, bias, dst, stride, dilate, pad, pad_end, AttrOf(call, nd))
          : Forward::primitive_desc(engine, kind, direct, src, weight, dst, stride, dilate, pad, pad_end, AttrOf(call, nd));
  auto entry = std::make_unique<LayerEntry>();
  Finish<Forward>(entry.get(), pd, Desc(src_dims, src_type, DataTag(nd, call.src.channels_last)),
                  Desc(weight_dims, Type::s8, WeightTag(nd, d.groups > 1, call.weight.channels_last)),
                  Desc(dst_dims, dst_type, DataTag(nd, call.dst.channels_last)), d.filters);
  return entry;
}

std::unique_ptr<nn::CacheEntry> MakeDense(const LayerCall& call) {
  const nn::ConvDims& d = call.dims;
  const Dims src_dims{d.batch, d.channels}, weight_dims{d.filters, d.channels}, dst_dims{d.batch, d.filters};
  const Desc src(src_dims, TypeOf(call.src_type), Tag::ab), dst(dst_dims, TypeOf(call.dst_type), Tag::ab);
  const Desc weight(weight_dims, Type::s8, Tag::any), bias(Dims{d.filters}, Type::f32, Tag::a);
  using Forward = dnnl::inner_product_forward;
  const auto kind = dnnl::prop_kind::forward_inference;
  dnnl::engine& engine = nn::OnednnEngine();
  const Forward::primitive_desc pd = call.bias ? Forward::primitive_desc(engine, kind, src, weight, bias, dst, AttrOf(call, 0))
                                               : Forward::primitive_desc(engine, kind, src, weight, dst, AttrOf(call, 0));
  auto entry = std::make_unique<LayerEntry>();
  Finish<Forward>(entry.get(), pd, src, Desc(weight_dims, Type::s8, Tag::ab), dst, d.filters);
  return entry;
}

void AddForm(const LayerCall& call, Key* key) {
  key->Add(call.scales != nullptr)
      .Add(call.src_zero != 0)
      .Add(call.dst_zero != 0)
      .Add(CountsSteps(call))
      .Add(call.addend_zero)
      .Add(call.cuts);
  key->Add(static_cast<int>(call.post.kind)).Add(call.post.a).Add(call.post.b);
  key->Add(call.low).Add(call.high).Add(call.between.has_value());
  if (call.between) key->Add(call.between->dtype).Add(call.between->step).Add(call.between->zero);
}

Key KeyOf(const LayerCall& call, int team) {
  Key key;
  key.Add('q').Add(call.dims).Add(call.dense).Add(call.src_type).Add(call.dst_type).Add(call.src.channels_last);
  key.Add(call.weight.channels_last).Add(call.dst.channels_last).Add(call.bias != nullptr).Add(call.accumulate).Add(call.relu);
  key.Add(call.addend_type).Add(call.addend_step).Add(team);
  AddForm(call, &key);
  return key;
}

int TeamFor(const LayerCall& call) {
  const nn::ConvDims& d = call.dims;
  const double products =
      static_cast<double>(d.batch * d.filters * d.OutSize()) * static_cast<double>(d.channels / d.groups * d.KernelSize());
  return LibraryTeam(products, OmpMaxThreads());
}

bool Execute(KernelArgs& args, const LayerCall& call, int team, const Key& key) {
  OmpScope threads(team);
  auto* entry = static_cast<LayerEntry*>(nn::CachedEntry(key, [&] { return call.dense ? MakeDense(call) : MakeConvolution(call); }));
  if (!entry || (call.accumulate && entry->dst.differs)) return false;
  Ran(entry->ran);
  const size_t workspace_bytes = entry->workspace.get_desc().get_size();
  if (workspace_bytes) entry->workspace.set_data_handle(args.workspace(workspace_bytes));
  float scale = call.scale, dst_step = call.dst_step;
  entry->scale.set_data_handle(&scale);
  entry->dst_step.set_data_handle(&dst_step);
  std::unordered_map<int, dnnl::memory> arguments;
  if (workspace_bytes) arguments.emplace(DNNL_ARG_SCRATCHPAD, entry->workspace);
  arguments.emplace(DNNL_ARG_SRC, entry->src.Input(args, call.src.ptr));
  const uint64_t sums = static_cast<uint64_t>(call.src_type) << 1 | (call.src_zero != 0);  // of weights, that stand behind them
  arguments.emplace(DNNL_ARG_WEIGHTS, nn::Weight(args, &entry->weight, call.weight.ptr, 1, sums));
  if (call.bias) {
    entry->bias.user.set_data_handle(const_cast<float*>(call.bias));
    arguments.emplace(call.bias_last ? DNNL_ARG_ATTR_MULTIPLE_POST_OP(kBetweenOps) | DNNL_ARG_SRC_1 : DNNL_ARG_BIAS, entry->bias.user);
  }
  arguments.emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, entry->scale);
  if (call.scales) {
    entry->scales.set_data_handle(const_cast<float*>(call.scales));
    arguments.emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, entry->scales);
  }
  if (HasStep(call) && !CountsSteps(call)) arguments.emplace(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, entry->dst_step);
  int32_t src_zero = call.src_zero, dst_zero = call.dst_zero;
  entry->src_zero.set_data_handle(&src_zero);
  entry->dst_zero.set_data_handle(&dst_zero);
  if (src_zero) arguments.emplace(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, entry->src_zero);
  if (dst_zero) arguments.emplace(DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, entry->dst_zero);
  arguments.emplace(DNNL_ARG_DST, entry->dst.Output(args, call.dst.ptr));
  entry->primitive.execute(nn::OnednnStream(), arguments);
  entry->dst.StoreOutput();
  nn::OnednnStream().wait();
  return true;
}

/*
 * Layers of ever new numbers of rows: of dense layers, or images of a batch.
 *
 * To make a primitive takes up to a millisecond, which is more than most of them compute. So one is
 * made when a number of rows comes for the second time to the same weights: a model may have many
 * layers of one form. Until then the rows are computed in pieces, by a primitive that is there for
 * another number of them; the last piece may be filled up. Images of small layers are some times
 * more often, for a plan may go over a batch in parts, each of which asks.
 */
struct Rows {
  int64_t count;
  size_t in_bytes, out_bytes;  // of a row
  bool along_width;            // of a dense layer that is a convolution of one line; else of the batch
  bool fills;                  // rows are small
  double products;             // of a row
  void Set(int64_t rows, LayerCall* call) const {
    if (along_width)
      call->dims.in[2] = call->dims.out[2] = rows;
    else
      call->dims.batch = rows;
  }
};

Rows RowsOf(const LayerCall& call) {
  const nn::ConvDims& d = call.dims;
  const auto channels = static_cast<size_t>(d.channels), filters = static_cast<size_t>(d.filters) * DTypeSize(call.dst_type);
  const bool one_line = d.batch == 1 && d.in[0] == 1 && d.in[1] == 1 && d.in[2] == d.out[2] && d.KernelSize() == 1 && d.stride[2] == 1 &&
                        d.pad[2] == 0 && call.src.channels_last && call.dst.channels_last;
  const double products = static_cast<double>(d.channels / d.groups * d.KernelSize()) * static_cast<double>(d.filters);
  if (!call.dense && one_line) return {d.in[2], channels, filters, true, true, products};
  return {d.batch,    channels * static_cast<size_t>(d.InSize()), filters * static_cast<size_t>(d.OutSize()), false,
          call.dense, products * static_cast<double>(d.OutSize())};
}

class NewRows {
 public:
  /* The rows of a piece; 0: none fit. */
  int64_t PieceFor(const LayerCall& call, const Rows& rows) {
    LayerCall any = call;
    rows.Set(0, &any);
    std::vector<int64_t>& made = made_[KeyOf(any, 0).bytes()];
    if (std::find(made.begin(), made.end(), rows.count) != made.end()) return 0;
    const int asks = ++asked_[Mix(std::hash<std::string>()(KeyOf(call, 0).bytes()), Address(call.weight.ptr))];
    int64_t best = 0, least = kMostWork * rows.count;
    for (const int64_t piece : made) {
      const int64_t pieces = (rows.count + piece - 1) / piece, work = pieces * piece;
      const bool is_cheap = asks <= kMostAsks && static_cast<double>(work - rows.count) * rows.products <= kCheap,
                 fits = asks == 1 ? rows.fills || is_cheap || work == rows.count : !rows.fills && is_cheap;
      if (fits && pieces <= kMostPieces && work <= least) best = piece, least = work;
    }
    if (best == 0) made.push_back(rows.count);
    if (asked_.size() > kMostAsked) asked_.clear(), made_.clear();
    return best;
  }

 private:
  static constexpr int64_t kMostWork = 3, kMostPieces = 8;
  static constexpr int kMostAsks = 8;
  static constexpr double kCheap = 2e7;  // products that take less than a primitive is made in
  static constexpr size_t kMostAsked = 16384;
  static uint64_t Address(const void* at) { return reinterpret_cast<uintptr_t>(at); }
  std::unordered_map<std::string, std::vector<int64_t>> made_;  // by all but the rows
  std::unordered_map<uint64_t, int> asked_;
};

bool InPieces(KernelArgs& args, const LayerCall& call, const Rows& rows, int64_t piece) {
  LayerCall part = call;
  rows.Set(piece, &part);
  const int team = TeamFor(part);
  const Key key = KeyOf(part, team);
  const auto copy = [](char* to, const char* from, size_t bytes, size_t room) {
    std::memset(std::copy_n(from, bytes, to), 0, room - bytes);
  };
  for (int64_t row = 0; row < rows.count; row += piece) {
    char* const src = static_cast<char*>(call.src.ptr) + static_cast<size_t>(row) * rows.in_bytes;
    char* const dst = static_cast<char*>(call.dst.ptr) + static_cast<size_t>(row) * rows.out_bytes;
    const auto own = static_cast<size_t>(std::min(piece, rows.count - row)), room = static_cast<size_t>(piece);
    part.src.ptr = src, part.dst.ptr = dst;
    if (own < room) {
      char* const in = static_cast<char*>(args.workspace(room * rows.in_bytes));
      char* const out = static_cast<char*>(args.workspace(room * rows.out_bytes));
      copy(in, src, own * rows.in_bytes, room * rows.in_bytes);
      if (call.accumulate) copy(out, dst, own * rows.out_bytes, room * rows.out_bytes);
      part.src.ptr = in, part.dst.ptr = out;
    }
    if (!Execute(args, part, team, key)) return false;
    if (own < room) std::copy_n(static_cast<const char*>(part.dst.ptr), own * rows.out_bytes, dst);
  }
  return true;
}

bool Run(KernelArgs& args, const LayerCall& given) {
  const PackedCall ours{given, 1, {}, nullptr};
  if (ColumnsBeatByteProducts(ours)) return false;
  if (HasAmx() ? AmxBeatsByteProducts(args, ours) : TilesBeatByteProducts(args, ours) || PixelsBeatByteProducts(args, ours)) return false;
  if (given.addend) nn::BeginWithAddend(*given.addend, args.out[0]);
  const LayerCall call = CountsSteps(given) ? InSteps(args, given) : given;
  const int team = TeamFor(call);
  const Key key = KeyOf(call, team);
  if (!nn::HasEntry(key)) {
    thread_local NewRows new_rows;
    const Rows rows = RowsOf(call);
    if (const int64_t piece = new_rows.PieceFor(call, rows)) return InPieces(args, call, rows, piece);
  }
  return Execute(args, call, team, key);
}

[[maybe_unused]] const bool linked = [] {
  if (nn::AddsBytesExactly()) g_fused_layer = Run;
  return true;
}();

}  // namespace
}  // namespace quantized
}  // namespace mxnet
