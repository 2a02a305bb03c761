; lanes=8 block=64,1,1 cpu=avx2
; Where %i is 5, 4 * %i is 20: %offset is that everywhere. %other is something else there, and %odd where %i is not 5: they stay.
define void @k(ptr %params) {
entry:
  %i = call i32 @ptx.sreg.tid.x()
  %base = load i64, ptr %params
  %is = icmp eq i32 %i, 5
  br i1 %is, label %join, label %near

near:
  %wide = zext i32 %i to i64
  %bytes = shl nuw nsw i64 %wide, 2
  br label %join

join:
  %offset = phi i64 [ 20, %entry ], [ %bytes, %near ]
  %other = phi i64 [ 24, %entry ], [ %bytes, %near ]
  %at = add i64 %base, %offset
  %p = inttoptr i64 %at to ptr
  store i64 %other, ptr %p
  %differs = icmp eq i32 %i, 6
  br i1 %differs, label %far, label %end

far:
  %more = mul i64 %at, 3
  br label %end

end:
  %odd = phi i64 [ 18, %join ], [ %more, %far ]
  %q = getelementptr i64, ptr %p, i64 64
  store i64 %odd, ptr %q
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
