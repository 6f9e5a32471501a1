// Sums and other element-by-element functions of two arrays of one shape, of which at least one is
// sparse.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/threads/omp.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/rows.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/row_union.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace {

using pointwise::Operand;
constexpr StorageType kD = StorageType::kDense, kR = StorageType::kRowSparse, kC = StorageType::kCSR;

// ---- which storages

/* f(0, 0) = 0: both of one storage. */
bool TakesAlike(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  return in[0] == in[1] && IsSparse(in[0]) && GiveStorage(&(*out)[0], in[0]);
}
/* Sums and differences: a dense one makes the result dense. */
bool TakesSum(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if ((in[0] == kD) != (in[1] == kD)) return GiveStorage(&(*out)[0], kD);
  return TakesAlike(attrs, in, out);
}
/* Products: 0 wherever a sparse one is. */
bool TakesProduct(const Attrs& attrs, const StorageTypes& in, StorageTypes* out) {
  if ((in[0] == kD) != (in[1] == kD)) return GiveStorage(&(*out)[0], in[0] == kD ? in[1] : in[0]);
  return TakesAlike(attrs, in, out);
}
bool TakesScatterDiv(const Attrs&, const StorageTypes& in, StorageTypes* out) { return in[0] == kR && GiveStorage(&(*out)[0], kR); }

// ---- kernels

/* out = f(a, b), arrays of so many elements or, where the pointer is null, 0. */
void Apply(int row, int dtype, const void* a, const void* b, void* out, int64_t count) {
  if (count == 0) return;
  TBlob in[2], to;
  Operand operands[2] = {Operand(0.0), Operand(0.0)};
  const void* const data[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    in[i].dptr = const_cast<void*>(data[i]), in[i].dtype = dtype, in[i].shape = Shape{count};
    if (data[i]) operands[i] = Operand(in[i]);
  }
  to.dptr = out, to.dtype = dtype, to.shape = Shape{count};
  pointwise::Execute(RunContext{Context::CPU(0)}, pointwise::Forward(row), pointwise::ComputeFor(dtype, pointwise::GetRow(row).exact()),
                     operands, 2, pointwise::kBinaryMasks, nullptr, to, OpReq::kWrite);
}

void RowsWithRows(int row, const SparseParts& a, const SparseParts& b, SparseParts* out) {
  const sparse::RowUnion rows({&a, &b});
  out->Resize(rows.count());
  rows.CopyTo(out->index[SparseParts::kRows].data<int64_t>());
  const int dtype = out->values.dtype;
  const size_t bytes = static_cast<size_t>(sparse::RowSize(*out)) * DTypeSize(dtype);
  char* const to = out->values.data<char>();
  rows.VisitRuns(sparse::RowSize(*out), [&](int64_t at, int64_t from_a, int64_t from_b, int64_t count) {
    const auto place = [&](const SparseParts& p, int64_t from) {
      return from < 0 ? nullptr : p.values.data<char>() + static_cast<size_t>(from) * bytes;
    };
    Apply(row, dtype, place(a, from_a), place(b, from_b), to + static_cast<size_t>(at) * bytes, count * sparse::RowSize(*out));
  });
}

/* The union of the elements, or those that both have; then without what is 0. */
void ElementsWithElements(KernelArgs& args, int row, bool both, const SparseParts& a, const SparseParts& b, SparseParts* out) {
  for (const SparseParts* p : {&a, &b}) p->NeedAscending(args.attrs->op->name.c_str());
  const int64_t rows = a.shape[0];
  const size_t item = DTypeSize(a.values.dtype);
  const int64_t *const ap = a.index[SparseParts::kIndptr].data<int64_t>(), *const ac = a.index[SparseParts::kColumns].data<int64_t>();
  const int64_t *const bp = b.index[SparseParts::kIndptr].data<int64_t>(), *const bc = b.index[SparseParts::kColumns].data<int64_t>();
  const int64_t most = both ? std::min(a.stored(), b.stored()) : a.stored() + b.stored();
  char* const va = static_cast<char*>(args.workspace(static_cast<size_t>(most) * item + 1));
  char* const vb = static_cast<char*>(args.workspace(static_cast<size_t>(most) * item + 1));
  std::vector<int64_t> columns(static_cast<size_t>(most)), ends(static_cast<size_t>(rows));
  const auto put = [&](char* to, const SparseParts& p, int64_t from) {
    if (from < 0)
      std::memset(to, 0, item);
    else
      std::memcpy(to, p.values.data<char>() + static_cast<size_t>(from) * item, item);
  };
  size_t n = 0;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t i = ap[r], j = bp[r];
    while (i < ap[r + 1] || j < bp[r + 1]) {
      const int64_t ca = i < ap[r + 1] ? ac[i] : INT64_MAX, cb = j < bp[r + 1] ? bc[j] : INT64_MAX, c = std::min(ca, cb);
      const int64_t from_a = ca == c ? i++ : -1, from_b = cb == c ? j++ : -1;
      if (both && (from_a < 0 || from_b < 0)) continue;
      put(va + n * item, a, from_a);
      put(vb + n * item, b, from_b);
      columns[n++] = c;
    }
    ends[static_cast<size_t>(r)] = static_cast<int64_t>(n);
  }
  Apply(row, a.values.dtype, va, vb, va, static_cast<int64_t>(n));
  sparse::StoreNonZero(columns.data(), ends.data(), va, out);
}

