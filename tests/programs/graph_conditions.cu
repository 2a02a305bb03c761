// Conditional nodes: a Newton iteration in a while node, if with else, switch, nested loops; conditions set by kernels.
// nvcc: -arch=compute_90
#include "check.h"
#include <cstring>

__global__ void newton(double *x, double of, double *change, cudaGraphConditionalHandle more, int *rounds) {
  double next = 0.5 * (*x + of / *x);
  *change = fabs(next - *x);
  *x = next;
  ++*rounds;
  cudaGraphSetConditional(more, *change > 1e-12 * next);
}
__global__ void choose(const int *value, cudaGraphConditionalHandle handle) { cudaGraphSetConditional(handle, *value); }
__global__ void note(int *log, int what) { log[1 + atomicAdd(log, 1)] = what; }
__global__ void countDown(int *counter, cudaGraphConditionalHandle handle, int *reset, int to) {
  if (reset)
    *reset = to;
  cudaGraphSetConditional(handle, --*counter > 0);
}

static cudaGraphNode_t kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, void *function, std::vector<void *> arguments) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = function, p.kernel.gridDim = dim3(1), p.kernel.blockDim = dim3(1), p.kernel.kernelParams = arguments.data();
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &p));
  return node;
}
static cudaGraphNode_t condition(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                 unsigned size, std::vector<cudaGraph_t> &bodies) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle, p.conditional.type = type, p.conditional.size = size;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, after.data(), nullptr, after.size(), &p));
  bodies.assign(p.conditional.phGraph_out, p.conditional.phGraph_out + size);
  return node;
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  { // while
    double *x, *change;
    int *rounds;
    CHECK(cudaMallocManaged(&x, 8));
    CHECK(cudaMallocManaged(&change, 8));
    CHECK(cudaMallocManaged(&rounds, 4));
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle more;
    CHECK(cudaGraphConditionalHandleCreate(&more, graph, 1, cudaGraphCondAssignDefault));
    std::vector<cudaGraph_t> bodies;
    condition(graph, {}, more, cudaGraphCondTypeWhile, 1, bodies);
    double of = 1234567;
    kernel(bodies[0], {}, (void *)newton, {&x, &of, &change, &more, &rounds});
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (int times = 0; times < 2; ++times) {
      *x = 1, *rounds = 0;
      CHECK(cudaGraphLaunch(run, stream));
      CHECK(cudaStreamSynchronize(stream));
      EXPECT(fabs(*x - sqrt(of)) < 1e-9 && *rounds > 10 && *rounds < 30);
    }
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
  }
  { // if with else, then switch, the body by capture
    int *value, *log;
    CHECK(cudaMallocManaged(&value, 4));
    CHECK(cudaMallocManaged(&log, 400));
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle which, arm;
    CHECK(cudaGraphConditionalHandleCreate(&which, graph, 0, 0));
    CHECK(cudaGraphConditionalHandleCreate(&arm, graph, 0, 0));
    cudaGraphNode_t set = kernel(graph, {}, (void *)choose, {&value, &which});
    std::vector<cudaGraph_t> ways;
    cudaGraphNode_t either = condition(graph, {set}, which, cudaGraphCondTypeIf, 2, ways);
    int then = 100, otherwise = 200;
    kernel(ways[0], {}, (void *)note, {&log, &then});
    kernel(ways[1], {}, (void *)note, {&log, &otherwise});
    cudaGraphNode_t set2 = kernel(graph, {either}, (void *)choose, {&value, &arm});
    std::vector<cudaGraph_t> arms;
    cudaGraphNode_t many = condition(graph, {set2}, arm, cudaGraphCondTypeSwitch, 3, arms);
    for (int i = 0; i < 3; ++i) {
      CHECK(cudaStreamBeginCaptureToGraph(stream, arms[i], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
      note<<<1, 1, 0, stream>>>(log, i);
      note<<<1, 1, 0, stream>>>(log, i + 10);
      CHECK(cudaStreamEndCapture(stream, nullptr));
    }
    int last = 999;
    kernel(graph, {many}, (void *)note, {&log, &last});
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    for (int v = 0; v < 5; ++v) {
      *value = v;
      memset(log, 0, 400);
      CHECK(cudaGraphLaunch(run, stream));
      CHECK(cudaStreamSynchronize(stream));
      std::vector<int> want = {v ? 100 : 200};
      if (v < 3)
        want.insert(want.end(), {v, v + 10});
      want.push_back(999);
      EXPECT(std::vector<int>(log + 1, log + 1 + log[0]) == want);
    }
    CHECK(cudaGraphExecDestroy(run));
    CHECK(cudaGraphDestroy(graph));
  }
  { // a loop within a loop
    int *outer, *inner, *log;
    CHECK(cudaMallocManaged(&outer, 4));
    CHECK(cudaMallocManaged(&inner, 4));
    CHECK(cudaMallocManaged(&log, 4000));
    *outer = 5, *inner = 3, log[0] = 0;
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle a, b;
    CHECK(cudaGraphConditionalHandleCreate(&a, graph, 1, cudaGraphCondAssignDefault));
    std::vector<cudaGraph_t> first, second;
    condition(graph, {}, a, cudaGraphCondTypeWhile, 1, first);
    CHECK(cudaGraphConditionalHandleCreate(&b, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t nested = condition(first[0], {}, b, cudaGraphCondTypeWhile, 1, second);
    int one = 1, two = 2, three = 3, *nothing = nullptr, zero = 0;
    cudaGraphNode_t n = kernel(second[0], {}, (void *)note, {&log, &two});
    kernel(second[0], {n}, (void *)countDown, {&inner, &b, &nothing, &zero});
    n = kernel(first[0], {nested}, (void *)note, {&log, &one});
    n = kernel(first[0], {n}, (void *)choose, {&outer, &b});
    kernel(first[0], {n}, (void *)countDown, {&outer, &a, &inner, &three});
    cudaGraphExec_t run;
    CHECK(cudaGraphInstantiate(&run, graph, 0));
    CHECK(cudaGraphLaunch(run, stream));
    CHECK(cudaStreamSynchronize(stream));
    std::vector<int> want;
    for (int i = 0; i < 5; ++i)
      want.insert(want.end(), {2, 2, 2, 1});
    EXPECT(std::vector<int>(log + 1, log + 1 + log[0]) == want);
  }
  return done();
}
