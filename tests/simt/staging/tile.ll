; lanes=16 block=64,1,1 cpu=avx2
; A tile of 10 by 10 with a border, filled by 64 threads in two rounds: its rows are stored by the first gang, with a test for the row and one
; for the lanes.
define void @k(ptr %params) {
entry:
  %in = load i64, ptr %params, align 8, !invariant.load !0
  %x0 = call i32 @ptx.sreg.ctaid.x()
  %y0 = call i32 @ptx.sreg.ctaid.y()
  %t = call i32 @ptx.sreg.tid.x()
  br label %round
round:
  %k = phi i32 [ %t, %entry ], [ %k.next, %stored ]
  %row = udiv i32 %k, 10
  %column = urem i32 %k, 10
  %y = add i32 %y0, %row
  %x = add i32 %x0, %column
  %in.y = icmp ult i32 %y, 500
  %in.x = icmp ult i32 %x, 300
  %inside = and i1 %in.y, %in.x
  br i1 %inside, label %load, label %stored
load:
  %line = mul i32 %y, 300
  %index = add i32 %line, %x
  %wide = zext i32 %index to i64
  %bytes = shl i64 %wide, 2
  %at = add i64 %in, %bytes
  %p = inttoptr i64 %at to ptr
  %loaded = load i32, ptr %p, align 4
  br label %stored
stored:
  %v = phi i32 [ 0, %round ], [ %loaded, %load ]
  %place = shl i32 %k, 2
  %q = inttoptr i32 %place to ptr addrspace(3)
  store i32 %v, ptr addrspace(3) %q, align 4
  %k.next = add i32 %k, 64
  %again = icmp ult i32 %k.next, 100
  br i1 %again, label %round, label %wait
wait:
  call void @ptx.bar.sync(i32 0, i32 0)
  %back = sub i32 63, %t
  %back.place = shl i32 %back, 2
  %r = inttoptr i32 %back.place to ptr addrspace(3)
  %other = load i32, ptr addrspace(3) %r, align 4
  %o = inttoptr i64 %in to ptr
  %out = getelementptr i32, ptr %o, i32 %t
  store i32 %other, ptr %out, align 4
  ret void
}
declare i32 @ptx.sreg.tid.x() memory(none)
declare i32 @ptx.sreg.ctaid.x() memory(none)
declare i32 @ptx.sreg.ctaid.y() memory(none)
declare void @ptx.bar.sync(i32, i32)
!0 = !{}
