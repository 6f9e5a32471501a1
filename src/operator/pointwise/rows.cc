#include "operator/pointwise/rows.h"

#include <sstream>
#include <unordered_map>

#include "mxnet/error.h"

namespace mxnet {
namespace pointwise {
namespace {

#define MXNET_ROW_UNARY(name, types, expression, uses, derivative, records) \
  {#name, #types[0], #expression, #uses, {#derivative, nullptr}, records},
#define MXNET_ROW_PARAM(name, types, expression, uses, derivative) MXNET_ROW_UNARY(name, types, expression, uses, derivative, "")
#define MXNET_ROW_BINARY(name, types, expression, kind, da, db, records) {#name, #types[0], #expression, #kind, {#da, #db}, records},
#define MXNET_ROW_INTEGER(name, types, expression, records) {#name, #types[0], #expression, "Z", {nullptr, nullptr}, records},
const Row kRows[] = {MXNET_UNARY_EXACT(MXNET_ROW_UNARY) MXNET_UNARY_EXP(MXNET_ROW_UNARY) MXNET_UNARY_TRIG(MXNET_ROW_UNARY)
                         MXNET_UNARY_PARAM(MXNET_ROW_PARAM) MXNET_BINARY_ARITHMETIC(MXNET_ROW_BINARY) MXNET_BINARY_MATH(MXNET_ROW_BINARY)
                             MXNET_BINARY_INTEGER(MXNET_ROW_INTEGER)};

}  // namespace

const Row& GetRow(int row) { return kRows[row]; }

std::vector<RowRecord> RecordsOf(int row) {
  std::vector<RowRecord> records;
  std::istringstream groups(kRows[row].records);
  for (std::string group; std::getline(groups, group, ';');) {
    RowRecord record;
    std::istringstream words(group);
    words >> record.how;
    if (record.how == "full") record.full = static_cast<bool>(words >> record.how);
    for (std::string name; words >> name;) record.names.push_back(name);
    MXNET_CHECK(!record.names.empty() && record.how.back() == ':')
        << "[pointwise] row " << kRows[row].name << " has the records `" << group << "`; accepted: how: name alias ...";
    record.how.pop_back();
    records.push_back(record);
  }
  return records;
}

int FindRow(const std::string& name) {
  static const auto* index = [] {
    auto* m = new std::unordered_map<std::string, int>();
    for (int i = 0; i < kEndInteger; ++i) (*m)[kRows[i].name] = i;
    (*m)["divide"] = k_div;  // the functions behind `/` and unary identity have names of their own in texts
    return m;
  }();
  auto it = index->find(name);
  return it == index->end() ? -1 : it->second;
}

}  // namespace pointwise
}  // namespace mxnet
