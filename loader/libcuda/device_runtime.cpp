#include "loader/libcuda/device_runtime.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace ptxrun::driver {

namespace {

struct DeviceFunction {
  std::string_view name;
  std::string_view definition; ///< its line breaks become spaces
};

// Offsets in records: 0 next, 8 kernel, 16 grid, 28 block, 40 shared, 48 stream, 128 arguments.
#define PUSH " atom.global.exch.b64 %old, [ptxrun_child_launches], %rec; st.b64 [%rec], %old; "
#define MALLOC                                                                                     \
  " { .param .b64 bytes; st.param.b64 [bytes], %n; .param .b64 made; call.uni (made), malloc, "    \
  "(bytes); ld.param.b64 %rec, [made]; } setp.eq.u64 %none, %rec, 0; "
// Room for a record of %n bytes, or null: the host gives all of it back when the records are done.
#define ALLOCATE                                                                                   \
  " .reg .b64 %base; add.u64 %n, %n, 127; and.b64 %n, %n, 0xffffffffffffff80; "                    \
  "atom.global.add.u64 %rec, [ptxrun_child_used], %n; add.u64 %n, %rec, %n; "                      \
  "setp.gt.u64 %none, %n, 4194304; mov.u64 %base, ptxrun_child_records; "                          \
  "cvta.global.u64 %base, %base; add.u64 %rec, %base, %rec; @%none mov.u64 %rec, 0; "
// cudaErrorLaunchPendingCountExceeded where there was no room for a record, else what was wrong
// with a launch, which `read` leaves there or takes away.
#define LAST_ERROR(read)                                                                           \
  " .reg .b64 %used; .reg .b32 %e; .reg .pred %p; ld.volatile.global.u64 %used, "                  \
  "[ptxrun_child_used]; setp.gt.u64 %p, %used, 4194304; " read "selp.b32 %e, 69, %e, %p; "         \
  "st.param.b32 [r], %e; ret; }"
// Three sizes, each at least 1 and at most so many: %bad where not, and their product in %x.
#define SIZES(name, mostX, mostY, mostZ)                                                           \
  SIZE(name, mostX)                                                                                \
  "mov.b32 %x, %y; " SIZE(name "+4", mostY) "mul.lo.u32 %x, %x, %y; " SIZE(                        \
      name "+8", mostZ) "mul.lo.u32 %x, %x, %y; "
#define SIZE(from, most)                                                                           \
  "ld.param.b32 %y, [" from "]; sub.u32 %z, %y, 1; setp.ge.u32 %bad, %z, " most                    \
  "; @%bad bra wrong; "
#define ZERO " st.param.b32 [r], 0; ret; }"
#define PUSHED PUSH "st.param.b32 [r], 0; ret; full: st.param.b32 [r], 2; ret; }"
// From a parameter, or from memory at %p, into a record.
#define ARGUMENT(name, to) "ld.param.b64 %x, [" name "]; st.b64 [%rec+" to "], %x; "
#define NARROW(name, to)                                                                           \
  "ld.param.b32 %v, [" name "]; cvt.u64.u32 %x, %v; st.b64 [%rec+" to "], %x; "
#define WORD(from, to) "ld.b64 %x, [%p+" from "]; st.b64 [%rec+" to "], %x; "
#define NUMBER(value, to) "mov.b64 %x, " value "; st.b64 [%rec+" to "], %x; "
// A record of what a stream does: so many bytes, and which (device_runtime.h); its arguments
// follow.
#define RECORD(bytes, kind)                                                                        \
  "mov.b64 %n, " bytes ";" ALLOCATE "@%none bra full; " NUMBER(kind, "8") ARGUMENT("stream", "48")
// The text for %e out of a few; all that these functions return have one.
#define IF_ERROR(code, text) "setp.eq.b32 %p, %e, " code "; @%p mov.u64 %s, ptxrun_error_" text "; "
#define ERROR_TEXT(name, kind)                                                                     \
  ".func (.param .b64 r) " name "(.param .b32 error) { .reg .b32 %e; .reg .b64 %s; "               \
  ".reg .pred %p; ld.param.b32 %e, [error]; mov.u64 %s, ptxrun_error_other; " IF_ERROR(            \
      "0", kind "_0") IF_ERROR("1", kind "_1") IF_ERROR("2", kind "_2") IF_ERROR("9", kind "_9")   \
      IF_ERROR("69", kind "_69") "cvta.global.u64 %s, %s; st.param.b64 [r], %s; ret; }"

// A kernel node that kernels can change is the address of a record (device_node.h): 0 bytes of
// arguments, 8 whether it is enabled, 12 grid, 32 arguments.
#define NODE(from) "ld.param.b64 %d, [" from "]; setp.eq.u64 %p, %d, 0; @%p bra wrong; "
// The new grid, if each size is allowed.
#define NODE_SIZES(load, from, x, y, z)                                                            \
  load " %x, [" from "+" x "]; " load " %y, [" from "+" y "]; " load " %z, [" from "+" z "]; "     \
       "sub.u32 %t, %x, 1; setp.ge.u32 %p, %t, 0x7fffffff; @%p bra wrong; "                        \
       "sub.u32 %t, %y, 1; setp.ge.u32 %p, %t, 65535; @%p bra wrong; "                             \
       "sub.u32 %t, %z, 1; setp.ge.u32 %p, %t, 65535; @%p bra wrong; "                             \
       "st.global.b32 [%d+12], %x; st.global.b32 [%d+16], %y; st.global.b32 [%d+20], %z; "
// %n bytes at %s to %o of the arguments, one by one: they need not be aligned.
#define NODE_ARGUMENTS(label)                                                                      \
  "ld.global.b64 %b, [%d]; setp.gt.u64 %p, %o, %b; @%p bra wrong; sub.u64 %b, %b, %o; "            \
  "setp.gt.u64 %p, %n, %b; @%p bra wrong; add.u64 %d, %d, %o; " label ": setp.eq.u64 %p, %n, 0; "  \
  "@%p bra " label "_done; ld.u8 %x, [%s]; st.global.u8 [%d+32], %x; add.u64 %s, %s, 1; "          \
  "add.u64 %d, %d, 1; sub.u64 %n, %n, 1; bra " label "; " label "_done: "
#define NODE_REGISTERS ".reg .b64 %d, %s, %o, %n, %b; .reg .b32 %x, %y, %z, %t; .reg .pred %p; "
#define NODE_END "st.param.b32 [r], 0; ret; wrong: st.param.b32 [r], 1; ret; }"

constexpr DeviceFunction kFunctions[] = {
    // A conditional handle is the address of the value (graph.h).
    {"cudaGraphSetConditional",
     ".func cudaGraphSetConditional(.param .b64 handle, .param .b32 value) { .reg .b64 %h; "
     ".reg .b32 %v; ld.param.b64 %h, [handle]; ld.param.b32 %v, [value]; st.global.b32 [%h], %v; "
     "ret; }"},
    {"cudaGraphKernelNodeSetEnabled",
     ".func (.param .b32 r) cudaGraphKernelNodeSetEnabled(.param .b64 node, .param .b32 enable) "
     "{ " NODE_REGISTERS NODE(
         "node") "ld.param.b32 %x, [enable]; st.global.b32 [%d+8], %x; " NODE_END},
    {"cudaGraphKernelNodeSetGridDim",
     ".func (.param .b32 r) cudaGraphKernelNodeSetGridDim(.param .b64 node, "
     ".param .align 4 .b8 grid[12]) { " NODE_REGISTERS NODE("node")
         NODE_SIZES("ld.param.b32", "grid", "0", "4", "8") NODE_END},
    {"cudaGraphKernelNodeSetParam",
     ".func (.param .b32 r) cudaGraphKernelNodeSetParam(.param .b64 node, .param .b64 offset, "
     ".param .b64 value, .param .b64 size) { " NODE_REGISTERS NODE(
         "node") "ld.param.b64 %o, [offset]; ld.param.b64 %s, [value]; ld.param.b64 %n, "
                 "[size]; " NODE_ARGUMENTS("copy") NODE_END},
    // Updates, 40 bytes each: 0 node, 8 what (1 grid, 2 argument, 3 whether it is enabled), 16 the
    // new value (of an argument: 16 where it is, 24 offset, 32 bytes).
    {"cudaGraphKernelNodeUpdatesApply",
     ".func (.param .b32 r) cudaGraphKernelNodeUpdatesApply(.param .b64 updates, "
     ".param .b64 count) { .reg .b64 %u, %c; " NODE_REGISTERS
     "ld.param.b64 %u, [updates]; ld.param.b64 %c, [count]; "
     "next: setp.eq.u64 %p, %c, 0; @%p bra done; ld.b64 %d, [%u]; setp.eq.u64 %p, %d, 0; "
     "@%p bra wrong; ld.b32 %x, [%u+8]; setp.eq.u32 %p, %x, 1; @%p bra grid; "
     "setp.eq.u32 %p, %x, 2; @%p bra argument; setp.ne.u32 %p, %x, 3; @%p bra wrong; "
     "ld.b32 %x, [%u+16]; st.global.b32 [%d+8], %x; bra applied; "
     "argument: ld.b64 %s, [%u+16]; ld.b64 %o, [%u+24]; ld.b64 %n, [%u+32]; " NODE_ARGUMENTS(
         "copy") "bra applied; grid: " NODE_SIZES("ld.b32", "%u", "16", "20",
                                                  "24") "applied: add.u64 %u, %u, 40; sub.u64 %c, "
                                                        "%c, 1; bra next; done: " NODE_END},
    {"cudaGraphLaunch",
     ".func (.param .b32 r) cudaGraphLaunch(.param .b64 exec, .param .b64 stream) { "
     ".reg .b64 %n, %rec, %old, %x; .reg .pred %none; " RECORD("136", "3") ARGUMENT("exec", "128")
         PUSHED},
    {"__cudaCDP2GetParameterBufferV2",
     ".func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 kernel, "
     ".param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared) { "
     ".reg .b64 %n, %rec, %k; .reg .b32 %x, %y, %z; .reg .pred %none, %bad; " SIZES(
         "grid", "0x7fffffff", "65535", "65535")
         SIZES("block", "1024", "1024",
               "64") "setp.gt.u32 %bad, %x, 1024; @%bad bra wrong; ld.param.b64 %k, [kernel]; "
                     "and.b64 %n, %k, 65535; add.u64 %n, %n, 128;" ALLOCATE "@%none bra full; "
                     "st.b64 [%rec+8], %k; "
                     "ld.param.b32 %x, [grid]; st.b32 [%rec+16], %x; ld.param.b32 %x, [grid+4]; "
                     "st.b32 [%rec+20], %x; ld.param.b32 %x, [grid+8]; st.b32 [%rec+24], %x; "
                     "ld.param.b32 %x, [block]; st.b32 [%rec+28], %x; ld.param.b32 %x, [block+4]; "
                     "st.b32 [%rec+32], %x; ld.param.b32 %x, [block+8]; st.b32 [%rec+36], %x; "
                     "ld.param.b32 %x, [shared]; st.b32 [%rec+40], %x; add.u64 %rec, %rec, 128; "
                     "full: st.param.b64 [r], %rec; ret; "
                     "wrong: mov.b32 %x, 9; st.volatile.global.b32 [ptxrun_child_wrong], %x; "
                     "mov.b64 %rec, 0; "
                     "st.param.b64 [r], %rec; ret; }"},
    {"__cudaCDP2GetParameterBuffer",
     ".func (.param .b64 r) __cudaCDP2GetParameterBuffer(.param .b64 alignment, .param .b64 size) "
     "{ .reg .b64 %n, %rec; .reg .pred %none; ld.param.b64 %n, [size]; add.u64 %n, %n, "
     "128;" ALLOCATE "@%none bra full; add.u64 %rec, %rec, 128; full: st.param.b64 [r], %rec; "
     "ret; }"},
    {"__cudaCDP2LaunchDeviceV2",
     ".func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream) { "
     ".reg .b64 %rec, %old, %x; ld.param.b64 %rec, [buffer]; sub.u64 %rec, %rec, 128; "
     "ld.param.b64 %x, [stream]; st.b64 [%rec+48], %x;" PUSH ZERO},
    {"__cudaCDP2LaunchDevice",
     ".func (.param .b32 r) __cudaCDP2LaunchDevice(.param .b64 kernel, .param .b64 buffer, "
     ".param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared, "
     ".param .b64 stream) { .reg .b64 %rec, %old, %k; .reg .b32 %x; ld.param.b64 %rec, [buffer]; "
     "sub.u64 %rec, %rec, 128; ld.param.b64 %k, [kernel]; st.b64 [%rec+8], %k; "
     "ld.param.b32 %x, [grid]; st.b32 [%rec+16], %x; ld.param.b32 %x, [grid+4]; "
     "st.b32 [%rec+20], %x; ld.param.b32 %x, [grid+8]; st.b32 [%rec+24], %x; "
     "ld.param.b32 %x, [block]; st.b32 [%rec+28], %x; ld.param.b32 %x, [block+4]; "
     "st.b32 [%rec+32], %x; ld.param.b32 %x, [block+8]; st.b32 [%rec+36], %x; "
     "ld.param.b32 %x, [shared]; st.b32 [%rec+40], %x; ld.param.b64 %k, [stream]; "
     "st.b64 [%rec+48], %k;" PUSH ZERO},
    {"__cudaCDP2MemcpyAsync",
     ".func (.param .b32 r) __cudaCDP2MemcpyAsync(.param .b64 to, .param .b64 from, "
     ".param .b64 count, .param .b32 kind, .param .b64 stream) { .reg .b64 %n, %rec, %old, %x; "
     ".reg .pred %none; " RECORD("152", "1") ARGUMENT("to", "128") ARGUMENT("from", "136")
         ARGUMENT("count", "144") PUSHED},
    {"__cudaCDP2MemsetAsync",
     ".func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 to, .param .b32 value, "
     ".param .b64 count, .param .b64 stream) { .reg .b64 %n, %rec, %old, %x; .reg .b32 %v; "
     ".reg .pred %none; " RECORD("152", "2") ARGUMENT("to", "128") NARROW("value", "136")
         ARGUMENT("count", "144") PUSHED},
    {"__cudaCDP2Memcpy2DAsync",
     ".func (.param .b32 r) __cudaCDP2Memcpy2DAsync(.param .b64 to, .param .b64 topitch, "
     ".param .b64 from, .param .b64 frompitch, .param .b64 width, .param .b64 height, "
     ".param .b32 kind, .param .b64 stream) { .reg .b64 %n, %rec, %old, %x; .reg .pred "
     "%none; " RECORD("176", "4") ARGUMENT("to", "128") ARGUMENT("topitch", "136")
         ARGUMENT("from", "144") ARGUMENT("frompitch", "152") ARGUMENT("width", "160")
             ARGUMENT("height", "168") PUSHED},
    {"__cudaCDP2Memset2DAsync",
     ".func (.param .b32 r) __cudaCDP2Memset2DAsync(.param .b64 to, .param .b64 pitch, "
     ".param .b32 value, .param .b64 width, .param .b64 height, .param .b64 stream) { "
     ".reg .b64 %n, %rec, %old, %x; .reg .b32 %v; .reg .pred %none; " RECORD("184", "5") ARGUMENT(
         "to", "128") ARGUMENT("pitch", "136") NARROW("value", "144") ARGUMENT("width", "152")
         ARGUMENT("height", "160") NUMBER("0", "168") NUMBER("1", "176") PUSHED},
    // cudaPitchedPtr: pointer, pitch, width, height; cudaExtent: width, height, depth.
    {"__cudaCDP2Memset3DAsync",
     ".func (.param .b32 r) __cudaCDP2Memset3DAsync(.param .align 8 .b8 to[32], "
     ".param .b32 value, .param .align 8 .b8 extent[24], .param .b64 stream) { "
     ".reg .b64 %n, %rec, %old, %x, %h; .reg .b32 %v; .reg .pred %none; " RECORD("184", "5")
         ARGUMENT("to", "128") ARGUMENT("to+8", "136") NARROW("value", "144") ARGUMENT("extent",
                                                                                       "152")
             ARGUMENT("extent+8", "160") "ld.param.b64 %x, [to+8]; ld.param.b64 %h, [to+24]; "
                                         "mul.lo.u64 %x, %x, %h; st.b64 [%rec+168], %x; " ARGUMENT(
                                             "extent+16", "176") PUSHED},
    {"__cudaCDP2Memcpy3DAsync",
     ".func (.param .b32 r) __cudaCDP2Memcpy3DAsync(.param .b64 p, .param .b64 stream) { "
     ".reg .b64 %n, %rec, %old, %x, %p; .reg .pred %none; " RECORD(
         "280", "6") "ld.param.b64 %p, [p]; " WORD("0", "128") WORD("8", "136") WORD("16", "144")
         WORD("24", "152") WORD("32", "160") WORD("40", "168") WORD("48", "176") WORD("56", "184")
             WORD("64", "192") WORD("72", "200") WORD("80", "208") WORD("88", "216")
                 WORD("96", "224") WORD("104", "232") WORD("112", "240") WORD("120", "248")
                     WORD("128", "256") WORD("136", "264") WORD("144", "272") PUSHED},
    // Children run one after the other in the order in which they were launched: that satisfies
    // streams and events, whatever they are.
    {"__cudaCDP2StreamCreateWithFlags",
     ".func (.param .b32 r) __cudaCDP2StreamCreateWithFlags(.param .b64 p, .param .b32 flags) { "
     ".reg .b64 %p, %x; ld.param.b64 %p, [p]; mov.b64 %x, 4096; st.b64 [%p], %x;" ZERO},
    {"__cudaCDP2StreamDestroy",
     ".func (.param .b32 r) __cudaCDP2StreamDestroy(.param .b64 s) {" ZERO},
    {"__cudaCDP2StreamWaitEvent",
     ".func (.param .b32 r) __cudaCDP2StreamWaitEvent(.param .b64 s, .param .b64 e, .param .b32 f) "
     "{" ZERO},
    {"__cudaCDP2EventCreateWithFlags",
     ".func (.param .b32 r) __cudaCDP2EventCreateWithFlags(.param .b64 p, .param .b32 flags) { "
     ".reg .b64 %p, %x; ld.param.b64 %p, [p]; mov.b64 %x, 8192; st.b64 [%p], %x;" ZERO},
    {"__cudaCDP2EventRecord",
     ".func (.param .b32 r) __cudaCDP2EventRecord(.param .b64 e, .param .b64 s) {" ZERO},
    {"__cudaCDP2EventRecordWithFlags",
     ".func (.param .b32 r) __cudaCDP2EventRecordWithFlags(.param .b64 e, .param .b64 s, "
     ".param .b32 f) {" ZERO},
    {"__cudaCDP2EventDestroy",
     ".func (.param .b32 r) __cudaCDP2EventDestroy(.param .b64 e) {" ZERO},
    {"__cudaCDP2GetLastError", ".func (.param .b32 r) __cudaCDP2GetLastError() {" LAST_ERROR(
                                   "atom.global.exch.b32 %e, [ptxrun_child_wrong], 0; ")},
    {"__cudaCDP2PeekAtLastError", ".func (.param .b32 r) __cudaCDP2PeekAtLastError() {" LAST_ERROR(
                                      "ld.volatile.global.b32 %e, [ptxrun_child_wrong]; ")},
    {"__cudaCDP2GetDevice",
     ".func (.param .b32 r) __cudaCDP2GetDevice(.param .b64 p) { .reg .b64 %p; .reg .b32 %x; "
     "ld.param.b64 %p, [p]; mov.b32 %x, 0; st.b32 [%p], %x;" ZERO},
    {"__cudaCDP2GetDeviceCount",
     ".func (.param .b32 r) __cudaCDP2GetDeviceCount(.param .b64 p) { .reg .b64 %p; .reg .b32 %x; "
     "ld.param.b64 %p, [p]; mov.b32 %x, 1; st.b32 [%p], %x;" ZERO},
    {"__cudaCDP2DeviceGetAttribute",
     ".func (.param .b32 r) __cudaCDP2DeviceGetAttribute(.param .b64 p, .param .b32 attribute, "
     ".param .b32 device) { .reg .b64 %p, %t, %x; .reg .b32 %a, %v; .reg .pred %bad; "
     "ld.param.b32 %a, [attribute]; setp.ge.u32 %bad, %a, 160; @%bad bra wrong; "
     "mov.u64 %t, ptxrun_device_attributes; mul.wide.u32 %x, %a, 4; add.u64 %t, %t, %x; "
     "ld.global.b32 %v, [%t]; setp.eq.b32 %bad, %v, 0x80000000; @%bad bra wrong; "
     "ld.param.b64 %p, [p]; st.b32 [%p], %v; st.param.b32 [r], 0; ret; "
     "wrong: st.param.b32 [r], 1; ret; }"},
    {"__cudaCDP2DeviceGetLimit",
     ".func (.param .b32 r) __cudaCDP2DeviceGetLimit(.param .b64 p, .param .b32 limit) { "
     ".reg .b64 %p, %t, %x; .reg .b32 %l; .reg .pred %bad; ld.param.b32 %l, [limit]; "
     "setp.ge.u32 %bad, %l, 8; @%bad bra wrong; mov.u64 %t, ptxrun_device_limits; "
     "mul.wide.u32 %x, %l, 8; add.u64 %t, %t, %x; ld.global.b64 %x, [%t]; ld.param.b64 %p, [p]; "
     "st.b64 [%p], %x; st.param.b32 [r], 0; ret; wrong: st.param.b32 [r], 215; ret; }"},
    {"__cudaCDP2DeviceGetCacheConfig",
     ".func (.param .b32 r) __cudaCDP2DeviceGetCacheConfig(.param .b64 p) { .reg .b64 %p; "
     ".reg .b32 %x; ld.param.b64 %p, [p]; mov.b32 %x, 0; st.b32 [%p], %x;" ZERO},
    {"__cudaCDP2DeviceGetSharedMemConfig",
     ".func (.param .b32 r) __cudaCDP2DeviceGetSharedMemConfig(.param .b64 p) { .reg .b64 %p; "
     ".reg .b32 %x; ld.param.b64 %p, [p]; mov.b32 %x, 1; st.b32 [%p], %x;" ZERO},
    {"__cudaCDP2RuntimeGetVersion",
     ".func (.param .b32 r) __cudaCDP2RuntimeGetVersion(.param .b64 p) { .reg .b64 %p; "
     ".reg .b32 %x; ld.param.b64 %p, [p]; mov.b32 %x, 13000; st.b32 [%p], %x;" ZERO},
    {"__cudaCDP2GetErrorName", ERROR_TEXT("__cudaCDP2GetErrorName", "name")},
    {"__cudaCDP2GetErrorString", ERROR_TEXT("__cudaCDP2GetErrorString", "text")},
    {"__cudaCDP2Malloc",
     ".func (.param .b32 r) __cudaCDP2Malloc(.param .b64 p, .param .b64 size) { "
     ".reg .b64 %n, %rec, %p; .reg .pred %none; ld.param.b64 %n, [size];" MALLOC
     "ld.param.b64 %p, [p]; st.b64 [%p], %rec; @%none bra full; st.param.b32 [r], 0; ret; "
     "full: st.param.b32 [r], 2; ret; }"},
    {"__cudaCDP2Free",
     ".func (.param .b32 r) __cudaCDP2Free(.param .b64 p) { .reg .b64 %p; ld.param.b64 %p, [p]; "
     "{ .param .b64 freed; st.param.b64 [freed], %p; call.uni free, (freed); }" ZERO},
};

#undef PUSH
#undef ALLOCATE
#undef MALLOC
#undef ZERO
#undef LAST_ERROR
#undef SIZES
#undef SIZE
#undef PUSHED
#undef ARGUMENT
#undef NARROW
#undef WORD
#undef NUMBER
#undef RECORD
#undef IF_ERROR
#undef ERROR_TEXT
#undef NODE
#undef NODE_SIZES
#undef NODE_ARGUMENTS
#undef NODE_REGISTERS
#undef NODE_END

constexpr std::string_view kPerThread = "_ptsz"; ///< its stream 0 is no other to us

bool isNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$';
}
bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Where the function's `.extern` declaration stands, its semicolon included; empty where there is
/// none.
std::string_view findDeclaration(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const size_t after = at + name.size();
    if ((after < text.size() && isNameCharacter(text[after])) ||
        (at > 0 && isNameCharacter(text[at - 1])))
      continue;
    const size_t begin = text.substr(0, at).rfind(".extern");
    const size_t end = text.find(';', after);
    if (begin == std::string_view::npos || end == std::string_view::npos)
      continue;
    const std::string_view found = text.substr(begin, end + 1 - begin);
    // Nothing but the declaration lies between: no other statement, no body.
    if (found.find_first_of(";{}") == found.size() - 1 &&
        found.find(".func") != std::string_view::npos)
      return found;
  }
  return {};
}

