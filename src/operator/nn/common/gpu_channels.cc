#include "operator/nn/common/gpu_channels.h"

#include <algorithm>

#include "rtc/prelude.h"

namespace mxnet {
namespace nn {

using rtc::LoopText;

std::string AccumulatorText(int dtype) { return std::string("typedef ") + (dtype == kFloat64 ? "double" : "float") + " A;\n"; }

const char* const kNoChannel =
    "struct Channel {};\ntemplate <typename Args> __device__ __forceinline__ Channel ChannelOf(const Args&, long long) { return Channel(); "
    "}\n";

// The bits of n <= 8 neighbouring elements, which stand in one byte: the first is element `first`
// of a line and `at` of the array. In the other order each has its own byte.
const char* const kMarkMembers = " unsigned char* marks; long long order, header, line, stride, other_line, other_stride, minor, major;";
const char* const kMarkText = R"TEXT(
template <typename Args> __device__ __forceinline__ unsigned MarksOf(const Args& a, long long at, long long line, long long first, int n) {
  if (a.marks[0] == a.order) return static_cast<unsigned>(a.marks[a.header + line * a.stride + (first >> 3)]) >> (first & 7);
  unsigned bits = 0;
#pragma unroll 1
  for (int j = 0; j < n; ++j) {   // rare: the forward pass wrote in the other order
    const long long here = (at + j) % (a.minor * a.major), there = at + j - here + here % a.minor * a.major + here / a.minor, other = there / a.other_line, rest = there - other * a.other_line;
    bits |= (static_cast<unsigned>(a.marks[a.header + other * a.other_stride + (rest >> 3)]) >> (rest & 7) & 1u) << j;
  }
  return bits;
}
)TEXT";
void AddMarks(const NormMarks& m, rtc::Arguments* args) {
  args->Add(m.bytes)
      .Add(m.order)
      .Add(m.header)
      .Add(m.line)
      .Add((m.line + 7) / 8)
      .Add(m.other_line)
      .Add((m.other_line + 7) / 8)
      .Add(m.minor)
      .Add(m.major);
}

namespace {

std::string N(int64_t i) { return std::to_string(i); }

// Storage to arithmetic.
const char* const kChannelFunctions = R"TEXT(
template <typename C, typename S> __device__ __forceinline__ C As(S v) { return mx::Convert<C, S>::Load(v); }
)TEXT";
// Elements of one access: neighbours in a plane, or neighbouring channels where these lie last.
int WidthOf(const ChannelView& v, int dtype, const std::vector<const void*>& arrays) {
  const int64_t along = v.inner == 1 ? v.channels : v.inner, bytes = static_cast<int64_t>(DTypeSize(dtype));
  int width = static_cast<int>(16 / bytes);
  auto fits = [&] {
    return along % width == 0 && std::all_of(arrays.begin(), arrays.end(), [&](const void* p) {
             return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(width * bytes) == 0;
           });
  };
  while (width > 1 && !fits()) width /= 2;
  return width;
}

constexpr int64_t kEnoughBlocks = 2112;  // sixteen for each multiprocessor of an H100 or H200
constexpr int64_t kPartFrom = 8;         // accesses of each thread

// The loop over a block's part: all accesses of a turn are under way before the first is used.
// `where` gives at, o and q of turn u if there is something.
std::string UnrolledText(const ChannelText& t, int turns, int width, const std::string& loop, const std::string& place,
                         const std::string& marks, const std::string& sums) {
  std::string text = loop;
  const std::string each = "#pragma unroll\n      for (int u = 0; u < " + N(turns) + "; ++u) {\n", w = N(width);
  for (const char* name : t.arrays) text += std::string("      mx::Pack<D0, ") + w + "> p_" + name + "[" + N(turns) + "];\n";
  if (t.marks) text += "      unsigned bits[" + N(turns) + "];\n";
  text += each + place;
  for (const char* name : t.arrays)
    text += std::string("          p_") + name + "[u] = *reinterpret_cast<const mx::Pack<D0, " + w + ">*>(a." + name + " + at);\n";
  if (t.marks) text += "          bits[u] = MarksOf(a, at, " + marks + ", " + w + ");\n";
  return text + "        }\n      }\n" + sums;
}
std::string ValuesText(const ChannelText& t) {
  std::string text;
  for (const char* name : t.arrays) text += std::string("          const D0 ") + name + " = p_" + name + "[u].v[j];\n";
  if (t.marks) text += "          const bool bit = bits[u] >> j & 1u;\n";
  return text;
}

}  // namespace

