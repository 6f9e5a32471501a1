#include "profiler/trace.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/new_file.h"
#include "base/ran.h"
#include "mxnet/error.h"

namespace mxnet {
namespace profiler {
namespace {

constexpr size_t kTextInMemory = size_t{32} << 20;

/* Microseconds with three decimals, as the format wants its times. */
struct Micros {
  char text[40];
  explicit Micros(int64_t ns) {
    std::snprintf(text, sizeof(text), "%lld.%03d", static_cast<long long>(ns / 1000), static_cast<int>(ns % 1000));
  }
};

int UnnamedFile(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  std::string name = path + ".XXXXXX";  // file systems without O_TMPFILE
  fd = mkostemp(&name[0], O_CLOEXEC);
  if (fd >= 0) unlink(name.c_str());
  return fd;
}

}  // namespace

std::string JsonEscape(const std::string& text) {
  std::string out;
  for (char c : text) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", u);
      out += code;
    } else {
      out += c;
    }
  }
  return out;
}

std::string DeviceName(int dev_type, int dev_id) {
  const char* kind = "cpu";
  switch (static_cast<DeviceType>(dev_type)) {
    case DeviceType::kGPU: kind = "gpu"; break;
    case DeviceType::kCPUPinned: kind = "cpu_pinned"; break;
    case DeviceType::kCPUShared: kind = "cpu_shared"; break;
    default: break;
  }
  return std::string(kind) + "/" + std::to_string(dev_id);
}

static bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

void Trace::Clear() {
  if (spill_ >= 0) close(spill_);
  spill_ = -1;
  spilled_ = 0;
  text_.clear();
  threads_.clear();
}

void Trace::Begin(int64_t origin, const MachineRates& rates) {
  Clear();
  origin_ = origin;
  rates_ = rates;
  const time_t now = time(nullptr);
  tm parts;
  char text[40];
  strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  started_ = text;
}

void Trace::Spill(const std::string& path) {
  if (spill_ < 0 && (spill_ = UnnamedFile(path)) < 0) return;  // no place: it stays in memory
  if (!WriteAll(spill_, text_.data(), text_.size())) {         // disk full: what was written in part is forgotten
    if (ftruncate(spill_, static_cast<off_t>(spilled_)) == 0) lseek(spill_, 0, SEEK_END);
    return;
  }
  spilled_ += text_.size();
  text_.clear();
}

void Trace::AddCounter(const std::string& category, const std::string& name, const char* key, uint64_t value, int64_t at, int64_t tid) {
  const std::string label = JsonEscape(name);
  text_ += ",\n{\"ph\": \"C\", \"name\": \"" + label + "\", \"cat\": \"" + JsonEscape(category) +
           "\", \"ts\": " + Micros(at - origin_).text + ", \"pid\": " + std::to_string(getpid()) + ", \"tid\": " + std::to_string(tid) +
           ", \"args\": {\"" + (key ? key : label) + "\": " + std::to_string(value) + "}}";
}

void Trace::AddShares(const OpText& op, const Event& e) {
  if (e.dev_type == static_cast<int16_t>(DeviceType::kGPU) || rates_.float32 <= 0 || rates_.bytes <= 0) return;
  const std::string* ran = reinterpret_cast<const std::string*>(e.total);
  const bool bfloat16 = ran && ran->find("BF16") != std::string::npos;
  const double peak = op.numbers == Numbers::kBytes     ? rates_.int8
                      : bfloat16                        ? rates_.bfloat16
                      : op.numbers == Numbers::kFloat64 ? rates_.float32 / 2
                                                        : rates_.float32;
  const double ns = static_cast<double>(e.end - e.begin), computing = op.flops / peak, moving = op.bytes / rates_.bytes;
  char shares[128];
  std::snprintf(shares, sizeof(shares), ", \"predicted_ns\": %.5g, \"share_of_peak\": %.4g, \"share_of_bandwidth\": %.4g",
                std::max(computing, moving), computing / ns, moving / ns);
  text_ += shares;
}

