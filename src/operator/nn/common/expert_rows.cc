#include "operator/nn/common/expert_rows.h"

#include <algorithm>

#include "operator/nn/common/nn_common.h"

namespace mxnet {

ExpertRows::ExpertRows(KernelArgs& args, const TBlob& chosen, int64_t data_rows, int64_t experts)
    : per_(std::max<int64_t>(1, chosen.Size() / std::max<int64_t>(1, data_rows))),
      order_(static_cast<size_t>(chosen.Size())),
      begin_(static_cast<size_t>(experts) + 1, 0) {
  const int64_t* const expert = nn::AsInt64(args, chosen);
  for (int64_t r = 0; r < size(); ++r) {
    MXNET_CHECK_KIND(expert[r] >= 0 && expert[r] < experts, Value)
        << nn::Named(*args.attrs) << "expert " << expert[r] << " at position " << r << "; accepted: 0 to " << experts - 1;
    ++begin_[static_cast<size_t>(expert[r]) + 1];
  }
  for (size_t e = 1; e < begin_.size(); ++e) begin_[e] += begin_[e - 1];
  std::vector<size_t> next = begin_;
  for (int64_t r = 0; r < size(); ++r) order_[next[static_cast<size_t>(expert[r])]++] = r;
}

void ExpertRows::ForEach(const std::function<void(int64_t, const std::vector<int64_t>&)>& f) const {
  for (size_t e = 0; e + 1 < begin_.size(); ++e) {
    const auto at = order_.begin();
    if (begin_[e] < begin_[e + 1])
      f(static_cast<int64_t>(e), std::vector<int64_t>(at + static_cast<ptrdiff_t>(begin_[e]), at + static_cast<ptrdiff_t>(begin_[e + 1])));
  }
}

std::vector<int64_t> ExpertRows::DataRows(const std::vector<int64_t>& rows) const {
  std::vector<int64_t> from;
  from.reserve(rows.size());
  for (const int64_t row : rows) from.push_back(row / per_);
  return from;
}

template <typename T>
void GatherRows(const T* from, const std::vector<int64_t>& rows, int64_t width, T* to) {
  for (size_t i = 0; i < rows.size(); ++i) std::copy_n(from + rows[i] * width, width, to + static_cast<int64_t>(i) * width);
}
template <typename T>
void ScatterRows(const T* from, const std::vector<int64_t>& rows, int64_t width, T* to) {
  for (size_t i = 0; i < rows.size(); ++i) std::copy_n(from + static_cast<int64_t>(i) * width, width, to + rows[i] * width);
}
template void GatherRows(const float*, const std::vector<int64_t>&, int64_t, float*);
template void GatherRows(const double*, const std::vector<int64_t>&, int64_t, double*);
template void ScatterRows(const float*, const std::vector<int64_t>&, int64_t, float*);
template void ScatterRows(const double*, const std::vector<int64_t>&, int64_t, double*);

Shape ExpertShape(const Attrs& attrs, const Shape& data, const Shape& chosen, int64_t columns) {
  MXNET_CHECK_KIND(data.ndim() == 2 && chosen.ndim() == 1 && (data[0] == 0 ? chosen[0] == 0 : chosen[0] % data[0] == 0), Value)
      << nn::Named(attrs) << "data has shape " << data << ", experts " << chosen
      << "; accepted: (rows, features), and as many experts for each row";
  return Shape{chosen[0], columns};
}

}  // namespace mxnet
