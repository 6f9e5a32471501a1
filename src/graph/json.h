// A small strict JSON reader for symbol files, and string quoting for writing them.
#ifndef MXNET_GRAPH_JSON_H_
#define MXNET_GRAPH_JSON_H_

#include <string>
#include <utility>
#include <vector>

namespace mxnet {

struct Op;

struct JsonValue {
  enum Type { kNull, kBool, kNumber, kString, kArray, kObject };
  Type type = kNull;
  bool boolean = false;
  double number = 0;
  std::string text;                                        // kString
  std::vector<JsonValue> items;                            // kArray
  std::vector<std::pair<std::string, JsonValue>> members;  // kObject, in file order

  /* Null when there is no such member or this is no object. */
  const JsonValue* Find(const std::string& key) const;
  /* Throws Error(kValue) "[symbol file] WHAT must be ..." unless this is an integer in [low,
   * high]. */
  int64_t Int(const char* what, int64_t low, int64_t high) const;
  const std::string& String(const char* what) const;
  const std::vector<JsonValue>& Array(const char* what) const;
};

/* Throws Error(kValue) with the byte offset on anything that is not exactly one JSON value. Nesting
 * is limited to 200. */
JsonValue ParseJson(const std::string& text);
/* "text" with quotes and escapes. */
std::string QuoteJson(const std::string& text);
/* What symbol files call an operator. NumPy's operators that 1.9.1 calls _np_NAME have the name
 * _npi_NAME in 2.0, whose files graphs under NumPy's rules (`np_shape`) mostly go to. */
std::string NameInFiles(const Op& op, bool np_shape);

}  // namespace mxnet
#endif  // MXNET_GRAPH_JSON_H_
