"""Processes that do nothing but compute, for as long as a block of code runs: the crowd that others share processors with."""

import subprocess
import sys

COUNT = 2
# Ends by itself when whoever began it is gone.
LOOP = """
import os
print(flush=True)
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(100000):
        pass
"""


class Crowd:
    """Bound to no processor, of the priority of whoever began it. Its time counts as that of a child, once the block has ended."""

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE) for _ in range(COUNT)]
        for process in self.processes:
            process.stdout.readline()
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.communicate()
