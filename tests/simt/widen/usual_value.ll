; lanes=8 block=64,1,1 cpu=avx2
; Two of three ways leave the count as it was: one choice, of the way that does not.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %in = load i64, ptr %params
  %e = zext i32 %x to i64
  %o = shl i64 %e, 2
  %a = add i64 %in, %o
  %p = inttoptr i64 %a to ptr
  %v = load i32, ptr %p, align 4
  %first = icmp eq i32 %v, 48
  br i1 %first, label %one, label %other

one:
  %more = add i32 %v, 7
  br label %end

other:
  %second = icmp slt i32 %v, 5
  br i1 %second, label %two, label %three

two:
  %q = add i64 %a, 4096
  %qp = inttoptr i64 %q to ptr
  store i32 %x, ptr %qp, align 4
  br label %end

three:
  br label %end

end:
  %r = phi i32 [ %more, %one ], [ %v, %two ], [ %v, %three ]
  store i32 %r, ptr %p, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x()
