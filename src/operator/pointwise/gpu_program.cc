#include "operator/pointwise/gpu_program.h"

#include <algorithm>
#include <set>

#include "operator/pointwise/execute.h"
#include "operator/pointwise/gpu_activation.h"
#include "rtc/prelude.h"
#include "rtc/source.h"

namespace mxnet {
namespace pointwise {
namespace {

constexpr int kMaxStridedDims = 8;
constexpr int64_t kLarge = int64_t{1} << 31;

std::string N(int i) { return std::to_string(i); }
bool Strided(Access a) { return a == Access::kRows || a == Access::kRepeated || a == Access::kAny; }

std::string NumberText(int index) { return "T(a.numbers[" + N(index) + "])"; }
std::string ValueText(const DeviceValue& v) {
  switch (v.kind) {
    case DeviceValue::kInput: return "x[" + N(v.index) + "]";
    case DeviceValue::kStep: return "s" + N(v.index);
    case DeviceValue::kNumber: break;
  }
  return NumberText(v.index);
}

// Whether the step's result is rounded to 16 bits before anything is made of it.
bool Rounded(const DeviceProgram& p, const DeviceVariant& v, size_t step) {
  const Function& f = p.steps[step].function;
  const bool last = step + 1 == p.steps.size();
  return p.compute == kF32 && (!f.gradient || f.row >= kActivations) &&
         (p.steps[step].round_to >= 0 ? IsHalf(p.steps[step].round_to) : last && !v.add && IsHalf(v.out_dtype));
}

// How much code a step's functions become: texts with several elements have each of them several
// times.
int Costs(const DeviceProgram& p) {
  static const std::pair<const char*, int> kCosts[] = {{"gamma", 16},     {"erfinv", 16}, {"pow", 8},     {"cbrt", 4},     {"sin", 8},
                                                       {"cos", 8},        {"tan(", 8},    {"hypot", 4},   {"mod", 8},      {"lcm", 16},
                                                       {"gcd", 16},       {"ldexp", 8},   {"exp", 2},     {"log", 2},      {"erf", 3},
                                                       {"normal_cdf", 3}, {"tanh", 3},    {"sigmoid", 2}, {"softrelu", 4}, {"arc", 4}};
  int total = 0;
  for (const DeviceStep& s : p.steps) {
    std::string text = DeviceDefinition(s.function);
    text.erase(0, text.find('{', text.find('(')));  // behind the name
    ++total;
    for (const auto& c : kCosts)
      for (size_t at = text.find(c.first); at != std::string::npos; at = text.find(c.first, at + 1)) total += c.second;
  }
  return total;
}

}  // namespace

std::string DeviceProgram::Signature() const {
  std::string s = name + "/" + N(compute);
  for (const DeviceStep& step : steps) {
    s += ";" + DeviceName(step.function) + "," + N(step.params) + "," + N(step.round_to);
    for (const DeviceValue& v : step.from) s += std::string(",") + "isn"[v.kind] + N(v.index);
  }
  return s;
}

namespace {

// The functions that the program's steps call, each once.
std::string DefinitionsText(const DeviceProgram& p, const DeviceVariant& v) {
  std::string text;
  std::set<std::string> defined;
  for (size_t i = 0; i < p.steps.size(); ++i) {
    const bool rounded = Rounded(p, v, i);
    if (defined.insert((rounded ? "rounded " : "") + DeviceName(p.steps[i].function)).second)
      text += DeviceDefinition(p.steps[i].function, rounded);
  }
  return text;
}

// The call of a step's function.
std::string CallText(const DeviceProgram& p, const DeviceVariant& v, size_t step) {
  const DeviceStep& s = p.steps[step];
  std::string call = std::string(Rounded(p, v, step) ? "mx::rounded::" : "mx::") + DeviceName(s.function) + "(";
  for (const DeviceValue& f : s.from) call += ValueText(f) + ", ";
  for (int j = 0; j < 3; ++j) call += (s.params < 0 ? std::string("T(0)") : NumberText(s.params + j)) + (j < 2 ? ", " : ")");
  if (s.round_to < 0) return call;
  const std::string type = rtc::StorageName(s.round_to);
  return "mx::Convert<T, " + type + ">::Load(mx::Narrow<" + type + ", T>::Store(" + call + "))";
}

// The struct that gpu_program.cuh takes as P.
std::string StructText(const DeviceProgram& p, const DeviceVariant& v) {
  std::string text = "struct Program {\n  typedef mx::T T;\n  typedef " + std::string(rtc::StorageName(v.out_dtype)) + " Out;\n  typedef " +
                     (p.compute >= kI32 ? "long long" : "double") + " Number;\n  static constexpr int kNumbers = " + N(p.numbers) +
                     ", kDims = " + N(v.ndim) + ", kWidth = " + N(v.width) + ", kUnroll = " + N(v.unroll) +
                     ";\n  static constexpr bool kAdd = " + (v.add ? "true" : "false") + ", kLarge = " + (v.large ? "true" : "false") +
                     ";\n  template <typename Args> static __device__ __forceinline__ T Element(const Args& a, const T* x) {\n";
  for (size_t i = 0; i < p.steps.size(); ++i) text += "    const T s" + N(static_cast<int>(i)) + " = " + CallText(p, v, i) + ";\n";
  return text + "    return s" + N(static_cast<int>(p.steps.size()) - 1) + ";\n  }\n};\n";
}

}  // namespace

std::string ProgramText(const DeviceProgram& p, const DeviceVariant& v) {
  std::string text = DeviceFunctions(p.compute) + "#line 1 \"" + p.name + "\"\n" + DefinitionsText(p, v) + StructText(p, v) +
                     "typedef kernels::pointwise_program<Program";
  for (size_t k = 0; k < v.dtypes.size(); ++k)
    text += std::string(", mx::Operand<") + rtc::StorageName(v.dtypes[k]) + ", '" + static_cast<char>(v.access[k]) + "'>";
  return text + "> Kernel;\n" + rtc::EntryPoint(p.name, "Kernel::Run(a);");
}

int UnrollFor(const DeviceProgram& p, const DeviceVariant& v) {
  int loads = v.add ? 1 : 0;
  size_t bytes = DTypeSize(v.out_dtype);  // of an element of what is loaded
  for (size_t k = 0; k < v.access.size(); ++k) {
    if (v.access[k] == Access::kSingle || v.access[k] == Access::kRepeated) continue;
    ++loads;
    bytes = std::max(bytes, DTypeSize(v.dtypes[k]));
  }
  const int narrow = static_cast<size_t>(v.width) * bytes < 8 ? 2 : 1;
  const int wanted = (loads <= 1 ? 4 : loads <= 3 ? 2 : 1) * narrow;
  int unroll = 1;
  while (unroll < wanted && 2 * unroll * v.width * Costs(p) <= 64) unroll *= 2;
  return unroll;
}

namespace {

// The output's dimensions in memory order, merged where every strided input allows it, and the
// inputs' steps along them.
struct Strides {
  std::vector<int64_t> dim;
  std::vector<std::vector<int64_t>> step;  // [input][dim]; empty for inputs that are not strided
};

std::vector<int> MemoryOrder(int ndim, Layout layout) {
  std::vector<int> order;
  for (int i = 0; i < ndim; ++i) order.push_back(i);
  if (layout == Layout::kChannelsLast && ndim > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

// Steps of `in` along the output's logical dimensions.
std::vector<int64_t> Steps(const TBlob& in, const Shape& out) {
  const int shift = out.ndim() - in.shape.ndim();
  std::vector<int64_t> step(out.ndim(), 0);
  const std::vector<int> memory = MemoryOrder(in.shape.ndim(), in.layout);
  int64_t running = 1;
  for (size_t i = memory.size(); i-- > 0;) {
    const int d = memory[i];
    step[d + shift] = in.shape[d] == 1 ? 0 : running;
    running *= in.shape[d];
  }
  return step;
}

Strides MakeStrides(Span<const TBlob> in, const std::vector<Access>& access, const TBlob& out) {
  Strides w;
  w.step.resize(in.size());
  std::vector<std::vector<int64_t>> steps(in.size());
  for (int k = 0; k < in.size(); ++k)
    if (Strided(access[k])) steps[k] = Steps(in[k], out.shape);
  for (int d : MemoryOrder(out.shape.ndim(), out.layout)) {
    const int64_t size = out.shape[d];
    if (size == 1) continue;
    bool merge = !w.dim.empty();
    for (int k = 0; merge && k < in.size(); ++k)
      if (Strided(access[k])) merge = w.step[k].back() == steps[k][d] * size;
    if (merge)
      w.dim.back() *= size;
    else
      w.dim.push_back(size);
    for (int k = 0; k < in.size(); ++k) {
      if (!Strided(access[k])) continue;
      if (merge)
        w.step[k].back() = steps[k][d];
      else
        w.step[k].push_back(steps[k][d]);
    }
  }
  return w;
}

bool Aligned(const void* p, size_t bytes) { return reinterpret_cast<uintptr_t>(p) % bytes == 0; }

// The widest access that every tensor allows: 16 bytes of the largest element.
int Width(Span<const TBlob> in, const std::vector<Access>& access, const Strides& strides, const TBlob& out) {
  size_t largest = DTypeSize(out.dtype);
  for (int k = 0; k < in.size(); ++k)
    if (access[k] != Access::kSingle) largest = std::max(largest, DTypeSize(in[k].dtype));
  for (int width = static_cast<int>(16 / largest); width > 1; width /= 2) {
    bool fits = Aligned(out.dptr, width * DTypeSize(out.dtype)) && (strides.dim.empty() || strides.dim.back() % width == 0);
    for (int k = 0; fits && k < in.size(); ++k) {
      const size_t bytes = width * DTypeSize(in[k].dtype);
      if (access[k] == Access::kAny) fits = false;
      if (access[k] == Access::kAlong || access[k] == Access::kRows) fits = Aligned(in[k].dptr, bytes);
      if (access[k] == Access::kRows)
        for (size_t d = 0; fits && d + 1 < strides.step[k].size(); ++d) fits = strides.step[k][d] % width == 0;
    }
    if (fits) return width;
  }
  return 1;
}

}  // namespace

void RunProgram(const DeviceProgram& p, Span<const TBlob> in, const double* numbers, const TBlob& out, OpReq req, const RunContext& run) {
  if (req == OpReq::kNull) return;
  const int64_t total = out.Size();
  if (total == 0) return;
  DeviceVariant v;
  v.out_dtype = out.dtype;
  v.add = req == OpReq::kAdd;
  v.large = total >= kLarge;
  for (const TBlob& b : in) {
    v.dtypes.push_back(b.dtype);
    const int64_t n = b.Size();
    v.access.push_back(n == total && SameOrder(b, out) ? Access::kAlong : n == 1 ? Access::kSingle : Access::kAny);
  }
  Strides strides;
  if (std::find(v.access.begin(), v.access.end(), Access::kAny) != v.access.end()) strides = MakeStrides(in, v.access, out);
  v.ndim = static_cast<int>(strides.dim.size());
  MXNET_CHECK_KIND(v.ndim <= kMaxStridedDims, Value)
      << "[" << p.name << "] broadcasting over " << v.ndim << " dimensions on a GPU; at most " << kMaxStridedDims;
  for (int k = 0; k < in.size(); ++k) {
    if (v.access[k] != Access::kAny) continue;
    const int64_t inner = strides.step[k].back();
    v.access[k] = inner == 1 ? Access::kRows : inner == 0 ? Access::kRepeated : Access::kAny;
  }
  v.width = Width(in, v.access, strides, out);

  std::string signature = p.Signature() + "|" + N(v.out_dtype) + (v.add ? "+" : "=") + (v.large ? "L" : "") + N(v.ndim) + "w" +
                          N(v.width);  // unroll follows from all of these
  for (size_t k = 0; k < v.dtypes.size(); ++k) signature += "," + N(v.dtypes[k]) + static_cast<char>(v.access[k]);
  const rtc::Kernel& kernel = rtc::FindKernel(signature, [&](rtc::Kernel* k) {
    v.unroll = UnrollFor(p, v);
    k->name = p.name;
    k->source = ProgramText(p, v);
    k->per_thread = v.width * v.unroll;
  });

  rtc::Arguments args;
  for (const TBlob& b : in) args.Add(b.dptr);
  args.Add(out.dptr).Add(total);
  for (int i = 0; i < p.numbers; ++i) {
    if (p.compute >= kI32)
      args.Add(IntegerNumber(p.compute, numbers[i]));
    else
      args.Add(p.compute == kF32 ? static_cast<double>(static_cast<float>(numbers[i])) : numbers[i]);
  }
  for (int d = 1; d < v.ndim; ++d) {
    if (v.large) {
      args.Add(strides.dim[d]).Add(int64_t{0}).Add(int64_t{0});
    } else {
      const rtc::FastDivisor divisor(strides.dim[d]);
      args.Add(divisor.divisor).Add(divisor.multiplier).Add(divisor.shift);
    }
  }
  for (const auto& steps : strides.step)
    for (int64_t s : steps) args.Add(s);
  rtc::Launch(kernel, rtc::Cover((total + kernel.per_thread - 1) / kernel.per_thread), &args, run);
}

}  // namespace pointwise
}  // namespace mxnet
