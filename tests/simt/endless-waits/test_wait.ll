; lanes=32 block=32,1,1 cpu=avx2
; A loop that only asks an mbarrier waits in it, without a limit.
define void @k(ptr %params) {
  %base = load i64, ptr %params
  %p = inttoptr i64 %base to ptr
  br label %again
again:
  %done = call i1 @ptx.mbarrier.test_wait(ptr %p, i64 0, i32 1)
  br i1 %done, label %end, label %again
end:
  ret void
}

declare i1 @ptx.mbarrier.test_wait(ptr, i64, i32)
