#include "operator/pointwise/execute.h"

#include <algorithm>
#include <cstring>

#include "base/ran.h"
#include "base/threads/omp.h"
#include "operator/matrix/move.h"
#include "operator/pointwise/bools.h"
#include "operator/pointwise/gpu_program.h"
#include "operator/pointwise/loops/gather.h"
#include "operator/pointwise/loops/plain_conversion.h"
#include "operator/pointwise/repeats.h"
#include "operator/pointwise/tune.h"

namespace mxnet {
namespace pointwise {

int64_t IntegerNumber(int compute, double v) {
  if (v != v) return 0;
  if (compute == kI32) return static_cast<int32_t>(v < -0x1p31 ? -0x1p31 : v > 0x1p31 - 1 ? 0x1p31 - 1 : v);
  if (compute == kU64 && v >= 0x1p63) return static_cast<int64_t>(v >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(v));
  return v >= 0x1p63 ? INT64_MAX : v < -0x1p63 ? INT64_MIN : static_cast<int64_t>(v);
}

namespace {

// Out's dimensions after merging those that all operands walk alike; strides in elements, 0 where
// an operand repeats.
struct Plan {
  int ndim = 0;
  int64_t dim[kMaxDims];
  int64_t stride[kMaxOperands][kMaxDims];
};

constexpr int64_t kBlock = 512;    // elements converted or gathered at a time: all buffers stay in the first-level cache
constexpr int64_t kLongRow = 256;  // rows of so many bytes are handed to the loop without gathering

union Element {
  float f32;
  double f64;
  int32_t i32;
  int64_t i64;
  void Set(int compute, double v) {
    switch (compute) {
      case kF32: f32 = static_cast<float>(v); break;
      case kF64: f64 = v; break;
      case kI32: i32 = static_cast<int32_t>(IntegerNumber(compute, v)); break;
      default: i64 = IntegerNumber(compute, v);
    }
  }
};

void MakePlan(const Operand* in, int count, const Shape& out, Plan* plan) {
  MXNET_CHECK_KIND(out.ndim() <= kMaxDims, Value) << "[pointwise] tensors of " << out.ndim() << " dimensions; at most " << kMaxDims;
  int64_t running[kMaxOperands];
  std::fill(running, running + count, 1);
  // from the innermost dimension outwards; stored reversed, turned around at the end
  for (int i = out.ndim() - 1; i >= 0; --i) {
    const int64_t d = out[i];
    int64_t s[kMaxOperands];
    for (int k = 0; k < count; ++k) {
      const int from_right = out.ndim() - 1 - i;
      const int64_t own = in[k].shape && from_right < in[k].shape->ndim() ? (*in[k].shape)[in[k].shape->ndim() - 1 - from_right] : 1;
      s[k] = own == 1 ? 0 : running[k];
      running[k] *= own;
    }
    if (d == 1) continue;
    const int last = plan->ndim - 1;
    bool merge = last >= 0;
    for (int k = 0; merge && k < count; ++k) merge = s[k] == plan->stride[k][last] * plan->dim[last];
    if (merge) {
      plan->dim[last] *= d;
    } else {
      plan->dim[plan->ndim] = d;
      for (int k = 0; k < count; ++k) plan->stride[k][plan->ndim] = s[k];
      ++plan->ndim;
    }
  }
  if (plan->ndim == 0) {
    plan->ndim = 1;
    plan->dim[0] = 1;
    for (int k = 0; k < count; ++k) plan->stride[k][0] = 0;
  }
  std::reverse(plan->dim, plan->dim + plan->ndim);
  for (int k = 0; k < count; ++k) std::reverse(plan->stride[k], plan->stride[k] + plan->ndim);
}

// A position in the plan's outer dimensions (all but the innermost) and the operands' offsets
// there.
struct Walker {
  const Plan& plan;
  int count;
  int64_t index[kMaxDims];
  int64_t offset[kMaxOperands];
  Walker(const Plan& p, int n, int64_t row) : plan(p), count(n) {
    std::fill(offset, offset + count, 0);
    for (int d = p.ndim - 2; d >= 0; --d) {
      index[d] = row % p.dim[d];
      row /= p.dim[d];
      for (int k = 0; k < count; ++k) offset[k] += index[d] * p.stride[k][d];
    }
  }
  void Next() {
    for (int d = plan.ndim - 2; d >= 0; --d) {
      for (int k = 0; k < count; ++k) offset[k] += plan.stride[k][d];
      if (++index[d] < plan.dim[d]) return;
      for (int k = 0; k < count; ++k) offset[k] -= plan.stride[k][d] * plan.dim[d];
      index[d] = 0;
    }
  }
};

template <typename T>
void AddInto(T* sum, const T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sum[i] = static_cast<T>(sum[i] + x[i]);
}

// out += computed, in the compute type.
void AddBlock(int compute, const void* computed, void* out, int out_dtype, int64_t n) {
  alignas(64) char sum[kBlock * 8];
  LoadFn(out_dtype, compute)(out, sum, n);
  switch (compute) {
    case kF32: AddInto(reinterpret_cast<float*>(sum), static_cast<const float*>(computed), n); break;
    case kF64: AddInto(reinterpret_cast<double*>(sum), static_cast<const double*>(computed), n); break;
    case kI32: AddInto(reinterpret_cast<uint32_t*>(sum), static_cast<const uint32_t*>(computed), n); break;
    default: AddInto(reinterpret_cast<uint64_t*>(sum), static_cast<const uint64_t*>(computed), n);
  }
  StoreFn(out_dtype, compute)(sum, out, n);
}

struct Job {
  Loop loop;
  int compute, count;
  const Operand* in;
  unsigned masks;
  const Element* params;    // p, q, r as elements
  const void* param_array;  // the same, packed in the compute type
  const TBlob* out;
  OpReq req;
  Element scalars[kMaxOperands];
  bool contiguous[kMaxOperands];  // walks with out, element by element
  bool single[kMaxOperands];      // one element for all of out
  Plan plan;
  Steps steps[kMaxOperands];  // of operands that are gathered

