// Sums and other element-by-element functions of two arrays of one shape, of which at least one is
// sparse.
#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "ndarray/sparse_copy.h"
#include "operator/pointwise/execute.h"
#include "operator/pointwise/rows.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/csr_merge.h"
#include "operator/sparse/gpu_cast.h"
#include "operator/sparse/gpu_merge.h"
#include "operator/sparse/row_kernels.h"
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
void Apply(KernelArgs& args, int row, int dtype, const void* a, const void* b, void* out, int64_t count) {
  if (count == 0) return;
  TBlob in[2], to;
  Operand operands[2] = {Operand(0.0), Operand(0.0)};
  const void* const data[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    in[i].dptr = const_cast<void*>(data[i]), in[i].dtype = dtype, in[i].shape = Shape{count};
    if (data[i]) operands[i] = Operand(in[i]);
  }
  to.dptr = out, to.dtype = dtype, to.shape = Shape{count};
  pointwise::Execute(args.run, pointwise::Forward(row), pointwise::ComputeFor(dtype, pointwise::GetRow(row).exact()), operands, 2,
                     pointwise::kBinaryMasks, nullptr, to, OpReq::kWrite);
}

/* Sums and differences of floats: parts of the rows on each thread, in one pass. */
template <typename T>
void MergeRows(const SparseParts& a, const SparseParts& b, bool minus, SparseParts* out) {
  const int64_t *const ar = a.index[SparseParts::kRows].data<int64_t>(), *const br = b.index[SparseParts::kRows].data<int64_t>();
  const int64_t na = a.stored(), nb = b.stored(), size = sparse::RowSize(*out);
  const int threads = std::max<int>(1, std::min<int>(OmpThreads((na + nb) * size), 64));
  std::vector<int64_t> split_a(static_cast<size_t>(threads) + 1, na), split_b(static_cast<size_t>(threads) + 1, nb),
      at(static_cast<size_t>(threads) + 1, 0);
  split_a[0] = split_b[0] = 0;
  const bool by_a = na >= nb;
  for (size_t t = 1; t < static_cast<size_t>(threads); ++t) {
    const int64_t k = (by_a ? na : nb) / threads * static_cast<int64_t>(t), row = by_a ? ar[k] : br[k];
    split_a[t] = by_a ? k : std::lower_bound(ar, ar + na, row) - ar;
    split_b[t] = by_a ? std::lower_bound(br, br + nb, row) - br : k;
  }
  const auto each = [&](auto&& f) {
    ParallelForThreads(threads, threads, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t) f(static_cast<size_t>(t));
    });
  };
  const bool guess = threads == 1 && size * static_cast<int64_t>(sizeof(T)) <= 64;  // counting would take as long as adding
  each([&](size_t t) {
    at[t + 1] = guess ? na + nb : sparse::CountUnion(ar + split_a[t], ar + split_a[t + 1], br + split_b[t], br + split_b[t + 1]);
  });
  for (size_t t = 0; t < static_cast<size_t>(threads); ++t) at[t + 1] += at[t];
  out->Resize(at.back());
  each([&](size_t t) {
    const int64_t* const end =
        sparse::Merge({ar + split_a[t], ar + split_a[t + 1], br + split_b[t], br + split_b[t + 1], a.values.data<T>() + split_a[t] * size,
                       b.values.data<T>() + split_b[t] * size, size, minus, out->index[SparseParts::kRows].data<int64_t>() + at[t],
                       out->values.data<T>() + at[t] * size});
    if (guess) at[1] = end - out->index[SparseParts::kRows].data<int64_t>();
  });
  if (guess) out->Resize(at[1]);
}

/* All rows of either, on a GPU; `out` may be one of them. */
void RowsWithRowsOnDevice(KernelArgs& args, int row, const SparseParts& a, const SparseParts& b, SparseParts* out) {
  TBlob values[2];
  sparse::StoreUnionOnDevice(args, a, b, out, values);
  Apply(args, row, out->values.dtype, values[0].dptr, values[1].dptr, out->values.memory.dptr, values[0].Size());
}

void RowsWithRows(KernelArgs& args, int row, const SparseParts& a, const SparseParts& b, SparseParts* out) {
  const int dtype = out->values.dtype;
  if (sparse::SameIndex(args, a, b)) {
    sparse::CopyIndex(args, a, out);
    return Apply(args, row, dtype, a.values.memory.dptr, b.values.memory.dptr, out->values.memory.dptr, a.values.Size());
  }
  if (args.run.ctx.is_gpu()) return RowsWithRowsOnDevice(args, row, a, b, out);
  if ((row == pointwise::k_add || row == pointwise::k_sub) && sparse::RowSize(*out) > 0) {
    if (dtype == kFloat32) return MergeRows<float>(a, b, row == pointwise::k_sub, out);
    if (dtype == kFloat64) return MergeRows<double>(a, b, row == pointwise::k_sub, out);
  }
  const sparse::RowUnion rows({&a, &b});
  out->Resize(rows.count());
  rows.CopyTo(out->index[SparseParts::kRows].data<int64_t>());
  const size_t bytes = static_cast<size_t>(sparse::RowSize(*out)) * DTypeSize(dtype);
  char* const to = out->values.data<char>();
  rows.VisitRuns(sparse::RowSize(*out), [&](int64_t at, int64_t from_a, int64_t from_b, int64_t count) {
    const auto place = [&](const SparseParts& p, int64_t from) {
      return from < 0 ? nullptr : p.values.data<char>() + static_cast<size_t>(from) * bytes;
    };
    Apply(args, row, dtype, place(a, from_a), place(b, from_b), to + static_cast<size_t>(at) * bytes, count * sparse::RowSize(*out));
  });
}

