; lanes=32 block=32,16,1 cpu=avx2
; Blocks of several rows around a barrier: each row fetches what the next block along x reads and writes there.
define void @k(ptr %params) {
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %bx = call i32 @ptx.sreg.ctaid.x()
  %by = call i32 @ptx.sreg.ctaid.y()
  %bx32 = shl i32 %bx, 5
  %column = add i32 %bx32, %x
  %by16 = shl i32 %by, 4
  %row = add i32 %by16, %y
  %in = load i64, ptr %params, !invariant.load !0
  %pout = getelementptr i8, ptr %params, i64 8
  %out = load i64, ptr %pout, !invariant.load !0
  %ppitch = getelementptr i8, ptr %params, i64 16
  %pitch = load i32, ptr %ppitch, !invariant.load !0
  %begin = mul i32 %row, %pitch
  %i = add i32 %begin, %column
  %e = sext i32 %i to i64
  %o = shl i64 %e, 2
  %a = add i64 %in, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %line = shl i32 %y, 7
  %place = shl i32 %x, 2
  %s = add i32 %line, %place
  %sp = inttoptr i32 %s to ptr addrspace(3)
  store float %v, ptr addrspace(3) %sp, align 4
  call void @ptx.bar.sync(i32 0, i32 0)
  %t = xor i32 %s, 128
  %tp = inttoptr i32 %t to ptr addrspace(3)
  %w = load float, ptr addrspace(3) %tp, align 4
  %b = add i64 %out, %o
  %q = inttoptr i64 %b to ptr
  store float %w, ptr %q, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.tid.y() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
declare i32 @ptx.sreg.ctaid.y() memory(none)
declare void @ptx.bar.sync(i32, i32) convergent
!0 = !{}
