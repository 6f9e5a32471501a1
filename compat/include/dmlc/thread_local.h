/* For programs that include this header of dmlc-core, which MXNet 1.9.1 brought along. */
#ifndef DMLC_THREAD_LOCAL_H_
#define DMLC_THREAD_LOCAL_H_

#include "dmlc/base.h"

namespace dmlc {

/* An object of T for each thread, made when the thread first asks and gone at its end. */
template <typename T>
class ThreadLocalStore {
 public:
  static T* Get() {
    static thread_local T instance;
    return &instance;
  }
};

}  // namespace dmlc

#endif
