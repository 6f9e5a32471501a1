/* Protobuf's wire format, as far as onnx.proto needs it. */
#ifndef MXNET_ONNX_FILE_WIRE_H_
#define MXNET_ONNX_FILE_WIRE_H_

#include <algorithm>
#include <cstring>
#include <map>
#include <protozero/exception.hpp>
#include <protozero/types.hpp>
#include <protozero/varint.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "ndarray/stored_file.h"

namespace mxnet {
namespace onnx {

/* Where a field's bytes lie. */
struct Piece {
  size_t begin = 0, size = 0;
};

/*
 * A message, which is read field by field: what is skipped, as weights are, is never in memory.
 * After next() each field is taken by one of the functions below it. Throws protozero::exception
 * for what is malformed, Error(kIO) where the file has changed. INVARIANT: at_ <= end_.
 */
class WireMessage {
 public:
  using Type = protozero::pbf_wire_type;
  explicit WireMessage(StoredBytes* bytes) : WireMessage(bytes, {0, bytes->size()}) {}
  WireMessage(StoredBytes* bytes, Piece piece) : bytes_(bytes), at_(piece.begin), end_(piece.begin + piece.size) {}
  bool next() {
    if (empty()) return false;
    const auto key = static_cast<uint32_t>(Varint());
    tag_ = key >> 3;
    type_ = static_cast<Type>(key & 7);
    if (tag_ == 0 || (tag_ >= 19000 && tag_ <= 19999)) throw protozero::invalid_tag_exception{};
    const bool known = type_ == Type::varint || type_ == Type::fixed64 || type_ == Type::length_delimited || type_ == Type::fixed32;
    if (!known) throw protozero::unknown_pbf_wire_type_exception{};
    return true;
  }
  uint32_t tag() const { return tag_; }
  Type wire_type() const { return type_; }
  bool empty() const { return at_ == end_; }
  void skip() {
    if (type_ == Type::varint)
      Varint();
    else if (type_ == Type::length_delimited)
      get_piece();
    else
      Take(type_ == Type::fixed64 ? 8 : 4);
  }
  int64_t get_int64() { return static_cast<int64_t>(Varint()); }
  int32_t get_int32() { return static_cast<int32_t>(Varint()); }
  float get_float() { return Number<float>(); }
  Piece get_piece() {
    const uint64_t size = Varint();
    if (size > end_ - at_) throw protozero::end_of_buffer_exception{};
    return Take(static_cast<size_t>(size));
  }
  std::string get_string() {
    const Piece piece = get_piece();
    std::string text(piece.size, '\0');
    bytes_->CopyTo(&text[0], piece.begin, piece.size);
    return text;
  }
  WireMessage get_message() { return Within(get_piece()); }
  WireMessage Within(Piece piece) const { return WireMessage(bytes_, piece); }
  /* A number without a field's key before it: an integer is a varint, others are their bytes. */
  template <typename T>
  T Number() {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Varint());
    } else {
      T value;
      const Piece piece = Take(sizeof value);
      std::memcpy(&value, bytes_->Few(piece.begin, piece.size), sizeof value);
      return value;
    }
  }
  /* Goes on behind the next byte, if it is this one. */
  bool SkipByte(unsigned byte) {
    if (empty() || *bytes_->Few(at_, 1) != static_cast<char>(byte)) return false;
    ++at_;
    return true;
  }

 private:
  uint64_t Varint() {
    const size_t most = std::min<size_t>(protozero::max_varint_length, end_ - at_);
    const char* const begin = bytes_->Few(at_, most);
    const char* next = begin;
    const uint64_t value = protozero::decode_varint(&next, begin + most);
    at_ += static_cast<size_t>(next - begin);
    return value;
  }
  Piece Take(size_t size) {
    if (size > end_ - at_) throw protozero::end_of_buffer_exception{};
    at_ += size;
    return {at_ - size, size};
  }

  StoredBytes* bytes_;
  size_t at_, end_;
  uint32_t tag_ = 0;
  Type type_ = Type::unknown;
};

/* A repeated number: packed, or one by one with the field's key before each. Of those that follow
 * one another all are read: Python's protobuf writes hundreds of thousands so. Integers are of
 * `Number` uint64_t, whatever the field's type. */
template <typename Number, typename T>
void ReadRepeated(WireMessage* r, std::vector<T>* into) {
  if (r->wire_type() == WireMessage::Type::length_delimited) {
    const Piece piece = r->get_piece();
    if (!std::is_integral_v<Number>) into->reserve(into->size() + piece.size / sizeof(Number));
    for (WireMessage packed = r->Within(piece); !packed.empty();) into->push_back(static_cast<T>(packed.Number<Number>()));
    return;
  }
  const unsigned key = r->tag() << 3 | static_cast<unsigned>(r->wire_type());
  do {
    into->push_back(static_cast<T>(r->Number<Number>()));
  } while (key < 128 && r->SkipByte(key));
}

inline void ReadInts(WireMessage* r, std::vector<int64_t>* into) { ReadRepeated<uint64_t>(r, into); }
inline void ReadFloats(WireMessage* r, std::vector<float>* into) { ReadRepeated<float>(r, into); }

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
#endif  // MXNET_ONNX_FILE_WIRE_H_
