// Anchors, their targets and what they find. T is float or double. See boxes.h and gpu_boxes.h.
#include "operator/vision/boxes/gpu_boxes.cuh"

namespace kernels {

// ---- MultiBoxPrior: one anchor of each cell

template <typename I, typename T>
struct prior_anchor {
  struct Args {
    T* out;
    long long width, each, which, clip;
    double half_w, half_h, y0, dy, x0, dx;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.width), column = i - row * static_cast<I>(a.width);
    const T y = Product(static_cast<T>(row) + static_cast<T>(a.y0), static_cast<T>(a.dy));
    const T x = Product(static_cast<T>(column) + static_cast<T>(a.x0), static_cast<T>(a.dx));
    const T w = static_cast<T>(a.half_w), h = static_cast<T>(a.half_h);
    const T box[4] = {x - w, y - h, x + w, y + h};
    T* to = a.out + (i * a.each + a.which) * 4;
    for (int k = 0; k < 4; ++k) to[k] = a.clip == 0 ? box[k] : box[k] < 0 ? T(0) : box[k] > 1 ? T(1) : box[k];
  }
};

// ---- MultiBoxTarget

// How many boxes stand in front of the first of class -1.
template <typename I, typename T>
struct target_count {
  struct Args {
    const T* label;
    long long* boxes;
    long long labels, width;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    long long n = 0;
    while (n < a.labels && a.label[(i * a.labels + n) * a.width] != T(-1)) ++n;
    a.boxes[i] = n;
  }
};

template <typename I, typename T>
struct target_overlap {
  struct Args {
    const T* anchor;
    const T* label;
    const long long* boxes;
    T* overlap;  // (batch, labels, anchors)
    long long labels, width, anchors;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I row = i / static_cast<I>(a.anchors), image = row / static_cast<I>(a.labels);
    if (row - image * static_cast<I>(a.labels) >= a.boxes[image]) return;
    Box<T> anchor, box;
    anchor.Read(a.anchor + 4ll * (i - row * static_cast<I>(a.anchors)), false, T(0));
    box.Read(a.label + row * a.width + 1, false, T(0));
    a.overlap[i] = anchor.Overlap(box);
  }
};

// The best of the block's threads: the larger value, of equal ones the smaller number.
template <typename T>
struct BlockBest {
  T value[256];
  long long at[256];
  __device__ __forceinline__ static bool Better(T v, long long i, T w, long long j) {
    return i >= 0 && (j < 0 || v > w || (v == w && i < j));
  }
  // For all threads. `i` is -1 where a thread has none.
  __device__ __forceinline__ long long Of(T v, long long i) {
    value[threadIdx.x] = v;
    at[threadIdx.x] = i;
    __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half && Better(value[threadIdx.x + half], at[threadIdx.x + half], value[threadIdx.x], at[threadIdx.x])) {
        value[threadIdx.x] = value[threadIdx.x + half];
        at[threadIdx.x] = at[threadIdx.x + half];
      }
      __syncthreads();
    }
    const long long best = at[0];
    __syncthreads();
    return best;
  }
};

