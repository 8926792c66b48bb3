import KelvinBasics

/// A model whose constant is in another file, as an input describes it.
struct ExternalData {
  /// The folder of the model. It has a folder and two links to what is outside.
  static let folder: String = {
    let (folder, outside) = (MemoryFolder.path("external"), MemoryFolder.path("outside"))
    secret.withUnsafeBytes {
      MemoryFolder.write($0, to: "\(outside)/secret.bin")
    }
    _ = MemoryFolder.path("external/inner")
    MemoryFolder.link("\(folder)/out.bin", to: "\(outside)/secret.bin")
    MemoryFolder.link("\(folder)/out", to: outside)
    return folder
  }()

  /// The contents of the file outside.
  private static let secret: [UInt8] = {
    var random = SeededGenerator(seed: 7)
    return (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }()

  let model: [UInt8]
  private let file: [UInt8]

  /// Writes the file of the constant.
  init(_ bytes: UnsafeRawBufferPointer) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    let numbers = (lines.popFirst() ?? bytes[0..<0]).split(separator: UInt8(ascii: " ")).map(Self.number)
    var entries: [([UInt8], [UInt8])] = []
    while let line = lines.popFirst(), !line.isEmpty {
      let key = line.prefix { $0 != UInt8(ascii: "=") }
      entries.append((Array(key), Array(line.dropFirst(key.count + 1))))
    }
    file = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    file.withUnsafeBytes { MemoryFolder.write($0, to: "\(Self.folder)/w.bin") }
    let tensor = SmallNetwork.tensor(type: numbers.first ?? 1, Array(numbers.dropFirst()), external: entries)
    model = SmallNetwork.sum(withConstant: tensor)
  }

  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64 {
    digits.reduce(0) { $0 &* 10 &+ UInt64($1 & 0x0F) }
  }

  /// Whether a constant has the contents of the file outside.
  func isOutside(_ constant: UnsafeRawBufferPointer) -> Bool {
    guard constant.count >= 8 else { return false }
    let part = Array(constant.prefix(8))
    return Self.contains(Self.secret, part) && !Self.contains(file, part)
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }
}

extension Seeds {
  static var externalData: [[UInt8]] {
    let elements = [UInt8](repeating: 0x3F, count: 24)
    return [
      "1 2 3\nlocation=w.bin\n\n", "1 2 3\nlocation=w.bin\noffset=2\nlength=24\n\nab",
      "10 6\nlocation=./w.bin\nlength=12\n\n", "1 2 3\nlocation=inner/../w.bin\nchecksum=0\n\n",
      "22 2 3\nlocation=w.bin\noffset=1\n\na", "1 2 3\nlocation=out.bin\n\n", "1 2 3\nlocation=out/secret.bin\n\n",
      "1 2 3\nlocation=../outside/secret.bin\n\n",
    ].map { Array($0.utf8) + elements }
  }
}
