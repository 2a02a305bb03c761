; lanes=32 block=256,1,1 cpu=avx512 with=same-values
; An index is taken apart by two quotients: a row only where lanes agree on both. The guard has a version for that alone.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %b = call i32 @ptx.sreg.ctaid.x()
  %m = mul i32 %b, 256
  %i = add i32 %m, %x
  %base = load i64, ptr %params, !invariant.load !0
  %pc = getelementptr i8, ptr %params, i64 8
  %columns = load i32, ptr %pc, !invariant.load !0
  %pr = getelementptr i8, ptr %params, i64 12
  %plane = load i32, ptr %pr, !invariant.load !0
  %c = icmp slt i32 %i, 99990
  br i1 %c, label %body, label %end
body:
  %row = udiv i32 %i, %columns
  %z = udiv i32 %i, %plane
  %start = mul i32 %row, %columns
  %column = sub i32 %i, %start
  %far = mul i32 %z, 7
  %near = mul i32 %row, 3
  %s = add i32 %far, %near
  %index = add i32 %s, %column
  %e = sext i32 %index to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %e2 = sext i32 %i to i64
  %o2 = shl i64 %e2, 2
  %a2 = add i64 %base, %o2
  %out = add i64 %a2, 1048576
  %p2 = inttoptr i64 %out to ptr
  store float %v, ptr %p2, align 4
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
!0 = !{}
