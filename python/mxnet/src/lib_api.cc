/*
 * For Makefiles that compile lib_api.cc, a part of MXNet 1.9.1, into a library of operators,
 * partitioners or passes. The header alone has everything: a library needs this file no more, and
 * the copy of 1.9.1 cannot be compiled with this header, which has defined already what that defines.
 */
#include "mxnet/lib_api.h"
