/* Threads of the BLAS and LAPACK library. */
#ifndef MXNET_OPERATOR_SHARED_BLAS_THREADS_H_
#define MXNET_OPERATOR_SHARED_BLAS_THREADS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/threads/omp.h"
#include "mxnet/env.h"

namespace mxnet {

/* Before calls of the library: with MXNET_ENFORCE_DETERMINISM=1 it uses one thread. */
void SettleBlasThreads();

/*
 * Around each call of the library. OpenBLAS asks for ever where it finds no memory for the buffer
 * of a call: so there must be room. Throws std::bad_alloc. `small`: a product for which it may take
 * none, so that none is known to be there afterwards.
 */
class BlasCall {
 public:
  explicit BlasCall(bool small = false);
  ~BlasCall();
  BlasCall(const BlasCall&) = delete;
  BlasCall& operator=(const BlasCall&) = delete;
  /* May such a product be asked for, whatever it takes? */
  static bool HasRoomForSmall();
};

/*
 * While one of these lives, BLAS and LAPACK calls use the thread that makes them. Others may find
 * that so, too: then they take longer. The library's own threads wait for a processor while those
 * of OpenMP look for work, which they do for milliseconds.
 */
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  const bool counts_;  // the library has such threads
};

/*
 * Around routines that alternate between short products and work of one thread, on matrices of
 * this order: up to 640 the library's threads wait longer for a processor than they save. Twice as
 * fast at 512, equal at 700.
 */
class FewBlasThreads {
 public:
  explicit FewBlasThreads(int64_t order) {
    SettleBlasThreads();
    if (order <= 640) alone_.emplace();
  }

 private:
  std::optional<OneBlasThread> alone_;
};

/* Threads for BLAS calls of so many operations in all. The sums of a part may differ in the last
 * bits from those of the whole, so matrices that one thread is done with in some 20 us are not
 * divided: they are the same in a batch, which is divided by matrices. */
inline int BlasThreadsForFlops(double flops) { return Env::Get().enforce_determinism || flops < 2e6 ? 1 : OmpThreadsForFlops(flops); }

/*
 * part(begin, end) for `lines` rows or columns that do not depend on each other, `flops` in all:
 * its BLAS calls use the threads that other operators use, too, each on some of the lines.
 */
template <typename Part>
void ShareLines(int64_t lines, double flops, const Part& part) {
  constexpr int64_t least = 32;  // lines of a thread
  SettleBlasThreads();
  const int64_t threads = std::min<int64_t>(BlasThreadsForFlops(flops), lines / least);
  if (threads <= 1) return part(int64_t{0}, lines);
  const OneBlasThread alone;
  ParallelForThreads(static_cast<int>(threads), lines, part);
}

/* ShareLines for strips of a triangle: f(strip). */
template <typename F>
void ShareStrips(int64_t strips, double flops, const F& f) {
  SettleBlasThreads();
  const OneBlasThread alone;
  InTurns(std::min<int64_t>(BlasThreadsForFlops(flops), strips), strips, [&](int64_t strip, int64_t) { f(strip); });
}

}  // namespace mxnet
#endif  // MXNET_OPERATOR_SHARED_BLAS_THREADS_H_
