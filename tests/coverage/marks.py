#!/usr/bin/env python3
"""What the record of a run says: only what some thread came to, past its guard, was executed. usage: marks.py PTXRUN"""
import os
import pathlib
import subprocess
import sys
import tempfile

KERNELS = """.version 7.0
.target sm_70
.address_size 64
.visible .entry launched(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  setp.gt.u32 %p1, %r1, 100;
  setp.eq.u32 %p2, %r1, 3;
  mov.u32 %r2, 0;
  @%p1 clz.b32 %r2, %r1;
  @%p2 brev.b32 %r2, %r1;
  @!%p1 bra ON;
  popc.b32 %r2, %r1;
ON:
  @%p2 st.global.u32 [%rd1], %r2;
  @%p1 red.global.add.u32 [%rd1], %r2;
  ret;
}
.visible .entry resting(.param .u64 out) {
  .reg .b32 %r<2>;
  bfind.u32 %r0, 5;
  ret;
}
"""
DESCRIPTION = """module = "kernels.ptx"
[buffers]
out = "u32[1]"
[[launch]]
kernel = "launched"
block = 32
arguments = ["out"]
[[expect]]
buffer = "out"
value = "3221225472"
"""
STAGES = {"brev": "executed", "clz": "lowered", "popc": "lowered", "red": "lowered", "bfind": "checked", "st": "executed"}


def main():
    ptxrun = sys.argv[1]
    for lanes in ("1", "8", "32"):
        for tiers in ("baseline", "optimised"):
            with tempfile.TemporaryDirectory() as folder:
                record = pathlib.Path(folder, "record")
                pathlib.Path(folder, "kernels.ptx").write_text(KERNELS)
                pathlib.Path(folder, "launch.toml").write_text(DESCRIPTION)
                subprocess.run([ptxrun, "run", f"{folder}/launch.toml", "--no-cache", "--quiet", "--lanes", lanes, "--tiers", tiers], check=True,
                               env=dict(os.environ, PTXRUN_FORM_RECORD=str(record)))
                seen = [line.split("\t") for line in record.read_text().splitlines()]
                for opcode, last in STAGES.items():
                    stages = {stage for stage, form, _ in seen if form.split()[1].startswith((opcode + ".", opcode + "{"))}
                    order = ["checked", "lowered", "executed"]
                    assert stages == set(order[:order.index(last) + 1]), (opcode, stages, lanes, tiers)


main()