void ChannelSums(KernelArgs& args, const ChannelView& view, const rtc::LoopKey& key, const std::vector<const void*>& arrays,
                 const rtc::Arguments& own, const std::function<ChannelText()>& make) {
  if (view.channels == 0) return;
  const bool columns = view.inner == 1;
  const int width = WidthOf(view, key.dtypes.begin()[0], arrays), turns = arrays.size() > 1 ? 2 : 4;
  const bool large =
      view.outer * view.inner >= kLargeCount || view.channels * (view.inner / width) >= kLargeCount;  // else 32 bits do for both
  int lanes = 1;  // of a block, with neighbouring channels; the other threads have other places
  while (columns && lanes < 32 && lanes * width < view.channels) lanes *= 2;
  const int64_t lines = rtc::kRowThreads / lanes, groups = columns ? (view.channels + lanes * width - 1) / (lanes * width) : view.channels;
  const int64_t count = columns ? view.outer : view.outer * (view.inner / width);  // accesses along a channel
  const int64_t parts = std::max<int64_t>(1, std::min((kEnoughBlocks + groups - 1) / groups, count / (lines * kPartFrom))),
                chunk = (count + parts - 1) / parts;
  double* partial = static_cast<double*>(
      args.workspace(static_cast<size_t>(2 * parts * view.channels) * sizeof(double)));  // a channel's parts are neighbours
  auto arguments = [&] {
    rtc::Arguments all = own;
    all.Add(view.outer).Add(view.channels).Add(view.inner).Add(parts).Add(chunk).Add(partial).Add(groups).Add(count);
    AddDivisor(std::max<int64_t>(view.inner / width, 1), large, &all);
    return all;
  };
  const std::string members =
                        " long long outer, channels, inner, parts, chunk; double* partial; long long across, accesses, per, perm, perh;",
                    name = key.name, sums = name + "_sums", finish = name + "_finish";
  const rtc::LoopKey first{sums.c_str(), key.dtypes, (((key.variant * 2 + columns) * 2 + large) * 32 + width) * 64 + lanes},
      second{finish.c_str(), key.dtypes, key.variant};
  rtc::Arguments a = arguments(), b = arguments();
  rtc::LaunchRows(args.run, first, parts * groups, &a, [&] {
    const ChannelText t = make();
    const std::string w = N(width), T = N(turns), l = N(lanes);
    std::string body =
        "    const long long part = row / a.across, group = row - part * a.across, end = (part + 1) * a.chunk < a.accesses ? (part + 1) * "
        "a.chunk : a.accesses;\n";
    if (columns) {
      body += "    __shared__ double shared[2 * 256 * " + w + "];\n    const int lane = threadIdx.x % " + l + ", line = threadIdx.x / " +
              l + ";\n    const long long c0 = (group * " + l + " + lane) * " + w + ", q = 0;\n    (void)q;\n    double total[2][" + w +
              "] = {};\n    if (c0 < a.channels) {\n      Channel channel[" + w + "];\n#pragma unroll\n      for (int j = 0; j < " + w +
              "; ++j) channel[j] = ChannelOf(a, c0 + j);\n";
      body += UnrolledText(
          t, turns, width,
          "#pragma unroll 1\n      for (long long e0 = part * a.chunk + line; e0 < end; e0 += " + T + " * " + N(lines) + ") {\n",
          "        const long long o = e0 + u * " + N(lines) + ", at = o * a.channels + c0;\n        if (o < end) {\n", "o, c0",
          "#pragma unroll\n      for (int j = 0; j < " + w +
              "; ++j) {\n        const Channel& k = channel[j];\n        const long long c = c0 + j;\n        (void)k;\n        (void)c;\n "
              "       A first = A(0), second = A(0);\n"
              "#pragma unroll\n        for (int u = 0; u < " +
              T + "; ++u) {\n          const long long o = e0 + u * " + N(lines) +
              ", at = o * a.channels + c;\n          (void)at;\n          if (o >= end) break;\n" + ValuesText(t) + t.element +
              "        }\n        total[0][j] += first;\n        total[1][j] += second;\n      }\n      }\n    }\n");
      body += "#pragma unroll\n    for (int j = 0; j < " + w +
              "; ++j)\n      for (int s = 0; s < 2; ++s) shared[(s * 256 + threadIdx.x) * " + w +
              " + j] = total[s][j];\n    __syncthreads();\n"
              "    for (int n = threadIdx.x; n < " +
              l + " * " + w + "; n += 256) {\n      const long long c = group * " + l + " * " + w +
              " + n;\n      if (c >= a.channels) break;\n"
              "      for (int s = 0; s < 2; ++s) {\n        double sum = 0;\n        for (int k = 0; k < " +
              N(lines) + "; ++k) sum += shared[(s * 256 + k * " + l + ") * " + w +
              " + n];\n"
              "        a.partial[(s * a.channels + c) * a.parts + part] = sum;\n      }\n    }\n";
    } else {
      const std::string index = large ? "long long" : "unsigned";
      // accesses: access e of a channel stands behind e + o * skip others of the channel's first
      // plane
      const std::string place = "          const J e = e0 + u * 256, o = Over(e, a.per, a.perm, a.perh);\n          const long long ";
      body +=
          "    typedef " + index +
          " J;\n    const J skip = static_cast<J>((a.channels - 1) * a.per), stop = static_cast<J>(end);\n    __shared__ double "
          "shared[256];\n    const long long c = group;\n    const Channel k = ChannelOf(a, c);\n    (void)k;\n    double total[2] = {};\n";
      body += UnrolledText(
          t, turns, width,
          "#pragma unroll 1\n    for (J e0 = static_cast<J>(part * a.chunk + threadIdx.x); e0 < stop; e0 += " + T + " * 256) {\n",
          "        if (e0 + u * 256 < stop) {\n" + place +
              "at = c * a.inner + static_cast<long long>(static_cast<unsigned long long>(o) * skip + e) * " + w + ";\n",
          "o * a.channels + c, (e - o * a.per) * " + w,
          "      A first = A(0), second = A(0);\n#pragma unroll\n      for (int u = 0; u < " + T +
              "; ++u) {\n          if (e0 + u * 256 >= stop) break;\n" + place + "q0 = (e - o * a.per) * " + w +
              ";\n#pragma unroll\n        for (int j = 0; j < " + w +
              "; ++j) {\n          const long long q = q0 + j, at = (o * a.channels + c) * a.inner + q;\n          (void)at;\n" +
              ValuesText(t) + t.element + "        }\n      }\n      total[0] += first;\n      total[1] += second;\n    }\n");
      body +=
          "    for (int s = 0; s < 2; ++s) {\n      total[s] = mx::BlockSum(total[s], shared);\n      if (threadIdx.x == 0) a.partial[(s * "
          "a.channels + c) * a.parts + part] = total[s];\n    }\n";
    }
    return LoopText{t.members + members, kChannelFunctions + t.functions, body};
  });
  rtc::LaunchRows(args.run, second, view.channels, &b, [&] {
    const ChannelText t = make();
    return LoopText{t.members + members, kChannelFunctions + t.functions,
                    "    __shared__ double shared[256];\n    const long long c = row;\n    double first = 0, second = 0;\n    for (long "
                    "long part = threadIdx.x; part < a.parts; part += 256) {\n"
                    "      first += a.partial[c * a.parts + part];\n      second += a.partial[(a.channels + c) * a.parts + part];\n    }\n"
                    "    first = mx::BlockSum(first, shared);\n    second = mx::BlockSum(second, shared);\n    if (threadIdx.x == 0) {\n" +
                        t.finish + "    }\n"};
  });
}

