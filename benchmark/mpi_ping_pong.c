/* What MPI itself reaches between two ranks: microseconds of a message there and back, for each
 * size that is an argument, as one line of JSON: {"4096": [..], ...}. benchmark/kvstore_targets.py
 * compiles and runs it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char** sizes) {
  MPI_Init(&count, &sizes);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("{");
  for (int s = 1; s < count; ++s) {
    const int bytes = atoi(sizes[s]), calls = bytes > 20000000 ? 6 : bytes > 500000 ? 30 : 600;
    char* payload = malloc((size_t)bytes);
    if (!payload) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(payload, 1, (size_t)bytes);
    if (rank == 0) printf("%s\"%d\": [", s > 1 ? ", " : "", bytes);
    for (int i = 0; i < calls; ++i) {
      const double begin = MPI_Wtime();
      if (rank == 0) MPI_Send(payload, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(payload, bytes, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (rank == 1) MPI_Send(payload, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
      if (rank == 0) printf("%s%.2f", i ? ", " : "", (MPI_Wtime() - begin) * 1e6);
    }
    if (rank == 0) printf("]");
    free(payload);
  }
  if (rank == 0) printf("}\n");
  MPI_Finalize();
  return 0;
}
