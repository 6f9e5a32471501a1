#include "listeners.h"

#include <dirent.h>
#include <linux/filter.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace mxnet {
namespace kvstore {

std::vector<int> ListeningSockets() {
  std::vector<int> found;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    int listens = 0;
    socklen_t size = sizeof listens;
    if (number > 2 && getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens) found.push_back(number);
  }
  closedir(folder);
  return found;
}

void RestrictListening(const std::vector<int>& sockets, const char* text) {
  std::istringstream numbers(text);
  std::vector<uint32_t> interfaces;
  for (uint32_t number; interfaces.size() < 200 && numbers >> number;) interfaces.push_back(number);
  if (interfaces.empty()) return;
  // A program of the kernel's packet filter: loads the number of the interface, jumps to the end
  // where it is one of these, and drops the packet else.
  std::vector<sock_filter> program{{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(SKF_AD_OFF + SKF_AD_IFINDEX)}};
  for (size_t i = 0; i < interfaces.size(); ++i)
    program.push_back({BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint8_t>(interfaces.size() - i), 0, interfaces[i]});
  program.push_back({BPF_RET | BPF_K, 0, 0, 0});
  program.push_back({BPF_RET | BPF_K, 0, 0, UINT32_MAX});
  const sock_fprog filter{static_cast<uint16_t>(program.size()), program.data()};
  for (const int number : sockets) setsockopt(number, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

}  // namespace kvstore
}  // namespace mxnet
