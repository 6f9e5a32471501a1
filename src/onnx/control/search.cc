#include "onnx/control/search.h"

#include <cmath>

#include "onnx/control/search_models.h"
#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {
namespace {

constexpr int64_t kMostSteps = int64_t{1} << 20, kMostBeams = 1 << 12;

/* Reads attributes and inputs of one node. */
class Reader {
 public:
  explicit Reader(const Call& call) : call_(call), beams_(HasBeams(call.node)), samples_(call.node.op == "Sampling") {}

  SearchSettings Read() const {
    SearchSettings s;
    if (call_.in(0).ndim() < 2 || call_.in(0).size() < 1)
      call_.Refuse("input_ids have shape " + Text(call_.in(0).shape()) + "; accepted: (batch, length)");
    s.batch = call_.in(0).shape()[0];
    s.eos = static_cast<int32_t>(call_.Attr("eos_token_id", int64_t{-1}));
    s.pad = static_cast<int32_t>(call_.Attr("pad_token_id", int64_t{-1}));
    s.ngram = call_.Attr("no_repeat_ngram_size", int64_t{0});
    s.max_length = AtMost(call_.Int(1), "max_length", kMostSteps);
    s.min_length = call_.has(2) ? call_.Int(2) : 0;
    const int after = beams_ ? 6 : 3;  // where inputs of all searches go on
    if (beams_) ReadBeams(&s);
    if (call_.node.op == "WhisperBeamSearch") ReadSounds(&s);
    s.repetition_penalty = Positive(after, "repetition_penalty");
    s.vocab_mask = Mask(after + 1);
    s.prefix_mask = Mask(after + 2);
    if (samples_) ReadSampling(&s);
    for (const char* name : {"vocab_size", "decoder_start_token_id", "model_type"}) call_.Ignore(name);  // read where they count
    for (const char* name : {"decoder", "init_decoder", "encoder"}) call_.GraphAttr(name);
    call_.CheckAttributes();
    return s;
  }

 private:
  void ReadBeams(SearchSettings* s) const {
    s->early_stopping = call_.Attr("early_stopping", int64_t{0}) != 0;
    s->beams = AtMost(Number(3, "num_beams", 1, 1), "num_beams", kMostBeams);
    s->returned = Number(4, "num_return_sequences", 1, 1);
    s->length_penalty = call_.has(5) ? static_cast<float>(call_.Float(5)) : 1.0f;
    if (s->returned > s->beams)
      call_.Refuse("num_return_sequences is " + Text(s->returned) + "; accepted: up to num_beams, " + Text(s->beams));
    const bool of_sounds = ModelType(call_) == 2;  // others have no processor of their own
    const int64_t processor = of_sounds && call_.has(11) ? call_.Int(11) : 0;
    s->times.wanted = processor == 1 && call_.node.op == "WhisperBeamSearch";
    if (processor != 0 && !s->times.wanted) call_.Refuse("logits_processor is " + Text(call_.Int(11)) + "; accepted: 0");
  }
  void ReadSounds(SearchSettings* s) const {
    auto& t = s->times;
    t.first = call_.Attr("beginning_timestamp_token_id", int64_t{-1}), t.none = call_.Attr("no_timestamps_token_id", int64_t{-1});
    t.translate = call_.Attr("translate_token_id", int64_t{-1}), t.transcribe = call_.Attr("transcribe_token_id", int64_t{-1});
    t.text_alone = call_.Attr("start_of_lm_token_id", int64_t{-1}), t.start = call_.Attr("decoder_start_token_id", int64_t{-1});
    call_.Ignore("no_speech_token_id");  // of an output that is refused
    if (t.wanted && t.first < 0)
      call_.Refuse("attribute beginning_timestamp_token_id is " + Text(t.first) + "; accepted with logits_processor 1: from 0 on");
    // Inputs 12 and 13 say which scores of the second attention are wanted: only where this is set.
    if (call_.Attr("decoder_output_cross_qk", int64_t{0}) != 0) call_.Refuse("attribute decoder_output_cross_qk is not 0; accepted: 0");
    for (const int output : {3, 4})
      if (call_.wants(output)) call_.Refuse("output " + Text(output) + " is wanted; accepted: sequences, sequences_scores and scores");
    if (call_.has(14)) s->temperature = Positive(14, "temperature");
  }
  void ReadSampling(SearchSettings* s) const {
    s->samples = true;
    s->temperature = call_.Attr("temperature", 1.0f);
    s->top_p = call_.Attr("top_p", 0.0f);
    s->filter_value = call_.Attr("filter_value", -1e20f);
    s->min_kept = call_.Attr("min_tokens_to_keep", int64_t{0});
    if (s->min_kept < 0) call_.Refuse("attribute min_tokens_to_keep is " + Text(s->min_kept) + "; accepted: from 0 on");
    if (call_.wants(1)) call_.Refuse("output 1, filtered_logits, is wanted; accepted: sequences alone");
    s->custom = call_.Attr("custom", int64_t{0}) != 0;
    s->presence_penalty = call_.Attr("presence_penalty", 0.0f);
    s->presence_mask = Mask(7);
    s->seed = call_.has(8) ? Number(8, "seed", 0, 0) : Drawn();
  }
  /* A seed of the library's generator. */
  int64_t Drawn() const {
    const Value v = call_.Op("_random_uniform", {}, {{"shape", "(1,)"}, {"dtype", "float64"}});
    return static_cast<int64_t>(std::ldexp(FloatsIn(v.array)[0], 31));
  }
  /* A search that memory or patience does not suffice for is a mistake. */
  int64_t AtMost(int64_t number, const char* name, int64_t most) const {
    if (number > most) call_.Refuse(std::string(name) + " is " + Text(number) + "; accepted: up to " + Text(most));
    return number;
  }
  int64_t Number(int input, const char* name, int64_t otherwise, int64_t least) const {
    if (!call_.has(input)) return otherwise;
    const int64_t number = call_.Int(input);
    if (number < least) call_.Refuse(std::string(name) + " is " + Text(number) + "; accepted: from " + Text(least) + " on");
    return number;
  }
  float Positive(int input, const char* name) const {
    const float number = call_.has(input) ? static_cast<float>(call_.Float(input)) : 1.0f;
    if (!(number > 0)) call_.Refuse(std::string(name) + " is " + Text(static_cast<double>(number)) + "; accepted: above 0");
    return number;
  }
  Tokens Mask(int input) const {
    if (!call_.has(input)) return {};
    const std::vector<int64_t> numbers = call_.Ints(input);
    return Tokens(numbers.begin(), numbers.end());
  }

