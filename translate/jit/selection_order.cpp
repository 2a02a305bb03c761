// In which order the code generator puts what it selected for a block.
//
// LLVM keeps the order of the IR, which it finds by comparing every candidate with every other, and
// a comparison may walk over all users: in long blocks that takes up to four fifths of the time of
// code generation (CUB's radix sort: 420 ms of which 340). In baseline code any order that keeps
// the dependences will do.
#include <llvm/CodeGen/SchedulerRegistry.h>
#include <llvm/CodeGen/SelectionDAG.h>
#include <llvm/CodeGen/SelectionDAGISel.h>
#include <llvm/Support/CommandLine.h>

#include "translate/jit/target.h"
#include "translate/simt/cost.h"

namespace ptxrun::jit {

using namespace llvm;

namespace {

ScheduleDAGSDNodes *schedulerFor(SelectionDAGISel *selection, CodeGenOptLevel level) {
  if (level == CodeGenOptLevel::None)
    return createFastDAGScheduler(selection, level);
  return createDefaultScheduler(selection, level);
}

RegisterScheduler registered("ptxrun", "the order of the IR, in baseline code the soonest",
                             schedulerFor);

} // namespace

void chooseSelectionOrder() {
  static const bool isChosen [[maybe_unused]] = [] {
    auto option = cl::getRegisteredOptions().find("pre-RA-sched");
    return option != cl::getRegisteredOptions().end() &&
           !option->second->addOccurrence(0, "pre-RA-sched", "ptxrun");
  }();
}

} // namespace ptxrun::jit
