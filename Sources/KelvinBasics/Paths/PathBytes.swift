/// A path consists of bytes, and a `String` of UTF-8. A path byte that is not part of valid UTF-8 is represented by
/// one character of the last private plane, U+10F700 plus the byte. Every path therefore passes through strings, URLs
/// and JSON unchanged. A path that contains such characters itself is also represented by its bytes, so the two are
/// never confused.
extension String {
  /// Creates the path that these bytes represent; they are not terminated by a zero.
  package init(pathBytes bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    self = ""
    var rest = bytes[...]
    // Each iteration takes one valid character from the front, or one invalid byte.
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

  /// Creates the path at a C string.
  package init(path pointer: UnsafePointer<CChar>) {
    var count = 0
    while pointer[count] != 0 { count += 1 }
    self.init(pathBytes: UnsafeBufferPointer(start: pointer, count: count).map { UInt8(bitPattern: $0) })
  }

  /// The components between slashes, without empty ones, split by bytes as the system does. A `Character` may be a
  /// slash with a combining mark, which differs from `"/"`.
  package var pathParts: [String] {
    utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
  }

  /// The last component of the path.
  package var lastPathPart: String { pathParts.last ?? self }

  /// The last component of the path without its extension; a leading dot does not begin an extension.
  package var pathStem: String {
    let name = lastPathPart
    return name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? String(name[..<$0]) : nil } ?? name
  }

  /// The path of the parent folder, without a trailing slash.
  package var parentPath: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(Substring(utf8[..<slash]))
  }

  /// Resolves a path named in the file at this path: relative to the file's folder, unless it is absolute.
  package func siblingPath(_ other: String) -> String {
    guard !other.isRootedPath, utf8.contains(UInt8(ascii: "/")) else { return other }
    return parentPath.appendingPath(other)
  }

  /// Returns a path below this folder.
  package func appendingPath(_ relative: String) -> String {
    utf8.last == UInt8(ascii: "/") ? self + relative : "\(self)/\(relative)"
  }

  /// Whether the path is absolute.
  package var isRootedPath: Bool { utf8.first == UInt8(ascii: "/") }

  /// The path's bytes with a terminating zero, as system calls take it. A zero byte within the string would truncate
  /// the path, so such a string is replaced by a path that cannot exist.
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

  /// A path below a file that is not a folder, so that nothing can be opened, created or moved there.
  private static let nowhere: [CChar] = "/dev/null/no path has a zero byte".utf8CString.map(\.self)
}

extension Unicode.Scalar {
  /// Whether it represents a path byte that is not valid UTF-8.
  var isPathByte: Bool { 0x10F780...0x10F7FF ~= value }

  /// The byte that it represents.
  var pathByte: UInt8 { UInt8(truncatingIfNeeded: value) }

  /// - Parameter byte: at least 0x80.
  fileprivate init(pathByte byte: UInt8) {
    self = Unicode.Scalar(0x10F700 + UInt32(byte)) ?? "\u{FFFD}"
  }
}
