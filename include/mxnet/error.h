/*
 * The one error type of the library.
 *
 * Every failure that a caller can cause is thrown as mxnet::Error. Its message starts with the
 * `[name]` of the operator or module that found it, says what was given, and then what is accepted.
 * The C ABI turns it into -1 plus MXGetLastError(); Python raises the class that `kind` stands for.
 * With DMLC_LOG_STACK_TRACE_DEPTH=N the place of the check and N native stack frames follow the
 * message.
 *
 *   MXNET_CHECK(cond) << "[module] got " << x << "; accepted: ...";        // Kind::kGeneric ->
 *   MXNetError
 *   MXNET_CHECK_KIND(cond, Value) << ...                                 // Kind::kValue   ->
 *   ValueError
 *   MXNET_THROW(Index) << ...                                            // unconditional
 */
#ifndef MXNET_ERROR_H_
#define MXNET_ERROR_H_

#include <sstream>
#include <stdexcept>
#include <string>

#ifndef MXNET_DLL
#define MXNET_DLL __attribute__((visibility("default")))
#endif

namespace mxnet {

class MXNET_DLL Error : public std::runtime_error {
 public:
  enum class Kind : int { kGeneric = 0, kValue = 1, kType = 2, kIndex = 3, kNotImplementedForDType = 4, kOutOfMemory = 5, kIO = 6 };
  Error(Kind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  explicit Error(const std::string& message) : Error(Kind::kGeneric, message) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

namespace detail {
// Collects the message and throws at the end of the full expression, so that a message costs
// nothing unless it is needed.
class MXNET_DLL ErrorStream {
 public:
  ErrorStream(Error::Kind kind, const char* file, int line);
  [[noreturn]] ~ErrorStream() noexcept(false);
  std::ostream& stream() { return stream_; }

 private:
  Error::Kind kind_;
  const char* file_;
  int line_;
  std::ostringstream stream_;
};
struct Voidify {
  void operator&(std::ostream&) {}
};
}  // namespace detail
}  // namespace mxnet

#define MXNET_THROW(KIND) ::mxnet::detail::ErrorStream(::mxnet::Error::Kind::k##KIND, __FILE__, __LINE__).stream()
#define MXNET_CHECK_KIND(cond, KIND) __builtin_expect(!!(cond), 1) ? (void)0 : ::mxnet::detail::Voidify() & MXNET_THROW(KIND)
#define MXNET_CHECK(cond) MXNET_CHECK_KIND(cond, Generic)

#endif  // MXNET_ERROR_H_
