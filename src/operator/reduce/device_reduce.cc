#include "operator/reduce/device_reduce.h"

#include <algorithm>

#include "rtc/prelude.h"

namespace mxnet {
namespace reduce {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kSplitFrom = 1 << 15;   // elements per result from which several blocks share one, when there are few results
constexpr int64_t kEnoughBlocks = 528;    // four for each multiprocessor of an H100 or H200

std::string N(int64_t i) { return std::to_string(i); }

const char* MapText(Kind kind) {
  switch (kind) {
    case kNanSum: return "x == x ? x : A(0)";
    case kNanProd: return "x == x ? x : A(1)";
    case kSumAbs: return "x < A(0) ? -x : x";
    case kSumSquare: return "x * x";
    case kAny: case kAll: return "x != A(0) ? A(1) : A(0)";
    default: return "x";
  }
}
const char* MergeText(Kind kind) {
  switch (kind) {
    case kProd: case kNanProd: return "a * b";
    case kMax: return "a > b || a != a ? a : b";
    case kMin: return "a < b || a != a ? a : b";
    case kAny: return "a != A(0) || b != A(0) ? A(1) : A(0)";
    case kAll: return "a != A(0) && b != A(0) ? A(1) : A(0)";
    default: return "a + b";
  }
}
std::string NeutralText(Kind kind, bool integer) {
  switch (kind) {
    case kProd: case kNanProd: case kAll: return "A(1)";
    case kMax: return integer ? "-9223372036854775807ll - 1" : "-static_cast<A>(__int_as_float(0x7f800000))";
    case kMin: return integer ? "9223372036854775807ll" : "static_cast<A>(__int_as_float(0x7f800000))";
    default: return "A(0)";
  }
}
const char* InitialText(Kind kind) {
  switch (kind) {
    case kSum: case kSumSquare: return "v + a.initial";
    case kProd: return "v * a.initial";
    case kMax: return "v > a.initial || v != v ? v : a.initial";
    case kMin: return "v < a.initial || v != v ? v : a.initial";
    default: return "v";
  }
}

// What merges accumulators that other blocks have made.
Kind MergeKind(Kind kind) {
  if (kind == kNanSum || kind == kSumAbs || kind == kSumSquare) return kSum;
  return kind == kNanProd ? kProd : kind;
}

}  // namespace

std::string ReductionText(const DeviceReduction& r, const std::string& name) {
  const bool arg = r.what != DeviceReduction::kReduce;
  const bool wide_in = r.in_dtype == kFloat64;
  std::string t = rtc::Prelude();
  t += std::string("typedef ") + (r.integer ? "long long" : arg && !wide_in ? "float" : "double") + " A;\n";
  t += std::string("struct Args {\n  const ") + rtc::StorageName(r.in_dtype) + "* in;\n  " +
       (r.partial ? "A" : rtc::StorageName(r.out_dtype)) + "* out;\n  long long results, count, chunk;\n  double divisor, initial;\n";
  for (int d = 0; d < r.kept; ++d) t += "  long long kd" + N(d) + ", ks" + N(d) + ";\n";
  for (int d = 0; d < r.reduced; ++d) t += "  long long rd" + N(d) + ", rm" + N(d) + ", rh" + N(d) + ", rs" + N(d) + ";\n";
  t += "};\n";
  if (arg) {
    t += "struct Acc { A v; long long i; };\n"
         "__device__ __forceinline__ Acc Start() { Acc c; c.v = A(0); c.i = -1; return c; }\n"
         "__device__ __forceinline__ Acc Merge(Acc p, Acc q) {\n"
         "  if (q.i < 0) return p;\n  if (p.i < 0) return q;\n"
         "  const bool pn = p.v != p.v, qn = q.v != q.v;\n"
         "  if (pn || qn) { if (pn && qn) return p.i < q.i ? p : q; return pn ? p : q; }\n"
         "  if (p.v == q.v) return p.i < q.i ? p : q;\n";
    t += std::string("  return p.v ") + (r.what == DeviceReduction::kArgMax ? ">" : "<") + " q.v ? p : q;\n}\n";
    t += "__device__ __forceinline__ Acc Take(Acc c, A x, long long i) { Acc q; q.v = x; q.i = i; return Merge(c, q); }\n";
  } else {
    t += "typedef A Acc;\n__device__ __forceinline__ Acc Start() { return " + NeutralText(r.kind, r.integer) + "; }\n";
    t += std::string("__device__ __forceinline__ Acc Merge(Acc a, Acc b) { return ") + MergeText(r.kind) + "; }\n";
    t += std::string("__device__ __forceinline__ Acc Take(Acc c, A x, long long) { return Merge(c, ") + MapText(r.kind) + "); }\n";
  }
  const std::string lanes = N(r.lanes), rows = N(kThreads / r.lanes), width = N(r.width);
  t += "extern \"C\" __global__ void __launch_bounds__(256) " + name + "(const __grid_constant__ Args a) {\n  __shared__ Acc shared[256];\n";
  // lane: along the reduced elements; row: which result of the block
  if (r.columns) t += "  const unsigned row = threadIdx.x % " + rows + ", lane = threadIdx.x / " + rows + ";\n";
  else t += "  const unsigned lane = threadIdx.x % " + lanes + ", row = threadIdx.x / " + lanes + ";\n";
  t += "  const unsigned place = row * " + lanes + " + lane;\n";
  t += "  const long long blocks = (a.results + " + rows + " - 1) / " + rows + ";\n";
  t += "  for (long long block = blockIdx.x; block < blocks; block += gridDim.x) {\n";
  t += "  const long long result = block * " + rows + " + row;\n  Acc acc = Start();\n";
  t += "  if (result < a.results) {\n    long long rest = result, base = 0;\n";
  for (int d = r.kept - 1; d >= 0; --d)
    t += d == 0 ? "    base += rest * a.ks0;\n" : "    base += rest % a.kd" + N(d) + " * a.ks" + N(d) + "; rest /= a.kd" + N(d) + ";\n";
  t += "    const long long begin = a.chunk * blockIdx.y, end = begin + a.chunk < a.count ? begin + a.chunk : a.count;\n";
  t += "#pragma unroll 4\n    for (long long q = begin + lane; q < end; q += " + lanes + ") {\n";
  if (r.reduced == 1) {
    t += "      const long long at = base + q * a.rs0;\n";
  } else {
    t += "      long long at = base;\n      unsigned left = static_cast<unsigned>(q), quotient;\n";
    for (int d = r.reduced - 1; d >= 0; --d) {
      if (d == 0) t += "      at += left * a.rs0;\n";
      else t += "      quotient = mx::Divide(left, a.rm" + N(d) + ", a.rh" + N(d) + "); at += (left - quotient * static_cast<unsigned>(a.rd" + N(d) + ")) * a.rs" + N(d) + "; left = quotient;\n";
    }
  }
  t += "      A x[" + width + "];\n      mx::LoadPack<" + width + ">(a.in, at, x);\n";
  t += "#pragma unroll\n      for (int j = 0; j < " + width + "; ++j) acc = Take(acc, x[j], q * " + width + " + j);\n    }\n  }\n";
  t += "  shared[place] = acc;\n  __syncthreads();\n";
  for (int half = r.lanes / 2; half > 0; half /= 2)
    t += "  if (lane < " + N(half) + ") shared[place] = Merge(shared[place], shared[place + " + N(half) + "]);\n  __syncthreads();\n";
  t += "  if (lane == 0 && result < a.results) {\n    Acc c = shared[place];\n";
  if (r.partial) {
    t += "    a.out[result * gridDim.y + blockIdx.y] = c;\n";
  } else if (arg) {
    t += "    long long v = c.i < 0 ? 0 : c.i;\n";
    if (r.add) t += "    v += mx::Load<long long>(a.out, result);\n";
    t += "    mx::Store(a.out, result, v);\n";
  } else {
    t += std::string(r.integer ? "    long long v = c;\n" : "    double v = c;\n");
    if (r.has_initial) t += std::string("    v = ") + (r.integer ? "static_cast<long long>(" : "(") + InitialText(r.kind) + ");\n";
    if (!r.integer) t += "    v = v / a.divisor;\n";
    if (r.sqrt) t += r.integer ? "    v = static_cast<long long>(::sqrt(static_cast<double>(v)));\n" : "    v = ::sqrt(v);\n";
    if (r.add) t += std::string("    v = mx::Load<") + (r.integer ? "long long" : "double") + ">(a.out, result) + v;\n";
    t += "    mx::Store(a.out, result, v);\n";
  }
  return t + "  }\n  __syncthreads();\n  }\n}\n";
}

namespace {

struct Dim {
  int64_t size, stride;
};
struct View {
  std::vector<Dim> kept, reduced;
  int64_t results = 1, count = 1;
  bool inner_reduced = true;
};

// Neighbouring dimensions of one kind become one; sizes of 1 disappear.
View MakeView(const Shape& shape, const std::vector<char>& reduced) {
  View v;
  int64_t stride = 1;
  int last = -1;   // kind of the dimension merged into, from the innermost outwards
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    const int kind = reduced[d] ? 1 : 0;
    (kind ? v.count : v.results) *= shape[d];
    if (shape[d] != 1) {
      std::vector<Dim>& to = kind ? v.reduced : v.kept;
      if (last == -1) v.inner_reduced = kind == 1;
      if (last == kind) to.front().size *= shape[d];
      else to.insert(to.begin(), Dim{shape[d], stride});
      last = kind;
    }
    stride *= shape[d];
  }
  return v;
}

void Launch(const RunContext& run, DeviceReduction r, const View& v, const void* in, void* out, const Finish& finish, int64_t parts, const char* what) {
  r.kept = std::max<int>(1, static_cast<int>(v.kept.size()));
  r.reduced = std::max<int>(1, static_cast<int>(v.reduced.size()));
  MXNET_CHECK_KIND(r.reduced == 1 || v.count < (int64_t{1} << 31), Value)
      << "[reduce] " << v.count << " elements over " << r.reduced << " separate dimensions on a GPU; accepted: fewer than 2^31, or neighbouring axes";
  std::string signature = std::string(what);
  for (int n : {static_cast<int>(r.what), static_cast<int>(r.kind), r.in_dtype, r.out_dtype, int{r.integer}, int{r.partial}, int{r.add}, int{r.sqrt},
                int{r.has_initial}, r.kept, r.reduced, r.lanes, int{r.columns}, r.width})
    signature += "," + N(n);
  const rtc::Kernel& kernel = rtc::FindKernel(signature, [&](rtc::Kernel* k) {
    k->name = what;
    k->source = ReductionText(r, what);
  });
  const int64_t count = v.count / r.width, chunk = parts == 1 ? count : (count + parts - 1) / parts;
  rtc::Arguments args;
  args.Add(in).Add(out).Add(v.results).Add(count).Add(chunk).Add(finish.divisor).Add(finish.initial);
  for (int d = 0; d < r.kept; ++d) {
    const Dim dim = v.kept.empty() ? Dim{1, 0} : v.kept[d];
    args.Add(dim.size).Add(dim.stride);
  }
  for (int d = 0; d < r.reduced; ++d) {
    Dim dim = v.reduced.empty() ? Dim{1, 0} : v.reduced[d];
    if (d == r.reduced - 1 && r.width > 1) dim = {dim.size / r.width, dim.stride * r.width};
    const rtc::FastDivisor divisor(std::min<int64_t>(std::max<int64_t>(dim.size, 1), (int64_t{1} << 31) - 1));   // of dimension 0 it is not used
    args.Add(divisor.divisor).Add(divisor.multiplier).Add(divisor.shift).Add(dim.stride);
  }
  rtc::LaunchShape shape;
  const int64_t rows = kThreads / r.lanes;
  shape.block[0] = kThreads;
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>((v.results + rows - 1) / rows, int64_t{1} << 20));
  shape.grid[1] = static_cast<uint32_t>(parts);
  rtc::Launch(kernel, shape, &args, run);
}

