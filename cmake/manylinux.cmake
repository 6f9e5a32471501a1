# Linking for every distribution with a glibc since that of MXNET_SYSROOT (tools/wheel/sysroot.py), for MXNET_ARCH.
# Files are compiled as always, with this machine's headers, so that the wheel has the objects that the tests ran. The folder has
# the older library's names, and the linker refuses any other. GCC's C++ library becomes part of ours, because a distribution's
# own may be older.
set(MXNET_TOOLCHAIN_VARIABLES MXNET_SYSROOT MXNET_ARCH)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ${MXNET_TOOLCHAIN_VARIABLES})
cmake_host_system_information(RESULT host QUERY OS_PLATFORM)
if(MXNET_ARCH STREQUAL host)
  set(CMAKE_C_COMPILER cc)     # the names that CMake finds for ./dev build, and that ccache tells from gcc and g++
  set(CMAKE_CXX_COMPILER c++)
else()
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${MXNET_ARCH})
  set(CMAKE_C_COMPILER ${MXNET_ARCH}-linux-gnu-gcc)
  set(CMAKE_CXX_COMPILER ${MXNET_ARCH}-linux-gnu-g++)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${MXNET_ARCH}-static -L /usr/${MXNET_ARCH}-linux-gnu)
endif()
set(lib ${MXNET_SYSROOT}/usr/lib)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "--sysroot=${MXNET_SYSROOT} -static-libstdc++ -L${lib} -Wl,-rpath-link,${lib} -Wl,--allow-shlib-undefined -Wl,--build-id=none")
endforeach()
set(OpenMP_gomp_LIBRARY ${lib}/libgomp.so CACHE FILEPATH "")