/* A sum or difference with a dense array. */
void WithDense(KernelArgs& args, int row) {
  const int which = args.in[0].sparse ? 0 : 1;
  const SparseParts& parts = *args.in[which].sparse;
  const TBlob &dense = args.in[1 - which], &out = args.out[0];
  const int dtype = out.dtype;
  const size_t item = DTypeSize(dtype);
  const auto apply = [&](const void* of_sparse, const void* of_dense, void* to, int64_t count) {
    which == 0 ? Apply(row, dtype, of_sparse, of_dense, to, count) : Apply(row, dtype, of_dense, of_sparse, to, count);
  };
  // first as if nothing was stored, where that is not there already
  const bool same = row == pointwise::k_add || which == 1, in_place = out.dptr == dense.dptr;
  if (parts.storage == kC) parts.NeedAscending(args.attrs->op->name.c_str());
  if (same && !in_place)
    pointwise::ExecuteCast(args.run, dense, out, OpReq::kWrite);
  else if (!same)
    apply(nullptr, dense.dptr, out.dptr, out.Size());
  // then what is stored, of which `out` has the other operand's, or its negative
  const bool negative = !same;
  const auto finish = [&](const void* stored, void* at, int64_t count) {
    negative ? Apply(pointwise::k_add, dtype, at, stored, at, count) : apply(stored, at, at, count);
  };
  if (parts.storage == kR) {
    const int64_t* const rows = parts.index[SparseParts::kRows].data<int64_t>();
    const int64_t size = sparse::RowSize(parts), stored = parts.stored();
    ParallelFor(stored, std::max<int64_t>(1, sparse::kRowGrain / std::max<int64_t>(1, size)), [&](int64_t begin, int64_t end) {
      for (int64_t n = begin, next; n < end; n = next) {
        for (next = n + 1; next < end && rows[next] == rows[next - 1] + 1;) ++next;
        finish(parts.values.data<char>() + static_cast<size_t>(n * size) * item, out.data<char>() + static_cast<size_t>(rows[n] * size) * item,
               (next - n) * size);
      }
    });
    return;
  }
  const int64_t *const ptr = parts.index[SparseParts::kIndptr].data<int64_t>(), *const columns = parts.index[SparseParts::kColumns].data<int64_t>();
  char* const values = static_cast<char*>(args.workspace(static_cast<size_t>(parts.stored()) * item + 1));
  const auto move = [&](bool back) {
    for (int64_t r = 0; r < parts.shape[0]; ++r)
      for (int64_t n = ptr[r]; n < ptr[r + 1]; ++n) {
        char *const mine = values + static_cast<size_t>(n) * item,
                    *const its = out.data<char>() + static_cast<size_t>(r * parts.shape[1] + columns[n]) * item;
        std::memcpy(back ? its : mine, back ? mine : its, item);
      }
  };
  move(false);
  finish(parts.values.memory.dptr, values, parts.stored());
  move(true);
}

/* `use(out)`, where out may be one of the inputs. */
template <typename F>
void Apart(KernelArgs& args, F&& use) {
  SparseParts* const out = args.out[0].sparse;
  bool is_input = false;
  for (const TBlob& in : args.in) is_input = is_input || in.sparse == out;
  if (!is_input) return use(out);
  sparse::TempParts fresh(*out);
  use(fresh.get());
  out->Swap(fresh.get());
}

void Alike(KernelArgs& args, int row, bool both) {
  const SparseParts &a = *args.in[0].sparse, &b = *args.in[1].sparse;
  Apart(args, [&](SparseParts* out) {
    a.storage == kR ? RowsWithRows(row, a, b, out) : ElementsWithElements(args, row, both, a, b, out);
  });
}

Kernel BinaryKernel(int row) {
  return [row](KernelArgs& args) {
    if (args.req[0] == OpReq::kNull) return;
    args.in[0].sparse && args.in[1].sparse ? Alike(args, row, row == pointwise::k_mul) : WithDense(args, row);
  };
}

