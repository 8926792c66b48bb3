"""The multiply-add rate that a plain shader reaches on a Vulkan device: multiply_adds.comp, run by multiply_adds.c."""

import json
import os
import pathlib
import subprocess

from contenders import HERE, ContenderFailed, run

SOURCES = [HERE / f"multiply_adds.{suffix}" for suffix in ("c", "comp")]
# The numbers of independent sums; the most that a driver keeps in registers is fastest.
SUMS = (1, 2, 3, 4, 8)


def files(folder):
    """Returns the paths of the program, and of the shaders by their number of sums."""
    folder = pathlib.Path(folder)
    return folder / "multiply_adds", {sums: folder / f"multiply_adds_{sums}.spv" for sums in SUMS}


def built(folder):
    """Returns the program and its arguments, which exist already."""
    program, shaders = files(folder)
    return [str(program)], [word for sums, path in shaders.items() for word in (str(sums), str(path))]


def build(folder):
    """Builds the program and its shaders, compiled by `cc` (or the compiler named by CC) and `glslc`. Outputs that
    are newer than their sources are kept, and then need neither compiler."""
    program, shaders = files(folder)
    made = [program, *shaders.values()]
    if not all(each.exists() for each in made) or min(map(changed, made)) < max(map(changed, SOURCES)):
        program.parent.mkdir(parents=True, exist_ok=True)
        compile_with("a C compiler and libvulkan-dev", os.environ.get("CC", "cc"), "-O2", "-o", str(program), str(SOURCES[0]),
                     "-lvulkan")
        for sums, path in shaders.items():
            compile_with("glslc", "glslc", "-O", "--target-env=vulkan1.1", f"-DSUMS={sums}", str(SOURCES[1]), "-o", str(path))
    return built(folder)


def changed(path):
    return path.stat().st_mtime


def compile_with(package, *command):
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise ContenderFailed(f"{command[0]} is not there: install {package}") from error
    except subprocess.CalledProcessError as error:
        raise ContenderFailed(f"{' '.join(command)} failed, for want of {package}?\n{error.stderr[-2000:]}") from error


def measure(built, device):
    """Returns operations a second, a multiply-add being two, by the number of sums. `device` is its name in Vulkan."""
    program, shaders = built
    answer = json.loads(run([*program, device, *shaders], len(os.sched_getaffinity(0))))
    return {int(sums): rate for sums, rate in answer.items()}