// Threads along the reduced elements: as many as there is work for. Columns need neighbouring results side by side for whole memory accesses.
void ChooseShape(const View& v, const TBlob& in, DeviceReduction* r) {
  r->columns = !v.inner_reduced && !v.kept.empty();
  if (r->columns) {
    r->lanes = v.count >= 64 ? 8 : 1;
    if (v.results < 32) r->lanes = 32;
    return;
  }
  r->lanes = 1;
  while (r->lanes < kThreads && r->lanes * 4 < v.count) r->lanes *= 2;
  if (v.reduced.empty()) return;
  const Dim inner = v.reduced.back();
  for (int width = static_cast<int>(16 / DTypeSize(in.dtype)); width > 1; width /= 2) {
    bool fits = inner.size % width == 0 && reinterpret_cast<uintptr_t>(in.dptr) % (width * DTypeSize(in.dtype)) == 0 && v.count >= 64 * width;
    for (const auto* dims : {&v.kept, &v.reduced})
      for (const Dim& d : *dims) fits = fits && (&d == &v.reduced.back() || d.stride % width == 0);
    if (!fits) continue;
    r->width = width;
    break;
  }
}

}  // namespace

void ReduceOnDevice(const RunContext& run, const std::function<void*(size_t)>& workspace, Kind kind, const TBlob& in, const std::vector<char>& reduced,
                    const Finish& finish, bool as_float, const TBlob& out, OpReq req) {
  if (req == OpReq::kNull) return;
  const View v = MakeView(in.shape, reduced);
  if (v.results == 0) return;
  DeviceReduction r;
  r.kind = kind;
  r.in_dtype = in.dtype;
  r.out_dtype = out.dtype;
  r.integer = !IsFloating(in.dtype) && !as_float;
  r.add = req == OpReq::kAdd;
  r.sqrt = finish.sqrt;
  r.has_initial = finish.has_initial;
  ChooseShape(v, in, &r);
  const int64_t rows = kThreads / r.lanes, blocks = (v.results + rows - 1) / rows;
  int64_t parts = 1;
  if (v.count >= kSplitFrom && blocks < kEnoughBlocks)
    parts = std::min<int64_t>({(kEnoughBlocks + blocks - 1) / blocks, (v.count / r.width + 4095) / 4096, 1024});
  if (parts <= 1 || !workspace) return Launch(run, r, v, in.dptr, out.dptr, finish, 1, "reduce");
  void* partial = workspace(static_cast<size_t>(v.results * parts) * 8);
  DeviceReduction first = r;
  first.partial = true;
  first.add = first.sqrt = first.has_initial = false;
  Launch(run, first, v, in.dptr, partial, finish, parts, "reduce_parts");
  TBlob accumulators;
  accumulators.dptr = partial;
  accumulators.dtype = r.integer ? kInt64 : kFloat64;
  accumulators.shape = Shape{v.results, parts};
  const View second = MakeView(accumulators.shape, {0, 1});
  r.kind = MergeKind(kind);
  r.in_dtype = accumulators.dtype;
  r.width = 1;
  ChooseShape(second, accumulators, &r);
  Launch(run, r, second, partial, out.dptr, finish, 1, "reduce");
}

void ArgReduceOnDevice(const RunContext& run, const TBlob& in, int64_t outer, int64_t length, int64_t inner, bool max, const TBlob& out, OpReq req) {
  if (req == OpReq::kNull || out.Size() == 0) return;
  const View v = MakeView(Shape{outer, length, inner}, {0, 1, 0});
  DeviceReduction r;
  r.what = max ? DeviceReduction::kArgMax : DeviceReduction::kArgMin;
  r.in_dtype = in.dtype;
  r.out_dtype = out.dtype;
  r.integer = !IsFloating(in.dtype);
  r.add = req == OpReq::kAdd;
  ChooseShape(v, in, &r);
  Launch(run, r, v, in.dptr, out.dptr, Finish(), 1, max ? "argmax" : "argmin");
}

}  // namespace reduce
}  // namespace mxnet
