// Overlaps of boxes, suppression and matching. T is float or double. See boxes.h and gpu_boxes.h.
#include "rtc/loop.cuh"

namespace kernels {

using mx::Product;  // a comparison of overlaps has the same outcome as on the CPU

template <typename T>
__device__ __forceinline__ T Least() {  // -infinity: also the key of boxes that do not take part
  return -static_cast<T>(__int_as_float(0x7f800000));
}

template <typename T>
struct Box {
  T x1, y1, x2, y2, area;
  // From four numbers, corners or a center and a size. `extent`: 1 where both ends are pixels
  // inside.
  __device__ __forceinline__ void Read(const T* p, bool center, T extent) {
    const bool nan = p[0] != p[0] || p[1] != p[1] || p[2] != p[2] || p[3] != p[3];
    if (center) {
      x1 = p[0] - p[2] / 2, y1 = p[1] - p[3] / 2, x2 = p[0] + p[2] / 2, y2 = p[1] + p[3] / 2;
      area = p[2] < 0 || p[3] < 0 ? T(0) : Product(p[2], p[3]);
    } else {
      x1 = p[0], y1 = p[1], x2 = p[2], y2 = p[3];
      const T w = x2 - x1 + extent, h = y2 - y1 + extent;
      area = extent == 0 && (w < 0 || h < 0) ? T(0) : Product(w, h);
    }
    if (nan) area = Least<T>() - Least<T>();
  }
  __device__ __forceinline__ T Common(const Box& b, T extent) const {
    const T left = x1 > b.x1 ? x1 : b.x1, right = x2 < b.x2 ? x2 : b.x2;
    const T top = y1 > b.y1 ? y1 : b.y1, bottom = y2 < b.y2 ? y2 : b.y2;
    const T w = right - left + extent, h = bottom - top + extent;
    return Product(w > 0 ? w : T(0), h > 0 ? h : T(0));
  }
  __device__ __forceinline__ bool Covers(const Box& b, T extent, T threshold) const {
    const T common = Common(b, extent);
    if (!(common > 0) && threshold >= 0) return false;  // without a division
    return common / (area + b.area - common) > threshold;
  }
  __device__ __forceinline__ T Overlap(const Box& b) const {
    const T common = Common(b, T(0)), all = area + b.area - common;
    return common > 0 || all != all ? common / all : T(0);
  }
};

template <typename I, typename T, bool center>
struct box_iou {
  struct Args {
    const T* lhs;
    const T* rhs;
    T* out;
    mx::Divisor columns;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = mx::Over(i, a.columns), column = i - row * static_cast<I>(a.columns.d);
    Box<T> l, r;
    l.Read(a.lhs + 4ll * row, center, T(0));
    r.Read(a.rhs + 4ll * column, center, T(0));
    a.out[i] = r.Overlap(l);
  }
};

// ---- suppression: scores to sort by, lists in that order, and what stays

constexpr long long kNoBox = 1ll << 40;  // id of those, and no int32

template <typename T>
__device__ __forceinline__ long long WholeId(T v) {
  return v > T(-2147483648.0) && v < T(2147483648.0) ? static_cast<long long>(v) : -2147483648ll;
}

template <typename I, typename T>
struct nms_keys {
  struct Args {
    const T* data;
    T* key;
    long long width, score, id;
    double least, background;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const T* entry = a.data + i * a.width;
    const T score = entry[a.score];
    const bool valid = score > static_cast<T>(a.least) && (a.id < 0 || entry[a.id < 0 ? 0 : a.id] != static_cast<T>(a.background));
    a.key[i] = valid ? score : Least<T>();
  }
};

// Five arrays of `total` numbers: corners and areas of the boxes at `position`.
template <typename T>
struct List {
  T* at;
  long long total;
  __device__ __forceinline__ Box<T> Get(long long i) const {
    return {at[i], at[total + i], at[2 * total + i], at[3 * total + i], at[4 * total + i]};
  }
  __device__ __forceinline__ void Put(long long i, const Box<T>& b) const {
    at[i] = b.x1, at[total + i] = b.y1, at[2 * total + i] = b.x2, at[3 * total + i] = b.y2, at[4 * total + i] = b.area;
  }
};

template <typename I, typename T>
struct list_boxes {
  struct Args {
    const T* data;  // the first number of the first box
    const T* id;    // or null
    const T* key;
    const long long* position;
    List<T> list;
    long long* ids;
    long long boxes, take, width, id_width, center;
    double extent;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long at = i / static_cast<I>(a.take) * a.boxes + a.position[i];
    Box<T> box;
    box.Read(a.data + at * a.width, a.center != 0, static_cast<T>(a.extent));
    a.list.Put(i, box);
    a.ids[i] = a.key[at] == Least<T>() ? kNoBox : a.id ? WholeId(a.id[at * a.id_width]) : 0;
  }
};

// One block goes through the list of an image, 256 boxes at a time: each is compared with what
// stays already, then with those of its own group.
template <typename T>
struct suppress_boxes {
  struct Args {
    List<T> list, best;
    const long long* ids;
    long long* best_ids;
    long long* kept;   // positions in the image's list of what stays
    long long* found;  // how many
    long long take, most;
    double threshold, extent;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long row) {
    __shared__ Box<T> group[256];
    __shared__ long long group_id[256];
    __shared__ int stays[256];
    __shared__ int shared[256];
    const long long begin = row * a.take;
    const T threshold = static_cast<T>(a.threshold), extent = static_cast<T>(a.extent);
    long long have = 0;
    for (long long first = 0; first < a.take && have < a.most; first += 256) {
      const long long i = first + threadIdx.x;
      Box<T> box = {};
      long long id = kNoBox;
      if (i < a.take) box = a.list.Get(begin + i), id = a.ids[begin + i];
      bool on = id != kNoBox;
      for (long long from = 0; from < have; from += 256) {
        const int some = have - from < 256 ? static_cast<int>(have - from) : 256;
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < some) {
          group[threadIdx.x] = a.best.Get(begin + from + threadIdx.x);
          group_id[threadIdx.x] = a.best_ids[begin + from + threadIdx.x];
        }
        __syncthreads();
        for (int k = 0; on && k < some; ++k) on = group_id[k] != id || !group[k].Covers(box, extent, threshold);
      }
      __syncthreads();
      group[threadIdx.x] = box;
      group_id[threadIdx.x] = id;
      stays[threadIdx.x] = on ? 1 : 0;
      __syncthreads();
      for (unsigned j = 0; j < 256; ++j) {
        if (stays[j] == 0) continue;
        if (threadIdx.x > j && stays[threadIdx.x] != 0 && group_id[j] == id && group[j].Covers(box, extent, threshold))
          stays[threadIdx.x] = 0;
        __syncthreads();
      }
      int total;
      const long long place = have + mx::BlockScan(stays[threadIdx.x], shared, &total);
      if (stays[threadIdx.x] != 0 && place < a.most) {
        a.best.Put(begin + place, box);
        a.best_ids[begin + place] = id;
        a.kept[begin + place] = i;
      }
      have = have + total < a.most ? have + total : a.most;
      const bool over = group_id[255] == kNoBox;  // those behind take no part, either
      __syncthreads();
      if (over) break;
    }
    if (threadIdx.x == 0) a.found[row] = have;
  }
};

