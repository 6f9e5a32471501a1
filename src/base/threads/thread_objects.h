/*
 * When the library's thread-local objects end: after those of the program.
 *
 * The compiler hands the destructor of each thread_local object to __cxa_thread_atexit. The library
 * has one of its own, which keeps the destructors for a key of thread-specific data. So
 *
 * - where a thread ends, destructors of the program's thread_local objects, and those of its
 *   thread-specific data, may still call any function of the library;
 * - where the process ends, the objects of the thread that ends it stay: handlers of atexit() and
 *   destructors of static objects may call any function, too.
 */
#ifndef MXNET_BASE_THREADS_THREAD_OBJECTS_H_
#define MXNET_BASE_THREADS_THREAD_OBJECTS_H_

namespace mxnet {

/* Has `hook` called where the calling thread ends, or ends the process: among the destructors of
 * the program's thread_local objects, so before every handler of atexit(). */
void CallAtThreadExit(void (*hook)());

}  // namespace mxnet

#endif  // MXNET_BASE_THREADS_THREAD_OBJECTS_H_
