import Kelvin
import KelvinBasics

/// Names for the files made of pictures: a picture's own without its suffix, numbered where two pictures share it.
struct FileNames {
  private var taken: Set<String> = []

  mutating func next(for path: String) -> String {
    let file = path.lastPathPart
    let stem = file.lastIndex(of: ".").map { $0 > file.startIndex ? String(file[..<$0]) : file } ?? file
    let plain = LocalFile.sanitized(path == StandardInput.name ? "stdin" : stem)
    var (name, number) = (plain, 1)
    while !taken.insert(name).inserted {
      number += 1
      name = "\(plain)_\(number)"
    }
    return name
  }
}