template <typename I, typename T>
struct nms_write {
  struct Args {
    const T* data;
    const long long* position;
    const long long* kept;
    const long long* found;
    T* out;           // or null
    long long* from;  // or null
    long long boxes, take, width, coord, in_center, out_center;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const long long image = i / static_cast<I>(a.boxes), r = i - image * a.boxes;
    const bool on = r < a.found[image];
    const long long there = on ? a.position[image * a.take + a.kept[image * a.take + r]] : -1;
    if (a.from) a.from[i] = there;
    if (!a.out) return;
    T* to = a.out + i * a.width;
    const T* source = a.data + (image * a.boxes + (on ? there : 0)) * a.width;
    for (long long k = 0; k < a.width; ++k) to[k] = on ? source[k] : T(-1);
    if (!on || a.in_center == a.out_center) return;
    const T *b = source + a.coord, p = b[0], q = b[1], s = b[2], t = b[3];
    to += a.coord;
    if (a.out_center != 0) {
      to[0] = (p + s) / 2, to[1] = (q + t) / 2, to[2] = s - p, to[3] = t - q;
    } else {
      to[0] = p - s / 2, to[1] = q - t / 2, to[2] = p + s / 2, to[3] = q + t / 2;
    }
  }
};

template <typename I>
struct count_up {
  struct Args {
    long long* out;
    long long boxes;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) { a.out[i] = i % static_cast<I>(a.boxes); }
};

// Rows of S to where they come from (the rest is 0 before), or from there.
template <typename I, typename S, bool back>
struct move_rows {
  struct Args {
    const S* values;
    const long long* from;
    S* out;
    long long boxes, width;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.width), k = i - row * static_cast<I>(a.width);
    const long long from = a.from[row];
    if (from < 0 || from >= a.boxes) return;
    const long long there = (row / static_cast<I>(a.boxes) * a.boxes + from) * a.width + k;
    if constexpr (back)
      a.out[there] = a.values[i];
    else
      a.out[i] = a.values[there];
  }
};

// ---- matching

template <typename I, typename T, bool ascending>
struct match_keys {
  struct Args {
    const T* data;
    T* key;
    double threshold;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const T v = a.data[i], threshold = static_cast<T>(a.threshold);
    a.key[i] = (ascending ? v < threshold : v > threshold) ? v : ascending ? -Least<T>() : Least<T>();
  }
};

