// Correlation: how alike patches of two images are, for all displacements within a square
// (Fischer et al., FlowNet, ICCV 2015).
#include <algorithm>
#include <vector>

#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/like_inputs.h"
#include "operator/record/param.h"
#include "operator/vision/spatial/spatial_kernels.h"
#include "rtc/loop.h"

namespace mxnet {
namespace nn {

struct CorrelationParam : public Parameter<CorrelationParam> {
  uint32_t kernel_size, max_displacement, stride1, stride2, pad_size;
  bool is_multiply;
  MXNET_DECLARE_PARAM(CorrelationParam) {
    MXNET_FIELD(kernel_size).set_default(1).describe("Height and width of a patch.");
    MXNET_FIELD(max_displacement).set_default(1).describe("Largest displacement of data2, in pixels, in either direction.");
    MXNET_FIELD(stride1).set_default(1).describe("Distance of neighbouring patches of data1.");
    MXNET_FIELD(stride2).set_default(1).describe("Distance of neighbouring displacements.");
    MXNET_FIELD(pad_size).set_default(0).describe("Zeros put around both images.");
    MXNET_FIELD(is_multiply).set_default(true).describe("Add up products of elements; else absolute differences.");
  }
};
MXNET_REGISTER_PARAM(CorrelationParam);

namespace {

// Sizes of a call. Positions are those of the padded images.
struct Dims {
  int64_t batch, channels, height, width, rows, columns;
  int64_t kernel, most, stride1, stride2, pad;
  bool multiply;
  Dims(const CorrelationParam& p, const Shape& data)
      : batch(data[0]),
        channels(data[1]),
        height(data[2]),
        width(data[3]),
        kernel(p.kernel_size),
        most(p.max_displacement),
        stride1(p.stride1),
        stride2(p.stride2),
        pad(p.pad_size),
        multiply(p.is_multiply) {
    rows = Side(height);
    columns = Side(width);
  }
  int64_t Side(int64_t size) const {
    const int64_t room = size + 2 * pad - 2 * (most + (kernel - 1) / 2);
    return room > 0 ? (room + stride1 - 1) / stride1 : 0;
  }
  int64_t radius() const { return most / stride2; }
  int64_t displacements() const { return 2 * radius() + 1; }  // in one direction
  // Pixels of a line that patches cover, from position `most` on.
  int64_t Covered(int64_t patches) const { return (patches - 1) * stride1 + kernel; }
  // What a padded line needs, so that every displaced patch lies within.
  int64_t Padded(int64_t size, int64_t patches) const { return std::max(size + 2 * pad, 2 * most + Covered(patches)); }
  double scale() const { return 1.0 / (static_cast<double>(kernel * kernel) * static_cast<double>(channels)); }
};

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<CorrelationParam>();
  const uint32_t largest = std::max({p.kernel_size, p.max_displacement, p.stride1, p.stride2, p.pad_size});
  MXNET_CHECK_KIND(p.kernel_size >= 1 && p.stride1 >= 1 && p.stride2 >= 1 && largest < (1u << 30), Value)
      << Named(attrs) << "kernel_size " << p.kernel_size << ", stride1 " << p.stride1 << ", stride2 " << p.stride2 << ", max_displacement "
      << p.max_displacement << ", pad_size " << p.pad_size << "; the first three must be at least 1, all less than 1073741824";
  for (int i = 0; i < 2; ++i)
    if ((*in)[i].ndim_known())
      MXNET_CHECK_KIND((*in)[i].ndim() == 4, Value)
          << Named(attrs) << "an input has shape " << (*in)[i] << "; (batch, channels, height, width) is needed";
  AssignShape(attrs, "data2", &(*in)[1], (*in)[0]);
  AssignShape(attrs, "data1", &(*in)[0], (*in)[1]);
  if (!(*in)[0].ndim_known()) return false;
  if ((*in)[0][0] < 0 && (*out)[0].ndim() == 4) (*in)[0][0] = (*in)[1][0] = (*out)[0][0];
  const Shape& data = (*in)[0];
  if (!data.known()) return false;
  const Dims d(p, data);
  MXNET_CHECK_KIND(d.rows > 0 && d.columns > 0, Value) << Named(attrs) << "patches of " << d.kernel << " pixels displaced by " << d.most
                                                       << " do not fit into data of shape " << data << " with padding " << d.pad;
  const double side = static_cast<double>(d.displacements());
  MXNET_CHECK_KIND(side * side * static_cast<double>(d.rows) * static_cast<double>(d.columns) < 1e15, Value)
      << Named(attrs) << "max_displacement " << d.most << " with stride2 " << d.stride2 << " and padding " << d.pad
      << " gives more results than memory can hold";
  AssignShape(attrs, "output", &(*out)[0], Shape{data[0], d.displacements() * d.displacements(), d.rows, d.columns});
  return true;
}

// ---- CPU: both images are padded and brought to the order (row, column, channel)

template <typename T>
struct PaddedImage {
  const T* data;
  int64_t width, channels;
  const T* At(int64_t row, int64_t column) const { return data + (row * width + column) * channels; }
};

// All images of `in`, padded, one behind the other.
template <typename T>
T* Pad(KernelArgs& a, const Dims& d, const TBlob& in, int64_t* image_size) {
  const int64_t height = d.Padded(d.height, d.rows), width = d.Padded(d.width, d.columns);
  const double elements = static_cast<double>(height) * static_cast<double>(width) * static_cast<double>(d.channels * d.batch);
  MXNET_CHECK_KIND(elements < 1e12, Value) << Named(*a.attrs) << "padding " << d.pad << " and max_displacement " << d.most
                                           << " make images of " << height << " x " << width << " pixels, more than memory can hold";
  *image_size = height * width * d.channels;
  T* padded = Workspace<T>(a, d.batch * *image_size);
  ParallelFor(d.batch * height, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width * d.channels)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      T* to = padded + i * width * d.channels;
      std::fill(to, to + width * d.channels, T(0));
      const int64_t n = i / height, row = i % height - d.pad;
      if (row < 0 || row >= d.height) continue;
      to += d.pad * d.channels;
      for (int64_t c = 0; c < d.channels; ++c) {
        const T* from = in.data<T>() + ((n * d.channels + c) * d.height + row) * d.width;
        for (int64_t x = 0; x < d.width; ++x) to[x * d.channels + c] = from[x];
      }
    }
  });
  return padded;
}

