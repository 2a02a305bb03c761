// tcgen05.mma, cp, shift and st where asynchronous operations are put off: a CTA pair's are kept in
// the order in which they were issued (which is at least the order that pipelines and fences
// promise, PTX ISA 9.7.16.6.2) and performed when a commit or wait needs them.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "rt/launch/records.h"
#include "rt/tensor/tensor_multiply.h"

namespace ptxrun::rt {

/// One operation, ready to be performed for the gang that issued it.
struct TensorOperation {
  virtual ~TensorOperation() = default;
  virtual void perform(GangState &) = 0;
  virtual std::unique_ptr<TensorOperation> copy() const = 0;
  GangState *gang = nullptr;
  bool isStore = false; ///< tcgen05.st: tcgen05.wait::st waits for it
  uint64_t number = 0;  ///< operations of the group, in order
};

template <class Operation> std::unique_ptr<TensorOperation> copyOf(const Operation &o) {
  return std::make_unique<Operation>(o);
}

/// Of a group, at its first CTA.
struct TensorQueue {
  std::deque<std::unique_ptr<TensorOperation>> pending;
  uint64_t issued = 0;
  /// Products of one gang that continue each other, where nothing is put off: performed together as
  /// soon as anybody may look, at the next tcgen05 instruction of another kind.
  std::vector<TensorMmaOperands> run;
  GangState *runner = nullptr;
  /// What is being performed: here, since a failure abandons the stack.
  std::vector<TensorMmaOperands> performedRun;
  std::vector<std::unique_ptr<TensorOperation>> performed;
};

/// Eager: multiplies now or with the products that follow.
void multiplySoon(GangState &, const TensorMmaOperands &);
/// Performs the group's run, if there is one.
void finishRun(GangState &);

/// Performs the operation now, or keeps it as the launch's policy says.
template <class Operation> void submitTensorOperation(GangState &g, const Operation &o);
/// Performs the operations of the group with numbers below `end`, in order.
void performTensorOperations(GangState &, uint64_t end);
/// Performs what is pending of the gang's warp's stores.
void performTensorStores(GangState &);
/// How many operations were issued: what a commit waits for.
uint64_t issuedTensorOperations(GangState &);

bool isTensorEager(GangState &);
void keepTensorOperation(GangState &, std::unique_ptr<TensorOperation>);

template <class Operation> void submitTensorOperation(GangState &g, const Operation &o) {
  if (isTensorEager(g)) {
    finishRun(g);
    Operation now = o;
    now.perform(g);
    return;
  }
  keepTensorOperation(g, std::make_unique<Operation>(o));
}

} // namespace ptxrun::rt
