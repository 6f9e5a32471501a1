// The deformable convolutions on the CPU: columns of bilinear samples, piece by piece, and matrix
// products.
#include <algorithm>

#include "base/ran.h"
#include "operator/nn/common/nn_common.h"
#include "operator/nn/deformable/deformable_convolution.h"
#include "operator/shared/gemm.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kPieceElements = int64_t{1} << 20;  // of a matrix of columns
constexpr int64_t kBlock = 256;                       // places that one thread samples at a time
constexpr int64_t kRound = 16;

// The matrix of columns of some neighbouring positions of an image at a time. Its row for element t
// of the window in channel c is c * taps + t.
template <typename T>
class Pieces {
 public:
  Pieces(KernelArgs& args, const DeformCall& call, bool derivatives) : c_(call), derivatives_(derivatives) {
    size_ = std::max<int64_t>(kRound, kPieceElements / call.rows() / kRound * kRound);
    size_ = std::min(size_, (call.positions() + kRound - 1) / kRound * kRound);
    const int64_t tables = call.deformable_groups * call.taps(), each = size_ * Samples<T>::Words(derivatives);
    numbers_ = Workspace<T>(args, tables * each);
    pixels_ = Workspace<int32_t>(args, tables * size_ * 4);
    at_[0] = Workspace<T>(args, size_ * 2), at_[1] = at_[0] + size_;
    columns_ = Workspace<T>(args, call.rows() * size_);
  }
  int64_t size() const { return size_; }
  T* columns() { return columns_; }
  int64_t tables() const { return c_.deformable_groups * c_.taps(); }
  int64_t channels_of_a_table() const { return c_.channels / c_.deformable_groups; }

  /* The samples of `n` positions from `first` on. */
  void Sample(const T* offset, const T* mask, int64_t first, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      at_[0][i] = static_cast<T>((first + i) / c_.out_w * c_.stride[0] - c_.pad[0]);
      at_[1][i] = static_cast<T>((first + i) % c_.out_w * c_.stride[1] - c_.pad[1]);
    }
    Ran("im2col of places");
    ParallelFor(tables(), std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
      T moved[2][kBlock];
      for (int64_t k = begin; k < end; ++k) {
        const T tap[2] = {static_cast<T>(k % c_.taps() / c_.kernel[1] * c_.dilate[0]), static_cast<T>(k % c_.kernel[1] * c_.dilate[1])};
        const T* down = offset + 2 * k * c_.positions() + first;
        for (int64_t at = 0; at < n; at += kBlock) {
          const Samples<T> s = Table(k, at, std::min(kBlock, n - at), mask != nullptr);
          for (int64_t i = 0; i < s.n; ++i) moved[0][i] = at_[0][at + i] + tap[0], moved[1][i] = at_[1][at + i] + tap[1];
          const SamplePlaces<T> places{c_.h,
                                       c_.w,
                                       c_.beyond,
                                       moved[0],
                                       moved[1],
                                       down + at,
                                       down + c_.positions() + at,
                                       mask ? mask + k * c_.positions() + first + at : nullptr};
          MXNET_CPU_CALL(DeformPlaces)(sizeof(T) == 8, &places, &s);
        }
      }
    });
  }

  /* Those of element k % taps of the window in group k / taps, `n` from place `at` on. */
  Samples<T> Table(int64_t k, int64_t at, int64_t n, bool masked) const {
    Samples<T> s;
    s.n = n;
    T* numbers = numbers_ + k * size_ * Samples<T>::Words(derivatives_) + at;
    auto next = [&] { return numbers += size_, numbers - size_; };
    for (int i = 0; i < 4; ++i) {
      s.pixel[i] = pixels_ + (k * 4 + i) * size_ + at;
      s.weight[i] = next();
      s.down[i] = derivatives_ ? next() : nullptr;
      s.right[i] = derivatives_ ? next() : nullptr;
    }
    s.factor = next();
    if (!masked) s.factor = nullptr;
    return s;
  }

  void MakeColumns(const T* image, int64_t n, bool masked) {
    ParallelFor(c_.rows(), std::max<int64_t>(1, 8192 / n), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t c = row / c_.taps(), k = c / channels_of_a_table() * c_.taps() + row % c_.taps();
        const Samples<T> s = Table(k, 0, n, masked);
        MXNET_CPU_CALL(DeformColumn)(sizeof(T) == 8, &s, image + c * c_.h * c_.w, columns_ + row * size_);
      }
    });
  }

 private:
  const DeformCall& c_;
  bool derivatives_;
  int64_t size_;
  T *numbers_, *at_[2], *columns_;
  int32_t* pixels_;
};

