import KelvinBasics
import TestSupport
import Testing

@Suite struct MachineMemoryTests {
  private let system = TemporaryFolder()

  private var memory: MachineMemory { MachineMemory(root: system.path) }

  @Test func freeMemoryIsThatOfTheMachine() {
    system.write("MemTotal:  8000 kB\nMemFree:  10 kB\nMemAvailable:    3000 kB\n", "proc/meminfo")
    #expect(memory.free == 3_072_000)
  }

  @Test func shareOfTheFreeMemoryIsTheLimitUnlessOneIsChosen() {
    system.write("MemAvailable:    1000 kB\n", "proc/meminfo")
    let limits = WorkBudget.Limits(seconds: 5).withinFreeMemory(memory)
    #expect(limits.seconds == 5 && limits.bytes == 921_600 && limits.freeBytes == 1_024_000)
    let chosen = WorkBudget.Limits(bytes: 7)
    #expect(chosen.withinFreeMemory(memory) == chosen)
  }

  @Test func smallestControlGroupLimitsTheProcess() {
    system.write("MemAvailable:    3000000 kB\n", "proc/meminfo")
    system.write("0::/outer/inner\n", "proc/self/cgroup")
    system.write("max\n", "sys/fs/cgroup/outer/inner/memory.max")
    system.write("1000000\n", "sys/fs/cgroup/outer/memory.max")
    system.write("700000\n", "sys/fs/cgroup/outer/memory.current")
    // Cached files are given back when memory is needed.
    system.write("anon 5\ninactive_file 200000\n", "sys/fs/cgroup/outer/memory.stat")
    #expect(memory.free == 500_000)
    #expect(memory.total == 1_000_000)
    system.write("900000\n", "sys/fs/cgroup/outer/memory.current")
    #expect(memory.free == 300_000)
  }

  @Test func firstVersionOfControlGroupsCounts() {
    system.write("5:cpu:/c\n4:memory,hugetlb:/box\n", "proc/self/cgroup")
    system.write("9223372036854771712\n", "sys/fs/cgroup/memory/memory.limit_in_bytes")
    system.write("4096\n", "sys/fs/cgroup/memory/box/memory.limit_in_bytes")
    system.write("5000\n", "sys/fs/cgroup/memory/box/memory.usage_in_bytes")
    #expect(memory.free == 0 && memory.total == 4096)
  }

  @Test func malformedFilesAreIgnored() {
    system.write("0::/../..\nnonsense\n:\n", "proc/self/cgroup")
    system.write("many\n", "sys/fs/cgroup/memory.max")
    system.write("MemAvailable: lots\n", "proc/meminfo")
    #expect(memory.total > 1 << 20)
  }
}
