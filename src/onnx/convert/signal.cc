/*
 * Fourier transforms and windows. Complex numbers are a last dimension of two: real and
 * imaginary part.
 */
#include <algorithm>
#include <cmath>

#include "onnx/convert/operands.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr double kPi = 3.14159265358979323846;

/* Real and imaginary part of what runs along the last dimension; no second where it is 0. */
struct Complex {
  Value real, imag;
  bool has_imag() const { return imag.kind != Value::kNone; }
};

/* One of the two numbers of the last dimension, which is dropped. */
Value Part(const Call& c, const Value& x, int64_t which) {
  const int last = x.ndim() - 1;
  return c.Reshape(SliceAxis(c, x, last, which, which + 1), Shape(x.shape().dims(), last));
}

/* As many entries of the last dimension as wanted: cut off, or filled up with zeros. */
Value Fitted(const Call& c, const Value& x, int64_t n) {
  const int last = x.ndim() - 1;
  const int64_t size = x.shape()[last];
  if (size >= n) return SliceAxis(c, x, last, 0, n);
  Shape rest = x.shape();
  rest[last] = n - size;
  return Join(c, {x, c.Filled(rest, x.dtype(), 0)}, last);
}

/* The transform of real numbers. */
Complex OfReal(const Call& c, const Value& x) {
  std::vector<int64_t> dims = DimsOf(x.shape());
  dims.push_back(2);
  const Value pairs = c.Reshape(c.Op("_contrib_fft", {x}), Shape(dims));
  return {Part(c, pairs, 0), Part(c, pairs, 1)};
}

Complex Transformed(const Call& c, const Complex& x) {
  const Complex a = OfReal(c, x.real);
  if (!x.has_imag()) return a;
  const Complex b = OfReal(c, x.imag);  // times i
  return {c.Op("_npi_subtract", {a.real, b.imag}), c.Op("_npi_add", {a.imag, b.real})};
}

Complex Conjugate(const Call& c, const Complex& x) { return {x.real, x.has_imag() ? c.Op("_npi_negative", {x.imag}) : x.imag}; }

Complex Inverse(const Call& c, const Complex& x, int64_t n) {
  const Complex y = Conjugate(c, Transformed(c, Conjugate(c, x)));
  const double scale = 1.0 / static_cast<double>(n);
  return {WithNumber(c, "_npi_multiply_scalar", y.real, scale), WithNumber(c, "_npi_multiply_scalar", y.imag, scale)};
}

/* All n frequencies of a real signal from the n / 2 + 1 ones that say everything. */
Complex WithMirrored(const Call& c, const Complex& half, int64_t n) {
  std::vector<int64_t> from;
  std::vector<double> sign;
  for (int64_t k = 0; k < n; ++k) {
    from.push_back(std::min(k, n - k));
    sign.push_back(k == 0 || 2 * k == n ? 0 : 2 * k < n ? 1 : -1);
  }
  const AttrDict attrs = {{"axis", Text(half.real.ndim() - 1)}, {"mode", "clip"}};
  const Value places = c.IntTensor(from);
  Complex all;
  all.real = c.Op("take", {half.real, places}, attrs);
  if (half.has_imag())
    all.imag = c.Op("_npi_multiply",
                    {c.Op("take", {half.imag, places}, attrs), c.Cast(c.Tensor(Shape{n}, kFloat64, sign.data()), half.imag.dtype())});
  return all;
}

/* The order in which `axis` of `rank` dimensions is the last one, and the way back. */
std::vector<int64_t> Last(int axis, int rank, bool back) {
  std::vector<int64_t> order;
  for (int i = 0; i < rank - 1; ++i) order.push_back(back || i < axis ? i : i + 1);
  if (back)
    order.insert(order.begin() + axis, rank - 1);
  else
    order.push_back(axis);
  return order;
}

