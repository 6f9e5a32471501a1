#include "base/threads/thread_objects.h"

#include <pthread.h>

#include <new>

extern "C" {
extern void* __dso_handle __attribute__((visibility("hidden")));
// of the C library; it knows no other order than that of all libraries' objects together
int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library);
// for objects of this library alone
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) noexcept __attribute__((visibility("hidden")));
}

namespace mxnet {
namespace {

struct Object {
  void (*destroy)(void*);
  void* object;
  Object* before;
};

// plain data: what ends with a thread cannot keep that
__thread Object* tls_last = nullptr;
__thread bool tls_waited = false;

void EndObjects(void* armed);

struct Key {
  pthread_key_t key;
  bool made;
};

/* Made with the first object, before there are other threads of the library. */
const Key& TheKey() {
  static const Key made = [] {
    Key k;
    k.made = pthread_key_create(&k.key, EndObjects) == 0;
    return k;
  }();
  return made;
}

// The C library calls the destructors of all keys, and again where one of them has set data. The
// first time belongs to the program's.
void EndObjects(void* armed) {
  if (!tls_waited) {
    tls_waited = true;
    if (pthread_setspecific(TheKey().key, armed) == 0) return;
  }
  while (Object* const last = tls_last) {
    tls_last = last->before;
    last->destroy(last->object);
    delete last;
  }
}

}  // namespace

void CallAtThreadExit(void (*hook)()) {
  __cxa_thread_atexit_impl([](void* f) { reinterpret_cast<void (*)()>(f)(); }, reinterpret_cast<void*>(hook), &__dso_handle);
}

}  // namespace mxnet

int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) noexcept {
  using namespace mxnet;  // NOLINT
  const Key& key = TheKey();
  if (!key.made) return __cxa_thread_atexit_impl(destroy, object, library);
  Object* const mine = new (std::nothrow) Object{destroy, object, tls_last};
  if (mine == nullptr || pthread_setspecific(key.key, &tls_last) != 0) {
    delete mine;
    return __cxa_thread_atexit_impl(destroy, object, library);
  }
  tls_last = mine;
  return 0;
}
