// Arrays (outer, channels, inner) around their channels: two sums for each channel, and element for
// element with coefficients of the channels. See gpu_channels.h.
#include "rtc/loop.cuh"

namespace kernels {

// Storage to arithmetic.
template <typename C, typename S>
__device__ __forceinline__ C As(S v) {
  return mx::Convert<C, S>::Load(v);
}

// NormMarks of gpu_channels.h as arguments.
struct Marks {
  unsigned char* bytes;
  long long order, header, line, stride, other_line, other_stride, minor, major;
  // The bits of n <= 8 neighbouring elements, which stand in one byte: the first is element `first`
  // of line `in_line` and `at` of the array. In the other order each has its own byte.
  __device__ __forceinline__ unsigned Of(long long at, long long in_line, long long first, int n) const {
    if (bytes[0] == order) return static_cast<unsigned>(bytes[header + in_line * stride + (first >> 3)]) >> (first & 7);
    unsigned bits = 0;
#pragma unroll 1
    for (int j = 0; j < n; ++j) {  // rare: the forward pass wrote in the other order
      const long long here = (at + j) % (minor * major), there = at + j - here + here % minor * major + here / minor,
                      other = there / other_line, rest = there - other * other_line;
      bits |= (static_cast<unsigned>(bytes[header + other * other_stride + (rest >> 3)]) >> (rest & 7) & 1u) << j;
    }
    return bits;
  }
};

// ---- sums

struct NoChannel {};  // where a channel has no values of its own
struct ChannelPlace {
  long long o, c, q;  // of an element in (outer, channels, inner)
};

/*
 * What is summed, as the base of a struct K with
 *   Own                               the launch's own arguments
 *   Channel, ChannelOf(a, c)          a channel's own values
 *   Element(a, channel, v, place, bit, &first, &second)
 *                                     adds what the elements v of the arrays contribute
 *   Finish(a, c, first, second)       what one thread does with the sums
 */
template <typename Storage, int arrays, bool marks = false>
struct ChannelSumsOf {
  typedef Storage X;
  typedef typename mx::Real<Storage>::Type A;
  static constexpr int kArrays = arrays;
  static constexpr bool kMarks = marks;  // Own has a member `marks`; `bit` is the element's
  typedef NoChannel Channel;
  template <typename Args>
  static __device__ __forceinline__ NoChannel ChannelOf(const Args&, long long) {
    return NoChannel();
  }
};

template <typename K>
struct ChannelArgs {
  const typename K::X* array[K::kArrays];
  typename K::Own own;
  long long outer, channels, inner, parts, chunk;
  double* partial;  // a channel's parts are neighbours
  long long across, accesses;
  mx::Divisor per;
  long long count;
};

/*
 * A block sums a part of a group of channels (a row: a.across groups for each part). In A for the
 * elements that a thread has in flight, in double from there on. columns: channels lie last, and
 * `lanes` threads have neighbouring channels, `width` of them each. large: positions need 64 bits.
 */
template <typename K, bool columns, bool large, int width, int lanes>
struct channel_sums {
  typedef ChannelArgs<K> Args;
  typedef typename K::X X;
  typedef typename K::A A;
  typedef mx::Pack<X, width> Pack;
  static constexpr int kArrays = K::kArrays, kUnroll = kArrays > 1 ? 2 : 4, kLines = 256 / lanes;

  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    const long long part = row / a.across, group = row - part * a.across,
                    end = (part + 1) * a.chunk < a.accesses ? (part + 1) * a.chunk : a.accesses;
    if constexpr (columns)
      Columns(a, part, group, end);
    else
      Planes(a, part, group, end);
  }

  static __device__ __forceinline__ void LoadPacks(const Args& a, long long at, Pack (&packs)[kArrays]) {
#pragma unroll
    for (int n = 0; n < kArrays; ++n) packs[n] = *reinterpret_cast<const Pack*>(a.array[n] + at);
  }
  static __device__ __forceinline__ void AddElement(const Args& a, const typename K::Channel& k, const Pack (&packs)[kArrays], int j,
                                                    ChannelPlace place, unsigned bits, A* first, A* second) {
    X v[kArrays];
#pragma unroll
    for (int n = 0; n < kArrays; ++n) v[n] = packs[n].v[j];
    K::Element(a, k, v, place, bits >> j & 1u, first, second);
  }

