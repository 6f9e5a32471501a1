// Convolution and Deconvolution on the CPU: a vector library where it takes the case, im2col and
// matrix products otherwise (Chellapilla et al., "High performance convolutional neural networks
// for document processing", 2006).
#include <algorithm>
#include <vector>

#include "base/ran.h"
#include "mxnet/op.h"
#include "operator/nn/common/half_pieces.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/common/only.h"
#include "operator/nn/convolution/apart_windows.h"
#include "operator/nn/convolution/convolution.h"
#include "operator/nn/convolution/depthwise_planes.h"
#include "operator/nn/cpu_gemm/packed.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

// Rows of `col` are (channel, kernel position), columns are output positions. One item of work is
// one row.
template <typename T, typename F>
void EachRow(const ConvDims& d, int64_t channels, T* col, F&& f) {
  const int64_t rows = channels * d.KernelSize();
  ParallelFor(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, d.OutSize())), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t rest = r;
      const int64_t kw = rest % d.kernel[2];
      rest /= d.kernel[2];
      const int64_t kh = rest % d.kernel[1];
      rest /= d.kernel[1];
      const int64_t kd = rest % d.kernel[0];
      rest /= d.kernel[0];
      f(rest, kd, kh, kw, col + r * d.OutSize());
    }
  });
}

template <typename T>
void Im2col(const ConvDims& d, int64_t channels, const T* image, T* col) {
  EachRow(d, channels, col, [&](int64_t c, int64_t kd, int64_t kh, int64_t kw, T* row) {
    const T* plane = image + c * d.InSize();
    for (int64_t od = 0; od < d.out[0]; ++od) {
      const int64_t id = od * d.stride[0] - d.pad[0] + kd * d.dilate[0];
      for (int64_t oh = 0; oh < d.out[1]; ++oh) {
        const int64_t ih = oh * d.stride[1] - d.pad[1] + kh * d.dilate[1];
        if (id < 0 || id >= d.in[0] || ih < 0 || ih >= d.in[1]) {
          std::fill(row, row + d.out[2], T(0));
        } else {
          const T* line = plane + (id * d.in[1] + ih) * d.in[2];
          for (int64_t ow = 0; ow < d.out[2]; ++ow) {
            const int64_t iw = ow * d.stride[2] - d.pad[2] + kw * d.dilate[2];
            row[ow] = iw >= 0 && iw < d.in[2] ? line[iw] : T(0);
          }
        }
        row += d.out[2];
      }
    }
  });
}

// Adds columns back into the image. Channels are independent, kernel positions of one channel are
// not.
template <typename T>
void Col2im(const ConvDims& d, int64_t channels, const T* col, T* image) {
  const int64_t positions = d.KernelSize() * d.OutSize();
  ParallelFor(channels, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, positions)), [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      T* plane = image + c * d.InSize();
      const T* row = col + c * positions;
      std::fill(plane, plane + d.InSize(), T(0));
      for (int64_t kd = 0; kd < d.kernel[0]; ++kd)
        for (int64_t kh = 0; kh < d.kernel[1]; ++kh)
          for (int64_t kw = 0; kw < d.kernel[2]; ++kw)
            for (int64_t od = 0; od < d.out[0]; ++od)
              for (int64_t oh = 0; oh < d.out[1]; ++oh, row += d.out[2]) {
                const int64_t id = od * d.stride[0] - d.pad[0] + kd * d.dilate[0], ih = oh * d.stride[1] - d.pad[1] + kh * d.dilate[1];
                if (id < 0 || id >= d.in[0] || ih < 0 || ih >= d.in[1]) continue;
                T* line = plane + (id * d.in[1] + ih) * d.in[2];
                for (int64_t ow = 0; ow < d.out[2]; ++ow) {
                  const int64_t iw = ow * d.stride[2] - d.pad[2] + kw * d.dilate[2];
                  if (iw >= 0 && iw < d.in[2]) line[iw] += row[ow];
                }
              }
    }
  });
}

// (outer, a, b) -> (outer, b, a)
template <typename T>
void SwapInner(const T* from, int64_t outer, int64_t a, int64_t b, T* to) {
  ParallelFor(outer * a, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, b)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* row = from + i * b;
      T* column = to + (i / a) * a * b + i % a;
      for (int64_t j = 0; j < b; ++j) column[j * a] = row[j];
    }
  });
}

