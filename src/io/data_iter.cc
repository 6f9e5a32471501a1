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

MXNET_REGISTER_PARAM(BatchParam);
MXNET_REGISTER_PARAM(PrefetchParam);

}  // namespace mxnet
