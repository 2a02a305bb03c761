// The symbols of exported functions' definitions; README.md says why.
#pragma once

#define PTXRUN_BODY_PRAGMA(text) _Pragma(#text)
/// What is declared or defined as `symbol` here, with C linkage, is called `ptxrun_body_symbol` in
/// objects. Stands before the first use.
#define PTXRUN_NAME_BODY(symbol) PTXRUN_BODY_PRAGMA(redefine_extname symbol ptxrun_body_##symbol)
