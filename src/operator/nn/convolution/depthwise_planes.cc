// A plane is copied block by block to where its borders are zeros, so that no sum looks for them.
#include "operator/nn/convolution/depthwise_planes.h"

#include <algorithm>

#include "base/copy_run.h"
#include "base/ran.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "operator/nn/common/epilogue.h"
#include "operator/nn/common/kept_weights.h"
#include "operator/shared/host_scratch.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kVector = 16;   // numbers that are computed together
constexpr int64_t kBlock = 4096;  // numbers of a block: it stays in the first cache with its results

struct Window {
  int64_t size[2], dilate[2], pad[2];
  int64_t Taps() const { return size[0] * size[1]; }
  int64_t Reach(int i) const { return (size[i] - 1) * dilate[i]; }
  // One that SumOfWindow knows?
  bool IsUsual() const { return size[0] == size[1] && (size[0] == 3 || size[0] == 5 || size[0] == 7); }
};

// Planes h x w become planes oh x ow.
struct Planes {
  Window window;
  int64_t h, w, oh, ow;
  int64_t pitch, rows;  // of a block, and its results
  int64_t places[kMostTaps];

  Planes(const Window& given, int64_t height, int64_t width, int64_t out_height, int64_t out_width)
      : window(given),
        h(height),
        w(width),
        oh(out_height),
        ow(out_width),
        pitch(ow + given.Reach(1)),
        rows(std::clamp<int64_t>(kBlock / pitch, 1, oh)) {
    for (int64_t t = 0; t < window.Taps(); ++t)
      places[t] = t / window.size[1] * window.dilate[0] * pitch + t % window.size[1] * window.dilate[1];
  }
  // What a vector at the last number needs behind it.
  int64_t Behind() const { return kVector + window.Reach(1); }
  int64_t BlockSize() const { return (rows + window.Reach(0)) * pitch + Behind(); }
  int64_t ResultSize() const { return rows * pitch + kVector; }

  // The rows that results from row `first` on need, `count` rows of them; `block` has zeros where
  // no plane is, from the start.
  void Load(const float* plane, int64_t first, int64_t count, float* block) const {
    const bool parts = rows < oh;  // of a plane: borders are elsewhere in each
    const size_t bytes = static_cast<size_t>(w) * sizeof(float);
    float* to = block + window.pad[1];
    for (int64_t r = 0, row = first - window.pad[0]; r < count + window.Reach(0); ++r, ++row, to += pitch) {
      if (row >= 0 && row < h)
        CopyRun(to, plane + row * w, bytes);
      else if (parts)
        std::fill_n(to, w, 0.0f);
    }
  }
};

// Zeros, for what Load leaves out.
struct Block : HostScratch<float> {
  explicit Block(int64_t size) : HostScratch<float>(size) { std::fill_n(get(), size, 0.0f); }
};

// Threads for planes that are read once: they wait for memory.
int Threads(int64_t planes, const Planes& p) {
  return OmpThreadsForFlops(8.0 * static_cast<double>(planes) * static_cast<double>(p.oh * p.ow * p.window.Taps()));
}

// `each`: so many filters read a plane.
void Convolve(const Planes& p, int64_t planes, int64_t filters, int64_t each, const float* from, const float* weights, const float* bias,
              float* to, const EpilogueOp& post = EpilogueOp()) {
  const int64_t taps = p.window.Taps();
  ParallelForThreads(Threads(planes, p), planes, [&](int64_t begin, int64_t end) {
    // Rows that fill half a vector are computed as one, with what stands between them.
    const bool as_one = p.ow <= kVector / 2 || p.window.dilate[0] > 1 || p.window.dilate[1] > 1 || !p.window.IsUsual();
    const int64_t pitch = as_one ? p.pitch : RoundUp(p.ow, kVector);  // of results
    const Block block(p.BlockSize()), result(p.rows * pitch + kVector);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t filter = i % filters;
      for (int64_t first = 0; first < p.oh; first += p.rows) {
        const int64_t count = std::min(p.rows, p.oh - first);
        p.Load(from + i / each * p.h * p.w, first, count, block.get());
        const float* window = weights + filter * taps;
        const float start = bias ? bias[filter] : 0.0f;
        if (as_one) MXNET_CPU_CALL(SumOfTaps)
        (taps, window, p.places, start, block.get(), RoundUp((count - 1) * p.pitch + p.ow, kVector), result.get());
        else MXNET_CPU_CALL(SumOfWindow)(p.window.size[0], window, start, block.get(), p.pitch, count, RoundUp(p.ow, kVector), result.get(),
                                         pitch);
        float* row = to + (i * p.oh + first) * p.ow;
        for (int64_t r = 0; r < count; ++r) CopyRun(row + r * p.ow, result.get() + r * pitch, static_cast<size_t>(p.ow) * sizeof(float));
        if (post) ApplyPost(post, row, row, count * p.ow);
      }
    }
  });
}

