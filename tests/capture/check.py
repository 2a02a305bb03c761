#!/usr/bin/env python3
"""Records and replays. check.py PTXRUN WHAT ...

  samples FOLDER [PART PARTS]    every launch description of a folder, or one in PARTS of them
  kernels PROGRAM [PART PARTS]   every kernel test (tests/kernels), or one in PARTS of them
  programs PROGRAM MODULE.ptx    every scenario of recorded_program
  python LIBRARY SCRIPT          a script of a Python library, with the Python of $PYTHON; exit status 77 where it has no such library
  kills PROGRAM MODULE.ptx       a program that is killed at some moment: what is in the file replays
  cuts PROGRAM MODULE.ptx        a recording that ends anywhere: the same
  damage SAMPLE.toml             files that were cut or changed are refused, or replay as far as they go
  off PROGRAM MODULE.ptx BARE    with recording off, launches run the code of a process that has no recordings in it (BARE)
  digest SAMPLE.toml             large inputs kept apart: shared, missing, changed, packed
  tools SAMPLE.toml              substitution, differences, trimming, exporting, extracting
"""
import atexit
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PTXRUN = sys.argv[1]
FOLDER = tempfile.mkdtemp(prefix="ptxrun-capture-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
REC = os.path.join(FOLDER, "test.rec")
# Recorded at two threads as the machine likes; replayed otherwise.
SETTINGS = [{"OMP_NUM_THREADS": "1", "PTXRUN_CPU": "sse4"}, {"OMP_NUM_THREADS": "2", "PTXRUN_LANES": "8"},
            {"PTXRUN_CPU": "avx2", "PTXRUN_LANES": "1"}, {"PTXRUN_LANES": "32", "PTXRUN_TIERS": "baseline"}]
failures = []


def run(*words, **environment):
    return subprocess.run([PTXRUN, *words], env=dict(os.environ, **environment), capture_output=True, text=True, timeout=600)


def expect(holds, what, result=None):
    if holds:
        return
    failures.append(what)
    print("FAILED", what)
    if result:
        print("  exit code", result.returncode, result.stdout[-600:], result.stderr[-600:])


def replays(name, settings=SETTINGS, status=0):
    for setting in settings:
        result = run("replay", REC, "--plain", "-q", **setting)
        expect(result.returncode == status, f"{name} {setting}", result)


def level_is_there(setting):
    flags = open("/proc/cpuinfo").read()
    return {"avx2": " avx2", "sse4": " sse4_1"}.get(setting.get("PTXRUN_CPU"), "") in flags


def samples(folder, part="0", parts="1"):
    for description in sorted(glob.glob(folder + "/*.toml"))[int(part)::int(parts)]:
        name = os.path.basename(description)
        result = run("run", description, "-q", "--record", REC, OMP_NUM_THREADS="2")
        expect(result.returncode == 0, "record " + name, result)
        # each sample at one of the settings: all together see all of them
        replays(name, [SETTINGS[hash_of(name) % len(SETTINGS)]])


def python(library, script):
    interpreter = os.environ.get("PYTHON", "python3")
    if subprocess.run([interpreter, "-c", f"import numpy, {library}"], capture_output=True).returncode != 0:
        print(f"{library} is not installed for {interpreter}")
        sys.exit(77)
    # Caches of their own: they would answer from compilations for other devices.
    made = run("record", "-o", REC, "--", interpreter, script, OMP_NUM_THREADS="2", DEV="CUDA:PTX", XDG_CACHE_HOME=FOLDER, NUMBA_CACHE_DIR=FOLDER)
    expect(made.returncode == 0, "record " + script, made)
    launches = json.loads(run("capture", "info", "--json", REC).stdout)["launches"]
    expect(len(launches) >= 4, f"{len(launches)} launches of {script}")
    replays(script)


def kernels(program, part="0", parts="1"):
    """The tests themselves say whether results are right while they are recorded."""
    made = subprocess.run([program, "--gtest_filter=*.Wauto/*", "--gtest_brief=1"], capture_output=True, text=True,
                          env=dict(os.environ, PTXRUN_RECORD=REC, OMP_NUM_THREADS="2", GTEST_SHARD_INDEX=part, GTEST_TOTAL_SHARDS=parts))
    expect(made.returncode == 0, "record the kernel tests", made)
    launches = json.loads(run("capture", "info", "--json", REC).stdout)["launches"]
    expect(len(launches) > 100 / int(parts), f"{len(launches)} launches of kernel tests")
    replays("kernel tests", SETTINGS[:1])


def hash_of(text):
    return sum(ord(c) * (i + 1) for i, c in enumerate(text))


def scenarios(program):
    return subprocess.run([program], capture_output=True, text=True).stdout.split()


def programs(program, module):
    for scenario in scenarios(program):
        plain = subprocess.run([program, module, scenario], capture_output=True, text=True)
        result = run("record", "-o", REC, "--", program, module, scenario, OMP_NUM_THREADS="2")
        expect(result.returncode == plain.returncode, "record " + scenario, result)
        if scenario not in ("float_atomics", "slots", "race", "locks", "clocks", "heap", "many", "clusters",
                            "surfaces"):
            inOrder = sorted if scenario == "printing" else list  # blocks print as they run
            expect(inOrder(result.stdout.splitlines()) == inOrder(plain.stdout.splitlines()), f"{scenario} prints what it prints without being recorded", result)
        again = run("record", "-o", REC, "--", program, module, scenario, OMP_NUM_THREADS="2")
        expect(again.stdout == result.stdout, scenario + " comes out the same each time it is recorded", again)
        replays(scenario)
        info = json.loads(run("capture", "info", "--json", REC).stdout)
        expect(info["complete"] and all(l["ended"] for l in info["launches"]), scenario + " is complete")
        if scenario == "children":
            of_children()
        if scenario == "copies_again":
            rewritten(info)
        if scenario == "many":
            size(info)
            checkpoints(info)
            options(program, module)


def of_children():
    files = glob.glob(REC + ".*")
    expect(len(files) == 2, f"the program that is started is recorded to a file of its own, each time: {files}")
    for file in files:
        expect(run("replay", file, "-q").returncode == 0, "and replays")
        os.remove(file)


def rewritten(info):
    """Inputs that are copied over results five times stand in the file once, but for the stretch where they change; what is
    cut from it has them, too."""
    inputs = 4 << 20
    blocks = info["blocks"]
    expect(blocks["write"]["bytes"] < 1.6 * inputs, f"inputs stand in the file once: {blocks['write']}")
    expect(blocks["again"]["count"] > 20, f"and are spoken of: {blocks['again']}")
    expect(blocks["fill"]["count"] > 5, f"zeros are fills: {blocks['fill']}")
    cut = os.path.join(FOLDER, "again.rec")
    for command in (["trim", "--to", "7"], ["pack"], ["trim", "--from", "9"]):
        expect(run("capture", *command, REC, "-o", cut).returncode == 0, command[0])
        expect(run("replay", cut, "-q").returncode == 0, f"{command} replays")
    size(info)


def off(program, module, bare):
    """The code cache has the machine code of each launch, behind the key: that of two builds is not the same."""
    expect(b"ptxrun7capture" not in open(bare, "rb").read(), "the bare process has no recordings in it")
    expect(b"ptxrun7capture" in open(PTXRUN, "rb").read(), "ptxrun has")

    def cached(folder):
        return {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}

    def machine_code(folder):
        return sorted(entry[entry.index(b"\x7fELF"):] for entry in cached(folder).values())

    for scenario in ("slots", "locks", "nans"):
        mine, theirs, recorded = (os.path.join(FOLDER, scenario + kind) for kind in ("-off", "-bare", "-on"))
        for folder in (mine, theirs, recorded):
            os.mkdir(folder)
        result = run("record", "-o", REC, "--", program, module, scenario, PTXRUN_CACHE=recorded, PTXRUN_TIERS="optimised")
        expect(result.returncode == 0, "record " + scenario, result)
        launches = [json.loads(line) for line in run("capture", "convert", REC).stdout.splitlines()]
        shapes = {f"{l['kernel']}:{l['grid'][0]}:{l['block'][0]}:{l['shared']}" for l in launches if l["block"] and "kernel" in l}
        usual = dict(os.environ, PTXRUN_CACHE=mine, PTXRUN_TIERS="optimised")
        subprocess.run([program, module, scenario], env=usual, capture_output=True, check=True)
        made = subprocess.run([bare, theirs, module, *sorted(shapes)], capture_output=True, text=True)
        expect(made.returncode == 0, scenario + " without recordings", made)
        expect(len(machine_code(mine)) > 0 and machine_code(mine) == machine_code(theirs), scenario + " runs the code of a process without recordings")
        before = cached(mine)
        run("record", "-o", REC, "--", program, module, scenario, PTXRUN_CACHE=mine, PTXRUN_TIERS="optimised")
        after = cached(mine)
        expect(all(after[name] == code for name, code in before.items()), scenario + ": recording leaves other code alone")
        for name in before:
            os.remove(os.path.join(mine, name))
        subprocess.run([program, module, scenario], env=usual, capture_output=True, check=True)
        expect(all(cached(mine).get(name) == code for name, code in before.items()), scenario + " never runs a recorded launch's code")


def size(info):
    """At most the memory that was written and 200 bytes per launch."""
    written = sum(l["bytesChanged"] for l in info["launches"]) + info["blocks"]["write"]["bytes"] + info["blocks"]["module"]["bytes"]
    allowed = written + 200 * len(info["launches"]) + 4096
    expect(info["bytes"] <= allowed, f"{info['bytes']} bytes of recording, {allowed} allowed")


def checkpoints(info):
    expect(info["checkpoints"] > 0, "a long recording has checkpoints")
    last = info["launches"][-1]["launch"]
    for first in (1, last // 2, last):
        result = run("replay", REC, "--from", str(first), "--plain")
        expect(result.returncode == 0 and f"{last - first + 1} launch" in result.stdout, f"replay from {first}", result)
    expect(run("replay", REC, "--launch", str(last)).returncode == 0, "the last launch alone")
    expect(run("replay", REC, "--launch", str(last + 1)).returncode == 2, "a launch that does not exist")


def options(program, module):
    def launches():
        return [l["launch"] for l in json.loads(run("capture", "info", "--json", REC).stdout)["launches"]]

    for arguments, holds in ((["--launches", "10-19"], lambda l: l == list(range(10, 20))),
                             (["--kernel", "sum"], lambda l: len(l) == 200),
                             (["--trigger", "launch:700"], lambda l: l[0] == 700),
                             (["--trigger", "kernel:sum", "--launches", "-5"], lambda l: l == [1, 2, 3, 4, 5])):
        run("record", "-o", REC, *arguments, "--", program, module, "many")
        expect(holds(launches()), f"record {arguments}: {launches()[:12]}")
        replays(f"record {arguments}", SETTINGS[:1])


def kills(program, module):
    """Two hundred, at moments drawn over what the recording grows by, not over time: most of a run is starting and compiling,
    on a busy machine nearly all. Most are of a program of few launches, whose replays are short."""
    random.seed(7)
    for scenario, turns, every in (("streams", 150, "5"), ("surfaces", 20, "2"), ("many", 30, "50")):
        words = [PTXRUN, "record", "-o", REC, "--checkpoint", every, "--", program, module, scenario]
        subprocess.run(words, stdout=subprocess.DEVNULL)
        whole = os.path.getsize(REC)
        left = []
        for turn in range(turns):
            os.remove(REC)
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            enough = random.randrange(whole)
            while child.poll() is None and size_of(REC) <= enough:
                pass
            child.send_signal(signal.SIGKILL)
            child.wait()
            left.append(size_of(REC))
            if left[-1] >= 16:
                replays(f"{scenario} killed, turn {turn}", [{}])
        expect(len(set(left)) > turns // 4, f"{scenario}: {turns} kills left files of {sorted(set(left))} bytes only")


def size_of(file):
    return os.path.getsize(file) if os.path.exists(file) else 0


def cuts(program, module):
    """What a kill leaves is a file that ends anywhere: it replays as far as launches are complete."""
    random.seed(8)
    run("record", "-o", REC, "--checkpoint", "50", "--", program, module, "streams")
    good = open(REC, "rb").read()
    launches = len(json.loads(run("capture", "info", "--json", REC).stdout)["launches"])
    for turn in range(160):
        open(REC, "wb").write(good[:random.randrange(16, len(good))])
        result = run("replay", REC, "--plain")
        found = re.search(r"(\d+|no) launch(?:es)?\b", result.stdout)
        count = int(found[1].replace("no", "0")) if found else 0  # else the first had not ended
        expect(result.returncode == 0 and count <= launches, f"cut, turn {turn}", result)


def damage(sample):
    run("run", sample, "-q", "--record", REC)
    good = open(REC, "rb").read()
    random.seed(3)
    for turn in range(40):
        bad = bytearray(good)
        if turn % 2:
            for _ in range(1 + turn % 3):
                bad[random.randrange(len(bad))] ^= 1 << random.randrange(8)
        else:
            del bad[random.randrange(len(bad)):]
        open(REC, "wb").write(bad)
        for command in (["replay", REC, "-q", "--plain"], ["capture", "info", REC]):
            result = run(*command)
            allowed = (2,) if turn % 2 else (0, 2)
            expect(result.returncode in allowed, f"damage {turn}: {command[0]}", result)
            expect(result.returncode == 0 or REC in result.stderr, f"damage {turn}: the message names the file", result)
    open(REC, "wb").write(good[:8] + b"\x63\0\0\0" + good[12:])
    result = run("replay", REC)
    expect(result.returncode == 2 and "version 99" in result.stderr, "a newer version", result)
    expect(run("replay", os.path.join(FOLDER, "nothing.rec")).returncode == 2, "no file")


def digest(sample):
    inputs = REC + ".inputs"
    embedded = os.path.join(FOLDER, "embedded.rec")
    run("run", sample, "-q", "--record", embedded)
    made = run("run", sample, "-q", "--record", REC, "--inputs", "digest")
    expect(made.returncode == 0 and os.path.getsize(REC) * 10 < os.path.getsize(embedded), "the recording is small", made)
    kept = sorted(os.listdir(inputs))
    expect(len(kept) > 0 and all(re.fullmatch("[0-9a-f]{64}.zst", name) for name in kept), f"inputs by their digest: {kept}")
    replays("inputs kept apart")
    first = {name: os.stat(os.path.join(inputs, name)).st_mtime_ns for name in kept}
    run("run", sample, "-q", "--record", REC, "--inputs", "digest")
    again = {name: os.stat(os.path.join(inputs, name)).st_mtime_ns for name in sorted(os.listdir(inputs))}
    expect(first == again, "what is there is not written again")
    packed = os.path.join(FOLDER, "packed.rec")
    expect(run("capture", "pack", REC, "-o", packed).returncode == 0, "pack")
    elsewhere = os.path.join(FOLDER, "elsewhere")
    os.rename(inputs, elsewhere)
    expect(run("replay", packed, "-q").returncode == 0, "a packed recording needs nothing else")
    missing = run("replay", REC, "-q")
    expect(missing.returncode == 2 and "are missing" in missing.stderr and kept[0][:-4] in missing.stderr + "".join(kept), "missing inputs", missing)
    replays("inputs in another folder", [{"PTXRUN_INPUTS": elsewhere}])
    victim = os.path.join(elsewhere, kept[0])
    data = bytearray(open(victim, "rb").read())
    data[len(data) // 2] ^= 1
    open(victim, "wb").write(data)
    changed = run("replay", REC, "-q", PTXRUN_INPUTS=elsewhere)
    expect(changed.returncode == 2 and "is not what was recorded" in changed.stderr, "changed inputs", changed)
    wrong = run("record", "--inputs", "none", "--", "true")
    expect(wrong.returncode == 2, "a wrong word", wrong)


def check_structures():
    """A structure whose words of 8 bytes lie at multiples of 4 only: exported, it has its bytes where they were."""
    names = {end: os.path.join(FOLDER, "words." + end) for end in ("ptx", "toml", "rec")}
    open(names["ptx"], "w").write(""".version 8.0
.target sm_80
.address_size 64
.visible .entry words(.param .u64 to, .param .u32 between, .param .align 4 .b8 of[20])
{
  .reg .b32 %r<6>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [to];
  ld.param.u32 %r1, [of];
  ld.param.u32 %r2, [of+4];
  ld.param.u32 %r3, [of+8];
  ld.param.u32 %r4, [of+12];
  ld.param.u32 %r5, [of+16];
  st.global.v4.u32 [%rd], {%r1, %r2, %r3, %r4};
  st.global.u32 [%rd+16], %r5;
  ret;
}
""")
    expected = '[[expect]]\nbuffer = "to"\nvalue = "i * 3 + 1"\n'
    open(names["toml"], "w").write('module = "words.ptx"\n[buffers]\nto = "u32[5]"\n[[launch]]\nkernel = "words"\n'
                                   'arguments = ["to", 7, "{u32 1, u32 4, u32 7, u32 10, u32 13}"]\n' + expected)
    expect(run("run", names["toml"], "--record", names["rec"]).returncode == 0, "a structure of words")
    again = os.path.join(FOLDER, "again.toml")
    expect(run("replay", names["rec"], "--launch", "0", "--export", again).returncode == 0, "is exported")
    text = open(again).read()
    buffer = re.search(r"^(m[0-9]+) =", text, re.M)
    # Exported buffers are bytes.
    open(again, "a").write(f'[[expect]]\nbuffer = "{buffer[1]}"\nvalue = "i % 4 == 0 ? i / 4 * 3 + 1 : 0"\n')
    ran = run("run", again)
    expect(ran.returncode == 0, "and runs with the same result", ran)


def tools(sample):
    run("run", sample, "-q", "--record", REC)
    text = open(sample.replace(".toml", ".ptx")).read()
    changed = os.path.join(FOLDER, "changed.ptx")
    with open(changed, "w") as out:
        out.write(re.sub(r"(fma\.rn\.f32\s+%f\d+, %f\d+, %f\d+), %f\d+", r"\1, 0f3DCCCCCD", text))
    same = run("replay", REC, "--substitute", "1=" + sample.replace(".toml", ".ptx"))
    expect(same.returncode == 0, "the same module in its own place", same)
    other = run("replay", REC, "--substitute", "1=" + changed)
    expect(other.returncode == 1 and "first differing byte: 0x" in other.stdout and "fma" not in other.stderr,
           "another module differs at a byte", other)
    expect("written by thread (" in other.stdout and "changed.ptx:" in other.stdout and "st.global" in other.stdout,
           "and the instruction that wrote it is named", other)
    exported = os.path.join(FOLDER, "launch.toml")
    expect(run("replay", REC, "--launch", "0", "--export", exported).returncode == 0, "export")
    expect(run("run", exported).returncode == 0, "the exported launch runs")
    check_structures()
    cut = os.path.join(FOLDER, "cut.rec")
    for command in (["trim", REC, "-o", cut, "--to", "0"], ["pack", REC, "-o", cut]):
        expect(run("capture", *command).returncode == 0, command[0])
        expect(run("replay", cut, "-q").returncode == 0, command[0] + " replays")
    expect(run("capture", "extract", REC, "-o", FOLDER).returncode == 0, "extract")
    expect(open(os.path.join(FOLDER, "module1.ptx")).read() == text, "the module as it was loaded")
    lines = run("capture", "convert", REC).stdout.splitlines()
    expect([json.loads(line) for line in lines][-1]["block"] == "end", "lines of JSON")
    timed = run("replay", REC, "--repeat", "3", "--time")
    expect(timed.returncode == 0 and "median of 3" in timed.stdout, "timed", timed)
    wider = run("replay", REC, "--grid", "1")
    expect(wider.returncode == 1 and "another shape" in wider.stderr, "another grid", wider)


SETTINGS = [s for s in SETTINGS if level_is_there(s)]
globals()[sys.argv[2]](*sys.argv[3:])
subprocess.run(["rm", "-rf", FOLDER])
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