// One block matches the boxes of an image with anchors, the pair of the largest overlap first, then
// the other anchors with the box that is nearest.
template <typename T>
struct target_match {
  struct Args {
    const T* overlap;
    const long long* boxes;
    long long* best;   // (batch, labels): the free anchor that a box overlaps most; -1: none; -2: it has one
    long long* match;  // (batch, anchors): the box, or -1
    T* most;           // (batch, anchors): largest overlap with a box; -1 without boxes
    long long* take;   // (batch): how many background anchors are wanted
    long long labels, anchors;
    double threshold, ratio;
    long long count;
  };
  __device__ __forceinline__ static long long Find(const T* row, const long long* match, long long n, BlockBest<T>* shared) {
    T value = T(1e-6f);
    long long at = -1;
    for (long long i = threadIdx.x; i < n; i += 256)
      if (match[i] < 0 && row[i] > value) value = row[i], at = i;
    return shared->Of(value, at);
  }
  static __device__ __forceinline__ void Row(const Args& a, long long image) {
    __shared__ BlockBest<T> shared;
    __shared__ long long sums[256];
    const long long boxes = a.boxes[image], n = a.anchors;
    const T* overlap = a.overlap + image * a.labels * n;
    long long* best = a.best + image * a.labels;
    long long* match = a.match + image * n;
    T* most = a.most + image * n;
    for (long long i = threadIdx.x; i < n; i += 256) match[i] = -1;
    __syncthreads();
    for (long long k = 0; k < boxes; ++k) {
      const long long at = Find(overlap + k * n, match, n, &shared);
      if (threadIdx.x == 0) best[k] = at;
    }
    __syncthreads();
    while (true) {
      T value = T(-1);
      long long pair = -1;  // anchor * boxes + box: of equal overlaps the first anchor's
      for (long long k = threadIdx.x; k < boxes; k += 256) {
        if (best[k] < 0) continue;
        const T v = overlap[k * n + best[k]];
        const long long here = best[k] * boxes + k;
        if (BlockBest<T>::Better(v, here, value, pair)) value = v, pair = here;
      }
      pair = shared.Of(value, pair);
      if (pair < 0) break;
      const long long anchor = pair / boxes, box = pair % boxes;
      if (threadIdx.x == 0) match[anchor] = box, best[box] = -2;
      __syncthreads();
      for (long long k = 0; k < boxes; ++k) {
        if (best[k] != anchor) continue;
        const long long at = Find(overlap + k * n, match, n, &shared);
        if (threadIdx.x == 0) best[k] = at;
        __syncthreads();
      }
      __syncthreads();
    }
    long long positive = 0, total;
    for (long long i = threadIdx.x; i < n; i += 256) {
      T value = T(-1);
      long long nearest = 0;
      for (long long k = 0; k < boxes; ++k)
        if (overlap[k * n + i] > value) value = overlap[k * n + i], nearest = k;
      most[i] = value;
      if (match[i] < 0 && a.threshold > 0 && value > static_cast<T>(a.threshold)) match[i] = nearest;
      positive += match[i] >= 0 ? 1 : 0;
    }
    mx::BlockScan(positive, sums, &total);
    const float wanted = Product(static_cast<float>(total), static_cast<float>(a.ratio));
    if (threadIdx.x == 0) a.take[image] = wanted < static_cast<float>(n) ? static_cast<long long>(wanted) : n;
  }
};

// Predicted probability of background of the anchors that can be chosen; 3 for the others, and 2
// for NaN, which comes last.
template <typename I, typename T>
struct target_keys {
  struct Args {
    const T* pred;
    const long long* match;
    const T* most;
    T* key;
    long long anchors, classes;
    double threshold;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    T key = T(3);
    if (a.match[i] < 0 && a.most[i] < static_cast<T>(a.threshold)) {
      const I image = i / static_cast<I>(a.anchors);
      const T* p = a.pred + image * a.classes * a.anchors + (i - image * static_cast<I>(a.anchors));
      T top = p[0], sum = T(0);
      for (long long c = 1; c < a.classes; ++c) top = top < p[c * a.anchors] ? p[c * a.anchors] : top;
      for (long long c = 0; c < a.classes; ++c) sum += ::exp(p[c * a.anchors] - top);
      key = ::exp(p[0] - top) / sum;
      if (key != key) key = T(2);
    }
    a.key[i] = key;
  }
};

template <typename I, typename T>
struct target_write {
  struct Args {
    const T* anchor;
    const T* label;
    const long long* boxes;
    const long long* match;
    T* loc;
    T* mask;
    T* cls;
    long long labels, width, anchors;
    double others, ignore;  // classes of anchors without a box, and of those in images without one
    double v0, v1, v2, v3;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I image = i / static_cast<I>(a.anchors);
    const bool on = a.boxes[image] > 0 && a.match[i] >= 0;
    const T* q = a.label + (image * a.labels + (on ? a.match[i] : 0)) * a.width;
    const T* p = a.anchor + 4ll * (i - image * static_cast<I>(a.anchors));
    T code[4] = {T(0), T(0), T(0), T(0)};
    if (on) {
      const T w = p[2] - p[0], h = p[3] - p[1], half = T(0.5);
      code[0] = ((q[1] + q[3]) * half - (p[0] + p[2]) * half) / w / static_cast<T>(a.v0);
      code[1] = ((q[2] + q[4]) * half - (p[1] + p[3]) * half) / h / static_cast<T>(a.v1);
      code[2] = ::log((q[3] - q[1]) / w) / static_cast<T>(a.v2);
      code[3] = ::log((q[4] - q[2]) / h) / static_cast<T>(a.v3);
    }
    for (int k = 0; k < 4; ++k) {
      a.loc[4ll * i + k] = code[k];
      a.mask[4ll * i + k] = on ? T(1) : T(0);
    }
    a.cls[i] = on ? q[0] + T(1) : static_cast<T>(a.boxes[image] > 0 ? a.others : a.ignore);
  }
};

