// Pad: values around an array.
#include <algorithm>
#include <cstring>

#include "base/copy_run.h"
#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/init/fill_cpu.h"
#include "operator/matrix/axes.h"
#include "operator/matrix/move_cpu.h"
#include "operator/nodes/padding.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/record/traits.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

enum PadMode : int { kConstant = 0, kEdge = 1, kReflect = 2 };

struct PadParam : public Parameter<PadParam> {
  int mode;
  Shape pad_width;
  double constant_value;
  MXNET_DECLARE_PARAM(PadParam) {
    MXNET_FIELD(mode)
        .add_enum("constant", static_cast<int>(kConstant))
        .add_enum("edge", static_cast<int>(kEdge))
        .add_enum("reflect", static_cast<int>(kReflect))
        .describe("What stands around the array: one value, its border, or the array mirrored at its border.");
    MXNET_FIELD(pad_width).describe(
        "Entries before and behind each dimension: (before0, behind0, before1, ...). The first two dimensions take none.");
    MXNET_FIELD(constant_value).set_default(0).describe("The value for mode constant.");
  }
};
MXNET_REGISTER_PARAM(PadParam);

bool PadShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<PadParam>();
  Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  const int n = data.ndim();
  MXNET_CHECK_KIND(n == 4 || n == 5, Value) << "[" << attrs.op->name << "] data has shape " << data << "; it needs 4 or 5 dimensions";
  MXNET_CHECK_KIND(p.pad_width.ndim() == 2 * n, Value)
      << "[" << attrs.op->name << "] pad_width " << p.pad_width << "; data of shape " << data << " needs " << 2 * n << " numbers";
  Shape to = data;
  for (int i = 0; i < n; ++i) {
    const int64_t before = p.pad_width[2 * i], behind = p.pad_width[2 * i + 1];
    MXNET_CHECK_KIND(before >= 0 && behind >= 0 && (i >= 2 || before + behind == 0), Value)
        << "[" << attrs.op->name << "] pad_width " << p.pad_width << "; numbers must not be negative and the first four must be 0";
    if (data[i] < 0) continue;
    MXNET_CHECK_KIND(p.mode != kReflect || std::max(before, behind) < std::max<int64_t>(data[i], 1), Value)
        << "[" << attrs.op->name << "] reflecting " << std::max(before, behind) << " entries of dimension " << i << " with size " << data[i]
        << "; it must be larger";
    MXNET_CHECK_KIND(p.mode == kConstant || data[i] > 0 || before + behind == 0, Value)
        << "[" << attrs.op->name << "] dimension " << i << " of " << data << " is empty";
    int64_t size = 0;
    MXNET_CHECK_KIND(!__builtin_add_overflow(before, behind, &size) && !__builtin_add_overflow(size, data[i], &to[i]), Value)
        << "[" << attrs.op->name << "] pad_width is too large";
  }
  AssignShape(attrs, "the result", &(*out)[0], to);
  for (int i = 0; i < n; ++i) {
    const int64_t size = (*out)[0][i] - p.pad_width[2 * i] - p.pad_width[2 * i + 1];
    if (data[i] < 0 && (*out)[0][i] >= 0 && size >= 0) data[i] = size;
  }
  return data.known();
}

// For each index of the padded dimension the one of the array that it shows; -1: the constant.
std::vector<int64_t> SourceIndices(const PadParam& p, int axis, int64_t size) {
  const int64_t before = p.pad_width[2 * axis], total = before + size + p.pad_width[2 * axis + 1];
  std::vector<int64_t> source(static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) {
    int64_t s = i - before;
    if (s < 0 || s >= size) {
      if (p.mode == kConstant)
        s = -1;
      else if (p.mode == kEdge)
        s = s < 0 ? 0 : size - 1;
      else
        s = s < 0 ? -s : 2 * (size - 1) - s;
    }
    source[static_cast<size_t>(i)] = s;
  }
  return source;
}

// Calls fn(row of the padded array, row of the array or -1) for every row, on several threads by
// image.
template <typename F>
void EachRow(const PadParam& p, const Shape& small, const Shape& large, F&& fn) {
  const int n = small.ndim();
  std::vector<std::vector<int64_t>> source(n);
  for (int i = 2; i < n - 1; ++i) source[i] = SourceIndices(p, i, small[i]);
  const int64_t planes = small[0] * small[1], rows = large.Prod(2, n - 1), small_rows = small.Prod(2, n - 1);
  ParallelFor(planes, std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(1, rows * large[n - 1])),
              [&](int64_t begin, int64_t end) {
                for (int64_t plane = begin; plane < end; ++plane)
                  for (int64_t r = 0; r < rows; ++r) {
                    int64_t from;
                    if (n == 4) {
                      from = source[2][static_cast<size_t>(r)];
                    } else {
                      const int64_t d = source[2][static_cast<size_t>(r / large[3])], h = source[3][static_cast<size_t>(r % large[3])];
                      from = d < 0 || h < 0 ? -1 : d * small[3] + h;
                    }
                    fn(plane * rows + r, from < 0 ? -1 : plane * small_rows + from);
                  }
              });
}

