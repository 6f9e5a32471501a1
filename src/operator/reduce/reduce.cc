#include "operator/reduce/reduce.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/ran.h"
#include "base/threads/omp.h"
#include "mxnet/env.h"
#include "operator/pointwise/execute.h"
#include "operator/reduce/gpu_reduce.h"

namespace mxnet {
namespace reduce {
namespace {

constexpr int kMaxDims = 32;
constexpr int64_t kRowBlock = 256;     // results that one job of the row pattern accumulates at a time
constexpr int64_t kColumnBlock = 512;  // the same for the column pattern
constexpr int64_t kFlushRows = 256;    // rows summed in float before they move to double
constexpr int64_t kSplit = 1 << 16;    // elements from which one long row is split into parts
constexpr int64_t kConvertBlock = 1024;
constexpr int64_t kBytesFrom = 32;  // elements of a row of bytes that is folded without conversion

// Dimensions with neighbours of one kind merged and size 1 dropped, so kinds alternate; the
// innermost two are the kernel's.
struct Plan {
  int ndim = 0;
  int64_t dim[kMaxDims], stride[kMaxDims];
  bool reduced[kMaxDims];
  int64_t results = 1, total = 1;
};

/* Dimensions in the order of memory, where images have their channels last. */
template <typename T>
void ChannelsLast(T* begin, T* end) {
  std::rotate(begin + 1, begin + 2, end);
}

Plan MakePlan(const TBlob& in, std::vector<char> reduced) {
  Shape shape = in.shape;
  if (in.layout == Layout::kChannelsLast) {
    ChannelsLast(&shape[0], &shape[0] + shape.ndim());
    ChannelsLast(reduced.data(), reduced.data() + reduced.size());
  }
  Plan p;
  MXNET_CHECK_KIND(shape.ndim() <= kMaxDims, Value) << "[reduce] tensors of " << shape.ndim() << " dimensions; at most " << kMaxDims;
  for (int i = 0; i < shape.ndim(); ++i) {
    p.total *= shape[i];
    if (!reduced[i]) p.results *= shape[i];
    if (shape[i] == 1) continue;
    if (p.ndim > 0 && p.reduced[p.ndim - 1] == (reduced[i] != 0)) {
      p.dim[p.ndim - 1] *= shape[i];
    } else {
      p.dim[p.ndim] = shape[i];
      p.reduced[p.ndim++] = reduced[i] != 0;
    }
  }
  int64_t stride = 1;
  for (int i = p.ndim - 1; i >= 0; --i) {
    p.stride[i] = stride;
    stride *= p.dim[i];
  }
  return p;
}

struct Job {
  const Loops* loops;
  const TBlob* in;
  int compute;  // of pointwise::Compute
  bool native;  // in's dtype is the compute type
  size_t in_size, compute_size;
  pointwise::ConvertFn load;
  int bytes = -1;  // the kind where the data are bytes that FoldBytes folds

  const char* At(int64_t element) const { return static_cast<const char*>(in->dptr) + element * in_size; }

  // rows x n contiguous elements from `first` on
  void Rows(int64_t first, int64_t rows, int64_t n, char* acc) const {
    if (native) return loops->rows(At(first), rows, n, acc);
    if (bytes >= 0 && n >= kBytesFrom) {
      for (int64_t r = 0; r < rows; ++r) {
        const int64_t folded = MXNET_CPU_CALL(FoldBytes)(bytes, in->dtype == kInt8, At(first + r * n), n);
        const double real = static_cast<double>(folded);
        loops->rows(compute == pointwise::kI64 ? static_cast<const void*>(&folded) : &real, 1, 1, acc + r * 8);
      }
      return;
    }
    alignas(64) char wide[kConvertBlock * 8];
    if (n <= kConvertBlock) {
      const int64_t fit = std::max<int64_t>(kConvertBlock / std::max<int64_t>(n, 1), 1);
      for (int64_t r = 0; r < rows; r += fit) {
        const int64_t m = std::min(fit, rows - r);
        load(At(first + r * n), wide, m * n);
        loops->rows(wide, m, n, acc + r * 8);
      }
      return;
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; i += kConvertBlock) {
        const int64_t m = std::min(kConvertBlock, n - i);
        load(At(first + r * n + i), wide, m);
        loops->rows(wide, 1, m, acc + r * 8);
      }
  }