  const Call& call_;
  const bool beams_, samples_;
};

/* One run of a node. */
class Search {
 public:
  Search(Session* session, const NodeProto& node, const Env& env)
      : control_(session, node, env), call_(control_.call), settings_(Reader(call_).Read()), model_(MakeTextModel(control_, settings_)) {
    for (const Tokens& text : model_->begin()) rows_.insert(rows_.end(), static_cast<size_t>(settings_.beams), text);
    if (static_cast<int64_t>(rows_.size()) != settings_.rows())
      call_.Refuse("decoder_input_ids are for " + Text(static_cast<int64_t>(model_->begin().size())) +
                   " texts; accepted: " + Text(settings_.batch));
    if (settings_.max_length <= length())
      call_.Refuse("max_length is " + Text(settings_.max_length) + "; accepted: above the length of what a text begins with, " +
                   Text(length()));
  }

  std::vector<Value> Greedy() {
    Sampler sampler(settings_);
    std::vector<char> ended(rows_.size(), 0);
    std::vector<int64_t> from;
    for (size_t i = 0; i < rows_.size(); ++i) from.push_back(static_cast<int64_t>(i));
    for (int64_t step = 1; length() < settings_.max_length; ++step) {
      Scores scores = Read(step == 1 ? model_->Start() : model_->Step(rows_, from), false);
      Adjust(settings_, rows_, step, &scores);
      for (int64_t i = 0; i < scores.rows; ++i) {
        const int32_t token = settings_.samples ? sampler.Next(scores.row(i), scores.vocab) : Largest(scores.row(i), scores.vocab);
        char& end = ended[static_cast<size_t>(i)];
        end = end || token == settings_.eos;
        rows_[static_cast<size_t>(i)].push_back(end ? settings_.pad : token);
      }
      if (std::all_of(ended.begin(), ended.end(), [](char e) { return e != 0; })) break;
    }
    std::vector<Tokens> texts = rows_;
    return {Texts(texts, Shape{settings_.batch, settings_.max_length})};
  }

  std::vector<Value> Beams() {
    BeamTexts texts(settings_);
    std::vector<float> sums(rows_.size(), -1e9f);
    for (size_t b = 0; b < sums.size(); b += static_cast<size_t>(settings_.beams)) sums[b] = 0;
    std::vector<float> all;
    std::vector<int64_t> from;
    const int64_t steps = settings_.max_length - length();
    int64_t vocab = 0;
    for (int64_t step = 1; length() < settings_.max_length; ++step) {
      Scores scores = Read(step == 1 ? model_->Start() : model_->Step(rows_, from), true);
      vocab = scores.vocab;
      Adjust(settings_, rows_, step, &scores);
      for (int64_t i = 0; i < scores.rows; ++i)
        for (int64_t v = 0; v < vocab; ++v) scores.row(i)[v] += sums[static_cast<size_t>(i)];
      if (call_.wants(2)) all.insert(all.end(), scores.values.begin(), scores.values.end());
      Follow(texts.Step(rows_, &scores), &sums, &from);
      if (texts.done()) break;
    }
    texts.Finish(rows_, sums);
    std::vector<Value> results = Best(texts);
    all.resize(static_cast<size_t>(steps * settings_.rows() * vocab), 0);
    if (call_.wants(2)) results.push_back(call_.Tensor(Shape{steps, settings_.batch, settings_.beams, vocab}, kFloat32, all.data()));
    return results;
  }

 private:
  int64_t length() const { return static_cast<int64_t>(rows_[0].size()); }

