"""One round of plain work instead of inferences: each thread computes a number of digests of a megabyte, then waits
for the others. The slowdown beside other processes is the cost of sharing processors. Prints one JSON line.

Usage: peer_work.py MODEL FOLDER --threads N --iterations N [--seconds N]    MODEL and FOLDER are not looked at
"""

import concurrent.futures
import hashlib

import timing

DIGESTS = 16


def main():
    arguments = timing.parser(__doc__).parse_args()
    block = bytes(1 << 20)

    def work():
        for _ in range(DIGESTS):
            hashlib.sha256(block).digest()

    def load():
        if arguments.threads == 1:
            return work
        pool = concurrent.futures.ThreadPoolExecutor(arguments.threads)

        def together():
            for part in [pool.submit(work) for _ in range(arguments.threads)]:
                part.result()
        return together

    timing.measure(load, arguments, {})


if __name__ == "__main__":
    main()
