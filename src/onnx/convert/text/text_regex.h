/*
 * Regular expressions in the syntax of RE2, matched against whole strings, or found in them, in
 * time proportional to the string's length (no backtracking, so that no pattern can hang or exhaust
 * the stack).
 */
#ifndef MXNET_ONNX_CONVERT_TEXT_TEXT_REGEX_H_
#define MXNET_ONNX_CONVERT_TEXT_TEXT_REGEX_H_

#include <cstdint>
#include <string>
#include <vector>

namespace mxnet {
namespace onnx {

/* Characters of UTF-8; a byte that belongs to none counts as one. */
std::vector<uint32_t> CharactersOf(const std::string& s);
void AppendCharacter(uint32_t c, std::string* s);

class Regex {
 public:
  /* Throws Error(kValue) with the position of what is not served. */
  explicit Regex(const std::string& pattern);
  /* Is the whole string, UTF-8, matched? */
  bool Matches(const std::string& text) const;
  /* The match that begins first at or behind `from`, and the longest of those: characters [begin,
   * end) of the text. False: there is none. */
  bool Find(const std::vector<uint32_t>& text, size_t from, size_t* begin, size_t* end) const;

 private:
  friend class RegexParser;
  struct Range {
    uint32_t low, high;
  };
  /* Characters in one of the ranges, or in none (`inverted`). */
  struct Set {
    std::vector<Range> ranges;
    bool inverted = false;
    bool Has(uint32_t c) const;
  };
  enum Kind : int { kSet, kFork, kJump, kBegin, kEnd, kWord, kNoWord, kDone };
  struct Step {
    Kind kind;
    int next = -1, other = -1;  // numbers of steps; `other` of kFork
    int set = -1;
  };
  /* Steps that read a character next (or are done), each once. */
  struct Front {
    std::vector<int> list;
    std::vector<char> seen;
    std::vector<int> open;  // kept from call to call
    explicit Front(size_t steps) : seen(steps, 0) {}
    void Clear();
  };
  void Follow(int step, const std::vector<uint32_t>& text, size_t at, Front* to) const;
  bool Reads(int step, uint32_t c) const;
  std::vector<Step> steps_;
  std::vector<Set> sets_;
  int first_ = 0;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONVERT_TEXT_TEXT_REGEX_H_
