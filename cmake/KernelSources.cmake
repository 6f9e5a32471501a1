# mxnet_kernel_sources(target files...): embeds *.cuh files below src for NVRTC; see src/rtc/source.h. Ninja writes the list again when a file changes.
function(mxnet_kernel_sources target)
  set(out ${PROJECT_BINARY_DIR}/kernel_sources.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake)
  # The names are arguments of a file: a command line could become too long, and a removed name must lead to a new list too.
  set(names ${PROJECT_BINARY_DIR}/kernel_sources.txt)
  list(JOIN ARGN "\n" text)
  file(CONFIGURE OUTPUT ${names} CONTENT "${text}\n" @ONLY)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/src -DNAMES=${names} -DOUT=${out} -P ${script}
    DEPENDS ${ARGN} ${names} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