/// Bytes that parameters between the parentheses can take, all gaps counted.
uint64_t parameterRoom(std::string_view list) {
  uint64_t bytes = 0;
  for (size_t at = list.find(".param"); at != std::string_view::npos;
       at = list.find(".param", at + 1)) {
    std::string_view one = list.substr(at + 6);
    one = one.substr(0, one.find(".param"));
    uint64_t size = 8, count = 1, alignment = 8;
    const auto number = [&](size_t from, uint64_t &out) {
      std::from_chars(one.data() + from, one.data() + one.size(), out);
    };
    if (const size_t aligned = one.find(".align "); aligned != std::string_view::npos)
      number(aligned + 7, alignment);
    if (one.find(".b8") != std::string_view::npos)
      size = 1;
    if (const size_t bracket = one.find('['); bracket != std::string_view::npos)
      number(bracket + 1, count);
    bytes += size * count + std::max<uint64_t>(alignment, 8);
  }
  return std::min<uint64_t>(bytes, 0xfff8);
}

/// The kernels that the text defines or declares, with what their addresses are.
std::map<std::string_view, uint64_t> kernelsOf(std::string_view text) {
  constexpr std::string_view kEntry = ".entry";
  std::map<std::string_view, uint64_t> found;
  for (size_t at = text.find(kEntry); at != std::string_view::npos;
       at = text.find(kEntry, at + 1)) {
    size_t begin = at + kEntry.size();
    while (begin < text.size() && isSpace(text[begin]))
      ++begin;
    size_t end = begin;
    while (end < text.size() && isNameCharacter(text[end]))
      ++end;
    const std::string_view name = text.substr(begin, end - begin);
    const size_t open = text.find_first_not_of(" \t\r\n", end);
    std::string_view list;
    if (open != std::string_view::npos && text[open] == '(')
      list = text.substr(open, text.find(')', open) - open);
    found[name] = (kernelNumber(name) & kKernelNumberMask) | parameterRoom(list);
  }
  return found;
}

