"""What tiles.py and promotions.py write last: the end of a C program that tells each launch, and what it must leave behind."""


def print_end(launches, arguments, numbers=""):
    """launches: (kernel, grid, block) each, as a description has them; arguments: names of buffers, before the kernel's own `outKERNEL`,
    which must come out as the buffer `wantKERNEL`; numbers: C's for each %d in the grids."""
    words = "".join(f'\\"{name}\\", ' for name in arguments)
    for kernel, grid, block in launches:
        print(f'  printf("[[launch]]\\nkernel = \\"{kernel}\\"\\ngrid = {grid}\\nblock = {block}\\n'
              f'arguments = [{words}\\"out{kernel}\\"]\\n"{numbers});')
    for kernel, *_ in launches:
        print(f'  printf("[[expect]]\\nbuffer = \\"out{kernel}\\"\\nvalue = \\"want{kernel}[i]\\"\\n");')
    print("  return 0;\n}\n#endif")
