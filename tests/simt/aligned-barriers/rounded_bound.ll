; lanes=32 block=64,1,1 cpu=avx512
; Lanes agree on a bound that is rounded towards zero, before they come to an aligned barrier again.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %p = inttoptr i64 %base to ptr
  %n = load i32, ptr %p
  br label %round
round:
  %i = phi i32 [ %x, %0 ], [ %next, %round ]
  call void @ptx.bar.sync(i32 0, i32 0), !ptx.aligned !{}
  %next = add i32 %i, 64
  %rest = srem i32 %next, 64
  %whole = sub i32 %next, %rest
  %isMore = icmp ult i32 %whole, %n
  br i1 %isMore, label %round, label %end
end:
  call void @ptx.bar.sync(i32 0, i32 0), !ptx.aligned !{}
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
