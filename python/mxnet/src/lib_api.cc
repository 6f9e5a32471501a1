/*
 * For Makefiles that compile lib_api.cc, a part of MXNet 1.9.1, into a library of operators,
 * partitioners or passes. The header alone has everything: a library needs this file no more, and a
 * copy of 1.9.1's cannot be compiled with the header, which defines the same.
 */
#include "mxnet/lib_api.h"
