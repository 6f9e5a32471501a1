/*
 * Teams of threads on a thread that calls the library while engine workers have teams of their own.
 *
 * libgomp counts the threads of all teams of the process. As soon as there are more than
 * processors, threads between two parallel loops spin for a microsecond instead of milliseconds and
 * then sleep, and waking them costs more than most loops take (two processors, Inception-BN: 7 ms
 * an image became 10). So an operator that runs on its caller, because it is short, opens a team
 * only where nobody has one. It is kept, for a new one costs as much as a short loop (softmax of
 * 1536 rows of 128: 73 us on one thread, 79 with a new team, 40 with one that is there), until this
 * thread next waits or runs one after another thread has got a team.
 */
#ifndef MXNET_BASE_THREADS_BORROWED_TEAM_H_
#define MXNET_BASE_THREADS_BORROWED_TEAM_H_

#include "mxnet/base.h"

namespace mxnet {

/* Number of threads that have a team. */
MXNET_DLL int OpenTeams();

/* What a thread does that is about to wait. */
void GiveBackKeptTeam();

/* Has the calling thread a team? */
bool HasTeam();
/* It gives it back, so that another one can have it: any, or one that it has borrowed. */
void GiveBackOwnTeam();
void GiveBackBorrowedTeam();

/* While it lives loops of this thread use its team, one that it opens if there is none, or no other
 * thread. */
class BorrowedTeam {
 public:
  BorrowedTeam();
  ~BorrowedTeam();
  BorrowedTeam(const BorrowedTeam&) = delete;
  BorrowedTeam& operator=(const BorrowedTeam&) = delete;

  /* Has another thread the team? */
  bool refused() const { return thread_->limit == 1 && limit_ != 1; }

  /* Of one thread, in one place: each look at a thread's own memory is a call. */
  struct Thread {
    int limit = 0;
    bool team = false;  // has opened a team that it has not given back
    bool kept = false;  // and will give it back when another thread has one
  };

 private:
  Thread* const thread_;
  bool had_;  // for good
  int limit_;
};

}  // namespace mxnet
#endif  // MXNET_BASE_THREADS_BORROWED_TEAM_H_
