; lanes=32 block=32,1,1 cpu=avx2
; mma.m16n8k16 of f16 with f32 results: the first two wait for the third, which adds to the first; the load goes ahead of them.
define void @k(ptr %params) {
  %base = load i64, ptr %params
  %p = inttoptr i64 %base to ptr
  %a = load i32, ptr %p
  %d = call { i32, i32, i32, i32 } @ptx.matrix.warp.b32.10.4(i64 68720001040, i64 2308657758980997888, i64 6756498952749056, i64 -35184908967936133, i64 130945, i64 17247110145, i32 %a, i32 %a, i32 %a, i32 %a, i32 1006648320, i32 1006648320, i32 0, i32 0, i32 0, i32 0, i32 -1)
  %q = getelementptr i8, ptr %p, i64 4
  %b = load i32, ptr %q
  %e = call { i32, i32, i32, i32 } @ptx.matrix.warp.b32.10.4(i64 68720001040, i64 2308657758980997888, i64 6756498952749056, i64 -35184908967936133, i64 130945, i64 17247110145, i32 %a, i32 %a, i32 %a, i32 %a, i32 %b, i32 %b, i32 0, i32 0, i32 0, i32 0, i32 -1)
  %d0 = extractvalue { i32, i32, i32, i32 } %d, 0
  %d1 = extractvalue { i32, i32, i32, i32 } %d, 1
  %d2 = extractvalue { i32, i32, i32, i32 } %d, 2
  %d3 = extractvalue { i32, i32, i32, i32 } %d, 3
  %f = call { i32, i32, i32, i32 } @ptx.matrix.warp.b32.10.4(i64 68720001040, i64 2308657758980997888, i64 6756498952749056, i64 -35184908967936133, i64 130945, i64 17247110145, i32 %b, i32 %b, i32 %b, i32 %b, i32 %b, i32 %b, i32 %d0, i32 %d1, i32 %d2, i32 %d3, i32 -1)
  %f0 = extractvalue { i32, i32, i32, i32 } %f, 0
  %e3 = extractvalue { i32, i32, i32, i32 } %e, 3
  %s = add i32 %f0, %e3
  store i32 %s, ptr %p
  ret void
}

declare { i32, i32, i32, i32 } @ptx.matrix.warp.b32.10.4(i64, i64, i64, i64, i64, i64, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32)
