/* Rows of data by the expert that computes them: what operators of mixtures of experts share. */
#ifndef MXNET_OPERATOR_NN_COMMON_EXPERT_ROWS_H_
#define MXNET_OPERATOR_NN_COMMON_EXPERT_ROWS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "mxnet/kernel_args.h"

namespace mxnet {

/*
 * A result has a row for each number of an expert. Each row of data meets as many experts, one
 * behind the other: row r of the result is made of row r / per of data.
 */
class ExpertRows {
 public:
  /* Throws Error(kValue) naming an expert that is none of `experts`. */
  ExpertRows(KernelArgs& args, const TBlob& chosen, int64_t data_rows, int64_t experts);
  /* f(expert, its rows of the result, in rising order), for experts that have any. */
  void ForEach(const std::function<void(int64_t, const std::vector<int64_t>&)>& f) const;
  /* The rows of data that rows of the result are made of. */
  std::vector<int64_t> DataRows(const std::vector<int64_t>& rows) const;
  /* f(expert, count, x, y) for experts that have any rows: it makes `count` rows y, of n numbers,
   * of as many rows x, of k numbers. They are those of `out` and of `data`. */
  template <typename T, typename F>
  void Multiply(KernelArgs& args, const T* data, int64_t k, int64_t n, T* out, const F& f) const;
  int64_t size() const { return static_cast<int64_t>(order_.size()); }

 private:
  int64_t per_;
  std::vector<int64_t> order_;  // rows of the result, those of an expert together
  std::vector<size_t> begin_;   // of each expert in it
};

/* to[i] = from[rows[i]], rows of `width` numbers. */
template <typename T>
void GatherRows(const T* from, const std::vector<int64_t>& rows, int64_t width, T* to);
/* to[rows[i]] = from[i]. */
template <typename T>
void ScatterRows(const T* from, const std::vector<int64_t>& rows, int64_t width, T* to);

template <typename T, typename F>
void ExpertRows::Multiply(KernelArgs& args, const T* data, int64_t k, int64_t n, T* out, const F& f) const {
  T *const x = static_cast<T*>(args.workspace(static_cast<size_t>(size() * k) * sizeof(T))), *const y = static_cast<T*>(args.workspace(
                                                                                                 static_cast<size_t>(size() * n) *
                                                                                                 sizeof(T)));
  ForEach([&](int64_t e, const std::vector<int64_t>& mine) {
    const std::vector<int64_t> from = DataRows(mine);
    if (mine.size() == 1) return f(e, int64_t{1}, data + from[0] * k, out + mine[0] * n);  // stays where it is
    GatherRows(data, from, k, x);
    f(e, static_cast<int64_t>(mine.size()), static_cast<const T*>(x), y);
    ScatterRows(y, mine, n, out);
  });
}

/* Checks a list of experts (as many for each row of data), and gives the shape of the result. */
Shape ExpertShape(const Attrs& attrs, const Shape& data, const Shape& chosen, int64_t columns);

}  // namespace mxnet
#endif  // MXNET_OPERATOR_NN_COMMON_EXPERT_ROWS_H_
