#include "operator/reduce/gpu_reduce.h"

#include <algorithm>

#include "rtc/prelude.h"

namespace mxnet {
namespace reduce {
namespace {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;          // loads that a thread has under way
constexpr int64_t kSplitFrom = 32;  // loads of each thread from which several blocks share a result, when there are few results
constexpr int64_t kPartFrom = 8;    // loads that each thread has left then
constexpr int64_t kEnoughBlocks =
    2112;  // sixteen for each multiprocessor of an H100 or H200: two waves, so that none ends long before the others
constexpr size_t kAccumulatorBytes = 16;  // the largest: a value and its position

std::string N(int64_t i) { return std::to_string(i); }

// Least and largest number of an accumulator.
std::string LowestText(const std::string& type) {
  return type == "int"         ? "-2147483647 - 1"
         : type == "long long" ? "-9223372036854775807ll - 1"
                               : "-static_cast<A>(__int_as_float(0x7f800000))";
}
std::string HighestText(const std::string& type) {
  return type == "int" ? "2147483647" : type == "long long" ? "9223372036854775807ll" : "static_cast<A>(__int_as_float(0x7f800000))";
}
// What the texts of folds.cuh are made of, for values of type V.
const char* const kFoldWords =
    "template <typename V> __device__ __forceinline__ V Larger(V a, V b) { return a > b || a != a ? a : b; }\n"
    "template <typename V> __device__ __forceinline__ V Smaller(V a, V b) { return a < b || a != a ? a : b; }\n";
std::string FoldFunction(const std::string& type, const char* signature, const std::string& more, const char* text) {
  return "__device__ __forceinline__ " + type + " " + signature + " {\n  const " + type + " zero = 0, one = 1" + more + ";\n  return " +
         text + ";\n}\n";
}
bool FitsInt(int dtype) {
  return dtype == kBool || dtype == kInt8 || dtype == kUint8 || dtype == kInt16 || dtype == kUint16 || dtype == kInt32;
}
/*
 * Accumulators: double or int64, since conversions and sums in them cost less than memory does;
 * what only compares takes the elements' own range, which is exact. For narrow elements conversions
 * would decide (16 of them for one access of bytes), so what a thread has under way is first summed
 * in `part`, where nothing is lost that a 16-bit result could show.
 */
struct Types {
  std::string accumulator, part;  // part: empty where elements are merged one by one
};
Types TypesOf(const DeviceReduction& r) {
  const std::string own =
      r.integer ? (FitsInt(r.in_dtype) ? "int" : "long long")
      : r.in_dtype == kFloat64 || r.in_dtype == kInt64 || r.in_dtype == kUint64 || r.in_dtype == kInt32 || r.in_dtype == kUint32 ? "double"
                                                                                                                                 : "float";
  if (r.what != DeviceReduction::kReduce) return {own, own};
  const Range range = GetFold(r.kind).range;
  if (range == Range::Compares || range == Range::Truths) return {own, ""};
  const bool bytes = DTypeSize(r.in_dtype) == 1,
             narrow = range == Range::Sums && DTypeSize(r.in_dtype) <= 2 && (bytes || IsFloating(r.in_dtype));
  return {r.integer ? "long long" : "double", !narrow ? "" : bytes ? "int" : "float"};
}

}  // namespace

std::string ReductionText(const DeviceReduction& r, const std::string& name) {
  const bool arg = r.what != DeviceReduction::kReduce, largest = r.what == DeviceReduction::kArgMax;
  const Types types = TypesOf(r);
  const std::string part = r.again ? "" : types.part;
  std::string t = rtc::Prelude();
  t += "typedef " + types.accumulator + " A;\n";
  if (!part.empty()) t += "typedef " + part + " Part;\n";
  if (arg) {
    // no position: nothing that is better than the worst value there is. Then every element has it,
    // and the first one is the result.
    t += "struct Acc { A v; long long i; };\n"
         "__device__ __forceinline__ Acc Start() { Acc c; c.v = " +
         (largest ? LowestText(types.accumulator) : HighestText(types.accumulator)) +
         "; c.i = -1; return c; }\n"
         "__device__ __forceinline__ Acc Merge(Acc p, Acc q) {\n"
         "  if (q.i < 0) return p;\n  if (p.i < 0) return q;\n"
         "  const bool pn = p.v != p.v, qn = q.v != q.v;\n"
         "  if (pn || qn) { if (pn && qn) return p.i < q.i ? p : q; return pn ? p : q; }\n"
         "  if (p.v == q.v) return p.i < q.i ? p : q;\n";
    t += std::string("  return p.v ") + (largest ? ">" : "<") + " q.v ? p : q;\n}\n";
    // x, whose position is behind that of best: the first NaN is better than everything
    t += std::string("__device__ __forceinline__ void Follow(A x, int position, A* best, int* place) {\n  const bool better = !(x ") +
         (largest ? "<=" : ">=") +
         " *best) && *best == *best;\n  *best = better ? x : *best;\n  *place = better ? position : *place;\n}\n"
         "__device__ __forceinline__ Acc Shuffled(Acc c, int lane) { c.v = __shfl_xor_sync(0xffffffffu, c.v, lane); c.i = "
         "__shfl_xor_sync(0xffffffffu, c.i, lane); return c; }\n";
  } else {
    const Fold& fold = GetFold(r.kind);
    t += std::string("typedef A Acc;\n") + kFoldWords;
    t += FoldFunction("A", "Start()", ", lowest = " + LowestText(types.accumulator) + ", highest = " + HighestText(types.accumulator),
                      fold.neutral);
    t += FoldFunction("A", "Merge(A a, A b)", "", fold.merge);
    if (r.has_initial) t += FoldFunction("double", "WithInitial(double a, double b)", "", fold.merge);
    t += part.empty() ? FoldFunction("A", "Mapped(A x)", "", fold.map) +
                            "__device__ __forceinline__ A Take(A c, A x) { return Merge(c, Mapped(x)); }\n"
                      : FoldFunction("Part", "Mapped(Part x)", "", fold.map);
    t += "__device__ __forceinline__ Acc Shuffled(Acc c, int lane) { return __shfl_xor_sync(0xffffffffu, c, lane); }\n";
  }
  const std::string storage = r.again ? "Acc" : rtc::StorageName(r.in_dtype), lanes = N(r.lanes), rows = N(kThreads / r.lanes),
                    width = N(r.width), turns = N(kUnroll);
  t += "struct Args {\n  const " + storage + "* in;\n  " + (r.partial ? "Acc" : rtc::StorageName(r.out_dtype)) +
       "* out;\n  long long results, count, chunk;\n  double divisor, initial;\n";
  for (int d = 0; d < r.kept; ++d) t += "  long long kd" + N(d) + ", km" + N(d) + ", kh" + N(d) + ", ks" + N(d) + ";\n";
  for (int d = 0; d < r.reduced; ++d) t += "  long long rd" + N(d) + ", rm" + N(d) + ", rh" + N(d) + ", rs" + N(d) + ";\n";
  t += "};\n";
  t += "__device__ __forceinline__ void Finish(const Args& a, long long result, Acc c) {\n";
  if (r.partial) {
    t += "  a.out[result * gridDim.y + blockIdx.y] = c;\n";
  } else if (arg) {
    t += "  long long v = c.i < 0 ? 0 : c.i;\n";
    if (r.add) t += "  v += mx::Load<long long>(a.out, result);\n";
    t += "  mx::Store(a.out, result, v);\n";
  } else {
    t += std::string(r.integer ? "  long long v = c;\n" : "  double v = c;\n");
    if (r.has_initial) t += std::string("  v = ") + (r.integer ? "static_cast<long long>(" : "(") + "WithInitial(v, a.initial));\n";
    if (!r.integer) t += "  v = v / a.divisor;\n";
    if (r.sqrt) t += r.integer ? "  v = static_cast<long long>(::sqrt(static_cast<double>(v)));\n" : "  v = ::sqrt(v);\n";
    if (r.add) t += std::string("  v = mx::Load<") + (r.integer ? "long long" : "double") + ">(a.out, result) + v;\n";
    t += "  mx::Store(a.out, result, v);\n";
  }
  t += "}\nextern \"C\" __global__ void __launch_bounds__(256) " + name + "(const __grid_constant__ Args a) {\n";
  // lane: along the reduced elements; row: which result (or `width` neighbouring ones) of the block
  if (r.columns)
    t += "  __shared__ Acc shared[256 * " + width + "];\n  const unsigned row = threadIdx.x % " + rows + ", lane = threadIdx.x / " + rows +
         ";\n";
  else
    t += std::string(r.lanes > 32 ? "  __shared__ Acc shared[8];\n" : "") + "  const unsigned lane = threadIdx.x % " + lanes +
         ", row = threadIdx.x / " + lanes + ";\n";
  const std::string each = r.columns ? width : "1", accumulators = r.columns ? "acc[j]" : "acc";
  t += "  constexpr int kEach = " + each + ", kResults = " + rows +
       " * kEach;\n  const long long blocks = (a.results + kResults - 1) / kResults;\n"
       "#pragma unroll 1\n  for (long long block = blockIdx.x; block < blocks; block += gridDim.x) {\n"
       "  const long long result = block * kResults + row * kEach;\n";
  t += r.columns ? "  Acc acc[kEach];\n#pragma unroll\n  for (int j = 0; j < kEach; ++j) acc[j] = Start();\n" : "  Acc acc = Start();\n";
  const char* index = r.large ? "long long" : "unsigned";
  t += std::string("  if (result < a.results) {\n    ") + index + " rest = static_cast<" + index +
       ">(result), most;\n    (void)most;\n    long long base = 0;\n";
  for (int d = r.kept - 1; d >= 0; --d) {
    const std::string n = N(d);
    if (d == 0)
      t += "    base += rest * a.ks0;\n";
    else if (r.large)
      t += "    base += rest % a.kd" + n + " * a.ks" + n + "; rest /= a.kd" + n + ";\n";
    else
      t += "    most = mx::Divide(rest, a.km" + n + ", a.kh" + n + "); base += (rest - most * static_cast<unsigned>(a.kd" + n +
           ")) * a.ks" + n + "; rest = most;\n";
  }
  // several loads are under way before the first is used
  t += "    const long long begin = a.chunk * blockIdx.y, end = begin + a.chunk < a.count ? begin + a.chunk : a.count;\n"
       "#pragma unroll 1\n    for (long long q0 = begin + lane; q0 < end; q0 += " +
       turns + " * " + lanes +
       ") {\n"
       "      mx::Pack<" +
       storage + ", " + width + "> x[" + turns + "];\n#pragma unroll\n      for (int u = 0; u < " + turns +
       "; ++u) {\n"
       "        const long long q = q0 + u * " +
       lanes + ";\n        if (q < end) {\n";
  if (r.reduced == 1) {
    t += "          const long long at = base + q * " + (r.columns ? std::string("a.rs0") : width) + ";\n";
  } else {
    t += "          long long at = base;\n          unsigned left = static_cast<unsigned>(q), quotient;\n";
    for (int d = r.reduced - 1; d >= 0; --d) {
      if (d == 0)
        t += "          at += left * a.rs0;\n";
      else
        t += "          quotient = mx::Divide(left, a.rm" + N(d) + ", a.rh" + N(d) +
             "); at += (left - quotient * static_cast<unsigned>(a.rd" + N(d) + ")) * a.rs" + N(d) + "; left = quotient;\n";
    }
  }
  t += "          x[u] = *reinterpret_cast<const mx::Pack<" + storage + ", " + width + ">*>(a.in + at);\n        }\n      }\n";
  const std::string each_turn =
                        "#pragma unroll\n      for (int u = 0; u < " + turns + "; ++u) {\n        if (q0 + u * " + lanes + " < end) {\n",
                    each_element = "#pragma unroll\n      for (int j = 0; j < " + width + "; ++j) ";
  const std::string x = "mx::Convert<" + std::string(part.empty() ? "A" : "Part") + ", " + storage + ">::Load(x[u].v[j])";
  if (part.empty()) {
    t += each_turn + each_element +
         (r.again ? accumulators + " = Merge(" + accumulators + ", x[u].v[j]);\n"
                  : accumulators + " = Take(" + accumulators + ", " + x + ");\n") +
         "        }\n      }\n";
  } else if (arg) {  // places within what is under way are known to the compiler
    const std::string follow = "Follow(" + x + ", u * " + lanes + (r.columns ? "" : " * " + width + " + j") + ", &" + accumulators +
                               ".v, &place);\n",
                      keep = "      if (place >= 0) " + accumulators + ".i = q0" + (r.columns ? "" : " * " + width) + " + place;\n";
    if (r.columns)
      t += each_element + "{\n      int place = -1;\n" + each_turn + "          " + follow + "        }\n      }\n" + keep + "      }\n";
    else
      t += "      int place = -1;\n" + each_turn + each_element + follow + "        }\n      }\n" + keep;
  } else if (r.columns) {
    t += each_element + "{\n      Part part = Part(0);\n" + each_turn + "          part += Mapped(" + x +
         ");\n        }\n      }\n      acc[j] += static_cast<A>(part);\n      }\n";
  } else {
    t += "      Part part = Part(0);\n" + each_turn + each_element + "part += Mapped(" + x +
         ");\n        }\n      }\n      acc += static_cast<A>(part);\n";
  }
  t += "    }\n  }\n";
  if (r.columns) {
    t += "#pragma unroll\n  for (int j = 0; j < kEach; ++j) shared[lane * kResults + row * kEach + j] = acc[j];\n  __syncthreads();\n"
         "  for (int k = threadIdx.x; k < kResults; k += 256) {\n    Acc c = shared[k];\n#pragma unroll\n    for (int l = 1; l < " +
         lanes +
         "; ++l) c = Merge(c, shared[l * kResults + k]);\n"
         "    if (block * kResults + k < a.results) Finish(a, block * kResults + k, c);\n  }\n  __syncthreads();\n";
  } else {
    for (int half = std::min(r.lanes, 32) / 2; half > 0; half /= 2) t += "  acc = Merge(acc, Shuffled(acc, " + N(half) + "));\n";
    if (r.lanes > 32)
      t += "  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = acc;\n  __syncthreads();\n"
           "  if (lane == 0)\n    for (int w = 1; w < " +
           N(r.lanes / 32) + "; ++w) acc = Merge(acc, shared[threadIdx.x / 32 + w]);\n";
    t += "  if (lane == 0 && result < a.results) Finish(a, result, acc);\n";
    if (r.lanes > 32) t += "  __syncthreads();\n";
  }
  return t + "  }\n}\n";
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
  int last = -1;  // kind of the dimension merged into, from the innermost outwards
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    const int kind = reduced[d] ? 1 : 0;
    (kind ? v.count : v.results) *= shape[d];
    if (shape[d] != 1) {
      std::vector<Dim>& to = kind ? v.reduced : v.kept;
      if (last == -1) v.inner_reduced = kind == 1;
      if (last == kind)
        to.front().size *= shape[d];
      else
        to.insert(to.begin(), Dim{shape[d], stride});
      last = kind;
    }
    stride *= shape[d];
  }
  return v;
}

int64_t ResultsPerBlock(const DeviceReduction& r) { return int64_t{kThreads / r.lanes} * (r.columns ? r.width : 1); }

void Launch(const RunContext& run, DeviceReduction r, const View& v, const void* in, void* out, const Finish& finish, int64_t parts,
            const char* what) {
  r.kept = std::max<int>(1, static_cast<int>(v.kept.size()));
  r.reduced = std::max<int>(1, static_cast<int>(v.reduced.size()));
  r.large = v.results >= (int64_t{1} << 31);
  MXNET_CHECK_KIND(r.reduced == 1 || v.count < (int64_t{1} << 31), Value)
      << "[reduce] " << v.count << " elements over " << r.reduced
      << " separate dimensions on a GPU; accepted: fewer than 2^31, or neighbouring axes";
  std::string signature = std::string(what);
  for (int n : {static_cast<int>(r.what), static_cast<int>(r.kind), r.in_dtype, r.out_dtype, int{r.integer}, int{r.partial}, int{r.again},
                int{r.add}, int{r.sqrt}, int{r.has_initial}, r.kept, r.reduced, r.lanes, int{r.columns}, r.width, int{r.large}})
    signature += "," + N(n);
  const rtc::Kernel& kernel = rtc::FindKernel(signature, [&](rtc::Kernel* k) {
    k->name = what;
    k->source = ReductionText(r, what);
  });
  const int along = r.columns ? 1 : r.width;  // reduced elements of a load
  const int64_t count = v.count / along, chunk = parts == 1 ? count : (count + parts - 1) / parts;
  rtc::Arguments args;
  args.Add(in).Add(out).Add(v.results).Add(count).Add(chunk).Add(finish.divisor).Add(finish.initial);
  auto add = [&args](const std::vector<Dim>& dims, int divided) {  // the last one's size and stride in loads
    for (size_t d = 0; d < std::max<size_t>(dims.size(), 1); ++d) {
      Dim dim = dims.empty() ? Dim{1, 0} : dims[d];
      if (d + 1 == dims.size()) dim = {dim.size / divided, dim.stride * divided};
      const rtc::FastDivisor divisor(
          std::min<int64_t>(std::max<int64_t>(dim.size, 1), (int64_t{1} << 31) - 1));  // of dimension 0 it is not used, nor of large ones
      args.Add(dim.size).Add(divisor.multiplier).Add(divisor.shift).Add(dim.stride);
    }
  };
  add(v.kept, 1);
  add(v.reduced, along);
  rtc::LaunchShape shape;
  const int64_t rows = ResultsPerBlock(r);
  shape.block[0] = kThreads;
  shape.grid[0] = static_cast<uint32_t>(std::min<int64_t>((v.results + rows - 1) / rows, int64_t{1} << 20));
  shape.grid[1] = static_cast<uint32_t>(parts);
  rtc::Launch(kernel, shape, &args, run);
}

// Elements of one load: neighbours along the innermost dimension, which must divide, as must every
// other stride.
int WidthOf(const View& v, const void* data, size_t bytes) {
  const std::vector<Dim>& inner = v.inner_reduced ? v.reduced : v.kept;
  if (inner.empty()) return 1;
  for (int width = static_cast<int>(16 / bytes); width > 1; width /= 2) {
    bool fits = inner.back().size % width == 0 && reinterpret_cast<uintptr_t>(data) % (width * bytes) == 0;
    for (const auto* dims : {&v.kept, &v.reduced})
      for (const Dim& d : *dims) fits = fits && (&d == &inner.back() || d.stride % width == 0);
    if (fits) return width;
  }
  return 1;
}

// Threads along the reduced elements: as many as there is work for. Columns need neighbouring
// results side by side for whole memory accesses.
void ChooseShape(const View& v, const void* data, size_t bytes, DeviceReduction* r) {
  r->columns = !v.inner_reduced && !v.kept.empty();
  r->width = WidthOf(v, data, bytes);
  if (r->columns) {
    r->width = std::min(r->width, 8);  // accumulators of a thread
    r->lanes = v.count >= 64 ? 8 : 1;
    if (v.results < 32 * r->width) r->lanes = 32;
    return;
  }
  r->lanes = 1;
  while (r->lanes < kThreads && r->lanes * kUnroll * r->width < v.count) r->lanes *= 2;
  while (r->lanes > 32 && v.results * (r->lanes / 2) >= kEnoughBlocks * kThreads)
    r->lanes /= 2;  // fewer threads with more to do each: less is left to begin and to merge
}

// In one launch, or in two where there are few results of many elements: parts of them first, whose
// accumulators are merged in order.
void RunReduction(const RunContext& run, const std::function<void*(size_t)>& workspace, DeviceReduction r, const View& v, const TBlob& in,
                  void* out, const Finish& finish, const char* what, const char* parts_name) {
  ChooseShape(v, in.dptr, DTypeSize(in.dtype), &r);
  const int64_t rows = ResultsPerBlock(r), blocks = (v.results + rows - 1) / rows, loads = v.count / (r.columns ? 1 : r.width) / r.lanes;
  int64_t parts = 1;
  if (loads >= kSplitFrom && blocks < kEnoughBlocks) parts = std::min((kEnoughBlocks + blocks - 1) / blocks, loads / kPartFrom);
  if (parts <= 1 || !workspace) return Launch(run, r, v, in.dptr, out, finish, 1, what);
  void* partial = workspace(static_cast<size_t>(v.results * parts) * kAccumulatorBytes);
  DeviceReduction first = r;
  first.partial = true;
  first.add = first.sqrt = first.has_initial = false;
  Launch(run, first, v, in.dptr, partial, finish, parts, parts_name);
  const View second = MakeView(Shape{v.results, parts}, {0, 1});
  r.again = true;
  ChooseShape(second, partial, kAccumulatorBytes, &r);
  Launch(run, r, second, partial, out, finish, 1, what);
}

}  // namespace

void ReduceOnDevice(const RunContext& run, const std::function<void*(size_t)>& workspace, Kind kind, const TBlob& in,
                    const std::vector<char>& reduced, const Finish& finish, bool as_float, const TBlob& out, OpReq req) {
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
  RunReduction(run, workspace, r, v, in, out.dptr, finish, "reduce", "reduce_parts");
}

void ArgReduceOnDevice(const RunContext& run, const std::function<void*(size_t)>& workspace, const TBlob& in, int64_t outer, int64_t length,
                       int64_t inner, bool max, const TBlob& out, OpReq req) {
  if (req == OpReq::kNull || out.Size() == 0) return;
  const View v = MakeView(Shape{outer, length, inner}, {0, 1, 0});
  DeviceReduction r;
  r.what = max ? DeviceReduction::kArgMax : DeviceReduction::kArgMin;
  r.in_dtype = in.dtype;
  r.out_dtype = out.dtype;
  r.integer = !IsFloating(in.dtype);
  r.add = req == OpReq::kAdd;
  RunReduction(run, workspace, r, v, in, out.dptr, Finish(), max ? "argmax" : "argmin", max ? "argmax_parts" : "argmin_parts");
}

}  // namespace reduce
}  // namespace mxnet