/// `mov.u64 register, kernel;` becomes a move of the kernel's number, and a move of the running
/// graph a load.
void replaceMoves(std::string &text) {
  constexpr std::string_view kMove = "mov.u64", kGraph = "%current_graph_exec";
  const std::string original = text;
  const auto kernels = kernelsOf(original);
  std::string out;
  size_t copied = 0;
  const std::string_view view = original;
  for (size_t at = view.find(kMove); at != std::string_view::npos; at = view.find(kMove, at + 1)) {
    const size_t comma = view.find(',', at), end = view.find(';', at);
    if (comma == std::string_view::npos || end == std::string_view::npos || comma > end)
      continue;
    size_t first = comma + 1, last = end;
    while (first < last && isSpace(view[first]))
      ++first;
    while (last > first && isSpace(view[last - 1]))
      --last;
    const std::string_view operand = view.substr(first, last - first);
    const auto kernel = kernels.find(operand);
    if (kernel != kernels.end()) {
      out.append(view.substr(copied, first - copied)).append(std::to_string(kernel->second));
    } else if (operand == kGraph) {
      const size_t target = at + kMove.size();
      out.append(view.substr(copied, at - copied))
          .append("ld.global.u64")
          .append(view.substr(target, first - target))
          .append("[")
          .append(kCurrentGraphName)
          .append("]");
    } else {
      continue;
    }
    copied = last;
  }
  out.append(view.substr(copied));
  text = std::move(out);
}

