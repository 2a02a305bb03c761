// A program's function, called in stream order. The API may not be called from inside.
#pragma once
#include "loader/libcuda/context.h"
#include "rt/launch/floating_environment.h"

namespace ptxrun::driver {

class HostOperation final : public Operation {
 public:
  HostOperation(CUhostFn function, void *data) : function_(function), data_(data) {}
  CUresult run(Context &) override {
    InsideCallback scope;
    rt::ProgramEnvironment environment;
    function_(data_);
    return CUDA_SUCCESS;
  }
  bool isLarge() const override { return true; }

 private:
  CUhostFn function_;
  void *data_;
};

} // namespace ptxrun::driver
