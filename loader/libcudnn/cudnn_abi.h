// What of cuDNN 9's interface is defined here: names, numbers and shapes from its public
// documentation and from what its library answers.
#pragma once
#include <stddef.h>

typedef enum {
#define STATUS(name, number) name = number,
#include "loader/libcudnn/statuses.def"
#undef STATUS
} cudnnStatus_t;

typedef struct cudnnContext *cudnnHandle_t;
typedef struct CUstream_st *cudaStream_t;
enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL }; ///< libraryPropertyType
