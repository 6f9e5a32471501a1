#include "io/data_iter.h"

#include <algorithm>

#include "io/register_iter.h"

namespace mxnet {
namespace {

std::vector<const IterRecord*>& Records() {
  static auto* records = new std::vector<const IterRecord*>;  // outlives every static object
  return *records;
}

}  // namespace

const std::vector<const IterRecord*>& IterRecord::All() { return Records(); }

const IterRecord* IterRecord::Find(const std::string& name) {
  for (const IterRecord* record : Records())
    if (record->name == name) return record;
  return nullptr;
}

IterRecord& IterRecord::Register(const std::string& name) {
  auto* record = new IterRecord;
  record->name = name;
  auto& all = Records();
  all.insert(std::find_if(all.begin(), all.end(), [&](const IterRecord* other) { return other->name > name; }), record);
  return *record;
}

void CheckNotNegative(const std::string& function, const ParamTable& table, const IterArguments& given) {
  for (const ParamInfo& field : table.Infos())
    for (const auto& argument : given) {
      if (argument.first != field.name || field.type.find("(non-negative)") == std::string::npos) continue;
      MXNET_CHECK_KIND(argument.second.find('-') == std::string::npos, Value)
          << "[" << function << "] " << field.name << "=" << argument.second << "; accepted: 0 or more";
    }
}

MXNET_REGISTER_PARAM(BatchParam);
MXNET_REGISTER_PARAM(PrefetchParam);

}  // namespace mxnet
