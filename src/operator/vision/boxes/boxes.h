/*
 * What the operators on boxes share: lists of boxes, their overlaps, and greedy suppression.
 *
 * The overlap of two boxes is the area of their intersection over that of their union ("IoU",
 * Jaccard's index). Lists hold each coordinate in an array of its own, so that loops over boxes are
 * loops over neighbours in memory.
 */
#ifndef MXNET_OPERATOR_VISION_BOXES_BOXES_H_
#define MXNET_OPERATOR_VISION_BOXES_BOXES_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/cpu_dispatch.h"
#include "mxnet/base.h"
#include "mxnet/node.h"

namespace mxnet {
namespace boxes {

/* How four numbers describe a box: its corners x1, y1, x2, y2 or its center, width and height. */
enum BoxFormat : int { kCorner = 0, kCenter = 1 };

/* Arrays of float or double, one entry per box. */
struct BoxList {
  const void *x1, *y1, *x2, *y2, *area;
};

struct NmsRule {
  double threshold;   // a box is suppressed by a better one whose overlap with it is above
  double extent = 0;  // added to differences of coordinates: 1 where both ends are pixels inside
};

}  // namespace boxes

/*
 * MarkCovered: covered[i - begin] = 1 where one of the `count` boxes of `kept` suppresses box i of
 * `list`. OverlapRow: out[i] = overlap of box i of `list` and box `at` of `other`; 0 where they do
 * not meet, NaN where one of them has a NaN. `wide`: arrays are of double.
 */
MXNET_CPU_DECLARE(void MarkCovered(bool wide, const boxes::BoxList& kept, int64_t count, const boxes::BoxList& list, int64_t begin,
                                   int64_t end, const boxes::NmsRule& rule, uint8_t* covered);
                  void OverlapRow(bool wide, const boxes::BoxList& list, int64_t n, const boxes::BoxList& other, int64_t at, void* out);)

namespace boxes {

/* 0 for a box of no or negative extent. NaN for one with a NaN, so its overlaps are NaN. */
template <typename T>
inline T AreaOf(const T* box, T width, T height) {
  if (box[0] != box[0] || box[1] != box[1] || box[2] != box[2] || box[3] != box[3]) return std::numeric_limits<T>::quiet_NaN();
  return width < 0 || height < 0 ? T(0) : width * height;
}

/* Owns the arrays of a BoxList, and maybe a class of each box. */
template <typename T>
class BoxArrays {
 public:
  BoxArrays(int64_t n, bool ids) : n_(n), numbers_(static_cast<size_t>(5 * n)), ids_(ids ? static_cast<size_t>(n) : 0) {}
  BoxList list(int64_t from = 0) const {
    const T* p = numbers_.data() + from;
    return {p, p + n_, p + 2 * n_, p + 3 * n_, p + 4 * n_};
  }
  T& x1(int64_t i) { return numbers_[i]; }
  T& y1(int64_t i) { return numbers_[n_ + i]; }
  T& x2(int64_t i) { return numbers_[2 * n_ + i]; }
  T& y2(int64_t i) { return numbers_[3 * n_ + i]; }
  T& area(int64_t i) { return numbers_[4 * n_ + i]; }
  int32_t& id(int64_t i) { return ids_[i]; }
  int32_t id(int64_t i) const { return ids_[i]; }
  bool has_ids() const { return !ids_.empty(); }
  int64_t size() const { return n_; }
  /* Box i from four numbers. */
  void Put(int64_t i, const T* box, int format) {
    if (format == kCenter) {
      x1(i) = box[0] - box[2] / 2, y1(i) = box[1] - box[3] / 2;
      x2(i) = box[0] + box[2] / 2, y2(i) = box[1] + box[3] / 2;
      area(i) = AreaOf(box, box[2], box[3]);
    } else {
      x1(i) = box[0], y1(i) = box[1], x2(i) = box[2], y2(i) = box[3];
      area(i) = AreaOf(box, box[2] - box[0], box[3] - box[1]);
    }
  }
  void Copy(int64_t i, const BoxArrays& from, int64_t at) {
    for (int k = 0; k < 5; ++k) numbers_[k * n_ + i] = from.numbers_[k * from.n_ + at];
  }

 private:
  int64_t n_;
  std::vector<T> numbers_;
  std::vector<int32_t> ids_;
};

/*
 * Goes through boxes in their order, best first, and keeps each that no kept one of its class
 * suppresses, until `most` are kept. Their positions go to `kept`, in order. Returns how many.
 * REQUIRES: kept has n elements.
 */
template <typename T>
int64_t SuppressGreedily(const BoxArrays<T>& sorted, int64_t n, const NmsRule& rule, int64_t most, int64_t* kept);

/* Positions of the `k` largest (ascending: smallest) of n numbers in order; of equal ones the first
 * comes first. */
void OrderScores(const float* scores, int64_t n, int64_t k, bool ascending, int64_t* positions);
void OrderScores(const double* scores, int64_t n, int64_t k, bool ascending, int64_t* positions);

/* A class id as it is compared: without its fraction. What no int32 is counts as the least one. */
template <typename T>
inline int32_t WholeId(T v) {
  return v > T(-2147483648.0) && v < T(2147483648.0) ? static_cast<int32_t>(v) : std::numeric_limits<int32_t>::min();
}

/* Center format to corners and back. */
template <typename T>
inline void ConvertBox(T* b, int from, int to) {
  if (from == to) return;
  const T p = b[0], q = b[1], r = b[2], s = b[3];
  if (to == kCorner) {
    b[0] = p - r / 2, b[1] = q - s / 2, b[2] = p + r / 2, b[3] = q + s / 2;
  } else {
    b[0] = (p + r) / 2, b[1] = (q + s) / 2, b[2] = r - p, b[3] = s - q;
  }
}

/* The last dimension of `shape` must be 4: throws Error(kValue). */
void CheckBoxShape(const Attrs& attrs, const char* name, const Shape& shape);

}  // namespace boxes
}  // namespace mxnet
#endif  // MXNET_OPERATOR_VISION_BOXES_BOXES_H_