  /* Scores of the last step, for each row. */
  Scores Read(const Value& made, bool logarithms) const {
    if (made.ndim() != 3) call_.Refuse("the decoder's scores have shape " + Text(made.shape()) + "; accepted: (batch, steps, tokens)");
    const int64_t given = made.shape()[0], steps = made.shape()[1], all = made.shape()[2];
    Scores scores;
    scores.rows = settings_.rows();
    const int64_t size = call_.Attr("vocab_size", int64_t{-1});
    scores.vocab = size > 0 ? size : all;
    if (scores.vocab > all || (given != scores.rows && given * settings_.beams != scores.rows))
      call_.Refuse("the decoder's scores have shape " + Text(made.shape()) + " for " + Text(scores.rows) + " rows of " +
                   Text(scores.vocab) + " tokens");
    CheckSizes(scores.vocab);
    const Value last = call_.Reshape(SliceAxis(call_, made, 1, steps - 1, steps), Shape{given, all});
    Value kept = call_.Cast(SliceAxis(call_, last, 1, 0, scores.vocab), kFloat32);
    if (logarithms) kept = call_.Op("log_softmax", {kept}, {{"axis", "-1"}});
    std::vector<float> values(static_cast<size_t>(given * scores.vocab));
    OnCPU(kept.array).CopyBytesTo(values.data(), values.size() * sizeof(float));
    if (given == scores.rows) {
      scores.values = std::move(values);
      return scores;
    }
    for (int64_t i = 0; i < scores.rows; ++i) {
      const auto at = values.begin() + i / settings_.beams * scores.vocab;
      scores.values.insert(scores.values.end(), at, at + scores.vocab);
    }
    return scores;
  }

  void CheckSizes(int64_t vocab) const {
    const auto check = [&](const char* name, const Tokens& mask, int64_t size) {
      if (!mask.empty() && static_cast<int64_t>(mask.size()) != size)
        call_.Refuse(std::string(name) + " has " + Text(static_cast<int64_t>(mask.size())) + " numbers; accepted: " + Text(size));
    };
    check("vocab_mask", settings_.vocab_mask, vocab);
    check("prefix_vocab_mask", settings_.prefix_mask, settings_.batch * vocab);
    if (settings_.min_kept >= vocab)
      call_.Refuse("attribute min_tokens_to_keep is " + Text(settings_.min_kept) + "; accepted: below the " + Text(vocab) + " tokens");
    check("presence_mask", settings_.presence_mask, settings_.batch * vocab);
  }

  void Follow(const std::vector<BeamTexts::Next>& next, std::vector<float>* sums, std::vector<int64_t>* from) {
    std::vector<Tokens> rows;
    sums->clear();
    from->clear();
    for (const auto& n : next) {
      rows.push_back(rows_[static_cast<size_t>(n.row)]);
      rows.back().push_back(n.token);
      sums->push_back(n.score);
      from->push_back(n.row);
    }
    rows_ = std::move(rows);
  }

  Value Texts(const std::vector<Tokens>& texts, const Shape& shape) const {
    std::vector<int32_t> all;
    for (const Tokens& text : texts) {
      all.insert(all.end(), text.begin(), text.end());
      all.insert(all.end(), static_cast<size_t>(settings_.max_length) - text.size(), settings_.pad);
    }
    return call_.Cast(call_.Tensor(shape, kInt32, all.data()), kInt32);
  }

  std::vector<Value> Best(const BeamTexts& texts) const {
    std::vector<Tokens> best;
    std::vector<float> scores;
    for (int64_t b = 0; b < settings_.batch; ++b)
      for (int64_t i = 0; i < settings_.returned; ++i) {
        const BeamTexts::Text& text = texts.texts(b)[static_cast<size_t>(i)];
        best.push_back(text.tokens);
        scores.push_back(text.score);
      }
    return {Texts(best, Shape{settings_.batch, settings_.returned, settings_.max_length}),
            call_.Tensor(Shape{settings_.batch, settings_.returned}, kFloat32, scores.data())};
  }

  Control control_;
  const Call& call_;
  const SearchSettings settings_;
  const std::unique_ptr<TextModel> model_;
  std::vector<Tokens> rows_;
};

std::vector<Value> RunGreedy(Session* session, const NodeProto& node, const Env& env) { return Search(session, node, env).Greedy(); }
std::vector<Value> RunBeams(Session* session, const NodeProto& node, const Env& env) { return Search(session, node, env).Beams(); }

}  // namespace

bool HasBeams(const NodeProto& node) { return node.op == "BeamSearch" || node.op == "WhisperBeamSearch"; }

int64_t ModelType(const Call& call) { return call.Attr("model_type", int64_t{call.node.op == "WhisperBeamSearch" ? 2 : 0}); }

ControlFn SearchOf(const NodeProto& node) {
  if (node.domain != "com.microsoft") return nullptr;
  if (node.op == "GreedySearch" || node.op == "Sampling") return RunGreedy;
  if (HasBeams(node)) return RunBeams;
  return nullptr;
}

}  // namespace onnx
}  // namespace mxnet
