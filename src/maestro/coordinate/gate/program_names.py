"""What a program is known as: its version and the machine that it builds for or imitates are no part of that. Pure."""

from __future__ import annotations

import re
from typing import Final

_VERSIONED: Final = re.compile(
    r"(?P<name>(?:python|pypy|ruby|perl|php|lua|node|pip)(?=[\d.])|(?:gcc|g\+\+|gfortran|clang\+\+|clang(?:-\w+)?|lldb|llvm-\w+)(?=-\d))-?[\d.]+"
)
_MACHINE: Final = (
    r"(?:arm|thumb|aarch64|riscv|x86|i\d86|mips|powerpc|ppc|avr|xtensa|msp430|m68k|sparc|s390|loongarch|wasm|sh\d|or1k"
    r"|nios2|microblaze|tricore|alpha|hppa|hexagon)\w*"
)
_CROSS: Final = re.compile(
    rf"{_MACHINE}(?:-[\w.]+)*?-(?P<name>gcc|g\+\+|c\+\+|cc|clang|clang\+\+|gfortran|ld|ar|nm|objdump|objcopy|readelf|size|strings|addr2line|c\+\+filt|ranlib|gdb|gcov)(?:-\d+)?"
)
_EMULATOR: Final = re.compile(rf"qemu-(?P<system>system-)?{_MACHINE}(?:-static)?")


def known_as(name: str) -> str:
    """The name that tables have for it: `python3.12`, `arm-none-eabi-gcc`, `qemu-system-riscv64`."""
    if name.endswith(".jar"):
        return re.sub(r"-\d[\w.]*$", "", name.removesuffix(".jar"))
    if told := _VERSIONED.fullmatch(name) or _CROSS.fullmatch(name):
        return told["name"]
    if told := _EMULATOR.fullmatch(name):
        return "qemu-system" if told["system"] else "qemu-user"
    return name