// A tensor as (outer, channels, inner) planes: itself, or a workspace copy when channels are last
// in memory.
template <typename T>
class Planes {
 public:
  Planes(KernelArgs& args, const Ordered& t, int64_t outer, int64_t channels, int64_t inner, bool read)
      : memory_(static_cast<T*>(t.ptr)),
        outer_(outer),
        channels_(channels),
        inner_(inner),
        copied_(t.channels_last && channels > 1 && inner > 1) {
    data = memory_;
    if (!copied_) return;
    data = Workspace<T>(args, outer * channels * inner);
    if (read) SwapInner(memory_, outer, inner, channels, data);
  }
  void Store() {
    if (copied_) SwapInner(data, outer_, channels_, inner_, memory_);
  }
  T* data;

 private:
  T* memory_;
  int64_t outer_, channels_, inner_;
  bool copied_;
};

bool Pointwise(const ConvDims& d) {
  return d.KernelSize() == 1 && d.InSize() == d.OutSize() && d.stride[0] * d.stride[1] * d.stride[2] == 1 &&
         d.pad[0] + d.pad[1] + d.pad[2] == 0;
}

template <typename T>
void ReferenceConvolution(KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  const bool forward = call.pass == ConvPass::kForward, to_data = call.pass == ConvPass::kBackwardData,
             to_weights = call.pass == ConvPass::kBackwardWeights;
  const int64_t cg = d.channels / d.groups, kg = d.filters / d.groups, rows = cg * d.KernelSize(), positions = d.OutSize();
  Planes<T> src(args, call.src, d.batch, d.channels, d.InSize(), !to_data), dst(args, call.dst, d.batch, d.filters, positions, !forward);
  Planes<T> weight(args, call.weight, d.filters, cg, d.KernelSize(), !to_weights);
  const bool pointwise = Pointwise(d);
  if (!pointwise) Ran(to_data ? "col2im" : "im2col", RanAt::kNone);
  T* workspace = pointwise || (to_weights && !call.weight.ptr) ? nullptr : Workspace<T>(args, rows * positions);
  T* bias = static_cast<T*>(call.bias);
  if (to_weights && weight.data) std::fill(weight.data, weight.data + d.filters * rows, T(0));
  if (to_weights && bias) std::fill(bias, bias + d.filters, T(0));
  for (int64_t n = 0; n < d.batch; ++n) {
    for (int64_t g = 0; g < d.groups; ++g) {
      T* x = src.data ? src.data + (n * d.channels + g * cg) * d.InSize() : nullptr;
      T* y = dst.data + (n * d.filters + g * kg) * positions;
      T* w = weight.data ? weight.data + g * kg * rows : nullptr;
      if (forward) {
        if (!pointwise) Im2col(d, cg, x, workspace);
        if (bias)
          for (int64_t k = 0; k < kg; ++k) std::fill(y + k * positions, y + (k + 1) * positions, bias[g * kg + k]);
        Gemm(false, false, kg, positions, rows, w, pointwise ? x : workspace, bias ? T(1) : T(0), y);
      } else if (to_data) {
        Gemm(true, false, rows, positions, kg, w, y, T(0), pointwise ? x : workspace);
        if (!pointwise) Col2im(d, cg, workspace, x);
      } else {
        if (w) {
          if (!pointwise) Im2col(d, cg, x, workspace);
          Gemm(false, true, kg, rows, positions, y, pointwise ? x : workspace, T(1), w);
        }
        if (bias)
          for (int64_t k = 0; k < kg; ++k) {
            T sum = 0;
            for (int64_t i = 0; i < positions; ++i) sum += y[k * positions + i];
            bias[g * kg + k] += sum;
          }
      }
    }
  }
  if (forward) dst.Store();
  if (to_data) src.Store();
  if (to_weights && weight.data) weight.Store();
}

// The gradient by the data of few channels, which are fewer than the vector library's lanes (a
// discriminator's first layer): a product for each image, whose columns are then summed. 64 images
// of 28 x 28, 20 filters of 5 x 5, two threads: 0.7 ms instead of 5.5.
bool FewChannels(const ConvCall& call) {
  constexpr int64_t kFew = 4, kCached = 131072;  // channels; elements of an image's columns
  const ConvDims& d = call.dims;
  return call.pass == ConvPass::kBackwardData && call.dtype == kFloat32 && d.groups == 1 && d.channels <= kFew && d.KernelSize() > 1 &&
         !call.src.channels_last && !call.dst.channels_last && d.channels * d.KernelSize() * d.OutSize() <= kCached && !call.accumulate &&
         !call.post;
}

