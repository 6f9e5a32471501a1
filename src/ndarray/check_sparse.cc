// Are the parts of a sparse array what they have to be?
#include <algorithm>
#include <vector>

#include "mxnet/ndarray.h"
#include "ndarray/sparse_copy.h"

namespace mxnet {
namespace {

/* What an array stored at one moment; the numbers of index parts that were asked for. */
struct Seen {
  Shape shape, values, index[2];
  std::vector<int64_t> numbers[2];
};

/* Ascending, each once, in [0, limit). */
void CheckRun(const std::vector<int64_t>& numbers, int64_t begin, int64_t end, int64_t limit, const char* name) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t n = numbers[static_cast<size_t>(i)];
    MXNET_CHECK_KIND(n >= 0 && n < limit, Value)
        << "[check_format] " << name << '[' << i << "] is " << n << "; accepted: 0 to " << limit - 1;
    MXNET_CHECK_KIND(i == begin || n > numbers[static_cast<size_t>(i - 1)], Value)
        << "[check_format] " << name << '[' << i << "] is " << n << " behind " << numbers[static_cast<size_t>(i - 1)]
        << "; accepted: ascending numbers, each once";
  }
}

void CheckRowSparse(const Seen& seen, bool full) {
  const int64_t values = seen.values[0], rows = seen.index[SparseParts::kRows][0];
  MXNET_CHECK_KIND(values == rows, Value) << "[check_format] a row_sparse array of shape " << seen.shape << " with " << rows
                                          << " indices and " << values << " rows of values; accepted: as many";
  MXNET_CHECK_KIND(rows <= seen.shape[0], Value) << "[check_format] " << rows << " rows are stored of an array of shape " << seen.shape;
  if (full) CheckRun(seen.numbers[SparseParts::kRows], 0, rows, seen.shape[0], "indices");
}

void CheckCSR(const Seen& seen, bool full) {
  const int64_t values = seen.values[0], columns = seen.index[SparseParts::kColumns][0], rows = seen.shape[0];
  MXNET_CHECK_KIND(values == columns, Value) << "[check_format] a csr array with " << columns << " indices and " << values
                                             << " values; accepted: as many";
  const std::vector<int64_t>& indptr = seen.numbers[SparseParts::kIndptr];
  MXNET_CHECK_KIND(static_cast<int64_t>(indptr.size()) == rows + 1, Value)
      << "[check_format] indptr of a csr array of shape " << seen.shape << " has " << indptr.size() << " numbers; accepted: " << rows + 1;
  MXNET_CHECK_KIND(indptr[0] == 0, Value) << "[check_format] indptr[0] is " << indptr[0] << "; accepted: 0";
  MXNET_CHECK_KIND(indptr.back() == values, Value)
      << "[check_format] indptr[" << rows << "] is " << indptr.back() << "; accepted: the number of values, " << values;
  if (!full) return;
  for (int64_t r = 0; r < rows; ++r)
    MXNET_CHECK_KIND(indptr[static_cast<size_t>(r)] <= indptr[static_cast<size_t>(r + 1)], Value)
        << "[check_format] indptr[" << r + 1 << "] is " << indptr[static_cast<size_t>(r + 1)] << " behind "
        << indptr[static_cast<size_t>(r)] << "; accepted: numbers that do not fall";
  const std::vector<int64_t>& numbers = seen.numbers[SparseParts::kColumns];
  for (int64_t r = 0; r < rows; ++r)
    CheckRun(numbers, indptr[static_cast<size_t>(r)], indptr[static_cast<size_t>(r + 1)], seen.shape[1], "indices");
}

/* Where index pointers would lead outside. */
void CheckIndptr(const SparseParts& p) {
  const int64_t rows = p.shape[0], *indptr = p.index[SparseParts::kIndptr].data<int64_t>(), count = p.stored();
  const int64_t have = p.index[SparseParts::kIndptr].Size(), columns = p.index[SparseParts::kColumns].Size();
  MXNET_CHECK_KIND(have == rows + 1, Value) << "[csr] indptr of an array of shape " << p.shape << " has " << have
                                            << " numbers; accepted: " << rows + 1;
  MXNET_CHECK_KIND(columns == count, Value) << "[csr] " << count << " values and " << columns << " indices; accepted: as many";
  MXNET_CHECK_KIND(indptr[0] == 0 && indptr[rows] == count, Value) << "[csr] indptr begins with " << indptr[0] << " and ends with "
                                                                   << indptr[rows] << "; accepted: 0 and the number of values, " << count;
  for (int64_t r = 0; r < rows; ++r)
    MXNET_CHECK_KIND(indptr[r] <= indptr[r + 1], Value)
        << "[csr] indptr[" << r + 1 << "] is " << indptr[r + 1] << " behind " << indptr[r] << "; accepted: numbers that do not fall";
}

}  // namespace

void SparseParts::Settle() {
  if (state.load(std::memory_order_acquire) != kUnknown) return;
  const SparsePart& last = index[num_index() - 1];
  const int64_t* numbers = last.data<int64_t>();
  const char* name = StorageTypeName(storage);
  const int64_t limit = storage == StorageType::kCSR ? shape[1] : shape[0];
  if (storage == StorageType::kCSR)
    CheckIndptr(*this);
  else
    MXNET_CHECK_KIND(last.Size() == stored(), Value)
        << "[row_sparse] " << stored() << " rows of values and " << last.Size() << " indices; accepted: as many";
  for (int64_t i = 0; i < last.Size(); ++i)
    MXNET_CHECK_KIND(numbers[i] >= 0 && numbers[i] < limit, Value) << '[' << name << "] indices[" << i << "] is " << numbers[i]
                                                                   << " in an array of shape " << shape << "; accepted: 0 to " << limit - 1;
  bool ascending = true;
  if (storage == StorageType::kCSR) {
    const int64_t* indptr = this->index[kIndptr].data<int64_t>();
    for (int64_t r = 0; ascending && r < shape[0]; ++r)
      for (int64_t i = indptr[r] + 1; ascending && i < indptr[r + 1]; ++i) ascending = numbers[i - 1] < numbers[i];
  } else {
    for (int64_t i = 1; i < last.Size(); ++i)
      MXNET_CHECK_KIND(numbers[i - 1] < numbers[i], Value) << "[row_sparse] indices[" << i << "] is " << numbers[i] << " behind "
                                                           << numbers[i - 1] << "; accepted: ascending numbers, each once";
  }
  state.store(ascending ? kAscending : kInBounds, std::memory_order_release);
}

void SparseParts::NeedAscending(const char* op) const {
  MXNET_CHECK_KIND(state.load(std::memory_order_acquire) == kAscending, Value)
      << '[' << op << "] the indices of a csr array of shape " << shape
      << " are not in ascending order, each once, within its rows; accepted: arrays that check_format(True) passes";
}

void CheckSparse(const NDArray& array, bool full) {
  if (!array.is_sparse()) return;
  const bool csr = array.storage_type() == StorageType::kCSR;
  Seen seen;
  const auto look = [&](const SparseParts& parts) {
    seen.shape = parts.shape;
    seen.values = parts.values.shape;
    for (int i = 0; i < parts.num_index(); ++i) {
      const SparsePart& part = parts.index[i];
      seen.index[i] = part.shape;
      if (!full && !(csr && i == SparseParts::kIndptr)) continue;
      const int64_t* const numbers = part.data<int64_t>();
      seen.numbers[i].assign(numbers, numbers + part.Size());
    }
  };
  LookAtParts(array, look, "check_format");
  if (csr)
    CheckCSR(seen, full);
  else
    CheckRowSparse(seen, full);
}

}  // namespace mxnet
