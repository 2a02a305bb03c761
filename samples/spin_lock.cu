// A hash map whose buckets are guarded by spin locks, taken by lanes of one warp as by anybody else: while one lane holds a lock, others of
// its warp may spin on the same one, so that the lanes have to progress independently.
struct Bucket {
  unsigned lock, count, sum, last;
};

__device__ void acquire(unsigned *lock) {
  while (atomicCAS(lock, 0u, 1u) != 0u) {}
  __threadfence();
}

__device__ void release(unsigned *lock) {
  __threadfence();
  atomicExch(lock, 0u);
}

/// Three words change together; none of it is atomic by itself.
extern "C" __global__ void insert(Bucket *buckets, unsigned bucketCount, const unsigned *keys, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Bucket *bucket = &buckets[keys[i] % bucketCount];
  acquire(&bucket->lock);
  volatile Bucket *mine = bucket;
  mine->count = mine->count + 1;
  mine->sum = mine->sum + keys[i];
  mine->last = mine->last ^ keys[i];
  release(&bucket->lock);
}
