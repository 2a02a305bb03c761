; lanes=8 block=64,1,1 cpu=avx2
; Gangs begin at multiples of 8: behind the first branch a gang has lanes 0 to 3 or none, behind the second lane 2 or none. Neither needs a mask.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %e = zext i32 %x to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %few = icmp ult i32 %x, 4
  br i1 %few, label %four, label %next
four:
  %v = load float, ptr %p, align 4
  %s = fadd float %v, 1.0
  store float %s, ptr %p, align 4
  br label %next
next:
  %other = icmp ne i32 %x, 10
  br i1 %other, label %end, label %one
one:
  %w = load float, ptr %p, align 4
  %t = fadd float %w, 2.0
  store float %t, ptr %p, align 4
  br label %end
end:
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