// Multiplications that take less time than the call of a matrix product.
constexpr int64_t kTinyProduct = 1024;

// c (m, n) = a (k, m), transposed, times b (k, n)
void TinyProduct(const float* a, int64_t m, const float* b, int64_t n, int64_t k, float* c) {
  std::fill(c, c + m * n, 0.0f);
  for (int64_t l = 0; l < k; ++l, a += m, b += n)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) c[i * n + j] += a[i] * b[j];
}

void DataOfFewChannels(KernelArgs& args, const ConvCall& call) {
  Ran("col2im of small GEMMs", RanAt::kNone);
  args.NeedWeights(call.weight.ptr);
  const ConvDims& d = call.dims;
  const int64_t rows = d.channels * d.KernelSize(), positions = d.OutSize();
  const auto *w = static_cast<const float*>(call.weight.ptr), *dy = static_cast<const float*>(call.dst.ptr);
  auto* dx = static_cast<float*>(call.src.ptr);
  const int64_t alone = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, rows * positions));
  ParallelFor(d.batch, alone, [&](int64_t begin, int64_t end) {
    std::vector<float> columns(static_cast<size_t>(rows * positions));
    for (int64_t n = begin; n < end; ++n) {
      if (rows * positions * d.filters <= kTinyProduct)
        TinyProduct(w, rows, dy + n * d.filters * positions, positions, d.filters, columns.data());
      else
        Gemm(true, false, rows, positions, d.filters, w, dy + n * d.filters * positions, 0.0f, columns.data());
      Col2im(d, d.channels, columns.data(), dx + n * d.channels * d.InSize());
    }
  });
}

bool TryHook(KernelArgs& args, const ConvCall& call) {
  if (ApartWindows(args, call)) return true;
  if (FewChannels(call)) return DataOfFewChannels(args, call), true;
  if (DepthwisePlanes(args, call) || DepthwiseSequences(args, call) || NativeConvolution(args, call, nullptr) ||
      GemmConvolution(args, call))
    return true;
  auto hook = ActiveHooks().convolution;
  // On planes a 1x1 convolution is a matrix product as it stands; primitives would first reorder
  // the data.
  if (call.dtype == kFloat32 && Pointwise(call.dims) && call.dims.groups == 1 && !call.src.channels_last && !call.dst.channels_last)
    return false;
  return hook && hook(args, call);
}

template <typename P>
struct Operands {
  ConvCall call;
  bool last;
  Operands(const P& p, const TBlob& data, const TBlob& out) : last(ChannelsLastAttr(p.layout)) {
    call.dims = DimsOf(p, data.shape, out.shape);
    call.dtype = data.dtype;
  }
  Ordered Of(const TBlob& b) const { return {b.dptr, last || b.layout == Layout::kChannelsLast}; }
};

// The half types go to the hook as they are first; only when it refuses them are they widened.
template <typename F>
void HalfFirst(KernelArgs& args, F&& run) {
  if (IsHalf(args.in[0].dtype) && run(args, false)) return;
  RunReal(args, [&](KernelArgs& a, auto) { run(a, true); });
}

bool Dispatch(KernelArgs& args, const ConvCall& call, bool reference) {
  if (TryHook(args, call)) return true;
  if (!reference) return false;
  if (call.dtype == kFloat64)
    ReferenceConvolution<double>(args, call);
  else
    ReferenceConvolution<float>(args, call);
  return true;
}

void Zero(const TBlob& b) {
  if (b.dptr) std::memset(b.dptr, 0, b.Bytes());
}

// Gradient of a bias, or its addition, for tensors (batch, channels, inner) in either order.
struct Channels {
  bool last;
  int64_t channels, inner;
  /* f(channel, i, n): elements [at + i, at + i + n) are of that channel, or, with channels last, of
   * it and the next ones. */
  template <typename F>
  void Runs(int64_t at, int64_t n, F&& f) const {
    for (int64_t i = 0; i < n;) {
      const int64_t size = last ? channels : inner, first = (at + i) % size, run = std::min(n - i, size - first);
      f(last ? first : (at + i) / inner % channels, i, run);
      i += run;
    }
  }
};

