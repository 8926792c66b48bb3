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

  /// A later prediction hangs: programs run for the first time have a longer limit. Then the device works again.
  @Test(arguments: ["vulkan:0": 60, "opencl:0": 400])
  func hungDeviceIsReportedAndTheResultIsCorrect(device: String, call: Int) throws {
    let images = Array(repeating: Kelvin.image("7_0044.png"), count: 60)
    let sound = Kelvin.run(["classify", Kelvin.digits] + images + ["--units", "cpu", "--json"])
    let function = try #require(Self.hung[device])
    let result = Kelvin.run(
      ["classify", Kelvin.digits] + images + ["--units", device, "--json", "--device-timeout", "500ms"],
      environment: FaultyLoaders.environment("\(function) \(call) 1 0 1"))
    #expect(result.status == 0, "\(result)")
    #expect(Self.all(result) == Self.all(sound) && Self.all(sound).count >= 60)
    #expect(result.errors.contains("kelvin: note: \(device) failed ("), "\(result.errors)")
    #expect(result.errors.contains("within 0.") && result.errors.contains("was opened again"), "\(result.errors)")
    #expect(result.errorLines.isEmpty)
  }

  /// A device that is lost while a command runs is named in its notes.
  @Test(arguments: ["vulkan:0": ("-4", 60), "opencl:0": ("-36", 400)])
  func lossDuringACommandIsReported(device: String, fault: (lost: String, call: Int)) throws {
    let function = try #require(Self.hung[device])
    let images = Array(repeating: Kelvin.image("7_0044.png"), count: 60)
    let result = Kelvin.run(
      ["classify", Kelvin.digits] + images + ["--units", device, "--json"],
      environment: FaultyLoaders.environment("\(function) \(fault.call) 1000000 \(fault.lost) 0"))
    #expect(result.status == 0, "\(result)")
    #expect(result.errors.contains("kelvin: note: \(device) is unavailable ("), "\(result.errors)")
  }

  /// One kernel in ten is left out after all kernels were compiled.
  @Test(arguments: ["vulkan:0", "opencl:0"], ["FAULTY_DROP", "FAULTY_FLIP"])
  func wrongAnswersAreRepeatedOrMarked(device: String, damage: String) throws {
    let images = Array(repeating: Kelvin.image("7_0044.png"), count: 11)
    let sound = Kelvin.run(["classify", Kelvin.digits] + images + ["--units", "cpu", "--json"])
    var environment = FaultyLoaders.environment("none 1 0 0 0")
    environment[damage] = "10"
    let result = Kelvin.run(
      ["classify", Kelvin.digits] + images + ["--units", device, "--json"], environment: environment)
    if result.status == 0 { #expect(Self.best(result) == Self.best(sound)) }
    #expect(result.status == 0 || result.status == 69 && result.errors.contains("may be wrong"), "\(result)")
    #expect(result.errors.contains("\(device) computes wrongly ("), "\(result.errors)")
    let unchecked = Kelvin.run(
      ["classify", Kelvin.digits] + images + ["--units", device, "--json", "--no-canary"], environment: environment)
    #expect(unchecked.status == 0 && !unchecked.errors.contains("computes wrongly"), "\(unchecked)")
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

  private static func all(_ result: ToolResult) -> [String] {
    result.output.split(separator: "\n").filter { $0.contains("\"identifier\"") }.map(String.init)
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
