# mxnet_cpu_variants(objects file_variants.cc ...)
#
# Compiles each file once per instruction-set level with MXNET_CPU_VARIANT=v2|v3|v4; the file puts its functions in
# namespace mxnet::MXNET_CPU_VARIANT and src/base/cpu_dispatch.h chooses one at run time. Only v2 exists off x86.
#
# v2 joins the baseline objects; v3 and v4 become archives. The linker takes archives after all objects, so an inline function
# that both hold (std::vector's, say) is always the baseline copy, never one with instructions that the CPU may lack.
# With MXNET_CPU_LEVEL (the preset fast) there is that level alone.
set(MXNET_CPU_LEVEL "" CACHE STRING "v2, v3 or v4: the only level of kernels, for the machine that builds; empty: all of them")
if(MXNET_CPU_LEVEL)
  target_compile_definitions(mxnet_deps INTERFACE MXNET_ONE_CPU_LEVEL=${MXNET_CPU_LEVEL})
endif()
set(MXNET_AVX512_OPTIONS -Wno-uninitialized -Wno-maybe-uninitialized)   # GCC 12's own header warns: _mm512_undefined_ps
function(mxnet_cpu_variants objects)
  if(NOT ARGN)
    return()
  endif()
  set(levels v2 v3 v4)
  if(MXNET_CPU_LEVEL)
    set(levels ${MXNET_CPU_LEVEL})
  elseif(NOT MXNET_X86)
    set(levels v2)
  endif()
  if(v2 IN_LIST levels)
    add_library(${objects}_v2 OBJECT ${ARGN})
    target_link_libraries(${objects}_v2 PUBLIC mxnet_deps)
    target_compile_definitions(${objects}_v2 PRIVATE MXNET_CPU_VARIANT=v2)
    target_compile_options(${objects}_v2 PRIVATE ${MXNET_KERNEL_OPTIONS})
    target_sources(${objects} INTERFACE $<TARGET_OBJECTS:${objects}_v2>)
    list(REMOVE_ITEM levels v2)
  endif()
  set(options_v3 -march=x86-64-v3)
  set(options_v4 -march=x86-64-v4 -mprefer-vector-width=512 ${MXNET_AVX512_OPTIONS})
  if(MXNET_SANITIZE)
    # The loops are v3's, and few machines that run sanitizers have AVX-512: not worth a fifth of the build's time.
    list(APPEND options_v4 -fno-sanitize=all -O0 -g0)
  endif()
  foreach(level IN LISTS levels)
    add_library(${objects}_${level} STATIC ${ARGN})
    target_link_libraries(${objects}_${level} PRIVATE mxnet_deps)
    target_compile_definitions(${objects}_${level} PRIVATE MXNET_CPU_VARIANT=${level})
    target_compile_options(${objects}_${level} PRIVATE ${MXNET_KERNEL_OPTIONS} ${options_${level}})
    target_link_libraries(${objects} INTERFACE ${objects}_${level})
  endforeach()
endfunction()

# mxnet_cpu_bfloat(objects file_avx512bf16.cc ... file_amx.cc ...)
#
# Compiles each file once, for AVX-512 with the BF16 instructions, and with matrix tiles (AMX) if its name says so, on x86 alone: who calls it asks
# nn::BfloatGemmsHere() or HasAmx() first. An archive, as above.
function(mxnet_cpu_bfloat objects)
  if(NOT ARGN OR NOT MXNET_X86)
    return()
  endif()
  set(options -march=x86-64-v4 -mavx512bf16 -mprefer-vector-width=512 ${MXNET_AVX512_OPTIONS})
  if(MXNET_SANITIZE)
    list(APPEND options -fno-sanitize=all)
  endif()
  add_library(${objects}_bfloat STATIC ${ARGN})
  target_link_libraries(${objects}_bfloat PRIVATE mxnet_deps)
  target_compile_options(${objects}_bfloat PRIVATE ${MXNET_KERNEL_OPTIONS} ${options})
  foreach(file IN LISTS ARGN)
    if(file MATCHES "_amx\\.cc$")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -mamx-tile -mamx-int8 -mamx-bf16)
    endif()
  endforeach()
  target_link_libraries(${objects} INTERFACE ${objects}_bfloat)
endfunction()