constexpr int64_t kTogether = 8;  // channels

// Sums of floats for so many numbers, then of doubles.
class Sums {
 public:
  void Clear(int64_t taps) {
    std::fill_n(floats_, taps * kVector, 0.0f);
    std::fill_n(sums_, taps, 0.0);
  }
  float* Floats(int64_t taps, int64_t numbers) {
    if ((numbers_ += numbers) > kBlock) Settle(taps);
    return floats_;
  }
  void Store(int64_t taps, float* to) {
    Settle(taps);
    for (int64_t t = 0; t < taps; ++t) to[t] = static_cast<float>(sums_[t]);
  }

 private:
  void Settle(int64_t taps) {
    for (int64_t k = 0; k < kVector; ++k)
      for (int64_t t = 0; t < taps; ++t) sums_[t] += static_cast<double>(floats_[t * kVector + k]);
    std::fill_n(floats_, taps * kVector, 0.0f);
    numbers_ = 0;
  }
  int64_t numbers_ = 0;
  double sums_[kMostTaps];
  alignas(64) float floats_[kMostTaps * kVector];
};

struct WeightGradient {
  const Planes& p;
  const int64_t batch, channels;
  const float *from, *ograd;
  float *weights, *bias;

  // Channels [begin, end): their planes lie behind each other in each image.
  void Of(int64_t begin, int64_t end, const Block& block, const Block& factors) const {
    const int64_t taps = p.window.Taps();
    Sums sums[kTogether];
    double all[kTogether] = {};
    for (int64_t c = begin; c < end; ++c) sums[c - begin].Clear(taps);
    for (int64_t n = 0; n < batch; ++n)
      for (int64_t c = begin; c < end; ++c)
        for (int64_t first = 0; first < p.oh; first += p.rows) {
          const int64_t i = n * channels + c, count = std::min(p.rows, p.oh - first), length = RoundUp(count * p.pitch, kVector);
          const float* row = ograd + (i * p.oh + first) * p.ow;
          for (int64_t r = 0; r < count; ++r)
            CopyRun(factors.get() + r * p.pitch, row + r * p.ow, static_cast<size_t>(p.ow) * sizeof(float));
          if (count < p.rows) std::fill(factors.get() + count * p.pitch, factors.get() + p.ResultSize(), 0.0f);
          if (bias) all[c - begin] += MXNET_CPU_CALL(SumOfNumbers)(factors.get(), length);
          if (!weights) continue;
          p.Load(from + i * p.h * p.w, first, count, block.get());
          MXNET_CPU_CALL(DotsOfTaps)(taps, p.places, block.get(), factors.get(), length, sums[c - begin].Floats(taps, length));
        }
    for (int64_t c = begin; c < end; ++c) {
      if (weights) sums[c - begin].Store(taps, weights + c * taps);
      if (bias) bias[c] = static_cast<float>(all[c - begin]);
    }
  }

  void Run() const {
    ParallelForThreads(Threads(batch * channels, p), channels, [&](int64_t begin, int64_t end) {
      const Block block(p.BlockSize()), factors(p.ResultSize());
      for (int64_t c = begin; c < end; c += kTogether) Of(c, std::min(end, c + kTogether), block, factors);
    });
  }
};

Window WindowOf(const ConvDims& d) { return {{d.kernel[1], d.kernel[2]}, {d.dilate[1], d.dilate[2]}, {d.pad[1], d.pad[2]}}; }

bool Takes(const ConvCall& call) {
  const ConvDims& d = call.dims;
  if (call.dtype != kFloat32 || d.groups != d.channels || d.filters % d.channels != 0) return false;
  if (d.filters != d.channels && call.pass != ConvPass::kForward) return false;
  if (call.src.channels_last || call.dst.channels_last || call.accumulate || call.wide_bias) return false;
  if (d.in[0] != 1 || d.out[0] != 1 || d.kernel[0] != 1 || d.pad[0] != 0) return false;
  // Vectors of a few channels are empty for the most part, whatever the window.
  const bool few = d.filters < kVector && d.kernel[1] * d.kernel[2] <= kMostTaps;
  const bool many = d.channels > 1 && d.filters == d.channels && WindowOf(d).IsUsual();
  // Sequences: vectors lie along them, where the library has a sequence's channels side by side.
  const bool line =
      d.in[1] == 1 && d.kernel[1] == 1 && d.filters == d.channels && d.kernel[2] <= kMostTaps && call.pass == ConvPass::kForward;
  if ((!few && !many && !line) || (call.post && !line)) return false;
  for (int i = 1; i < 3; ++i) {
    const int64_t reach = (d.kernel[i] - 1) * d.dilate[i];
    if (d.stride[i] != 1 || d.pad[i] > reach || d.out[i] != d.in[i] + 2 * d.pad[i] - reach || d.in[i] < 1 || d.out[i] < 1) return false;
  }
  // There the sums of each plane cost more than what the library reorders: 7680 planes of 7 x 7
  // take it 0.18 ms instead of 0.6.
  return call.pass != ConvPass::kBackwardWeights || d.kernel[1] * d.kernel[2] > 9 || d.OutSize() > 64;
}

}  // namespace

