#include "onnx/convert/text/text_regex.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "mxnet/error.h"

namespace mxnet {
namespace onnx {

namespace {

constexpr uint32_t kLargest = 0x10FFFF;
constexpr size_t kMaxSteps = 20000;
constexpr int kMaxDepth = 200, kMaxRepeat = 1000;  // RE2's limit of repetitions

bool IsWord(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

}  // namespace

std::vector<uint32_t> CharactersOf(const std::string& s) {
  std::vector<uint32_t> result;
  for (size_t i = 0; i < s.size();) {
    const uint32_t lead = static_cast<unsigned char>(s[i]);
    const size_t more = lead >= 0xF0 && lead < 0xF8 ? 3 : lead >= 0xE0 && lead < 0xF0 ? 2 : lead >= 0xC0 && lead < 0xE0 ? 1 : 0;
    uint32_t c = more == 0 ? lead : lead & (0x3Fu >> more);
    bool whole = i + more < s.size() || more == 0;
    for (size_t k = 1; whole && k <= more; ++k) {
      const uint32_t next = static_cast<unsigned char>(s[i + k]);
      whole = (next & 0xC0) == 0x80;
      c = c << 6 | (next & 0x3F);
    }
    result.push_back(whole ? c : lead);
    i += whole ? more + 1 : 1;
  }
  return result;
}

void AppendCharacter(uint32_t c, std::string* s) {
  if (c < 0x80) {
    *s += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  static const uint32_t kLead[] = {0, 0xC0, 0xE0, 0xF0};
  *s += static_cast<char>(kLead[more] | c >> (6 * more));
  for (int k = more - 1; k >= 0; --k) *s += static_cast<char>(0x80 | (c >> (6 * k) & 0x3F));
}

bool Regex::Set::Has(uint32_t c) const {
  for (const Range& r : ranges)
    if (c >= r.low && c <= r.high) return !inverted;
  return inverted;
}

/* Descends through the pattern; each function gives the first and last step of what it read. */
class RegexParser {
 public:
  RegexParser(const std::string& pattern, Regex* regex) : pattern_(CharactersOf(pattern)), regex_(*regex) {}

  /* The step where a match begins. */
  int Run() {
    const Part all = Choice();
    if (at_ < pattern_.size()) Refuse("there is no ( for it");
    Link(all.last, Add(Regex::kDone));
    return all.first;
  }

 private:
  using Set = Regex::Set;
  struct Part {
    int first, last;
  };

  [[noreturn]] void Refuse(const std::string& what) const {
    MXNET_THROW(Value) << "[onnx] regular expression, character " << at_ << ": " << what;
    std::abort();
  }
  bool More() const { return at_ < pattern_.size(); }
  bool Accept(char c) {
    if (!More() || pattern_[at_] != static_cast<uint32_t>(c)) return false;
    ++at_;
    return true;
  }
  uint32_t Take() {
    if (!More()) Refuse("the pattern ends too early");
    return pattern_[at_++];
  }
  int Add(Regex::Kind kind) {
    if (regex_.steps_.size() >= kMaxSteps) Refuse("the pattern is too large");
    Regex::Step step;
    step.kind = kind;
    regex_.steps_.push_back(step);
    return static_cast<int>(regex_.steps_.size()) - 1;
  }
  void Link(int from, int to) { regex_.steps_[static_cast<size_t>(from)].next = to; }
  Part Nothing() {
    const int step = Add(Regex::kJump);
    return {step, step};
  }

  Part Choice() {
    if (++depth_ > kMaxDepth) Refuse("groups are nested too deeply");
    Part all = Sequence();
    while (Accept('|')) {
      const Part more = Sequence();
      const int fork = Add(Regex::kFork), join = Add(Regex::kJump);
      Link(fork, all.first);
      regex_.steps_[static_cast<size_t>(fork)].other = more.first;
      Link(all.last, join);
      Link(more.last, join);
      all = {fork, join};
    }
    --depth_;
    return all;
  }

  Part Sequence() {
    Part all = Nothing();
    while (More() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      const Part next = Repeated();
      Link(all.last, next.first);
      all.last = next.last;
    }
    return all;
  }

  Part Repeated() {
    const size_t begin = at_;
    Part part = Atom();
    while (More()) {
      int low = 0, high = -1;
      if (Accept('*')) {
      } else if (Accept('+')) {
        low = 1;
      } else if (Accept('?')) {
        high = 1;
      } else if (!Counts(&low, &high)) {
        break;
      }
      Accept('?');  // as few as possible: the same strings match as wholes
      part = Times(part, begin, low, high);
    }
    return part;
  }

  /* {2}, {2,}, {2,5}; other braces are characters. */
  bool Counts(int* low, int* high) {
    const size_t begin = at_;
    const auto number = [this](int* n) {
      const size_t from = at_;
      *n = 0;
      while (More() && pattern_[at_] >= '0' && pattern_[at_] <= '9')
        *n = std::min(*n * 10 + static_cast<int>(pattern_[at_++] - '0'), kMaxRepeat + 1);
      return at_ > from;
    };
    if (Accept('{') && number(low)) {
      *high = *low;
      if (Accept(',') && !number(high)) *high = -1;
      if (Accept('}')) {
        if (*low > kMaxRepeat || *high > kMaxRepeat || (*high >= 0 && *high < *low)) Refuse("repetitions are 0 to 1000 in ascending order");
        return true;
      }
    }
    at_ = begin;
    return false;
  }

  /* The part, `low` to `high` times; it is read again for each copy. */
  Part Times(Part part, size_t begin, int low, int high) {
    const size_t end = at_;
    bool fresh = true;
    const auto copy = [&] {
      if (fresh) {
        fresh = false;
        return part;
      }
      at_ = begin;
      return Atom();
    };
    if (times_ > 3) Refuse("repetitions of repetitions are nested too deeply");
    ++times_;
    Part all = Nothing();
    const auto append = [&](Part more) {
      Link(all.last, more.first);
      all.last = more.last;
    };
    for (int i = 0; i < low; ++i) append(copy());
    const int optional = high < 0 ? 1 : high - low;
    for (int i = 0; i < optional; ++i) {
      const Part more = copy();
      const int fork = Add(Regex::kFork), join = Add(Regex::kJump);
      Link(fork, more.first);
      regex_.steps_[static_cast<size_t>(fork)].other = join;
      Link(more.last, high < 0 ? fork : join);
      append({fork, join});
    }
    --times_;
    at_ = end;
    return all;
  }

  Part OfSet(Set set) {
    regex_.sets_.push_back(std::move(set));
    const int step = Add(Regex::kSet);
    regex_.steps_[static_cast<size_t>(step)].set = static_cast<int>(regex_.sets_.size()) - 1;
    return {step, step};
  }
  Part OfKind(Regex::Kind kind) {
    const int step = Add(kind);
    return {step, step};
  }
  Part One(uint32_t c) { return OfSet(Set{{{c, c}}, false}); }

  Part Atom() {
    const uint32_t c = Take();
    switch (c) {
      case '(': return Group();
      case '[': return OfSet(Brackets());
      case '.': return OfSet(Set{{{'\n', '\n'}}, true});
      case '^': return OfKind(Regex::kBegin);
      case '$': return OfKind(Regex::kEnd);
      case '*':
      case '+':
      case '?': --at_; Refuse("nothing is repeated");
      case '\\': return Escaped();
      default: return One(c);
    }
  }

  Part Group() {
    if (Accept('?')) {
      if (Accept('P')) {
      }
      if (Accept('<')) {
        while (Take() != '>') {
        }
      } else if (!Accept(':')) {
        Refuse("flags, and looking ahead or back; accepted: (?:...), (?P<name>...)");
      }
    }
    const Part inside = Choice();
    if (!Accept(')')) Refuse("a ) is missing");
    return inside;
  }

  Part Escaped() {
    const uint32_t c = pattern_.size() > at_ ? pattern_[at_] : 0;
    if (c == 'b' || c == 'B' || c == 'A' || c == 'z') {
      ++at_;
      return OfKind(c == 'b' ? Regex::kWord : c == 'B' ? Regex::kNoWord : c == 'A' ? Regex::kBegin : Regex::kEnd);
    }
    Set set;
    const uint32_t one = Escape(&set);
    return set.ranges.empty() ? One(one) : OfSet(std::move(set));
  }

  /* Behind a backslash: one character, or a set of them. */
  uint32_t Escape(Set* set) {
    const uint32_t c = Take();
    const char lower = static_cast<char>(c < 128 ? c | 0x20 : 0);
    if (lower == 'd' || lower == 'w' || lower == 's') {
      if (lower == 'd') set->ranges = {{'0', '9'}};
      if (lower == 'w') set->ranges = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
      if (lower == 's') set->ranges = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
      set->inverted = c != static_cast<uint32_t>(lower);
      return 0;
    }
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case 'f': return '\f';
      case 'v': return '\v';
      case 'a': return '\a';
      case 'x': return Hexadecimal();
      default: break;
    }
    if (c < 128 && IsWord(c)) Refuse("an escape that is not known");
    return c;
  }

  uint32_t Hexadecimal() {
    const bool braces = Accept('{');
    uint32_t value = 0;
    for (int digits = 0; braces ? !Accept('}') : digits < 2; ++digits) {
      const uint32_t c = Take(), lower = c | 0x20;
      if (c >= '0' && c <= '9')
        value = value * 16 + (c - '0');
      else if (lower >= 'a' && lower <= 'f')
        value = value * 16 + (lower - 'a' + 10);
      else
        Refuse("not a hexadecimal digit");
      if (value > kLargest) Refuse("there is no such character");
    }
    return value;
  }

  /* [...], behind the first bracket. */
  Set Brackets() {
    Set all;
    all.inverted = Accept('^');
    for (bool first = true; first || !Accept(']'); first = false) {
      if (More() && pattern_[at_] == '[' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] == ':') {
        Named(&all);
        continue;
      }
      Set set;
      uint32_t low = Take();
      if (low == '\\') low = Escape(&set);
      if (!set.ranges.empty()) {
        AddRanges(set, &all);
        continue;
      }
      uint32_t high = low;
      if (More() && pattern_[at_] == '-' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] != ']') {
        ++at_;
        high = Take();
        if (high == '\\') high = Escape(&set);
        if (high < low || !set.ranges.empty()) Refuse("a range whose ends are not in order");
      }
      all.ranges.push_back({low, high});
    }
    return all;
  }