  static __device__ __forceinline__ void Columns(const Args& a, long long part, long long group, long long end) {
    __shared__ double shared[2 * 256 * width];
    const int lane = threadIdx.x % lanes, line = threadIdx.x / lanes;
    const long long c0 = (group * lanes + lane) * width;
    double total[2][width] = {};
    if (c0 < a.channels) {
      typename K::Channel channel[width];
#pragma unroll
      for (int j = 0; j < width; ++j) channel[j] = K::ChannelOf(a, c0 + j);
#pragma unroll 1
      for (long long e0 = part * a.chunk + line; e0 < end; e0 += kUnroll * kLines) {
        Pack packs[kUnroll][kArrays];
        unsigned bits[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {  // all accesses are in flight before the first is used
          const long long o = e0 + u * kLines, at = o * a.channels + c0;
          if (o >= end) continue;
          LoadPacks(a, at, packs[u]);
          if constexpr (K::kMarks) bits[u] = a.own.marks.Of(at, o, c0, width);
        }
#pragma unroll
        for (int j = 0; j < width; ++j) {
          A first = A(0), second = A(0);
#pragma unroll
          for (int u = 0; u < kUnroll; ++u) {
            const long long o = e0 + u * kLines;
            if (o >= end) break;
            AddElement(a, channel[j], packs[u], j, {o, c0 + j, 0}, K::kMarks ? bits[u] : 0u, &first, &second);
          }
          total[0][j] += first;
          total[1][j] += second;
        }
      }
    }
#pragma unroll
    for (int j = 0; j < width; ++j)
      for (int s = 0; s < 2; ++s) shared[(s * 256 + threadIdx.x) * width + j] = total[s][j];
    __syncthreads();
    for (int n = threadIdx.x; n < lanes * width; n += 256) {
      const long long c = group * lanes * width + n;
      if (c >= a.channels) break;
      for (int s = 0; s < 2; ++s) {
        double sum = 0;
        for (int k = 0; k < kLines; ++k) sum += shared[(s * 256 + k * lanes) * width + n];
        a.partial[(s * a.channels + c) * a.parts + part] = sum;
      }
    }
  }

  // Access e of a channel stands behind e + o * skip others of the channel's first plane.
  static __device__ __forceinline__ void Planes(const Args& a, long long part, long long group, long long end) {
    typedef typename mx::Choose<large, long long, unsigned>::Type J;
    const J skip = static_cast<J>((a.channels - 1) * a.per.d), stop = static_cast<J>(end);
    __shared__ double shared[256];
    const long long c = group;
    const typename K::Channel k = K::ChannelOf(a, c);
    double total[2] = {};
#pragma unroll 1
    for (J e0 = static_cast<J>(part * a.chunk + threadIdx.x); e0 < stop; e0 += kUnroll * 256) {
      Pack packs[kUnroll][kArrays];
      unsigned bits[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (e0 + u * 256 >= stop) continue;
        const J e = e0 + u * 256, o = mx::Over(e, a.per);
        const long long at = c * a.inner + static_cast<long long>(static_cast<unsigned long long>(o) * skip + e) * width;
        LoadPacks(a, at, packs[u]);
        if constexpr (K::kMarks) bits[u] = a.own.marks.Of(at, o * a.channels + c, (e - o * a.per.d) * width, width);
      }
      A first = A(0), second = A(0);
#pragma unroll
      for (int u = 0; u < kUnroll; ++u) {
        if (e0 + u * 256 >= stop) break;
        const J e = e0 + u * 256, o = mx::Over(e, a.per);
        const long long q0 = (e - o * a.per.d) * width;
#pragma unroll
        for (int j = 0; j < width; ++j)
          AddElement(a, k, packs[u], j, {static_cast<long long>(o), c, q0 + j}, K::kMarks ? bits[u] : 0u, &first, &second);
      }
      total[0] += first;
      total[1] += second;
    }
    for (int s = 0; s < 2; ++s) {
      total[s] = mx::BlockSum(total[s], shared);
      if (threadIdx.x == 0) a.partial[(s * a.channels + c) * a.parts + part] = total[s];
    }
  }
};

// A block for each channel: the sums over its parts.
template <typename K>
struct channel_finish {
  typedef ChannelArgs<K> Args;
  static __device__ __forceinline__ void Row(const Args& a, long long c) {
    __shared__ double shared[256];
    double first = 0, second = 0;
    for (long long part = threadIdx.x; part < a.parts; part += 256) {
      first += a.partial[c * a.parts + part];
      second += a.partial[(a.channels + c) * a.parts + part];
    }
    first = mx::BlockSum(first, shared);
    second = mx::BlockSum(second, shared);
    if (threadIdx.x == 0) K::Finish(a, c, first, second);
  }
};

// ---- element for element

enum MarkUse { kNoMarks, kReadsMarks, kWritesMarks };

/*
 * The base of a struct K with Element(k, v, &bit, r): results r (A) of the arrays' elements v and
 * the channel's coefficients k (A); it reads `bit`, or sets it.
 */
template <typename Storage, int arrays, int coefficients, int results, int mark_use = kNoMarks>
struct ChannelMapOf {
  typedef Storage X;
  typedef typename mx::Real<Storage>::Type A;
  static constexpr int kArrays = arrays, kCoefficients = coefficients, kResults = results, kMarkUse = mark_use;
};

template <typename K, bool marks>
struct MapArgs {
  const typename K::X* array[K::kArrays];
  typename K::X* result[K::kResults];
  const typename K::A* coef;  // rows of numbers, one for each channel
  long long channels;
  mx::Divisor per, channel;
  Marks marks_;
  long long count;
};
template <typename K>
struct MapArgs<K, false> {
  const typename K::X* array[K::kArrays];
  typename K::X* result[K::kResults];
  const typename K::A* coef;
  long long channels;
  mx::Divisor per, channel;
  long long count;
};

/*
 * An item for each access of `width` elements; with marks for eight elements of a line, whose bits
 * are a byte, and of which there may be fewer at the end of a line (ragged). Items go from the end
 * to the beginning: the sums before have just read the end, which the cache still has.
 */
template <typename I, typename K, bool columns, bool ragged, int width>
struct channel_map {
  static constexpr bool kMarks = K::kMarkUse != kNoMarks;
  typedef MapArgs<K, kMarks> Args;
  typedef typename K::X X;
  typedef typename K::A A;
  typedef mx::Pack<X, width> Pack;
  static constexpr int kSpan = kMarks ? 8 : width, kPacks = kSpan / width, kArrays = K::kArrays, kResults = K::kResults,
                       kCoefficients = K::kCoefficients > 0 ? K::kCoefficients : 1;

