#include "io/row_batches.h"

#include <cstring>

#include "mxnet/error.h"

namespace mxnet {

RowBatches::RowBatches(const std::string& name, std::unique_ptr<RowSource> rows, const std::vector<RowPart>& parts, uint32_t batch_size,
                       bool round_batch, Context context)
    : name_(name), rows_(std::move(rows)), row_(parts.size()), batch_size_(batch_size), round_batch_(round_batch), context_(context) {
  MXNET_CHECK_KIND(batch_size > 0 && batch_size <= INT32_MAX, Value)
      << "[" << name << "] batch_size=" << batch_size << "; accepted: 1 to 2^31 - 1";
  for (const RowPart& part : parts) {
    std::vector<int64_t> dims = {batch_size};
    for (int i = 0; i < part.shape.ndim(); ++i) dims.push_back(part.shape[i]);
    parts_.push_back(
        {Shape(dims), part.dtype, static_cast<size_t>(part.shape.Size()) * DTypeSize(part.dtype), part.sparse, {}, {0}, {}, {}});
  }
}

void RowBatches::RestartRows() {
  rows_->Restart();
  next_index_ = 0;
}

void RowBatches::Restart() {
  over_ = borrowed_ = continues_ = false;
  RestartRows();
}

void RowBatches::BeforeFirst() {
  over_ = false;
  continues_ = borrowed_;
  borrowed_ = false;
  if (!continues_) RestartRows();
}

void RowBatches::Put(const std::vector<char>& row, uint32_t place, Part* part) {
  if (part->sparse) {
    const size_t count = row.size() / sizeof(Feature);
    part->indptr.resize(place + 1);  // begins anew at 0
    part->columns.resize(static_cast<size_t>(part->indptr[place]));
    part->values.resize(part->columns.size());
    for (size_t i = 0; i < count; ++i) {
      Feature feature;
      std::memcpy(&feature, row.data() + i * sizeof(Feature), sizeof(Feature));
      part->columns.push_back(feature.column);
      part->values.push_back(feature.value);
    }
    part->indptr.push_back(static_cast<int64_t>(part->columns.size()));
    return;
  }
  const size_t size = part->row_bytes;
  MXNET_CHECK(row.size() == size) << "[RowBatches] a row has " << row.size() << " bytes; accepted: " << size;
  if (part->rows.size() < (place + 1) * size) part->rows.resize((place + 1) * size);
  if (size > 0) std::memcpy(part->rows.data() + place * size, row.data(), size);
}

/* Nobody knows the array yet. */
void RowBatches::Give(Part* part, uint32_t batch_size, NDArray* array) {
  if (!part->sparse) {
    part->rows.resize(batch_size * part->row_bytes);
    return array->CopyBytesFrom(part->rows.data(), part->rows.size());
  }
  part->indptr.resize(batch_size + 1, part->indptr.back());  // rows at the end that no record fills
  SparseParts* const to = array->sparse();
  to->Resize(part->indptr.back());
  std::memcpy(to->index[SparseParts::kIndptr].memory.dptr, part->indptr.data(), part->indptr.size() * sizeof(int64_t));
  if (part->columns.empty()) return;
  std::memcpy(to->index[SparseParts::kColumns].memory.dptr, part->columns.data(), part->columns.size() * sizeof(int64_t));
  std::memcpy(to->values.memory.dptr, part->values.data(), part->values.size() * sizeof(float));
}

/* Reads rows to the places from `from` on. Returns where it came to. */
uint32_t RowBatches::Fill(uint32_t from) {
  for (uint32_t i = from; i < batch_size_; ++i) {
    if (!rows_->Read(&row_)) return i;
    for (size_t p = 0; p < parts_.size(); ++p) Put(row_[p], i, &parts_[p]);
    if (index_.size() <= i) index_.resize(i + 1);
    index_[i] = next_index_++;
  }
  return batch_size_;
}

bool RowBatches::Next() {
  if (over_) return false;
  uint32_t end = Fill(0);
  if (end == 0 && continues_) {  // the last batch of the epoch before took all rows
    RestartRows();
    end = Fill(0);
  }
  continues_ = false;
  value_.pad = static_cast<int>(batch_size_ - end);
  if (end < batch_size_) {
    over_ = true;
    if (end == 0) return false;
  }
  value_.arrays.clear();  // before rows are repeated: a batch that is too large fails at once
  for (Part& part : parts_) {
    const TensorType type(part.batch_shape, part.dtype, part.sparse ? StorageType::kCSR : StorageType::kDense);
    value_.arrays.push_back(NDArray::Make(type, part.sparse ? Context::CPU() : context_));
  }
  borrowed_ = round_batch_ && end < batch_size_;
  while (round_batch_ && end < batch_size_) {  // a batch may be longer than an epoch
    RestartRows();
    const uint32_t before = end;
    end = Fill(before);
    MXNET_CHECK_KIND(end > before, IO) << "[" << name_ << "] the file has become empty while it was read";
  }
  index_.resize(batch_size_);
  value_.index = index_;
  for (size_t p = 0; p < parts_.size(); ++p) Give(&parts_[p], batch_size_, &value_.arrays[p]);
  return true;
}

}  // namespace mxnet
