"""Runs the command line as `python -m kelvin`."""
import os
import pathlib
import shutil
import sys


def main() -> None:
    program = pathlib.Path(__file__).parent / "bin" / "kelvin"
    found = str(program) if program.exists() else shutil.which("kelvin")
    if found is None:
        sys.exit("kelvin: error: the command line is not part of this package; install a wheel or the Debian package")
    os.execv(found, ["kelvin", *sys.argv[1:]])


if __name__ == "__main__":
    main()
