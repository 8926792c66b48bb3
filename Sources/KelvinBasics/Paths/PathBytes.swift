/// A path is bytes, and a `String` is UTF-8. A byte of a path that is no part of valid UTF-8 is held as one character of
/// the last private plane, U+10F700 plus the byte, so that every path passes through texts, URLs and JSON unchanged.
/// A path that holds these characters themselves is held by its bytes too, so the two are never confused.
extension String {
  /// The path that these bytes, without a zero at their end, stand for.
  package init(pathBytes bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    self = ""
    var rest = bytes[...]
    // Each attempt takes one valid character off the front, or one byte that begins none.
    while let byte = rest.first {
      var iterator = rest.prefix(4).makeIterator()
      var decoder = UTF8()
      if byte < 0x80 {
        unicodeScalars.append(Unicode.Scalar(byte))
        rest.removeFirst()
      } else if case .scalarValue(let scalar) = decoder.decode(&iterator), !scalar.isPathByte {
        unicodeScalars.append(scalar)
        rest.removeFirst(UTF8.width(scalar))
      } else {
        unicodeScalars.append(Unicode.Scalar(pathByte: byte))
        rest.removeFirst()
      }
    }
  }

  /// The path at a C string.
  package init(path pointer: UnsafePointer<CChar>) {
    var count = 0
    while pointer[count] != 0 { count += 1 }
    self.init(pathBytes: UnsafeBufferPointer(start: pointer, count: count).map { UInt8(bitPattern: $0) })
  }

  /// The parts between slashes, empty ones left out, as the system takes the path apart: by bytes. A `Character` may be
  /// a slash with a mark, which is no `"/"`.
  package var pathParts: [String] {
    utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
  }

  /// The last part of the path.
  package var lastPathPart: String { pathParts.last ?? self }

  /// The last part of the path without what it ends in from its last dot on; a name that only begins with one is whole.
  package var pathStem: String {
    let name = lastPathPart
    return name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? String(name[..<$0]) : nil } ?? name
  }

  /// A path's folder, without a slash at its end.
  package var parentPath: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(Substring(utf8[..<slash]))
  }

  /// The path of what a file names: from its folder on, unless it begins at the root.
  package func siblingPath(_ other: String) -> String {
    guard !other.isRootedPath, utf8.contains(UInt8(ascii: "/")) else { return other }
    return parentPath.appendingPath(other)
  }

  /// The path of something below this folder.
  package func appendingPath(_ relative: String) -> String {
    utf8.last == UInt8(ascii: "/") ? self + relative : "\(self)/\(relative)"
  }

  /// Whether the path begins at the root.
  package var isRootedPath: Bool { utf8.first == UInt8(ascii: "/") }

  /// The path's bytes with a zero at their end, as the system takes it. It would end a path at a zero within it, and so
  /// take another file for the one that is meant: a text with one becomes a path that no file has.
  package var pathBytes: [CChar] {
    guard !utf8.contains(0) else { return Self.nowhere }
    var bytes: [CChar] = []
    bytes.reserveCapacity(utf8.count + 1)
    for scalar in unicodeScalars {
      if scalar.isPathByte {
        bytes.append(CChar(bitPattern: scalar.pathByte))
      } else {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { bytes.append(CChar(bitPattern: byte)) }
      }
    }
    return bytes + [0]
  }

  /// Below a file that is no folder, so that nothing can be opened, made or moved there.
  private static let nowhere: [CChar] = "/dev/null/no path has a zero byte".utf8CString.map(\.self)
}

extension Unicode.Scalar {
  /// Whether it stands for a byte that is no text.
  var isPathByte: Bool { 0x10F780...0x10F7FF ~= value }

  /// The byte that it stands for.
  var pathByte: UInt8 { UInt8(truncatingIfNeeded: value) }

  /// - Parameter byte: at least 0x80.
  fileprivate init(pathByte byte: UInt8) {
    self = Unicode.Scalar(0x10F700 + UInt32(byte)) ?? "\u{FFFD}"
  }
}
