#include "operator/indexing/gpu_index.h"

#include <algorithm>
#include <string>

#include "mxnet/env.h"
#include "operator/indexing/gpu_order.h"
#include "operator/init/gpu_fill.h"
#include "operator/matrix/gpu_move.h"
#include "operator/pointwise/execute.h"
#include "operator/reduce/gpu_scan.h"
#include "rtc/loop.h"

namespace mxnet {
namespace {

using rtc::LoopText;

int64_t* Positions(KernelArgs& a, int64_t n) {
  return static_cast<int64_t*>(a.workspace(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(int64_t)));
}

// An unsigned dtype of that size: moves do not look at elements.
int UnitDType(size_t bytes) { return bytes == 1 ? kUint8 : bytes == 2 ? kUint16 : bytes == 4 ? kUint32 : kUint64; }

// The I of a loop over so many items counts to 2^31 and more.
bool Large(int64_t items) { return items >= rtc::kLargeCount; }

// The widest unit, up to 8 bytes, in which pieces of `bytes` behind these addresses can be moved.
size_t UnitOf(int64_t bytes, const void* p, const void* q, const void* r = nullptr) {
  const uint64_t all =
      static_cast<uint64_t>(bytes) | reinterpret_cast<uintptr_t>(p) | reinterpret_cast<uintptr_t>(q) | reinterpret_cast<uintptr_t>(r);
  return all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

// As ToIndex of index_common_cpu.cc.
const char* const kToIndex = R"TEXT(
__device__ __forceinline__ long long ToIndex(double v) {
  if (v >= 9223372036854775808.0) return 9223372036854775807ll;
  if (!(v >= -9223372036854775808.0)) return -9223372036854775807ll - 1;
  return static_cast<long long>(v);
}
)TEXT";
std::string IndexText(int dtype) {
  if (IsFloating(dtype)) return "ToIndex(mx::Load<double>(a.in, i))";
  if (dtype == kUint64) return "a.in[i] > 9223372036854775807ull ? 9223372036854775807ll : static_cast<long long>(a.in[i])";
  return "mx::Load<long long>(a.in, i)";
}

// 0: all was well; else how far from the end the first bad one was.
uint64_t ReadFinding(KernelArgs& a, const uint64_t* finding) {
  uint64_t found = 0;
  rtc::ReadBack(a.run, finding, &found, sizeof(found));
  return found;
}
uint64_t* NewFinding(KernelArgs& a) {
  uint64_t* finding = static_cast<uint64_t*>(a.workspace(sizeof(uint64_t)));
  ZeroBytes(a.run, finding, sizeof(uint64_t));
  return finding;
}

}  // namespace

int64_t* ReadIndicesOnDevice(KernelArgs& a, const TBlob& indices) {
  const int64_t n = indices.Size();
  int64_t* out = Positions(a, n);
  rtc::Arguments args;
  args.Add(indices.dptr).Add(out);
  rtc::LaunchItems(a.run, {"read_indices", {indices.dtype}}, n, &args, [&] {
    return LoopText{"const D0* in; long long* out;", kToIndex, "    a.out[i] = " + IndexText(indices.dtype) + ";\n"};
  });
  return out;
}

int64_t* ReadIndicesInRangeOnDevice(KernelArgs& a, const TBlob& indices, int64_t size, IndexMode mode) {
  const int64_t n = indices.Size();
  MXNET_CHECK_KIND(size > 0 || n == 0, Index) << "[" << a.attrs->op->name << "] cannot take " << n << " entries of a dimension of size 0";
  int64_t* out = Positions(a, n);
  uint64_t* finding = mode == IndexMode::kRaise && n > 0 ? NewFinding(a) : nullptr;
  rtc::Arguments args;
  args.Add(indices.dptr).Add(out).Add(size).Add(finding);
  rtc::LaunchItems(a.run, {"indices_in_range", {indices.dtype}, static_cast<int>(mode)}, n, &args, [&] {
    std::string body = "    long long v = " + IndexText(indices.dtype) + ";\n";
    if (mode == IndexMode::kClip)
      body += "    v = v < 0 ? 0 : v >= a.size ? a.size - 1 : v;\n";
    else if (mode == IndexMode::kWrap)
      body += "    v %= a.size;\n    if (v < 0) v += a.size;\n";
    else
      body += "    if (v < 0 || v >= a.size) atomicMax(a.finding, static_cast<unsigned long long>(a.count - i));\n";
    return LoopText{"const D0* in; long long* out; long long size; unsigned long long* finding;", kToIndex, body + "    a.out[i] = v;\n"};
  });
  if (finding) {
    const uint64_t found = ReadFinding(a, finding);
    if (found != 0) {
      const int64_t at = n - static_cast<int64_t>(found);
      int64_t index = 0;
      rtc::ReadBack(a.run, out + at, &index, sizeof(index));
      MXNET_THROW(Index) << "[" << a.attrs->op->name << "] index " << index << " at position " << at << " is out of range; accepted: 0 to "
                         << size - 1;
    }
  }
  return out;
}

int64_t* FlatIndicesOnDevice(KernelArgs& a, const TBlob& indices, const Shape& data) {
  const int m = static_cast<int>(indices.shape[0]);
  const int64_t n = indices.shape.Prod(1, indices.shape.ndim());
  const int64_t* in = indices.dtype == kInt64 ? indices.data<int64_t>() : ReadIndicesOnDevice(a, indices);
  int64_t* flat = Positions(a, n);
  if (n == 0) return flat;
  uint64_t* finding = NewFinding(a);
  rtc::Arguments args;
  args.Add(in).Add(flat).Add(finding);
  for (int d = 0; d < m; ++d) args.Add(data[d]);
  rtc::LaunchItems(a.run, {"flat_indices", {}, m}, n, &args, [&] {
    std::string members = "const long long* in; long long* flat; unsigned long long* finding;", body = "    long long at = 0, v;\n";
    const std::string dims = std::to_string(m);
    for (int d = 0; d < m; ++d) {
      const std::string number = std::to_string(d);
      members += " long long d" + number + ";";
      body += "    v = a.in[" + number + " * a.count + i];\n    if (v < 0) v += a.d" + number + ";\n    if (v < 0 || v >= a.d" + number +
              ") { atomicMax(a.finding, static_cast<unsigned long long>((a.count - i) * " + dims + " - " + number +
              ")); v = 0; }\n    at = at * a.d" + number + " + v;\n";
    }
    return LoopText{members, "", body + "    a.flat[i] = at;\n"};
  });
  const uint64_t found = ReadFinding(a, finding);
  if (found != 0) {
    const int64_t at = n * m - static_cast<int64_t>(found), d = at % m;
    int64_t given = 0;
    rtc::ReadBack(a.run, in + d * n + at / m, &given, sizeof(given));
    MXNET_THROW(Index) << "[" << a.attrs->op->name << "] index " << given << " is out of bounds for axis " << d << " with size "
                       << data[static_cast<int>(d)];
  }
  return flat;
}

int64_t* CountChosenOnDevice(KernelArgs& a, const TBlob& mask) {
  const int64_t n = mask.Size();
  TBlob counts;
  counts.dtype = kInt64;
  counts.shape = Shape({n + 1});
  counts.dptr = Positions(a, n + 1);
  rtc::Arguments args;
  args.Add(mask.dptr).Add(counts.dptr);
  rtc::LaunchItems(a.run, {"chosen", {mask.dtype}}, n + 1, &args, [] {
    return LoopText{"const D0* mask; long long* counts;", "", "    a.counts[i] = i + 1 < a.count && mx::Load<double>(a.mask, i) != 0.0;\n"};
  });
  reduce::DeviceScan scan;
  scan.length = n + 1;
  scan.exclusive = true;
  reduce::ScanOnDevice(a, scan, counts, counts);
  return counts.data<int64_t>();
}

void PutChosenOnDevice(const RunContext& run, const TBlob& chosen, const int64_t* before, int64_t outer, int64_t size, int64_t n,
                       int64_t piece_bytes, const TBlob& out) {
  const size_t unit = UnitOf(piece_bytes, chosen.dptr, out.dptr);
  const int64_t inner = piece_bytes / static_cast<int64_t>(unit);
  rtc::Arguments args;
  args.Add(chosen.dptr).Add(out.dptr).Add(before).Add(size).Add(n).Add(inner);
  rtc::LaunchItems(run, {"put_chosen", {UnitDType(unit)}}, outer * size * inner, &args, [] {
    return LoopText{"const D0* chosen; D0* out; const long long* before; long long size, n, inner;", "",
                    "    const I r = i / static_cast<I>(a.inner), o = r / static_cast<I>(a.size), s = r - o * static_cast<I>(a.size);\n"
                    "    const long long at = a.before[s];\n    a.out[i] = a.before[s + 1] > at ? a.chosen[(o * a.n + at) * a.inner + (i - "
                    "r * static_cast<I>(a.inner))] : D0(0);\n"};
  });
}

void IndexArrayOnDevice(const RunContext& run, const Shape& s, const std::vector<int>& axes, int64_t* out) {
  for (size_t k = 0; k < axes.size(); ++k) {
    rtc::Arguments args;
    args.Add(out).Add(s[axes[k]]).Add(s.Prod(axes[k] + 1, s.ndim())).Add(static_cast<int64_t>(k)).Add(static_cast<int64_t>(axes.size()));
    rtc::LaunchItems(run, {"index_array", {}}, s.Size(), &args, [] {
      return LoopText{"long long* out; long long size, inner, k, width;", "",
                      "    a.out[i * a.width + a.k] = i / static_cast<I>(a.inner) % static_cast<I>(a.size);\n"};
    });
  }
}

void RavelIndicesOnDevice(const RunContext& run, const Shape& target, const int64_t* columns, int64_t n, int64_t* flat) {
  rtc::Arguments args;
  args.Add(columns).Add(flat);
  for (int d = 0; d < target.ndim(); ++d) args.Add(target[d]);
  rtc::LaunchItems(run, {"ravel_indices", {}, target.ndim()}, n, &args, [&] {
    std::string members = "const unsigned long long* columns; unsigned long long* flat;",
                body = "    unsigned long long at = a.columns[i];\n";
    for (int d = 0; d < target.ndim(); ++d) {
      const std::string number = std::to_string(d);
      members += " unsigned long long d" + number + ";";
      if (d > 0) body += "    at = at * a.d" + number + " + a.columns[" + number + " * a.count + i];\n";
    }
    return LoopText{members, "", body + "    a.flat[i] = at;\n"};
  });
}

void UnravelIndicesOnDevice(const RunContext& run, const Shape& target, const int64_t* flat, int64_t n, int64_t* columns) {
  rtc::Arguments args;
  args.Add(flat).Add(columns);
  for (int d = 0; d < target.ndim(); ++d) args.Add(target[d]);
  rtc::LaunchItems(run, {"unravel_indices", {}, target.ndim()}, n, &args, [&] {
    std::string members = "const long long* flat; long long* columns;", body = "    long long rest = a.flat[i], r;\n";
    for (int d = 0; d < target.ndim(); ++d) members += " long long d" + std::to_string(d) + ";";
    for (int d = target.ndim() - 1; d > 0; --d) {
      const std::string number = std::to_string(d);
      body += "    r = rest % a.d" + number + ";\n    if (r < 0) r += a.d" + number + ";\n    a.columns[" + number +
              " * a.count + i] = r;\n    rest = (rest - r) / a.d" + number + ";\n";
    }
    return LoopText{members, "", body + "    a.columns[i] = rest;\n"};
  });
}

void ConvertIndices(const RunContext& run, const int64_t* values, const TBlob& out, int64_t n) {
  if (!run.ctx.is_gpu()) return ConvertIndices(values, out, n);
  TBlob from = out, to = out;
  from.dptr = const_cast<int64_t*>(values);
  from.dtype = kInt64;
  from.shape = to.shape = Shape({n});
  pointwise::ExecuteCast(run, from, to, OpReq::kWrite);
}

void TakeRows(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
              void* out) {
  if (!run.ctx.is_gpu()) return TakeRows(data, outer, size, inner, index, num, out);
  const int64_t row = inner * static_cast<int64_t>(DTypeSize(data.dtype));
  const size_t unit = UnitOf(row, data.dptr, out);
  const bool pairs = unit == 8 && row % 16 == 0 && (reinterpret_cast<uintptr_t>(data.dptr) | reinterpret_cast<uintptr_t>(out)) % 16 == 0;
  inner = row / static_cast<int64_t>(pairs ? 16 : unit);
  const int64_t items = outer * num * inner;
  rtc::Arguments args;
  args.Add(data.dptr).Add(out).Add(index).Add(size);
  rtc::AddDivisor(inner, Large(items), &args);
  rtc::AddDivisor(num, Large(items), &args);
  rtc::LaunchItems(run, {"take_rows", {UnitDType(unit)}, pairs}, items, &args, [&] {
    return LoopText{
        "const Unit* data; Unit* out; const long long* index; long long size, inner, innerm, innerh, num, numm, numh;",
        std::string("typedef mx::Pack<D0, ") + (pairs ? "2" : "1") + "> Unit;\n",
        "    const I r = Over(i, a.inner, a.innerm, a.innerh), o = Over(r, a.num, a.numm, a.numh);\n"
        "    a.out[i] = a.data[(o * a.size + a.index[r - o * static_cast<I>(a.num)]) * a.inner + (i - r * static_cast<I>(a.inner))];\n"};
  });
}

void PutRows(KernelArgs& a, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
             const TBlob& data) {
  const int64_t row = inner * static_cast<int64_t>(DTypeSize(data.dtype));
  if (!a.run.ctx.is_gpu()) {
    const char* from = static_cast<const char*>(rows);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < num; ++i) CopyBytes(from + (o * num + i) * row, data.data<char>() + (o * size + index[i]) * row, row);
    return;
  }
  if (outer * num * row == 0) return;
  int64_t* owner = Positions(a, size);  // 1 + the last row for each place
  ZeroBytes(a.run, owner, size * static_cast<int64_t>(sizeof(int64_t)));
  rtc::Arguments claim;
  claim.Add(index).Add(owner);
  rtc::LaunchItems(a.run, {"claim_rows", {}}, num, &claim, [] {
    return LoopText{"const long long* index; unsigned long long* owner;", "",
                    "    atomicMax(a.owner + a.index[i], static_cast<unsigned long long>(i) + 1);\n"};
  });
  const size_t unit = UnitOf(row, data.dptr, rows);
  inner = row / static_cast<int64_t>(unit);
  rtc::Arguments args;
  args.Add(rows).Add(data.dptr).Add(index).Add(owner).Add(size).Add(inner).Add(num);
  rtc::LaunchItems(a.run, {"put_rows", {UnitDType(unit)}}, outer * num * inner, &args, [] {
    return LoopText{"const D0* rows; D0* data; const long long* index; const long long* owner; long long size, inner, num;", "",
                    "    const I r = i / static_cast<I>(a.inner), o = r / static_cast<I>(a.num), n = r - o * static_cast<I>(a.num);\n"
                    "    const long long to = a.index[n];\n    if (a.owner[to] == static_cast<long long>(n) + 1) a.data[(o * a.size + to) "
                    "* a.inner + (i - r * static_cast<I>(a.inner))] = a.rows[i];\n"};
  });
}

