// _npi_pad: entries around an array of any number of dimensions, one dimension after the other.
#include <algorithm>
#include <cstring>

#include "base/copy_run.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/indexing/index_common.h"
#include "operator/init/fill.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move.h"
#include "operator/nodes/padding.h"
#include "operator/nodes/quantize_nodes.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param_field.h"
#include "operator/record/traits.h"
#include "operator/reduce/reduce.h"
#include "rtc/loop.h"

namespace mxnet {

// ((before, behind), ...), one pair for each dimension.
struct Widths {
  std::vector<int64_t> values;
  bool operator==(const Widths& o) const { return values == o.values; }
};
std::ostream& operator<<(std::ostream& os, const Widths& w) {
  os << '[';
  for (size_t i = 0; i + 1 < w.values.size(); i += 2) os << (i ? "," : "") << '[' << w.values[i] << ',' << w.values[i + 1] << ']';
  return os << ']';
}
/* Pairs in any brackets; sets failbit where a bracket does not hold two numbers. */
std::istream& operator>>(std::istream& is, Widths& w) {
  std::vector<int64_t> values;
  int depth = 0, in_pair = 0;
  for (int c = (is >> std::ws).peek(); c != EOF; c = (is >> std::ws).peek()) {
    const bool open = c == '(' || c == '[', close = c == ')' || c == ']';
    if (open || close) {
      is.get();
      if (close && depth == 2 && in_pair != 2) is.setstate(std::ios::failbit);
      depth += open ? 1 : -1;
      in_pair = 0;
      if (depth > 2 || depth < 0) is.setstate(std::ios::failbit);
      if (!is || depth == 0) break;
    } else if (c == ',') {
      is.get();
    } else {
      int64_t v;
      if (depth != 2 || !(is >> v)) {
        is.setstate(std::ios::failbit);
        return is;
      }
      values.push_back(v);
      ++in_pair;
    }
  }
  if (!is.bad() && is.eof() && depth == 0 && values.size() % 2 == 0) is.clear();
  if (depth != 0) is.setstate(std::ios::failbit);
  w.values = std::move(values);
  return is;
}

}  // namespace mxnet

namespace dmlc {
namespace parameter {
template <>
class FieldEntry<::mxnet::Widths> : public FieldEntryBase<FieldEntry<::mxnet::Widths>, ::mxnet::Widths> {
 public:
  FieldEntry() { this->type_ = "tuple of <Shape(tuple)>"; }
};
}  // namespace parameter
}  // namespace dmlc

