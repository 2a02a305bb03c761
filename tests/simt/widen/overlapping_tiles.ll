; lanes=16 block=16,16,1 cpu=avx2
; Tiles that overlap by as many columns as the launch says: each gang fetches its row of the next one, that far ahead.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %y = call i32 @ptx.sreg.tid.y()
  %b = call i32 @ptx.sreg.ctaid.x()
  %base = load i64, ptr %params, !invariant.load !0
  %ps = getelementptr i8, ptr %params, i64 8
  %step = load i32, ptr %ps, !invariant.load !0
  %pw = getelementptr i8, ptr %params, i64 12
  %width = load i32, ptr %pw, !invariant.load !0
  %first = mul i32 %step, %b
  %row = mul i32 %y, %width
  %column = add i32 %first, %x
  %i = add i32 %row, %column
  %w = zext i32 %i to i64
  %o = shl i64 %w, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %v = load float, ptr %p, align 4
  %ty = shl i32 %y, 6
  %tx = shl i32 %x, 2
  %t = or i32 %ty, %tx
  %s = add i32 %t, 1024
  %sp = inttoptr i32 %s to ptr addrspace(3)
  store float %v, ptr addrspace(3) %sp, align 4
  call void @ptx.bar.sync(i32 0, i32 0), !ptx.aligned !0
  %r = load float, ptr addrspace(3) %sp, align 4
  store float %r, ptr %p, align 4
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare i32 @ptx.sreg.tid.y()
declare i32 @ptx.sreg.ctaid.x()
declare void @ptx.bar.sync(i32, i32)
!0 = !{}