  // n <= kColumnBlock columns of `rows` rows
  void Columns(int64_t first, int64_t rows, int64_t stride, int64_t n, char* part, char* acc) const {
    if (bytes == kAny || bytes == kAll) return ByteColumns(first, rows, stride, n, part, acc);
    alignas(64) char wide[kColumnBlock * 8];
    for (int64_t r = 0; r < rows; r += kFlushRows) {
      const int64_t m = std::min(kFlushRows, rows - r);
      if (native) {
        loops->columns(At(first + r * stride), m, stride, n, part);
      } else {
        for (int64_t i = 0; i < m; ++i) {
          load(At(first + (r + i) * stride), wide, n);
          loops->columns(wide, 1, n, n, part);
        }
      }
      loops->flush(part, acc, n);
    }
  }

 private:
  // The same where the columns are bytes and the result says whether some or all are not zero.
  void ByteColumns(int64_t first, int64_t rows, int64_t stride, int64_t n, char* part, char* acc) const {
    if (rows == 0) return;
    uint8_t folded[kColumnBlock];
    MXNET_CPU_CALL(FoldByteColumns)(bytes, At(first), rows, stride, n, folded);
    alignas(64) char wide[kColumnBlock * 8];
    pointwise::LoadFn(kUint8, compute)(folded, wide, n);
    loops->columns(wide, 1, n, n, part);
    loops->flush(part, acc, n);
  }
};

// Walks the coordinates of some of the plan's dimensions in order; keeps the input offset.
struct Odometer {
  const Plan& plan;
  int dims[kMaxDims], count = 0;
  int64_t index[kMaxDims], offset = 0, size = 1;
  Odometer(const Plan& p, int end, bool reduced) : plan(p) {
    for (int d = 0; d < end; ++d)
      if (p.reduced[d] == reduced) {
        dims[count++] = d;
        size *= p.dim[d];
      }
    Reset();
  }
  void Reset() {
    std::fill(index, index + count, 0);
    offset = 0;
  }
  void Seek(int64_t at) {
    offset = 0;
    for (int i = count - 1; i >= 0; --i) {
      index[i] = at % plan.dim[dims[i]];
      at /= plan.dim[dims[i]];
      offset += index[i] * plan.stride[dims[i]];
    }
  }
  void Next() {
    for (int i = count - 1; i >= 0; --i) {
      offset += plan.stride[dims[i]];
      if (++index[i] < plan.dim[dims[i]]) return;
      offset -= plan.stride[dims[i]] * plan.dim[dims[i]];
      index[i] = 0;
    }
  }
};

template <typename T>
T Larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <typename T>
T Smaller(T a, T b) {
  return a < b || a != a ? a : b;
}
// A result and the number that takes part with it. Integers as uint64_t wrap as arrays do.
template <typename T>
T MergeInitial(Kind kind, T a, T b) {
  [[maybe_unused]] constexpr T zero = 0, one = 1;
  switch (kind) {
#define MXNET_FOLD(name, neutral, map, merge, range) \
  case k##name: return merge;
    MXNET_REDUCTION_FOLDS(MXNET_FOLD)
#undef MXNET_FOLD
    case kNumKinds: break;
  }
  return a;
}

// uint64 is compared as int64 with the first bit turned over, which keeps the order.
constexpr uint64_t kFirstBit = uint64_t{1} << 63;
void LoadOrdered(const void* in, void* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<uint64_t*>(out)[i] = static_cast<const uint64_t*>(in)[i] ^ kFirstBit;
}

struct Sink {
  Kind kind;
  const Finish* finish;
  const TBlob* out;
  OpReq req;
  bool integer;  // accumulators are int64_t
  bool ordered;  // as LoadOrdered makes them

