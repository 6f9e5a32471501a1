// What a search chooses of scores. No graph is known here.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "onnx/control/search.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

void PenalizeRepetition(const Tokens& tokens, float penalty, Scores* scores, float* row) {
  for (const int32_t token : std::set<int32_t>(tokens.begin(), tokens.end()))
    if (token >= 0 && token < scores->vocab) row[token] = row[token] < 0 ? row[token] * penalty : row[token] / penalty;
}

/* Tokens that would make n in a row which the text has already. */
void ForbidRepeats(const Tokens& tokens, size_t n, Scores* scores, float* row) {
  if (n > tokens.size()) return;
  const auto last = tokens.end() - static_cast<ptrdiff_t>(n - 1);
  for (auto it = tokens.begin(); it + static_cast<ptrdiff_t>(n) <= tokens.end(); ++it) {
    const int32_t next = it[static_cast<ptrdiff_t>(n - 1)];
    if (std::equal(last, tokens.end(), it) && next >= 0 && next < scores->vocab) row[next] = kLowest;
  }
}

void KeepMarked(const int32_t* mask, const Scores& scores, float* row) {
  for (int64_t v = 0; v < scores.vocab; ++v)
    if (mask[v] == 0) row[v] = kLowest;
}

/*
 * The rules of Whisper for times: they come in pairs, do not fall, and the first is within 50 steps
 * of the beginning; where all times together are likelier than any word, a time comes.
 */
class TimeRules {
 public:
  TimeRules(const SearchSettings& settings, int64_t vocab, float* row)
      : times_(settings.times), eos_(settings.eos), vocab_(vocab), first_(std::min(settings.times.first, vocab)), row_(row) {}

  void Apply(const Tokens& tokens) {
    const size_t length = tokens.size();
    size_t begin = 0;  // behind the first time
    while (begin < length && !IsTime(tokens[begin++])) {
    }
    for (const int64_t token : {times_.none, times_.text_alone}) Forbid(token, token + 1);
    if (length > begin)
      for (const int64_t token : {times_.start, times_.translate, times_.transcribe}) Forbid(token, token + 1);
    const bool last = IsTime(tokens.back()), before = length <= begin || IsTime(tokens[length - 2]);
    if (last && before) Forbid(first_, vocab_);
    if (last && !before) Forbid(0, eos_);
    const auto time = std::find_if(tokens.rbegin(), tokens.rend(), [&](int32_t t) { return IsTime(t); });
    if (time != tokens.rend()) Forbid(first_, last && !before ? *time : *time + 1);
    if (length == begin) Forbid(first_ + kMostOfFirst + 1, vocab_);
    PreferTimes();
  }

 private:
  static constexpr int64_t kMostOfFirst = 50;
  bool IsTime(int32_t token) const { return token >= times_.first; }
  void Forbid(int64_t begin, int64_t end) {
    for (int64_t v = std::max<int64_t>(begin, 0); v < std::min(end, vocab_); ++v) row_[v] = kLowest;
  }
  void PreferTimes() {
    if (first_ == vocab_) return;
    const float most = *std::max_element(row_ + first_, row_ + vocab_);
    float sum = 0;
    for (int64_t v = first_; v < vocab_; ++v)
      if (row_[v] > kLowest) sum += std::exp(row_[v] - most);
    if (sum > 0 && first_ > 0 && std::log(sum) + most > *std::max_element(row_, row_ + first_)) Forbid(0, first_);
  }

  const SearchSettings::Times& times_;
  const int64_t eos_, vocab_, first_;
  float* const row_;
};

/* Shares of scores, which are in any order. */
std::vector<float> Softmax(const std::vector<float>& scores) {
  const float most = *std::max_element(scores.begin(), scores.end());
  std::vector<float> shares;
  float sum = 0;
  for (const float s : scores) {
    shares.push_back(std::exp(s - most));
    sum += shares.back();
  }
  for (float& s : shares) s /= sum;
  return shares;
}

}  // namespace

