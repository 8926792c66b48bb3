import Glibc
import TestSupport
import Testing

/// The command line's handling of units: the drivers that it opens, and its messages for unsuitable units.
@Suite struct UnitsTests {
  /// The names of libraries that the dynamic linker looked for while the tool ran.
  private func libraries(_ arguments: [String]) -> Set<Substring> {
    let folder = TemporaryFolder()
    let result = Kelvin.run(
      arguments, environment: ["LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": "\(folder.path)/loader"])
    #expect(result.status == 0, "\(arguments): \(result)")
    let names = TemporaryFolder.entries(folder.path) ?? []
    let log = names.map { String(decoding: TemporaryFolder.read("\(folder.path)/\($0)"), as: UTF8.self) }.joined()
    return Set(
      log.split(separator: "\n").compactMap { line in
        line.firstRange(of: "find library=").map { line[$0.upperBound...].prefix { !" [".contains($0) } }
      })
  }

  @Test func cpuUnitsOpenNoDriver() {
    let folder = TemporaryFolder()
    let drivers: Set<Substring> = ["libvulkan.so.1", "libOpenCL.so.1", "libnvidia-ml.so.1"]
    let input = ["--input", "image=\(Kelvin.image("0_0030.png"))", "--output-dir", "\(folder.path)/out"]
    for arguments in [
      ["predict", Kelvin.digits] + input + ["--units", "cpu", "--cache-dir", "\(folder.path)/cache"],
      ["classify", Kelvin.digits, Kelvin.image("0_0030.png"), "--units", "cpu-only"],
      ["plan", Kelvin.digits, "--units", "cpu"], ["inspect", Kelvin.digits], ["--help"],
    ] {
      let found = libraries(arguments)
      #expect(found.contains("libc.so.6"), "the loader's log was not understood: \(found)")
      #expect(found.isDisjoint(with: drivers), "\(arguments): \(found.intersection(drivers))")
    }
    #expect(libraries(["devices"]).isSuperset(of: drivers))
  }

  @Test func boundProcessPredictsWithOneThreadAndSaysWhy() {
    let result = Kelvin.run(["devices"], shell: "taskset -p -c $(taskset -p -c $$ | sed 's/.*: //; s/[-,].*//') $$ >&2")
    #expect(result.status == 0, "\(result)")
    let text = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let processors = Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let line = "Threads: 1 of \(processors) processors by default, because of this process's affinity mask"
    #expect(text.contains(line) == (processors > 1), "\(result.output)")
  }

  @Test func excludedCPUIsAnErrorWithARemedy() {
    let folder = TemporaryFolder()
    let image = Kelvin.image("0_0030.png")
    let result = Kelvin.run([
      "predict", Kelvin.digits, "--input", "image=\(image)", "--output-dir", "\(folder.path)/out", "--units", "cpu",
      "--exclude", "cpu",
    ])
    #expect(result.status == 65, "\(result)")
    #expect(result.errorLines.count == 1)
    #expect(result.errors.contains("remove the exclusion of cpu"), "\(result)")
    #expect(TemporaryFolder.entries("\(folder.path)/out") == nil, "something was written")
  }

  @Test(.enabled(if: PageTests.hasSoftwareDrivers, "needs a Vulkan and an OpenCL driver that compute on the CPU"))
  func nodesOutsideTheUnitsAreReported() {
    let folder = TemporaryFolder()
    let model = "\(Kelvin.root)/Tests/Vectors/DataSizes/places.onnx"
    let arguments = ["predict", model, "--seed", "0", "--output-dir", "\(folder.path)/out", "--units"]
    let result = Kelvin.run(arguments + ["vulkan:0"])
    #expect(result.status == 0, "\(result)")
    let lines = result.errors.split(separator: "\n").filter { $0.contains(" node") }
    #expect(lines.count == 1, "\(result)")
    #expect(lines.first?.contains("1 of 1 node runs on cpu, not on vulkan:0: 1 non_zero (") == true, "\(result)")
    #expect(!Kelvin.run(arguments + ["cpu"]).errors.contains(" node"))
  }
}
