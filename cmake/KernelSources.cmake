# mxnet_kernel_sources(target files...): embeds *.cuh files below src for NVRTC; see src/rtc/source.h. Ninja writes the list again when a file changes.
# Targets other than the library's add their files to those of the library.
function(mxnet_kernel_sources target)
  set(stem kernel_sources)
  set(add)
  if(NOT target STREQUAL mxnet_objects)
    set(stem ${target}_kernel_sources)
    set(add -DADD=${target}_)
  endif()
  set(out ${PROJECT_BINARY_DIR}/${stem}.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake)
  # The names are arguments of a file: a command line could become too long, and a removed name must lead to a new list too.
  set(names ${PROJECT_BINARY_DIR}/${stem}.txt)
  list(JOIN ARGN "\n" text)
  file(CONFIGURE OUTPUT ${names} CONTENT "${text}\n" @ONLY)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}/src -DNAMES=${names} -DOUT=${out} ${add} -P ${script}
    DEPENDS ${ARGN} ${names} ${script} VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