  // Coefficients of the channels c to c + width - 1.
  static __device__ __forceinline__ void LoadCoefficients(const Args& a, long long c, A (&to)[kCoefficients][width]) {
#pragma unroll
    for (int k = 0; k < K::kCoefficients; ++k) {
      const A* from = a.coef + k * a.channels + c;
      if constexpr (columns) {
        const mx::Pack<A, width> pack = *reinterpret_cast<const mx::Pack<A, width>*>(from);
#pragma unroll
        for (int j = 0; j < width; ++j) to[k][j] = pack.v[j];
      } else {
        const A one = *from;
#pragma unroll
        for (int j = 0; j < width; ++j) to[k][j] = one;
      }
    }
  }

  static __device__ __forceinline__ void Item(const Args& a, I, long long item) {
    const long long back = a.count - 1 - item;
    const I o = mx::Over(static_cast<I>(back), a.per), n = mx::Over(o, a.channel),
            c = (o - n * static_cast<I>(a.channel.d)) * (columns ? kSpan : 1);
    long long at = back * width, first = 0, line = 0, length = 0;
    if constexpr (kMarks) {
      line = columns ? n : o;
      first = columns ? static_cast<long long>(c) : (back - static_cast<long long>(o) * a.per.d) * 8;
      length = a.marks_.line;
      at = line * length + first;
    }
    Pack packs[kPacks][kArrays];
#pragma unroll
    for (int r = 0; r < kPacks; ++r) {
      if (ragged && first + r * width >= length) continue;
#pragma unroll
      for (int x = 0; x < kArrays; ++x) packs[r][x] = *reinterpret_cast<const Pack*>(a.array[x] + at + r * width);
    }
    unsigned bits = 0;
    if constexpr (K::kMarkUse == kReadsMarks)
      bits = a.marks_.Of(at, line, first, ragged && length - first < 8 ? static_cast<int>(length - first) : 8);
#pragma unroll
    for (int r = 0; r < kPacks; ++r) {
      if (ragged && first + r * width >= length) break;
      A coefficients[kCoefficients][width];
      LoadCoefficients(a, columns ? static_cast<long long>(c) + r * width : static_cast<long long>(c), coefficients);
      Pack results[kResults];
#pragma unroll
      for (int j = 0; j < width; ++j) {
        X v[kArrays];
        A k[kCoefficients], result[kResults];
#pragma unroll
        for (int x = 0; x < kArrays; ++x) v[x] = packs[r][x].v[j];
#pragma unroll
        for (int x = 0; x < K::kCoefficients; ++x) k[x] = coefficients[x][j];
        bool bit = bits >> (r * width + j) & 1u;
        K::Element(k, v, &bit, result);
#pragma unroll
        for (int x = 0; x < kResults; ++x) results[x].v[j] = mx::Narrow<X, A>::Store(result[x]);
        if constexpr (K::kMarkUse == kWritesMarks) bits |= (bit ? 1u : 0u) << (r * width + j);
      }
#pragma unroll
      for (int x = 0; x < kResults; ++x) *reinterpret_cast<Pack*>(a.result[x] + at + r * width) = results[x];
    }
    if constexpr (K::kMarkUse == kWritesMarks) {
      if (a.marks_.bytes) {
        a.marks_.bytes[a.marks_.header + back] = static_cast<unsigned char>(bits);
        if (back == 0) a.marks_.bytes[0] = static_cast<unsigned char>(a.marks_.order);
      }
    }
  }
};
}  // namespace kernels