namespace mxnet {

MXNET_DEFINE_FIELD(Widths);

namespace {

// As in gpu_pad_axis.cuh.
enum Mode : int { kConstant = 0, kEdge = 1, kReflect = 2, kSymmetric = 3, kMaximum = 4, kMinimum = 5 };

struct NumpyPadParam : public Parameter<NumpyPadParam> {
  Widths pad_width;
  int mode;
  double constant_values;
  double constant_value;
  std::string reflect_type;
  MXNET_DECLARE_PARAM(NumpyPadParam) {
    MXNET_FIELD(pad_width).describe("Entries before and behind each dimension: ((before, behind), ...).");
    MXNET_FIELD(mode)
        .set_default(static_cast<int>(kConstant))
        .add_enum("constant", static_cast<int>(kConstant))
        .add_enum("edge", static_cast<int>(kEdge))
        .add_enum("maximum", static_cast<int>(kMaximum))
        .add_enum("minimum", static_cast<int>(kMinimum))
        .add_enum("reflect", static_cast<int>(kReflect))
        .add_enum("symmetric", static_cast<int>(kSymmetric))
        .describe("What stands there: one value, the nearest entry, the largest or smallest of the line, or the array mirrored.");
    MXNET_FIELD(constant_values).set_default(0).describe("The value for mode constant.");
    MXNET_FIELD(constant_value).set_default(0).describe("Older name of `constant_values`, read where that is 0.");
    MXNET_FIELD(reflect_type).set_default("even").describe("How modes reflect and symmetric mirror: only even.");
  }
};
MXNET_REGISTER_PARAM(NumpyPadParam);

bool PadShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<NumpyPadParam>();
  const std::vector<int64_t>& w = p.pad_width.values;
  const Shape& data = (*in)[0];
  MXNET_CHECK_KIND(p.reflect_type == "even", Value) << "[" << attrs.op->name << "] reflect_type='" << p.reflect_type << "'; accepted: even";
  if (!data.ndim_known()) return false;
  MXNET_CHECK_KIND(static_cast<int>(w.size()) == 2 * data.ndim(), Value)
      << "[" << attrs.op->name << "] pad_width has " << w.size() / 2 << " pairs; data of shape " << data << " needs " << data.ndim();
  Shape to = data;
  for (int i = 0; i < data.ndim(); ++i) {
    MXNET_CHECK_KIND(w[2 * i] >= 0 && w[2 * i + 1] >= 0, Value)
        << "[" << attrs.op->name << "] pad_width (" << w[2 * i] << ", " << w[2 * i + 1] << "); it must not be negative";
    if (data[i] < 0) continue;
    int64_t size = 0;
    MXNET_CHECK_KIND(!__builtin_add_overflow(w[2 * i], w[2 * i + 1], &size) && !__builtin_add_overflow(size, data[i], &to[i]), Value)
        << "[" << attrs.op->name << "] pad_width is too large";
    MXNET_CHECK_KIND(p.mode == kConstant || data[i] > 0 || size == 0, Value)
        << "[" << attrs.op->name << "] dimension " << i << " of " << data << " is empty; only mode constant can pad it";
  }
  AssignShape(attrs, "the result", &(*out)[0], to);
  return data.known();
}

// The entry of a dimension that place s (0: the first entry) shows.
int64_t Shown(int mode, int64_t s, int64_t size) {
  if (s >= 0 && s < size) return s;
  if (mode == kConstant || size == 1) return mode == kConstant ? -1 : 0;
  if (mode == kEdge) return s < 0 ? 0 : size - 1;
  if (mode == kMaximum || mode == kMinimum) return size;  // the row behind the last one
  const int64_t period = mode == kReflect ? 2 * (size - 1) : 2 * size;
  const int64_t r = (s % period + period) % period;
  return r < size ? r : (mode == kReflect ? period : period - 1) - r;
}

// One dimension of an array (outer, size, inner), padded to (outer, before + size + behind, inner).
struct Step {
  int64_t outer, size, inner, before, large;
};

void AddStep(const Step& s, rtc::Arguments* args) { args->Add(s.size).Add(s.large).Add(s.before).Add(s.inner); }

// `extra`: small has one more entry behind each line, which places outside show.
void PadAxis(const RunContext& run, const Step& s, int mode, bool extra, const TBlob& small, const TBlob& large, double value) {
  const int64_t small_size = s.size + (extra ? 1 : 0);
  if (run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(small.dptr).Add(large.dptr).Add(small_size);
    AddStep(s, &args);
    args.Add(value);
    return rtc::LaunchItems(run, {"operator/indexing/gpu_pad_axis.cuh", "pad_axis", {small.dtype}, {mode}}, s.outer * s.large * s.inner,
                            &args);
  }
  const int64_t row = s.inner * static_cast<int64_t>(DTypeSize(small.dtype));
  std::vector<int64_t> shown(static_cast<size_t>(s.large));
  for (int64_t i = 0; i < s.large; ++i) shown[static_cast<size_t>(i)] = Shown(mode, i - s.before, s.size);
  CopyRows(small.dptr, small_size * row, large.data<char>() + s.before * row, s.large * row, s.size * row, s.outer);
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(1, (s.large - s.size) * s.inner));
  ParallelFor(s.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t o = begin; o < end; ++o) {
      const char* from = small.data<char>() + o * small_size * row;
      char* to = large.data<char>() + o * s.large * row;
      for (int64_t i = 0; i < s.large; ++i) {
        if (i == s.before) i += s.size;
        if (i < s.large) std::memcpy(to + i * row, from + shown[static_cast<size_t>(i)] * row, row);
      }
    }
  });
}

