// UpSampling: repetition of pixels, or a transposed convolution with one filter per channel.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "operator/gpu_library/convolution.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/pooling/gpu_pooling.h"
#include "operator/record/dtypes.h"
#include "operator/record/initial_value.h"
#include "operator/record/like_inputs.h"
#include "operator/record/traits.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace nn {

struct UpSamplingParam : public Parameter<UpSamplingParam> {
  int scale, num_filter, sample_type, multi_input_mode, num_args;
  uint64_t workspace;
  MXNET_DECLARE_PARAM(UpSamplingParam) {
    MXNET_FIELD(scale).set_range(1, 1000).describe("Factor of height and width.");
    MXNET_FIELD(num_filter).set_default(0).describe("Number of channels; bilinear needs it.");
    MXNET_FIELD(sample_type)
        .add_enum("nearest", 0)
        .add_enum("bilinear", 1)
        .describe("nearest repeats elements; bilinear is a transposed convolution with the second input.");
    MXNET_FIELD(multi_input_mode)
        .add_enum("concat", 0)
        .add_enum("sum", 1)
        .set_default(0)
        .describe("How several inputs of nearest are joined.");
    MXNET_FIELD(num_args).set_lower_bound(1).describe("Number of inputs.");
    MXNET_FIELD(workspace).set_default(512).set_lower_bound(0).describe("Accepted for compatibility; workspace memory is planned by need.");
  }
  bool bilinear() const { return sample_type == 1; }
};
MXNET_REGISTER_PARAM(UpSamplingParam);

namespace {

int Inputs(const Attrs& a) {
  const auto& p = a.get<UpSamplingParam>();
  return p.bilinear() ? 2 : p.num_args;
}

bool ForwardShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto& p = attrs.get<UpSamplingParam>();
  for (const Shape& s : *in)
    if (&s == &(*in)[0] || !p.bilinear()) {
      if (!s.ndim_known()) return false;
      MXNET_CHECK_KIND(s.ndim() == 4, Value) << Named(attrs) << "an input has shape " << s
                                             << "; (batch, channels, height, width) is needed";
    }
  const Shape& first = (*in)[0];
  if (p.bilinear()) {
    MXNET_CHECK_KIND(p.num_filter >= 1, Value) << Named(attrs) << "num_filter " << p.num_filter
                                               << "; sample_type bilinear needs the number of channels";
    MXNET_CHECK_KIND(first[1] < 0 || first[1] == p.num_filter, Value)
        << Named(attrs) << "num_filter " << p.num_filter << " differs from the channels of data " << first;
    const int64_t k = 2 * p.scale - p.scale % 2;
    AssignShape(attrs, "weight", &(*in)[1], Shape{p.num_filter, 1, k, k});
  }
  if (!first.known()) {
    Shape open(4);  // the result's height and width follow from their own
    for (int i = 0; i < 4; ++i) open[i] = i < 2 || first[i] < 0 ? first[i] : first[i] * p.scale;
    if (in->size() > 1 && !p.bilinear() && p.multi_input_mode == 0) open[1] = Shape::kUnknownDim;
    AssignShape(attrs, "output", &(*out)[0], open);
    return false;
  }
  Shape expected = first;
  expected[2] *= p.scale, expected[3] *= p.scale;
  for (size_t i = 1; i < in->size() && !p.bilinear(); ++i) {
    const Shape& s = (*in)[i];
    if (!s.known()) return false;
    MXNET_CHECK_KIND(s[0] == first[0] && s[2] > 0 && s[3] > 0 && expected[2] % s[2] == 0 && expected[3] % s[3] == 0, Value)
        << Named(attrs) << "input " << i << " has shape " << s << "; its height and width must divide those of the output " << expected;
    if (p.multi_input_mode == 0)
      expected[1] += s[1];
    else
      MXNET_CHECK_KIND(s[1] == first[1], Value)
          << Named(attrs) << "input " << i << " has shape " << s << "; to be summed it needs the channels of " << first;
  }
  AssignShape(attrs, "output", &(*out)[0], expected);
  return true;
}

ConvCall BilinearCall(const UpSamplingParam& p, const Shape& data, const Shape& out, int dtype) {
  ConvCall call;
  ConvDims& d = call.dims;
  d.batch = data[0], d.channels = d.filters = d.groups = data[1];
  for (int i = 0; i < 2; ++i) {
    d.in[i + 1] = out[i + 2], d.out[i + 1] = data[i + 2];
    d.kernel[i + 1] = 2 * p.scale - p.scale % 2, d.stride[i + 1] = p.scale, d.pad[i + 1] = p.scale / 2;
  }
  call.dtype = dtype;
  return call;
}

