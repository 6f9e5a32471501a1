/* Convolutions as products of rows that are found through pointers, for elements of any size: what
 * float32 and bfloat16 share. */
#ifndef MXNET_OPERATOR_NN_CPU_GEMM_PACKED_GEOMETRY_H_
#define MXNET_OPERATOR_NN_CPU_GEMM_PACKED_GEOMETRY_H_

#include <algorithm>
#include <cstring>

#include "base/cache_sets.h"
#include "base/round_up.h"
#include "base/threads/omp.h"
#include "base/threads/shared_items.h"
#include "operator/nn/cpu_gemm/packed.h"

namespace mxnet {
namespace nn {

constexpr int64_t kPointers = 4096;  // to rows, of a block of pixels
constexpr int64_t kLeastDepth = 8;   // fewer channels: whole lines of the window are multiplied at once
constexpr int64_t kMostDepth = 4096;

/* The last two spatial dimensions of a convolution, with the segments that its window falls
 * into. */
struct Geometry {
  int64_t batch, h, w, c, oh, ow, filters, kh, kw, sh, sw, dh, dw, ph, pw;
  bool lines;     // a segment is a line of the window, else a position
  bool bordered;  // the data is copied with its border of zeros first
  bool planes;    // ... from an image whose channels are apart
  int64_t segments, depth;
  int64_t blocks, block_c,
      block_f;  // groups are computed by blocks that fill a vector of filters, with zeros where weights belong to another group
  int64_t Pixels() const { return batch * oh * ow; }
  int64_t K() const { return kh * kw * block_c; }
  double Flops() const { return 2.0 * static_cast<double>(Pixels() * filters) * static_cast<double>(K()); }
};

/* False: not a convolution that packed kernels with vectors of `lanes` filters compute. Dtypes are
 * not looked at. */
inline bool GeometryOf(const ConvCall& call, int lanes, Geometry* g) {
  const ConvDims& d = call.dims;
  if (call.pass != ConvPass::kForward) return false;
  if (!(call.dst.channels_last || d.OutSize() == 1)) return false;
  if (d.in[0] != 1 || d.out[0] != 1 || d.kernel[0] != 1 || d.pad[0] != 0) return false;
  *g = {d.batch,     d.in[1],     d.in[2],     d.channels,  d.out[1],    d.out[2], d.filters, d.kernel[1],
        d.kernel[2], d.stride[1], d.stride[2], d.dilate[1], d.dilate[2], d.pad[1], d.pad[2],  false,
        false,       false,       0,           0,           0,           0,        0};
  int64_t together = std::max<int64_t>(1, std::min(d.groups, lanes / (d.filters / d.groups)));
  while (d.groups % together) --together;
  g->blocks = d.groups / together, g->block_c = d.channels / g->blocks, g->block_f = d.filters / g->blocks;
  if (d.groups > 1 && g->c > kMostDepth) return false;  // rows of zeros are shifted as data is
  g->planes = !call.src.channels_last && d.InSize() > 1 && d.channels > 1;
  if (g->planes && (g->blocks > 1 || g->c >= kLeastDepth || g->kw == 1 || g->dw != 1)) return false;
  const bool outside = g->pw > 0 || (g->ow - 1) * g->sw + (g->kw - 1) * g->dw >= g->w;
  g->lines = g->blocks == 1 && g->dw == 1 && g->kw > 1 && (!outside || g->c < kLeastDepth);
  g->bordered = g->lines && (outside || g->planes || g->ph > 0 || (g->oh - 1) * g->sh + (g->kh - 1) * g->dh >= g->h);
  g->segments = g->lines ? g->kh : g->kh * g->kw;
  g->depth = g->lines ? g->kw * g->c : g->block_c;
  return g->depth > 0 && g->depth <= kMostDepth * (g->segments == 1 || g->lines ? 1024 : 1) && g->segments <= kPointers / 24;
}

// to[i * channels + c] = from[c * apart + i]
template <int kChannels, typename T>
void Interleave(const T* from, int64_t apart, int64_t width, T* to) {
  for (int64_t i = 0; i < width; ++i)
    for (int c = 0; c < kChannels; ++c) to[i * kChannels + c] = from[c * apart + i];
}

/* x with zeros around it, as far as windows reach, channels last; from then on it is the data. */
template <typename T>
const T* Bordered(Geometry* g, const T* x, const WorkspaceFn& workspace) {
  const int64_t h = std::max(g->ph + g->h, (g->oh - 1) * g->sh + (g->kh - 1) * g->dh + 1),
                w = std::max(g->pw + g->w, (g->ow - 1) * g->sw + g->kw);
  T* made = static_cast<T*>(workspace(static_cast<size_t>(g->batch * h * w * g->c) * sizeof(T)));
  const Geometry from = *g;
  ParallelFor(g->batch * h, std::max<int64_t>(1, 65536 / (w * g->c)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* line = made + i * w * from.c;
      const int64_t y = i % h - from.ph;
      if (y < 0 || y >= from.h) {
        std::fill(line, line + w * from.c, T());
        continue;
      }
      std::fill(line, line + from.pw * from.c, T());
      if (from.planes) {
        static constexpr void (*interleave[])(const T*, int64_t, int64_t, T*) = {Interleave<2, T>, Interleave<3, T>, Interleave<4, T>,
                                                                                 Interleave<5, T>, Interleave<6, T>, Interleave<7, T>};
        interleave[from.c - 2](x + (i / h * from.c * from.h + y) * from.w, from.h * from.w, from.w, line + from.pw * from.c);
      } else {
        std::memcpy(line + from.pw * from.c, x + (i / h * from.h + y) * from.w * from.c, static_cast<size_t>(from.w * from.c) * sizeof(T));
      }
      std::fill(line + (from.pw + from.w) * from.c, line + w * from.c, T());
    }
  });
  g->h = h, g->w = w, g->ph = g->pw = 0;
  return made;
}

/* rows[segment * stride + i]: where segments of pixels [begin, end) begin; `zeros` where they lie
 * outside the data. */
template <typename T>
void Point(const Geometry& g, const T* x, const T* zeros, int64_t begin, int64_t end, int64_t stride, const T** rows) {
  if (g.segments == 1 && g.sh == 1 && g.sw == 1 && g.ph == 0 && g.pw == 0 && g.h == g.oh && g.w == g.ow) {
    for (int64_t i = begin; i < end; ++i) rows[i - begin] = x + i * g.c;
    return;
  }
  const int64_t positions = g.lines ? 1 : g.kw, count = end - begin;
  int64_t ox = begin % g.ow, oy = begin / g.ow % g.oh;
  const auto address = [x](int64_t offset) {
    return reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(x) + static_cast<uintptr_t>(offset) * sizeof(T));
  };
  // As if the data went on around its borders; what lies there is put right afterwards.
  for (int64_t i = 0, x_at = ox, y_at = oy, n_at = begin / g.ow / g.oh; i < count; ++i) {
    rows[i] = address(((n_at * g.h + y_at * g.sh - g.ph) * g.w + x_at * g.sw - g.pw) * g.c);
    if (++x_at == g.ow) {
      x_at = 0;
      if (++y_at == g.oh) y_at = 0, ++n_at;
    }
  }
  for (int64_t segment = g.segments - 1; segment > 0; --segment) {
    const uintptr_t offset = static_cast<uintptr_t>((segment / positions * g.dh * g.w + segment % positions * g.dw) * g.c) * sizeof(T);
    const T** to = rows + segment * stride;
    for (int64_t i = 0; i < count; ++i) to[i] = reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(rows[i]) + offset);
  }
  const int64_t high = g.h - (g.kh - 1) * g.dh, wide = g.w - (positions - 1) * g.dw;  // windows that begin before these end inside
  for (int64_t i = 0; i < count; ++i) {
    const int64_t y = oy * g.sh - g.ph, left = ox * g.sw - g.pw;
    if (y < 0 || y >= high || left < 0 || left >= wide)
      for (int64_t r = 0; r < g.kh; ++r)
        for (int64_t s = 0; s < positions; ++s) {
          const int64_t iy = y + r * g.dh, ix = left + s * g.dw;
          if (iy < 0 || iy >= g.h || ix < 0 || ix >= g.w) rows[(r * positions + s) * stride + i] = zeros;
        }
    if (++ox == g.ow) {
      ox = 0;
      if (++oy == g.oh) oy = 0;
    }
  }
}

