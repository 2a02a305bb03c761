// Definitions of exported functions carry a name of their own (loader/boundary/body_names.h): this
// comes before the first of them.
#pragma once
#include "loader/boundary/body_names.h"

#define FUNCTION(name) PTXRUN_NAME_BODY(name)
#include "loader/libcudnn/functions.def"
#undef FUNCTION