/* The union of the elements, or those that both have; then without what is 0. */
void ElementsWithElements(KernelArgs& args, int row, bool both, const SparseParts& a, const SparseParts& b, SparseParts* out) {
  for (const SparseParts* p : {&a, &b}) p->NeedAscending(args.attrs->op->name.c_str());
  const auto apply = [&](const void* va, const void* vb, void* to, int64_t count) { Apply(args, row, a.values.dtype, va, vb, to, count); };
  if (args.run.ctx.is_gpu()) return sparse::MergeElementsOnDevice(args, a, b, both, apply, out);
  sparse::MergeElements(args, a, b, both, apply, out);
}

/* out += or -= what is stored. */
void AddStored(KernelArgs& args, const SparseParts& parts, const TBlob& out, bool minus) {
  if (args.run.ctx.is_gpu()) return sparse::AddStoredOnDevice(args, parts, out, minus);
  VisitDType(out.dtype, "elemwise_add", [&](auto zero) {
    using T = decltype(zero);
    const T* const values = parts.values.data<T>();
    T* const to = out.data<T>();
    if (parts.storage == kR) {
      const int64_t* const rows = parts.index[SparseParts::kRows].data<int64_t>();
      const int64_t size = sparse::RowSize(parts);
      ParallelFor(parts.stored(), sparse::Grain(size), [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) sparse::AddInto(to + rows[n] * size, values + n * size, size, minus);
      });
      return;
    }
    const int64_t *const ptr = parts.index[SparseParts::kIndptr].data<int64_t>(), *const columns =
                                                                                      parts.index[SparseParts::kColumns].data<int64_t>();
    const int64_t rows = parts.shape[0];
    ParallelFor(rows, sparse::Grain(parts.stored() / std::max<int64_t>(1, rows)), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t n = ptr[r]; n < ptr[r + 1]; ++n) sparse::AddInto(to + r * parts.shape[1] + columns[n], values + n, 1, minus);
    });
  });
}

/* A sum or difference with a dense array. */
void WithDense(KernelArgs& args, int row) {
  const int which = args.in[0].sparse ? 0 : 1;
  const TBlob &dense = args.in[1 - which], &out = args.out[0];
  // first as if nothing was stored
  if (row == pointwise::k_sub && which == 0)
    Apply(args, row, out.dtype, nullptr, dense.dptr, out.dptr, out.Size());
  else if (out.dptr != dense.dptr)
    pointwise::ExecuteCast(args.run, dense, out, OpReq::kWrite);
  AddStored(args, *args.in[which].sparse, out, row == pointwise::k_sub && which == 1);
}

/* `use(out)`, where out may be one of the inputs. */
template <typename F>
void Apart(KernelArgs& args, F&& use) {
  SparseParts* const out = args.out[0].sparse;
  bool is_input = false;
  for (const TBlob& in : args.in) is_input = is_input || in.sparse == out;
  if (!is_input || args.run.ctx.is_gpu()) return use(out);  // a GPU's kernels read inputs before they change results
  TempParts fresh(*out);
  use(fresh.get());
  out->Swap(fresh.get());
}

void Alike(KernelArgs& args, int row, bool both) {
  const SparseParts &a = *args.in[0].sparse, &b = *args.in[1].sparse;
  Apart(args,
        [&](SparseParts* out) { a.storage == kR ? RowsWithRows(args, row, a, b, out) : ElementsWithElements(args, row, both, a, b, out); });
}

Kernel BinaryKernel(int row) {
  return [row](KernelArgs& args) {
    if (args.req[0] == OpReq::kNull) return;
    args.in[0].sparse&& args.in[1].sparse ? Alike(args, row, row == pointwise::k_mul) : WithDense(args, row);
  };
}

void Multiply(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  if (args.in[0].sparse && args.in[1].sparse) return Alike(args, pointwise::k_mul, true);
  sparse::OnValues(args, *sparse::DenseKernel(args), args.in[0].sparse ? 0 : 1);
}