// f(index of an input's channel, of its place in the output) for all channels of an input.
template <typename F>
void EachChannel(const Shape& in, const Shape& out, int64_t first_channel, F&& f) {
  const int64_t image = out[2] * out[3];
  ParallelFor(in[0] * in[1], std::max<int64_t>(1, 16384 / std::max<int64_t>(1, image)), [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) f(i * in[2] * in[3], ((i / in[1]) * out[1] + first_channel + i % in[1]) * image);
  });
}

// How often an element of a channel stands there: in so many rows, so many times in each.
struct Factors {
  int64_t height, width, rows, columns;
  Factors(const Shape& in, const Shape& out) : height(in[2]), width(in[3]), rows(out[2] / in[2]), columns(out[3] / in[3]) {}
};

// f(a constant of the factors that are common, or 0 for others)
template <typename F>
void WithFactor(const Factors& z, F&& f) {
  const int64_t factor = z.rows == z.columns ? z.rows : 0;
  if (factor == 2) return f(std::integral_constant<int, 2>());
  if (factor == 3) return f(std::integral_constant<int, 3>());
  if (factor == 4) return f(std::integral_constant<int, 4>());
  f(std::integral_constant<int, 0>());
}

template <typename T>
void RepeatChannel(const T* x, const Factors& z, T* y, bool add) {
  WithFactor(z, [&](auto constant) {
    constexpr int kFactor = decltype(constant)::value;
    const int64_t rows = kFactor ? kFactor : z.rows, n = kFactor ? kFactor : z.columns, pitch = z.width * n;
    for (int64_t r = 0; r < z.height; ++r, x += z.width, y += rows * pitch) {
      for (int64_t h = 0; h < (add ? rows : 1); ++h) {
        T* row = y + h * pitch;
        for (int64_t w = 0; w < z.width; ++w)
          for (int64_t k = 0; k < n; ++k) row[w * n + k] = add ? row[w * n + k] + x[w] : x[w];
      }
      for (int64_t h = 1; h < (add ? 1 : rows); ++h) std::memcpy(y + h * pitch, y, static_cast<size_t>(pitch) * sizeof(T));
    }
  });
}

// Channels last: pixels, of `channels` numbers each.
template <typename T>
void RepeatPixels(const T* x, const Shape& in, const Factors& z, T* y) {
  const int64_t channels = in[1], line = z.width * z.columns * channels;
  ParallelFor(in[0] * z.height, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, line)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* const first = y + r * z.rows * line;
      const T* from = x + r * z.width * channels;
      for (T* to = first; to < first + line; from += channels)
        for (int64_t k = 0; k < z.columns; ++k, to += channels) std::copy(from, from + channels, to);
      for (int64_t h = 1; h < z.rows; ++h) std::copy(first, first + line, first + h * line);
    }
  });
}

// The sums of what RepeatChannel makes of each element.
template <typename T>
void SumChannel(const T* og, const Factors& z, T* dx) {
  WithFactor(z, [&](auto constant) {
    constexpr int kFactor = decltype(constant)::value;
    const int64_t rows = kFactor ? kFactor : z.rows, n = kFactor ? kFactor : z.columns, pitch = z.width * n;
    for (int64_t r = 0; r < z.height; ++r, dx += z.width)
      for (int64_t w = 0; w < z.width; ++w) {
        const T* at = og + r * rows * pitch + w * n;
        T sum = 0;
        for (int64_t h = 0; h < rows; ++h, at += pitch) {
          T row = at[0];  // sums of rows do not wait for each other
          for (int64_t k = 1; k < n; ++k) row += at[k];
          sum += row;
        }
        dx[w] = sum;
      }
  });
}

// Nearest pixels; small and large arrays in the order of the inputs.
void RepeatOnDevice(KernelArgs& args, bool backward) {
  const auto& p = args.param<UpSamplingParam>();
  int64_t channel = 0;
  for (int i = 0; i < (backward ? args.out.size() : args.in.size()); ++i) {
    const TBlob &small = backward ? args.out[i] : args.in[i], &large = backward ? args.in[0] : args.out[0];
    if (!backward || Wanted(args, i)) RepeatPixelsOnDevice(args, small, large, channel, p.multi_input_mode == 1 && i > 0, backward);
    if (p.multi_input_mode == 0) channel += small.shape[1];
  }
}