// One block goes through the sorted pairs of a matrix, 256 at a time.
template <typename T, bool ascending>
struct match_pairs {
  struct Args {
    const T* key;
    const long long* position;
    T* row;
    T* column;
    long long rows, columns, most;
    long long count;
  };
  static __device__ __forceinline__ void Row(const Args& a, long long image) {
    __shared__ long long place[256];
    __shared__ long long left;
    const long long pairs = a.rows * a.columns;
    T* const row = a.row + image * a.rows;
    T* const column = a.column + image * a.columns;
    for (long long i = threadIdx.x; i < a.rows; i += 256) row[i] = T(-1);
    for (long long i = threadIdx.x; i < a.columns; i += 256) column[i] = T(-1);
    if (threadIdx.x == 0) left = a.most;
    __syncthreads();
    for (long long first = 0; first < pairs && left > 0; first += 256) {
      const long long i = first + threadIdx.x;
      long long at = -2;  // no pair
      if (i < pairs) {
        at = a.position[image * pairs + i];
        if (a.key[image * pairs + at] == (ascending ? -Least<T>() : Least<T>()))
          at = -2;
        else if (row[at / a.columns] >= 0 || column[at % a.columns] >= 0)
          at = -1;
      }
      place[threadIdx.x] = at;
      __syncthreads();
      const bool over = place[255] == -2;
      if (threadIdx.x == 0) {
        long long more = left;
        for (int j = 0; j < 256 && more > 0; ++j) {
          if (place[j] < 0) continue;
          const long long r = place[j] / a.columns, c = place[j] % a.columns;
          if (row[r] >= 0 || column[c] >= 0) continue;
          row[r] = static_cast<T>(c);
          column[c] = static_cast<T>(r);
          --more;
        }
        left = more;
      }
      __syncthreads();
      if (over) break;
    }
  }
};

// ---- boxes relative to anchors

template <typename I, typename T>
struct box_encode {
  struct Args {
    const T* samples;
    const T* matches;
    const T* anchors;
    const T* refs;
    const T* means;
    const T* stds;
    T* target;  // or null
    T* mask;    // or null
    long long n, boxes;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const T match = ::trunc(a.matches[i]);
    const bool on = a.samples[i] > T(0.5) && match >= 0 && match < static_cast<T>(a.boxes);
    T code[4] = {T(0), T(0), T(0), T(0)};
    if (on) {
      const T* p = a.anchors + 4ll * i;
      const T* q = a.refs + 4 * (i / static_cast<I>(a.n) * a.boxes + static_cast<long long>(match));
      const T w = p[2] - p[0], h = p[3] - p[1];
      const T center[4] = {p[0] + w / 2, p[1] + h / 2, q[0] + (q[2] - q[0]) / 2, q[1] + (q[3] - q[1]) / 2};
      for (int k = 0; k < 2; ++k) {
        const T size = k == 0 ? w : h;
        code[k] = ((center[k + 2] - center[k]) / size - a.means[k]) / a.stds[k];
        const double ratio = static_cast<double>((q[k + 2] - q[k]) / size);
        code[k + 2] = static_cast<T>((::log(ratio) - static_cast<double>(a.means[k + 2])) / static_cast<double>(a.stds[k + 2]));
      }
    }
    for (int k = 0; k < 4; ++k) {
      if (a.target) a.target[4ll * i + k] = code[k];
      if (a.mask) a.mask[4ll * i + k] = on ? T(1) : T(0);
    }
  }
};

template <typename I, typename T, bool corner>
struct box_decode {
  struct Args {
    const T* data;
    const T* anchors;
    T* out;
    long long n;
    double std0, std1, std2, std3, clip;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const T* p = a.anchors + 4ll * (i % static_cast<I>(a.n));
    const T* d = a.data + 4ll * i;
    const T w = corner ? p[2] - p[0] : p[2], h = corner ? p[3] - p[1] : p[3];
    const T x = d[0] * static_cast<T>(a.std0) * w + (corner ? p[0] + w / 2 : p[0]);
    const T y = d[1] * static_cast<T>(a.std1) * h + (corner ? p[1] + h / 2 : p[1]);
    T log_w = d[2] * static_cast<T>(a.std2), log_h = d[3] * static_cast<T>(a.std3);
    const T clip = static_cast<T>(a.clip);
    if (clip > 0) log_w = log_w > clip ? clip : log_w, log_h = log_h > clip ? clip : log_h;
    const T half_w = ::exp(log_w) * w / 2, half_h = ::exp(log_h) * h / 2;
    T* out = a.out + 4ll * i;
    out[0] = x - half_w, out[1] = y - half_h, out[2] = x + half_w, out[3] = y + half_h;
  }
};
}  // namespace kernels