template <typename I, typename T>
struct target_chosen {
  struct Args {
    const T* key;
    const long long* position;
    const long long* take;
    const long long* boxes;
    T* cls;
    long long anchors;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I image = i / static_cast<I>(a.anchors);
    if (a.boxes[image] == 0 || i - image * static_cast<I>(a.anchors) >= a.take[image]) return;
    const long long at = image * a.anchors + a.position[i];
    if (a.key[at] < T(3)) a.cls[at] = T(0);
  }
};

// ---- MultiBoxDetection

template <typename I, typename T>
struct detect_boxes {
  struct Args {
    const T* prob;
    const T* loc;
    const T* anchor;
    T* entry;          // (batch, anchors, 6): class, score, corners
    T* key;            // -infinity where an anchor is dropped
    long long* valid;  // 1 or 0
    long long anchors, classes, clip;
    double threshold, v0, v1, v2, v3;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I image = i / static_cast<I>(a.anchors), at = i - image * static_cast<I>(a.anchors);
    const T* p = a.prob + image * a.classes * a.anchors + at;
    T score = T(-1);
    long long best = -1;
    for (long long c = 1; c < a.classes; ++c)
      if (p[c * a.anchors] > score) score = p[c * a.anchors], best = c - 1;
    const bool valid = best >= 0 && !(score < static_cast<T>(a.threshold));
    a.key[i] = valid ? score : Least<T>();
    a.valid[i] = valid ? 1 : 0;
    const T* q = a.anchor + 4ll * at;
    const T* d = a.loc + 4ll * i;
    const T w = q[2] - q[0], h = q[3] - q[1], x = (q[0] + q[2]) / 2, y = (q[1] + q[3]) / 2;
    const T cx = d[0] * static_cast<T>(a.v0) * w + x, cy = d[1] * static_cast<T>(a.v1) * h + y;
    const T half_w = ::exp(d[2] * static_cast<T>(a.v2)) * w / 2, half_h = ::exp(d[3] * static_cast<T>(a.v3)) * h / 2;
    T* entry = a.entry + 6ll * i;
    entry[0] = static_cast<T>(best), entry[1] = score;
    entry[2] = cx - half_w, entry[3] = cy - half_h, entry[4] = cx + half_w, entry[5] = cy + half_h;
    if (a.clip != 0)
      for (int k = 2; k < 6; ++k) entry[k] = entry[k] < 0 ? T(0) : entry[k] > 1 ? T(1) : entry[k];
  }
};

// Where the boxes stand that were found, in their order. `rank`: how many there are before each.
template <typename I>
struct detect_found {
  struct Args {
    const long long* valid;
    const long long* rank;
    long long* at;      // (batch, anchors)
    long long* number;  // (batch)
    long long anchors;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I image = i / static_cast<I>(a.anchors), k = i - image * static_cast<I>(a.anchors);
    if (a.valid[i] != 0) a.at[image * a.anchors + a.rank[i]] = k;
    if (k == a.anchors - 1) a.number[image] = a.rank[i] + a.valid[i];
  }
};

template <typename I, typename T, bool suppress>
struct detect_write {
  struct Args {
    const T* entry;
    const long long* at;
    const long long* number;
    const long long* position;  // these where boxes are suppressed
    const long long* kept;
    const long long* found;
    T* out;
    long long anchors, take;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I image = i / static_cast<I>(a.anchors);
    const long long r = i - image * static_cast<I>(a.anchors), number = a.number[image];
    T* out = a.out + 6ll * i;
    if (r >= number) {
      for (int k = 0; k < 6; ++k) out[k] = T(-1);
      return;
    }
    bool stays = !suppress;
    long long box;
    if (suppress && r < a.take) {
      box = a.position[image * a.take + r];
      long long low = 0, high = a.found[image];  // kept is in order
      while (low < high) {
        const long long middle = (low + high) / 2;
        if (a.kept[image * a.take + middle] < r)
          low = middle + 1;
        else
          high = middle;
      }
      stays = low < a.found[image] && a.kept[image * a.take + low] == r;
    } else {
      box = a.at[image * a.anchors + r];
    }
    const T* entry = a.entry + 6 * (image * a.anchors + box);
    for (int k = 0; k < 6; ++k) out[k] = k > 0 || stays ? entry[k] : T(-1);
  }
};

