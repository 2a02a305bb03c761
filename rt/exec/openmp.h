// The first use of OpenMP in a process.
#pragma once

namespace ptxrun::rt {

/// omp_get_max_threads(), safe as the first call of OpenMP in the process: what an earlier process
/// with our number left half done of libomp's registration is removed before libomp reads it.
int openMpThreads();

} // namespace ptxrun::rt