// Mode constant on the CPU, all dimensions at once: rows of the last dimension between entries of
// the value, or nothing but the value.
void PadConstant(const std::vector<int64_t>& widths, const TBlob& small, const TBlob& large, double value) {
  const int ndim = small.shape.ndim();
  const Shape &from = small.shape, &to = large.shape;
  const int64_t bytes = static_cast<int64_t>(DTypeSize(small.dtype));
  const int64_t before = widths[2 * ndim - 2] * bytes, body = from[ndim - 1] * bytes, line = to[ndim - 1] * bytes;
  std::vector<char> filled(static_cast<size_t>(line));
  TBlob pattern = large;
  pattern.shape = Shape({to[ndim - 1]});
  pattern.dptr = filled.data();
  FillValue(pattern, value);
  const int64_t rows = to.Prod(0, ndim - 1),
                grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(1, to[ndim - 1]));
  ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, row = 0, step = 1;  // of small
      bool inside = true;
      for (int d = ndim - 2; d >= 0; --d) {
        const int64_t at = rest % to[d] - widths[2 * d];
        rest /= to[d];
        inside = inside && at >= 0 && at < from[d];
        row += at * step;
        step *= from[d];
      }
      char* out = large.data<char>() + r * line;
      if (!inside) {
        std::memcpy(out, filled.data(), line);
        continue;
      }
      std::memcpy(out, filled.data(), before);
      CopyRun(out + before, small.data<char>() + row * body, body);
      std::memcpy(out + before + body, filled.data(), line - before - body);
    }
  });
}

// Entries at the two ends of a line.
void PadEnds(const std::vector<int64_t>& ends, int64_t before, int64_t inside, int64_t piece, const char* from, char* to) {
  OfLength(piece, [&](auto bytes) {
    for (size_t i = 0; i < ends.size(); ++i) {
      const int64_t at = static_cast<int64_t>(i) < before ? static_cast<int64_t>(i) : static_cast<int64_t>(i) + inside;
      std::memcpy(to + at * bytes, from + ends[i] * bytes, static_cast<size_t>(bytes));
    }
  });
}

// Modes that show entries of the array, on the CPU, all dimensions at once: every line of the last
// dimension that grows comes from one line of the array.
void PadShown(int mode, const std::vector<int64_t>& widths, const TBlob& small, const TBlob& large) {
  const Shape &from = small.shape, &to = large.shape;
  int last = small.shape.ndim() - 1;
  while (widths[2 * last] + widths[2 * last + 1] == 0) --last;
  const int64_t piece = from.Prod(last + 1, from.ndim()) * static_cast<int64_t>(DTypeSize(small.dtype));
  const int64_t before = widths[2 * last], size = from[last], body = size * piece, line = to[last] * piece, rows = to.Prod(0, last);
  std::vector<int64_t> ends;
  for (int64_t i = 0; i < before; ++i) ends.push_back(Shown(mode, i - before, size));
  for (int64_t i = before + size; i < to[last]; ++i) ends.push_back(Shown(mode, i - before, size));
  std::vector<std::vector<int64_t>> shown(static_cast<size_t>(last));
  for (int d = 0; d < last; ++d)
    for (int64_t i = 0; i < to[d]; ++i) shown[static_cast<size_t>(d)].push_back(Shown(mode, i - widths[2 * d], from[d]));
  if (rows == 1) {  // a long line goes in parts
    CopyRows(small.dptr, body, large.data<char>() + before * piece, body, body, 1);
    return PadEnds(ends, before, size, piece, small.data<char>(), large.data<char>());
  }
  const int64_t grain = std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(1, to.Prod(last, to.ndim())));
  ParallelFor(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r, row = 0, step = 1;  // of small
      for (int d = last - 1; d >= 0; --d) {
        row += shown[static_cast<size_t>(d)][static_cast<size_t>(rest % to[d])] * step;
        rest /= to[d];
        step *= from[d];
      }
      const char* in = small.data<char>() + row * body;
      char* out = large.data<char>() + r * line;
      CopyRun(out + before * piece, in, static_cast<size_t>(body));
      PadEnds(ends, before, size, piece, in, out);
    }
  });
}

