/* Pieces of protobuf's wire format that several messages of onnx.proto have. */
#ifndef MXNET_ONNX_WIRE_H_
#define MXNET_ONNX_WIRE_H_

#include <cstring>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace mxnet {
namespace onnx {

using WireMessage = protozero::pbf_reader;

/* The number of a field that is there again; *at moves on. As `Number` is written: a varint, or its
 * bytes. */
template <typename Number>
Number NextNumber(const char** at, const char* end) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(protozero::decode_varint(at, end));
  } else {
    Number value;
    if (end - *at < static_cast<int64_t>(sizeof value)) throw protozero::end_of_buffer_exception{};
    std::memcpy(&value, *at, sizeof value);
    *at += sizeof value;
    return value;
  }
}

/* A repeated number: packed, or one by one with the field's tag before each. Of those that follow
 * one another all are read: Python's protobuf writes hundreds of thousands so. */
template <typename T, typename One, typename Packed>
void ReadRepeated(WireMessage* r, std::vector<T>* into, One one, Packed packed) {
  using Number = decltype(one(r));
  const auto type = r->wire_type();
  if (type == protozero::pbf_wire_type::length_delimited) {
    for (auto v : packed(r)) into->push_back(static_cast<T>(v));
    return;
  }
  const auto key = static_cast<unsigned>(r->tag()) << 3 | static_cast<unsigned>(type);
  into->push_back(static_cast<T>(one(r)));
  const auto rest = r->data();
  const char *at = rest.data(), *const end = at + rest.size();
  if (key >= 128 || at == end || *at != static_cast<char>(key)) return;
  constexpr size_t kLeastBytes = 1 + (std::is_integral_v<Number> ? 1 : sizeof(Number));
  into->reserve(into->size() + rest.size() / kLeastBytes);
  while (at != end && *at == static_cast<char>(key)) {
    ++at;
    into->push_back(static_cast<T>(NextNumber<Number>(&at, end)));
  }
  *r = WireMessage(at, static_cast<size_t>(end - at));
}

inline void ReadInts(WireMessage* r, std::vector<int64_t>* into) {
  ReadRepeated(
      r, into, [](WireMessage* m) { return m->get_int64(); }, [](WireMessage* m) { return m->get_packed_int64(); });
}

inline void ReadFloats(WireMessage* r, std::vector<float>* into) {
  ReadRepeated(
      r, into, [](WireMessage* m) { return m->get_float(); }, [](WireMessage* m) { return m->get_packed_float(); });
}

/* StringStringEntryProto */
inline void ReadPair(WireMessage r, std::map<std::string, std::string>* into) {
  std::string key, value;
  while (r.next()) switch (r.tag()) {
      case 1: key = r.get_string(); break;
      case 2: value = r.get_string(); break;
      default: r.skip();
    }
  (*into)[key] = value;
}

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_WIRE_H_
