; lanes=8 block=64,1,1 cpu=avx2
; Whoever is not inside never asks for the index %i: it is moved on for all. What %j has come to is told by all: it stays.
define void @k(ptr %params) {
entry:
  %x = call i32 @ptx.sreg.tid.x()
  %n = load i32, ptr %params
  %q = getelementptr i8, ptr %params, i64 8
  %base = load i64, ptr %q
  %inside = icmp slt i32 %x, %n
  br label %loop
loop:
  %r = phi i32 [ 0, %entry ], [ %r.next, %met ]
  %i = phi i32 [ %x, %entry ], [ %i.next, %met ]
  %j = phi i32 [ %x, %entry ], [ %j.next, %met ]
  br i1 %inside, label %body, label %met
body:
  %e = sext i32 %i to i64
  %o = shl nsw i64 %e, 2
  %a = add i64 %base, %o
  %p = inttoptr i64 %a to ptr
  store i32 %r, ptr %p, align 4
  %i.moved = add nsw i32 %i, %n
  %j.moved = add nsw i32 %j, %n
  br label %met
met:
  %i.next = phi i32 [ %i, %loop ], [ %i.moved, %body ]
  %j.next = phi i32 [ %j, %loop ], [ %j.moved, %body ]
  %r.next = add i32 %r, 1
  %again = icmp slt i32 %r.next, 10
  br i1 %again, label %loop, label %end
end:
  %y = sext i32 %x to i64
  %s = shl nsw i64 %y, 2
  %t = add i64 %base, %s
  %u = inttoptr i64 %t to ptr
  store i32 %j.next, ptr %u, align 4
  ret void
}

declare i32 @ptx.sreg.tid.x() memory(none)