// small = sums of large over the places that show an entry.
void PadAxisBack(KernelArgs& a, const Step& s, int mode, const TBlob& large, const TBlob& small) {
  if (a.run.ctx.is_gpu()) {
    rtc::Arguments args;
    args.Add(small.dptr).Add(large.dptr).Add(s.size);
    AddStep(s, &args);
    args.Add(0.0);
    return rtc::LaunchItems(a.run, {"operator/indexing/gpu_pad_axis.cuh", "pad_axis_backward", {small.dtype}, {mode}},
                            s.outer * s.size * s.inner, &args);
  }
  std::vector<int64_t> shown(static_cast<size_t>(s.large));
  for (int64_t i = 0; i < s.large; ++i) shown[static_cast<size_t>(i)] = Shown(mode, i - s.before, s.size);
  AddRows(a, large.dptr, s.outer, s.size, s.inner, shown.data(), s.large, small);  // those of -1 go nowhere
}

bool ChannelsLie(const TBlob& image) { return image.layout == Layout::kChannelsLast && image.shape.ndim() > 2; }

// The dimensions in their order in memory.
TBlob AsItLies(const TBlob& image) {
  TBlob lying = image;
  if (!ChannelsLie(image)) return lying;
  for (int d = 2; d < image.shape.ndim(); ++d) lying.shape[d - 1] = image.shape[d];
  lying.shape[image.shape.ndim() - 1] = image.shape[1];
  lying.layout = Layout::kPlain;
  return lying;
}

std::vector<int64_t> AsItLies(const std::vector<int64_t>& widths, const TBlob& image) {
  std::vector<int64_t> lying = widths;
  if (ChannelsLie(image)) std::rotate(lying.begin() + 2, lying.begin() + 4, lying.end());
  return lying;
}

// The dimensions that change, in order, for data of shape `small`. At each step those before it are
// padded.
std::vector<Step> Steps(const std::vector<int64_t>& widths, const Shape& small) {
  std::vector<Step> steps;
  Shape now = small;
  for (int d = 0; d < small.ndim(); ++d) {
    const int64_t before = widths[2 * d], behind = widths[2 * d + 1];
    if (before + behind == 0) continue;
    steps.push_back({now.Prod(0, d), now[d], now.Prod(d + 1, now.ndim()), before, before + now[d] + behind});
    now[d] = steps.back().large;
  }
  return steps;
}

// (outer, size + 1, inner): each line with its largest or smallest entry behind it.
TBlob WithExtreme(KernelArgs& a, const Step& s, int mode, const TBlob& data) {
  TBlob lines = data, extreme = data, longer = data;
  lines.shape = Shape({s.outer, s.size, s.inner});
  extreme.shape = Shape({s.outer, s.inner});
  extreme.dptr = a.workspace(extreme.Bytes());
  longer.shape = Shape({s.outer, s.size + 1, s.inner});
  longer.dptr = a.workspace(longer.Bytes());
  reduce::Reduce(a, mode == kMaximum ? reduce::kMax : reduce::kMin, lines, {0, 1, 0}, reduce::Finish(), false, extreme, OpReq::kWrite);
  const int64_t row = s.inner * static_cast<int64_t>(DTypeSize(data.dtype)), pitch = (s.size + 1) * row;
  CopyRows(a.run, data.dptr, s.size * row, longer.dptr, pitch, s.size * row, s.outer);
  CopyRows(a.run, extreme.dptr, row, longer.data<char>() + s.size * row, pitch, row, s.outer);
  return longer;
}

