#include "operator/pointwise/gpu_functions.h"

#include <vector>

#include "mxnet/error.h"
#include "operator/pointwise/gpu_activation.h"
#include "operator/pointwise/rows.h"
#include "rtc/source.h"

namespace mxnet {
namespace pointwise {
namespace {

// Activations with a slope, or made for networks: their CPU loops are in activation_variants.cc.
struct ActivationText {
  const char *name, *forward, *derivative;  // of x
};
const ActivationText kActivationTexts[] = {
    {"leaky", "x > T(0) ? x : x * p", "x > T(0) ? T(1) : p"},
    {"elu", "x > T(0) ? x : p * expm1(x)", "x > T(0) ? T(1) : p * exp(x)"},
    {"selu", "T(1.0507009873554804934193349852946) * (x > T(0) ? x : T(1.6732632423543772848170429916717) * expm1(x))",
     "T(1.0507009873554804934193349852946) * (x > T(0) ? T(1) : T(1.6732632423543772848170429916717) * exp(x))"},
    {"gelu", "x * normal_cdf(x)", "normal_cdf(x) + x * T(0.39894228040143268) * exp(T(-0.5) * x * x)"},
};
const ActivationText& ActivationOf(const Function& f) { return kActivationTexts[f.row - kActivations]; }

std::vector<const char*> Operands(const Function& f) {
  if (f.row >= kActivations) return f.gradient ? std::vector<const char*>{"g", "x"} : std::vector<const char*>{"x"};
  const Row& row = GetRow(f.row);
  if (f.row >= kFirstBinary + 1) return f.gradient ? std::vector<const char*>{"g", "a", "b"} : std::vector<const char*>{"a", "b"};
  if (!f.gradient) return {"x"};
  switch (row.uses[0]) {
    case 'X': return row.uses[1] == 'Y' ? std::vector<const char*>{"g", "x", "y"} : std::vector<const char*>{"g", "x"};
    case 'Y': return {"g", "y"};
    default: return {"g"};
  }
}

}  // namespace

const char* ComputeName(int compute) {
  constexpr const char* names[] = {"float", "double", "int", "long long", "unsigned long long"};
  return names[compute];
}

std::string DeviceFunctions(int compute) {
  return std::string("namespace mx { typedef ") + ComputeName(compute) + " T; }\n" +
         rtc::Source({compute >= kI32 ? "operator/pointwise/gpu_integers.cuh" : "operator/pointwise/functions/float_functions.cuh",
                      "operator/pointwise/gpu_program.cuh"});
}

Function ActivationFunction(int type, bool gradient) {
  constexpr int rows[] = {k_relu, k_sigmoid, k_tanh, k_softrelu, k_softsign, k_log_sigmoid, k_mish};  // in the order of nn::ActivationType
  constexpr int count = sizeof(rows) / sizeof(rows[0]);
  return {type < count ? rows[type] : kActivations + type - count, gradient, 0};
}

std::string DeviceName(const Function& f) {
  if (f.row >= kActivations) return std::string(f.gradient ? "grad_" : "act_") + ActivationOf(f).name;
  const std::string row = GetRow(f.row).name;
  return f.gradient ? "grad_" + row + (f.side ? "_1" : "") : "row_" + row;
}

std::string DeviceDefinition(const Function& f, bool rounded) {
  std::string text =
      std::string("namespace mx {\n") + (rounded ? "namespace rounded {\n" : "") + "__device__ __forceinline__ T " + DeviceName(f) + "(";
  for (const char* operand : Operands(f)) text += std::string("T ") + operand + ", ";
  text += "T p, T q, T r) { return ";
  const bool activation = f.row >= kActivations;
  if (f.gradient) {
    const std::string derivative = "(" + std::string(activation ? ActivationOf(f).derivative : GetRow(f.row).derivative[f.side]) + ")";
    text += (!activation && GetRow(f.row).gate() ? derivative + " == T(0) ? T(0) : " : std::string()) + "g * " + derivative;
  }
  if (!f.gradient) text += activation ? ActivationOf(f).forward : GetRow(f.row).expression;
  return text + "; }\n" + (rounded ? "}\n" : "") + "}  // namespace mx\n";
}

int OperandCount(const Function& f) { return static_cast<int>(Operands(f).size()); }

bool HasFunction(const Function& f, int compute) {
  if (f.row >= kActivations) return compute < kI32;
  const Row& row = GetRow(f.row);
  if (compute >= kI32) return row.exact() && !f.gradient;
  if (row.types == 'B') return false;
  if (!f.gradient) return true;
  const bool binary = f.row > kFirstBinary;
  if (binary) return row.uses[0] == 'L';
  return f.side == 0 && (row.uses[0] == 'X' || row.uses[0] == 'Y' || row.uses[0] == 'C');
}

}  // namespace pointwise
}  // namespace mxnet