void AddRowsOnDevice(KernelArgs& a, const void* rows, int64_t outer, int64_t size, int64_t inner, const int64_t* index, int64_t num,
                     const TBlob& data, bool add) {
  const int64_t total = data.Size();
  const int dtype = data.dtype;
  const bool wide = DTypeSize(dtype) == 8, sum_is_data = DTypeSize(dtype) >= 4;
  const int sum = dtype == kFloat64 || dtype == kFloat32 ? dtype : IsFloating(dtype) ? int{kFloat32} : wide ? int{kUint64} : int{kInt32};
  const char* const members = "const D0* rows; D1* data; const long long* index; long long size, inner, num;";
  if (Env::Get().enforce_determinism) {
    if (!add) ZeroBytes(a.run, data.dptr, static_cast<int64_t>(data.Bytes()));
    if (outer * num * inner == 0) return;
    int64_t *sorted = Positions(a, num), *order = Positions(a, num);
    TBlob keys;
    keys.dptr = const_cast<int64_t*>(index);
    keys.dtype = kInt64;
    keys.shape = Shape({num});
    OrderEntriesOnDevice(a, keys, 1, num, 1, num, true, sorted, order, size);
    rtc::Arguments args;
    args.Add(rows).Add(data.dptr).Add(sorted).Add(size).Add(inner).Add(num).Add(order);
    return rtc::LaunchItems(a.run, {"add_rows_in_order", {dtype, dtype, sum}, add}, outer * num * inner, &args, [&] {
      return LoopText{
          std::string(members) + " const long long* order;", "",
          "    const I r = i / static_cast<I>(a.inner), k = i - r * static_cast<I>(a.inner), o = r / static_cast<I>(a.num);\n"
          "    long long n = r - o * static_cast<I>(a.num);\n    const long long to = a.index[n];\n    if (n > 0 && a.index[n - 1] == to) "
          "continue;\n"
          "    const long long at = (o * a.size + to) * a.inner + k;\n" +
              std::string("    D2 sum = ") + (add ? "mx::Load<D2>(a.data, at)" : "D2(0)") + ";\n" +
              "    for (; n < a.num && a.index[n] == to; ++n) sum += mx::Load<D2>(a.rows, (o * a.num + a.order[n]) * a.inner + k);\n"
              "    mx::Store(a.data, at, sum);\n"};
    });
  }
  TBlob sums = data;
  sums.dtype = sum;
  if (!sum_is_data) sums.dptr = a.workspace(static_cast<size_t>(std::max<int64_t>(total, 1)) * DTypeSize(sum));
  if (!add)
    ZeroBytes(a.run, sums.dptr, static_cast<int64_t>(sums.Bytes()));
  else if (!sum_is_data)
    pointwise::ExecuteCast(a.run, data, sums, OpReq::kWrite);
  const int64_t items = outer * num * inner;
  rtc::Arguments args;
  args.Add(rows).Add(sums.dptr).Add(index).Add(size);
  rtc::AddDivisor(inner, Large(items), &args);
  rtc::AddDivisor(num, Large(items), &args);
  rtc::LaunchItems(a.run, {"add_rows", {dtype, sum}}, items, &args, [&] {
    return LoopText{"const D0* rows; D1* data; const long long* index; long long size, inner, innerm, innerh, num, numm, numh;", "",
                    "    const I r = Over(i, a.inner, a.innerm, a.innerh), o = Over(r, a.num, a.numm, a.numh);\n"
                    "    atomicAdd(a.data + ((o * a.size + a.index[r - o * static_cast<I>(a.num)]) * a.inner + (i - r * "
                    "static_cast<I>(a.inner))), mx::Load<D1>(a.rows, i));\n"};
  });
  if (!sum_is_data) pointwise::ExecuteCast(a.run, sums, data, OpReq::kWrite);
}

