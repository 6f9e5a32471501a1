/* What the C tests share: calls that must work, conditions, calls that must fail with a certain
 * message. main() returns `failures`. */
#ifndef MXNET_TESTS_C_CHECK_H_
#define MXNET_TESTS_C_CHECK_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mxnet/c_api.h"

static int failures __attribute__((unused)) = 0;
#define OK(call)                                                                     \
  do {                                                                               \
    if ((call) != 0) {                                                               \
      printf("%s:%d: %s failed: %s\n", __FILE__, __LINE__, #call, MXGetLastError()); \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)
#define CHECK(cond)                                               \
  do {                                                            \
    if (!(cond)) {                                                \
      printf("%s:%d: %s is not so\n", __FILE__, __LINE__, #cond); \
      ++failures;                                                 \
    }                                                             \
  } while (0)
/* The call must fail with a message that holds `text`. */
#define FAILS(call, text)                                                                         \
  do {                                                                                            \
    CHECK((call) == -1);                                                                          \
    if (!strstr(MXGetLastError(), text)) {                                                        \
      printf("%s:%d: message \"%s\" lacks \"%s\"\n", __FILE__, __LINE__, MXGetLastError(), text); \
      ++failures;                                                                                 \
    }                                                                                             \
  } while (0)

#endif /* MXNET_TESTS_C_CHECK_H_ */
