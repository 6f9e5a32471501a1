#include "rtc/user_module.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/device/device_interface.h"
#include "base/threads/fork_guard.h"
#include "mxnet/engine.h"
#include "mxnet/error.h"

namespace mxnet {
namespace rtc {
namespace {

ForkMutex* const g_loading = new ForkMutex(ForkLevel::kOperator);  // of all modules; workers launch until the end of the process

const ModuleHooks& Hooks() {
  const ModuleHooks* hooks = GpuInterface().user_modules.get();
  MXNET_CHECK(hooks) << "[rtc] CUDA kernels in a build without GPU support; accepted: a library built with USE_CUDA=ON";
  return *hooks;
}

// Does PTX define this kernel?
bool HasEntry(const std::string& ptx, const std::string& name) {
  static const char kEntry[] = ".entry ";
  for (size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at + 1)) {
    const size_t begin = at + sizeof(kEntry) - 1;
    if (ptx.compare(begin, name.size(), name) != 0) continue;
    const char next = begin + name.size() < ptx.size() ? ptx[begin + name.size()] : '(';
    if (next == '(' || next == ' ' || next == '\n' || next == '\r' || next == '\t') return true;
  }
  return false;
}

}  // namespace

UserModule::UserModule(const std::string& source, const std::vector<std::string>& options, const std::vector<std::string>& exports)
    : code_(Hooks().compile(source, options, exports)), exports_(exports) {}

std::string UserModule::Find(const std::string& name) const {
  const auto it = code_.mangled.find(name);
  if (it != code_.mangled.end()) return it->second;
  const bool text = code_.code.find(".version") != std::string::npos && code_.code.compare(0, 4, "\177ELF") != 0;
  if (text && !HasEntry(code_.code, name)) {
    std::string list;
    for (const auto& e : exports_) list += ", " + e;
    MXNET_THROW(Value) << "[rtc] the module has no kernel " << name << "; accepted: functions that are extern \"C\" __global__, and exports"
                       << (list.empty() ? " (none were given)" : list);
  }
  return name;
}

void* UserModule::Function(const std::string& mangled) {
  std::lock_guard<ForkMutex> lock(*g_loading);
  if (!loaded_) loaded_ = Hooks().load(code_);
  return Hooks().function(loaded_.get(), mangled);
}

UserKernel::UserKernel(std::shared_ptr<UserModule> module, const std::string& name, std::vector<UserArgument> arguments)
    : module_(std::move(module)), name_(name), mangled_(module_->Find(name)), arguments_(std::move(arguments)) {
  MXNET_CHECK_KIND(arguments_.size() <= Arguments::kMax, Value)
      << "[rtc] " << name << " with " << arguments_.size() << " arguments; accepted: at most " << Arguments::kMax;
  for (const auto& a : arguments_) DTypeSize(a.dtype);  // throws for what is none
}

void UserKernel::Launch(int dev_id, void* const* values, const LaunchShape& shape) const {
  const Context where = Context::GPU(dev_id);
  for (int k = 0; k < 3; ++k)
    MXNET_CHECK_KIND(shape.grid[k] > 0 && shape.block[k] > 0, Value)
        << "[rtc] " << name_ << " with grid (" << shape.grid[0] << ", " << shape.grid[1] << ", " << shape.grid[2] << ") and block ("
        << shape.block[0] << ", " << shape.block[1] << ", " << shape.block[2] << "); accepted: three numbers above 0 each";
  MXNET_CHECK_KIND(uint64_t{shape.block[0]} * shape.block[1] * shape.block[2] <= 1024 && shape.block[0] <= 1024 && shape.block[1] <= 1024,
                   Value)
      << "[rtc] " << name_ << " with block (" << shape.block[0] << ", " << shape.block[1] << ", " << shape.block[2]
      << "); accepted: at most 1024 threads";

  std::vector<NDArray> arrays(arguments_.size());
  std::vector<uint64_t> numbers(arguments_.size(), 0);
  std::vector<Var*> reads, writes;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const UserArgument& a = arguments_[i];
    MXNET_CHECK_KIND(values[i] != nullptr, Value) << "[rtc] argument " << i << " of " << name_ << " is a null pointer";
    if (!a.is_array) {
      std::memcpy(&numbers[i], values[i], DTypeSize(a.dtype));
      continue;
    }
    const NDArray& array = *static_cast<const NDArray*>(values[i]);
    MXNET_CHECK_KIND(!array.is_none(), Value) << "[rtc] argument " << i << " of " << name_ << " is an array without a value";
    MXNET_CHECK_KIND(array.storage_type() == StorageType::kDense, Type)
        << "[rtc] argument " << i << " of " << name_ << " is a sparse array; accepted: dense ones";
    MXNET_CHECK_KIND(array.dtype() == a.dtype, Type) << "[rtc] argument " << i << " of " << name_ << " is of " << DTypeName(array.dtype())
                                                     << "; accepted: " << DTypeName(a.dtype) << ", as the signature says";
    MXNET_CHECK_KIND(array.ctx() == where, Value)
        << "[rtc] argument " << i << " of " << name_ << " is on " << array.ctx() << "; accepted: arrays on " << where;
    arrays[i] = array.Detach();
    (a.is_const ? reads : writes).push_back(array.var());
  }
  std::sort(writes.begin(), writes.end());
  writes.erase(std::unique(writes.begin(), writes.end()), writes.end());
  reads.erase(std::remove_if(reads.begin(), reads.end(), [&](Var* v) { return std::binary_search(writes.begin(), writes.end(), v); }),
              reads.end());
  // The operation owns the module: a user may drop it before the launch has happened.
  Engine::Get()->PushSync(
      [module = module_, name = name_, mangled = mangled_, arrays, numbers, shape](RunContext run) {
        std::vector<void*> pointers(arrays.size());
        std::vector<void*> addresses(arrays.size());
        for (size_t i = 0; i < arrays.size(); ++i) {
          if (!arrays[i].is_none()) addresses[i] = arrays[i].data().dptr<void>();
          pointers[i] = arrays[i].is_none() ? const_cast<uint64_t*>(&numbers[i]) : static_cast<void*>(&addresses[i]);
        }
        Hooks().launch(module->Function(mangled), name, shape, pointers.data(), run);
      },
      where, reads, writes, FnProperty::kNormal, 0, "CudaKernel");
}

}  // namespace rtc
}  // namespace mxnet
