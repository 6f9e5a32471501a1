/*
 * Environment variables through C. Strings that are returned belong to the library and stay valid
 * until the same function is called again on the same thread. Every function returns 0, or -1 and
 * then MXGetLastError() says why.
 */
#ifndef MXNET_C_API_ENV_H_
#define MXNET_C_API_ENV_H_

#include "mxnet/c_api.h"

/* Fails when the environment held a bad value as the library was loaded. A front end calls it
 * first. */
MXNET_C_DLL int MXCheckEnv(void);
/* Changes a variable of this process; "" restores its default. Fails on an unknown name, a bad
 * value, and for what is fixed after start. */
MXNET_C_DLL int MXSetEnv(const char* name, const char* value);
/* The value in effect, as text. Fails on an unknown name. */
MXNET_C_DLL int MXGetEnv(const char* name, const char** out_value);
/*
 * All variables as a JSON list of objects with name, group, type, default (as documented),
 * accepted, help, value (typed), source ("default", "environment", "set_env", "alias NAME") and
 * fixed_after_start.
 */
MXNET_C_DLL int MXListEnv(const char** out_json);

#endif /* MXNET_C_API_ENV_H_ */