namespace {

// One entry of each line: `small` is (outer, k, inner), `large` (outer, size, inner).
void MoveLines(const RunContext& run, const char* name, const char* move, const void* small, const void* large, int64_t outer, int64_t size,
               int64_t inner, int64_t k, const int64_t* index, int dtype) {
  rtc::Arguments args;
  args.Add(small).Add(large).Add(index).Add(size).Add(inner).Add(k);
  rtc::LaunchItems(run, {name, {UnitDType(DTypeSize(dtype))}}, outer * k * inner, &args, [&] {
    return LoopText{"D0* small; D0* large; const long long* index; long long size, inner, k;", "",
                    std::string("    const I r = i / static_cast<I>(a.inner), o = r / static_cast<I>(a.k);\n"
                                "    const long long at = (o * a.size + a.index[i]) * a.inner + (i - r * static_cast<I>(a.inner));\n    ") +
                        move};
  });
}
const char* const kTake = "a.small[i] = a.large[at];\n";
const char* const kPut = "a.large[at] = a.small[i];\n";

}  // namespace

void TakeLines(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index,
               void* out) {
  if (!run.ctx.is_gpu()) return TakeLines(data, outer, size, inner, k, index, out);
  MoveLines(run, "take_lines", kTake, out, data.dptr, outer, size, inner, k, index, data.dtype);
}
void PutLines(const RunContext& run, const void* values, int64_t outer, int64_t size, int64_t inner, int64_t k, const int64_t* index,
              const TBlob& data) {
  if (!run.ctx.is_gpu()) return PutLines(values, outer, size, inner, k, index, data);
  MoveLines(run, "put_lines", kPut, values, data.dptr, outer, size, inner, k, index, data.dtype);
}
void PickEntries(const RunContext& run, const TBlob& data, int64_t outer, int64_t size, int64_t inner, const int64_t* index, void* out) {
  if (!run.ctx.is_gpu()) return PickEntries(data, outer, size, inner, index, out);
  TakeLines(run, data, outer, size, inner, 1, index, out);
}
void PutEntries(const RunContext& run, const void* values, int64_t outer, int64_t size, int64_t inner, const int64_t* index,
                const TBlob& data) {
  if (!run.ctx.is_gpu()) return PutEntries(values, outer, size, inner, index, data);
  PutLines(run, values, outer, size, inner, 1, index, data);
}

