// Ctrl-C while something waits for other processes.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

#include "kvstore/dist/job.h"
#include "mxnet/error.h"

namespace mxnet {
namespace {

constexpr double kGraceSeconds = 0.5;  // what goes on by itself is left alone

int signal_pipe[2] = {-1, -1};
struct sigaction former;

/* Only what may be called in a signal handler. */
void OnInterrupt(int number, siginfo_t* info, void* context) {
  const int kept = errno;
  const char byte = 1;
  if (write(signal_pipe[1], &byte, 1) < 0) errno = 0;  // full: the thread is told anyway
  errno = kept;
  if (former.sa_flags & SA_SIGINFO) {
    former.sa_sigaction(number, info, context);
  } else if (former.sa_handler != SIG_IGN && former.sa_handler != SIG_DFL) {
    former.sa_handler(number);
  }
}

void Watch() {
  char byte;
  while (true) {
    const ssize_t got = read(signal_pipe[0], &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const auto interrupt = kvstore::Job::Get()->Interrupter();
    std::this_thread::sleep_for(std::chrono::duration<double>(kGraceSeconds));
    interrupt("interrupted (SIGINT) while it waited for other processes");
  }
}

}  // namespace

void FollowInterrupts() {
  static std::once_flag once;
  std::call_once(once, [] {
    MXNET_CHECK(pipe2(signal_pipe, O_CLOEXEC) == 0) << "[kvstore] no pipe for signals could be made";
    fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);  // signals are for the program's own threads
    std::thread(Watch).detach();
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    struct sigaction own = {};
    sigaction(SIGINT, nullptr, &former);
    own.sa_sigaction = OnInterrupt;
    own.sa_flags = (former.sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
    own.sa_mask = former.sa_mask;
    sigaction(SIGINT, &own, nullptr);
  });
}

}  // namespace mxnet