/* x (..., 1 or 2) along `axis`, which is not the last one. */
Value Dft(const Call& c, const Value& x, int axis, int64_t n, bool inverse, bool onesided) {
  const int rank = x.ndim() - 1;
  const int64_t bins = n / 2 + 1, given = inverse && onesided ? bins : n;
  const auto prepared = [&](int64_t which) { return Fitted(c, c.Transpose(Part(c, x, which), Last(axis, rank, false)), given); };
  Complex signal;
  signal.real = prepared(0);
  if (x.shape()[rank] == 2) {
    // differences of two transforms, of which little may be left
    signal.real = c.Cast(signal.real, kFloat64);
    signal.imag = c.Cast(prepared(1), kFloat64);
  }
  if (inverse && onesided) signal = WithMirrored(c, signal, n);
  const Complex all = inverse ? Inverse(c, signal, n) : Transformed(c, signal);
  const auto finished = [&](const Value& v) {
    const Value part = onesided && !inverse ? SliceAxis(c, v, rank - 1, 0, bins) : v;
    const Value moved = c.Transpose(c.Cast(part, x.dtype()), Last(axis, rank, true));
    std::vector<int64_t> dims = DimsOf(moved.shape());
    dims.push_back(1);
    return c.Reshape(moved, Shape(dims));
  };
  if (inverse && onesided) return finished(all.real);
  return Join(c, {finished(all.real), finished(all.imag)}, rank);
}

void CheckSignal(const Call& c, const Value& x) {
  if (!IsFloating(x.dtype()))
    c.Refuse(std::string("the signal is ") + DTypeName(x.dtype()) + "; accepted: float16, bfloat16, float32, float64");
  if (x.ndim() < 2 || x.shape()[x.ndim() - 1] < 1 || x.shape()[x.ndim() - 1] > 2)
    c.Refuse("the signal has shape " + x.shape().str() + "; accepted: at least two dimensions, the last of 1 or 2");
}

void ConvertDft(Call& c) {
  const Value& x = c.in(0);
  const bool inverse = c.Attr("inverse", static_cast<int64_t>(0)) != 0, onesided = c.Attr("onesided", static_cast<int64_t>(0)) != 0;
  CheckSignal(c, x);
  int64_t given = c.opset < 20 ? c.Attr("axis", static_cast<int64_t>(1)) : c.has(2) ? c.Int(2) : -2;
  const int axis = c.Axis(given, x.ndim());
  if (axis == x.ndim() - 1) c.Refuse("axis " + Text(given) + " is that of real and imaginary parts; accepted: the others");
  const int64_t size = x.shape()[axis], n = c.has(1) ? c.Int(1) : inverse && onesided ? 2 * (size - 1) : size;
  if (n < 1 || n > kMostListed) c.Refuse("dft_length is " + Text(n) + "; accepted: 1 to 2^28");
  if (onesided && !inverse && x.shape()[x.ndim() - 1] == 2) c.Refuse("onesided=1 of a complex signal; accepted: a real one");
  c.Out(Dft(c, x, axis, n, inverse, onesided));
}

void ConvertStft(Call& c) {
  Value x = c.in(0);
  const bool onesided = c.Attr("onesided", static_cast<int64_t>(1)) != 0;
  const int64_t step = c.Int(1);
  if (x.ndim() == 2) x = c.Reshape(x, Shape{x.shape()[0], x.shape()[1], 1});
  CheckSignal(c, x);
  if (x.ndim() != 3) c.Refuse("the signal has shape " + x.shape().str() + "; accepted: (batch, length, 1 or 2)");
  const int64_t length = x.shape()[1], frame = c.has(3) ? c.Int(3) : c.has(2) ? c.in(2).size() : length;
  if (step < 1 || frame < 1 || frame > length)
    c.Refuse("frame_step is " + Text(step) + " and frame_length " + Text(frame) + " of a signal of " + Text(length));
  if (c.has(2) && (c.in(2).ndim() != 1 || c.in(2).size() != frame))
    c.Refuse("window has shape " + c.in(2).shape().str() + "; accepted: " + Shape{frame}.str());
  if (onesided && x.shape()[2] == 2) c.Refuse("onesided=1 of a complex signal; accepted: a real one");
  const int64_t frames = 1 + (length - frame) / step;
  if (frames > kMostListed / frame)
    c.Refuse("there are " + Text(frames) + " frames of " + Text(frame) + " entries; accepted: up to 2^28 entries");
  std::vector<int64_t> from;
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < frame; ++i) from.push_back(f * step + i);
  Value framed = c.Op("take", {x, c.Tensor(Shape{frames, frame}, kInt64, from.data())}, {{"axis", "1"}, {"mode", "clip"}});
  if (c.has(2)) framed = c.Op("_npi_multiply", {framed, c.Reshape(c.Cast(c.in(2), x.dtype()), Shape{frame, 1})});
  c.Out(Dft(c, framed, 2, frame, false, onesided));
}

