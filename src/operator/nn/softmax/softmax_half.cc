// Softmax of half-precision arrays: tile by tile through small buffers of float, never a float copy
// of the array.
#include <cstring>
#include <memory>

#include "operator/nn/common/half_pieces.h"
#include "operator/nn/softmax/softmax.h"

namespace mxnet {
namespace nn {
namespace {

constexpr int64_t kTileElements = 8192;  // with its neighbours in the second-level cache

/* Part of an array that is computed by itself: `runs` runs of `width` neighbouring elements,
 * `stride` apart. */
struct Tile {
  SoftmaxCall call;   // what the loops see: the tile as an array without gaps
  int64_t outer = 1;  // slices of that array
  int64_t at = 0, runs = 1, width = 0, stride = 0;
  void Load(const TBlob& from, float* to) const {
    for (int64_t r = 0; r < runs; ++r) ReadFloats(from, at + r * stride, to + r * width, width);
  }
  void Store(const float* from, const TBlob& to) const {
    for (int64_t r = 0; r < runs; ++r) WriteFloats(from + r * width, to, at + r * stride, width);
  }
};

/*
 * f(tile, buffer) for tiles that cover `outer` slices, on several threads; `buffer` has room for
 * `buffers` times the tile. A tile is a group of whole slices, or some columns of a slice that is
 * large.
 */
template <typename F>
void ForTiles(const SoftmaxCall& c, int64_t outer, int buffers, F&& f) {
  const int64_t slice = c.length * c.inner;
  if (outer * slice == 0) return;
  const bool columns = c.inner > 1 && slice > kTileElements;
  const int64_t widest = std::min<int64_t>(256, std::max<int64_t>(32, kTileElements / c.length));
  const int64_t per_slice = columns ? (c.inner + widest - 1) / widest : 1;
  const int64_t width = columns ? (c.inner + per_slice - 1) / per_slice : 0;  // equally wide, without a narrow rest
  const int64_t group = columns ? 1 : std::max<int64_t>(1, kTileElements / slice);
  const int64_t tiles = columns ? outer * per_slice : (outer + group - 1) / group;
  const int64_t room = columns ? width * c.length : std::min(group, outer) * slice;
  ParallelFor(tiles, 1, [&](int64_t begin, int64_t end) {
    const std::unique_ptr<float[]> buffer(new float[static_cast<size_t>(room) * buffers]);
    const std::unique_ptr<unsigned char[]> mask(columns && c.mask ? new unsigned char[static_cast<size_t>(room)] : nullptr);
    for (int64_t i = begin; i < end; ++i) {
      Tile t;
      t.call = c;
      const int64_t o = columns ? i / per_slice : i * group, j = columns ? i % per_slice * width : 0;
      t.at = o * slice + j;
      if (c.lengths) t.call.lengths = c.lengths + o * c.inner + j;
      if (columns) {
        t.runs = c.length, t.width = std::min(width, c.inner - j), t.stride = c.inner;
        t.call.inner = t.width;
        if (c.mask) {
          for (int64_t r = 0; r < t.runs; ++r)
            std::memcpy(mask.get() + r * t.width, c.mask + t.at + r * t.stride, static_cast<size_t>(t.width));
          t.call.mask = mask.get();
        }
      } else {
        t.outer = std::min(group, outer - o);
        t.width = t.outer * slice;
        if (c.mask) t.call.mask = c.mask + t.at;
      }
      f(t, buffer.get());
    }
  });
}

}  // namespace

void RunSoftmaxHalf(SoftmaxCall c, const TBlob& x, const TBlob& y, int64_t outer) {
  c.safe = Env::Get().safe_accumulation;
  ForTiles(c, outer, 1, [&](const Tile& t, float* values) {
    t.Load(x, values);
    MXNET_CPU_CALL(SoftmaxForward)(t.call, kFloat32, values, values, 0, t.outer);
    t.Store(values, y);
  });
}

void RunSoftmaxBackwardHalf(SoftmaxCall c, const TBlob& og, const TBlob& y, const TBlob& dx, int64_t outer) {
  c.safe = Env::Get().safe_accumulation;
  const unsigned char* mask = c.mask;  // the loops know none: gradients of what does not count are 0 beforehand
  ForTiles(c, outer, 2, [&](const Tile& t, float* values) {
    float* gradient = values + t.runs * t.width;
    t.Load(y, values);
    t.Load(og, gradient);
    if (mask)
      for (int64_t i = 0; i < t.runs * t.width; ++i) gradient[i] = t.call.mask[i] ? gradient[i] : 0.0f;
    MXNET_CPU_CALL(SoftmaxBackward)(t.call, kFloat32, gradient, values, gradient, 0, t.outer);
    t.Store(gradient, dx);
  });
}

}  // namespace nn
}  // namespace mxnet
