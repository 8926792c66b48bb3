"""The figures of cards whose times estimate.py estimates."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Card:
    """Figures from data sheets, but for the latency of the level-2 cache, its bytes a second, and the time of a dispatch,
    which are published measurements or guesses from similar cards."""

    units: int          # compute units, multiprocessors, cores
    gigahertz: float
    flops: int          # of float32, a cycle and unit
    cache: float        # GB/s of the level-2 cache
    memory: float       # GB/s
    latency: int        # cycles, of the level-2 cache
    launch: float       # microseconds, of a dispatch that waits for the one before
    load_bytes: int     # a cycle and unit, to registers
    resident: int       # groups of 64 invocations on a unit
    is_scalar: bool     # operands that all lanes share are loaded once
    is_checked: bool    # its compilers check bounds by instructions
    narrow: int         # of float16, a cycle and unit
    matrices: int       # of matrices of float16 with sums in float32, a cycle and unit; 0 if it has none

    @property
    def peak(self):
        return self.units * self.flops * self.gigahertz * 1e9


CARDS = {
    "H100": Card(132, 1.755, 256, 5500, 3350, 300, 3.5, 128, 16, False, True, 512, 4096),
    "RTX 3060": Card(28, 1.78, 256, 1100, 360, 260, 3.0, 128, 16, False, True, 256, 512),
    "RX 7900 XTX": Card(96, 2.4, 256, 3500, 960, 330, 4.0, 64, 16, True, False, 512, 512),
    "Arc A770": Card(32, 2.1, 256, 1500, 560, 500, 8.0, 64, 16, False, False, 512, 2048),
    "UHD 770": Card(2, 1.55, 256, 130, 60, 350, 8.0, 64, 14, False, False, 512, 0),
    "Adreno 740": Card(6, 0.68, 512, 120, 60, 400, 15.0, 64, 16, True, False, 1024, 0),
    "Mali-G720 MC12": Card(12, 1.3, 256, 160, 70, 350, 15.0, 64, 8, False, False, 512, 0),
}
