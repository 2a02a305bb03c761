; lanes=32 block=128,1,1 cpu=avx2
; Each warp loads what the four warps of the block left, eight times over, and sums it up: %s2 is one lane's. Not %q2, whose lanes
; repeat over two places only after the distance that is put together first; not %v1, of what another thread may change in between.
define void @k(ptr %params) {
  %t = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %four = and i32 %t, 3
  %e = zext i32 %four to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %x = load float, ptr %p
  %xb = bitcast float %x to i32
  %x1.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %xb, i32 2, i32 31, i32 -1)
  %x1 = extractvalue { i32, i1 } %x1.s, 0
  %x1f = bitcast i32 %x1 to float
  %s1 = fadd float %x, %x1f
  %s1b = bitcast float %s1 to i32
  %x2.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %s1b, i32 1, i32 31, i32 -1)
  %x2 = extractvalue { i32, i1 } %x2.s, 0
  %x2f = bitcast i32 %x2 to float
  %s2 = fadd float %s1, %x2f
  %eight = and i32 %t, 7
  %e8 = zext i32 %eight to i64
  %o8 = shl i64 %e8, 2
  %a8 = add i64 %base, %o8
  %p8 = inttoptr i64 %a8 to ptr
  %y = load i32, ptr %p8
  %y1.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %y, i32 4, i32 31, i32 -1)
  %y1 = extractvalue { i32, i1 } %y1.s, 0
  %q1 = add i32 %y, %y1
  %y2.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %q1, i32 1, i32 31, i32 -1)
  %y2 = extractvalue { i32, i1 } %y2.s, 0
  %q2 = add i32 %q1, %y2
  %two = and i32 %t, 1
  %e2 = zext i32 %two to i64
  %o2 = shl i64 %e2, 2
  %a2 = add i64 %base, %o2
  %p2 = inttoptr i64 %a2 to ptr
  %v = load volatile i32, ptr %p2
  %v1.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %v, i32 1, i32 31, i32 -1)
  %v1.x = extractvalue { i32, i1 } %v1.s, 0
  %v1 = add i32 %v, %v1.x
  %r1 = add i32 %q2, %v1
  %f = zext i32 %t to i64
  %fo = shl i64 %f, 3
  %fa = add i64 %base, %fo
  %fp = inttoptr i64 %fa to ptr
  store float %s2, ptr %fp
  %ga = add i64 %fa, 4
  %gp = inttoptr i64 %ga to ptr
  store i32 %r1, ptr %gp
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare { i32, i1 } @ptx.shfl.sync.bfly(i32, i32, i32, i32)
