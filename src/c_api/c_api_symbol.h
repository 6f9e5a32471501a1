/* Symbol handles and the packing that the symbol files of the C ABI share. */
#ifndef MXNET_C_API_C_API_SYMBOL_H_
#define MXNET_C_API_C_API_SYMBOL_H_

#include <map>
#include <string>
#include <vector>

#include "c_api/c_api_common.h"
#include "mxnet/graph.h"

namespace mxnet {

inline Symbol* AsSymbol(SymbolHandle h) {
  MXNET_CHECK_KIND(h != nullptr, Value) << "[c_api] got a null symbol handle";
  return static_cast<Symbol*>(h);
}

inline std::vector<std::string> Names(uint32_t count, const char* const* names, const char* what) {
  NeedTexts(count, names, what);
  return std::vector<std::string>(names, names + count);
}

/* Shapes by name: of input i, data[idx[i]] to data[idx[i + 1]]. `who`: in messages. */
inline std::map<std::string, Shape> GivenShapes(const char* who, uint32_t count, const char** names, const int64_t* data,
                                                const uint32_t* idx) {
  NeedTexts(count, names, "inputs' names");
  Need(count, idx, "positions of shapes");
  Need(count > 0 ? idx[count] : 0, data, "dimensions");
  std::map<std::string, Shape> shapes;
  for (uint32_t i = 0; i < count; ++i) {
    MXNET_CHECK_KIND(idx[i] <= idx[i + 1], Value)
        << "[" << who << "] shape " << i << " has dimensions " << idx[i] << " to " << idx[i + 1] << " of the list";
    shapes[names[i]] = Shape(std::vector<int64_t>(data + idx[i], data + idx[i + 1]));
  }
  return shapes;
}

/* Hands out a list of strings. */
inline void GiveStrings(std::vector<std::string> strings, uint32_t* out_size, const char*** out) {
  ApiStore& store = ApiStore::Get();
  store.strings = std::move(strings);
  *out_size = static_cast<uint32_t>(store.strings.size());
  *out = store.Point();
}

inline const char* GiveText(std::string text) {
  ApiStore& store = ApiStore::Get();
  store.text = std::move(text);
  return store.text.c_str();
}

/* Attributes that users write without the underscores of the file format: lr_mult is kept as
 * __lr_mult__. */
bool IsHiddenAttr(const std::string& key);

}  // namespace mxnet

#endif  // MXNET_C_API_C_API_SYMBOL_H_
