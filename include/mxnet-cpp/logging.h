/*
 * LOG, LG and the CHECK macros, and the error that they throw. They keep the names that dmlc-core
 * gave them, because programs catch dmlc::Error. If a program includes dmlc's own header first,
 * that one is used. Else namespace dmlc has names for types of ours, so that nothing collides with
 * another library's copy of dmlc-core in the same process.
 */
#ifndef MXNET_CPP_LOGGING_H_
#define MXNET_CPP_LOGGING_H_

#ifndef DMLC_LOGGING_H_
#define DMLC_LOGGING_H_

#include <ctime>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace mxnet {
namespace cpp {
namespace front_end {

/* What every function of the front end throws. what() has the library's own message. */
struct Error : public std::runtime_error {
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/* One line on standard error, with the time of day and the place in the program. */
class LogMessage {
 public:
  LogMessage(const char* file, int line, const char* level = "") {
    const std::time_t now = std::time(nullptr);
    std::tm local;
    char text[16] = "";
    if (localtime_r(&now, &local) != nullptr) std::strftime(text, sizeof text, "%H:%M:%S", &local);
    stream_ << "[" << text << "] " << level << file << ":" << line << ": ";
  }
  LogMessage(const LogMessage&) = delete;
  LogMessage& operator=(const LogMessage&) = delete;
  ~LogMessage() { std::cerr << stream_.str() << std::endl; }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

/* Collects a message, and throws it as an Error at the end of the statement. */
class LogMessageFatal {
 public:
  LogMessageFatal(const char* file, int line) { stream_ << file << ":" << line << ": "; }
  LogMessageFatal(const LogMessageFatal&) = delete;
  LogMessageFatal& operator=(const LogMessageFatal&) = delete;
  ~LogMessageFatal() noexcept(false) { throw Error(stream_.str()); }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

/* Gives both branches of ?: the type void, so that a check is one expression. */
class LogMessageVoidify {
 public:
  void operator&(std::ostream&) {}
};

/* Null if the comparison holds, else both values as text. */
#define MXNET_CPP_COMPARE(name, op)                                      \
  template <typename X, typename Y>                                      \
  inline std::string LogCheck##name(const X& x, const Y& y) {            \
    if (x op y) return std::string();                                    \
    std::ostringstream values;                                           \
    values << "(" << x << " vs. " << y << ") ";                          \
    return values.str();                                                 \
  }                                                                      \
  inline std::string LogCheck##name(int x, int y) {                      \
    if (x op y) return std::string();                                    \
    return "(" + std::to_string(x) + " vs. " + std::to_string(y) + ") "; \
  }
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#endif
MXNET_CPP_COMPARE(_LT, <)
MXNET_CPP_COMPARE(_GT, >)
MXNET_CPP_COMPARE(_LE, <=)
MXNET_CPP_COMPARE(_GE, >=)
MXNET_CPP_COMPARE(_EQ, ==)
MXNET_CPP_COMPARE(_NE, !=)
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef MXNET_CPP_COMPARE

template <typename T>
inline T& CheckNotNull(const char* file, int line, const char* names, T&& pointer) {
  if (pointer == nullptr) LogMessageFatal(file, line).stream() << "Check not null: " << names << " ";
  return pointer;
}

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet

namespace dmlc {
using mxnet::cpp::front_end::Error;
}  // namespace dmlc

#ifndef LOG
#define LOG(severity) LOG_##severity.stream()
#define LOG_INFO ::mxnet::cpp::front_end::LogMessage(__FILE__, __LINE__)
#define LOG_WARNING ::mxnet::cpp::front_end::LogMessage(__FILE__, __LINE__, "Warning: ")
#define LOG_ERROR ::mxnet::cpp::front_end::LogMessage(__FILE__, __LINE__, "Error: ")
#define LOG_FATAL ::mxnet::cpp::front_end::LogMessageFatal(__FILE__, __LINE__)
#define LOG_QFATAL LOG_FATAL
#define LOG_IF(severity, condition) !(condition) ? (void)0 : ::mxnet::cpp::front_end::LogMessageVoidify() & LOG(severity)
#endif
#ifndef LG
#define LG LOG_INFO.stream()
#endif

#ifndef CHECK
#define CHECK(x)                                                                                                             \
  (x) ? (void)0                                                                                                              \
      : ::mxnet::cpp::front_end::LogMessageVoidify() & ::mxnet::cpp::front_end::LogMessageFatal(__FILE__, __LINE__).stream() \
                                                           << "Check failed: " #x << ": "
#define CHECK_BINARY_OP(name, op, x, y)                                                                  \
  for (std::string check_values = ::mxnet::cpp::front_end::LogCheck##name(x, y); !check_values.empty();) \
  ::mxnet::cpp::front_end::LogMessageFatal(__FILE__, __LINE__).stream()                                  \
      << "Check failed: " << #x " " #op " " #y << " " << check_values << ": "
#define CHECK_LT(x, y) CHECK_BINARY_OP(_LT, <, x, y)
#define CHECK_GT(x, y) CHECK_BINARY_OP(_GT, >, x, y)
#define CHECK_LE(x, y) CHECK_BINARY_OP(_LE, <=, x, y)
#define CHECK_GE(x, y) CHECK_BINARY_OP(_GE, >=, x, y)
#define CHECK_EQ(x, y) CHECK_BINARY_OP(_EQ, ==, x, y)
#define CHECK_NE(x, y) CHECK_BINARY_OP(_NE, !=, x, y)
#define CHECK_NOTNULL(x) ::mxnet::cpp::front_end::CheckNotNull(__FILE__, __LINE__, #x, x)
#endif
#ifndef DCHECK
#ifdef NDEBUG
#define DCHECK(x) \
  while (false) CHECK(x)
#define DCHECK_LT(x, y) \
  while (false) CHECK_LT(x, y)
#define DCHECK_GT(x, y) \
  while (false) CHECK_GT(x, y)
#define DCHECK_LE(x, y) \
  while (false) CHECK_LE(x, y)
#define DCHECK_GE(x, y) \
  while (false) CHECK_GE(x, y)
#define DCHECK_EQ(x, y) \
  while (false) CHECK_EQ(x, y)
#define DCHECK_NE(x, y) \
  while (false) CHECK_NE(x, y)
#else
#define DCHECK(x) CHECK(x)
#define DCHECK_LT(x, y) CHECK_LT(x, y)
#define DCHECK_GT(x, y) CHECK_GT(x, y)
#define DCHECK_LE(x, y) CHECK_LE(x, y)
#define DCHECK_GE(x, y) CHECK_GE(x, y)
#define DCHECK_EQ(x, y) CHECK_EQ(x, y)
#define DCHECK_NE(x, y) CHECK_NE(x, y)
#endif
#endif

#endif  // DMLC_LOGGING_H_
#endif  // MXNET_CPP_LOGGING_H_
