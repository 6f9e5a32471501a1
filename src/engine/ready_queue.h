/*
 * Ready operations and which of them is next. Larger priorities come first. Of those of priority 0,
 * the programs of the threads that pushed them take turns, and the operations of one program come
 * in its order, however late they became ready; of any other priority, in order of arrival.
 *
 * What became ready late takes the place in front of all that its thread pushed after it, not a
 * place at the end. So a program that runs ahead ends each of its steps before the next one begins.
 *
 * THREADS  Used under the pool's lock.
 */
#ifndef MXNET_ENGINE_READY_QUEUE_H_
#define MXNET_ENGINE_READY_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/var.h"

namespace mxnet {
namespace engine {

class ReadyQueue {
 public:
  void Push(Op* op) {
    if (op->priority == 0) {
      Program* program = ProgramOf(op);
      if (program->empty()) Append(program);
      program->Push(op);
    } else {
      heap_.push_back({op->priority, seq_++, op});
      std::push_heap(heap_.begin(), heap_.end());
    }
  }

  /* Null: there is none. */
  Op* Pop() {
    if (!heap_.empty() && (first_ == nullptr || heap_.front().priority > 0)) {
      Op* op = heap_.front().op;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      return op;
    }
    Program* program = first_;
    if (program == nullptr) return nullptr;
    Op* op = program->Pop();
    if (program != last_ || program->empty()) {
      if ((first_ = program->next) == nullptr) last_ = nullptr;
      if (!program->empty()) Append(program);
    }
    return op;
  }

  /* Would it be next, were it here? True where no other is, too. */
  bool IsNext(const Op& op) const {
    if (first_ == nullptr && heap_.empty()) return true;
    return op.priority == 0 && heap_.empty() && Before(op, *first_->Oldest());
  }

 private:
  /* What one thread has pushed and is ready. */
  class Program {
   public:
    Program* next = nullptr;  // whose turn comes after
    bool empty() const { return in_order_.empty() && late_.empty(); }
    Op* Oldest() const { return LateFirst() ? late_.front() : in_order_.front(); }
    void Push(Op* op) {
      if (in_order_.empty() || in_order_.back()->age < op->age) return in_order_.Push(op);
      late_.push_back(op);
      std::push_heap(late_.begin(), late_.end(), Younger);
    }
    Op* Pop() {
      if (!LateFirst()) return in_order_.Pop();
      Op* op = late_.front();
      std::pop_heap(late_.begin(), late_.end(), Younger);
      late_.pop_back();
      return op;
    }

   private:
    static bool Younger(const Op* a, const Op* b) { return a->age > b->age; }
    bool LateFirst() const { return !late_.empty() && (in_order_.empty() || late_.front()->age < in_order_.front()->age); }
    OpList in_order_;
    std::vector<Op*> late_;  // a heap of those that came after younger ones
  };

  struct Later {  // heap order: larger priority first, then earlier arrival
    int priority;
    uint64_t seq;
    Op* op;
    bool operator<(const Later& o) const { return priority != o.priority ? priority < o.priority : seq > o.seq; }
  };

  Program* ProgramOf(const Op* op) {
    if (op->pusher != pusher_ || program_ == nullptr) {
      program_ = &programs_[op->pusher];
      pusher_ = op->pusher;
    }
    return program_;
  }
  void Append(Program* program) {
    program->next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = program;
    last_ = program;
  }

  std::unordered_map<const void*, Program> programs_;  // grows to as many as threads have pushed at once
  const void* pusher_ = nullptr;                       // of whom program_ is: the one looked for last
  Program* program_ = nullptr;
  Program *first_ = nullptr, *last_ = nullptr;  // those that have something, in order of their turns
  std::vector<Later> heap_;                     // every priority but 0
  uint64_t seq_ = 0;
};

}  // namespace engine
}  // namespace mxnet
#endif  // MXNET_ENGINE_READY_QUEUE_H_
