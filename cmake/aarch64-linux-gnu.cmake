# Cross compilation for 64-bit Arm from any Debian-like machine; tests run under qemu. See docs/building.md for the sysroot.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(MXNET_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-aarch64 CACHE PATH "Debian arm64 tree with the development packages")
get_filename_component(CMAKE_SYSROOT ${MXNET_SYSROOT} ABSOLUTE)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES MXNET_SYSROOT)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# An unpacked tree lacks the links that Debian's alternatives make when a package is configured.
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu/openblas-pthread)
set(CMAKE_INCLUDE_PATH /usr/include/aarch64-linux-gnu/openblas-pthread)

set(openblas_dir ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/openblas-pthread)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${CMAKE_SYSROOT} -E LD_LIBRARY_PATH=${openblas_dir})
