; lanes=32 block=64,1,1 cpu=avx2
; What all distances put together is one lane's: %u5, of two sums in turn. Not %v3, of three distances; not %d2, which takes a
; difference; not %h2, of half a warp.
define void @k(ptr %params) {
  %t = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %e = zext i32 %t to i64
  %o = shl i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  %x = load i32, ptr %p
  %x1.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %x, i32 1, i32 31, i32 -1)
  %x1 = extractvalue { i32, i1 } %x1.s, 0
  %v1 = add i32 %x, %x1
  %x2.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %v1, i32 2, i32 31, i32 -1)
  %x2 = extractvalue { i32, i1 } %x2.s, 0
  %v2 = add i32 %x2, %v1
  %x3.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %v2, i32 4, i32 31, i32 -1)
  %x3 = extractvalue { i32, i1 } %x3.s, 0
  %v3 = add i32 %v2, %x3
  %w = mul i32 %v3, 3
  %x4.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %w, i32 24, i32 31, i32 -1)
  %x4 = extractvalue { i32, i1 } %x4.s, 0
  %u4 = xor i32 %w, %x4
  %x5.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %u4, i32 17, i32 31, i32 -1)
  %x5 = extractvalue { i32, i1 } %x5.s, 0
  %u5 = add i32 %u4, %x5
  %d.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %u4, i32 8, i32 31, i32 -1)
  %d1 = extractvalue { i32, i1 } %d.s, 0
  %d2 = sub i32 %u4, %d1
  %h.s = call { i32, i1 } @ptx.shfl.sync.bfly(i32 %u4, i32 8, i32 4127, i32 -1)
  %h1 = extractvalue { i32, i1 } %h.s, 0
  %h2 = add i32 %u4, %h1
  %r = add i32 %u5, %v3
  %r2 = add i32 %r, %d2
  %r3 = add i32 %r2, %h2
  store i32 %r3, ptr %p
  ret void
}
declare i32 @ptx.sreg.tid.x()
declare { i32, i1 } @ptx.shfl.sync.bfly(i32, i32, i32, i32)