TBlob Piece(KernelArgs& a, const TBlob& like, const Shape& shape, bool last, const TBlob& out) {
  TBlob piece = like;
  piece.shape = shape;
  piece.dptr = last ? out.dptr : a.workspace(std::max<size_t>(piece.Bytes(), 1));
  return piece;
}

void Pad(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const auto& p = a.param<NumpyPadParam>();
  const double value = p.constant_values != 0 ? p.constant_values : p.constant_value;
  const bool extreme = p.mode == kMaximum || p.mode == kMinimum;
  const TBlob small = AsItLies(a.in[0]), large = AsItLies(a.out[0]);
  const std::vector<int64_t> widths = AsItLies(p.pad_width.values, a.in[0]);
  const std::vector<Step> steps = Steps(widths, small.shape);
  if (steps.empty()) return CopyThrough(a);
  if (small.Size() == 0) return FillValue(a.run, large, value);
  if (p.mode == kConstant && !a.run.ctx.is_gpu()) return PadConstant(widths, small, large, value);
  if (!extreme && !a.run.ctx.is_gpu()) return PadShown(p.mode, widths, small, large);
  TBlob now = small;
  for (const Step& s : steps) {
    const TBlob to = Piece(a, now, Shape({s.outer, s.large, s.inner}), &s == &steps.back(), large);
    PadAxis(a.run, s, p.mode, extreme, extreme ? WithExtreme(a, s, p.mode, now) : now, to, value);
    now = to;
  }
}

// [ograd, data] -> gradient of data
void PadBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull || a.out[0].Size() == 0) return;
  const auto& p = a.param<NumpyPadParam>();
  const TBlob small = AsItLies(a.out[0]);
  const std::vector<Step> steps = Steps(AsItLies(p.pad_width.values, a.out[0]), small.shape);
  if (steps.empty()) return CopyThrough(a);
  TBlob now = AsItLies(a.in[0]);
  for (auto s = steps.rbegin(); s != steps.rend(); ++s) {
    const TBlob to = Piece(a, now, Shape({s->outer, s->size, s->inner}), s + 1 == steps.rend(), small);
    PadAxisBack(a, *s, p.mode, now, to);
    now = to;
  }
}

std::vector<NodeEntry> PadGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const int mode = node->attrs->get<NumpyPadParam>().mode;
  MXNET_CHECK_KIND(mode != kMaximum && mode != kMinimum, Value)
      << "[_npi_pad] mode '" << (mode == kMaximum ? "maximum" : "minimum")
      << "' has no gradient; accepted while recording: constant, edge, reflect, symmetric";
  return {NodeEntry{MakeNodeLike("_backward_npi_pad", *node, {ograds[0], node->inputs[0]}), 0, 0}};
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("_npi_pad")
      .describe("The array with entries before and behind each dimension. Modes maximum and minimum have no gradient.")
      .set_param<NumpyPadParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(PadShape)
      .set_layout(LayoutRule::kChannelsLast)
      .set_trait(graph_ops::ByteImages{})
      .set_trait(ViewOf<ZerosAroundView>{[](const Attrs& a) {
        const auto& p = a.get<NumpyPadParam>();
        const bool zeros = p.mode == kConstant && p.constant_values == 0 && p.constant_value == 0;
        return zeros ? ZerosAroundView{p.pad_width.values} : ZerosAroundView();
      }})
      .set_gradient(PadGradient)
      .set_kernel(Pad);
  Op::Register("_backward_npi_pad")
      .describe("Gradient of _npi_pad.")
      .set_param<NumpyPadParam>()
      .set_inputs({"ograd", "data"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_layout(LayoutRule::kChannelsLast)
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        static const char* const modes[] = {"constant", "edge", "reflect", "symmetric"};
        const auto& p = node->attrs->get<NumpyPadParam>();
        std::ostringstream width;
        width << p.pad_width;
        return std::vector<NodeEntry>{MakeOp("_npi_pad", {ograds[0]}, {{"mode", modes[p.mode]}, {"pad_width", width.str()}}), NodeEntry{}};
      })
      .set_kernel(PadBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
