#!/usr/bin/env python3
"""trace.py PTXRUN [CUDA_PROGRAM WORDS...]: traces are JSON, each event has its fields, and what must be in them is."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent.parent / "samples"


def read(file):
    """Events by category, after every field was looked at."""
    events = json.loads(Path(file).read_text())
    assert isinstance(events, list) and events, file
    by_category, open_ = {}, {}
    for event in events:
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int) and isinstance(event["args"], dict), event
        assert isinstance(event["name"], str) and event["name"], event
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and event["args"]["name"], event
            continue
        assert event["ph"] in "Xbe" and event["ts"] >= 0 and event["cat"] in ("launch", "compile", "copy", "cta", "async", "wait"), event
        if event["ph"] == "X":
            assert event["dur"] >= 0, event
        elif event["ph"] == "b":
            open_[event["cat"], event["id"]] = event
        else:
            begun = open_.pop((event["cat"], event["id"]))
            assert begun["ts"] <= event["ts"] and begun["name"] == event["name"], (begun, event)
            continue
        by_category.setdefault(event["cat"], []).append(event)
    assert not open_, open_
    # Spans of one thread lie within each other or apart.
    spans = sorted((e for e in events if e["ph"] == "X"), key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    stack = []
    for event in spans:
        while stack and (stack[-1]["tid"] != event["tid"] or stack[-1]["ts"] + stack[-1]["dur"] <= event["ts"]):
            stack.pop()
        if stack:
            assert event["ts"] + event["dur"] <= stack[-1]["ts"] + stack[-1]["dur"] + 0.002, (stack[-1], event)
        stack.append(event)
    return by_category


def run(ptxrun, *words, **environment):
    subprocess.run([ptxrun, *words], cwd=HERE, check=True, stdout=subprocess.DEVNULL, timeout=120, env={**os.environ, **environment})


def main():
    ptxrun = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="ptxrun-trace-") as folder:
        file, recording = os.path.join(folder, "trace.json"), os.path.join(folder, "run.rec")

        # CTAs that run straight through, and compile time.
        run(ptxrun, "run", "overwritten_recorded.toml", "-q", "--no-cache", "--trace=" + file, "--record=" + recording)
        found = read(file)
        assert [e["name"] for e in found["launch"]] == ["_Z11overwrittenPi"] * 3, found["launch"]
        first = found["launch"][0]["args"]
        assert first["grid"] == [1, 1, 1] and first["block"] == [8, 1, 1] and first["lanes"] >= 1, first
        assert sum(e["args"]["count"] for e in found["cta"]) == 3, found["cta"]
        assert {e["name"] for e in found["compile"]} == {"load", "compile"}, found["compile"]
        compiled = [e for e in found["compile"] if e["name"] == "compile"]
        assert compiled[0]["args"]["kernel"] == "_Z11overwrittenPi" and compiled[0]["args"]["cached"] is False and compiled[0]["dur"] > 0

        # Barriers at which threads wait for each other, in two blocks.
        run(ptxrun, "run", "tiles.toml", "-q", "--schedule", "serial", "--lanes", "1", "--trace=" + file)
        found = read(file)
        assert sorted(e["args"]["block"] for e in found["wait"]) == ["(0,0,0)", "(1,0,0)"], found["wait"]
        assert all(e["name"] == "barrier 0" for e in found["wait"])
        assert [e["name"] for e in found["cta"]] == ["CTA (0,0,0)", "CTA (1,0,0)"], found["cta"]

        # mbarriers and asynchronous copies.
        run(ptxrun, "run", str(SAMPLES / "tma_pipeline.toml"), "-q", "--trace=" + file)
        found = read(file)
        assert found["async"] and all(e["args"]["bytes"] >= 0 for e in found["async"]), found.keys()
        assert {e["name"] for e in found["wait"]} & {"mbarrier"}, {e["name"] for e in found.get("wait", [])}

        # A replay; what the host wrote before is a copy.
        run(ptxrun, "replay", recording, "-q", "--trace=" + file)
        found = read(file)
        assert len(found["launch"]) == 3, found
        if len(sys.argv) > 2: # a program under the driver
            run(ptxrun, "exec", "--trace=" + file, *sys.argv[2:])
            found = read(file)
            assert found["launch"] and found["copy"] and found["compile"], found.keys()
            assert all(e["args"].get("bytes", 1) > 0 for e in found["copy"]), found["copy"]


main()
