/*
 * What onnxruntime has for texts, and skl2onnx writes: tokens of strings, and their hashes.
 */
#include "onnx/convert/text/text_tokens.h"

#include <algorithm>
#include <cstring>

#include "onnx/convert/operands.h"
#include "onnx/convert/text/text_regex.h"

namespace mxnet {
namespace onnx {

namespace {

using Characters = std::vector<uint32_t>;

std::string StringOf(const Characters& text, size_t begin, size_t end) {
  std::string s;
  for (size_t i = begin; i < end; ++i) AppendCharacter(text[i], &s);
  return s;
}

/* Cuts strings into tokens: what an expression finds, what lies between separators, or characters.
 * Tokens are as long as possible, and none is empty. */
class Cutter {
 public:
  Cutter(const std::vector<std::string>& separators, const std::string& expression, int64_t shortest)
      : find_(separators.empty()),
        characters_(find_ ? expression == "." : separators.size() == 1 && separators[0].empty()),
        shortest_(static_cast<size_t>(std::max<int64_t>(shortest, 1))) {
    if (characters_) return;  // "." is each character here, also the end of a line
    if (find_)
      patterns_.emplace_back(expression);
    else
      for (const std::string& s : separators) patterns_.emplace_back(s);
  }

  std::vector<std::string> Cut(const std::string& s) const {
    const Characters text = CharactersOf(s);
    std::vector<std::string> tokens;
    if (characters_) {
      for (size_t i = 0; i < text.size(); ++i) Add(text, i, i + 1, &tokens);
    } else if (find_) {
      for (size_t at = 0, begin = 0, end = 0; patterns_[0].Find(text, at, &begin, &end); at = std::max(end, begin + 1)) {
        Add(text, begin, end, &tokens);
        if (begin >= text.size()) break;
      }
    } else {
      Between(text, 0, &tokens);
    }
    return tokens;
  }

 private:
  void Add(const Characters& text, size_t begin, size_t end, std::vector<std::string>* tokens) const {
    if (end >= begin + shortest_) tokens->push_back(StringOf(text, begin, end));
  }

  /* A piece between two separators is cut at the next kind of separators. One that is empty takes a
   * character with it. */
  void Between(const Characters& text, size_t kind, std::vector<std::string>* tokens) const {
    if (kind == patterns_.size()) return Add(text, 0, text.size(), tokens);
    size_t at = 0, begin = 0, end = 0;
    const auto piece = [&](size_t to) {
      if (to > at) Between(Characters(text.begin() + static_cast<int64_t>(at), text.begin() + static_cast<int64_t>(to)), kind + 1, tokens);
    };
    while (at < text.size() && patterns_[kind].Find(text, at, &begin, &end) && begin < text.size()) {
      piece(begin);
      at = std::max(end, begin + 1);
    }
    piece(text.size());
  }

  const bool find_, characters_;
  const size_t shortest_;
  std::vector<Regex> patterns_;
};

void Tokenizer(Call& c) {
  const bool mark = c.Attr("mark", int64_t{0}) != 0;
  const int64_t shortest = c.Attr("mincharnum", int64_t{1});
  const std::string pad = c.Attr("pad_value", ""), expression = c.Attr("tokenexp", "");
  const std::vector<std::string> separators = c.Attr("separators", std::vector<std::string>{});
  if (separators.empty() && expression.empty()) c.Refuse("neither separators nor tokenexp are given");
  if (shortest < 1) c.Refuse("mincharnum is " + Text(shortest) + "; accepted: numbers from 1 on");
  const Shape& shape = c.in(0).shape();
  if (shape.ndim() < 1 || shape.ndim() > 2) c.Refuse("the input has shape " + shape.str() + "; accepted: (n,), (n, m)");
  const Cutter cutter(separators, expression, shortest);
  std::vector<std::vector<std::string>> all;
  size_t most = 0;
  for (const std::string& s : c.Strings(0)) {
    all.push_back(cutter.Cut(s));
    most = std::max(most, all.back().size());
  }
  const size_t width = most && mark ? most + 2 : most;
  std::vector<std::string> made;
  made.reserve(all.size() * width);
  for (size_t i = 0; width && i < all.size(); ++i) {
    if (mark) made.emplace_back(1, '\2');  // begin and end of a text
    made.insert(made.end(), all[i].begin(), all[i].end());
    if (mark) made.emplace_back(1, '\3');
    made.resize((i + 1) * width, pad);
  }
  std::vector<int64_t> dims = DimsOf(shape);
  dims.push_back(static_cast<int64_t>(width));
  c.Out(StringsValue(Shape(dims), std::move(made)));
}

/* MurmurHash3 of 32 bits, by Austin Appleby, who gave it to the public domain. */
uint32_t Murmur(const char* data, size_t size, uint32_t seed) {
  const auto turned = [](uint32_t v, int bits) { return v << bits | v >> (32 - bits); };
  const auto mixed = [&](uint32_t k) { return turned(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
  uint32_t hash = seed;
  for (size_t i = 0; i < size; i += 4) {
    uint32_t k = 0;
    const size_t count = std::min<size_t>(4, size - i);
    for (size_t b = 0; b < count; ++b) k |= static_cast<uint32_t>(static_cast<unsigned char>(data[i + b])) << (8 * b);
    hash ^= mixed(k);
    if (count == 4) hash = turned(hash, 13) * 5 + 0xe6546b64u;
  }
  hash ^= static_cast<uint32_t>(size);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

/* Of strings, or of the bytes of numbers. */
void MurmurHash3(Call& c) {
  const bool positive = c.Attr("positive", int64_t{1}) != 0;
  const uint32_t seed = static_cast<uint32_t>(c.Attr("seed", int64_t{0}));
  const Value& x = c.in(0);
  std::vector<uint32_t> hashes;
  if (x.kind == Value::kStrings) {
    for (const std::string& s : *x.strings) hashes.push_back(Murmur(s.data(), s.size(), seed));
  } else {
    const NDArray& known = c.Known(0);
    const size_t size = DTypeSize(known.dtype());
    if (size < 4) c.Refuse(std::string("the input is ") + DTypeName(known.dtype()) + "; accepted: strings, numbers of 32 and 64 bits");
    const char* const bytes = known.data().dptr<const char>();
    for (int64_t i = 0; i < x.size(); ++i) hashes.push_back(Murmur(bytes + static_cast<size_t>(i) * size, size, seed));
  }
  c.Out(c.Tensor(x.shape(), positive ? kUint32 : kInt32, hashes.data()));
}

}  // namespace

Rules TokenRules() {
  return {{"com.microsoft", "Tokenizer", 1, kNewest, Tokenizer, nullptr},
          {"com.microsoft", "MurmurHash3", 1, kNewest, MurmurHash3, nullptr}};
}

}  // namespace onnx
}  // namespace mxnet