  void AddRanges(const Set& set, Set* all) {
    if (!set.inverted) {
      all->ranges.insert(all->ranges.end(), set.ranges.begin(), set.ranges.end());
      return;
    }
    uint32_t next = 0;  // ranges are in order
    for (const Regex::Range& r : set.ranges) {
      if (r.low > next) all->ranges.push_back({next, r.low - 1});
      next = r.high + 1;
    }
    all->ranges.push_back({next, kLargest});
  }

  void Named(Set* all) {
    static const std::vector<std::pair<std::string, std::vector<Regex::Range>>> kNames = {
        {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
        {"digit", {{'0', '9'}}},
        {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
        {"upper", {{'A', 'Z'}}},
        {"lower", {{'a', 'z'}}},
        {"space", {{'\t', '\r'}, {' ', ' '}}},
        {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
        {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
        {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
    };
    at_ += 2;
    std::string name;
    while (More() && pattern_[at_] != ':') name += static_cast<char>(Take());
    if (!Accept(':') || !Accept(']')) Refuse("a :] is missing");
    for (const auto& known : kNames) {
      if (known.first != name) continue;
      all->ranges.insert(all->ranges.end(), known.second.begin(), known.second.end());
      return;
    }
    Refuse("[:" + name + ":] is not known");
  }

  const std::vector<uint32_t> pattern_;
  Regex& regex_;
  size_t at_ = 0;
  int depth_ = 0, times_ = 0;
};

Regex::Regex(const std::string& pattern) {
  RegexParser parser(pattern, this);
  first_ = parser.Run();
}

void Regex::Front::Clear() {
  list.clear();
  std::fill(seen.begin(), seen.end(), 0);
}

bool Regex::Reads(int i, uint32_t c) const {
  const Step& step = steps_[static_cast<size_t>(i)];
  return step.kind == kSet && sets_[static_cast<size_t>(step.set)].Has(c);
}

/* Adds what can be reached without reading a character. */
void Regex::Follow(int from, const std::vector<uint32_t>& text, size_t at, Front* to) const {
  const bool before = at > 0 && IsWord(text[at - 1]), behind = at < text.size() && IsWord(text[at]);
  to->open.assign(1, from);
  while (!to->open.empty()) {
    const int i = to->open.back();
    to->open.pop_back();
    if (i < 0 || to->seen[static_cast<size_t>(i)]) continue;
    to->seen[static_cast<size_t>(i)] = 1;
    const Step& step = steps_[static_cast<size_t>(i)];
    switch (step.kind) {
      case kSet:
      case kDone: to->list.push_back(i); continue;
      case kBegin:
        if (at != 0) continue;
        break;
      case kEnd:
        if (at != text.size()) continue;
        break;
      case kWord:
        if (before == behind) continue;
        break;
      case kNoWord:
        if (before != behind) continue;
        break;
      case kFork: to->open.push_back(step.other); break;
      case kJump: break;
    }
    to->open.push_back(step.next);
  }
}

bool Regex::Matches(const std::string& s) const {
  const std::vector<uint32_t> text = CharactersOf(s);
  Front now(steps_.size()), next(steps_.size());
  Follow(first_, text, 0, &now);
  for (size_t at = 0; at < text.size() && !now.list.empty(); ++at) {
    next.Clear();
    for (int i : now.list)
      if (Reads(i, text[at])) Follow(steps_[static_cast<size_t>(i)].next, text, at + 1, &next);
    std::swap(now, next);
  }
  return std::any_of(now.list.begin(), now.list.end(), [this](int i) { return steps_[static_cast<size_t>(i)].kind == kDone; });
}

bool Regex::Find(const std::vector<uint32_t>& text, size_t from, size_t* begin, size_t* end) const {
  Front now(steps_.size()), next(steps_.size());
  std::vector<size_t> starts, next_starts;  // of each step in the lists, in ascending order: who comes first begins first
  bool found = false;
  for (size_t at = from;; ++at) {
    if (!found) Follow(first_, text, at, &now);
    starts.resize(now.list.size(), at);
    for (size_t k = 0; k < starts.size(); ++k)
      if (steps_[static_cast<size_t>(now.list[k])].kind == kDone && (!found || starts[k] <= *begin))
        *begin = starts[k], *end = at, found = true;
    if (at >= text.size()) return found;
    next.Clear(), next_starts.clear();
    for (size_t k = 0; k < starts.size() && (!found || starts[k] <= *begin); ++k) {
      if (Reads(now.list[k], text[at])) Follow(steps_[static_cast<size_t>(now.list[k])].next, text, at + 1, &next);
      next_starts.resize(next.list.size(), starts[k]);
    }
    if (found && next.list.empty()) return true;
    std::swap(now, next), std::swap(starts, next_starts);
  }
}

}  // namespace onnx
}  // namespace mxnet
