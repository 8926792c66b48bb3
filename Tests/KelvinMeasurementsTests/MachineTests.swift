import Glibc
import KelvinMeasurements
import TestSupport
import Testing

@Suite("Machines and their files")
struct MachineTests {
  @Test("binary, endless and missing files and folders have a reason each")
  func unreadable() {
    let tree = FixtureTree(["folder/file": "text", "large": String(repeating: "9", count: 10_000)])
    func reason(_ path: String) -> String? {
      if case .failure(let failure) = tree.files.bytes(path, limit: 4096) { return failure.description }
      return nil
    }
    #expect(reason("folder/file") == nil)
    #expect(reason("folder") == "Is a directory")
    #expect(reason("nowhere") == "No such file or directory")
    #expect(reason("large")?.contains("bytes") == true)
    #expect(SystemFiles.Failure.system(EACCES).isDenied)
    #expect(!SystemFiles.Failure.system(ENOENT).isDenied)
  }

  @Test("machines describe themselves, and guests have the hypervisor flag")
  func description() {
    let laptop = FixtureTree.reading(Machines.intelLaptop) { MachineDescription($0) }
    #expect(laptop.processor == "13th Gen Intel(R) Core(TM) i5-1340P")
    #expect(laptop.logicalCores == 2)
    #expect(laptop.memoryBytes == 16_123_456 * 1024)
    #expect(laptop.kernel == "6.1.0-18-amd64")
    #expect(!laptop.isVirtualised)
    #expect(
      laptop.summary
        == "13th Gen Intel(R) Core(TM) i5-1340P, 2 cores, 15.4 GiB, Linux 6.1.0-18-amd64")
    let board = FixtureTree.reading(Machines.armBoard) { MachineDescription($0) }
    #expect(board.processor == "Raspberry Pi 5 Model B Rev 1.0")
    #expect(board.kernel == "unknown")
    #expect(FixtureTree.reading(Machines.cloudGuest) { MachineDescription($0) }.isVirtualised)
    #expect(MachineDescription(FixtureTree.nothing).processor == "unknown")
  }

  @Test("a quota is part of the description, and leaves the number of cores as it is")
  func quota() {
    let container = Machines.intelLaptop.merging([
      "proc/self/cgroup": "0::/box\n", "sys/fs/cgroup/box/cpu.max": "100000 100000\n",
    ]) { _, new in new }
    let machine = FixtureTree.reading(container) { MachineDescription($0) }
    #expect(machine.logicalCores == 2 && machine.workingCores == 1)
    #expect(machine.summary.hasSuffix(", 1 core usable (quota of 1.00 processor)"))
    #expect(FixtureTree.reading(Machines.intelLaptop) { MachineDescription($0) }.usableCores == nil)
  }
}