void Adjust(const SearchSettings& settings, const std::vector<Tokens>& rows, int64_t step, Scores* scores) {
  for (int64_t i = 0; i < scores->rows; ++i) {
    const Tokens& tokens = rows[static_cast<size_t>(i)];
    const int64_t example = i / settings.beams;
    float* const row = scores->row(i);
    if (settings.repetition_penalty != 1) PenalizeRepetition(tokens, settings.repetition_penalty, scores, row);
    if (settings.ngram > 0) ForbidRepeats(tokens, static_cast<size_t>(settings.ngram), scores, row);
    if (!settings.vocab_mask.empty()) KeepMarked(settings.vocab_mask.data(), *scores, row);
    if (!settings.prefix_mask.empty() && step == 1) KeepMarked(settings.prefix_mask.data() + example * scores->vocab, *scores, row);
    if (static_cast<int64_t>(tokens.size()) < settings.min_length && settings.eos >= 0 && settings.eos < scores->vocab)
      row[settings.eos] = kLowest;
    if (settings.temperature != 1 && settings.temperature > 0)
      for (int64_t v = 0; v < scores->vocab; ++v) row[v] /= settings.temperature;
    if (settings.times.wanted) TimeRules(settings, scores->vocab, row).Apply(tokens);
    if (settings.custom && !settings.presence_mask.empty())
      for (int64_t v = 0; v < scores->vocab; ++v)
        row[v] -= static_cast<float>(settings.presence_mask[static_cast<size_t>(example * scores->vocab + v)]) * settings.presence_penalty;
  }
}

int32_t Largest(const float* scores, int64_t count) { return static_cast<int32_t>(std::max_element(scores, scores + count) - scores); }

std::vector<int64_t> LargestOf(const float* scores, int64_t size, int64_t count) {
  std::vector<int64_t> best;
  const size_t most = static_cast<size_t>(std::min(size, count));
  for (int64_t i = 0; i < size; ++i) {
    if (best.size() == most && !(scores[i] > scores[best.back()])) continue;
    if (best.size() == most) best.pop_back();
    const auto at = std::upper_bound(best.begin(), best.end(), i, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    best.insert(at, i);
  }
  return best;
}

// ---- Sampling

double Sampler::Uniform() {  // as std::generate_canonical has it in libstdc++, so that all platforms draw the same
  constexpr double kRange = std::minstd_rand0::max() - std::minstd_rand0::min() + 1.0;
  const double low = static_cast<double>(draw_() - std::minstd_rand0::min());
  const double high = static_cast<double>(draw_() - std::minstd_rand0::min());
  return (low + high * kRange) / (kRange * kRange);
}

/* Leaves the best tokens, whose shares add up to top_p. */
void Sampler::Filter(float* scores, int64_t vocab) const {
  std::vector<int64_t> order(static_cast<size_t>(vocab));
  std::iota(order.begin(), order.end(), 0);
  const bool falling = settings_.custom;
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return falling ? scores[a] > scores[b] : scores[a] < scores[b]; });
  std::vector<float> sorted;
  for (const int64_t v : order) sorted.push_back(scores[v]);
  const std::vector<float> shares = Softmax(sorted);
  float sum = 0;
  for (int64_t j = 0; j < vocab; ++j) {
    if (!falling && j > 0 && j >= vocab - settings_.min_kept) break;
    sum += shares[static_cast<size_t>(j)];
    if (falling ? j + 1 < vocab && sum > settings_.top_p : sum <= 1 - settings_.top_p)
      scores[order[static_cast<size_t>(j + falling)]] = settings_.filter_value;
  }
}