void FillOneHot(const RunContext& run, const TBlob& out, const int64_t* index, int64_t count, int64_t depth, double on, double off) {
  if (!run.ctx.is_gpu()) return FillOneHot(out, index, count, depth, on, off);
  if (count * depth == 0) return;
  FillValue(run, out, off);
  // the value in the dtype of out: integers as FillValue converts them
  rtc::Arguments args;
  args.Add(out.dptr).Add(index).Add(depth).Add(on);
  const bool real = IsFloating(out.dtype) || out.dtype == kBool;
  rtc::LaunchItems(run, {"one_hot", {out.dtype}}, count, &args, [&] {
    return LoopText{"D0* out; const long long* index; long long depth; double on;", "",
                    std::string("    const long long at = a.index[i];\n    if (at >= 0 && at < a.depth) ") +
                        (real ? "mx::Store(a.out, i * a.depth + at, a.on);\n"
                              : "a.out[i * a.depth + at] = static_cast<D0>(static_cast<long long>(a.on));\n")};
  });
}

void Select(const RunContext& run, const TBlob& condition, const void* x, const void* y, void* out, int64_t count, int64_t piece_bytes) {
  if (!run.ctx.is_gpu()) return Select(condition, x, y, out, count, piece_bytes);
  if (piece_bytes == 0) return;
  const bool half = IsHalf(condition.dtype);
  const size_t unit = UnitOf(piece_bytes, x, y, out);
  const int64_t inner = piece_bytes / static_cast<int64_t>(unit);
  rtc::Arguments args;
  args.Add(condition.dptr).Add(x).Add(y).Add(out).Add(inner);
  rtc::LaunchItems(run, {"select_where", {condition.dtype, UnitDType(unit)}}, count * inner, &args, [&] {
    const std::string c = "a.condition[i / static_cast<I>(a.inner)]";
    return LoopText{"const D0* condition; const D1* x; const D1* y; D1* out; long long inner;", "",
                    "    a.out[i] = " +
                        (half                       ? "(" + c + ".bits & 0x7fff) != 0"
                         : condition.dtype == kBool ? c + ".bits != 0"
                                                    : c + " != D0(0)") +
                        " ? a.x[i] : a.y[i];\n"};
  });
}

}  // namespace mxnet
