import Glibc
import TestSupport

/// A folder of digits for `kelvin index`.
final class CollectionFixture: Sendable {
  let folder = TemporaryFolder()
  static let images = "\(Kelvin.root)/Examples/Digits/images"

  init(_ images: [String: String] = [:]) {
    for (name, image) in images { folder.write(TemporaryFolder.read("\(Self.images)/\(image)"), name) }
  }

  /// Many different files that show one digit: bytes after a PNG's end are not read.
  func fill(_ count: Int) {
    let image = TemporaryFolder.read("\(Self.images)/9_0125.png")
    for number in 0..<count { folder.write(image + Array("\(number)".utf8), "\(number).png") }
  }

  func index(_ arguments: String..., killAfter: Int? = nil) -> ToolResult {
    Kelvin.run(
      ["index", folder.path, "--model", Kelvin.digitsPackage, "--units", "cpu"] + arguments, killAfter: killAfter)
  }

  func search(_ arguments: String...) -> ToolResult { Kelvin.run(["search", folder.path] + arguments) }
}
