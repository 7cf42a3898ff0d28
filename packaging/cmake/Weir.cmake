# weir_check(TARGET [STRICT] [ARGUMENTS...]): a target weir-check-TARGET that checks the kernels of TARGET's CUDA sources
# with the flags that TARGET is built with. It fails if weir check does, whose status 3 (not all could be looked at) counts
# with STRICT alone. ARGUMENTS are options of weir check.
#
#     list(APPEND CMAKE_MODULE_PATH "<prefix>/share/weir/cmake")
#     include(Weir)
#     add_executable(program main.cpp kernel.cu)
#     weir_check(program)
#
# For a warning from each compilation instead, without a target: cmake -DCMAKE_CUDA_COMPILER_LAUNCHER='weir;nvcc;--'

find_program(WEIR weir DOC "The command of Weir")

function(weir_check target)
    cmake_parse_arguments(PARSE_ARGV 1 asked "STRICT" "" "")
    if(NOT WEIR)
        message(FATAL_ERROR "weir_check: there is no weir in PATH; -DWEIR=PATH names it")
    endif()
    get_target_property(sources ${target} SOURCES)
    set(kernels "")
    foreach(source IN LISTS sources)
        if(source MATCHES "\\.cu$")
            get_filename_component(path "${source}" ABSOLUTE)
            list(APPEND kernels "${path}")
        endif()
    endforeach()
    if(NOT kernels)
        message(FATAL_ERROR "weir_check: ${target} has no CUDA source (.cu)")
    endif()
    set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS ON)
    add_custom_target(weir-check-${target}
        COMMAND ${CMAKE_COMMAND} -DWEIR=${WEIR} "-DFOLDER=${CMAKE_BINARY_DIR}" "-DKERNELS=${kernels}" "-DARGUMENTS=${asked_UNPARSED_ARGUMENTS}"
                -DSTRICT=${asked_STRICT} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
        VERBATIM)
endfunction()

# As a script: what the target runs.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    execute_process(COMMAND ${WEIR} check --compile-commands ${FOLDER} ${ARGUMENTS} ${KERNELS} RESULT_VARIABLE status)
    if(NOT status EQUAL 0 AND (STRICT OR NOT status EQUAL 3))
        message(FATAL_ERROR "weir check: status ${status}")
    endif()
endif()