// ---- Proposal: one anchor of each cell

template <typename I, typename T>
struct propose_boxes {
  struct Args {
    const T* prob;
    const T* pred;
    const T* info;
    T* box;
    T* score;
    T* key;
    long long anchors, which, height, width, corners;
    double base0, base1, base2, base3, stride, least;
    long long count;
  };
  static __device__ __forceinline__ T Cut(T v, T limit) {
    v = v > limit ? limit : v;
    return v < 0 ? T(0) : v;
  }
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I cells = static_cast<I>(a.height * a.width), image = i / cells, cell = i - image * cells;
    const I row = cell / static_cast<I>(a.width), column = cell - row * static_cast<I>(a.width);
    const T stride = static_cast<T>(a.stride), half = T(0.5);
    const T* info = a.info + 3ll * image;
    const T high = info[0], wide = info[1], least = static_cast<T>(a.least) * info[2];
    const T dx = static_cast<T>(column) * stride, dy = static_cast<T>(row) * stride;
    const T p[4] = {static_cast<T>(a.base0) + dx, static_cast<T>(a.base1) + dy, static_cast<T>(a.base2) + dx, static_cast<T>(a.base3) + dy};
    T d[4], b[4];
    for (int k = 0; k < 4; ++k) d[k] = a.pred[((image * a.anchors + a.which) * 4 + k) * a.height * a.width + cell];
    if (a.corners != 0) {
      for (int k = 0; k < 4; ++k) b[k] = p[k] + d[k];
    } else {
      const T w = p[2] - p[0] + 1, h = p[3] - p[1] + 1;
      const T x = d[0] * w + (p[0] + half * (w - 1)), y = d[1] * h + (p[1] + half * (h - 1));
      const T new_w = ::exp(d[2]) * w, new_h = ::exp(d[3]) * h;
      b[0] = x - half * (new_w - 1), b[1] = y - half * (new_h - 1), b[2] = x + half * (new_w - 1), b[3] = y + half * (new_h - 1);
    }
    for (int k = 0; k < 4; ++k) b[k] = Cut(b[k], (k % 2 != 0 ? high : wide) - 1);
    T score = a.prob[((2 * image + 1) * a.anchors + a.which) * a.height * a.width + cell];
    if (!(static_cast<T>(row) < ::trunc(high / stride) && static_cast<T>(column) < ::trunc(wide / stride))) score = T(-1);
    if (b[2] - b[0] + 1 < least || b[3] - b[1] + 1 < least) {
      for (int k = 0; k < 4; ++k) b[k] += k < 2 ? -least / 2 : least / 2;
      score = T(-1);
    }
    const long long at = i * a.anchors + a.which;
    for (int k = 0; k < 4; ++k) a.box[4 * at + k] = b[k];
    a.score[at] = score;
    const T lowest = static_cast<T>(-3.4028234e38f);  // above -infinity, so that the box takes part
    a.key[at] = score > lowest ? score : lowest;
  }
};

template <typename I, typename T>
struct propose_write {
  struct Args {
    const T* box;
    const T* score;
    const long long* position;  // null: there are no boxes
    const long long* kept;
    const long long* found;
    T* out;     // or null
    T* scores;  // or null
    long long boxes, take, post;
    long long count;
  };
  static __device__ __forceinline__ void Item(const Args& a, I i, long long) {
    const I image = i / static_cast<I>(a.post);
    const long long r = i - image * static_cast<I>(a.post), found = a.position ? a.found[image] : 0;
    const long long at = found > 0 ? image * a.boxes + a.position[image * a.take + a.kept[image * a.take + r % found]] : -1;
    if (a.out) {
      a.out[5ll * i] = static_cast<T>(image);
      for (int k = 0; k < 4; ++k) a.out[5ll * i + k + 1] = at < 0 ? T(0) : a.box[4 * at + k];
    }
    if (a.scores) a.scores[i] = at < 0 ? T(0) : a.score[at];
  }
};
}  // namespace kernels