  void MergeIntegers(int64_t n, int64_t* v) const {
    const int64_t initial = pointwise::IntegerNumber(ordered ? pointwise::kU64 : pointwise::kI64, finish->initial);
    const uint64_t bits = ordered && finish->initial < 0 ? 0 : static_cast<uint64_t>(initial);
    for (int64_t i = 0; i < n; ++i)
      v[i] = kind == kMax || kind == kMin ? (ordered ? static_cast<int64_t>(MergeInitial<uint64_t>(kind, static_cast<uint64_t>(v[i]), bits))
                                                     : MergeInitial<int64_t>(kind, v[i], initial))
                                          : static_cast<int64_t>(MergeInitial<uint64_t>(kind, static_cast<uint64_t>(v[i]), bits));
  }

  // Results [first, first + n) from their accumulators (modified).
  void Store(int64_t first, int64_t n, char* acc) const {
    const int compute = integer ? pointwise::kI64 : pointwise::kF64;
    if (!integer) {
      double* v = reinterpret_cast<double*>(acc);
      if (finish->has_initial)
        for (int64_t i = 0; i < n; ++i) v[i] = MergeInitial(kind, v[i], finish->initial);
      if (finish->divisor != 1)
        for (int64_t i = 0; i < n; ++i) v[i] /= finish->divisor;
      if (finish->sqrt)
        for (int64_t i = 0; i < n; ++i) v[i] = std::sqrt(v[i]);
    } else {
      int64_t* v = reinterpret_cast<int64_t*>(acc);
      if (ordered)
        for (int64_t i = 0; i < n; ++i) v[i] = static_cast<int64_t>(static_cast<uint64_t>(v[i]) ^ kFirstBit);
      if (finish->has_initial) MergeIntegers(n, v);
      if (finish->sqrt)
        for (int64_t i = 0; i < n; ++i) v[i] = static_cast<int64_t>(std::sqrt(static_cast<double>(v[i])));
    }
    char* to = static_cast<char*>(out->dptr) + first * DTypeSize(out->dtype);
    if (req == OpReq::kAdd) {
      alignas(64) char old[kColumnBlock * 8];
      for (int64_t i = 0; i < n; i += kColumnBlock) {
        const int64_t m = std::min(kColumnBlock, n - i);
        pointwise::LoadFn(out->dtype, compute)(to + i * DTypeSize(out->dtype), old, m);
        for (int64_t j = 0; j < m; ++j) {
          if (integer)
            reinterpret_cast<uint64_t*>(acc)[i + j] += reinterpret_cast<uint64_t*>(old)[j];
          else
            reinterpret_cast<double*>(acc)[i + j] += reinterpret_cast<double*>(old)[j];
        }
      }
    }
    pointwise::StoreFn(out->dtype, compute)(acc, to, n);
  }
};

// One result from a long contiguous run: parts of fixed size in parallel, merged in order, so the
// number of threads does not matter.
void ReduceAll(const Job& job, const Sink& sink, int64_t n) {
  const int64_t parts = (n + kSplit - 1) / kSplit;
  std::vector<int64_t> storage(parts);
  char* acc = reinterpret_cast<char*>(storage.data());
  job.loops->start(nullptr, acc, parts);
  ParallelForThreads(parts > 1 ? OmpThreads(n) : 1, parts, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) job.Rows(k * kSplit, 1, std::min(kSplit, n - k * kSplit), acc + k * 8);
  });
  alignas(8) char result[8];
  job.loops->start(nullptr, result, 1);
  job.loops->merged(acc, parts, result);
  sink.Store(0, 1, result);
}

// Innermost dimension reduced: results are rows.
void ReduceRows(const Plan& plan, const Job& job, const Sink& sink) {
  const int64_t n = plan.dim[plan.ndim - 1];
  const int64_t rows = plan.ndim > 1 ? plan.dim[plan.ndim - 2] : 1;  // a kept dimension, because kinds alternate
  Odometer outer_kept(plan, std::max(plan.ndim - 2, 0), false), outer_reduced(plan, std::max(plan.ndim - 2, 0), true);
  const int64_t blocks = (rows + kRowBlock - 1) / kRowBlock, jobs = blocks * outer_kept.size;
  // few results: smaller blocks, so that all threads get some
  const int threads = OmpThreads(plan.total);
  const int64_t block = jobs >= threads ? kRowBlock : std::max<int64_t>(1, rows * outer_kept.size / threads);
  const int64_t row_blocks = (rows + block - 1) / block;
  ParallelForThreads(threads, row_blocks * outer_kept.size, [&](int64_t begin, int64_t end) {
    alignas(64) char acc[kRowBlock * 8];
    Odometer kept = outer_kept, red = outer_reduced;
    for (int64_t k = begin; k < end; ++k) {
      kept.Seek(k / row_blocks);
      const int64_t row = k % row_blocks * block, m = std::min(block, rows - row);
      job.loops->start(nullptr, acc, m);
      red.Reset();
      for (int64_t r = 0; r < red.size; ++r, red.Next()) job.Rows(kept.offset + red.offset + row * n, m, n, acc);
      sink.Store(k / row_blocks * rows + row, m, acc);
    }
  });
}

// Few columns: so many rows are taken as one that the loops get whole vectors, and parts of fixed
// size in parallel, merged in order.
void ReduceNarrow(const Job& job, const Sink& sink, int64_t rows, int64_t n) {
  const int64_t together = kColumnBlock / n, width = together * n, split = kSplit / width;  // rows; elements; wide rows of a part
  const int64_t wide_rows = rows / together, parts = (wide_rows + split - 1) / split;
  std::vector<int64_t> sums(parts * n * together);  // of every part and column, the lanes that belong to it
  ParallelForThreads(OmpThreads(rows * n), parts, [&](int64_t begin, int64_t end) {
    alignas(64) char part[kColumnBlock * 8];
    alignas(64) int64_t acc[kColumnBlock];
    for (int64_t k = begin; k < end; ++k) {
      job.loops->start(part, acc, width);
      job.Columns(k * split * width, std::min(split, wide_rows - k * split), width, width, part, reinterpret_cast<char*>(acc));
      for (int64_t j = 0; j < n; ++j)
        for (int64_t i = 0; i < together; ++i) sums[(j * parts + k) * together + i] = acc[i * n + j];
    }
  });
  alignas(64) char part[kColumnBlock * 8];
  alignas(64) char acc[kColumnBlock * 8];
  job.loops->start(part, acc, n);
  for (int64_t j = 0; j < n; ++j) job.loops->merged(sums.data() + j * parts * together, parts * together, acc + j * 8);
  const int64_t done = wide_rows * together;
  if (done < rows) job.Columns(done * n, rows - done, n, n, part, acc);
  sink.Store(0, n, acc);
}

// Innermost dimension kept: results are columns.
void ReduceColumns(const Plan& plan, const Job& job, const Sink& sink) {
  const int64_t n = plan.dim[plan.ndim - 1];
  const int64_t rows = plan.ndim > 1 ? plan.dim[plan.ndim - 2] : 1;  // reduced
  Odometer outer_kept(plan, std::max(plan.ndim - 2, 0), false), outer_reduced(plan, std::max(plan.ndim - 2, 0), true);
  constexpr int64_t kNarrow = 64, kManyRows = 4096;
  if (plan.ndim == 2 && n <= kNarrow && rows >= kManyRows) return ReduceNarrow(job, sink, rows, n);
  const int64_t blocks = (n + kColumnBlock - 1) / kColumnBlock;
  ParallelForThreads(OmpThreads(plan.total), blocks * outer_kept.size, [&](int64_t begin, int64_t end) {
    alignas(64) char part[kColumnBlock * 8];
    alignas(64) char acc[kColumnBlock * 8];
    Odometer kept = outer_kept, red = outer_reduced;
    for (int64_t k = begin; k < end; ++k) {
      kept.Seek(k / blocks);
      const int64_t column = k % blocks * kColumnBlock, m = std::min(kColumnBlock, n - column);
      job.loops->start(part, acc, m);
      red.Reset();
      for (int64_t r = 0; r < red.size; ++r, red.Next()) job.Columns(kept.offset + red.offset + column, rows, n, m, part, acc);
      sink.Store(k / blocks * n + column, m, acc);
    }
  });
}

// Nothing to reduce over: every result is the neutral element.
void StoreNeutral(const Job& job, const Sink& sink, int64_t results) {
  alignas(64) char acc[kColumnBlock * 8];
  for (int64_t i = 0; i < results; i += kColumnBlock) {
    const int64_t m = std::min(kColumnBlock, results - i);
    job.loops->start(nullptr, acc, m);
    sink.Store(i, m, acc);
  }
}

}  // namespace

