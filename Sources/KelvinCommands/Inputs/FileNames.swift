import Kelvin
import KelvinBasics

/// Unique base names for output files: an image's file name without extension, numbered where several images share it.
struct FileNames {
  private var taken: Set<String> = []

  /// Returns a name for each path, in their order.
  static func all(_ paths: [String]) -> [String] {
    var names = FileNames()
    return paths.map { names.next(for: $0) }
  }

  mutating func next(for path: String) -> String {
    let plain = LocalFile.sanitized(path == StandardInput.name ? "stdin" : path.pathStem)
    var (name, number) = (plain, 1)
    while !taken.insert(name).inserted {
      number += 1
      name = "\(plain)_\(number)"
    }
    return name
  }
}