// The transposed convolution and its gradients are passes of the library of engines.
void BilinearOnDevice(KernelArgs& a, bool backward) {
  const auto& p = a.param<UpSamplingParam>();
  const TBlob &large = backward ? a.in[0] : a.out[0], &small = a.in[backward], &weight = a.in[backward + 1];
  const ConvCall call = BilinearCall(p, small.shape, large.shape, small.dtype);
  auto pass = [&](ConvPass which, const TBlob& src, const TBlob& filters, const TBlob& dst) {
    ConvCall c = call;
    c.pass = which;
    c.src.ptr = src.dptr, c.weight.ptr = filters.dptr, c.dst.ptr = dst.dptr;
    gpu_library::Convolve(a, c, -1, p.workspace);
  };
  if (!backward) return pass(ConvPass::kBackwardData, large, weight, small);
  if (Wanted(a, 0)) pass(ConvPass::kForward, large, weight, a.out[0]);
  if (Wanted(a, 1)) pass(ConvPass::kBackwardWeights, large, a.out[1], small);
}

void OnDevice(KernelArgs& a, bool backward) {
  if (a.param<UpSamplingParam>().bilinear())
    BilinearOnDevice(a, backward);
  else
    RepeatOnDevice(a, backward);
}

template <typename T>
void Repeat(KernelArgs& a) {
  const auto& p = a.param<UpSamplingParam>();
  const Shape& out = a.out[0].shape;
  T* y = a.out[0].data<T>();
  if (a.out[0].layout == Layout::kChannelsLast) return RepeatPixels(a.in[0].data<T>(), a.in[0].shape, Factors(a.in[0].shape, out), y);
  int64_t channel = 0;
  for (int i = 0; i < a.in.size(); ++i) {
    const T* x = a.in[i].data<T>();
    const bool add = p.multi_input_mode == 1 && i > 0;
    const Factors z(a.in[i].shape, out);
    EachChannel(a.in[i].shape, out, channel, [&](int64_t from, int64_t to) { RepeatChannel(x + from, z, y + to, add); });
    if (p.multi_input_mode == 0) channel += a.in[i].shape[1];
  }
}

// Numbers of a half type that are repeated and not added may stay what they are.
bool OnlyMoves(const KernelArgs& args) {
  const auto& p = args.param<UpSamplingParam>();
  if (p.bilinear() || (p.multi_input_mode == 1 && args.in.size() > 1)) return false;
  bool same = IsHalf(args.out[0].dtype);
  for (const TBlob& b : args.in) same = same && b.dtype == args.out[0].dtype;
  return same;
}

void Forward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return OnDevice(args, false);
  if (OnlyMoves(args)) return Repeat<uint16_t>(args);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<UpSamplingParam>();
    if (!p.bilinear()) return Repeat<T>(a);
    ConvCall call = BilinearCall(p, a.in[0].shape, a.out[0].shape, a.in[0].dtype);
    call.pass = ConvPass::kBackwardData;
    call.src.ptr = a.out[0].dptr, call.weight.ptr = a.in[1].dptr, call.dst.ptr = a.in[0].dptr;
    RunConvolution(a, call);
  });
}

// Nearest pixels of a half type: the sums of a row of results at a time, in float.
void SumHalves(KernelArgs& args) {
  const TBlob& og = args.in[0];
  int64_t channel = 0;
  for (int i = 0; i < args.out.size(); ++i) {
    const TBlob& dx = args.out[i];
    const Factors z(dx.shape, og.shape);
    Factors row = z;
    row.height = 1;
    const int64_t large = z.rows * z.width * z.columns;  // numbers behind a row of results
    if (Wanted(args, i))
      EachChannel(dx.shape, og.shape, channel, [&](int64_t to, int64_t from) {
        const HostScratch<float> numbers(large), sums(z.width);
        for (int64_t r = 0; r < z.height; ++r) {
          ReadFloats(og, from + r * large, numbers.get(), large);
          SumChannel(numbers.get(), row, sums.get());
          WriteFloats(sums.get(), dx, to + r * z.width, z.width);
        }
      });
    if (args.param<UpSamplingParam>().multi_input_mode == 0) channel += dx.shape[1];
  }
}