[[maybe_unused]] const bool kRegistered = [] {
  struct Binary {
    const char* name;
    SparseForm::TakesFn takes;
    int row;
  };
  for (const Binary& b : {Binary{"elemwise_add", TakesSum, pointwise::k_add}, Binary{"_grad_add", TakesSum, pointwise::k_add},
                          Binary{"elemwise_sub", TakesSum, pointwise::k_sub}, Binary{"_maximum", TakesAlike, pointwise::k_maximum},
                          Binary{"_minimum", TakesAlike, pointwise::k_minimum}, Binary{"_hypot", TakesAlike, pointwise::k_hypot}})
    DeclareSparse(b.name, b.takes)
        .set_in_place()
        .set_kernel(DeviceType::kCPU, BinaryKernel(b.row))
        .set_kernel(DeviceType::kGPU, BinaryKernel(b.row));
  return true;
}();
MXNET_REGISTER_SPARSE(elemwise_mul, TakesProduct).set_kernel(DeviceType::kCPU, Multiply).set_kernel(DeviceType::kGPU, Multiply);
MXNET_REGISTER_SPARSE(_scatter_elemwise_div, TakesScatterDiv)
    .set_kernel(DeviceType::kCPU, sparse::OnValuesOfFirst)
    .set_kernel(DeviceType::kGPU, sparse::OnValuesOfFirst);

// ---- sums of several

bool TakesAddN(const Attrs&, const StorageTypes& in, StorageTypes* out) {
  bool dense = false, csr = false;
  for (StorageType s : in) {
    dense = dense || s == kD;
    csr = csr || s == kC;
  }
  return (dense || !csr) && GiveStorage(&(*out)[0], dense ? kD : kR);
}

/* Pairs, then pairs of their sums, and so on. */
void AddPairs(KernelArgs& args, std::vector<const SparseParts*> parts, SparseParts* out) {
  std::deque<TempParts> sums;
  while (parts.size() > 2) {
    std::vector<const SparseParts*> next;
    for (size_t k = 0; k + 1 < parts.size(); k += 2) {
      sums.emplace_back(*out);
      RowsWithRows(args, pointwise::k_add, *parts[k], *parts[k + 1], sums.back().get());
      next.push_back(sums.back().get());
    }
    if (parts.size() % 2) next.push_back(parts.back());
    parts = std::move(next);
  }
  RowsWithRows(args, pointwise::k_add, *parts[0], *parts[1], out);
}

void AddRows(KernelArgs& args, const std::vector<const SparseParts*>& parts, SparseParts* out) {
  if (args.run.ctx.is_gpu()) return sparse::AddRowsOnDevice(args, parts, out);
  if (parts.size() == 1) return CopyParts(*parts[0], out, nullptr);
  if (out->values.dtype == kFloat32 || out->values.dtype == kFloat64) return AddPairs(args, parts, out);
  const sparse::RowUnion rows(parts);
  out->Resize(rows.count());
  int64_t* const numbers = out->index[SparseParts::kRows].data<int64_t>();
  rows.CopyTo(numbers);
  const int dtype = out->values.dtype;
  const int64_t size = sparse::RowSize(*out);
  // some rows at a time, which stay in the cache while all inputs pass over them
  const int64_t block = sparse::Grain(size, sparse::kRowGrain / 2);
  VisitDType(dtype, "add_n", [&](auto zero) {
    using T = decltype(zero);
    using S = std::conditional_t<std::is_same<T, float16>::value || std::is_same<T, bfloat16>::value, float, T>;
    constexpr bool kDirect = std::is_same<S, T>::value;
    T* const to = out->values.data<T>();
    ParallelFor((rows.count() + block - 1) / block, 1, [&](int64_t begin, int64_t end) {
      std::unique_ptr<S[]> sums(kDirect ? nullptr : new S[static_cast<size_t>(block * size)]);
      for (int64_t k = begin; k < end; ++k) {
        const int64_t first = k * block, last = std::min(first + block, rows.count()), count = (last - first) * size;
        S* const sum = kDirect ? reinterpret_cast<S*>(to + first * size) : sums.get();
        std::fill_n(sum, count, S(0));
        for (const SparseParts* p : parts) {
          const int64_t *const has = p->index[SparseParts::kRows].data<int64_t>(), *const stop = has + p->stored();
          const T* const values = p->values.data<T>();
          int64_t r = first;
          for (const int64_t* at = std::lower_bound(has, stop, numbers[first]); at != stop && *at <= numbers[last - 1]; ++at) {
            while (numbers[r] < *at) ++r;
            sparse::AddInto(sum + (r - first) * size, values + (at - has) * size, size, false);
          }
        }
        for (int64_t i = 0; i < (kDirect ? 0 : count); ++i) to[first * size + i] = static_cast<T>(sum[i]);
      }
    });
  });
}

void AddN(KernelArgs& args) {
  if (args.req[0] == OpReq::kNull) return;
  std::vector<const SparseParts*> parts;
  for (const TBlob& in : args.in)
    if (in.sparse) parts.push_back(in.sparse);
  if (args.out[0].sparse) return AddRows(args, parts, args.out[0].sparse);
  // first what is dense
  bool first = true;
  for (const TBlob& in : args.in) {
    if (in.sparse) continue;
    pointwise::ExecuteCast(args.run, in, args.out[0], first ? OpReq::kWrite : OpReq::kAdd);
    first = false;
  }
  for (const SparseParts* p : parts) AddStored(args, *p, args.out[0], false);
}

MXNET_REGISTER_SPARSE(add_n, TakesAddN).set_kernel(DeviceType::kCPU, AddN).set_kernel(DeviceType::kGPU, AddN);

}  // namespace
}  // namespace mxnet
