/*
 * Waits for the engine that a signal may end, for languages whose handlers of signals run later, on
 * the thread that was interrupted: Python's Ctrl-C.
 *
 *   for (;;) {
 *     try {
 *       InterruptibleWaits scope;
 *       array.WaitToRead();
 *       break;
 *     } catch (const WaitInterrupted&) {
 *       // look whether the program wants to stop; else wait again
 *     }
 *   }
 *
 * What is waited for goes on. Only waits that leave nothing of the caller's to the engine may be
 * interrupted: not those for a copy into the caller's memory.
 */
#ifndef MXNET_INTERRUPTIBLE_H_
#define MXNET_INTERRUPTIBLE_H_

#include <exception>

#include "mxnet/base.h"

namespace mxnet {

/* A signal's handler may have run on the thread that waited. Also thrown after some time without
 * one. */
class MXNET_DLL WaitInterrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "[engine] the wait was interrupted by a signal"; }
};

/* While one lives, this thread's Engine::WaitForVar and WaitForAll throw WaitInterrupted. */
class MXNET_DLL InterruptibleWaits {
 public:
  InterruptibleWaits();
  ~InterruptibleWaits();
  InterruptibleWaits(const InterruptibleWaits&) = delete;
  InterruptibleWaits& operator=(const InterruptibleWaits&) = delete;
  /* Whether there is one on this thread. */
  static bool on();
};

/*
 * From now on a thread that waits may run calls of custom operators that it waits for: most take
 * less time than their hand-over to another thread. For a language whose callbacks lose no signal
 * that arrives where they begin, and which calls this once.
 */
MXNET_DLL void RunCallbacksInWaits();

}  // namespace mxnet
#endif  // MXNET_INTERRUPTIBLE_H_
