#include "onnx/control/search_models.h"

#include <algorithm>
#include <numeric>

#include "onnx/convert/make.h"

namespace mxnet {
namespace onnx {

Value TextModel::Ints(const Shape& shape, const std::vector<int32_t>& numbers, const ValueInfo& info) const {
  const Value made = control_.call.Tensor(shape, kInt32, numbers.data());
  return info.dtype >= 0 ? control_.call.Cast(made, info.dtype) : made;
}

Value TextModel::LastTokens(const std::vector<Tokens>& rows, const ValueInfo& info) const {
  std::vector<int32_t> last;
  for (const Tokens& row : rows) last.push_back(row.back());
  return Ints(Shape{static_cast<int64_t>(rows.size()), 1}, last, info);
}

Value TextModel::Empty(const ValueInfo& info, int64_t rows, int batch, int steps) const {
  Shape shape(static_cast<int>(info.dims.size()), 0);
  for (int i = 0; i < shape.ndim(); ++i) {
    const int64_t size = info.dims[static_cast<size_t>(i)].size;
    shape[i] = i == batch ? rows : i == steps ? 0 : size;
    if (shape[i] < 0)
      control_.call.Refuse("the cache " + info.name + " has an open dimension " + Text(i) +
                           "; accepted: open numbers of examples and steps");
  }
  if (steps >= shape.ndim()) control_.call.Refuse("the cache " + info.name + " has " + Text(shape.ndim()) + " dimensions");
  return Value(NDArray(shape, Context::CPU(), info.dtype >= 0 ? info.dtype : static_cast<int>(kFloat32)));
}

std::vector<Value> TextModel::Run(const GraphProto& graph, std::vector<Value> inputs, const std::map<std::string, NDArray>& into) const {
  Env given = control_.Captured();
  for (size_t i = 0; i < inputs.size(); ++i) given[graph.inputs[i].name] = std::move(inputs[i]);
  return control_.session->RunnerOf(&graph, true)->Run(std::move(given), into);
}

void TextModel::Move(const std::vector<int64_t>& rows, int axis, std::vector<Value>* caches) const {
  const Value indices = control_.call.IntTensor(rows);
  for (Value& cache : *caches) cache = Take(control_.call, cache, indices, axis);
}

void TextModel::Follow(const std::vector<int64_t>& from, int axis) {
  std::vector<int64_t> rows = from;
  if (!has_beams_)
    for (int64_t& row : rows) row /= settings_.beams;
  bool same = has_beams_ || settings_.beams == 1;
  for (size_t i = 0; same && i < rows.size(); ++i) same = rows[i] == static_cast<int64_t>(i);
  if (!same) Move(rows, axis, &caches_);
  has_beams_ = true;
}

void TextModel::CheckCounts(const char* name, const GraphProto& graph, size_t inputs, size_t outputs) const {
  if (graph.inputs.size() != inputs || graph.outputs.size() != outputs)
    control_.call.Refuse(std::string("the ") + name + " has " + std::to_string(graph.inputs.size()) + " inputs and " +
                         std::to_string(graph.outputs.size()) + " outputs; accepted for these: " + std::to_string(inputs) + " and " +
                         std::to_string(outputs));
}

namespace {

/* Rows of an input (examples, length). */
std::vector<Tokens> RowsOf(const Call& call, int input) {
  const Value& v = call.in(input);
  if (v.ndim() != 2) call.Refuse("input " + Text(input) + " has shape " + Text(v.shape()) + "; accepted: (batch, length)");
  const std::vector<int64_t> numbers = call.Ints(input);
  std::vector<Tokens> rows;
  for (int64_t i = 0; i < v.shape()[0]; ++i) {
    const auto at = numbers.begin() + i * v.shape()[1];
    rows.emplace_back(at, at + v.shape()[1]);
  }
  return rows;
}

std::vector<int32_t> Joined(const std::vector<Tokens>& rows) {
  std::vector<int32_t> all;
  for (const Tokens& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Shape ShapeOf(const std::vector<Tokens>& rows) { return Shape{static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}; }

/* What the node gives as attention_mask; empty: nothing. */
std::vector<Tokens> GivenMask(const Call& call, int input, const std::vector<Tokens>& like) {
  if (!call.has(input)) return {};
  std::vector<Tokens> mask = RowsOf(call, input);
  if (mask.size() != like.size() || mask[0].size() != like[0].size())
    call.Refuse("attention_mask has shape " + Text(call.in(input).shape()) + "; accepted: " + Text(ShapeOf(like)));
  return mask;
}

/* tokens, positions, mask, caches (2, rows, heads, steps, size) -> scores, caches */
class Decoder : public TextModel {
 public:
  Decoder(const Control& control, const SearchSettings& settings, int mask_input) : TextModel(control, settings) {
    begin_ = RowsOf(control.call, 0);
    const GraphProto* first = control.call.GraphAttr("init_decoder");
    for (const GraphProto* graph : {&control.Body("decoder"), first}) {
      if (!graph) continue;
      const size_t caches = graph->outputs.empty() ? 0 : graph->outputs.size() - 1;
      if (graph->inputs.size() > 3 + caches)
        control.call.Refuse("the decoder reads " + graph->inputs[3 + caches].name +
                            " behind its caches; accepted: caches that grow, with nothing behind them");
      CheckCounts("decoder", *graph, 3 + caches, 1 + caches);
    }
    mask_ = GivenMask(control.call, mask_input, begin_);
    std::vector<Tokens> filled;  // which tokens are no padding
    for (const Tokens& row : begin_) {
      filled.emplace_back();
      for (const int32_t token : row) filled.back().push_back(token != settings.pad);
    }
    for (const Tokens& row : filled) {  // padding has no position, whatever the mask says
      int32_t next = 0;
      for (const int32_t m : row) positions_.push_back(m == 0 ? 0 : next++);
      next_.push_back(next);
    }
    if (mask_.empty()) mask_ = filled;
  }

  Value Start() override {
    const GraphProto* first = control_.call.GraphAttr("init_decoder");
    const GraphProto& graph = first ? *first : control_.Body("decoder");
    std::vector<Value> inputs = {Ints(ShapeOf(begin_), Joined(begin_), graph.inputs[0]), Ints(ShapeOf(begin_), positions_, graph.inputs[1]),
                                 Ints(ShapeOf(begin_), Joined(mask_), graph.inputs[2])};
    for (size_t i = 3; i < graph.inputs.size(); ++i) inputs.push_back(Empty(graph.inputs[i], settings_.batch, 1, 3));
    return Take(Run(graph, std::move(inputs)));
  }

  Value Step(const std::vector<Tokens>& rows, const std::vector<int64_t>& from) override {
    const GraphProto& graph = control_.Body("decoder");
    Follow(from, 1);
    std::vector<int32_t> positions, mask;
    for (Tokens& m : mask_) m.push_back(1);
    for (size_t i = 0; i < rows.size(); ++i) {
      const size_t example = i / static_cast<size_t>(settings_.beams);
      positions.push_back(next_[example]);
      mask.insert(mask.end(), mask_[example].begin(), mask_[example].end());
    }
    for (int32_t& next : next_) ++next;
    const int64_t count = static_cast<int64_t>(rows.size());
    std::vector<Value> inputs = {LastTokens(rows, graph.inputs[0]), Ints(Shape{count, 1}, positions, graph.inputs[1]),
                                 Ints(Shape{count, static_cast<int64_t>(mask_[0].size())}, mask, graph.inputs[2])};
    for (Value& cache : caches_) inputs.push_back(std::move(cache));
    return Take(Run(graph, std::move(inputs)));
  }

 private:
  /* Keeps the caches; the scores. */
  Value Take(std::vector<Value> results) {
    caches_.assign(std::make_move_iterator(results.begin() + 1), std::make_move_iterator(results.end()));
    return results[0];
  }
  std::vector<Tokens> mask_;        // by example
  std::vector<int32_t> positions_;  // of all tokens that texts begin with
  std::vector<int32_t> next_;       // of each example
};

/*
 * Which beam of its example wrote each token of a row, where caches are buffers with room for the
 * whole text: each beam writes into its own row, and beams that go on from others copy nothing.
 */
class Indirection {
 public:
  Indirection(int64_t rows, int64_t beams, int64_t room) : rows_(rows), beams_(beams), room_(room) {
    for (int64_t i = 0; i < rows; ++i) named_.insert(named_.end(), static_cast<size_t>(room), static_cast<int32_t>(i % beams));
  }
  /* The rows before that rows go on from, which have `tokens`. */
  void Follow(const std::vector<int64_t>& from, int64_t tokens) {
    const std::vector<int32_t> before = named_;
    for (int64_t i = 0; i < rows_; ++i)
      std::copy_n(before.begin() + from[static_cast<size_t>(i)] * room_, tokens, named_.begin() + i * room_);
  }
  Shape shape() const { return Shape{rows_ / beams_, beams_, room_}; }
  const std::vector<int32_t>& numbers() const { return named_; }

 private:
  int64_t rows_, beams_, room_;
  std::vector<int32_t> named_;
};

/*
 * The encoder gives scores, its states, and caches of both attentions; or caches of the second
 * attention alone, with or without its states. The decoder: tokens, mask of the encoder's tokens,
 * states of the encoder (each of these two may be missing), caches of both attentions -> scores,
 * caches of the first. Where the decoder's inputs end with the length of its past, its caches are
 * buffers with room for a whole text; the number of beams and the indirection may follow.
 */
class Pair : public TextModel {
 public:
  Pair(const Control& control, const SearchSettings& settings, bool of_sounds)
      : TextModel(control, settings),
        encoder_(control.Body("encoder")),
        decoder_(control.Body("decoder")),
        beams_(settings.rows(), settings.beams, settings.max_length) {
    const Call& call = control.call;
    const int64_t token = call.Attr("decoder_start_token_id", int64_t{-1});
    if (of_sounds && call.has(kForced))
      begin_ = RowsOf(call, kForced);
    else if (token < 0)
      call.Refuse("attribute decoder_start_token_id is " + Text(token) + (of_sounds ? " and there are no decoder_input_ids" : "") +
                  "; accepted: from 0 on");
    else
      begin_.assign(static_cast<size_t>(settings.batch), Tokens{static_cast<int32_t>(token)});
    if (decoder_.outputs.size() < 3 || decoder_.inputs.size() < 2) call.Refuse("the decoder has no caches");
    own_ = decoder_.outputs.size() - 1;
    while (more_ < decoder_.inputs.size() && !IsFloating(decoder_.inputs[decoder_.inputs.size() - 1 - more_].dtype)) ++more_;
    if (more_ != 0 && more_ != 1 && more_ != 3)
      call.Refuse("the decoder has " + std::to_string(more_) +
                  " inputs behind its caches; accepted: none, past_sequence_length, or that with beam_width and cache_indirection");
    heads_ = decoder_.inputs.size() - std::min(decoder_.inputs.size(), 2 * own_ + more_);
    reads_mask_ = heads_ > 1 && !IsFloating(decoder_.inputs[1].dtype);
    reads_states_ = heads_ > 1 + static_cast<size_t>(reads_mask_);
    CheckCounts("decoder", decoder_, 1 + reads_mask_ + reads_states_ + 2 * own_ + more_, 1 + own_);
    scores_ = encoder_.outputs.size() == 2 + 2 * own_;
    const bool states = encoder_.outputs.size() == 1 + own_;
    CheckCounts("encoder", encoder_, encoder_.inputs.size(), scores_ ? 2 + 2 * own_ : own_ + states);
    if (reads_states_ && !scores_ && !states) call.Refuse("the decoder reads the encoder's states, which are no result of it");
    whole_ = decoder_.inputs[0].dims.size() != 2 || decoder_.inputs[0].dims[1].size != 1;
  }

  Value Start() override {
    std::vector<Value> results = Run(encoder_, EncoderInputs());
    const size_t first = scores_ ? 1 : 0, before = results.size() - own_ - (scores_ ? own_ : 0);
    if (before > first) states_ = results[first];
    const auto at = std::make_move_iterator(results.begin() + static_cast<ptrdiff_t>(before));
    const auto end = std::make_move_iterator(results.end());
    const auto middle = scores_ ? at + static_cast<ptrdiff_t>(own_) : at;
    caches_.assign(at, middle);
    cross_.assign(middle, end);
    for (size_t i = 0; !scores_ && i < own_; ++i) caches_.push_back(Empty(decoder_.inputs[heads_ + i], settings_.batch, 0, 2));
    if (more_) MakeRoom();
    if (scores_) return results[0];
    return Decode(Ints(ShapeOf(begin_), Joined(begin_), decoder_.inputs[0]), 0, Indirection(settings_.batch, 1, settings_.max_length));
  }

  Value Step(const std::vector<Tokens>& rows, const std::vector<int64_t>& from) override {
    if (!has_beams_ && settings_.beams > 1) Spread();
    const int64_t past = static_cast<int64_t>(rows[0].size()) - 1;
    if (more_ > 1 && has_beams_)
      beams_.Follow(from, past);
    else
      Follow(from, 0);
    return Decode(whole_ ? Ints(ShapeOf(rows), Joined(rows), decoder_.inputs[0]) : LastTokens(rows, decoder_.inputs[0]), past, beams_);
  }

 private:
  static constexpr int kMask = 9, kForced = 10;  // inputs of the node

  std::vector<Value> EncoderInputs() {
    const Call& call = control_.call;
    const size_t tokens = scores_ ? 1 : 0;  // of the decoder
    const bool reads_mask = encoder_.inputs.size() == 2 + tokens;
    CheckCounts("encoder", encoder_, 1 + reads_mask + tokens, encoder_.outputs.size());
    std::vector<Value> inputs = {call.in(0)};
    if (IsFloating(call.in(0).dtype())) {
      if (reads_mask || reads_mask_) MakeMask({});
    } else {
      const std::vector<Tokens> ids = RowsOf(call, 0);
      inputs[0] = Ints(ShapeOf(ids), Joined(ids), encoder_.inputs[0]);
      MakeMask(ids);
    }
    if (reads_mask) inputs.push_back(Cast(mask_, encoder_.inputs[1]));
    if (tokens) inputs.push_back(Ints(ShapeOf(begin_), Joined(begin_), encoder_.inputs.back()));
    return inputs;
  }

  /* Padding is what stands in front: a text may end with that token. */
  void MakeMask(const std::vector<Tokens>& ids) {
    const Call& call = control_.call;
    if (ids.empty() && !call.has(kMask)) call.Refuse("there is no attention_mask, which the graphs read");
    std::vector<Tokens> mask = ids.empty() ? RowsOf(call, kMask) : GivenMask(call, kMask, ids);
    for (const Tokens& row : ids) {
      if (call.has(kMask)) break;
      Tokens m;
      for (const int32_t token : row) m.push_back(token != settings_.pad || (!m.empty() && m.back() != 0));
      mask.push_back(m);
    }
    mask_ = call.Tensor(ShapeOf(mask), kInt32, Joined(mask).data());
  }

  Value Cast(const Value& mask, const ValueInfo& info) const { return info.dtype >= 0 ? control_.call.Cast(mask, info.dtype) : mask; }

  /* What is the same for all beams of an example gets a row for each. */
  void Spread() {
    std::vector<int64_t> rows;
    for (int64_t i = 0; i < settings_.rows(); ++i) rows.push_back(i / settings_.beams);
    Move(rows, 0, &cross_);
    std::vector<Value> others;
    if (reads_mask_) others.push_back(mask_);
    if (reads_states_) others.push_back(states_);
    Move(rows, 0, &others);
    if (reads_mask_) mask_ = others.front();
    if (reads_states_) states_ = others.back();
  }

  /* Caches become buffers. */
  void MakeRoom() {
    for (Value& cache : caches_) {
      const int64_t room = settings_.max_length - (cache.ndim() == 4 ? cache.shape()[2] : 0);
      if (cache.ndim() != 4 || room < 0)
        control_.call.Refuse("a cache has shape " + Text(cache.shape()) + "; accepted: (batch, heads, steps, size) with up to " +
                             Text(settings_.max_length) + " steps");
      cache = Pad(control_.call, cache, {0, 0, 0, 0}, {0, 0, room, 0}, 0);
    }
  }

  /* `past`: how many tokens buffers have. */
  Value Decode(Value tokens, int64_t past, const Indirection& beams) {
    std::vector<Value> inputs = {std::move(tokens)};
    if (reads_mask_) inputs.push_back(Cast(mask_, decoder_.inputs[1]));
    if (reads_states_) inputs.push_back(states_);
    std::map<std::string, NDArray> into;
    for (size_t i = 0; more_ && i < own_; ++i) into.emplace(decoder_.outputs[1 + i].name, caches_[i].array);
    for (Value& cache : caches_) inputs.push_back(std::move(cache));
    inputs.insert(inputs.end(), cross_.begin(), cross_.end());
    const auto number = [&](int64_t n) { return Ints(Shape{1}, {static_cast<int32_t>(n)}, decoder_.inputs[inputs.size()]); };
    if (more_) inputs.push_back(number(past));
    if (more_ > 1) {
      inputs.push_back(number(beams.shape()[1]));
      inputs.push_back(Ints(beams.shape(), beams.numbers(), decoder_.inputs.back()));
    }
    std::vector<Value> results = Run(decoder_, std::move(inputs), into);
    caches_.assign(std::make_move_iterator(results.begin() + 1), std::make_move_iterator(results.end()));
    return results[0];
  }

  const GraphProto &encoder_, &decoder_;
  size_t own_ = 0, heads_ = 0;  // caches of the first attention; inputs in front of caches
  size_t more_ = 0;             // inputs behind caches, which are buffers then
  bool reads_mask_ = false, reads_states_ = false;
  bool scores_ = false;  // the encoder runs the decoder's first step
  bool whole_ = false;   // the decoder reads all tokens in each step
  Indirection beams_;
  Value mask_, states_;
  std::vector<Value> cross_;
};

}  // namespace

std::unique_ptr<TextModel> MakeTextModel(const Control& control, const SearchSettings& settings) {
  const bool beams = HasBeams(control.call.node);
  const int64_t type = ModelType(control.call);
  if (type != 0 && !(beams && (type == 1 || type == 2)))
    control.call.Refuse("attribute model_type is " + Text(type) + "; accepted: 0" + (beams ? ", 1 and 2" : ""));
  if (type == 0) return std::make_unique<Decoder>(control, settings, beams ? 9 : 6);
  return std::make_unique<Pair>(control, settings, type == 2);
}

}  // namespace onnx
}  // namespace mxnet