/// Puts the text in the place of a declaration.
void replaceDeclaration(std::string &text, std::string_view declaration, std::string definition) {
  std::ranges::replace(definition, '\n', ' ');
  const auto lines = static_cast<size_t>(std::ranges::count(declaration, '\n'));
  const auto place = static_cast<size_t>(declaration.data() - text.data());
  text.replace(place, declaration.size(), definition + std::string(lines, '\n'));
}

/// `.b8 name[]` with the text's characters.
std::string textVariable(std::string_view name, std::string_view text) {
  std::string s = ".weak .global .align 1 .b8 ptxrun_error_" + std::string(name) + "[" +
                  std::to_string(text.size() + 1) + "] = {";
  for (const char c : text)
    s += std::to_string(static_cast<unsigned char>(c)) + ",";
  return s + "0}; ";
}

/// What kernels are told of the device, as variables.
std::string deviceTables(const DeviceFacts &facts) {
  const auto list = [](const auto &values) {
    std::string s = "[" + std::to_string(values.size()) + "] = {";
    for (const auto value : values)
      s += std::to_string(value) + ",";
    s.back() = '}';
    return s + "; ";
  };
  return ".weak .global .align 4 .b32 ptxrun_device_attributes" + list(facts.attributes) +
         ".weak .global .align 8 .b64 ptxrun_device_limits" + list(facts.limits);
}

