import TestSupport
import Testing

/// Checks generated classes with the compiler of the toolchain.
enum SwiftCompiler {
  static let isInstalled = Shell.run("command -v swiftc").status == 0
  static let reason: Comment = "needs swiftc in PATH"

  /// The module CoreML of `Tests/Interface/CoreML.swift`, in a folder of its own.
  private static let coreML: TemporaryFolder = {
    let folder = TemporaryFolder()
    let result = Shell.run(
      "swiftc -emit-module -parse-as-library -swift-version 6 -module-name CoreML "
        + "-emit-module-path '\(folder.path)/CoreML.swiftmodule' '\(SharedFiles.projectRoot)/Tests/Interface/CoreML.swift' 2>&1"
    )
    #expect(result.status == 0, "\(result.output)")
    return folder
  }()

  /// Checks the types of all files of a folder as one module, with warnings as errors. Returns the compiler's messages;
  /// nil if there are none.
  static func complaints(about folder: String, language: Int) -> String? {
    let result = Shell.run(
      "swiftc -typecheck -parse-as-library -module-name Classes -package-name classes -warnings-as-errors "
        + "-swift-version \(language) -I '\(Shell.products)/Modules' -I '\(coreML.path)' "
        + "$(printf -- '-Xcc -fmodule-map-file=%s ' '\(Shell.products)'/*.build/module.modulemap) '\(folder)'/*.swift 2>&1"
    )
    return result.status == 0 && result.output.isEmpty ? nil : result.output
  }
}
