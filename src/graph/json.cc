#include "graph/json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mxnet/error.h"

namespace mxnet {
namespace {

class Parser {
 public:
  explicit Parser(const std::string& s) : begin_(s.c_str()), p_(begin_), end_(begin_ + s.size()) {}

  JsonValue Document() {
    JsonValue v = Value(0);
    Space();
    if (p_ != end_) Fail("text after the end of the value");
    return v;
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    throw Error(Error::Kind::kValue, std::string("[symbol file] malformed JSON at byte ") + std::to_string(p_ - begin_) + ": " + what);
  }
  void Space() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r')) ++p_;
  }
  char Peek() {
    Space();
    if (p_ == end_) Fail("the text ends here");
    return *p_;
  }
  void Expect(char c, const char* what) {
    if (Peek() != c) Fail(what);
    ++p_;
  }
  bool Word(const char* w) {
    const size_t n = std::strlen(w);
    if (static_cast<size_t>(end_ - p_) < n || std::memcmp(p_, w, n) != 0) return false;
    p_ += n;
    return true;
  }

  JsonValue Value(int depth) {
    if (depth > 200) Fail("nested more than 200 deep");
    JsonValue v;
    switch (Peek()) {
      case '{':
        v.type = JsonValue::kObject;
        ++p_;
        if (Peek() == '}') {
          ++p_;
          return v;
        }
        while (true) {
          if (Peek() != '"') Fail("expected a quoted key");
          std::string key = String();
          Expect(':', "expected ':'");
          v.members.emplace_back(std::move(key), Value(depth + 1));
          if (Peek() == ',') {
            ++p_;
            continue;
          }
          Expect('}', "expected ',' or '}'");
          return v;
        }
      case '[':
        v.type = JsonValue::kArray;
        ++p_;
        if (Peek() == ']') {
          ++p_;
          return v;
        }
        while (true) {
          v.items.push_back(Value(depth + 1));
          if (Peek() == ',') {
            ++p_;
            continue;
          }
          Expect(']', "expected ',' or ']'");
          return v;
        }
      case '"':
        v.type = JsonValue::kString;
        v.text = String();
        return v;
      case 't':
      case 'f':
        v.type = JsonValue::kBool;
        v.boolean = *p_ == 't';
        if (!Word(v.boolean ? "true" : "false")) Fail("unknown word");
        return v;
      case 'n':
        if (!Word("null")) Fail("unknown word");
        return v;
      default: return Number();
    }
  }

  JsonValue Number() {
    const char* start = p_;
    const char* q = p_;
    if (q != end_ && *q == '-') ++q;
    const char* digits = q;
    while (q != end_ && *q >= '0' && *q <= '9') ++q;
    if (q == digits) Fail("expected a value");
    if (q != end_ && *q == '.') {
      ++q;
      while (q != end_ && *q >= '0' && *q <= '9') ++q;
    }
    if (q != end_ && (*q == 'e' || *q == 'E')) {
      ++q;
      if (q != end_ && (*q == '+' || *q == '-')) ++q;
      while (q != end_ && *q >= '0' && *q <= '9') ++q;
    }
    if (q - start > 400) Fail("number too long");
    JsonValue v;
    v.type = JsonValue::kNumber;
    v.number = std::strtod(std::string(start, q).c_str(), nullptr);
    p_ = q;
    return v;
  }

  unsigned Hex4() {
    if (end_ - p_ < 4) Fail("the text ends inside \\u");
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = *p_++;
      code = code * 16;
      if (c >= '0' && c <= '9')
        code += c - '0';
      else if (c >= 'a' && c <= 'f')
        code += c - 'a' + 10;
      else if (c >= 'A' && c <= 'F')
        code += c - 'A' + 10;
      else
        Fail("\\u needs four hexadecimal digits");
    }
    return code;
  }

  static void AppendUtf8(std::string* s, unsigned c) {
    if (c < 0x80) {
      s->push_back(static_cast<char>(c));
    } else if (c < 0x800) {
      s->push_back(static_cast<char>(0xC0 | (c >> 6)));
      s->push_back(static_cast<char>(0x80 | (c & 63)));
    } else if (c < 0x10000) {
      s->push_back(static_cast<char>(0xE0 | (c >> 12)));
      s->push_back(static_cast<char>(0x80 | ((c >> 6) & 63)));
      s->push_back(static_cast<char>(0x80 | (c & 63)));
    } else {
      s->push_back(static_cast<char>(0xF0 | (c >> 18)));
      s->push_back(static_cast<char>(0x80 | ((c >> 12) & 63)));
      s->push_back(static_cast<char>(0x80 | ((c >> 6) & 63)));
      s->push_back(static_cast<char>(0x80 | (c & 63)));
    }
  }

  std::string String() {
    ++p_;
    std::string s;
    while (true) {
      if (p_ == end_) Fail("the text ends inside a string");
      const char c = *p_++;
      if (c == '"') return s;
      if (c != '\\') {
        s.push_back(c);
        continue;
      }
      if (p_ == end_) Fail("the text ends inside a string");
      switch (*p_++) {
        case '"': s.push_back('"'); break;
        case '\\': s.push_back('\\'); break;
        case '/': s.push_back('/'); break;
        case 'b': s.push_back('\b'); break;
        case 'f': s.push_back('\f'); break;
        case 'n': s.push_back('\n'); break;
        case 'r': s.push_back('\r'); break;
        case 't': s.push_back('\t'); break;
        case 'u': {
          unsigned code = Hex4();
          if (code >= 0xD800 && code < 0xDC00) {
            if (!Word("\\u")) Fail("half of a surrogate pair");
            const unsigned low = Hex4();
            if (low < 0xDC00 || low > 0xDFFF) Fail("half of a surrogate pair");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
          }
          AppendUtf8(&s, code);
          break;
        }
        default: --p_; Fail("unknown escape");
      }
    }
  }

  const char* begin_;
  const char* p_;
  const char* end_;
};

}  // namespace

const JsonValue* JsonValue::Find(const std::string& key) const {
  for (const auto& m : members)
    if (m.first == key) return &m.second;
  return nullptr;
}

int64_t JsonValue::Int(const char* what, int64_t low, int64_t high) const {
  MXNET_CHECK_KIND(
      type == kNumber && number == std::floor(number) && number >= static_cast<double>(low) && number <= static_cast<double>(high), Value)
      << "[symbol file] " << what << " must be a whole number from " << low << " to " << high;
  return static_cast<int64_t>(number);
}

const std::string& JsonValue::String(const char* what) const {
  MXNET_CHECK_KIND(type == kString, Value) << "[symbol file] " << what << " must be a string";
  return text;
}

const std::vector<JsonValue>& JsonValue::Array(const char* what) const {
  MXNET_CHECK_KIND(type == kArray, Value) << "[symbol file] " << what << " must be a list";
  return items;
}

JsonValue ParseJson(const std::string& text) { return Parser(text).Document(); }

std::string QuoteJson(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': s += "\\\""; break;
      case '\\': s += "\\\\"; break;
      case '\n': s += "\\n"; break;
      case '\r': s += "\\r"; break;
      case '\t': s += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char code[8];
          std::snprintf(code, sizeof code, "\\u%04x", c);
          s += code;
        } else {
          s.push_back(c);
        }
    }
  }
  return s + "\"";
}

}  // namespace mxnet
