/*
 * The threads that run custom operators. They are neither the engine's nor the program's: a custom
 * operator may wait for other operations, and for the lock of an interpreter.
 */
#ifndef MXNET_OPERATOR_CUSTOM_WORKER_THREADS_H_
#define MXNET_OPERATOR_CUSTOM_WORKER_THREADS_H_

#include <functional>

namespace mxnet {
namespace custom {

/* What an operation waits for. */
struct Job {
  std::function<void()> run;
  const void* operation = nullptr;  // who waits for it may run the job (engine/waiting_work.h); null: nobody else may
  bool by_program = false;          // a thread of the program has started it, and may wait for it soon
};

/*
 * Runs `job` on a thread of its own kind, in the order of the calls. MXNET_CUSTOM_OP_NUM_THREADS
 * jobs run at once; one that waits for the engine (another custom operator's result, say) is not
 * counted, so that no number of them can wait for each other. Returns false after Close: nothing
 * runs any more. Threads are made as they are needed.
 */
bool Submit(Job job);
/* The same for what nobody waits for: with the next job, or after a moment. It wakes no thread that
 * has just been busy, which would take an interpreter's lock from whoever uses it. */
bool SubmitLater(std::function<void()> job);
/* Waits for what runs and refuses what comes later: the program's end, after which callbacks may be
 * gone. */
void Close();

}  // namespace custom
}  // namespace mxnet
#endif  // MXNET_OPERATOR_CUSTOM_WORKER_THREADS_H_
