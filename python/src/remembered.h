/* Attributes of operators whose parameters are numbers, remembered by these numbers: writing them
 * as text and parsing that takes longer than most calls. */
#ifndef MXNET_PYTHON_REMEMBERED_H_
#define MXNET_PYTHON_REMEMBERED_H_

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "binding.h"

namespace mxnet {
namespace python {

inline std::string Text(const int64_t* v, size_t n) {
  std::string text = "(";
  for (size_t i = 0; i < n; ++i) text += std::to_string(v[i]) + ",";
  return text + ")";
}

inline std::string NumberText(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

/* Whether a whole number that became a double is that number for certain. */
inline bool IsExact(double value) { return value > -9007199254740992.0 && value < 9007199254740992.0; }

/* For this thread; `make` writes the parameters down where the numbers are new. */
template <typename F>
AttrsPtr Remembered(const Op* op, const int64_t* key, size_t n, F&& make) {
  static thread_local std::unordered_map<std::string, AttrsPtr> cache;
  static thread_local std::string all;
  all.assign(reinterpret_cast<const char*>(&op), sizeof(op));
  all.append(reinterpret_cast<const char*>(key), n * sizeof(*key));
  auto it = cache.find(all);
  if (it != cache.end()) return it->second;
  AttrsPtr attrs = MakeAttrs(op, make());
  if (cache.size() >= 4096) cache.clear();
  cache.emplace(all, attrs);
  return attrs;
}

/* Of _zeros, _ones and _full; the last with a value. */
inline AttrsPtr FilledAttrs(const Op* op, const int64_t* shape, size_t ndim, int dtype, const double* value) {
  std::vector<int64_t> key(shape, shape + ndim);
  key.push_back(dtype);
  if (value) {
    key.push_back(0);
    std::memcpy(&key.back(), value, sizeof(*value));
  }
  return Remembered(op, key.data(), key.size(), [&] {
    AttrDict dict = {{"shape", Text(shape, ndim)}, {"dtype", DTypeName(dtype)}};
    if (value) dict["value"] = NumberText(*value);
    return dict;
  });
}

}  // namespace python
}  // namespace mxnet
#endif  // MXNET_PYTHON_REMEMBERED_H_
