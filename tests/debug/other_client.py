#!/usr/bin/env python3
"""other_client.py PTXRUN: the debug adapter as seen by a client that others wrote (the Python package dap-python), which checks every message against
the protocol's schema. Ends with 77 where the package is not installed."""
import subprocess
import sys
from pathlib import Path

try:
    import dap
    from dap.types import Source, SourceBreakpoint
except ImportError:
    print("skipped: the package dap-python is not installed")
    sys.exit(77)

HERE = Path(__file__).resolve().parent
adapter = subprocess.Popen([sys.argv[1], "debug", "--dap"], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
client = dap.Client(adapter_id="ptxrun", client_name="test")
received = []
checked, checked_event = client.handler.handle_response, client.handler.handle_event


def handle_response(response):
    """The package takes an empty body for a whole response."""
    if response.success and not response.body:
        client._pending_requests.pop(response.request_seq)
        return response
    return checked(response)


def handle_event(event):
    """The package takes the numbers of breakpoints, which the protocol has as numbers, for texts."""
    if event.event == "stopped":
        event.body.pop("hitBreakpointIds", None)
    return checked_event(event)


client.handler.handle_response, client.handler.handle_event = handle_response, handle_event


def flush():
    adapter.stdin.write(client.send())
    adapter.stdin.flush()


def wait(kind):
    """The first message of that kind that has not been waited for yet."""
    while True:
        for i, message in enumerate(received):
            assert "Error" not in type(message).__name__, message
            if type(message).__name__ == kind:
                return received.pop(i)
        data = adapter.stdout.read1(65536)
        assert data, f"the adapter ended before {kind}: {received}"
        received.extend(client.receive(data))


def ask(kind, method, *arguments, **named):
    getattr(client, method)(*arguments, **named)
    flush()
    return wait(kind)


flush()
assert wait("Initialized").supportsStepBack
client.send_request("launch", {"program": "tiles.toml", "schedule": "serial"})
flush()
wait("InitializedEvent")
made = ask("SetBreakpointsResponse", "set_breakpoints", Source(path=str(HERE / "kernels.cu")).model_dump(), [SourceBreakpoint(line=30).model_dump()])
assert made.breakpoints[0].verified, made
client.configuration_done()
flush()
thread = wait("StoppedEvent").threadId
assert len(ask("ThreadsResponse", "threads").threads) == 32


def line():
    return ask("StackTraceResponse", "stack_trace", thread_id=thread).stackFrames[0].line


assert line() == 30
client.next(thread_id=thread)
flush()
wait("StoppedEvent")
assert line() == 32
client.step_back(thread_id=thread)
flush()
wait("StoppedEvent")
assert line() == 30

frame = ask("StackTraceResponse", "stack_trace", thread_id=thread).stackFrames[0]
scopes = {s.name: s.variablesReference for s in ask("ScopesResponse", "scopes", frame.id).scopes}
values = {v.name: v.value for v in ask("VariablesResponse", "variables", scopes["Locals"]).variables}
assert values["i"] == "31" and values["n"] == "60", values
assert ask("EvaluateResponse", "evaluate", "i * 2", frame_id=frame.id).result == "62"
ask("Response", "disconnect")
assert adapter.wait(timeout=20) == 0
print("a client of others' steps through a kernel, to and fro")
