; lanes=32 block=256,1,1 cpu=avx512
; Each thread waits as often as it has read. Lanes are tested to go on together, or become threads; so are those that leave before the loop.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %e = zext i32 %x to i64
  %o = shl i64 %e, 2
  %base = load i64, ptr %params
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %n = load i32, ptr %p
  %isAny = icmp ne i32 %n, 0
  br i1 %isAny, label %round, label %end
round:
  %k = phi i32 [ 0, %0 ], [ %k1, %round ]
  %sum = phi float [ 0.0, %0 ], [ %sum1, %round ]
  call void @ptx.bar.sync(i32 0, i32 0)
  %v = load float, ptr %p
  %sum1 = fadd float %sum, %v
  call void @ptx.bar.sync(i32 0, i32 0)
  store float %sum1, ptr %p
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %round, label %behind
behind:
  call void @ptx.bar.sync(i32 0, i32 0)
  store float %sum1, ptr %p
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