std::string errorTexts() {
  return textVariable("other", "unrecognized error code") + textVariable("name_0", "cudaSuccess") +
         textVariable("text_0", "no error") + textVariable("name_1", "cudaErrorInvalidValue") +
         textVariable("text_1", "invalid argument") +
         textVariable("name_2", "cudaErrorMemoryAllocation") +
         textVariable("text_2", "out of memory") +
         textVariable("name_9", "cudaErrorInvalidConfiguration") +
         textVariable("text_9", "invalid configuration argument") +
         textVariable("name_69", "cudaErrorLaunchPendingCountExceeded") +
         textVariable("text_69", "launch pending count exceeded");
}

/// What records need, behind the header.
void addRecords(std::string &text, const std::function<DeviceFacts()> &facts) {
  std::string declarations = ".extern .func (.param .b64 r) malloc(.param .b64 bytes); "
                             ".extern .func free(.param .b64 pointer); ";
  // The text's own declarations may come too late.
  for (const char *name : {"malloc", "free"})
    if (const std::string_view found = findDeclaration(text, name); !found.empty())
      replaceDeclaration(text, found, "");
  for (const char *variable : {kChildListName, kChildBytesName, kCurrentGraphName})
    declarations += ".weak .global .align 8 .u64 " + std::string(variable) + "; ";
  declarations += ".weak .global .align 4 .u32 ptxrun_child_wrong; ";
  declarations += ".weak .global .align 128 .b8 ptxrun_child_records[4194304]; ";
  if (text.find("__cudaCDP2DeviceGet") != std::string::npos)
    declarations += deviceTables(facts ? facts() : DeviceFacts{});
  if (text.find("__cudaCDP2GetError") != std::string::npos)
    declarations += errorTexts();
  const size_t header = text.find(".address_size");
  const size_t end = header == std::string::npos ? header : text.find('\n', header);
  if (end != std::string::npos)
    text.insert(end, " " + declarations);
}

} // namespace

uint64_t kernelNumber(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  for (const char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string withDeviceRuntime(std::string ptx, const std::function<DeviceFacts()> &facts) {
  const bool launches = ptx.find("__cudaCDP2") != std::string::npos ||
                        !findDeclaration(ptx, "cudaGraphLaunch").empty() ||
                        ptx.find("%current_graph_exec") != std::string::npos;
  for (const DeviceFunction &function : kFunctions) {
    if (const std::string_view found = findDeclaration(ptx, function.name); !found.empty())
      replaceDeclaration(ptx, found, std::string(function.definition));
    const std::string perThread = std::string(function.name) + std::string(kPerThread);
    if (const std::string_view found = findDeclaration(ptx, perThread); !found.empty()) {
      std::string definition(function.definition);
      definition.replace(definition.find(function.name), function.name.size(), perThread);
      replaceDeclaration(ptx, found, std::move(definition));
    }
  }
  if (launches) {
    replaceMoves(ptx);
    addRecords(ptx, facts);
  }
  return ptx;
}

} // namespace ptxrun::driver
