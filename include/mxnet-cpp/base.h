/*
 * What every header of the C++ front end needs. The front end is headers alone: its classes hold
 * handles of the C interface, and every function of it throws dmlc::Error with the library's
 * message when a call fails.
 */
#ifndef MXNET_CPP_BASE_H_
#define MXNET_CPP_BASE_H_

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>

#include "mxnet-cpp/logging.h"
#include "mxnet/c_api.h"

namespace mxnet {
namespace cpp {

typedef unsigned index_t;

/* What becomes of a gradient: nothing, written, written over its input, or added up. */
enum OpReqType { kNullOp, kWriteTo, kWriteInplace, kAddTo };

namespace front_end {

/* Throws the library's message if a call of the C interface failed. */
inline void Check(int status) {
  if (status != 0) throw dmlc::Error(MXGetLastError());
}

/* Collects a message, and throws it at the end of the statement. */
class NeedMessage {
 public:
  NeedMessage() {}
  NeedMessage(const NeedMessage&) = delete;
  NeedMessage& operator=(const NeedMessage&) = delete;
  ~NeedMessage() noexcept(false) { throw dmlc::Error(stream_.str()); }
  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

/* Gives both branches of ?: the type void. */
struct NeedVoid {
  void operator&(std::ostream&) {}
};

}  // namespace front_end
}  // namespace cpp
}  // namespace mxnet

/* What an argument has to be. The message says which function got what, and what it accepts. */
#define MXNET_CPP_NEED(x) (x) ? (void)0 : ::mxnet::cpp::front_end::NeedVoid() & ::mxnet::cpp::front_end::NeedMessage().stream()

#define MX_TRY try {
#define MX_CATCH                          \
  }                                       \
  catch (const dmlc::Error& error) {      \
    LG << "Status: FAIL";                 \
    LG << "With Error: " << error.what(); \
  }

#endif  // MXNET_CPP_BASE_H_