// Images count as volumes of depth 1. [small, large] sizes and the entries before, for the device's
// kernels.
rtc::Arguments DeviceArguments(const PadParam& p, const TBlob& small, const TBlob& large) {
  const int n = small.shape.ndim();
  rtc::Arguments args;
  args.Add(small.dptr).Add(large.dptr);
  for (int i = n - 3; i < n; ++i) {
    const bool spatial = i >= 2;
    args.Add(spatial ? small.shape[i] : int64_t{1})
        .Add(spatial ? large.shape[i] : int64_t{1})
        .Add(spatial ? p.pad_width[2 * i] : int64_t{0});
  }
  return args;
}
void PadOnDevice(KernelArgs& a, const PadParam& p) {
  rtc::Arguments args = DeviceArguments(p, a.in[0], a.out[0]);
  args.Add(p.constant_value);
  rtc::LaunchItems(a.run, {"operator/matrix/gpu_pad.cuh", "pad", {a.in[0].dtype}, {p.mode}}, a.out[0].Size(), &args);
}

void PadBackOnDevice(KernelArgs& a, const PadParam& p) {
  rtc::Arguments args = DeviceArguments(p, a.out[0], a.in[0]);
  rtc::LaunchItems(a.run, {"operator/matrix/gpu_pad.cuh", "pad_backward", {a.out[0].dtype}, {p.mode}}, a.out[0].Size(), &args);
}

void Pad(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  if (a.run.ctx.is_gpu()) return PadOnDevice(a, a.param<PadParam>());
  const auto& p = a.param<PadParam>();
  const Shape &small = a.in[0].shape, &large = a.out[0].shape;
  const int n = small.ndim();
  if (p.mode == kConstant) FillValue(a.out[0], p.constant_value);
  const std::vector<int64_t> columns = SourceIndices(p, n - 1, small[n - 1]);
  const int64_t left = p.pad_width[2 * n - 2], width = small[n - 1], wide = large[n - 1];
  const int64_t bytes = static_cast<int64_t>(DTypeSize(a.in[0].dtype));
  EachRow(p, small, large, [&](int64_t to_row, int64_t from_row) {
    if (from_row < 0) return;
    char* to = a.out[0].data<char>() + to_row * wide * bytes;
    const char* from = a.in[0].data<char>() + from_row * width * bytes;
    CopyRun(to + left * bytes, from, static_cast<size_t>(width * bytes));
    if (p.mode == kConstant) return;
    for (int64_t c = 0; c < left; ++c)
      std::memcpy(to + c * bytes, from + columns[static_cast<size_t>(c)] * bytes, static_cast<size_t>(bytes));
    for (int64_t c = left + width; c < wide; ++c)
      std::memcpy(to + c * bytes, from + columns[static_cast<size_t>(c)] * bytes, static_cast<size_t>(bytes));
  });
}

// [ograd, data] -> gradient of data: sums over the places where an element shows. Planes are
// separate, so threads never meet.
void PadBack(KernelArgs& a) {
  if (a.req[0] == OpReq::kNull) return;
  if (a.run.ctx.is_gpu()) return PadBackOnDevice(a, a.param<PadParam>());
  const auto& p = a.param<PadParam>();
  const Shape &large = a.in[0].shape, &small = a.out[0].shape;
  const int n = small.ndim();
  const std::vector<int64_t> columns = SourceIndices(p, n - 1, small[n - 1]);
  const int64_t width = small[n - 1], wide = large[n - 1];
  ZeroBytes(a.out[0].dptr, static_cast<int64_t>(a.out[0].Bytes()));
  VisitDType(a.out[0].dtype, a.attrs->op->name.c_str(), [&](auto tag) {
    using T = decltype(tag);
    EachRow(p, small, large, [&](int64_t from_row, int64_t to_row) {
      if (to_row < 0) return;
      const T* from = a.in[0].data<T>() + from_row * wide;
      T* to = a.out[0].data<T>() + to_row * width;
      for (int64_t c = 0; c < wide; ++c)
        if (columns[static_cast<size_t>(c)] >= 0) to[columns[static_cast<size_t>(c)]] = T(to[columns[static_cast<size_t>(c)]] + from[c]);
    });
  });
}

[[maybe_unused]] const bool registered = [] {
  Op::Register("Pad")
      .describe("Puts entries around the spatial dimensions of images (N, C, H, W) or volumes (N, C, D, H, W).")
      .alias("pad")
      .alias("_npx_pad")
      .set_param<PadParam>()
      .set_inputs({"data"})
      .set_dtypes(dtypes::kAll)
      .set_infer_shape(PadShape)
      .set_trait(ViewOf<ZerosAroundView>{[](const Attrs& a) {
        const auto& p = a.get<PadParam>();
        ZerosAroundView zeros;
        if (p.mode != kConstant || p.constant_value != 0) return zeros;
        for (int i = 0; i < p.pad_width.ndim(); ++i) zeros.widths.push_back(p.pad_width[i]);
        return zeros;
      }})
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        return std::vector<NodeEntry>{NodeEntry{MakeNodeLike("_backward_Pad", *node, {ograds[0], node->inputs[0]}), 0, 0}};
      })
      .set_kernel(Pad);
  Op::Register("_backward_Pad")
      .describe("Gradient of Pad.")
      .set_param<PadParam>()
      .set_inputs({"ograd", "data"})
      .set_dtypes(dtypes::kAll)
      .set_shape_only_from(1)
      .set_infer_shape(LikeInputsShape(1))
      .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
        static const char* const modes[] = {"constant", "edge", "reflect"};  // the constant has no part in the gradient, so it is 0 here
        const auto& p = node->attrs->get<PadParam>();
        return std::vector<NodeEntry>{MakeOp("Pad", {ograds[0]}, {{"mode", modes[p.mode]}, {"pad_width", p.pad_width.str()}}), NodeEntry{}};
      })
      .set_kernel(PadBack);
  return true;
}();

}  // namespace
}  // namespace mxnet
