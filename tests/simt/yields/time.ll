; lanes=32 block=32,1,1 cpu=avx2
; A loop that waits for time to pass lets others run in each round; one that counts, and looks at a clock, does not.
define void @k(ptr %params) {
  %from = call i64 @ptx.sreg.clock64()
  br label %again
again:
  %now = call i64 @ptx.sreg.clock64()
  %passed = sub i64 %now, %from
  %isOver = icmp ugt i64 %passed, 1000
  br i1 %isOver, label %count, label %again
count:
  %i = phi i32 [ 0, %again ], [ %next, %count ]
  %sum = phi i64 [ 0, %again ], [ %more, %count ]
  %time = call i64 @ptx.sreg.clock64()
  %more = add i64 %sum, %time
  %next = add i32 %i, 1
  %isLast = icmp eq i32 %next, 10
  br i1 %isLast, label %end, label %count
end:
  %base = load i64, ptr %params
  %p = inttoptr i64 %base to ptr
  store i64 %more, ptr %p
  ret void
}
declare i64 @ptx.sreg.clock64()
