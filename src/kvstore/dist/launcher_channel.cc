#include "kvstore/dist/launcher_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdio>

#include "base/foreign_env.h"

namespace mxnet {
namespace kvstore {

LauncherChannel::LauncherChannel() {
  int number = -1;
  unsigned long long inode = 0;  // NOLINT(runtime/int): as sscanf has it
  struct stat state;
  if (std::sscanf(ForeignText("DMLC_LAUNCHER_SOCKET").c_str(), "%d:%llu", &number, &inode) != 2 || number < 0) return;
  // A program between the launcher and this one may have closed it, and the number may be that of
  // another file.
  if (fstat(number, &state) != 0 || !S_ISSOCK(state.st_mode) || state.st_ino != inode) return;
  fcntl(number, F_SETFD, FD_CLOEXEC);
  socket_ = number;
}

void LauncherChannel::Say(const std::string& word, int rank) {
  if (socket_ < 0) return;
  const std::string line = word + " " + std::to_string(rank) + "\n";
  if (send(socket_, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) return;  // the launcher has ended: so does the job
}

std::vector<int> LauncherChannel::Lost() {
  std::vector<int> lost;
  if (socket_ < 0) return lost;
  char bytes[4096];
  for (;;) {
    const ssize_t got = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) break;
    text_.append(bytes, static_cast<size_t>(got));
  }
  for (size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
    int rank = -1;
    if (std::sscanf(text_.c_str(), "lost %d", &rank) == 1) lost.push_back(rank);
  }
  return lost;
}

}  // namespace kvstore
}  // namespace mxnet