void Multiply(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (args.in[0].sparse && args.in[1].sparse) return Alike(args, pointwise::k_mul, true);
  sparse::OnValues(args, *sparse::DenseKernel(args), args.in[0].sparse ? 0 : 1);
}

MXNET_REGISTER_SPARSE(elemwise_add, TakesSum).set_in_place().set_kernel(DeviceType::kCPU, BinaryKernel(pointwise::k_add));
MXNET_REGISTER_SPARSE(_grad_add, TakesSum).set_in_place().set_kernel(DeviceType::kCPU, BinaryKernel(pointwise::k_add));
MXNET_REGISTER_SPARSE(elemwise_sub, TakesSum).set_in_place().set_kernel(DeviceType::kCPU, BinaryKernel(pointwise::k_sub));
MXNET_REGISTER_SPARSE(_maximum, TakesAlike).set_in_place().set_kernel(DeviceType::kCPU, BinaryKernel(pointwise::k_maximum));
MXNET_REGISTER_SPARSE(_minimum, TakesAlike).set_in_place().set_kernel(DeviceType::kCPU, BinaryKernel(pointwise::k_minimum));
MXNET_REGISTER_SPARSE(_hypot, TakesAlike).set_in_place().set_kernel(DeviceType::kCPU, BinaryKernel(pointwise::k_hypot));
MXNET_REGISTER_SPARSE(elemwise_mul, TakesProduct).set_kernel(DeviceType::kCPU, Multiply);
MXNET_REGISTER_SPARSE(_scatter_elemwise_div, TakesScatterDiv).set_kernel(DeviceType::kCPU, sparse::OnValuesOfFirst);

// ---- sums of several

bool TakesAddN(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  StorageType all = kR;
  for (StorageType s : in) {
    if (s == kC) return false;
    if (s == kD) all = kD;
  }
  return GiveStorage(&(*out)[0], all);
}

void AddRows(const std::vector<const SparseParts*>& parts, SparseParts* out) {
  const sparse::RowUnion rows(parts);
  out->Resize(rows.count());
  int64_t* const numbers = out->index[SparseParts::kRows].data<int64_t>();
  rows.CopyTo(numbers);
  const int dtype = out->values.dtype;
  const int64_t size = sparse::RowSize(*out);
  const size_t bytes = static_cast<size_t>(size) * DTypeSize(dtype);
  char* const to = out->values.data<char>();
  // some rows at a time, which stay in the cache while all inputs pass over them
  const int64_t block = std::max<int64_t>(1, sparse::kRowGrain / 2 / std::max<int64_t>(1, size));
  ParallelFor((rows.count() + block - 1) / block, 1, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t first = k * block, last = std::min(first + block, rows.count());
      std::memset(to + static_cast<size_t>(first) * bytes, 0, static_cast<size_t>(last - first) * bytes);
      for (const SparseParts* p : parts) {
        const int64_t *const has = p->index[SparseParts::kRows].data<int64_t>(), *const stop = has + p->stored();
        const int64_t* at = std::lower_bound(has, stop, numbers[first]);
        for (int64_t r = first; r < last && at != stop;) {
          if (numbers[r] != *at) {
            ++r;
            continue;
          }
          int64_t run = 1;
          while (r + run < last && at + run != stop && numbers[r + run] == at[run]) ++run;
          char* const sum = to + static_cast<size_t>(r) * bytes;
          Apply(pointwise::k_add, dtype, sum, p->values.data<char>() + static_cast<size_t>(at - has) * bytes, sum, run * size);
          r += run, at += run;
        }
      }
    }
  });
}

void AddN(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  std::vector<const SparseParts*> parts;
  for (const TBlob& in : args.in)
    if (in.sparse) parts.push_back(in.sparse);
  if (args.out[0].sparse) return AddRows(parts, args.out[0].sparse);
  // a sum of what is dense, then the others one by one
  bool first = true;
  for (const TBlob& in : args.in) {
    if (in.sparse) continue;
    pointwise::ExecuteCast(args.run, in, args.out[0], first ? OpReq::kWrite : OpReq::kAdd);
    first = false;
  }
  for (const TBlob& in : args.in) {
    if (!in.sparse) continue;
    const TBlob both[2] = {args.out[0], in};
    KernelArgs call = args;
    call.in = Span<const TBlob>(both, 2);
    WithDense(call, pointwise::k_add);
  }
}

MXNET_REGISTER_SPARSE(add_n, TakesAddN).set_kernel(DeviceType::kCPU, AddN);

}  // namespace
}  // namespace mxnet
