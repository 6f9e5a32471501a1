/*
 * Teams of threads on a thread that calls the library while engine workers have teams of their own.
 *
 * libgomp counts the threads of all teams of the process. As soon as there are more than processors, threads between two parallel loops spin for a microsecond
 * instead of milliseconds and then sleep, and waking them costs more than most loops take (two processors, Inception-BN: 7 ms an image became 10). So
 * a team that an operator opened on its caller is given back at once.
 */
#ifndef MXNET_SRC_BASE_BORROWED_TEAM_H_
#define MXNET_SRC_BASE_BORROWED_TEAM_H_

namespace mxnet {

/* Gives back, when it ends, the team that the calling thread opened while it lived; one that it had before stays. */
class BorrowedTeam {
 public:
  BorrowedTeam();
  ~BorrowedTeam();
  BorrowedTeam(const BorrowedTeam&) = delete;
  BorrowedTeam& operator=(const BorrowedTeam&) = delete;

 private:
  bool had_;
};

}  // namespace mxnet
#endif  // MXNET_SRC_BASE_BORROWED_TEAM_H_