template <typename T>
void ForwardOf(KernelArgs& a, const DeformCall& c) {
  const T *x = a.in[0].data<T>(), *offset = a.in[1].data<T>(), *mask = c.masked ? a.in[2].data<T>() : nullptr;
  const T *weight = a.in[c.weight()].data<T>(), *bias = c.no_bias ? nullptr : a.in[c.weight() + 1].data<T>();
  T* y = a.out[0].data<T>();
  const int64_t positions = c.positions(), tables = c.deformable_groups * c.taps(), plane = c.h * c.w;
  for (int64_t f = 0; f < c.batch * c.filters; ++f) std::fill_n(y + f * positions, positions, bias ? bias[f % c.filters] : T(0));
  if (c.rows() == 0 || plane == 0) return;
  Pieces<T> pieces(a, c, false);
  const int64_t filters = c.filters / c.groups, rows = c.rows() / c.groups;
  for (int64_t image = 0; image < c.batch; ++image)
    for (int64_t first = 0, n; first < positions; first += n) {
      n = std::min(pieces.size(), positions - first);
      pieces.Sample(offset + image * 2 * tables * positions, mask ? mask + image * tables * positions : nullptr, first, n);
      pieces.MakeColumns(x + image * c.channels * plane, n, mask != nullptr);
      for (int64_t g = 0; g < c.groups; ++g)
        Gemm(false, false, filters, n, rows, T(1), weight + g * filters * rows, rows, pieces.columns() + g * rows * pieces.size(),
             pieces.size(), T(1), y + (image * c.filters + g * filters) * positions + first, positions);
    }
}

template <typename T>
struct Backward {
  KernelArgs& a;
  const DeformCall& c;
  const T *og, *x, *offset, *mask, *weight;
  T *dx, *doffset, *dmask, *dweight, *dbias;

  T* Output(int i) const { return Wanted(a, i) ? a.out[i].data<T>() : nullptr; }
  Backward(KernelArgs& args, const DeformCall& call) : a(args), c(call) {
    og = a.in[0].data<T>(), x = a.in[1].data<T>(), offset = a.in[2].data<T>();
    mask = c.masked ? a.in[3].data<T>() : nullptr;
    weight = a.in[1 + c.weight()].data<T>();
    dx = Output(0), doffset = Output(1), dmask = c.masked ? Output(2) : nullptr, dweight = Output(c.weight());
    dbias = c.no_bias ? nullptr : Output(c.weight() + 1);
  }

  void Run() {
    for (int i = 0; i < a.out.size(); ++i)
      if (Wanted(a, i)) std::fill_n(a.out[i].data<T>(), a.out[i].Size(), T(0));
    if (a.in[0].Size() == 0) return;
    if (dbias) SumOverPositions();
    if (c.rows() == 0 || c.h * c.w == 0 || !(dx || doffset || dmask || dweight)) return;
    const bool places = doffset || dmask;
    Pieces<T> pieces(a, c, places);
    const int64_t filters = c.filters / c.groups, rows = c.rows() / c.groups, step = pieces.size(), positions = c.positions();
    const int64_t tables = pieces.tables();
    T* grads = Workspace<T>(a, c.rows() * step);
    T* sums = places ? Workspace<T>(a, tables * step * 3) : nullptr;
    for (int64_t image = 0; image < c.batch; ++image)
      for (int64_t first = 0, n; first < positions; first += n) {
        n = std::min(step, positions - first);
        pieces.Sample(offset + image * 2 * tables * positions, mask ? mask + image * tables * positions : nullptr, first, n);
        const T* up = og + image * c.filters * positions + first;
        const T* data = x + image * c.channels * c.h * c.w;
        for (int64_t g = 0; g < c.groups && (places || dx); ++g)
          Gemm(true, false, rows, n, filters, T(1), weight + g * filters * rows, rows, up + g * filters * positions, positions, T(0),
               grads + g * rows * step, step);
        if (places)
          ByPlace(pieces, data, grads, sums, image, first, n);
        else if (dweight)
          pieces.MakeColumns(data, n, mask != nullptr);
        for (int64_t g = 0; g < c.groups && dweight; ++g)
          Gemm(false, true, filters, rows, n, T(1), up + g * filters * positions, positions, pieces.columns() + g * rows * step, step, T(1),
               dweight + g * filters * rows, rows);
        if (dx) ByPixel(pieces, grads, dx + image * c.channels * c.h * c.w, n);
      }
  }

