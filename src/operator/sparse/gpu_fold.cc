#include "operator/sparse/gpu_fold.h"

#include <algorithm>

#include "mxnet/env.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/execute.h"
#include "operator/sparse/gpu_groups.h"
#include "operator/sparse/gpu_parts.h"
#include "rtc/loop.h"

namespace mxnet {
namespace sparse {
namespace {

const char* const kFile = "operator/sparse/gpu_fold.cuh";

}  // namespace

void FoldOnDevice(KernelArgs& args, const SparseParts& csr, const Fold& fold, const TBlob& out) {
  const int64_t stored = csr.stored(), rows = fold.columns ? csr.shape[1] : csr.shape[0];
  const int64_t* const column = csr.index[SparseParts::kColumns].data<int64_t>();
  const int dtype = csr.values.dtype, kind = static_cast<int>(fold.kind), sum_dtype = fold.integers ? kUint64 : kFloat64;
  TBlob sums = NumbersBlob(NumbersOnDevice(args, rows), rows);
  if (fold.columns && !Env::Get().enforce_determinism) {
    ZeroBytes(args.run, sums.dptr, static_cast<int64_t>(sums.Bytes()));
    rtc::Arguments a;
    a.Add(column).Add(csr.values.memory.dptr).Add(sums.dptr);
    rtc::LaunchItems(args.run, {kFile, "fold_columns", {dtype, sum_dtype}, {kind}}, stored, &a);
  } else {
    const int64_t *pointers = csr.index[SparseParts::kIndptr].data<int64_t>(), *element = nullptr;
    if (fold.columns) {
      const SortedNumbers sorted = SortOnDevice(args, column, stored, std::max<int64_t>(rows, 1));
      pointers = PointersOnDevice(args, sorted, rows), element = sorted.element;
    }
    const int64_t lanes = PowerOfTwo(stored / std::max<int64_t>(rows, 1), kWarp);
    rtc::Arguments a;
    a.Add(pointers).Add(element).Add(csr.values.memory.dptr).Add(sums.dptr).Add(rows).Add(lanes);
    rtc::LaunchItems(args.run, {kFile, "fold_rows", {dtype, sum_dtype}, {kind}}, rtc::WholeBlocks(rows * lanes), &a);
  }
  if (!fold.integers) {
    sums.dtype = kFloat64;
    rtc::Arguments finish;
    finish.Add(sums.dptr).Add(fold.divisor);
    if (fold.divisor != 1 || fold.root) rtc::LaunchItems(args.run, {kFile, "finish_folds", {}, {fold.root}}, rows, &finish);
  }
  TBlob to = out;
  to.shape = sums.shape;
  pointwise::ExecuteCast(args.run, sums, to, OpReq::kWrite);
}

}  // namespace sparse
}  // namespace mxnet