  void Call(const void** ptrs, void* to, int64_t n, unsigned mask) const {
    if (params) {
      if (count == 1) {
        for (int i = 0; i < 3; ++i) ptrs[1 + i] = &params[i];
      } else {
        ptrs[2] = param_array;
      }
    }
    loop(ptrs, to, n, mask);
  }
};

// The largest part of `wanted` that the loop can take as single elements.
unsigned SupportedMask(unsigned masks, unsigned wanted) {
  unsigned best = 0;
  for (unsigned m = wanted; m != 0; m = (m - 1) & wanted)
    if (masks >> m & 1u && __builtin_popcount(m) > __builtin_popcount(best)) best = m;
  return best;
}

// Rows of the plan's innermost dimension go straight to the loop. Operands in `mask` are one
// element for a whole row; those in `spread` too, but the loop wants a row of them.
void RunRows(const Job& job, int64_t begin, int64_t end, unsigned mask, unsigned spread) {
  alignas(64) char buffers[kMaxOperands][kBlock * 8];
  const Plan& plan = job.plan;
  const int64_t inner = plan.dim[plan.ndim - 1], size = ComputeSize(job.compute);
  Walker walker(plan, job.count, begin / inner);
  char* out = static_cast<char*>(job.out->dptr);
  for (int64_t i = begin, column = begin % inner; i < end; column = 0) {
    const int64_t n = std::min(end - i, inner - column), piece = spread ? kBlock : n;
    const void* ptrs[kMaxOperands];
    for (int k = 0; k < job.count; ++k) {
      ptrs[k] = job.in[k].ptr ? static_cast<const char*>(job.in[k].ptr) + (walker.offset[k] + column * plan.stride[k][plan.ndim - 1]) * size
                              : static_cast<const void*>(&job.scalars[k]);
      if (!(spread >> k & 1u)) continue;
      FillElements(buffers[k], std::min(n, kBlock), ptrs[k], static_cast<size_t>(size));
      ptrs[k] = buffers[k];
    }
    if (job.count == 1 && mask == 1) {  // one number for the whole row: computed once
      alignas(8) char value[8];
      job.Call(ptrs, value, 1, 0);
      FillElements(out + i * size, n, value, static_cast<size_t>(size));
    } else {
      for (int64_t done = 0; done < n; done += piece) {
        job.Call(ptrs, out + (i + done) * size, std::min(piece, n - done), mask);
        for (int k = 0; k < job.count; ++k)
          if (!((mask | spread) >> k & 1u)) ptrs[k] = static_cast<const char*>(ptrs[k]) + piece * size;
      }
    }
    i += n;
    walker.Next();
  }
}

// Blocks: gather what is broadcast, convert what has another dtype, compute, convert or add back.
void RunBlocks(const Job& job, const Repeats& repeats, int64_t begin, int64_t end) {
  alignas(64) char buffers[kMaxOperands][kBlock * 8];
  alignas(64) char raw[kBlock * 8];
  alignas(64) char result[kBlock * 8];
  const int64_t size = ComputeSize(job.compute);
  const int own = ComputeDType(job.compute);
  const bool direct_out = job.out->dtype == own && job.req != OpReq::kAdd;
  const size_t out_size = DTypeSize(job.out->dtype);

  unsigned mask = 0;
  for (int k = 0; k < job.count; ++k) mask |= job.single[k] ? 1u << k : 0u;
  if (!(job.masks >> mask & 1u)) mask = 0;
  for (int k = 0; k < job.count; ++k) {
    if (!job.single[k]) continue;
    Element e = job.scalars[k];
    if (job.in[k].ptr) LoadFn(job.in[k].dtype, job.compute)(job.in[k].ptr, &e, 1);
    const int64_t n = mask >> k & 1u ? 1 : kBlock;
    FillElements(buffers[k], n, &e, static_cast<size_t>(size));
  }

  Repeats::Walk walk;
  for (int64_t i = begin, n; i < end; i += n) {
    n = repeats.Next(i, end, &walk);
    const void* ptrs[kMaxOperands];
    for (int k = 0; k < job.count; ++k) {
      ptrs[k] = buffers[k];
      if (job.single[k] || (walk.again && repeats.Has(k))) continue;
      const Operand& in = job.in[k];
      const size_t in_size = DTypeSize(in.dtype);
      const void* source = static_cast<const char*>(in.ptr) + i * in_size;
      if (!job.contiguous[k]) {
        void* to = in.dtype == own ? static_cast<void*>(buffers[k]) : static_cast<void*>(raw);
        MXNET_CPU_CALL(GatherElements)(job.steps[k], in.ptr, in_size, i, n, to);
        source = to;
      }
      if (in.dtype != own)
        LoadFn(in.dtype, job.compute)(source, buffers[k], n);
      else
        ptrs[k] = source;
    }
    void* out = static_cast<char*>(job.out->dptr) + i * out_size;
    void* to = direct_out ? out : result;
    job.Call(ptrs, to, n, mask);
    if (job.req == OpReq::kAdd)
      AddBlock(job.compute, result, out, job.out->dtype, n);
    else if (!direct_out)
      StoreFn(job.out->dtype, job.compute)(result, out, n);
  }
}

// Bytes that come from beyond the caches set a limit to what one thread does, however simple its
// loop is.
constexpr double kPerByte = 0.05;  // nanoseconds

int Threads(Loop loop, int compute, const Operand* in, int count, unsigned mask, const TBlob& out, int64_t total) {
  const int dtype = in[0].ptr ? in[0].dtype : out.dtype;
  if (total < kTuneFrom || !Tuned(dtype)) return OmpThreads(total);
  double convert = ConvertCost(out.dtype, compute, false), bytes = static_cast<double>(DTypeSize(out.dtype));
  for (int k = 0; k < count; ++k) {
    if (!in[k].ptr || mask >> k & 1u) continue;
    convert += ConvertCost(in[k].dtype, compute, true);
    bytes += static_cast<double>(DTypeSize(in[k].dtype));
  }
  return ThreadsForCost(static_cast<double>(total) * std::max(LoopCost(loop, compute, mask) + convert, bytes * kPerByte));
}

/* What is converted, broadcast or added. */
__attribute__((noinline)) void ExecuteWalked(Loop loop, int compute, const Operand* in, int count, unsigned masks, const Element* params,
                                             const void* param_array, const Element* scalars, bool native, const TBlob& out, OpReq req) {
  const int64_t total = out.Size();
  Job job;
  job.loop = loop;
  job.compute = compute;
  job.count = count;
  job.in = in;
  job.masks = masks;
  job.params = params;
  job.param_array = param_array;
  job.out = &out;
  job.req = req;
  for (int k = 0; k < count; ++k) {
    job.scalars[k] = scalars[k];
    const int64_t n = in[k].ptr ? in[k].shape->Size() : 1;
    job.contiguous[k] = in[k].ptr && n == total;
    job.single[k] = n == 1;
  }
  MakePlan(in, count, out.shape, &job.plan);
  unsigned row_mask = 0;
  for (int k = 0; k < count; ++k) row_mask |= job.plan.stride[k][job.plan.ndim - 1] == 0 ? 1u << k : 0u;
  Repeats repeats(kBlock);
  uint64_t gathers = 0;
  for (int k = 0; k < count; ++k) {
    if (job.single[k] || job.contiguous[k]) continue;
    gathers |= uint64_t{1} << k;
    Steps& steps = job.steps[k];
    for (int d = 0; d < job.plan.ndim; ++d) steps.Add(job.plan.dim[d], job.plan.stride[k][d]);
    if (total > kBlock) repeats.Add(k, steps.ndim, steps.dim, steps.stride);
  }
  const bool rows = native && job.plan.dim[job.plan.ndim - 1] * ComputeSize(compute) >= kLongRow && gathers != repeats.operands();
  const unsigned single = count == 1 ? row_mask : SupportedMask(masks, row_mask);
  ParallelForThreads(Threads(loop, compute, in, count, 0, out, total), total, [&](int64_t begin, int64_t end) {
    if (rows)
      RunRows(job, begin, end, single, row_mask & ~single);
    else
      RunBlocks(job, repeats, begin, end);
  });
}

}  // namespace

void Execute(Loop loop, int compute, const Operand* in, int count, unsigned masks, const double* params, const TBlob& out, OpReq req) {
  if (req == OpReq::kNull) return;
  const int64_t total = out.Size();
  if (total == 0) return;
  Element param_elements[3];
  alignas(8) char param_array[24];
  const int64_t size = ComputeSize(compute);
  if (params) {
    for (int i = 0; i < 3; ++i) {
      param_elements[i].Set(compute, params[i]);
      std::memcpy(param_array + i * size, &param_elements[i], size);
    }
  }

  // The common case first: nothing to convert, nothing to walk.
  const int own = ComputeDType(compute);
  bool native = out.dtype == own && req != OpReq::kAdd, flat = true;
  unsigned mask = 0;
  Element scalars[kMaxOperands];
  for (int k = 0; k < count; ++k) {
    if (!in[k].ptr) {
      scalars[k].Set(compute, in[k].scalar);
      mask |= 1u << k;
      continue;
    }
    native = native && in[k].dtype == own;
    if (*in[k].shape == out.shape) continue;
    const int64_t n = in[k].shape->Size();
    if (n == 1)
      mask |= 1u << k;
    else if (n != total)
      flat = false;
  }
  if (total == 1) mask = 0;
  if (native && flat && (masks >> mask & 1u)) {
    auto run = [&](int64_t begin, int64_t end) {
      const void* ptrs[kMaxOperands] = {};
      for (int k = 0; k < count; ++k)
        ptrs[k] =
            !in[k].ptr ? static_cast<const void*>(&scalars[k]) : static_cast<const char*>(in[k].ptr) + (mask >> k & 1u ? 0 : begin * size);
      if (params) {
        if (count == 1)
          for (int i = 0; i < 3; ++i) ptrs[1 + i] = &param_elements[i];
        else
          ptrs[2] = param_array;
      }
      loop(ptrs, static_cast<char*>(out.dptr) + begin * size, end - begin, mask);
    };
    ParallelForThreads(Threads(loop, compute, in, count, mask, out, total), total, run);
    return;
  }

  ExecuteWalked(loop, compute, in, count, masks, params ? param_elements : nullptr, param_array, scalars, native, out, req);
}

namespace {

/* Operands of other shapes than an output that lies channels last: all axes in its order. */
bool InMemoryOrder(const Operand* in, int count, const TBlob& out, Operand* operands, Shape* shapes, TBlob* result) {
  const int ndim = out.shape.ndim();
  bool repeats = false;
  for (int k = 0; k < count; ++k) repeats = repeats || (in[k].shape && in[k].shape->Size() != 1 && *in[k].shape != out.shape);
  if (out.layout != Layout::kChannelsLast || ndim < 3 || !repeats) return false;
  const auto last = [&](const Shape& s) {
    Shape y(ndim);
    const auto size = [&](int d) { return d < ndim - s.ndim() ? 1 : s[d - (ndim - s.ndim())]; };
    for (int d = 0; d < ndim; ++d) y[d] = size(d == 0 ? 0 : d + 1 < ndim ? d + 1 : 1);
    return y;
  };
  for (int k = 0; k < count; ++k) {
    operands[k] = in[k];
    if (!in[k].shape) continue;
    shapes[k] = last(*in[k].shape);
    operands[k].shape = &shapes[k];
  }
  *result = out;
  result->shape = last(out.shape);
  result->layout = Layout::kPlain;
  return true;
}

__attribute__((noinline)) bool ExecuteInMemoryOrder(const RunContext& run, const Function& f, int compute, const Operand* in, int count,
                                                    unsigned masks, const double* params, const TBlob& out, OpReq req) {
  Operand operands[kMaxOperands];
  Shape shapes[kMaxOperands];
  TBlob result;
  if (!InMemoryOrder(in, count, out, operands, shapes, &result)) return false;
  Execute(run, f, compute, operands, count, masks, params, result, req);
  return true;
}

__attribute__((noinline)) void ExecuteOnGpu(const RunContext& run, const Function& f, int compute, const Operand* in, int count,
                                            const double* params, const TBlob& out, OpReq req) {
  DeviceProgram program;
  program.compute = compute;
  program.name = "pointwise_" + DeviceName(f);
  program.steps.resize(1);
  DeviceStep& step = program.steps[0];
  step.function = f;
  TBlob tensors[kMaxOperands];
  double numbers[kMaxOperands + 3];
  int count_tensors = 0;
  for (int k = 0; k < count; ++k) {
    if (!in[k].shape) {
      numbers[program.numbers] = in[k].scalar;
      step.from.push_back({DeviceValue::kNumber, program.numbers++});
      continue;
    }
    TBlob& t = tensors[count_tensors];
    t.dptr = const_cast<void*>(in[k].ptr);
    t.dtype = in[k].dtype;
    t.shape = *in[k].shape;
    t.layout = out.layout;  // Execute's contract: operands of one layout
    step.from.push_back({DeviceValue::kInput, count_tensors++});
  }
  if (params) {
    step.params = program.numbers;
    for (int i = 0; i < 3; ++i) numbers[program.numbers++] = params[i];
  }
  RunProgram(program, Span<const TBlob>(tensors, count_tensors), numbers, out, req, run);
}

}  // namespace

void Execute(const RunContext& run, const Function& f, int compute, const Operand* in, int count, unsigned masks, const double* params,
             const TBlob& out, OpReq req) {
  if (run.ctx.is_gpu()) return ExecuteOnGpu(run, f, compute, in, count, params, out, req);
  if (out.layout == Layout::kChannelsLast && ExecuteInMemoryOrder(run, f, compute, in, count, masks, params, out, req)) return;
  Ran("pointwise loop");
  if (DTypeSize(out.dtype) <= 2 && !f.gradient && !params &&
      ((out.dtype == kBool && ExecuteBools(f.row, in, count, out, req)) || ExecuteUnconverted(f.row, compute, in, count, out, req)))
    return;
  Execute(f.gradient ? GradientLoop(f.row, f.side, compute) : ForwardLoop(f.row, compute), compute, in, count, masks, params, out, req);
}

void ExecuteCast(const RunContext& run, const TBlob& in, const TBlob& out, OpReq req) {
  // float <-> float through the wider of the two, integer <-> integer exactly
  const bool fin = IsFloating(in.dtype), fout = IsFloating(out.dtype);
  int compute = fin ? (in.dtype == kFloat64 || (fout && out.dtype == kFloat64) ? kF64 : kF32) : ComputeFor(in.dtype, true);
  if (req == OpReq::kAdd && fin != fout)
    compute = fout ? (out.dtype == kFloat64 ? kF64 : kF32) : ComputeFor(out.dtype, true);  // the sum is of the result's kind
  const int own = ComputeDType(compute);
  if (run.ctx.is_gpu()) {
    if (req == OpReq::kWriteInplace && in.dptr == out.dptr && in.dtype == out.dtype) return;
    const Operand operand(in);
    return Execute(run, Forward(k_identity), compute, &operand, 1, kUnaryMasks, nullptr, out, req);
  }
  Ran("pointwise loop");
  if (in.dtype == out.dtype && req != OpReq::kAdd)
    return req == OpReq::kNull ? void() : CopyBytes(run, in.dptr, out.dptr, static_cast<int64_t>(out.Bytes()));
  const ConvertFn plain = MXNET_CPU_CALL(PlainConversion)(in.dtype, out.dtype);
  if (req != OpReq::kAdd && (in.dtype == own || out.dtype == own || plain)) {  // one conversion
    if (req == OpReq::kNull) return;
    const ConvertFn convert = plain ? plain : in.dtype == own ? StoreFn(out.dtype, compute) : LoadFn(in.dtype, compute);
    const size_t in_size = DTypeSize(in.dtype), out_size = DTypeSize(out.dtype);
    const int64_t total = out.Size();
    const double bytes = static_cast<double>(in_size + out_size);
    const int threads =
        total < kTuneFrom || !Tuned(in.dtype)
            ? OmpThreads(total)
            : ThreadsForCost(static_cast<double>(total) *
                             std::max(ConvertCost(in.dtype, compute, true) + ConvertCost(out.dtype, compute, false), bytes * kPerByte));
    ParallelForThreads(threads, total, [&](int64_t begin, int64_t end) {
      convert(static_cast<const char*>(in.dptr) + begin * in_size, static_cast<char*>(out.dptr) + begin * out_size, end - begin);
    });
    return;
  }
  const Operand operand(in);
  Execute(ForwardLoop(k_identity, compute), compute, &operand, 1, kUnaryMasks, nullptr, out, req);
}

}  // namespace pointwise
}  // namespace mxnet
