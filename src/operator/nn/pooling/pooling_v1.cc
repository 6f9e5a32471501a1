// Pooling_v1: the Pooling of the first networks. It differs from Pooling in three ways: padding
// counts as 0 in maxima, all elements of a window that equal its maximum get its gradient, and
// averages always divide by the number of elements that a whole window has.
#include <algorithm>
#include <limits>

#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/pool_dims.h"
#include "operator/nn/common/window.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

struct PoolingV1Param : public Parameter<PoolingV1Param> {
  Shape kernel, stride, pad;
  int pool_type, pooling_convention;
  bool global_pool;
  MXNET_DECLARE_PARAM(PoolingV1Param) {
    MXNET_FIELD(kernel).set_default(Shape()).describe("Window: (h, w) or (d, h, w). Not needed with global_pool.");
    MXNET_FIELD(pool_type)
        .add_enum("max", kPoolMax)
        .add_enum("avg", kPoolAvg)
        .add_enum("sum", kPoolSum)
        .set_default(kPoolMax)
        .describe("What is taken of a window.");
    MXNET_FIELD(global_pool).set_default(false).describe("One window over the whole of each channel; kernel, stride and pad are ignored.");
    MXNET_FIELD(pooling_convention)
        .add_enum("full", 1)
        .add_enum("valid", 0)
        .set_default(0)
        .describe("Output size: valid rounds down, full rounds up.");
    MXNET_FIELD(stride).set_default(Shape()).describe("Step of the window; 1 in every dimension when not given.");
    MXNET_FIELD(pad).set_default(Shape()).describe("Padding on both sides; 0 when not given. Must be smaller than kernel.");
  }
};
MXNET_REGISTER_PARAM(PoolingV1Param);

