// --plot: what the warps of launches do, per line, as a page.
#pragma once
#include <string>

namespace ptxrun::debug {
class Program;
}

namespace ptxrun::command {

/// Runs the program's launches once, one after the other, and writes the page. Throws UsageError
/// where the file cannot be written, Failed where a launch failed or did not come out as it should.
void plotLaunches(debug::Program &, const std::string &file);

} // namespace ptxrun::command