constexpr int64_t kRowsAtATime = 16;  // of the output

// Output rows [begin, end) of all displacements by `down` rows.
template <typename T>
void CorrelateRows(const Dims& d, int dtype, const PaddedImage<T>& first, const PaddedImage<T>& second, int64_t down, int64_t begin,
                   int64_t end, std::vector<T>* line, T* out) {
  const int64_t side = d.displacements(), covered = d.Covered(d.columns), plane = d.rows * d.columns;
  const int64_t shift = d.radius() * d.stride2;
  const CorrelateCall call{covered, d.channels, side, d.stride2 * d.channels, d.multiply, false};
  line->resize(static_cast<size_t>(side * covered));
  for (int64_t k = 0; k < side; ++k) std::fill(out + k * plane + begin * d.columns, out + k * plane + end * d.columns, T(0));
  for (int64_t y = begin * d.stride1; y < (end - 1) * d.stride1 + d.kernel; ++y) {
    const int64_t last = std::min(end - 1, y / d.stride1);
    const int64_t least = std::max(begin, y < d.kernel ? 0 : (y - d.kernel) / d.stride1 + 1);  // patches that this row is part of
    if (least > last) continue;
    const int64_t row = y + d.most;
    MXNET_CPU_CALL(CorrelateRow)(call, dtype, first.At(row, d.most), second.At(row + down, d.most - shift), line->data());
    for (int64_t k = 0; k < side; ++k) {
      const T* from = line->data() + k * covered;
      for (int64_t j = 0; j < d.columns; ++j) {
        T sum = 0;
        for (int64_t x = 0; x < d.kernel; ++x) sum += from[j * d.stride1 + x];
        for (int64_t i = least; i <= last; ++i) out[k * plane + i * d.columns + j] += sum;
      }
    }
  }
  const T scale = static_cast<T>(d.scale());
  for (int64_t k = 0; k < side; ++k)
    for (int64_t i = begin * d.columns; i < end * d.columns; ++i) out[k * plane + i] *= scale;
}