namespace {

void Check(const Attrs& attrs, const PoolingV1Param& p, const Shape& data) {
  MXNET_CHECK_KIND(data.ndim() == 4 || data.ndim() == 5, Value)
      << Named(attrs) << "data has shape " << data << "; 4 or 5 dimensions are accepted";
  if (p.global_pool) return;
  const int nd = data.ndim() - 2;
  MXNET_CHECK_KIND(p.kernel.ndim() == nd, Value)
      << Named(attrs) << "kernel " << p.kernel << " for data of shape " << data << "; " << nd << " numbers are needed";
  for (const Shape* s : {&p.stride, &p.pad})
    MXNET_CHECK_KIND(s->ndim() <= 0 || s->ndim() >= nd, Value) << Named(attrs) << "stride and pad need " << nd << " numbers; given " << *s;
  for (int i = 0; i < nd; ++i) {
    const int64_t k = p.kernel[i], s = Or(p.stride, i, 1), pad = Or(p.pad, i, 0);
    MXNET_CHECK_KIND(k >= 1 && s >= 1 && k < (int64_t{1} << 31) && s < (int64_t{1} << 31), Value)
        << Named(attrs) << "kernel " << p.kernel << ", stride " << p.stride << "; every number must be at least 1";
    MXNET_CHECK_KIND(pad >= 0 && pad < (int64_t{1} << 31), Value) << Named(attrs) << "pad " << p.pad << "; no number may be negative";
    MXNET_CHECK_KIND(data[2 + i] < 0 || k <= data[2 + i] + 2 * pad, Value)
        << Named(attrs) << "kernel " << p.kernel << " exceeds data of shape " << data << " with padding " << pad;
  }
}

PoolDims DimsOf(const PoolingV1Param& p, const Shape& data) {
  PoolDims d;
  const int nd = data.ndim() - 2;
  d.batch = data[0], d.channels = data[1], d.type = p.pool_type;
  for (int i = 0; i < nd; ++i) {
    const int j = i + 3 - nd;
    d.in[j] = data[2 + i];
    d.kernel[j] = p.global_pool ? d.in[j] : p.kernel[i];
    d.stride[j] = p.global_pool ? 1 : Or(p.stride, i, 1);
    d.pad[j] = p.global_pool ? 0 : Or(p.pad, i, 0);
    const int64_t room = d.in[j] + 2 * d.pad[j] - d.kernel[j];
    d.out[j] = 1 + (p.pooling_convention == 1 ? (room + d.stride[j] - 1) / d.stride[j] : room / d.stride[j]);
  }
  return d;
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<PoolingV1Param>();
  Shape& data = (*in)[0];
  if (!data.ndim_known()) return false;
  Check(attrs, p, data);
  const PoolDims d = DimsOf(p, data);
  Shape expected(data.ndim());
  expected[0] = data[0], expected[1] = data[1];
  for (int i = 2; i < data.ndim(); ++i) expected[i] = data[i] < 0 && !p.global_pool ? Shape::kUnknownDim : d.out[i + 3 - data.ndim()];
  AssignShape(attrs, "output", &(*out)[0], expected);
  for (int i = 0; i < 2; ++i)
    if (data[i] < 0) data[i] = (*out)[0][i];
  return data.known() && (*out)[0].known();
}

// Elements [begin, end) of one side of window o, whether it touches the padding, and whether it
// lies behind it.
struct Reach {
  int64_t begin, end;
  bool padded, outside;
  Reach(const PoolDims& d, int side, int64_t o) {
    const int64_t from = o * d.stride[side] - d.pad[side];
    const int64_t to = std::min(from + d.kernel[side], d.in[side] + d.pad[side]);
    begin = std::max<int64_t>(0, from), end = std::min(to, d.in[side]);
    padded = from < 0 || to > d.in[side];
    outside = from >= to;
  }
};

double ScaleOf(const PoolDims& d) { return d.type == kPoolAvg ? 1.0 / static_cast<double>(d.kernel[0] * d.kernel[1] * d.kernel[2]) : 1.0; }

// f(position of the window in its plane, reach along each side)
template <typename F>
void EachWindow(const PoolDims& d, F&& f) {
  int64_t at = 0;
  for (int64_t i = 0; i < d.out[0]; ++i) {
    const Reach z(d, 0, i);
    for (int64_t j = 0; j < d.out[1]; ++j) {
      const Reach y(d, 1, j);
      for (int64_t k = 0; k < d.out[2]; ++k) f(at++, z, y, Reach(d, 2, k));
    }
  }
}

// f(position of an element in its plane) for a window's
template <typename F>
void EachElement(const PoolDims& d, const Reach& z, const Reach& y, const Reach& x, F&& f) {
  for (int64_t i = z.begin; i < z.end; ++i)
    for (int64_t j = y.begin; j < y.end; ++j)
      for (int64_t k = x.begin; k < x.end; ++k) f((i * d.in[1] + j) * d.in[2] + k);
}

template <typename F>
void EachPlane(const PoolDims& d, F&& f) {
  const int64_t work = d.OutSize() * d.kernel[0] * d.kernel[1] * d.kernel[2];
  ParallelFor(d.batch * d.channels, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f(i);
  });
}

template <typename T>
void ForwardOnCpu(const PoolDims& d, const T* data, T* out) {
  const T scale = static_cast<T>(ScaleOf(d));
  EachPlane(d, [&](int64_t plane) {
    const T* in = data + plane * d.InSize();
    T* to = out + plane * d.OutSize();
    EachWindow(d, [&](int64_t at, const Reach& z, const Reach& y, const Reach& x) {
      if (d.type == kPoolMax) {
        const bool zeros = (z.padded || y.padded || x.padded) && !(z.outside || y.outside || x.outside);
        T most = zeros ? T(0) : -std::numeric_limits<T>::infinity();
        EachElement(d, z, y, x, [&](int64_t i) { most = in[i] > most || in[i] != in[i] ? in[i] : most; });
        to[at] = most;
      } else {
        T sum = 0;
        EachElement(d, z, y, x, [&](int64_t i) { sum += in[i]; });
        to[at] = sum * scale;
      }
    });
  });
}

