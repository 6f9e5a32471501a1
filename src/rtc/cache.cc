#include "rtc/cache.h"

#include <pwd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mxnet/env.h"

namespace mxnet {
namespace rtc {
namespace {

constexpr char kMagic[8] = {'M', 'X', 'R', 'T', 'C', '0', '0', '1'};

// FNV-1a. The name needs two of them; the request itself is in the file, so a collision costs time,
// not correctness.
uint64_t Hash(const std::string& text, uint64_t start) {
  uint64_t h = start;
  for (unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  return h;
}
constexpr uint64_t kStart = 0xcbf29ce484222325ull, kOtherStart = 0x84222325cbf29ce4ull;

struct Header {
  char magic[8];
  uint64_t request_bytes, payload_bytes, sum;  // sum over both
};

}  // namespace

std::string CacheFolder() {
  std::string home = Env::Get().home;
  if (home == "~" || home.compare(0, 2, "~/") == 0) {
    const passwd* user = getpwuid(getuid());
    home = (user && user->pw_dir ? std::string(user->pw_dir) : std::string("/tmp")) + home.substr(1);
  }
  return home + "/rtc";
}

std::string CacheName(const std::string& request) {
  char name[40];
  std::snprintf(name, sizeof(name), "%016llx%016llx", static_cast<unsigned long long>(Hash(request, kStart)),
                static_cast<unsigned long long>(Hash(request, kOtherStart)));
  return std::string(name) + ".bin";
}

bool CacheRead(const std::string& folder, const std::string& request, std::string* payload) {
  std::ifstream file(folder + "/" + CacheName(request), std::ios::binary);
  if (!file) return false;
  std::ostringstream all;
  all << file.rdbuf();
  const std::string bytes = all.str();
  Header h;
  if (bytes.size() < sizeof(h)) return false;
  std::memcpy(&h, bytes.data(), sizeof(h));
  const uint64_t rest = bytes.size() - sizeof(h);
  if (std::memcmp(h.magic, kMagic, sizeof(kMagic)) != 0 || h.request_bytes != request.size() || h.request_bytes > rest ||
      h.payload_bytes != rest - h.request_bytes)
    return false;
  const std::string body = bytes.substr(sizeof(h));
  if (Hash(body, kStart) != h.sum || body.compare(0, request.size(), request) != 0) return false;
  *payload = body.substr(request.size());
  return true;
}

bool CacheWrite(const std::string& folder, const std::string& request, const std::string& payload) {
  static std::atomic<unsigned> serial{0};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string target = folder + "/" + CacheName(request);
  const std::string temporary = target + "." + std::to_string(getpid()) + "." + std::to_string(serial++);
  Header h;
  std::memcpy(h.magic, kMagic, sizeof(kMagic));
  h.request_bytes = request.size();
  h.payload_bytes = payload.size();
  h.sum = Hash(request + payload, kStart);
  std::ofstream file(temporary, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&h), sizeof(h));
  file.write(request.data(), static_cast<std::streamsize>(request.size()));
  file.write(payload.data(), static_cast<std::streamsize>(payload.size()));
  file.close();
  if (file.good() && std::rename(temporary.c_str(), target.c_str()) == 0) return true;
  std::remove(temporary.c_str());
  return false;
}

}  // namespace rtc
}  // namespace mxnet
