/* The table as data: what records, symbolic differentiation and run-time compilation read. */
#ifndef MXNET_OPERATOR_POINTWISE_ROWS_H_
#define MXNET_OPERATOR_POINTWISE_ROWS_H_

#include <string>
#include <vector>

#include "operator/pointwise/loops/table.h"

namespace mxnet {
namespace pointwise {

struct Row {
  const char* name;
  char types;  // 'F', 'I', 'B'
  const char* expression;
  const char* uses;           // unary: "X" "Y" "XY" "C" "Z" "P" "XG" "YG"; binary: "L" "G" "Z"
  const char* derivative[2];  // [1]: d/db of binary rows
  const char* records;
  bool exact() const { return types != 'F'; }
  bool gate() const { return uses[0] != '\0' && uses[1] == 'G'; }
};
/* REQUIRES: 0 <= row < kEndInteger. */
const Row& GetRow(int row);
/* Row of that name or -1. */
int FindRow(const std::string& name);

/* An operator that computes a row. */
struct RowRecord {
  std::string how;                 // as in table.h
  bool full = false;               // Precision::kFull
  std::vector<std::string> names;  // the record's, then its aliases
};
std::vector<RowRecord> RecordsOf(int row);

}  // namespace pointwise
}  // namespace mxnet
#endif  // MXNET_OPERATOR_POINTWISE_ROWS_H_