  // Gradients by offset and mask, and the columns on the way; each thread has places of its own.
  void ByPlace(Pieces<T>& pieces, const T* data, const T* grads, T* sums, int64_t image, int64_t first, int64_t n) {
    const int64_t tables = pieces.tables(), taps = c.taps(), step = pieces.size(), blocks = (n + kBlock - 1) / kBlock,
                  positions = c.positions(), own = pieces.channels_of_a_table();
    ParallelFor(tables * blocks, std::max<int64_t>(1, 8192 / (std::min(n, kBlock) * own)), [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const int64_t k = item / blocks, at = item % blocks * kBlock, count = std::min(kBlock, n - at);
        const Samples<T> s = pieces.Table(k, at, count, mask != nullptr);
        T *down = sums + k * step * 3 + at, *right = down + step, *factor = right + step;
        for (T* to : {down, right, factor}) std::fill_n(to, count, T(0));
        for (int64_t channel = k / taps * own; channel < (k / taps + 1) * own; ++channel) {
          const int64_t row = (channel * taps + k % taps) * step + at;
          MXNET_CPU_CALL(DeformGradients)
          (sizeof(T) == 8, &s, data + channel * c.h * c.w, grads + row, dweight ? pieces.columns() + row : nullptr, down, right,
           mask ? factor : nullptr);
        }
        if (doffset) {
          T* to = doffset + (image * tables + k) * 2 * positions + first + at;
          std::copy(down, down + count, to);
          std::copy(right, right + count, to + positions);
        }
        if (dmask) std::copy(factor, factor + count, dmask + (image * tables + k) * positions + first + at);
      }
    });
  }

  // Each thread has channels of its own.
  void ByPixel(Pieces<T>& pieces, const T* grads, T* to, int64_t n) {
    const int64_t taps = c.taps();
    ParallelFor(c.channels, std::max<int64_t>(1, 4096 / (n * taps)), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin * taps; row < end * taps; ++row) {
        const int64_t channel = row / taps, k = channel / pieces.channels_of_a_table() * taps + row % taps;
        const Samples<T> s = pieces.Table(k, 0, n, mask != nullptr);
        MXNET_CPU_CALL(DeformScatter)(sizeof(T) == 8, &s, grads + row * pieces.size(), to + channel * c.h * c.w);
      }
    });
  }

  void SumOverPositions() {
    const int64_t positions = c.positions();
    ParallelFor(c.filters, std::max<int64_t>(1, 16384 / (positions * c.batch)), [&](int64_t begin, int64_t end) {
      for (int64_t f = begin; f < end; ++f) {
        double sum = 0;
        for (int64_t image = 0; image < c.batch; ++image) {
          const T* from = og + (image * c.filters + f) * positions;
          for (int64_t p = 0; p < positions; ++p) sum += static_cast<double>(from[p]);
        }
        dbias[f] = static_cast<T>(sum);
      }
    });
  }
};

}  // namespace

void DeformForward(KernelArgs& args, const DeformCall& call) {
  RunReal(args, [&](KernelArgs& a, auto number) { ForwardOf<decltype(number)>(a, call); });
}

void DeformBackward(KernelArgs& args, const DeformCall& call) {
  RunReal(args, [&](KernelArgs& a, auto number) { Backward<decltype(number)>(a, call).Run(); });
}

}  // namespace nn
}  // namespace mxnet
