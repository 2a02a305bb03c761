; lanes=32 block=256,1,1 cpu=avx512
; 88 * q + 4 * (k - 22 * q) is 4 * k; where something is left of the quotient, nothing changes.
define void @k(ptr %params) {
  %k = call i32 @ptx.sreg.tid.x()
  %q = udiv i32 %k, 22
  %n = mul i32 %q, -22
  %r = add i32 %k, %n
  %row = mul i32 %q, 88
  %from = add i32 %row, 1024
  %o = shl i32 %r, 2
  %a = add i32 %from, %o
  %p = inttoptr i32 %a to ptr addrspace(3)
  store i32 %q, ptr addrspace(3) %p
  %longer = mul i32 %q, 92
  %b = add i32 %longer, %o
  %s = inttoptr i32 %b to ptr addrspace(3)
  store i32 %r, ptr addrspace(3) %s
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
