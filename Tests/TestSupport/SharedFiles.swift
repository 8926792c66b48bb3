import FoundationEssentials

/// Real models and images that are not part of the project: `$KELVIN_SHARED`, or `../shared` beside it.
package enum SharedFiles {
  /// The project's root, for the files that it ships.
  package static let projectRoot: String = {
    var url = URL(filePath: #filePath)
    for _ in 0..<3 { url.deleteLastPathComponent() }
    return url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
  }()

  package static let root: String? = {
    let given = ProcessInfo.processInfo.environment["KELVIN_SHARED"]
    let path = given ?? "\(projectRoot)/../shared"
    return FileManager.default.fileExists(atPath: "\(path)/models") ? path : nil
  }()

  /// Why a test that needs the real models is skipped.
  package static let reason = "needs the real models of ../shared (or $KELVIN_SHARED), which are absent"

  package static func path(_ name: String) -> String { "\(root ?? "absent")/\(name)" }
}