void MapOnDevice(const RunContext& run, const ChannelView& view, const MapCall& call, const std::function<ChannelMap()>& make) {
  const bool columns = view.inner == 1, marks = call.marks != nullptr;
  std::vector<const void*> aligned = call.arrays;
  for (const auto& r : call.results) aligned.push_back(r.second);
  const int width = WidthOf(view, call.dtype, aligned), span = marks ? 8 : width, packs = span / width;
  const int64_t line = columns ? view.channels : view.inner, stride = (line + span - 1) / span,
                items = view.outer * (columns ? 1 : view.channels) * stride;
  const bool large = items >= kLargeCount, ragged = line % span != 0;
  rtc::Arguments a;
  for (const void* p : call.arrays) a.Add(p);
  for (const auto& r : call.results) a.Add(r.second);
  a.Add(call.coef).Add(view.channels);
  AddDivisor(columns ? 1 : stride, large, &a);
  AddDivisor(columns ? stride : view.channels, large, &a);
  if (marks) AddMarks(*call.marks, &a);
  rtc::LaunchItems(run, {call.name, {call.dtype}, (((call.variant * 2 + columns) * 2 + large) * 2 + ragged) * 32 + width}, items, &a, [&] {
    const ChannelMap m = make();
    const std::string w = N(width), pack = "mx::Pack<D0, " + w + ">",
                      each = "#pragma unroll\n    for (int r = 0; r < " + N(packs) + "; ++r) {\n",
                      inside = ragged ? "first + r * " + w + " < a.line" : std::string();
    std::string members, body =
                             "    const long long back = a.count - 1 - item;\n    const I o = Over(static_cast<I>(back), a.per, a.perm, "
                             "a.perh), n = Over(o, a.cs, a.csm, a.csh), c = (o - n * static_cast<I>(a.cs))" +
                             (columns ? " * " + N(span) : std::string()) + ";\n    (void)c;\n";
    if (marks)
      body += std::string("    const long long line = ") +
              (columns ? "n, first = c" : "o, first = (back - static_cast<long long>(o) * a.per) * 8") +
              ", at = line * a.line + first;\n    (void)first;\n";
    else
      body += "    const long long at = back * " + w + ";\n";
    for (const char* x : m.arrays) {
      members += std::string("const D0* ") + x + "; ";
      body += "    " + pack + " p_" + x + "[" + N(packs) + "];\n";
    }
    for (const auto& r : call.results) members += std::string("D0* to_") + r.first + "; ";
    body += each + (ragged ? "      if (" + inside + ") {\n" : "");
    for (const char* x : m.arrays)
      body += std::string("      p_") + x + "[r] = *reinterpret_cast<const " + pack + "*>(a." + x + " + at + r * " + w + ");\n";
    body += ragged ? "      }\n    }\n" : "    }\n";
    if (marks) {
      body += call.writes_marks ? "    unsigned bits = 0;\n"
              : ragged
                  ? "    const unsigned bits = MarksOf(a, at, line, first, a.line - first < 8 ? static_cast<int>(a.line - first) : 8);\n"
                  : "    const unsigned bits = MarksOf(a, at, line, first, 8);\n";
    }
    body += each + (ragged ? "      if (!(" + inside + ")) break;\n" : "");
    for (size_t k = 0; k < m.coefficients.size(); ++k) {
      const std::string from = "a.coef + " + N(static_cast<int64_t>(k)) + " * a.channels + c";
      if (columns)
        body += "      const mx::Pack<A, " + w + "> k_" + m.coefficients[k] + " = *reinterpret_cast<const mx::Pack<A, " + w + ">*>(" +
                from + " + r * " + w + ");\n";
      else
        body += std::string("      const A ") + m.coefficients[k] + " = *(" + from + ");\n";
    }
    for (const auto& r : call.results) body += "      " + pack + " r_" + r.first + ";\n";
    body += "#pragma unroll\n      for (int j = 0; j < " + w + "; ++j) {\n";
    for (const char* x : m.arrays) body += std::string("        const D0 ") + x + " = p_" + x + "[r].v[j];\n";
    if (columns)
      for (const char* k : m.coefficients) body += std::string("        const A ") + k + " = k_" + k + ".v[j];\n";
    if (marks) body += call.writes_marks ? "        bool bit;\n" : "        const bool bit = bits >> (r * " + w + " + j) & 1u;\n";
    body += m.body;
    for (const auto& r : call.results) body += std::string("        r_") + r.first + ".v[j] = mx::Narrow<D0, A>::Store(" + r.first + ");\n";
    if (call.writes_marks) body += "        bits |= (bit ? 1u : 0u) << (r * " + w + " + j);\n";
    body += "      }\n";
    for (const auto& r : call.results)
      body += std::string("      *reinterpret_cast<") + pack + "*>(a.to_" + r.first + " + at + r * " + w + ") = r_" + r.first + ";\n";
    body += "    }\n";
    if (call.writes_marks)
      body +=
          "    if (a.marks) {\n      a.marks[a.header + back] = static_cast<unsigned char>(bits);\n      if (back == 0) a.marks[0] = "
          "static_cast<unsigned char>(a.order);\n    }\n";
    return LoopText{members + "const A* coef; long long channels, per, perm, perh, cs, csm, csh;" + (marks ? kMarkMembers : ""),
                    kChannelFunctions + m.functions + (marks ? kMarkText : ""), body};
  });
}

// Rows of coefficients in the arithmetic of dtype; every row begins where packs of them may.
void* NewCoefficients(KernelArgs& args, const ChannelView& view, int dtype, int rows) {
  return args.workspace(static_cast<size_t>(std::max<int64_t>(view.channels, 1) * rows) *
                        (dtype == kFloat64 ? sizeof(double) : sizeof(float)));
}

}  // namespace nn
}  // namespace mxnet
