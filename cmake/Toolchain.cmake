# Compiler settings shared by every target.
set(CMAKE_CXX_STANDARD 17)  # dmlc-core 0.5 does not parse as C++20
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# -O2 everywhere, -O3 where loops are (MXNET_KERNEL_OPTIONS): compile time is part of the budget.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
set(CMAKE_C_FLAGS_DEBUG "-Og -g")
# Selecting between two computed values may not be vectorized while comparisons could trap.
set(MXNET_KERNEL_OPTIONS $<$<CONFIG:Release>:-O3> -fno-trapping-math)
# Where the price of a call matters: behind a dozen checks that may return, GCC takes code for cold, and it copies and clears a shape
# or an array by string instructions, which take 20 to 30 cycles to begin.
set(MXNET_CALL_OPTIONS "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(MXNET_CALL_OPTIONS --param=hot-bb-frequency-fraction=100000000)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    list(APPEND MXNET_CALL_OPTIONS -mmemcpy-strategy=vector_loop:256:noalign,libcall:-1:noalign
      -mmemset-strategy=vector_loop:256:noalign,libcall:-1:noalign)
  endif()
endif()

add_compile_options(
  $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra> $<$<COMPILE_LANGUAGE:CXX>:-Wno-unused-parameter>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)  # errno from sqrt and friends is read nowhere and stops vectorization
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)  # said of references into caches, whose keys are temporaries
endif()
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" processor)
if(processor MATCHES "x86_64|amd64")
  set(MXNET_X86 ON)
  add_compile_options($<$<NOT:$<COMPILE_LANGUAGE:CUDA>>:-march=x86-64-v2>)
else()
  set(MXNET_X86 OFF)
endif()

# Sanitizer and debug builds keep internal symbols visible, so that tests link the library itself (see tests/CMakeLists.txt).
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(MXNET_HIDE_SYMBOLS ON)
  set(CMAKE_C_VISIBILITY_PRESET hidden)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
else()
  set(MXNET_HIDE_SYMBOLS OFF)
endif()
if(MXNET_SANITIZE)
  add_compile_options(-fsanitize=${MXNET_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MXNET_SANITIZE})
  if(MXNET_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
add_link_options(-Wl,--as-needed)

# The standard headers that most files see are parsed once. Nothing of ours is among them, so no change of ours makes them anew.
# Other builds than Release do without, and so find a header that a file needs and does not include.
set(precompile_default OFF)
if(MXNET_HIDE_SYMBOLS)
  set(precompile_default ON)
endif()
option(MXNET_PRECOMPILE "Precompile standard headers" ${precompile_default})
set(MXNET_STANDARD_HEADERS <algorithm> <atomic> <cmath> <cstdint> <cstring> <functional> <map> <memory> <mutex> <optional> <sstream>
  <string> <string_view> <unordered_map> <utility> <vector>)
function(mxnet_precompile target)
  if(MXNET_PRECOMPILE)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1>")
    target_precompile_headers(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)   # for ccache
  endif()
endfunction()

# ccache: relative paths and no working directory in the hash, so that every checkout shares one cache.
find_program(CCACHE ccache)
if(CCACHE)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})   # precompiled headers need these; no file of ours says the time
  foreach(language C CXX CUDA)
    set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher} CACHE STRING "" FORCE)
  endforeach()
else()
  # The same relative paths in __FILE__ and in debugging information, so that no folder of this machine is in a library.
  file(RELATIVE_PATH sources ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
  foreach(map ${PROJECT_SOURCE_DIR}/=${sources} ${PROJECT_BINARY_DIR}/=)   # the last one that fits is taken
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-ffile-prefix-map=${map}>)
  endforeach()
endif()
