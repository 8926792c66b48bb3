import TestSupport
import Testing

/// Machines whose loaders find no driver, or an invalid one.
struct MissingDriverTests {
  private static let folder: TemporaryFolder = {
    let folder = TemporaryFolder()
    let library = "/nonexistent/libdriver.so"
    folder.write(
      Array(#"{"file_format_version":"1.0.0","ICD":{"library_path":"\#(library)","api_version":"1.1.0"}}"#.utf8),
      "vulkan/none.json")
    folder.write(Array("\(library)\n".utf8), "opencl/none.icd")
    return folder
  }()

  private static func environment(_ drivers: String) -> [String: String] {
    [
      "VK_ICD_FILENAMES": drivers == "none" ? "/nonexistent" : "\(folder.path)/vulkan/none.json",
      "VK_DRIVER_FILES": drivers == "none" ? "/nonexistent" : "\(folder.path)/vulkan/none.json",
      "OCL_ICD_VENDORS": drivers == "none" ? "/nonexistent" : "\(folder.path)/opencl",
    ]
  }

  @Test(arguments: ["none", "broken"])
  func missingDriversAreReportedAndTheCPURuns(drivers: String) throws {
    let environment = Self.environment(drivers)
    let devices = Kelvin.run(["devices"], environment: environment)
    #expect(devices.status == 0 && devices.errors.isEmpty, "\(devices)")
    for family in ["vulkan:0", "opencl:0"] {
      #expect(devices.output.contains("  \(family): no "), "\(devices.output)")
      let image = Kelvin.image("7_0044.png")
      let asked = Kelvin.run(["classify", Kelvin.digits, image, "--units", family], environment: environment)
      #expect(asked.status == 69 && asked.errorLines.count == 1, "\(asked)")
      #expect(asked.errors.contains("device '\(family)' is absent: no ") && asked.errors.contains("install"))
      let all = Kelvin.run(["classify", Kelvin.digits, image], environment: environment)
      #expect(all.status == 0 && all.errorLines.isEmpty, "\(all)")
    }
  }
}