void Reduce(const KernelArgs& call, Kind kind, const TBlob& in, const std::vector<char>& reduced, const Finish& finish, bool as_float,
            const TBlob& out, OpReq req) {
  if (req == OpReq::kNull) return;
  if (call.run.ctx.is_gpu()) return ReduceOnDevice(call.run, call.workspace, kind, in, reduced, finish, as_float, out, req);
  Ran("reduction");
  const Plan plan = MakePlan(in, reduced);
  const bool integer = !IsFloating(in.dtype) && !as_float;
  const bool wide = in.dtype == kFloat64 || (!integer && !IsFloating(in.dtype));
  const bool single_in_double = in.dtype == kFloat32 && kind != kMax && kind != kMin && Env::Get().safe_accumulation;
  Job job;
  job.in = &in;
  job.compute = integer ? pointwise::kI64 : wide ? pointwise::kF64 : pointwise::kF32;
  job.loops = MXNET_CPU_CALL(ReduceLoops)(kind, integer ? 2 : wide ? 1 : single_in_double ? 3 : 0);
  job.native = in.dtype == pointwise::ComputeDType(job.compute);
  job.in_size = DTypeSize(in.dtype);
  job.compute_size = pointwise::ComputeSize(job.compute);
  const bool folds = kind == kSum || kind == kMax || kind == kMin || kind == kAny || kind == kAll;
  if (folds && DTypeSize(in.dtype) == 1 && job.compute != pointwise::kF32) job.bytes = kind;
  const bool ordered = in.dtype == kUint64 && (kind == kMax || kind == kMin);
  job.load = integer && ordered ? LoadOrdered : pointwise::LoadFn(in.dtype, job.compute);
  const Sink sink{kind, &finish, &out, req, integer, integer && ordered};
  if (plan.results == 0) return;
  if (plan.total == 0) return StoreNeutral(job, sink, plan.results);
  if (plan.results == 1) return ReduceAll(job, sink, plan.total);
  if (plan.reduced[plan.ndim - 1])
    ReduceRows(plan, job, sink);
  else
    ReduceColumns(plan, job, sink);
}

std::vector<int> NormalizeAxes(const std::string& op, const Shape& axes, int ndim) {
  std::vector<int> result;
  for (int64_t axis : axes) {
    MXNET_CHECK_KIND(axis >= -ndim && axis < ndim, Value)
        << "[" << op << "] axis " << axis << " of an array of " << ndim << " dimensions; accepted: " << -ndim << " to " << ndim - 1;
    result.push_back(static_cast<int>(axis < 0 ? axis + ndim : axis));
  }
  std::sort(result.begin(), result.end());
  for (size_t i = 1; i < result.size(); ++i)
    MXNET_CHECK_KIND(result[i] != result[i - 1], Value)
        << "[" << op << "] axis " << result[i] << " is given twice in " << axes << "; each may be given once";
  return result;
}

}  // namespace reduce
}  // namespace mxnet