/* a + b cos(2 pi i / N) + d cos(4 pi i / N) */
void Window(Call& c) {
  const std::string name = c.argument;
  const bool periodic = c.Attr("periodic", static_cast<int64_t>(1)) != 0;
  const int dtype = c.DTypeAttr("output_datatype", kFloat32);
  const int64_t size = c.Int(0);
  if (size < 0 || size > kMostListed) c.Refuse("size is " + Text(size) + "; accepted: 0 to 2^28");
  const double a = name == "hann" ? 0.5 : name == "hamming" ? 25.0 / 46 : 0.42;
  const double b = name == "hamming" ? -21.0 / 46 : -0.5, d = name == "blackman" ? 0.08 : 0;
  const double n = static_cast<double>(periodic ? size : size - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    const double angle = 2 * kPi * static_cast<double>(i) / n;
    values.push_back(n == 0 ? 1 : a + b * std::cos(angle) + d * std::cos(2 * angle));
  }
  c.Out(c.Cast(c.Tensor(Shape{size}, kFloat64, values.data()), dtype));
}

double MelOf(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double HertzOf(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

/* Triangles over the bins of a spectrum, equally far from each other in mels. */
void MelWeightMatrix(Call& c) {
  const int64_t mels = c.Int(0), n = c.Int(1), rate = c.Int(2);
  const double low = c.Float(3), high = c.Float(4);
  const int dtype = c.DTypeAttr("output_datatype", kFloat32);
  const int64_t limit = int64_t{1} << 20;
  if (mels < 1 || mels > limit || n < 1 || n > limit || rate < 1 || !(low >= 0) || !(high > low))
    c.Refuse("num_mel_bins " + Text(mels) + ", dft_length " + Text(n) + ", sample_rate " + Text(rate) + ", edges " + Text(low) + " and " +
             Text(high) + "; accepted: numbers from 1 on and edges in ascending order");
  const int64_t bins = n / 2 + 1;
  if (bins > kMostListed / mels) c.Refuse("a matrix of " + Text(bins) + " times " + Text(mels) + " numbers; accepted: up to 2^28");
  const double first = MelOf(low), step = (MelOf(high) - first) / static_cast<double>(mels + 2);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < mels + 2; ++i) {
    const double bin = std::floor(static_cast<double>(n + 1) * HertzOf(static_cast<double>(i) * step + first) / static_cast<double>(rate));
    if (!(bin < static_cast<double>(bins))) c.Refuse("upper_edge_hertz " + Text(high) + " is beyond the spectrum");
    at.push_back(static_cast<int64_t>(bin));
  }
  std::vector<double> weights(static_cast<size_t>(bins * mels), 0);
  for (int64_t i = 0; i < mels; ++i) {
    const int64_t left = at[static_cast<size_t>(i)], centre = at[static_cast<size_t>(i + 1)], right = at[static_cast<size_t>(i + 2)];
    const auto weight = [&](int64_t bin) -> double& { return weights[static_cast<size_t>(bin * mels + i)]; };
    if (centre == left)
      weight(centre) = 1;
    else
      for (int64_t j = left; j <= centre; ++j) weight(j) = static_cast<double>(j - left) / static_cast<double>(centre - left);
    for (int64_t j = centre; j < right; ++j) weight(j) = static_cast<double>(right - j) / static_cast<double>(right - centre);
  }
  c.Out(c.Cast(c.Tensor(Shape{bins, mels}, kFloat64, weights.data()), dtype));
}

}  // namespace

const Rules& SignalRules() {
  static const Rules rules = {
      {"", "DFT", 17, kNewest, ConvertDft, nullptr},           {"", "STFT", 17, kNewest, ConvertStft, nullptr},
      {"", "HannWindow", 17, kNewest, Window, "hann"},         {"", "HammingWindow", 17, kNewest, Window, "hamming"},
      {"", "BlackmanWindow", 17, kNewest, Window, "blackman"}, {"", "MelWeightMatrix", 17, kNewest, MelWeightMatrix, nullptr},
  };
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