template <typename T>
void ForwardOnCpu(KernelArgs& a) {
  const Dims d(a.param<CorrelationParam>(), a.in[0].shape);
  int64_t size;
  const T *first = Pad<T>(a, d, a.in[0], &size), *second = Pad<T>(a, d, a.in[1], &size);
  const int64_t width = d.Padded(d.width, d.columns), side = d.displacements();
  const int64_t parts = (d.rows + kRowsAtATime - 1) / kRowsAtATime;
  const int64_t work = std::min(d.rows, kRowsAtATime) * d.kernel * d.Covered(d.columns) * side * d.channels;
  ParallelFor(d.batch * side * parts, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work)), [&](int64_t b, int64_t e) {
    std::vector<T> line;
    for (int64_t i = b; i < e; ++i) {
      const int64_t n = i / parts / side, k = i / parts % side, begin = i % parts * kRowsAtATime;
      const PaddedImage<T> one{first + n * size, width, d.channels}, other{second + n * size, width, d.channels};
      T* out = a.out[0].data<T>() + (n * side + k) * side * d.rows * d.columns;
      CorrelateRows(d, a.in[0].dtype, one, other, (k - d.radius()) * d.stride2, begin, std::min(d.rows, begin + kRowsAtATime), &line, out);
    }
  });
}

// What a row of pixels, from column `first` on, weighs in the patches of one displacement: sums of
// the output's gradient over the patches that each pixel is part of.
template <typename T>
bool PixelWeights(const Dims& d, const T* og, int64_t row, int64_t first, int64_t count, T* weights) {
  const int64_t y = row - d.most;
  if (y < 0) return false;
  const int64_t last = std::min(d.rows - 1, y / d.stride1), least = y < d.kernel ? 0 : (y - d.kernel) / d.stride1 + 1;
  if (least > last) return false;
  std::fill(weights, weights + count, T(0));
  const T scale = static_cast<T>(d.scale());
  for (int64_t i = least; i <= last; ++i)
    for (int64_t j = 0; j < d.columns; ++j) {
      const int64_t at = j * d.stride1 + d.most - first;
      const T g = og[i * d.columns + j] * scale;
      for (int64_t x = std::max<int64_t>(0, -at); x < d.kernel && at + x < count; ++x) weights[at + x] += g;
    }
  return true;
}

// Gradient of data1, or of data2 (`of_second`): one row of pixels at a time.
template <typename T>
void BackwardOnCpu(KernelArgs& a, const Dims& d, bool of_second, const T* first, const T* second, int64_t size) {
  const int64_t side = d.displacements(), width = d.Padded(d.width, d.columns), plane = d.rows * d.columns;
  const CorrelateCall call{d.width, d.channels, 1, 0, d.multiply, of_second};
  const int dtype = a.in[0].dtype;
  ParallelFor(d.batch * d.height, 1, [&](int64_t b, int64_t e) {
    std::vector<T> weights(d.width), sums(d.width * d.channels);
    for (int64_t item = b; item < e; ++item) {
      const int64_t n = item / d.height, row = item % d.height + d.pad;
      const PaddedImage<T> one{first + n * size, width, d.channels}, other{second + n * size, width, d.channels};
      std::fill(sums.begin(), sums.end(), T(0));
      for (int64_t k = 0; k < side * side; ++k) {
        const int64_t down = (k / side - d.radius()) * d.stride2, right = (k % side - d.radius()) * d.stride2;
        const int64_t y = of_second ? row - down : row, x = of_second ? d.pad - right : d.pad;  // in data1
        if (!PixelWeights(d, a.in[0].data<T>() + (n * side * side + k) * plane, y, x, d.width, weights.data())) continue;
        const T *in_first = one.At(y, x), *in_second = other.At(y + down, x + right);
        MXNET_CPU_CALL(CorrelateRowBack)
        (call, dtype, weights.data(), of_second ? in_second : in_first, of_second ? in_first : in_second, sums.data());
      }
      for (int64_t c = 0; c < d.channels; ++c) {
        T* to = a.out[of_second].data<T>() + ((n * d.channels + c) * d.height + row - d.pad) * d.width;
        for (int64_t x = 0; x < d.width; ++x) to[x] = sums[x * d.channels + c];
      }
    }
  });
}

// ---- both kinds of devices

