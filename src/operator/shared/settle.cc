#include "operator/shared/settle.h"

#include <algorithm>
#include <vector>

#include "ndarray/sparse_copy.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

/* Settle on copies of the index parts: what is wrong is told by one function. */
void SettleOnHost(const RunContext& run, SparseParts* parts) {
  const auto copy = NewParts(TensorType(parts->shape, parts->values.dtype, parts->storage), Context::CPU(0));
  std::vector<int64_t> numbers[2];
  copy->values.shape = parts->values.shape;  // Settle reads no values
  for (int i = 0; i < parts->num_index(); ++i) {
    const SparsePart& from = parts->index[i];
    numbers[i].resize(static_cast<size_t>(from.Size()) + 1);
    if (from.Size() > 0) rtc::ReadBack(run, from.memory.dptr, numbers[i].data(), from.Bytes());
    copy->index[i].shape = from.shape;
    copy->index[i].memory.dptr = numbers[i].data();
  }
  copy->state = SparseParts::kUnknown;
  copy->Settle();
  parts->state.store(copy->state, std::memory_order_release);
}

}  // namespace

void SettleOnDevice(KernelArgs& args, SparseParts* parts) {
  if (parts->state.load(std::memory_order_acquire) != SparseParts::kUnknown) return;
  const bool csr = parts->storage == StorageType::kCSR;
  const SparsePart &last = parts->index[parts->num_index() - 1], &indptr = parts->index[SparseParts::kIndptr];
  const int64_t rows = parts->shape[0], count = last.Size();
  if (count != parts->stored() || (csr && indptr.Size() != rows + 1)) return SettleOnHost(args.run, parts);
  constexpr int kFindings = 2;
  int64_t found[kFindings] = {1, 1};
  auto* const finding = static_cast<int64_t*>(args.workspace(sizeof(found)));
  rtc::Arguments clear;
  clear.Add(finding);
  rtc::LaunchItems(args.run, {"operator/shared/gpu_settle.cuh", "settle_begin"}, kFindings, &clear);
  rtc::Arguments a;
  a.Add(last.memory.dptr).Add(csr ? indptr.memory.dptr : nullptr).Add(finding).Add(count).Add(rows).Add(csr ? parts->shape[1] : rows);
  rtc::LaunchItems(args.run, {"operator/shared/gpu_settle.cuh", "settle_parts", {}, {csr}}, std::max(count, csr ? rows + 1 : 0), &a);
  rtc::ReadBack(args.run, finding, found, sizeof(found));
  if (found[0] != 0) return SettleOnHost(args.run, parts);
  parts->state.store(found[1] == 0 ? SparseParts::kAscending : SparseParts::kInBounds, std::memory_order_release);
}

}  // namespace mxnet
