/*
 * Searches for texts: com.microsoft's GreedySearch, Sampling and BeamSearch. Their subgraphs give
 * scores of next tokens, and caches; what is chosen of them is plain C++ here.
 *
 * Numbers are made in the order in which onnxruntime makes them, so that the same tokens are
 * chosen.
 */
#ifndef MXNET_ONNX_CONTROL_SEARCH_H_
#define MXNET_ONNX_CONTROL_SEARCH_H_

#include <cstdint>
#include <random>
#include <vector>

#include "onnx/run/stage.h"

namespace mxnet {
namespace onnx {

/* Null: the node is no search. */
ControlFn SearchOf(const NodeProto& node);
/* REQUIRES: a search. */
bool HasBeams(const NodeProto& node);
/* 0: a decoder alone; 1: an encoder and a decoder; 2: these, of sounds. */
int64_t ModelType(const Call& call);

using Tokens = std::vector<int32_t>;

/* What the node asks for. A row is one beam of one text. */
struct SearchSettings {
  int64_t batch = 0, beams = 1, returned = 1;
  int64_t max_length = 0, min_length = 0, ngram = 0;
  int32_t eos = 0, pad = 0;
  float length_penalty = 1, repetition_penalty = 1;
  bool early_stopping = false;
  /* Of texts of sounds with times: tokens from `first` on are times. */
  struct Times {
    bool wanted = false;
    int64_t first = -1, none = -1, text_alone = -1, start = -1, translate = -1, transcribe = -1;
  } times;
  Tokens vocab_mask;   // by token; empty: all are accepted
  Tokens prefix_mask;  // of the first step: (batch, tokens)
  // ---- of Sampling
  bool samples = false, custom = false;
  float temperature = 1, top_p = 0, filter_value = 0, presence_penalty = 0;
  int64_t min_kept = 0;
  int64_t seed = 0;
  Tokens presence_mask;  // (batch, tokens)

  int64_t rows() const { return batch * beams; }
};

/* Scores of the next token for each row. */
struct Scores {
  int64_t rows = 0, vocab = 0;
  std::vector<float> values;
  float* row(int64_t i) { return values.data() + i * vocab; }
};

/* Changes scores as the settings say. `step`: from 1 on. */
void Adjust(const SearchSettings& settings, const std::vector<Tokens>& rows, int64_t step, Scores* scores);
/* The position of the largest number, the first of equal ones. */
int32_t Largest(const float* scores, int64_t count);
/* The `count` largest of all, in falling order; of equal ones the first come first. */
std::vector<int64_t> LargestOf(const float* scores, int64_t size, int64_t count);

/* Draws tokens. One for a call. */
class Sampler {
 public:
  explicit Sampler(const SearchSettings& settings) : settings_(settings), draw_(static_cast<uint32_t>(settings.seed)) {}
  /* The next token of a row; filters its scores. */
  int32_t Next(float* scores, int64_t vocab);

 private:
  void Filter(float* scores, int64_t vocab) const;
  double Uniform();  // in [0, 1)
  const SearchSettings& settings_;
  std::minstd_rand0 draw_;
};

/* The finished texts of each example, and the beams that go on. */
class BeamTexts {
 public:
  explicit BeamTexts(const SearchSettings& settings);
  struct Next {
    float score;
    int32_t token;
    int64_t row;  // that it goes on from
  };
  /* One for each row. `scores` have sums of logarithms for all tokens. */
  std::vector<Next> Step(const std::vector<Tokens>& rows, Scores* scores);
  bool done() const { return open_ == 0; }
  /* What goes on ends now. */
  void Finish(const std::vector<Tokens>& rows, const std::vector<float>& scores);
  struct Text {
    Tokens tokens;
    float score;
  };
  /* Of an example, the best one first. */
  const std::vector<Text>& texts(int64_t example) const { return examples_[static_cast<size_t>(example)].texts; }

 private:
  struct Example {
    std::vector<Text> texts;
    bool done = false;
  };
  void Add(Example* example, const Tokens& tokens, float sum) const;
  float Penalized(float sum, size_t length) const;
  float BestJudged(const std::vector<float>& scores, int64_t example) const;
  const SearchSettings& settings_;
  std::vector<Example> examples_;
  int64_t open_;
};

}  // namespace onnx
}  // namespace mxnet
#endif  // MXNET_ONNX_CONTROL_SEARCH_H_
