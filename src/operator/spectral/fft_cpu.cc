// _contrib_fft and _contrib_ifft: discrete Fourier transforms of the last dimension, of any length.
//
// Lengths whose prime factors are small go by mixed radices in self-sorting order (Stockham; see
// Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992), others by a convolution
// with a chirp (Bluestein, 1970). Real rows of even length are transformed as complex rows half as
// long.
#include "mxnet/op.h"
#include "operator/matrix/move.h"
#include "operator/nn/common/nn_common.h"
#include "operator/record/dtypes.h"
#include "operator/record/param.h"
#include "operator/spectral/fft_plan.h"
#include "operator/spectral/gpu_fft.h"

namespace mxnet {
namespace spectral {

struct FftParam : public Parameter<FftParam> {
  int compute_size;
  MXNET_DECLARE_PARAM(FftParam) {
    MXNET_FIELD(compute_size)
        .set_default(128)
        .describe("Accepted for compatibility; how many rows are transformed at a time follows from their length.");
  }
};
MXNET_REGISTER_PARAM(FftParam);

namespace {

using nn::Named;
using nn::Wanted;

template <bool kInverse>
bool InferShape(const Attrs& attrs, ShapeVector* in, ShapeVector* out) {
  const auto other = [&](const Shape& s, bool halve, const char* what) {
    Shape t = s;
    MXNET_CHECK_KIND(s.ndim() >= 1, Value) << Named(attrs) << what << " has shape " << s << "; at least one dimension is needed";
    int64_t& last = t[t.ndim() - 1];
    if (last < 0) return t;
    MXNET_CHECK_KIND(!halve || last % 2 == 0, Value)
        << Named(attrs) << what << " has shape " << s << "; the last dimension holds pairs of a real and an imaginary part";
    last = halve ? last / 2 : last * 2;
    return t;
  };
  if ((*in)[0].ndim_known()) AssignShape(attrs, "output", &(*out)[0], other((*in)[0], kInverse, "data"));
  if ((*out)[0].ndim_known()) AssignShape(attrs, "data", &(*in)[0], other((*out)[0], !kInverse, "output"));
  return (*in)[0].known() && (*out)[0].known();
}

// One row on the CPU, with the thread's own memory.
template <typename T>
class RowTransform {
 public:
  explicit RowTransform(int64_t n) : n_(n), halved_(n % 2 == 0), plan_(halved_ ? n / 2 : n), turn_(halved_ ? n : 0) {}
  int64_t memory() const { return plan_.memory(); }

  void Forward(const T* x, T* out, Complex<T>* work) const {
    const int64_t m = plan_.size();
    for (int64_t j = 0; j < m; ++j) work[j] = halved_ ? Complex<T>{x[2 * j], x[2 * j + 1]} : Complex<T>{x[j], T(0)};
    const Complex<T>* z = plan_.Run(work);
    if (!halved_) return Put(z, out);
    for (int64_t k = 0; k < m; ++k) {  // of the even and of the odd elements, then both
      const Complex<T> p = z[k], q = z[k ? m - k : 0];
      const Complex<T> even{(p.re + q.re) / 2, (p.im - q.im) / 2}, odd{(p.im + q.im) / 2, (q.re - p.re) / 2};
      const Complex<T> turned = odd * turn_.At(k);
      out[2 * k] = even.re + turned.re;
      out[2 * k + 1] = even.im + turned.im;
      out[2 * (k + m)] = even.re - turned.re;
      out[2 * (k + m) + 1] = even.im - turned.im;
    }
  }

