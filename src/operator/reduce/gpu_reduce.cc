#include "operator/reduce/gpu_reduce.h"

#include <algorithm>

#include "rtc/prelude.h"
#include "rtc/source.h"

namespace mxnet {
namespace reduce {
namespace {

constexpr int kThreads = 256;
constexpr int kUnroll = 4;          // loads that a thread has in flight
constexpr int64_t kSplitFrom = 32;  // loads of each thread from which several blocks share a result, when there are few results
constexpr int64_t kPartFrom = 8;    // loads that each thread has left then
constexpr int64_t kEnoughBlocks =
    2112;  // sixteen for each multiprocessor of an H100 or H200: two waves, so that none ends long before the others
constexpr size_t kAccumulatorBytes = 16;  // the largest: a value and its position

const char* const kFile = "operator/reduce/gpu_reduce.cuh";

bool FitsInt(int dtype) {
  return dtype == kBool || dtype == kInt8 || dtype == kUint8 || dtype == kInt16 || dtype == kUint16 || dtype == kInt32;
}
/*
 * Accumulators: double or int64, since conversions and sums in them cost less than memory does;
 * what only compares takes the elements' own range, which is exact. For narrow elements conversions
 * would decide (16 of them for one access of bytes), so what a thread has in flight is first summed
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

const rtc::Kernel& ReductionKernel(const DeviceReduction& r, const char* name) {
  const Types types = TypesOf(r);
  rtc::TemplateArguments t;
  t.Value(r.what).Value(r.kind).Type(r.in_dtype).Type(r.out_dtype).Type(types.accumulator.c_str());
  t.Type(r.again || types.part.empty() ? "kernels::NoPart" : types.part.c_str());
  for (const int64_t v : std::initializer_list<int64_t>{r.integer, r.partial, r.again, r.add, r.sqrt, r.has_initial, r.kept, r.reduced,
                                                        r.lanes, r.columns, r.width, r.large})
    t.Value(v);
  return rtc::FindKernel(kFile, "reduce", t, kThreads, name);
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
  const rtc::Kernel& kernel = ReductionKernel(r, what);
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
