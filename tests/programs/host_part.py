#!/usr/bin/env python3
"""host_part.py PROGRAM.cu OUTPUT: what the host sees of a program. Kernels lose their bodies, functions of the device and CUDA's headers go; lines
keep their numbers."""
import re
import sys

HEADERS = re.compile(r'^#include <(cooperative_groups|cuda/|cub/|cuda_awbarrier|cuda_pipeline|cuda_profiler_api|mma|cuda\.h|cudaProfiler|curand)[^\n]*$', re.M)
NAMES = re.compile(r'^(namespace \w+ = (cooperative_groups|cuda)[^\n]*|using \w+ = cuda::[^\n]*|#pragma nv_[^\n]*)$', re.M)
FUNCTION = re.compile(r'^(template <[^\n]*?>\s)?(static )?(__global__|__device__|__forceinline__)[^;={]*?\)\s*(const )?\{', re.M)

STRING = re.compile(r'R"\(.*?\)"', re.S)


def closing(text, at):
    """Where the brace that opens at `at` closes; strings may hold others."""
    depth = 0
    for token in re.finditer(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'|//[^\n]*|[{}]', text[at:]):
        depth += {'{': 1, '}': -1}.get(token.group(), 0)
        if depth == 0:
            return at + token.start()
    raise SystemExit('a brace is open')


def main(source, output):
    text = NAMES.sub('', HEADERS.sub('', open(source, encoding='utf-8').read()))
    at = 0
    while found := FUNCTION.search(text, at):
        if in_string := next((span for span in STRING.finditer(text) if span.start() < found.start() < span.end()), None):
            at = in_string.end()
            continue
        end = closing(text, found.end() - 1) + 1
        lines = '\n' * text.count('\n', found.end(), end)
        kept = found.group() + '}' + lines if '__global__' in found.group() else '\n' * text.count('\n', found.start(), found.end()) + lines
        text = text[:found.start()] + kept + text[end:]
        at = found.start() + len(kept)
    with open(output, 'w', encoding='utf-8') as file:
        file.write(f'#line 1 "{source}"\n{text}')


main(*sys.argv[1:])