  // The real part of the inverse, not divided by n. A transform of swapped parts is the inverse.
  void Inverse(const T* in, T* y, Complex<T>* work) const {
    const int64_t m = plan_.size();
    const auto symmetric = [&](int64_t k) {  // what the real part depends on
      const int64_t mirror = k ? n_ - k : 0;
      return Complex<T>{(in[2 * k] + in[2 * mirror]) / 2, (in[2 * k + 1] - in[2 * mirror + 1]) / 2};
    };
    for (int64_t k = 0; k < m; ++k) {
      if (!halved_) {
        work[k] = {in[2 * k + 1], in[2 * k]};
        continue;
      }
      const Complex<T> a = symmetric(k), b = symmetric(k + m), w = turn_.At(k);
      const Complex<T> even{a.re + b.re, a.im + b.im}, d{a.re - b.re, a.im - b.im};
      const Complex<T> odd{d.re * w.re + d.im * w.im, d.im * w.re - d.re * w.im};
      work[k] = {even.im + odd.re, even.re - odd.im};
    }
    const Complex<T>* z = plan_.Run(work);
    for (int64_t j = 0; j < m; ++j) {
      if (halved_)
        y[2 * j] = z[j].im, y[2 * j + 1] = z[j].re;
      else
        y[j] = z[j].im;
    }
  }

 private:
  void Put(const Complex<T>* z, T* out) const {
    for (int64_t k = 0; k < n_; ++k) out[2 * k] = z[k].re, out[2 * k + 1] = z[k].im;
  }
  int64_t n_;
  bool halved_;
  FftPlan<T> plan_;
  Turns<T> turn_;
};

template <bool kInverse>
void Run(KernelArgs& args) {
  if (!Wanted(args, 0) || args.out[0].Size() == 0) return;
  const Shape& real = (kInverse ? args.out[0] : args.in[0]).shape;
  const int64_t n = real[real.ndim() - 1], rows = real.Size() / n;
  if (args.run.ctx.is_gpu()) return TransformOnDevice(args, rows, n, kInverse);
  nn::RunReal(args, [&](KernelArgs& a, auto tag) {
    using T = decltype(tag);
    const RowTransform<T> transform(n);
    const T* in = a.in[0].data<T>();
    T* out = a.out[0].data<T>();
    ParallelFor(rows, std::max<int64_t>(1, 4096 / n), [&](int64_t b, int64_t e) {
      std::vector<Complex<T>> work(static_cast<size_t>(transform.memory()));
      for (int64_t i = b; i < e; ++i) {
        if (kInverse)
          transform.Inverse(in + 2 * i * n, out + i * n, work.data());
        else
          transform.Forward(in + i * n, out + 2 * i * n, work.data());
      }
    });
  });
}

// Each is the other's transpose.
std::vector<NodeEntry> Other(const char* op, const NodePtr& node, const std::vector<NodeEntry>& ograds) {
  return {NodeEntry{MakeNodeLike(op, *node, {ograds[0]}), 0, 0}};
}

MXNET_REGISTER_OP(_contrib_fft)
    .alias("_backward__contrib_ifft")
    .describe(
        "Discrete Fourier transform of the last dimension of real data (..., n); n is arbitrary.\n\n"
        "The output (..., 2 n) holds pairs: element 2 k is the real part of sum_j data[j] exp(-2 pi i j k / n), element 2 k + 1 the "
        "imaginary part.\n"
        "float16, bfloat16, float32, float64.")
    .set_param<FftParam>()
    .set_inputs({"data"})
    .set_infer_shape(InferShape<false>)
    .set_dtypes(dtypes::kFloats)
    .set_precision(Precision::kFull)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) { return Other("_contrib_ifft", node, ograds); })
    .set_kernel(Run<false>);

MXNET_REGISTER_OP(_contrib_ifft)
    .alias("_backward__contrib_fft")
    .describe(
        "Real part of the inverse discrete Fourier transform of the last dimension, not divided by its length.\n\n"
        "data (..., 2 n) holds pairs of a real and an imaginary part, as _contrib_fft gives them; the output is (..., n). Divide by n to "
        "get back\n"
        "what _contrib_fft was given. float16, bfloat16, float32, float64.")
    .set_param<FftParam>()
    .set_inputs({"data"})
    .set_infer_shape(InferShape<true>)
    .set_dtypes(dtypes::kFloats)
    .set_precision(Precision::kFull)
    .set_gradient([](const NodePtr& node, const std::vector<NodeEntry>& ograds) { return Other("_contrib_fft", node, ograds); })
    .set_kernel(Run<true>);

}  // namespace
}  // namespace spectral
}  // namespace mxnet
