// What comes after the launches of a plan: results are written and checked.
#include "loader/ptxrun/execution.h"

namespace ptxrun::command {

namespace {

void writeRaw(const std::string &path, const Array &array) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  bool isWritten = file && std::fwrite(array.data(), 1, array.bytes(), file) == array.bytes();
  if (file && std::fclose(file) != 0)
    isWritten = false;
  if (!isWritten)
    throw Failed(path + ": cannot be written");
}

} // namespace

/// ok where a launch failed as its description says.
device::Outcome Execution::asExpected(const Launch &launch, device::Outcome outcome) {
  if (launch.outcome == "ok")
    return outcome;
  const std::string name = "the launch of '" + launch.kernel + "'";
  if (outcome.isOk())
    throw Failed(name + " succeeded, but was expected to end with " + launch.outcome);
  if (nameOf(outcome.code) != launch.outcome)
    return outcome;
  for (const std::string &part : launch.report)
    if (outcome.message.find(part) == std::string::npos)
      throw Failed(name + " failed, but its report lacks '" + part + "':\n" + outcome.message);
  if (!options_.isQuiet)
    std::printf("failed as expected: %s\n", outcome.message.c_str());
  return {};
}

void Execution::checkOutcome(const device::Outcome &outcome) {
  if (nameOf(outcome.code) == plan_.outcome) {
    if (!outcome.isOk() && !options_.isQuiet)
      std::printf("failed as expected: %s\n", outcome.message.c_str());
    return;
  }
  if (outcome.isOk())
    throw Failed("the launches succeeded, but were expected to end with " + plan_.outcome);
  ExitCode code = outcome.code == device::Code::timeout     ? kTimeout
                  : outcome.code == device::Code::cancelled ? kInterrupted
                                                            : kFailure;
  throw Failed(outcome.message, code);
}

void Execution::writeOutputs() {
  for (const Buffer &buffer : buffers_) {
    if (buffer.spec.role == BufferSpec::Role::print)
      std::printf("%s, %s: %s\n", buffer.name.c_str(), buffer.now.describe().c_str(),
                  preview(buffer.now, options_.printLimit).c_str());
    if (buffer.spec.output.empty())
      continue;
    std::string path = joinPath(plan_.directory, buffer.spec.output);
    if (path.ends_with(".npy"))
      writeNpy(path, buffer.now);
    else
      writeRaw(path, buffer.now);
    if (!options_.isQuiet)
      std::printf("%s, %s: written to %s\n", buffer.name.c_str(), buffer.now.describe().c_str(),
                  path.c_str());
  }
}

void Execution::checkExpectations() {
  std::string problems;
  for (const Expectation &expectation : plan_.expectations) {
    if (expectation.printed)
      problems += checkPrinted(expectation);
    else
      problems += checkBuffer(expectation);
  }
  if (!problems.empty())
    throw Failed(problems + plan_.name + ": not as expected");
}

std::string Execution::checkPrinted(const Expectation &expectation) {
  std::string differences = compareText(printed_, *expectation.printed, expectation.isAnyOrder);
  if (!differences.empty())
    return "  the printed text differs:\n" + differences;
  if (!options_.isQuiet)
    std::printf("  printed text as expected\n");
  return "";
}

std::string Execution::checkBuffer(const Expectation &expectation) {
  Buffer *buffer = findBuffer(expectation.buffer);
  if (!buffer)
    throw UsageError(plan_.name + ": [[expect]] names a buffer '" + expectation.buffer +
                     "' that does not exist");
  Comparison result;
  if (!expectation.file.empty()) {
    result = compareWithArray(buffer->now, expectation,
                              readNpy(joinPath(plan_.directory, expectation.file)));
  } else {
    auto names = symbols(true);
    result =
        compareWithExpression(buffer->now, expectation, Expression(expectation.value, names));
  }
  if (result.different)
    return "  " + buffer->name + ": " + std::to_string(result.different) + " of " +
           std::to_string(result.compared) + " values differ\n" + result.firstDifferences;
  if (!options_.isQuiet) {
    std::printf("  %s: %llu values as expected", buffer->name.c_str(),
                static_cast<unsigned long long>(result.compared));
    if (expectation.relative > 0 && result.worstRelative > 0)
      std::printf(" (greatest relative difference %.2g)", result.worstRelative);
    std::printf("\n");
  }
  return "";
}

void execute(const Plan &plan, const RunOptions &options) { Execution(plan, options).run(); }

} // namespace ptxrun::command
