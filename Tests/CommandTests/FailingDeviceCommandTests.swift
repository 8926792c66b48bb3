import TestSupport
import Testing

/// Commands on devices that stop working: the stand-ins of `CFaultyDrivers`, compiled to a library and put in the loaders'
/// place.
@Suite(.slow, .enabled(if: FaultyLoaders.folder != nil, "no C compiler, or no loader to stand in for"))
struct FailingDeviceCommandTests {
  private static let hung = ["vulkan:0": "vkQueueSubmit", "opencl:0": "clEnqueueNDRangeKernel"]

  private func classify(_ fault: String, _ units: String, _ more: String...) -> ToolResult {
    Kelvin.run(
      ["classify", Kelvin.digits, Kelvin.image("7_0044.png"), "--units", units, "--json"] + more,
      environment: FaultyLoaders.environment(fault))
  }

  @Test(arguments: ["vulkan:0", "opencl:0"])
  func hungDeviceIsReportedAndTheResultIsCorrect(device: String) throws {
    let sound = Kelvin.run(["classify", Kelvin.digits, Kelvin.image("7_0044.png"), "--units", "cpu", "--json"])
    let function = try #require(Self.hung[device])
    let result = classify("\(function) 1 1000000 0 1", device, "--device-timeout", "1s")
    #expect(result.status == 0, "\(result)")
    #expect(Self.best(result) == Self.best(sound) && !Self.best(sound).isEmpty)
    // By OpenCL it is a program's first run, which has three times as long; on a busy machine a call may be what takes
    // too long, which has 1.5 s.
    #expect(result.errors.contains("kelvin: note: \(device) is unavailable ("))
    #expect(["1 s", "1.5 s", "3 s"].contains { result.errors.contains("within \($0)") }, "\(result.errors)")
    #expect(result.errorLines.isEmpty)
  }

  /// Neither the command nor its exit waits for the driver. The calls are none that may compile, which have longer.
  @Test(arguments: ["vulkan:0", "opencl:0"])
  func stuckCallIsReportedAndTheResultIsCorrect(device: String) throws {
    let function = try #require(["vulkan:0": "vkAllocateMemory", "opencl:0": "clCreateBuffer"][device])
    let result = classify("\(function) 1 1000000 0 2", device, "--device-timeout", "1s")
    #expect(result.status == 0, "\(result)")
    #expect(!Self.best(result).isEmpty)
    #expect(result.errors.contains("a call of the driver did not return within 1.5 s"))
    #expect(result.errorLines.isEmpty)
    let strict = classify("\(function) 1 1000000 0 2", device, "--device-timeout", "1s", "--strict")
    #expect(strict.status == 69 && strict.errorLines.count == 1, "\(strict)")
  }

  @Test(arguments: ["vulkan:0": "-4", "opencl:0": "-36"])
  func strictRunOnALostDeviceExitsWithStatus69(device: String, lost: String) throws {
    let function = try #require(Self.hung[device])
    let result = classify("\(function) 1 1000000 \(lost) 0", device, "--strict")
    #expect(result.status == 69, "\(result)")
    #expect(result.errorLines.count == 1)
    #expect(result.errors.contains("without --strict another device would run it"))
  }

  /// The first run tests the device; the cache keeps the result for later runs.
  @Test(arguments: ["vulkan:0", "opencl:0"])
  func wrongDriverIsDetectedOnceAndListed(device: String) throws {
    let cache = TemporaryFolder()
    func run(_ arguments: [String], lie: String? = nil) -> ToolResult {
      var environment = FaultyLoaders.environment("none 1 0 0 0")
      environment["KELVIN_CACHE_DIR"] = "\(cache.path)/kelvin"
      (environment["FAULTY_LIE"], environment["FAULTY_NEWER"]) = (lie, "1")
      return Kelvin.run(arguments, environment: environment)
    }
    let command = ["classify", Kelvin.digits, Kelvin.image("7_0044.png"), "--json", "--units"]
    let sound = run(command + ["cpu"])
    let result = run(command + [device], lie: "1")
    #expect(result.status == 0 && Self.best(result) == Self.best(sound), "\(result)")
    #expect(result.errors.contains("self-test of ") && result.errors.contains("not on \(device)"), "\(result.errors)")
    let strict = run(command + [device, "--strict"])
    #expect(strict.status != 0 && strict.errors.contains("self-test of "), "\(strict)")
    let devices = run(["devices"])
    #expect(devices.output.contains("\(device): self-test of "), "\(devices.output)")
  }

  private static func best(_ result: ToolResult) -> [String] {
    result.output.split(separator: "\n").filter { $0.contains("\"identifier\"") }.prefix(1).map(String.init)
  }
}

/// A folder with the simulated drivers under the names of the loaders.
private enum FaultyLoaders {
  static let folder: TemporaryFolder? = {
    let folder = TemporaryFolder()
    let sources = "\(Kelvin.root)/Tests/CFaultyDrivers"
    let script = """
      cc -std=gnu2x -O1 -w -D_Nullable= -D_Nonnull= -DFAULTY_SHARED -fvisibility=hidden -shared -fPIC \
        -I\(Kelvin.root)/Sources/CKelvinSupport/include -I\(sources)/include \(sources)/*.c \
        -o \(folder.path)/libvulkan.so.1 && ln -s libvulkan.so.1 \(folder.path)/libOpenCL.so.1
      """
    return Kelvin.run([], script: script).status == 0 && real.count == 2 ? folder : nil
  }()

  /// The real loaders' paths.
  private static let real: [String: String] = {
    let listed = Kelvin.run([], script: "/sbin/ldconfig -p").output
    var paths: [String: String] = [:]
    for line in listed.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard let name = words.first?.drop(while: \.isWhitespace), let path = words.last else { continue }
      if name == "libvulkan.so.1" { paths["FAULTY_VULKAN"] = paths["FAULTY_VULKAN"] ?? String(path) }
      if name == "libOpenCL.so.1" { paths["FAULTY_OPENCL"] = paths["FAULTY_OPENCL"] ?? String(path) }
    }
    return paths
  }()

  /// - Parameter fault: as `faulty_exports.h` reads it.
  static func environment(_ fault: String) -> [String: String] {
    real.merging(["LD_LIBRARY_PATH": folder?.path ?? "", "FAULTY_FAULT": fault]) { $1 }
  }
}
