/* The rows that several row_sparse arrays store, and where. */
#ifndef MXNET_OPERATOR_SPARSE_ROW_UNION_H_
#define MXNET_OPERATOR_SPARSE_ROW_UNION_H_

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/threads/omp.h"
#include "mxnet/ndarray.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace sparse {

/* How many different numbers two ascending lists have. */
inline int64_t CountUnion(const int64_t* a, const int64_t* a_end, const int64_t* b, const int64_t* b_end) {
  int64_t count = 0;
  while (a != a_end && b != b_end) {
    const int64_t x = *a, y = *b;
    a += x <= y, b += y <= x;
    ++count;
  }
  return count + (a_end - a) + (b_end - b);
}

/* They, ascending; returns their end. */
inline int64_t* WriteUnion(const int64_t* a, const int64_t* a_end, const int64_t* b, const int64_t* b_end, int64_t* to) {
  while (a != a_end && b != b_end) {
    const int64_t x = *a, y = *b;
    *to++ = x <= y ? x : y;
    a += x <= y, b += y <= x;
  }
  return std::copy(b, b_end, std::copy(a, a_end, to));
}

class RowUnion {
 public:
  /* REQUIRES: at least one array, all of one shape. */
  explicit RowUnion(std::vector<const SparseParts*> parts) : parts_(std::move(parts)) {
    const auto rows = [](const SparseParts& p) { return p.index[SparseParts::kRows].data<int64_t>(); };
    begin_ = rows(*parts_[0]), count_ = parts_[0]->stored();
    for (size_t k = 1; k < parts_.size(); ++k) {
      const int64_t* const more = rows(*parts_[k]);
      const int64_t n = parts_[k]->stored();
      if (n == count_ && (n == 0 || std::memcmp(more, begin_, static_cast<size_t>(n) * sizeof(int64_t)) == 0)) continue;
      std::vector<int64_t> merged(static_cast<size_t>(count_ + n));
      count_ = WriteUnion(begin_, begin_ + count_, more, more + n, merged.data()) - merged.data();
      made_ = std::move(merged);
      begin_ = made_.data();
    }
  }

  int64_t count() const { return count_; }
  void CopyTo(int64_t* rows) const { std::copy_n(begin_, count_, rows); }

  /*
   * f(place in the union, place in array 0, place in array 1, count): runs of rows that lie side by
   * side in each; -1: the array does not have them. On threads. REQUIRES: two arrays.
   */
  template <typename F>
  void VisitRuns(int64_t row_size, F&& f) const {
    const int64_t *first[2], *last[2];
    for (int i = 0; i < 2; ++i) {
      first[i] = parts_[static_cast<size_t>(i)]->index[SparseParts::kRows].data<int64_t>();
      last[i] = first[i] + parts_[static_cast<size_t>(i)]->stored();
    }
    ParallelFor(count_, Grain(row_size), [&](int64_t begin, int64_t end) {
      const int64_t* at[2];
      for (int i = 0; i < 2; ++i) at[i] = std::lower_bound(first[i], last[i], begin_[begin]);
      for (int64_t n = begin; n < end;) {
        bool has[2];
        for (int i = 0; i < 2; ++i) has[i] = at[i] != last[i] && *at[i] == begin_[n];
        int64_t run = 1;
        const auto goes_on = [&](int i) {
          const bool next = at[i] + run < last[i] && at[i][run] == begin_[n + run];
          return has[i] ? next : at[i] == last[i] || *at[i] != begin_[n + run];
        };
        while (n + run < end && goes_on(0) && goes_on(1)) ++run;
        f(n, has[0] ? at[0] - first[0] : int64_t{-1}, has[1] ? at[1] - first[1] : int64_t{-1}, run);
        for (int i = 0; i < 2; ++i) at[i] += has[i] ? run : 0;
        n += run;
      }
    });
  }

 private:
  const std::vector<const SparseParts*> parts_;
  const int64_t* begin_ = nullptr;
  int64_t count_ = 0;
  std::vector<int64_t> made_;
};

}  // namespace sparse
}  // namespace mxnet
#endif  // MXNET_OPERATOR_SPARSE_ROW_UNION_H_