rtc::Arguments OnDevice(const Dims& d, const TBlob& first, const TBlob& second, const TBlob& out, const TBlob& grad) {
  rtc::Arguments args;
  args.Add(first.dptr).Add(second.dptr).Add(out.dptr).Add(grad.dptr);
  args.Add(d.channels).Add(d.height).Add(d.width).Add(d.rows).Add(d.columns);
  args.Add(d.kernel).Add(d.most).Add(d.stride1).Add(d.stride2).Add(d.pad).Add(d.radius()).Add(d.scale());
  return args;
}
const char* const kFile = "operator/vision/spatial/gpu_correlation.cuh";

void Forward(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const Dims d(args.param<CorrelationParam>(), args.in[0].shape);
  if (d.channels == 0) return ZeroBytes(args.run, args.out[0].dptr, static_cast<int64_t>(args.out[0].Bytes()));
  if (args.run.ctx.is_gpu()) {
    rtc::Arguments a = OnDevice(d, args.in[0], args.in[1], args.out[0], TBlob());
    return rtc::LaunchItems(args.run, {kFile, "correlate", {args.in[0].dtype}, {d.multiply}}, args.out[0].Size(), &a);
  }
  RunReal(args, [](KernelArgs& a, auto tag) { ForwardOnCpu<decltype(tag)>(a); });
}

void Backward(KernelArgs& args) {  // ograd, data1, data2 -> data1_grad, data2_grad
  if (args.in[1].Size() == 0) return;
  const Dims d(args.param<CorrelationParam>(), args.in[1].shape);
  if (args.run.ctx.is_gpu()) {
    for (int i = 0; i < 2; ++i) {
      if (!Wanted(args, i)) continue;
      rtc::Arguments a = OnDevice(d, args.in[1], args.in[2], args.in[0], args.out[i]);
      rtc::LaunchItems(args.run, {kFile, "correlate_back", {args.in[0].dtype}, {d.multiply, i}}, args.out[i].Size(), &a);
    }
    return;
  }
  RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    int64_t size;
    const T *first = Pad<T>(a, d, a.in[1], &size), *second = Pad<T>(a, d, a.in[2], &size);
    for (int i = 0; i < 2; ++i)
      if (Wanted(a, i)) BackwardOnCpu<T>(a, d, i == 1, first, second, size);
  });
}

// ograd, data1, data2 -> their gradients: products are linear in each of the three, differences
// have slopes that do not change.
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  const NodeEntry og = node->inputs[0], a = node->inputs[1], b = node->inputs[2];
  MXNET_CHECK_KIND(node->attrs->get<CorrelationParam>().is_multiply, Value)
      << "[_backward_Correlation] is_multiply=False has no second derivatives";
  auto forward = [&](const NodeEntry& x, const NodeEntry& y) { return NodeEntry{MakeNodeLike("Correlation", *node, {x, y}), 0, 0}; };
  const NodePtr both = MakeNodeLike("_backward_Correlation", *node, {og, ograds[0], ograds[1]});
  return {MakeOp("elemwise_add", {forward(ograds[0], b), forward(a, ograds[1])}), NodeEntry{both, 0, 0}, NodeEntry{both, 1, 0}};
}

MXNET_REGISTER_OP(Correlation)
    .describe(
        "Compares patches of two images (Fischer et al., FlowNet, ICCV 2015).\n\n"
        "data1 and data2 have shape (batch, channels, height, width) and get pad_size zeros around. A patch of data1, kernel_size x "
        "kernel_size\n"
        "pixels, every stride1 pixels, is compared with those of data2 that lie up to max_displacement further, in steps of stride2: the "
        "mean over\n"
        "pixels and channels of the products, or of the absolute differences. The output is (batch, displacements, rows, columns), "
        "displacements\n"
        "row by row. Pixels outside of the padded image count as 0. float16, bfloat16, float32, float64.")
    .set_param<CorrelationParam>()
    .set_inputs({"data1", "data2"})
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_expensive_to_recompute()
    .set_gradient(BackwardNode("_backward_Correlation", kGradInputs))
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_Correlation)
    .describe("Gradients of Correlation with respect to data1 and data2.")
    .set_param<CorrelationParam>()
    .set_inputs({"ograd", "data1", "data2"})
    .set_dtypes(dtypes::kAll)
    .set_outputs({"data1_grad", "data2_grad"})
    .set_infer_shape(LikeInputsShape(1))
    .set_infer_type(SameType)
    .set_gradient(SecondGradient)
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
