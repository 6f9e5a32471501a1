/* Pieces of protobuf's wire format that several messages of onnx.proto have. */
#ifndef MXNET_ONNX_WIRE_H_
#define MXNET_ONNX_WIRE_H_

#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

namespace mxnet {
namespace onnx {

using WireMessage = protozero::pbf_reader;

/* A repeated number: one by one, or packed. */
template <typename T, typename One, typename Packed>
void ReadRepeated(WireMessage* r, std::vector<T>* into, One one, Packed packed) {
  if (r->wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (auto v : packed(r)) into->push_back(static_cast<T>(v));
  } else {
    into->push_back(static_cast<T>(one(r)));
  }
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
