#include "operator/sparse/graph.h"

#include <algorithm>

namespace mxnet {
namespace sparse {

void NeedStorages(const Attrs& attrs, const StorageTypes& in, int csr) {
  const std::vector<std::string> names = attrs.op->ListInputs(attrs);
  for (size_t i = 0; i < in.size(); ++i) {
    const StorageType wanted = static_cast<int>(i) < csr ? StorageType::kCSR : StorageType::kDense;
    MXNET_CHECK_KIND(in[i] == wanted, Value) << "[" << attrs.op->name << "] " << (i < names.size() ? names[i] : "an input") << " is "
                                             << StorageTypeName(in[i]) << "; accepted: " << StorageTypeName(wanted);
  }
}

void RefuseDense(KernelArgs& args) {
  NeedStorages(*args.attrs, StorageTypes(static_cast<size_t>(args.in.size()), StorageType::kDense), 1);
}

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