void Backward(KernelArgs& args) {  // ograd, inputs -> their gradients
  if (args.in[0].Size() == 0) return;
  if (args.run.ctx.is_gpu()) return OnDevice(args, true);
  if (IsHalf(args.in[0].dtype) && !args.param<UpSamplingParam>().bilinear()) return SumHalves(args);
  RunReal(args, [](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const auto& p = a.param<UpSamplingParam>();
    const T* og = a.in[0].data<T>();
    const Shape& out = a.in[0].shape;
    if (p.bilinear()) {
      ConvCall call = BilinearCall(p, a.in[1].shape, out, a.in[0].dtype);
      call.src.ptr = a.in[0].dptr;
      if (Wanted(a, 0)) {
        call.pass = ConvPass::kForward;
        call.weight.ptr = a.in[2].dptr, call.dst.ptr = a.out[0].dptr;
        RunConvolution(a, call);
      }
      if (Wanted(a, 1)) {
        call.pass = ConvPass::kBackwardWeights;
        call.weight.ptr = a.out[1].dptr, call.dst.ptr = a.in[1].dptr;
        RunConvolution(a, call);
      }
      return;
    }
    int64_t channel = 0;
    for (int i = 0; i < a.out.size(); ++i) {
      const Shape& in = a.in[i + 1].shape;
      if (Wanted(a, i)) {
        T* dx = a.out[i].data<T>();
        const Factors z(in, out);
        EachChannel(in, out, channel, [&](int64_t to, int64_t from) { SumChannel(og + from, z, dx + to); });
      }
      if (p.multi_input_mode == 0) channel += in[1];
    }
  });
}

// ograd, inputs -> their gradients. Nearest is linear in its inputs, bilinear in data and in the
// weight.
std::vector<NodeEntry> SecondGradient(const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  std::vector<NodeEntry> grads(node->inputs.size());
  auto forward = [&](std::vector<NodeEntry> inputs) { return NodeEntry{MakeNodeLike("UpSampling", *node, std::move(inputs)), 0, 0}; };
  if (!node->attrs->get<UpSamplingParam>().bilinear()) {
    grads[0] = forward(ograds);
    return grads;
  }
  const NodeEntry og = node->inputs[0], x = node->inputs[1], w = node->inputs[2];
  grads[0] = MakeOp("elemwise_add", {forward({ograds[0], w}), forward({x, ograds[1]})});
  const NodePtr both = MakeNodeLike("_backward_UpSampling", *node, {og, ograds[0], ograds[1]});
  grads[1] = NodeEntry{both, 0, 0}, grads[2] = NodeEntry{both, 1, 0};
  return grads;
}

std::vector<std::string> InputNames(const Attrs& a) {
  if (a.get<UpSamplingParam>().bilinear()) return {"data", "weight"};
  std::vector<std::string> names;
  for (int i = 0; i < Inputs(a); ++i) names.push_back("arg" + std::to_string(i));
  return names;
}

std::string InitialFilter(const Attrs& a, const std::string& input) {
  return input == "weight" && a.get<UpSamplingParam>().bilinear() ? "[\"bilinear\", {}]" : "";
}

MXNET_REGISTER_OP(UpSampling)
    .describe(
        "Enlarges images (batch, channels, height, width) by an integer factor.\n\n"
        "nearest repeats every element; several inputs are brought to the size scale x that of the first and concatenated by channel or "
        "summed.\n"
        "bilinear is Deconvolution of data with weight (channels, 1, k, k), k = 2 scale - scale % 2, one filter per channel. float16, "
        "bfloat16, float32, float64.")
    .set_param<UpSamplingParam>()
    .set_variadic("data", Inputs)
    .set_list_inputs(InputNames)
    .set_infer_shape(ForwardShape)
    .set_dtypes(dtypes::kFloats)
    .set_gradient(BackwardNode("_backward_UpSampling", kGradInputs))
    .set_trait(InitialValues{InitialFilter})
    .set_trait(ImagesOnCpu{[](const Attrs& a) { return !a.get<UpSamplingParam>().bilinear() && a.get<UpSamplingParam>().num_args == 1; }})
    .set_kernel(Forward);

MXNET_REGISTER_OP(_backward_UpSampling)
    .describe("Gradients of UpSampling with respect to its inputs.")
    .set_param<UpSamplingParam>()
    .set_variadic("data", [](const Attrs& a) { return 1 + Inputs(a); })
    .set_dtypes(dtypes::kAll)
    .set_num_outputs(Inputs)
    .set_infer_shape(LikeInputsShape(1))
    .set_gradient(SecondGradient)
    .set_kernel(Backward);

}  // namespace
}  // namespace nn
}  // namespace mxnet
