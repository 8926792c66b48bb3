"""Processes that only compute, for as long as a block of code runs: background load on shared processors."""

import subprocess
import sys

COUNT = 2
# The loop ends when its parent process has ended.
LOOP = """
import os
print(flush=True)
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(100000):
        pass
"""


class Crowd:
    """Processes that are bound to no processor and inherit the priority of their parent. Their time counts as that
    of children once the block has ended."""

    def __init__(self, count=COUNT):
        self.count = count

    def __enter__(self):
        command = [sys.executable, "-c", LOOP]
        self.processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(self.count)]
        for process in self.processes:
            process.stdout.readline()
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.communicate()