template <typename T>
void SumRun(const Channels& s, const T* y, int64_t at, int64_t n, T* sums) {
  s.Runs(at, n, [&](int64_t c, int64_t i, int64_t run) {
    if (s.last) {
      for (int64_t j = 0; j < run; ++j) sums[c + j] += y[i + j];
      return;
    }
    T sum = 0;
    for (int64_t j = 0; j < run; ++j) sum += y[i + j];
    sums[c] += sum;
  });
}

template <typename T>
void AddRun(const Channels& s, const T* bias, const T* y, int64_t at, int64_t n, T* to) {
  s.Runs(at, n, [&](int64_t c, int64_t i, int64_t run) {
    for (int64_t j = 0; j < run; ++j) to[i + j] = y[i + j] + bias[s.last ? c + j : c];
  });
}

void SumOverChannels(KernelArgs& args, const Channels& s, const TBlob& y, const TBlob& sums) {
  const int64_t size = y.Size();
  if (!IsHalf(y.dtype)) {
    Zero(sums);
    if (y.dtype == kFloat64) return SumRun(s, y.data<double>(), 0, size, sums.data<double>());
    return SumRun(s, y.data<float>(), 0, size, sums.data<float>());
  }
  if (s.last) return SumHalfRows(y, size / s.channels, s.channels, false, sums);
  constexpr int64_t kPiece = 2048;
  float piece[kPiece], *wide = Workspace<float>(args, s.channels);
  std::fill_n(wide, s.channels, 0.f);
  for (int64_t at = 0; at < size; at += kPiece) {
    const int64_t n = std::min(kPiece, size - at);
    ReadFloats(y, at, piece, n);
    SumRun(s, piece, at, n, wide);
  }
  WriteFloats(wide, sums, 0, s.channels);
}

void AddToChannels(KernelArgs& args, const Channels& s, const TBlob& bias, const TBlob& y) {
  if (IsHalf(y.dtype)) {
    float* wide = Workspace<float>(args, s.channels);
    ReadFloats(bias, 0, wide, s.channels);
    return ForPieces<1, 1>({y}, {y}, y.Size(),
                           [&](float* const* values, int64_t at, int64_t n) { AddRun(s, wide, values[0], at, n, values[1]); });
  }
  ParallelFor(y.Size(), 16384, [&](int64_t begin, int64_t end) {
    if (y.dtype == kFloat64)
      AddRun(s, bias.data<double>(), y.data<double>() + begin, begin, end - begin, y.data<double>() + begin);
    else
      AddRun(s, bias.data<float>(), y.data<float>() + begin, begin, end - begin, y.data<float>() + begin);
  });
}

void ConvolutionForward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.in[0].dtype == kInt8) return ConvolutionOfBytes(args);
  HalfFirst(args, [](KernelArgs& a, bool reference) {
    Operands<ConvolutionParam> o(a.param<ConvolutionParam>(), a.in[0], a.out[0]);
    o.call.src = o.Of(a.in[0]), o.call.weight = o.Of(a.in[1]), o.call.dst = o.Of(a.out[0]);
    o.call.bias = a.in.size() > 2 ? a.in[2].dptr : nullptr;
    o.call.weight_input = 1;
    return Dispatch(a, o.call, reference);
  });
}

// Without elements in the gradient there is nothing to compute, but the results are defined: zero.
bool ZeroWithoutElements(KernelArgs& args) {
  if (args.in[0].Size() && args.in[1].Size()) return false;
  for (int i = 0; i < args.out.size(); ++i)
    if (Wanted(args, i)) Zero(args.out[i]);
  return true;
}

void ConvolutionBackward(KernelArgs& args) {
  if (ZeroWithoutElements(args)) return;
  const bool bias = args.out.size() > 2 && Wanted(args, 2);
  if (Wanted(args, 0))
    HalfFirst(Only(args, 0b1).args(), [](KernelArgs& a, bool reference) {
      Operands<ConvolutionParam> o(a.param<ConvolutionParam>(), a.in[1], a.in[0]);
      o.call.pass = ConvPass::kBackwardData;
      o.call.src = o.Of(a.out[0]), o.call.weight = o.Of(a.in[2]), o.call.dst = o.Of(a.in[0]);
      return Dispatch(a, o.call, reference);
    });
  if (Wanted(args, 1) || bias)
    HalfFirst(Only(args, 0b110).args(), [&](KernelArgs& a, bool reference) {
      Operands<ConvolutionParam> o(a.param<ConvolutionParam>(), a.in[1], a.in[0]);
      o.call.pass = ConvPass::kBackwardWeights;
      o.call.src = o.Of(a.in[1]), o.call.dst = o.Of(a.in[0]);
      o.call.weight = Wanted(a, 1) ? o.Of(a.out[1]) : Ordered();
      o.call.bias = bias ? a.out[2].dptr : nullptr;
      return Dispatch(a, o.call, reference);
    });
}

