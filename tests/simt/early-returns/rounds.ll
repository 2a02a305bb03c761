; lanes=32 block=64,1,1 cpu=avx512
; Threads beyond the end return; the others come to a barrier in each round. All walk to it, if one of the block goes on: how often, the launch says.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %n = load i32, ptr %params, !invariant.load !{}
  %countAt = getelementptr i8, ptr %params, i64 4
  %count = load i32, ptr %countAt, !invariant.load !{}
  %outAt = getelementptr i8, ptr %params, i64 8
  %out = load ptr, ptr %outAt, !invariant.load !{}
  %goesOn = icmp slt i32 %x, %n
  br i1 %goesOn, label %round, label %end
round:
  %k = phi i32 [ %count, %0 ], [ %next, %round ]
  %sum = phi i32 [ 0, %0 ], [ %more, %round ]
  %at = getelementptr i32, ptr %out, i32 %k
  %read = load i32, ptr %at
  %more = add i32 %sum, %read
  call void @ptx.bar.sync(i32 0, i32 0)
  %next = add i32 %k, -1
  %isLast = icmp eq i32 %next, 0
  br i1 %isLast, label %last, label %round
last:
  %place = getelementptr i32, ptr %out, i32 %x
  store i32 %more, ptr %place
  br label %end
end:
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare void @ptx.bar.sync(i32, i32)
