#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/indexing/gpu_sequence.h"
#include "operator/init/fill_cpu.h"

namespace mxnet {
namespace {

constexpr int64_t kBlockBytes = 1 << 15;  // what is copied and still in the cache when some of it gets the value

template <typename T>
class Masked {
 public:
  Masked(const Sequences& s, const int64_t* lengths, T value, const T* in, T* out)
      : s_(s), lengths_(lengths), value_(value), in_(in), out_(out) {}

  // Each sequence is one range.
  void Ranges() const {
    const int64_t each = s_.steps * s_.inner;
    ParallelFor(s_.batch, Grain(each), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t kept = b * each + lengths_[b] * s_.inner;
        Copy(b * each, kept);
        std::fill(out_ + kept, out_ + (b + 1) * each, value_);
      }
    });
  }

  // Step by step, each of all sequences.
  void Steps() const {
    const int64_t row = s_.batch * s_.inner, longest = *std::max_element(lengths_, lengths_ + s_.batch);
    const int64_t block = std::max<int64_t>(1, kBlockBytes / static_cast<int64_t>(sizeof(T)) / row);
    ParallelFor(s_.steps, Grain(row), [&](int64_t begin, int64_t end) {
      const int64_t kept = std::min(end, std::max(begin, longest));
      for (int64_t first = begin; first < kept; first += block) {
        const int64_t last = std::min(kept, first + block);
        Copy(first * row, last * row);
        for (int64_t b = 0; b < s_.batch; ++b)
          for (int64_t t = std::max(first, lengths_[b]); t < last; ++t) std::fill_n(out_ + t * row + b * s_.inner, s_.inner, value_);
      }
      std::fill(out_ + kept * row, out_ + end * row, value_);
    });
  }

 private:
  static int64_t Grain(int64_t each) { return std::max<int64_t>(1, Env::Get().cpu_parallel_size / std::max<int64_t>(each, 1)); }
  void Copy(int64_t begin, int64_t end) const {
    if (in_ != out_) std::memcpy(out_ + begin, in_ + begin, static_cast<size_t>(end - begin) * sizeof(T));
  }

  const Sequences& s_;
  const int64_t* const lengths_;
  const T value_;
  const T* const in_;
  T* const out_;
};

}  // namespace

void MaskOnCpu(const Sequences& s, const int64_t* lengths, double value, const TBlob& in, const TBlob& out) {
  uint64_t bits = 0;  // the value in the dtype of out
  TBlob one;
  one.dptr = &bits;
  one.shape = Shape({1});
  one.dtype = out.dtype;
  FillValue(one, value);
  const auto run = [&](auto number) {  // unsigned integers stand for elements of their size
    using T = decltype(number);
    std::memcpy(&number, &bits, sizeof(T));
    const Masked<T> masked(s, lengths, number, in.data<T>(), out.data<T>());
    s.step_stride == 1 ? masked.Ranges() : masked.Steps();
  };
  switch (DTypeSize(out.dtype)) {
    case 1: return run(uint8_t{});
    case 2: return run(uint16_t{});
    case 4: return run(uint32_t{});
    default: return run(uint64_t{});
  }
}

}  // namespace mxnet