void Trace::Add(const Event& e, int64_t tid, const std::string& path) {
  if (text_.size() > kTextInMemory) Spill(path);
  if (e.type == Type::kAlloc || e.type == Type::kFree) {
    return AddCounter("Device Storage", "Memory: " + DeviceName(e.dev_type, e.dev_id), "used", e.total, e.begin, tid);
  }
  if (e.type == Type::kHeld) {
    return AddCounter("Device Storage", "Memory held: " + DeviceName(e.dev_type, e.dev_id), "held", e.total, e.begin, tid);
  }
  const Label* label = static_cast<const Label*>(e.what);
  if (e.type == Type::kCounter) return AddCounter(label->category, label->name, nullptr, e.bytes, e.begin, tid);

  const std::string where = std::string(", \"pid\": ") + std::to_string(getpid()) + ", \"tid\": " + std::to_string(tid);
  auto open = [&](const char* phase, const std::string& name, const std::string& category, int64_t at) {
    text_ += std::string(",\n{\"ph\": \"") + phase + "\", \"name\": \"" + name + "\", \"cat\": \"" + category +
             "\", \"ts\": " + Micros(at - origin_).text + where;
  };
  auto complete = [&](const std::string& name, const std::string& category) {
    open("X", name, category, e.begin);
    text_ += std::string(", \"dur\": ") + Micros(e.end - e.begin).text;
  };
  const Label* caller = CallerOf(e);
  const std::string prefix = caller ? JsonEscape(caller->name) + "::" : "";
  switch (e.type) {
    case Type::kOp: {
      const OpText op = TextOf(static_cast<const OpInfo*>(e.what));
      complete(prefix + *op.name, caller ? kCustomOperator : "operator");
      text_ += ", \"args\": {" + *op.args;
      if (e.total) text_ += ", " + *reinterpret_cast<const std::string*>(e.total);
      if (e.end > e.begin) {
        const double ns = static_cast<double>(e.end - e.begin);
        char rates[96];
        std::snprintf(rates, sizeof(rates), ", \"GFLOP/s\": %.5g, \"GB/s\": %.5g", op.flops / ns, op.bytes / ns);
        text_ += rates;
        AddShares(op, e);
      }
      text_ += "}}";
      break;
    }
    case Type::kWork:
    case Type::kApi:
      complete(prefix + JsonEscape(static_cast<const char*>(e.what)), e.type == Type::kApi ? "MXNET_C_API"
                                                                      : caller             ? kCustomOperator
                                                                                           : "operator");
      text_ += "}";
      break;
    case Type::kPlanBulk:
    case Type::kEagerBulk:
      complete(JsonEscape(static_cast<const char*>(e.what)), "bulk");
      text_ += ", \"args\": {\"operators\": " + std::to_string(e.id) + "}}";
      break;
    case Type::kEvent:
      complete(JsonEscape(label->name), JsonEscape(label->category));
      text_ += "}";
      break;
    case Type::kTask:
    case Type::kFrame: {  // these may overlap on one thread and end on another: asynchronous spans
      const std::string id = ", \"id\": " + std::to_string(e.id) + "}";
      open("b", JsonEscape(label->name), JsonEscape(label->category), e.begin);
      text_ += id;
      open("e", JsonEscape(label->name), JsonEscape(label->category), e.end);
      text_ += id;
      break;
    }
    case Type::kMarker:
      open("i", JsonEscape(label->name), JsonEscape(label->category), e.begin);
      text_ += std::string(", \"s\": \"") +
               (e.scope == 0   ? "g"
                : e.scope == 1 ? "p"
                               : "t") +
               "\", \"args\": {\"scope\": \"" + kMarkerScopes[e.scope] + "\"}}";
      break;
    default: break;
  }
}

void Trace::Write(const std::string& path) {
  const std::string pid = std::to_string(getpid());
  std::string head = "{\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"library\": \"mxnet\", \"started\": \"" + started_ +
                     "\"},\n\"traceEvents\": [\n{\"ph\": \"M\", \"name\": \"process_name\", \"ts\": 0, \"pid\": " + pid +
                     ", \"tid\": 0, \"args\": {\"name\": \"mxnet " + pid + "\"}}";
  for (const auto& t : threads_)
    head += ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"ts\": 0, \"pid\": " + pid + ", \"tid\": " + std::to_string(t.first) +
            ", \"args\": {\"name\": \"" + JsonEscape(t.second) + "\"}}";
  NewFile file("profiler", path);
  file.Write(head);
  char block[65536];
  for (uint64_t at = 0; at < spilled_;) {
    const ssize_t n = pread(spill_, block, std::min<uint64_t>(sizeof(block), spilled_ - at), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    MXNET_CHECK_KIND(n > 0, IO) << "[profiler] cannot read earlier events back: " << strerror(n < 0 ? errno : EIO)
                                << "; accepted: a folder that keeps files";
    file.Write(block, static_cast<size_t>(n));
    at += static_cast<uint64_t>(n);
  }
  file.Write(text_);
  file.Write("\n]}\n");
  file.Commit();
}

}  // namespace profiler
}  // namespace mxnet