Channels ChannelsOf(const ConvCall& call) { return {call.src.channels_last, call.dims.channels, call.dims.InSize()}; }

// The data gradient of a convolution whose src is our result.
void DeconvolutionForward(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull || args.out[0].Size() == 0) return;
  if (args.in[0].Size() == 0) {
    Zero(args.out[0]);
    return;
  }
  const auto call = [](KernelArgs& a) {
    Operands<DeconvolutionParam> o(a.param<DeconvolutionParam>(), a.in[0], a.out[0]);
    o.call.pass = ConvPass::kBackwardData;
    o.call.src = o.Of(a.out[0]), o.call.weight = o.Of(a.in[1]), o.call.dst = o.Of(a.in[0]);
    o.call.weight_input = 1;
    return o.call;
  };
  HalfFirst(args, [&](KernelArgs& a, bool reference) { return Dispatch(a, call(a), reference); });
  if (args.in.size() > 2) AddToChannels(args, ChannelsOf(call(args)), args.in[2], args.out[0]);
}

void DeconvolutionBackward(KernelArgs& args) {
  if (ZeroWithoutElements(args)) return;
  const auto operands = [](KernelArgs& a) {
    Operands<DeconvolutionParam> o(a.param<DeconvolutionParam>(), a.in[1], a.in[0]);
    o.call.src = o.Of(a.in[0]);  // the convolution whose data gradient this layer is reads our gradient
    return o;
  };
  if (Wanted(args, 0))
    HalfFirst(Only(args, 0b1).args(), [&](KernelArgs& a, bool reference) {
      auto o = operands(a);
      o.call.pass = ConvPass::kForward;
      o.call.weight = o.Of(a.in[2]), o.call.dst = o.Of(a.out[0]);
      return Dispatch(a, o.call, reference);
    });
  if (Wanted(args, 1))
    HalfFirst(Only(args, 0b10).args(), [&](KernelArgs& a, bool reference) {
      auto o = operands(a);
      o.call.pass = ConvPass::kBackwardWeights;
      o.call.weight = o.Of(a.out[1]), o.call.dst = o.Of(a.in[1]);
      return Dispatch(a, o.call, reference);
    });
  if (args.out.size() > 2 && Wanted(args, 2)) SumOverChannels(args, ChannelsOf(operands(args).call), args.in[0], args.out[2]);
}

MXNET_REGISTER_OP_KERNEL(Convolution, kCPU, ConvolutionForward);
MXNET_REGISTER_OP_KERNEL(_backward_Convolution, kCPU, ConvolutionBackward);
MXNET_REGISTER_OP_KERNEL(Deconvolution, kCPU, DeconvolutionForward);
MXNET_REGISTER_OP_KERNEL(_backward_Deconvolution, kCPU, DeconvolutionBackward);

}  // namespace

void RunConvolution(KernelArgs& args, const ConvCall& call) { Dispatch(args, call, true); }

void ConvolutionOfBytes(KernelArgs& args) {
  KernelArgs wide = args;
  std::vector<TBlob> in(args.in.begin(), args.in.end());
  TBlob out = args.out[0];
  for (TBlob& b : in) b.dptr = const_cast<double*>(AsDouble(args, b)), b.dtype = kFloat64;
  double* sums = Workspace<double>(args, out.Size());
  out.dptr = sums, out.dtype = kFloat64;
  wide.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
  wide.out = Span<const TBlob>(&out, 1);
  ConvolutionForward(wide);
  int8_t* to = args.out[0].data<int8_t>();
  for (int64_t i = 0; i < out.Size(); ++i) to[i] = static_cast<int8_t>(std::min(127.0, std::max(-128.0, sums[i])));
}

}  // namespace nn
}  // namespace mxnet
