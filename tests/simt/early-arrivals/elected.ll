; lanes=32 block=64,1,1 cpu=avx2
; One lane waits; the others arrive at the second object before it does, it behind its wait.
define void @k(ptr %params) {
  %base = load i64, ptr %params
  %empty = inttoptr i64 %base to ptr
  %n = call i32 @ptx.sreg.ctaid.x()
  %first = icmp eq i32 %n, 0
  %e = call { i32, i1 } @ptx.elect.sync(i32 -1)
  %elected = extractvalue { i32, i1 } %e, 1
  br i1 %elected, label %wait, label %meet
wait:
  %done = call i1 @ptx.mbarrier.try_wait(ptr %empty, i64 0, i32 1, i32 -1)
  br i1 %done, label %meet, label %wait
meet:
  %other = add i64 %base, 8
  %order = inttoptr i64 %other to ptr
  br i1 %first, label %arrive, label %end
arrive:
  %state = call i64 @ptx.mbarrier.arrive(ptr %order, i32 1)
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.ctaid.x() memory(none)
declare { i32, i1 } @ptx.elect.sync(i32)
declare i1 @ptx.mbarrier.try_wait(ptr, i64, i32, i32)
declare i64 @ptx.mbarrier.arrive(ptr, i32)
