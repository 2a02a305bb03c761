#!/usr/bin/env python3
"""adapter.py PTXRUN: drives `ptxrun debug --dap` as an editor does, over standard streams and over a port, and checks what comes back."""
import base64
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Client:
    """The client's side of the protocol: requests wait for their response; events are kept."""

    def __init__(self, reader, writer):
        self.reader, self.writer, self.sequence, self.events = reader, writer, 0, []

    def receive(self):
        length = 0
        while (line := self.reader.readline().strip()):
            name, value = line.split(b":", 1)
            if name == b"Content-Length":
                length = int(value)
        assert length, "the server has gone"
        message = json.loads(self.reader.read(length))
        assert isinstance(message["seq"], int) and message["type"] in ("response", "event"), message
        return message

    def send(self, command, **arguments):
        self.sequence += 1
        data = json.dumps({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.writer.flush()
        return self.sequence

    def request(self, command, **arguments):
        """The body of the response; on failure its message, as RuntimeError."""
        number = self.send(command, **arguments)
        while True:
            message = self.receive()
            if message["type"] == "event":
                self.events.append(message)
                continue
            assert message["request_seq"] == number and message["command"] == command, message
            if not message["success"]:
                raise RuntimeError(message["message"])
            return message.get("body", {})

    def wait(self, name):
        """The body of the next event of that name."""
        while True:
            for i, event in enumerate(self.events):
                if event["event"] == name:
                    del self.events[i]
                    return event.get("body", {})
            message = self.receive()
            assert message["type"] == "event", message
            self.events.append(message)

    def move(self, command, **arguments):
        self.request(command, **arguments)
        return self.wait("stopped")

    def top_with_nulls(self, thread):
        """As clients ask that write what they leave out as null."""
        return self.request("stackTrace", threadId=thread, startFrame=None, levels=None, format=None)["stackFrames"][0]

    def begin(self, source, lines, **launch):
        capabilities = self.request("initialize", adapterID="ptxrun", linesStartAt1=True, columnsStartAt1=True)
        assert capabilities["supportsStepBack"] and capabilities["supportsConfigurationDoneRequest"], capabilities
        self.request("launch", **launch)
        self.wait("initialized")
        made = self.request("setBreakpoints", source={"path": str(HERE / source)}, breakpoints=[{"line": n} for n in lines])["breakpoints"]
        assert [b["verified"] for b in made] == [True] * len(lines), made
        return made

    def top(self, thread):
        return self.request("stackTrace", threadId=thread, startFrame=0, levels=20)["stackFrames"][0]

    def values(self, reference):
        return {v["name"]: v for v in self.request("variables", variablesReference=reference)["variables"]}


def fails(part, action, *arguments, **named):
    try:
        action(*arguments, **named)
    except RuntimeError as error:
        assert part in str(error), error
        return
    raise AssertionError("it must fail with " + part)


def walk(client):
    """Forwards, backwards, values, memory."""
    client.begin("kernels.cu", [30], program="tiles.toml", schedule="serial")
    client.request("configurationDone")
    stop = client.wait("stopped")
    assert stop["reason"] == "breakpoint" and stop["hitBreakpointIds"] == [1] and stop["allThreadsStopped"], stop
    thread = stop["threadId"]
    threads = {t["id"]: t["name"] for t in client.request("threads")["threads"]}
    assert threads[thread] == "block (0,0,0), thread (31,0,0)", (thread, threads)
    assert len(threads) == 32, threads

    frame = client.top(thread)
    assert (frame["name"], frame["line"], frame["source"]["path"]) == ("tiles", 30, str(HERE / "kernels.cu")), frame
    assert client.top_with_nulls(thread)["line"] == frame["line"]
    scopes = {s["name"]: s["variablesReference"] for s in client.request("scopes", frameId=frame["id"])["scopes"]}
    locals_ = client.values(scopes["Locals"])
    assert locals_["i"]["value"] == "31" and locals_["n"]["value"] == "60", locals_
    pair = client.values(locals_["pair"]["variablesReference"])
    assert (pair["a"]["value"], pair["b"]["value"], pair["b"]["type"]) == ("31", "2", "float"), pair
    assert client.values(locals_["local"]["variablesReference"])["[2]"]["value"] == "3"
    assert client.values(client.values(scopes["Thread"])["threadIdx"]["variablesReference"])["x"]["value"] == "31"
    assert client.values(scopes["Registers"])["%r1"]["value"] == "31"

    evaluate = lambda text: client.request("evaluate", expression=text, frameId=frame["id"], context="hover")["result"]
    assert (evaluate("i * 2"), evaluate("tile[3]"), evaluate("%tid.x")) == ("62", "3", "31")
    fails("no symbol 'nosuch'", client.request, "evaluate", expression="nosuch", frameId=frame["id"])

    x = client.request("evaluate", expression="x", frameId=frame["id"])["memoryReference"]
    memory = client.request("readMemory", memoryReference=x, offset=8, count=8)
    assert struct.unpack("<2f", base64.b64decode(memory["data"])) == (2.0, 3.0), memory
    assert client.request("readMemory", memoryReference="0x10", count=8)["unreadableBytes"] == 8

    # To and fro.
    assert client.move("next", threadId=thread)["reason"] == "step"
    assert client.top(thread)["line"] == 32, client.top(thread)
    lines = []
    for _ in range(4):
        client.move("stepBack", threadId=thread)
        lines.append(client.top(thread)["line"])
    assert lines == [30, 29, 28, 27], lines
    client.move("next", threadId=thread)
    client.move("stepIn", threadId=thread)
    frames = client.request("stackTrace", threadId=thread)
    assert [f["name"] for f in frames["stackFrames"]] == ["power", "tiles"] and frames["totalFrames"] == 2, frames
    client.move("stepOut", threadId=thread)
    assert client.top(thread)["name"] == "tiles"
    before = client.top(thread)["instructionPointerReference"]
    client.move("stepIn", threadId=thread, granularity="instruction")
    assert client.top(thread)["instructionPointerReference"] != before
    client.move("stepBack", threadId=thread, granularity="instruction")
    assert client.top(thread)["instructionPointerReference"] == before

    # A register, back to where its thread gave it its value.
    info = client.request("dataBreakpointInfo", name="i")
    assert client.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])["breakpoints"][0]["verified"], info
    client.request("setBreakpoints", source={"path": str(HERE / "kernels.cu")}, breakpoints=[])
    stop = client.move("reverseContinue", threadId=thread)
    assert stop["reason"] == "data breakpoint" and client.top(thread)["line"] == 20, (stop, client.top(thread))
    client.move("stepBack", threadId=thread)
    client.request("setDataBreakpoints", breakpoints=[])
    client.request("setBreakpoints", source={"path": str(HERE / "kernels.cu")}, breakpoints=[{"line": 30}])
    client.move("continue", threadId=thread)

    # A data breakpoint, in both directions.
    info = client.request("dataBreakpointInfo", name="y[40]")
    made = client.request("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])["breakpoints"]
    assert made[0]["verified"], made
    client.request("setBreakpoints", source={"path": str(HERE / "kernels.cu")}, breakpoints=[])
    stop = client.move("continue", threadId=thread)
    assert stop["reason"] == "data breakpoint", stop
    assert client.request("threads")["threads"] and stop["threadId"] == 41, stop
    stop = client.move("reverseContinue", threadId=stop["threadId"])
    assert stop["reason"] == "data breakpoint" and client.top(41)["line"] == 30, stop
    client.request("setDataBreakpoints", breakpoints=[])
    stop = client.move("reverseContinue", threadId=41)
    assert stop["reason"] == "entry", stop

    # A condition; the end; and back from there.
    made = client.request("setBreakpoints", source={"path": str(HERE / "kernels.cu")}, breakpoints=[{"line": 29, "condition": "i == 50"}])
    assert made["breakpoints"][0]["line"] == 29
    assert client.move("continue", threadId=1)["threadId"] == 51
    stop = client.move("continue", threadId=51)
    assert stop["reason"] == "pause" and "ended" in stop["description"], stop
    assert "The launch has ended" in client.wait("output")["output"]
    assert client.move("reverseContinue", threadId=51)["threadId"] == 51
    result = client.request("evaluate", expression="last-write tile[3]", context="repl")["result"]
    assert result == "written by block (1,0,0), thread (3,0,0)", result
    made = client.request("setFunctionBreakpoints", breakpoints=[{"name": "power"}, {"name": "nosuch"}])["breakpoints"]
    assert [b["verified"] for b in made] == [True, False], made
    fails("not known", client.request, "noSuchRequest")
    client.request("disconnect")
    client.wait("terminated")


def fault(client):
    """A kernel that fails, PTX lines, printed text."""
    client.begin("kernels_debug.ptx", [], program="kernels_debug.ptx", kernel="_Z13out_of_boundsPi", block="8", arguments=["i32[8]"])
    client.request("configurationDone")
    stop = client.wait("stopped")
    assert stop["reason"] == "exception" and "illegal address" in stop["text"], stop
    frame = client.top(stop["threadId"])
    assert (frame["line"], stop["threadId"]) == (50, 4), (frame, stop)
    client.request("disconnect")


def entry(client):
    client.begin("kernels_debug.ptx", [], program="kernels_lines.ptx", kernel="_Z5hellov", block="2", stopOnEntry=True, stopAtEnd=False)
    client.request("configurationDone")
    assert client.wait("stopped")["reason"] == "entry"
    client.request("continue", threadId=1)
    assert client.wait("output")["output"] == "hello from 0\nhello from 1\n"
    client.wait("exited")
    client.wait("terminated")
    client.request("disconnect")


def endless(client):
    """A kernel that runs long is interrupted by `pause`."""
    client.begin("kernels_debug.ptx", [], program="kernels_debug.ptx", kernel="_Z7collatzPy", grid="64", block="64", arguments=["u64[64]"])
    client.request("configurationDone")
    client.request("pause", threadId=1)
    stop = client.wait("stopped")
    assert stop["reason"] == "pause", stop
    client.request("evaluate", expression="1 + 1")
    client.request("disconnect")


def overStreams(ptxrun, session, *words):
    process = subprocess.Popen([ptxrun, "debug", "--dap", *words], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    client = Client(process.stdout, process.stdin)
    session(client)
    process.stdin.close()
    assert process.wait(timeout=20) == 0


def overPort(ptxrun, session):
    process = subprocess.Popen([ptxrun, "debug", "--dap=0"], cwd=HERE, stderr=subprocess.PIPE)
    port = int(re.search(rb"127\.0\.0\.1:(\d+)", process.stderr.readline()).group(1))
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        session(Client(connection.makefile("rb"), connection.makefile("wb")))
    assert process.wait(timeout=20) == 0


def refused(client):
    client.request("initialize")
    fails("nosuch.toml", client.request, "launch", program="nosuch.toml")


def damaged(client):
    """Requests that are not as the protocol says are refused, and no more."""
    client.begin("kernels.cu", [30], program="tiles.toml")
    for command, arguments in (("stackTrace", {}), ("stackTrace", {"threadId": "x"}), ("variables", {"variablesReference": 99}), ("scopes", {}),
                               ("readMemory", {"memoryReference": 5}), ("evaluate", {}), ("setBreakpoints", {"breakpoints": [{"line": "x"}]}),
                               ("next", {"threadId": 0}), ("stepBack", {"threadId": "x"}), ("", {})):
        try:
            client.request(command, **arguments)
            raise AssertionError(command)
        except RuntimeError:
            pass
    client.request("disconnect")


def named(client):
    """The command line said what to debug."""
    client.begin("kernels.cu", [40])
    client.request("configurationDone")
    stop = client.wait("stopped")
    frame = client.top(stop["threadId"])
    assert frame["line"] == 40, frame
    assert client.request("evaluate", expression="*data@3", frameId=frame["id"])["result"].startswith("{0, 101")
    client.request("disconnect")


def recording(ptxrun):
    with tempfile.TemporaryDirectory(prefix="ptxrun-debug-") as folder:
        file = os.path.join(folder, "run.rec")
        subprocess.run([ptxrun, "run", "overwritten_recorded.toml", "-q", "--record=" + file], cwd=HERE, check=True)
        overStreams(ptxrun, named, file, "--launch", "1")


def main():
    ptxrun = str(Path(sys.argv[1]).resolve())
    overStreams(ptxrun, walk)
    overPort(ptxrun, walk)
    for session in (fault, entry, endless, refused, damaged):
        overStreams(ptxrun, session)
    recording(ptxrun)


main()
