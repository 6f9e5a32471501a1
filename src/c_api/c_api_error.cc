#include "c_api/c_api_error.h"

#include <new>
#include <string>

namespace {
struct LastError {
  std::string message;
  int kind = 0;
};
LastError* ThreadError() {
  static thread_local LastError error;
  return &error;
}
}  // namespace

namespace mxnet {

int HandleApiException() noexcept {
  LastError* last = ThreadError();
  last->kind = static_cast<int>(Error::Kind::kGeneric);
  try {
    try {
      throw;
    } catch (const Error& e) {
      last->kind = static_cast<int>(e.kind());
      last->message = e.what();
    } catch (const std::bad_alloc&) {
      last->kind = static_cast<int>(Error::Kind::kOutOfMemory);
      last->message = "[memory] the system has no memory left for the library's own records";
    } catch (const std::exception& e) {
      last->message = e.what();
    } catch (...) {
      last->message = "[c_api] an exception of unknown type";
    }
  } catch (...) {  // no memory for the message
    last->message.clear();
  }
  return -1;
}

}  // namespace mxnet

const char* MXGetLastError() { return ThreadError()->message.c_str(); }
const char* NNGetLastError() { return MXGetLastError(); }
int MXGetLastErrorKind() { return ThreadError()->kind; }
void NNAPISetLastError(const char* msg) {
  try {
    ThreadError()->message = msg ? msg : "";
    ThreadError()->kind = 0;
  } catch (...) {
    mxnet::HandleApiException();
  }
}