/*
 * Rows that lie a multiple of some power of two apart fall into a few sets of the first-level
 * cache. Where such a set holds fewer lines than a register tile has rows in it, every element
 * comes from the second level. These rows are copied, a line of cache further apart, before they
 * are multiplied: with so many filters that a copy's time does not count.
 */
constexpr int64_t kCopied = 400 << 10;  // bytes of a thread at a time, which stay in the second-level cache with a panel of weights
constexpr int64_t kLeastCopied = 28;    // pixels: two tiles at least for each reading of a panel

template <typename T>
bool Collide(const Geometry& g, int rows) {
  return g.blocks == 1 && g.filters >= 64 && RowsCollide(g.sw * g.c * static_cast<int64_t>(sizeof(T)), rows);
}

template <typename T>
int64_t CopiedPitch(const Geometry& g) {
  return g.depth + kCacheLine / static_cast<int64_t>(sizeof(T));
}

// As many pixels as are copied at a time, of `most`.
template <typename T>
int64_t CopiedPixels(const Geometry& g, int64_t most) {
  return std::min(most, std::max(kLeastCopied, kCopied / (g.segments * CopiedPitch<T>(g) * static_cast<int64_t>(sizeof(T)))));
}

// Copies the segments' rows of `count` pixels to `room` and points at the copies.
template <typename T>
void CopyRows(const Geometry& g, int64_t count, T* room, const T** rows) {
  for (int64_t i = 0; i < g.segments * count; ++i, room += CopiedPitch<T>(g)) {
    std::memcpy(room, rows[i], static_cast<size_t>(g.depth) * sizeof(T));
    rows[i] = room;
  }
}

