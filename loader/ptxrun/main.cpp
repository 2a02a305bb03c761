// The `ptxrun` command.
#include <cstdio>

#include "loader/device/device.h"
#include "loader/device/summary.h"
#include "loader/ptxrun/commands.h"
#include "rt/observe/trace.h"

int main(int count, char **arguments) {
  const int code = ptxrun::command::runCommandLine(count, arguments);
  ptxrun::device::endBackground();
  ptxrun::rt::trace::finish();
  if (ptxrun::device::summary::isOn())
    std::fputs(ptxrun::device::summary::text().c_str(), stderr);
  return code;
}
