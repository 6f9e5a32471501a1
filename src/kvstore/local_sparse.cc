// What stores of one process do with row_sparse values. They are summed where the value is kept;
// for sums with other processes on the CPU.
#include <algorithm>

#include "kvstore/local.h"
#include "kvstore/rows.h"
#include "mxnet/imperative.h"
#include "operator/nodes/graph_operators.h"

namespace mxnet {
namespace kvstore {

bool IsSparse(const Pushed& pushed) {
  const auto sparse = [](const NDArray* v) { return v->is_sparse(); };
  return pushed.entry->stored.is_sparse() || std::any_of(pushed.values.begin(), pushed.values.end(), sparse);
}

NDArray LocalStore::SumSparse(const Pushed& pushed, int priority) {
  MXNET_CHECK_KIND(!compressed(), Value) << "[kvstore] push of row_sparse values to key " << pushed.key->str()
                                         << " of a store with gradient compression; accepted: dense values";
  const NDArray& stored = pushed.entry->stored;
  const Context where = stored.ctx().is_gpu() && transport_->size() == 1 ? stored.ctx() : Context::CPU();
  std::vector<NDArray> values;
  for (const NDArray* v : pushed.values) {
    values.push_back(v->Detach());
    if (v->ctx().execution() == where) continue;
    values.back() = NDArray::Make(v->type(), where, true);
    CopyFromTo(*v, values.back(), priority);
  }
  if (values.size() == 1) return values[0];
  const bool sparse = std::all_of(values.begin(), values.end(), [](const NDArray& v) { return v.is_sparse(); });
  NDArray& sum = pushed.entry->sum;
  const TensorType type(values[0].shape(), values[0].dtype(), sparse ? StorageType::kRowSparse : StorageType::kDense);
  Ensure(&sum, type, where);
  Imperative::Run(graph_ops::Sum(static_cast<int>(values.size())), values, {OpReq::kWrite}, {sum}, false);
  return sum;
}

std::vector<NDArray> LocalStore::SumAll(const std::vector<Pushed>& pushed, int priority) {
  std::vector<Pushed> dense;
  for (const Pushed& p : pushed)
    if (!IsSparse(p)) dense.push_back(p);
  if (dense.size() == pushed.size()) return Sum(pushed, priority);
  const std::vector<NDArray> sums = Sum(dense, priority);
  std::vector<NDArray> all;
  size_t next = 0;
  for (const Pushed& p : pushed) all.push_back(IsSparse(p) ? SumSparse(p, priority) : sums[next++]);
  return all;
}

void LocalStore::SpreadAll(const std::vector<Entry*>& entries, const Arrays& outs, int priority) {
  std::vector<Entry*> dense;
  Arrays dense_outs;
  for (size_t i = 0; i < outs.size(); ++i) {
    if (entries[i]->stored.is_sparse() || outs[i]->is_sparse()) {
      CopyFromTo(entries[i]->stored, *outs[i], priority);
      continue;
    }
    dense.push_back(entries[i]);
    dense_outs.push_back(outs[i]);
  }
  if (!dense.empty()) Spread(dense, dense_outs, priority);
}

std::vector<Entry*> LocalStore::GatherRowOuts(const Keys& keys, const Arrays& outs, const Arrays& row_ids) {
  const std::vector<Entry*> entries = GatherOuts("row_sparse_pull", keys, outs);
  MXNET_CHECK_KIND(row_ids.size() == outs.size(), Value)
      << "[kvstore] row_sparse_pull got " << outs.size() << " arrays and " << row_ids.size() << " arrays of row ids; accepted: as many";
  for (size_t i = 0; i < outs.size(); ++i) {
    MXNET_CHECK_KIND(outs[i]->storage_type() == StorageType::kRowSparse, Value)
        << "[kvstore] row_sparse_pull of key " << keys[i].str() << " into an array of storage type "
        << StorageTypeName(outs[i]->storage_type()) << "; accepted: row_sparse";
    MXNET_CHECK_KIND(row_ids[i] && !row_ids[i]->is_none() && !row_ids[i]->is_sparse(), Value)
        << "[kvstore] row_sparse_pull of key " << keys[i].str() << " got no dense array of row ids";
    MXNET_CHECK_KIND(entries[i]->stored.storage_type() != StorageType::kCSR, Value)
        << "[kvstore] row_sparse_pull of key " << keys[i].str() << ", whose value is csr; accepted: default and row_sparse";
  }
  return entries;
}

void LocalStore::PullRowSparse(const Keys& keys, const Arrays& outs, const Arrays& row_ids, int priority) {
  const std::vector<Entry*> entries = GatherRowOuts(keys, outs, row_ids);
  for (size_t i = 0; i < outs.size(); ++i) {
    const NDArray& out = *outs[i];
    const NDArray target = RowTarget(*entries[i], out, out.ctx());
    TakeRows(entries[i]->stored, *row_ids[i], target, priority);
    if (target.chunk() != out.chunk()) CopyFromTo(target, out, priority);
  }
}

NDArray LocalStore::RowTarget(const Entry& entry, const NDArray& out, Context where) {
  if (out.ctx() == where && out.dtype() == entry.stored.dtype()) return out;
  return NDArray::Make(TensorType(out.shape(), entry.stored.dtype(), StorageType::kRowSparse), where, true);
}

}  // namespace kvstore
}  // namespace mxnet