int32_t Sampler::Next(float* scores, int64_t vocab) {
  Filter(scores, vocab);
  const float most = *std::max_element(scores, scores + vocab);
  std::vector<double> sums;
  double sum = 0;
  for (int64_t v = 0; v < vocab; ++v) {
    sum += std::exp(scores[v] - most);
    sums.push_back(sum);
  }
  const auto at = std::upper_bound(sums.begin(), sums.end(), Uniform() * sum);
  return static_cast<int32_t>(std::min<ptrdiff_t>(at - sums.begin(), static_cast<ptrdiff_t>(vocab) - 1));
}

// ---- BeamSearch

BeamTexts::BeamTexts(const SearchSettings& settings)
    : settings_(settings), examples_(static_cast<size_t>(settings.batch)), open_(settings.batch) {}

float BeamTexts::Penalized(float sum, size_t length) const { return sum / std::pow(static_cast<float>(length), settings_.length_penalty); }

void BeamTexts::Add(Example* example, const Tokens& tokens, float sum) const {
  const float score = Penalized(sum, tokens.size());
  auto& texts = example->texts;
  if (static_cast<int64_t>(texts.size()) == settings_.beams) {
    if (score <= texts.back().score) return;
    texts.pop_back();
  }
  const auto at = std::find_if(texts.begin(), texts.end(), [&](const Text& t) { return score > t.score; });
  texts.insert(at, {tokens, score});
}

/* The best of the scores by which onnxruntime judges whether an example can improve: as many as an
 * example has, but from the place of half as many of each example before. So neighbours have a say;
 * with scores of its own other texts would come out. */
float BeamTexts::BestJudged(const std::vector<float>& scores, int64_t example) const {
  const auto at = scores.begin() + example * settings_.beams;
  return *std::max_element(at, at + std::min<ptrdiff_t>(2 * settings_.beams, scores.end() - at));
}

std::vector<BeamTexts::Next> BeamTexts::Step(const std::vector<Tokens>& rows, Scores* scores) {
  const int64_t beams = settings_.beams;
  std::vector<std::vector<int64_t>> all_best;
  std::vector<float> judged;  // scores of these, of all examples
  for (int64_t b = 0; b < settings_.batch; ++b) {
    all_best.push_back(LargestOf(scores->row(b * beams), beams * scores->vocab, 2 * beams));
    for (const int64_t at : all_best.back()) judged.push_back(scores->row(b * beams)[at]);
  }
  std::vector<Next> next;
  for (int64_t b = 0; b < settings_.batch; ++b) {
    Example& example = examples_[static_cast<size_t>(b)];
    if (example.done) {
      next.insert(next.end(), static_cast<size_t>(beams), {0, settings_.pad, 0});
      continue;
    }
    const float* const all = scores->row(b * beams);
    const std::vector<int64_t>& best = all_best[static_cast<size_t>(b)];
    const size_t before = next.size();
    for (size_t j = 0; j < best.size() && next.size() < before + static_cast<size_t>(beams); ++j) {
      const int64_t row = b * beams + best[j] / scores->vocab;
      const int32_t token = static_cast<int32_t>(best[j] % scores->vocab);
      if (settings_.eos < 0 || token != settings_.eos)
        next.push_back({all[best[j]], token, row});
      else if (j < static_cast<size_t>(beams))
        Add(&example, rows[static_cast<size_t>(row)], all[best[j]]);
    }
    while (next.size() < before + static_cast<size_t>(beams)) next.push_back({kLowest, settings_.pad, b * beams});  // of a tiny vocabulary
    if (static_cast<int64_t>(example.texts.size()) < beams) continue;
    if (!settings_.early_stopping && example.texts.back().score < Penalized(BestJudged(judged, b), rows[0].size())) continue;
    example.done = true;
    --open_;
  }
  return next;
}

void BeamTexts::Finish(const std::vector<Tokens>& rows, const std::vector<float>& scores) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Example& example = examples_[i / static_cast<size_t>(settings_.beams)];
    if (!example.done) Add(&example, rows[i], scores[i]);
  }
}

}  // namespace onnx
}  // namespace mxnet
