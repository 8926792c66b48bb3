import KelvinBasics
import TestSupport
import Testing

@Suite struct MachineProcessorsTests {
  private let system = TemporaryFolder()

  /// Eight processors.
  private var processors: MachineProcessors { MachineProcessors(root: system.path, online: 8) }

  @Test func quotaOfTheFirstVersionIsRoundedUp() {
    system.write("3:cpuset:/\n2:cpu,cpuacct:/box\n", "proc/self/cgroup")
    system.write("150000\n", "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us")
    system.write("100000\n", "sys/fs/cgroup/cpu/box/cpu.cfs_period_us")
    #expect(processors.quota == 1.5 && processors.usable == 2)
    #expect(processors.limit == "quota of 1.50 processors")
  }

  @Test func groupOfTheFirstVersionWithoutAQuotaHasMinusOne() {
    system.write("1:cpu:/\n", "proc/self/cgroup")
    system.write("-1\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    system.write("100000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us")
    #expect(processors.quota == nil && processors.usable == 8 && processors.limit == nil)
  }

  @Test func quotaOfTheSecondVersionLimitsTheThreads() {
    system.write("0::/service\n", "proc/self/cgroup")
    system.write("20000 10000\n", "sys/fs/cgroup/service/cpu.max")
    #expect(processors.quota == 2 && processors.usable == 2)
    system.write("max 100000\n", "sys/fs/cgroup/service/cpu.max")
    #expect(processors.quota == nil && processors.usable == 8)
  }

  @Test func leastQuotaAlongThePathCounts() {
    system.write("0::/outer/inner/leaf\n", "proc/self/cgroup")
    system.write("max 100000\n", "sys/fs/cgroup/outer/inner/leaf/cpu.max")
    system.write("400000 100000\n", "sys/fs/cgroup/outer/inner/cpu.max")
    system.write("300000 100000\n", "sys/fs/cgroup/outer/cpu.max")
    #expect(processors.usable == 3)
    system.write("50000 100000\n", "sys/fs/cgroup/outer/inner/cpu.max")
    #expect(processors.usable == 1 && processors.limit == "quota of 0.500 processors")
  }

  @Test func pathOfTheHostDoesNotHideTheQuotaOfAContainer() {
    // A container without its own namespace reads the host's path, but sees its group as the root of the mount.
    system.write("4:cpu:/docker/0123\n", "proc/self/cgroup")
    system.write("100000\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    system.write("100000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us")
    #expect(processors.usable == 1 && processors.limit == "quota of 1.00 processor")
  }

  @Test(arguments: [
    "", "many 100000", "100000", "0 100000", "-5 100000", "100000 0", "99999999999999999999 1", "1 2 3",
  ])
  func malformedQuotaIsIgnored(text: String) {
    system.write("0::/../..\nnonsense\n:\n", "proc/self/cgroup")
    system.write(text, "sys/fs/cgroup/cpu.max")
    #expect(processors.quota == nil && processors.usable == 8)
  }

  @Test func affinityMaskLimitsTheThreadsUnlessAQuotaIsLess() {
    system.write("Name:\tx\nCpus_allowed:\t81\nCpus_allowed_list:\t0,7\n", "proc/thread-self/status")
    #expect(processors.usable == 2 && processors.limit == "affinity mask")
    system.write("0::/\n", "proc/self/cgroup")
    system.write("300000 100000\n", "sys/fs/cgroup/cpu.max")
    #expect(processors.usable == 2 && processors.limit == "affinity mask")
    system.write("100000 100000\n", "sys/fs/cgroup/cpu.max")
    #expect(processors.usable == 1 && processors.limit == "quota of 1.00 processor")
  }

  @Test func processorsOutsideTheMachineDoNotCount() {
    system.write("0-7\n", "sys/devices/system/cpu/online")
    system.write("Cpus_allowed_list:\t6-31\n", "proc/thread-self/status")
    #expect(processors.usable == 2)
    system.write("Cpus_allowed_list:\t0-31\n", "proc/thread-self/status")
    #expect(processors.usable == 8 && processors.limit == nil)
  }

  @Test(arguments: ["", "0-", "-3", "7-2", "a", "0,,1", "0-99999999999999999999"])
  func malformedMaskIsIgnored(list: String) {
    system.write("Cpus_allowed_list:\t\(list)\n", "proc/thread-self/status")
    #expect(processors.usable == 8)
  }
}
