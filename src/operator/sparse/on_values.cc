// Dense kernels on what sparse arrays store.
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/dtype.h"
#include "base/threads/omp.h"
#include "ndarray/sparse_copy.h"
#include "operator/record/sparse_form.h"
#include "operator/sparse/gpu_parts.h"
#include "operator/sparse/sparse_values.h"

namespace mxnet {
namespace sparse {
namespace {

template <typename F>
void VisitSize(size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

/* Elements of a dense array that broadcasts to the shape of `at`, where that stores one. */
template <typename T>
void GatherElements(const TBlob& in, const SparseParts& at, T* out) {
  const int nd = in.shape.ndim();
  const int64_t columns = nd > 0 ? in.shape[nd - 1] : 1, rows = nd > 1 ? in.shape[nd - 2] : 1;
  const int64_t row_step = rows == 1 ? 0 : columns;
  const int64_t *const indptr = at.index[SparseParts::kIndptr].data<int64_t>(), *const index =
                                                                                    at.index[SparseParts::kColumns].data<int64_t>();
  const T* const data = in.data<T>();
  if (columns > 1 && row_step == 0) {
    ParallelFor(at.stored(), kRowGrain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) out[n] = data[index[n]];
    });
    return;
  }
  ParallelFor(at.shape[0], Grain(at.stored() / std::max<int64_t>(1, at.shape[0])), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* const row = data + r * row_step;
      if (columns == 1) {
        std::fill(out + indptr[r], out + indptr[r + 1], *row);
        continue;
      }
      for (int64_t n = indptr[r]; n < indptr[r + 1]; ++n) out[n] = row[index[n]];
    }
  });
}

/* The same of a csr array; what it does not store is 0. */
template <typename T>
void GatherStored(const SparseParts& in, const SparseParts& at, T* out) {
  const int64_t *const ip = in.index[SparseParts::kIndptr].data<int64_t>(), *const ic = in.index[SparseParts::kColumns].data<int64_t>();
  const int64_t *const ap = at.index[SparseParts::kIndptr].data<int64_t>(), *const ac = at.index[SparseParts::kColumns].data<int64_t>();
  const T* const values = in.values.data<T>();
  ParallelFor(at.shape[0], Grain(at.stored() / std::max<int64_t>(1, at.shape[0])), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t *const first = ic + ip[r], *const last = ic + ip[r + 1];
      const int64_t* from = first;
      for (int64_t n = ap[r]; n < ap[r + 1]; ++n) {
        if (from == last || *from > ac[n]) from = first;  // `at` may have its columns in any order
        while (from != last && *from < ac[n]) ++from;
        out[n] = from != last && *from == ac[n] ? values[from - ic] : T(0);
      }
    }
  });
}

/* memcpy: one thread does not fill the memory's bandwidth. */
void CopyOnThreads(void* to, const void* from, size_t bytes) {
  ParallelFor(static_cast<int64_t>(bytes), 128 << 10, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, static_cast<size_t>(end - begin));
  });
}

TBlob AtStored(KernelArgs& args, const TBlob& in, const SparseParts& at) {
  if (in.sparse && SameIndex(args, *in.sparse, at)) return ValuesOf(*in.sparse);
  TBlob out = ValuesOf(at);
  out.dtype = in.dtype;
  out.dptr = args.workspace(out.Bytes());
  if (at.storage == StorageType::kRowSparse) {
    const TBlob rows = in.sparse && in.sparse->storage == StorageType::kCSR ? AsDense(args, in) : in;
    GatherRows(args, rows, at.index[SparseParts::kRows].data<int64_t>(), at.stored(), out.data<char>());
    return out;
  }
  if (args.run.ctx.is_gpu()) {
    const bool csr = in.sparse && in.sparse->storage == StorageType::kCSR;
    if (csr) in.sparse->NeedAscending(args.attrs->op->name.c_str());
    GatherElementsOnDevice(args, csr ? in : AsDense(args, in), at, out.dptr);
    return out;
  }
  VisitSize(DTypeSize(in.dtype), [&](auto zero) {
    using T = decltype(zero);
    if (in.sparse && in.sparse->storage == StorageType::kCSR) {
      in.sparse->NeedAscending(args.attrs->op->name.c_str());
      GatherStored<T>(*in.sparse, at, out.data<T>());
    } else {
      GatherElements<T>(AsDense(args, in), at, out.data<T>());
    }
  });
  return out;
}

}  // namespace

const int64_t* NextRow(const int64_t* at, const int64_t* last, int64_t row) {
  int64_t step = 1;
  while (step < last - at && at[step] < row) {
    at += step;
    step *= 2;
  }
  return std::lower_bound(at, at + std::min<int64_t>(step + 1, last - at), row);
}