/* How many of the threads divide the panels among them; the others divide the pixels. Every thread
 * reads the data of its pixels and the weights of its panels. */
inline int PanelShares(int threads, int64_t pixels, int64_t panels, int64_t k, int64_t filters) {
  int best = 1;
  double least = 0;
  for (int n = 1; n <= threads; ++n) {
    if (threads % n) continue;
    const int64_t m = threads / n;
    const double rows = static_cast<double>((pixels + m - 1) / m),
                 width = static_cast<double>((panels + n - 1) / n) * static_cast<double>(filters) / static_cast<double>(panels);
    const double cost = static_cast<double>(k) * (rows * width / 16 + (rows + width) * 0.5);
    if (n == 1 || cost < least) least = cost, best = n;
  }
  return best;
}

/*
 * The shares of a product of `pixels` rows and `panels`, across x along of them, in items: blocks
 * of at most `most` pixels, times parts of the share's panels where there are few blocks.
 */
class Shares {
 public:
  struct Item {
    int64_t begin, end, p_begin, p_end;  // pixels, panels
    bool onward;                         // the panel behind the item's is the same thread's next one, as a rule
  };
  Shares(int64_t pixels, int64_t panels, int across, int along, int64_t most)
      : pixels_(pixels), panels_(panels), most_(most), across_(across), along_(along), items_(across * along) {
    for (int i = 0; i < across * along; ++i) {
      const Part part = Of(i);
      items_.Set(i, part.p_begin < part.p_end ? part.blocks * part.parts : 0);
    }
  }
  bool Next(int64_t self, Item* to) {
    int share;
    int64_t item;
    if (!items_.Next(static_cast<int>(self), &share, &item)) return false;
    const Part s = Of(share);
    const int64_t block = item / s.parts, part = item % s.parts, m = s.m_end - s.m_begin, p = s.p_end - s.p_begin;
    *to = {s.m_begin + Share(m, s.blocks, block), s.m_begin + Share(m, s.blocks, block + 1), s.p_begin + Share(p, s.parts, part),
           s.p_begin + Share(p, s.parts, part + 1), part + 1 < s.parts};
    return true;
  }

 private:
  static constexpr int64_t kItems = 8;  // of a share: as unequal as threads are, they end at about the same time
  struct Part {
    int64_t p_begin, p_end, m_begin, m_end, blocks, parts;
  };
  Part Of(int share) const {
    Part s;
    s.p_begin = Share(panels_, across_, share % across_), s.p_end = Share(panels_, across_, share % across_ + 1);
    s.m_begin = Share(pixels_, along_, share / across_), s.m_end = Share(pixels_, along_, share / across_ + 1);
    s.blocks = (s.m_end - s.m_begin + most_ - 1) / most_;
    s.parts = across_ * along_ == 1 || s.blocks >= kItems
                  ? 1
                  : std::max<int64_t>(1, std::min(s.p_end - s.p_begin, (kItems + s.blocks - 1) / std::max<int64_t>(1, s.blocks)));
    return s;
  }
  const int64_t pixels_, panels_, most_;
  const int across_, along_;
  SharedItems items_;
};

}  // namespace nn
}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_CPU_GEMM_PACKED_GEOMETRY_H_