bool DepthwisePlanes(KernelArgs& args, const ConvCall& call) {
  if (!Takes(call)) return false;
  Ran("depthwise on planes");
  const ConvDims& d = call.dims;
  const Window window = WindowOf(d);
  const Planes forward(window, d.in[1], d.in[2], d.out[1], d.out[2]);
  auto *src = static_cast<float*>(call.src.ptr), *dst = static_cast<float*>(call.dst.ptr), *bias = static_cast<float*>(call.bias);
  auto* weights = static_cast<float*>(call.weight.ptr);
  if (call.pass == ConvPass::kBackwardWeights) {
    WeightGradient{forward, d.batch, d.channels, src, dst, weights, bias}.Run();
    return true;
  }
  args.NeedWeights(weights);
  if (call.pass == ConvPass::kForward) {
    Convolve(forward, d.batch * d.filters, d.filters, d.filters / d.channels, src, weights, bias, dst, call.post);
    return true;
  }
  // The gradient of the data is a convolution, too, with the window turned around.
  const int64_t taps = window.Taps();
  Window back = window;
  for (int i = 0; i < 2; ++i) back.pad[i] = window.Reach(i) - window.pad[i];
  const HostScratch<float> turned(d.channels * taps);
  for (int64_t c = 0; c < d.channels; ++c) std::reverse_copy(weights + c * taps, weights + (c + 1) * taps, turned.get() + c * taps);
  Convolve(Planes(back, d.out[1], d.out[2], d.in[1], d.in[2]), d.batch * d.channels, d.channels, 1, dst, turned.get(), nullptr, src);
  return true;
}

bool DepthwiseSequences(KernelArgs& args, const ConvCall& call) {
  const ConvDims& d = call.dims;
  for (int i = 0; i < 2; ++i)
    if (d.in[i] != 1 || d.out[i] != 1 || d.kernel[i] != 1) return false;
  if (call.pass != ConvPass::kForward || call.dtype != kFloat32 || call.wide_bias || call.accumulate) return false;
  if (!call.src.channels_last || !call.dst.channels_last || d.groups != d.channels || d.filters != d.channels || d.stride[2] != 1)
    return false;
  Ran("depthwise along sequences");
  const int64_t c = d.channels, taps = d.kernel[2];
  const float* weights =
      KeptWeights(args, call.weight_input, call.weight.ptr, uint64_t{0x5f} << 32 | static_cast<uint64_t>(c), c * taps, [&](float* to) {
        const auto* from = static_cast<const float*>(call.weight.ptr);
        for (int64_t t = 0; t < taps; ++t)
          for (int64_t i = 0; i < c; ++i) to[t * c + i] = from[i * taps + t];
      });
  const auto *x = static_cast<const float*>(call.src.ptr), *bias = static_cast<const float*>(call.bias);
  auto* y = static_cast<float*>(call.dst.ptr);
  const int threads = OmpThreadsForFlops(8.0 * static_cast<double>(d.batch * d.out[2]) * static_cast<double>(c * taps));
  ParallelForThreads(threads, d.batch * d.out[2], [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // Elements of the window that lie in the sequence.
      const int64_t at = i % d.out[2] - d.pad[2];
      const int64_t first = std::min(taps, at >= 0 ? 0 : (-at + d.dilate[2] - 1) / d.dilate[2]);
      const int64_t last = at >= d.in[2] ? first : std::clamp((d.in[2] - 1 - at) / d.dilate[2] + 1, first, taps);
      const float* from = x + (i / d.out[2] * d.in[2] + (first < last ? at + first * d.dilate[2] : 0)) * c;
      MXNET_CPU_CALL(SumOfSteps)(last - first, weights + first * c, bias, from, d.dilate[2] * c, c, y + i * c);
    }
    if (call.post) ApplyPost(call.post, y + begin * c, y + begin * c, (end - begin) * c);
  });
  return true;
}

}  // namespace nn
}  // namespace mxnet