template <typename T>
void BackwardOnCpu(const PoolDims& d, const T* og, const T* data, const T* out, T* dx) {
  const T scale = static_cast<T>(ScaleOf(d));
  EachPlane(d, [&](int64_t plane) {
    const T *in = data + plane * d.InSize(), *up = og + plane * d.OutSize(), *result = out + plane * d.OutSize();
    T* to = dx + plane * d.InSize();
    std::fill(to, to + d.InSize(), T(0));
    EachWindow(d, [&](int64_t at, const Reach& z, const Reach& y, const Reach& x) {
      const T g = up[at] * scale;
      if (d.type == kPoolMax)
        EachElement(d, z, y, x, [&](int64_t i) { to[i] += in[i] == result[at] ? g : T(0); });
      else
        EachElement(d, z, y, x, [&](int64_t i) { to[i] += g; });
    });
  });
}

void OnDevice(KernelArgs& a, const PoolDims& d, const TBlob& data, const TBlob& out, const TBlob* og, const TBlob* dx) {
  rtc::Arguments args;
  args.Add(data.dptr).Add(out.dptr).Add(og ? og->dptr : nullptr).Add(dx ? dx->dptr : nullptr);
  for (const int64_t* v : {d.in, d.out, d.kernel, d.stride, d.pad}) args.Add(v[0]).Add(v[1]).Add(v[2]);
  args.Add(ScaleOf(d));
  const int64_t items = dx ? dx->Size() : out.Size();
  rtc::LaunchItems(a.run, {"operator/nn/pooling/gpu_pooling_v1.cuh", dx ? "pool_v1_back" : "pool_v1", {data.dtype}, {d.type == kPoolMax}},
                   items, &args);
}

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const PoolDims d = DimsOf(args.param<PoolingV1Param>(), args.in[0].shape);
  if (args.run.ctx.is_gpu()) return OnDevice(args, d, args.in[0], args.out[0], nullptr, nullptr);
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    ForwardOnCpu(d, a.in[0].data<T>(), a.out[0].data<T>());
  });
}

void Backward(KernelArgs& args) {  // ograd, data, output -> data_grad
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const PoolDims d = DimsOf(args.param<PoolingV1Param>(), args.in[1].shape);
  if (args.run.ctx.is_gpu()) return OnDevice(args, d, args.in[1], args.in[2], &args.in[0], &args.out[0]);
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    BackwardOnCpu(d, a.in[0].data<T>(), a.in[1].data<T>(), a.in[2].data<T>(), a.out[0].data<T>());
  });
}

MXNET_REGISTER_OP(Pooling_v1)
    .describe(
        "Maximum, average or sum of windows in two or three dimensions, as the first networks call it.\n\n"
        "New programs should use Pooling. Here padding counts as 0 in maxima, the gradient of a maximum goes to all elements of the window "
        "that\n"
        "equal it, and averages divide by the window's whole size. data has shape (batch, channels, spatial...). float16, bfloat16, "
        "float32,\n"
        "float64.")
    .set_param<PoolingV1Param>()
    .set_inputs({"data"})
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_Pooling_v1", kGradInputs | kGradOutputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_Pooling_v1)
    .describe("Gradient of Pooling_v1 with respect to data.")
    .set_param<PoolingV1Param>()
    .set_inputs({"ograd", "data", "output"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(SameType)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) {
      MXNET_CHECK_KIND(node->attrs->get<PoolingV1Param>().pool_type != kPoolMax, Value)
          << "[_backward_Pooling_v1] pool_type max has no second derivatives; Pooling has";
      std::vector<NodeEntry> grads(3);  // averages and sums are linear
      grads[0] = NodeEntry{MakeNodeLike("Pooling_v1", *node, {ograds[0]}), 0, 0};
      return grads;
    })
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
