#include "rtc/body_kernel.h"

#include <cctype>
#include <set>
#include <sstream>

#include "mxnet/error.h"

namespace mxnet {
namespace rtc {
namespace {

const char* TypeInCuda(const BodyArgument& a) {
  switch (a.dtype) {
    case kFloat32: return "float";
    case kFloat64: return "double";
    case kFloat16: return "__half";
    case kUint8: return "unsigned char";
    case kInt32: return "int";
    case kInt8: return "signed char";
    case kInt64: return "long long";
    default:
      MXNET_THROW(Type) << "[rtc] the array " << a.name << " is of " << DTypeName(a.dtype)
                        << "; accepted: float32, float64, float16, uint8, int32, int8, int64";
  }
}

void CheckName(const std::string& name, std::set<std::string>* taken) {
  bool good = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
  for (char c : name) good = good && (std::isalnum(static_cast<unsigned char>(c)) || c == '_');
  MXNET_CHECK_KIND(good, Value) << "[rtc] the name '" << name << "'; accepted: letters, digits and underscores, as in C";
  MXNET_CHECK_KIND(taken->insert(name).second, Value) << "[rtc] the name " << name << " is given twice; accepted: distinct names";
}

void Declare(const BodyArgument& a, std::ostream* os) {
  *os << "  constexpr int " << a.name << "_ndim = " << a.shape.ndim() << ";\n  constexpr long long " << a.name << "_dims[] = {";
  for (int i = 0; i < a.shape.ndim(); ++i) *os << (i ? ", " : "") << a.shape[i];
  *os << (a.shape.ndim() == 0 ? "1" : "") << "};\n";
}

std::vector<UserArgument> Signature(const std::vector<BodyArgument>& inputs, const std::vector<BodyArgument>& outputs) {
  std::vector<UserArgument> signature;
  for (const auto& a : inputs) signature.push_back({true, true, a.dtype});
  for (const auto& a : outputs) signature.push_back({true, false, a.dtype});
  return signature;
}

}  // namespace

std::string KernelAround(const std::string& name, const std::vector<BodyArgument>& inputs, const std::vector<BodyArgument>& outputs,
                         const std::string& body) {
  std::set<std::string> taken;
  CheckName(name, &taken);
  std::ostringstream os;
  bool half = false;
  for (const auto* list : {&inputs, &outputs})
    for (const auto& a : *list) half = half || a.dtype == kFloat16;
  if (half) os << "#include <cuda_fp16.h>\n";
  os << "extern \"C\" __global__ void " << name << "(";
  bool first = true;
  for (const auto* list : {&inputs, &outputs})
    for (const auto& a : *list) {
      CheckName(a.name, &taken);
      os << (first ? "" : ", ") << (list == &inputs ? "const " : "") << TypeInCuda(a) << "* " << a.name;
      first = false;
    }
  os << ") {\n";
  for (const auto* list : {&inputs, &outputs})
    for (const auto& a : *list) Declare(a, &os);
  os << "#line 1 \"" << name << "\"\n" << body << "\n}\n";
  return os.str();
}

BodyKernel::BodyKernel(const std::string& name, const std::vector<BodyArgument>& inputs, const std::vector<BodyArgument>& outputs,
                       const std::string& body)
    : name_(name), num_inputs_(inputs.size()), num_outputs_(outputs.size()) {
  auto module =
      std::make_shared<UserModule>(KernelAround(name, inputs, outputs, body), std::vector<std::string>(), std::vector<std::string>());
  kernel_.reset(new UserKernel(std::move(module), name, Signature(inputs, outputs)));
}

void BodyKernel::Launch(const std::vector<const NDArray*>& inputs, const std::vector<const NDArray*>& outputs,
                        const LaunchShape& shape) const {
  MXNET_CHECK_KIND(inputs.size() == num_inputs_ && outputs.size() == num_outputs_, Value)
      << "[rtc] " << name_ << " got " << inputs.size() << " inputs and " << outputs.size() << " outputs; accepted: " << num_inputs_
      << " and " << num_outputs_;
  std::vector<void*> values;
  for (const auto* list : {&inputs, &outputs})
    for (const NDArray* a : *list) values.push_back(const_cast<NDArray*>(a));
  MXNET_CHECK_KIND(!values.empty(), Value) << "[rtc] " << name_ << " has no array, so it is not known on which GPU it is to run";
  const Context where = static_cast<const NDArray*>(values[0])->ctx();
  MXNET_CHECK_KIND(where.is_gpu(), Value) << "[rtc] " << name_ << " got an array on " << where << "; accepted: arrays on one GPU";
  kernel_->Launch(where.dev_id, values.data(), shape);
}

}  // namespace rtc
}  // namespace mxnet
