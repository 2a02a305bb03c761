; lanes=32 block=128,1,1 cpu=avx2
; The k of a fragment is the lane's number % 4, and rows of the tile are swizzled by bits that differ from warp to warp: every fourth lane
; is in one row, four loads and no gather, also behind another swizzle; not where it cuts rows, as the last does.
define void @k(ptr %params) {
  %base = load i64, ptr %params
  %t = call i32 @ptx.sreg.tid.x()
  %e = zext i32 %t to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %k = and i32 %t, 3
  %row = mul i32 %k, 288
  %n = and i32 %t, 60
  %at = xor i32 %row, %n
  %next = xor i32 %at, 64
  %cut = xor i32 %at, 8
  %q0 = inttoptr i32 %at to ptr addrspace(3)
  %v0 = load i32, ptr addrspace(3) %q0, align 4
  %q1 = inttoptr i32 %next to ptr addrspace(3)
  %v1 = load i32, ptr addrspace(3) %q1, align 4
  %q2 = inttoptr i32 %cut to ptr addrspace(3)
  %v2 = load i32, ptr addrspace(3) %q2, align 4
  %s = add i32 %v0, %v1
  %r = add i32 %s, %v2
  store i32 %r, ptr %p
  ret void
}
declare i32 @ptx.sreg.tid.x()
