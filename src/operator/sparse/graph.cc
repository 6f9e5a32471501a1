#include "operator/sparse/graph.h"

#include <algorithm>

namespace mxnet {
namespace sparse {

void NeedStorages(const KernelArgs& args, int csr) {
  const std::vector<std::string> names = args.attrs->op->ListInputs(*args.attrs);
  for (int i = 0; i < args.in.size(); ++i) {
    const StorageType wanted = i < csr ? StorageType::kCSR : StorageType::kDense;
    const StorageType given = args.in[i].sparse ? args.in[i].sparse->storage : StorageType::kDense;
    MXNET_CHECK_KIND(given == wanted, Value) << "[" << args.attrs->op->name << "] " << names[static_cast<size_t>(i)] << " is "
                                             << StorageTypeName(given) << "; accepted: " << StorageTypeName(wanted);
  }
}

void RefuseDense(KernelArgs& args) { NeedStorages(args); }

bool AllInt64(const Attrs& attrs, std::vector<int>* in, std::vector<int>* out) {
  const std::vector<std::string> names = attrs.op->ListInputs(attrs);
  for (size_t i = 0; i < in->size(); ++i) AssignType(attrs, i < names.size() ? names[i].c_str() : "an input", &(*in)[i], kInt64);
  for (int& t : *out) AssignType(attrs, "output", &t, kInt64);
  return true;
}

std::vector<std::string> NamesWithList(std::vector<std::string> first, const char* name, int n) {
  for (int i = 0; i < n; ++i) first.push_back(name + std::to_string(i));
  return first;
}

}  // namespace sparse
}  // namespace mxnet