void GatherRows(const TBlob& in, const int64_t* rows, int64_t count, char* out) {
  const size_t bytes = in.shape[0] == 0 ? 0 : in.Bytes() / static_cast<size_t>(in.shape[0]);
  if (bytes == 0) return;
  const int64_t grain = Grain(static_cast<int64_t>(bytes / DTypeSize(in.dtype)));
  if (!in.sparse) {
    ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n)
        std::memcpy(out + static_cast<size_t>(n) * bytes, in.data<char>() + static_cast<size_t>(rows[n]) * bytes, bytes);
    });
    return;
  }
  const int64_t *const has = in.sparse->index[SparseParts::kRows].data<int64_t>(), *const last = has + in.sparse->stored();
  const char* const values = in.sparse->values.data<char>();
  ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    const int64_t* at = has;
    for (int64_t n = begin; n < end; ++n) {
      at = NextRow(at, last, rows[n]);
      char* const to = out + static_cast<size_t>(n) * bytes;
      if (at != last && *at == rows[n])
        std::memcpy(to, values + static_cast<size_t>(at - has) * bytes, bytes);
      else
        std::memset(to, 0, bytes);
    }
  });
}

void GatherRows(KernelArgs& args, const TBlob& in, const int64_t* rows, int64_t count, char* out) {
  args.run.ctx.is_gpu() ? GatherRowsOnDevice(args, in, rows, count, out) : GatherRows(in, rows, count, out);
}

void CopyIndex(KernelArgs& args, const SparseParts& from, SparseParts* out) {
  if (args.run.ctx.is_gpu()) return CopyIndexOnDevice(args, from, out);
  if (&from == out) return;
  out->Resize(from.stored());
  out->state = from.state.load();
  for (int i = 0; i < from.num_index(); ++i)
    if (from.index[i].Bytes() > 0) CopyOnThreads(out->index[i].memory.dptr, from.index[i].memory.dptr, from.index[i].Bytes());
}

bool SameIndex(KernelArgs& args, const SparseParts& a, const SparseParts& b) {
  if (&a == &b) return true;
  if (a.storage != b.storage || a.stored() != b.stored() || a.shape != b.shape) return false;
  if (args.run.ctx.is_gpu()) return SameNumbersOnDevice(args, a, b);
  for (int i = 0; i < a.num_index(); ++i)
    if (a.index[i].Bytes() > 0 && std::memcmp(a.index[i].memory.dptr, b.index[i].memory.dptr, a.index[i].Bytes()) != 0) return false;
  return true;
}

void RunKernel(KernelArgs& args, const Kernel& dense, Span<const TBlob> in, const TBlob& out) {
  const OpReq req = OpReq::kWrite;
  KernelArgs call = args;
  call.in = in, call.out = Span<const TBlob>(&out, 1), call.req = Span<const OpReq>(&req, 1);
  dense(call);
}

void OnValues(KernelArgs& args, const Kernel& dense, int main) {
  if (args.req[0] == OpReq::kNull) return;
  const SparseParts& at = *args.in[main].sparse;
  SparseParts* const result = args.out[0].sparse;
  std::vector<TBlob> in;
  for (int i = 0; i < args.in.size(); ++i) in.push_back(i == main ? ValuesOf(at) : AtStored(args, args.in[i], at));
  CopyIndex(args, at, result);
  if (at.values.Size() == 0) return;
  RunKernel(args, dense, Span<const TBlob>(in.data(), static_cast<int>(in.size())), ValuesOf(*result));
}

void RunDense(KernelArgs& args, int output) {
  const Kernel* const dense = DenseKernel(args);
  std::vector<TBlob> in, out(args.out.begin(), args.out.end());
  for (const TBlob& b : args.in) in.push_back(AsDense(args, b));
  ThroughDense(args, output, [&](const TBlob& to) {
    out[static_cast<size_t>(output)] = to;
    std::vector<OpReq> req(out.size(), OpReq::kNull);
    req[static_cast<size_t>(output)] = OpReq::kWrite;
    KernelArgs call = args;
    call.in = Span<const TBlob>(in.data(), static_cast<int>(in.size()));
    call.out = Span<const TBlob>(out.data(), static_cast<int>(out.size()));
    call.req = Span<const OpReq>(req.data(), static_cast<int>(req.size()));
    (*dense)(call);
  });
}

const Kernel* DenseKernel(const KernelArgs& args) {
  const Op& op = *args.attrs->op->trait<SparseForm>()->dense;
  if (!args.run.ctx.is_gpu()) return op.cpu_kernel;
  const auto found = op.kernels.find(DeviceType::kGPU);
  MXNET_CHECK(found != op.kernels.end()) << "[" << op.name << "] has no kernel for " << args.run.ctx;
  return &found->second;
}

bool KeepsZero(const Attrs& attrs) {
  double zero = 0, result = 1;
  TBlob in, out;
  in.dptr = &zero, out.dptr = &result;
  in.shape = out.shape = Shape{1}, in.dtype = out.dtype = kFloat64;
  const OpReq req = OpReq::kWrite;
  KernelArgs call;
  call.attrs = &attrs;
  call.run.ctx = Context::CPU(0);
  call.in = Span<const TBlob>(&in, 1), call.out = Span<const TBlob>(&out, 1), call.req = Span<const OpReq>(&req, 1);
  (*SparseFormOf(*attrs.op)->dense->cpu_kernel)(call);
  return result == 0;
}

void OnValuesOfFirst(KernelArgs& args) { OnValues(args, *DenseKernel(args), 0); }

}  // namespace sparse
}  // namespace mxnet
