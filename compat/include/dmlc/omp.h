/* For programs that include this header of dmlc-core, which MXNet 1.9.1 brought along: OpenMP's
 * functions, also where the compiler was not asked for OpenMP. */
#ifndef DMLC_OMP_H_
#define DMLC_OMP_H_

#if defined(_OPENMP)
#include <omp.h>
#else
inline int omp_get_thread_num() { return 0; }
inline int omp_get_num_threads() { return 1; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_num_procs() { return 1; }
inline void omp_set_num_threads(int) {}
#endif

#endif
