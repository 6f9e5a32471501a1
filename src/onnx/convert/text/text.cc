/*
 * Strings. They are known while the graph is made, and so are the results.
 */
#include <locale.h>

#include <algorithm>
#include <cwctype>
#include <map>
#include <set>

#include "onnx/convert/operands.h"
#include "onnx/convert/text/text_regex.h"
#include "onnx/convert/text/text_tokens.h"

namespace mxnet {
namespace onnx {

namespace {

/* Characters of UTF-8 in the other case. */
std::string InCase(const std::string& s, bool upper) {
  static const locale_t kUnicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (kUnicode == nullptr) {
    std::string ascii = s;
    for (char& ch : ascii)
      if (upper ? ch >= 'a' && ch <= 'z' : ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch ^ 0x20);
    return ascii;
  }
  const auto turned = [upper](uint32_t ch) {
    const auto wide = static_cast<wint_t>(ch);
    return static_cast<uint32_t>(upper ? towupper_l(wide, kUnicode) : towlower_l(wide, kUnicode));
  };
  std::string result;
  for (uint32_t ch : CharactersOf(s)) AppendCharacter(turned(ch), &result);
  return result;
}

void Concat(Call& c) {
  const std::vector<std::string>&a = c.Strings(0), &b = c.Strings(1);
  const Shape shape = BroadcastOf(c, c.in(0).shape(), c.in(1).shape());
  // which string of either stands at each place
  const auto places = [&](const Value& v) { return IntegersOf(c.BroadcastTo(c.Reshape(CountUp(c, v.size()), v.shape()), shape)); };
  const std::vector<int64_t> left = places(c.in(0)), right = places(c.in(1));
  std::vector<std::string> strings;
  for (size_t i = 0; i < left.size(); ++i) strings.push_back(a[static_cast<size_t>(left[i])] + b[static_cast<size_t>(right[i])]);
  c.Out(StringsValue(shape, std::move(strings)));
}

/* At white space, of which that at the ends does not count. */
std::vector<std::string> SplitAtSpaces(const std::string& s, int64_t most) {
  std::vector<std::string> parts;
  const char* const spaces = " \t\n\v\f\r";
  size_t at = s.find_first_not_of(spaces);
  while (at != std::string::npos) {
    size_t end = s.find_first_of(spaces, at);
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) end = std::string::npos;
    parts.push_back(s.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : s.find_first_not_of(spaces, end);
  }
  return parts;
}

std::vector<std::string> SplitAt(const std::string& s, const std::string& delimiter, int64_t most) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (;;) {
    const size_t end = most >= 0 && static_cast<int64_t>(parts.size()) == most ? std::string::npos : s.find(delimiter, at);
    parts.push_back(s.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return parts;
    at = end + delimiter.size();
  }
}

void Split(Call& c) {
  const std::string delimiter = c.Attr("delimiter", "");
  const int64_t most = c.Attr("maxsplit", static_cast<int64_t>(-1));
  std::vector<std::vector<std::string>> all;
  std::vector<int64_t> counts;
  size_t longest = 0;
  for (const std::string& s : c.Strings(0)) {
    all.push_back(delimiter.empty() ? SplitAtSpaces(s, most) : SplitAt(s, delimiter, most));
    counts.push_back(static_cast<int64_t>(all.back().size()));
    longest = std::max(longest, all.back().size());
  }
  std::vector<std::string> strings;
  for (std::vector<std::string>& parts : all) {
    parts.resize(longest);
    strings.insert(strings.end(), parts.begin(), parts.end());
  }
  std::vector<int64_t> dims = DimsOf(c.in(0).shape());
  dims.push_back(static_cast<int64_t>(longest));
  c.Out(0, StringsValue(Shape(dims), std::move(strings)));
  if (c.wants(1)) c.Out(1, c.Tensor(c.in(0).shape(), kInt64, counts.data()));
}

void Normalizer(Call& c) {
  const std::string action = c.Attr("case_change_action", "NONE");
  const bool sensitive = c.Attr("is_case_sensitive", static_cast<int64_t>(0)) != 0;
  c.Ignore("locale");  // letters are those of Unicode
  std::set<std::string> stops;
  for (const std::string& s : c.Attr("stopwords", std::vector<std::string>())) stops.insert(sensitive ? s : InCase(s, false));
  const Shape& shape = c.in(0).shape();
  if (action != "NONE" && action != "LOWER" && action != "UPPER")
    c.Refuse("case_change_action=" + action + "; accepted: NONE, LOWER, UPPER");
  if (shape.ndim() != 1 && !(shape.ndim() == 2 && shape[0] == 1))
    c.Refuse("the input has shape " + shape.str() + "; accepted: (n,), (1, n)");
  std::vector<std::string> kept;
  for (const std::string& s : c.Strings(0))
    if (!stops.count(sensitive ? s : InCase(s, false))) kept.push_back(action == "NONE" ? s : InCase(s, action == "UPPER"));
  if (kept.empty()) kept.emplace_back();
  const int64_t count = static_cast<int64_t>(kept.size());
  c.Out(StringsValue(shape.ndim() == 1 ? Shape{count} : Shape{1, count}, std::move(kept)));
}

void FullMatch(Call& c) {
  const std::string pattern = c.Attr("pattern", "");
  const Regex regex(pattern);
  std::vector<char> matches;
  for (const std::string& s : c.Strings(0)) matches.push_back(regex.Matches(s) ? 1 : 0);
  c.Out(c.Tensor(c.in(0).shape(), kBool, matches.data()));
}

/* The n-grams of a TfIdfVectorizer: from their words to the place of their count. */
using Grams = std::map<std::vector<int64_t>, size_t>;

/* Words become numbers; one that no n-gram has becomes -1. */
std::vector<int64_t> Words(const Call& c, const std::vector<std::string>& strings, std::vector<int64_t>* pool) {
  std::map<std::string, int64_t> numbers;
  for (const std::string& s : strings) pool->push_back(numbers.emplace(s, static_cast<int64_t>(numbers.size())).first->second);
  std::vector<int64_t> words;
  if (strings.empty()) return c.Ints(0);
  for (const std::string& s : c.Strings(0)) {
    const auto found = numbers.find(s);
    words.push_back(found == numbers.end() ? -1 : found->second);
  }
  return words;
}

Grams GramsOf(const Call& c, const std::vector<int64_t>& pool, int64_t shortest, int64_t longest) {
  const std::vector<int64_t> counts = c.Attr("ngram_counts", std::vector<int64_t>()),
                             indexes = c.Attr("ngram_indexes", std::vector<int64_t>());
  Grams grams;
  size_t id = 0;
  const int64_t total = static_cast<int64_t>(pool.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t n = static_cast<int64_t>(i) + 1, begin = counts[i], end = i + 1 < counts.size() ? counts[i + 1] : total;
    if (begin < 0 || end < begin || end > total || (end - begin) % n != 0)
      c.Refuse("ngram_counts=" + Text(counts) + " of a pool of " + Text(total) + " words");
    for (int64_t at = begin; at < end; at += n, ++id) {
      if (id >= indexes.size() || indexes[id] < 0)
        c.Refuse("ngram_indexes has " + Text(static_cast<int64_t>(indexes.size())) + " numbers; accepted: one from 0 on for each n-gram");
      if (n >= shortest && n <= longest) grams.emplace(std::vector<int64_t>(pool.begin() + at, pool.begin() + at + n), id);
    }
  }
  return grams;
}

void TfIdf(Call& c) {
  const std::string mode = c.Attr("mode", "");
  const int64_t shortest = c.Attr("min_gram_length", static_cast<int64_t>(1)), longest = c.Attr("max_gram_length", static_cast<int64_t>(1));
  const int64_t skips = c.Attr("max_skip_count", static_cast<int64_t>(0));
  const std::vector<float> weights = c.Attr("weights", std::vector<float>());
  std::vector<int64_t> pool = c.Attr("pool_int64s", std::vector<int64_t>());
  const std::vector<int64_t> words = Words(c, c.Attr("pool_strings", std::vector<std::string>()), &pool);
  const std::vector<int64_t> indexes = c.Attr("ngram_indexes", std::vector<int64_t>());
  const Shape& shape = c.in(0).shape();
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") c.Refuse("mode=" + mode + "; accepted: TF, IDF, TFIDF");
  if (shape.ndim() > 2 || shortest < 1 || longest < shortest || skips < 0 || indexes.empty())
    c.Refuse("the input has shape " + shape.str() + ", n-grams " + Text(shortest) + " to " + Text(longest) + " words and " + Text(skips) +
             " skips");
  const Grams grams = GramsOf(c, pool, shortest, longest);
  const int64_t places = *std::max_element(indexes.begin(), indexes.end()) + 1;
  const int64_t rows = shape.ndim() == 2 ? shape[0] : 1, length = shape.ndim() == 0 ? 1 : shape[shape.ndim() - 1];
  if (places > (int64_t{1} << 28)) c.Refuse("ngram_indexes go up to " + Text(places - 1) + "; accepted: up to 2^28");
  if (!weights.empty() && weights.size() != indexes.size())
    c.Refuse("there are " + Text(static_cast<int64_t>(weights.size())) + " weights for " + Text(static_cast<int64_t>(indexes.size())) +
             " n-grams");
  std::vector<float> result(static_cast<size_t>(rows * places), 0);
  std::vector<float> scale(static_cast<size_t>(places), 1);
  for (size_t i = 0; i < weights.size(); ++i) scale[static_cast<size_t>(indexes[i])] = weights[i];
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t distance = 1; distance <= std::min(skips + 1, std::max<int64_t>(length, 1)); ++distance)
      for (int64_t begin = 0; begin < length; ++begin) {
        std::vector<int64_t> gram;
        for (int64_t at = begin; at < length && static_cast<int64_t>(gram.size()) < longest; at += distance) {
          gram.push_back(words[static_cast<size_t>(row * length + at)]);
          if (gram.size() == 1 && distance > 1) continue;  // single words have no distance
          const auto found = grams.find(gram);
          if (found != grams.end()) result[static_cast<size_t>(row * places + indexes[found->second])] += 1;
        }
      }
  for (size_t i = 0; i < result.size(); ++i) {
    const float weight = scale[i % static_cast<size_t>(places)];
    if (mode == "IDF") result[i] = result[i] > 0 ? weight : 0;
    if (mode == "TFIDF") result[i] *= weight;
  }
  c.Out(c.Tensor(shape.ndim() == 2 ? Shape{rows, places} : Shape{places}, kFloat32, result.data()));
}

}  // namespace

const Rules& TextRules() {
  static const Rules rules = [] {
    Rules made = {
        {"", "StringConcat", 20, kNewest, Concat, nullptr},         {"", "StringSplit", 20, kNewest, Split, nullptr},
        {"", "StringNormalizer", 10, kNewest, Normalizer, nullptr}, {"", "RegexFullMatch", 20, kNewest, FullMatch, nullptr},
        {"", "TfIdfVectorizer", 9, kNewest, TfIdf, nullptr},
    };
    for (const Rules& more : {TokenRules(), DecodingRules()}) made.insert(made.end(), more.begin(), more.end());
    return made;
  }();
  return rules;
}

}  // namespace onnx
}  // namespace mxnet
