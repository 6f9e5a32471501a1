/* How a failure inside an operation becomes the message that the next wait raises. */
#include <atomic>
#include <new>

#include "engine/call_site.h"
#include "engine/interrupted.h"
#include "engine/var.h"

namespace mxnet {
namespace {
std::atomic<Engine::CallSiteFn> g_call_site{nullptr};
thread_local bool marked = false;  // apart from the text, so that asking constructs nothing
thread_local std::string marked_site;
}  // namespace

void Engine::SetCallSiteProvider(CallSiteFn fn) { g_call_site.store(fn, std::memory_order_release); }

namespace engine {

void MarkCallSite(const char* site) {
  const bool given = site != nullptr && *site != '\0';
  if (given) marked_site = site;
  marked = given;
}

bool HasCallSite() { return marked || g_call_site.load(std::memory_order_relaxed) != nullptr; }

std::string CallSite() {
  Engine::CallSiteFn fn = g_call_site.load(std::memory_order_acquire);
  std::string site = fn == nullptr ? std::string() : fn();
  return site.empty() && marked ? marked_site : site;
}

std::exception_ptr DescribeError(const std::exception_ptr& e, const char* name, const std::string& site) {
  Error::Kind kind = Error::Kind::kGeneric;
  std::string message;
  bool interrupted = false;
  try {
    std::rethrow_exception(e);
  } catch (const Error& error) {
    kind = error.kind();
    message = error.what();
    interrupted = dynamic_cast<const Interrupted*>(&error) != nullptr;
  } catch (const std::bad_alloc&) {
    kind = Error::Kind::kOutOfMemory;
    message = "out of memory";
  } catch (const std::exception& error) {
    message = error.what();
  } catch (...) {
    message = "an exception that is not a std::exception";
  }
  const std::string op = name != nullptr ? name : "";
  // A message starts with the [operator]. Kernels that follow it keep their own
  // prefix.
  if (message.empty() || message[0] != '[') message = "[" + (op.empty() ? "engine" : op) + "] " + message;
  if (!op.empty() && message.compare(0, op.size() + 2, "[" + op + "]") != 0) message += "; raised in operator " + op;
  if (!site.empty()) message += "; called at " + site;
  return interrupted ? std::make_exception_ptr(Interrupted(kind, message)) : std::make_exception_ptr(Error(kind, message));
}

}  // namespace engine
}  // namespace mxnet
