import Glibc

/// Splits the bytes of a CSV file, as they are read, into blocks of complete rows.
package struct DelimitedCutter: Sendable {
  package struct Block: Sendable {
    /// Complete rows; the file's last row may lack its line end.
    package let bytes: [UInt8]
    /// The number of the block's first line.
    package let firstLine: Int
  }

  /// The error for a row that exceeds the maximum size.
  package struct Overlong: Error, Hashable {
    /// The line where the row begins.
    package let line: Int
  }

  private let separator: UInt8
  private let largestRow: Int
  private var rest: [UInt8] = []
  private var line = 1
  private var hasBegun = false

  /// - Parameter largestRow: the maximum bytes of a row; beyond it, a closing quote is assumed to be missing.
  package init(separator: UInt8 = UInt8(ascii: ","), largestRow: Int = 64 << 20) {
    self.separator = separator
    self.largestRow = largestRow
  }

  /// Returns the next block: at least one row, and about `size` bytes; nil at the end.
  ///
  /// - Parameter read: fills a buffer from its start, and returns the number of bytes; 0 at the end.
  /// - Throws: the errors of `read`, and `Overlong`.
  package mutating func next(
    _ size: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int
  ) throws -> Block? {
    var buffer = rest
    rest = []
    // At least the length of a byte order mark.
    var want = max(size, DelimitedText.byteOrderMark.count)
    while true {
      let isAtEnd = try !fill(&buffer, to: want, read)
      if !hasBegun {
        hasBegun = true
        if buffer.starts(with: DelimitedText.byteOrderMark) { buffer.removeFirst(DelimitedText.byteOrderMark.count) }
      }
      if isAtEnd {
        guard !buffer.isEmpty else { return nil }
        return block(buffer)
      }
      if let end = lastRowEnd(buffer) {
        rest = Array(buffer[end...])
        buffer.removeSubrange(end...)
        return block(buffer)
      }
      guard buffer.count <= largestRow else { throw Overlong(line: line) }
      want = max(want, buffer.count * 2)
    }
  }

  private mutating func block(_ bytes: [UInt8]) -> Block {
    defer { line += Self.lineCount(bytes) }
    return Block(bytes: bytes, firstLine: line)
  }

  /// Reads until the buffer has `size` bytes; returns false at the end of the file.
  private func fill(
    _ buffer: inout [UInt8], to size: Int, _ read: (UnsafeMutableRawBufferPointer) throws -> Int
  ) throws -> Bool {
    var count = buffer.count
    guard count < size else { return true }
    buffer.append(contentsOf: repeatElement(0, count: size - count))
    defer { buffer.removeSubrange(count...) }
    while count < size {
      let got = try buffer.withUnsafeMutableBytes { raw in
        try read(UnsafeMutableRawBufferPointer(rebasing: raw[count...]))
      }
      guard got > 0 else { return false }
      count += got
    }
    return true
  }

  /// Returns the offset after the last complete row. A carriage return at the very end may be half of a line end, so
  /// it does not end a row.
  private func lastRowEnd(_ bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBytes { raw -> Int? in
      guard let base = raw.baseAddress else { return nil }
      guard memchr(base, Int32(UInt8(ascii: "\"")), raw.count) == nil, let feed = raw.lastIndex(of: 0x0A) else {
        return lastEnd(raw)
      }
      return feed + 1
    }
  }

  private func lastEnd(_ bytes: UnsafeRawBufferPointer) -> Int? {
    enum State { case atStart, plain, quoted }
    var state = State.atStart
    var end: Int?
    for (place, byte) in bytes.enumerated() {
      let isQuote = byte == UInt8(ascii: "\"")
      switch state {
      // A quote that ends a field may also be the first of a doubled quote; in that case the next quote reopens the
      // field.
      case .quoted: if isQuote { state = .atStart }
      case .atStart, .plain:
        if isQuote {
          if state == .atStart { state = .quoted }
        } else if byte == 0x0A || byte == 0x0D && place + 1 < bytes.count {
          state = .atStart
          if byte == 0x0A || bytes[place + 1] != 0x0A { end = place + 1 }
        } else {
          state = byte == separator ? .atStart : .plain
        }
      }
    }
    return end
  }

  /// Returns the number of lines that end in the bytes.
  private static func lineCount(_ bytes: [UInt8]) -> Int {
    bytes.withUnsafeBytes { raw -> Int in
      guard let base = raw.baseAddress else { return 0 }
      var count = 0
      if memchr(base, 0x0D, raw.count) == nil {
        var next = base
        let end = base + raw.count
        while next < end, let found = memchr(next, 0x0A, end - next) {
          count += 1
          next = UnsafeRawPointer(found) + 1
        }
      } else {
        for place in raw.indices {
          if raw[place] == 0x0A || raw[place] == 0x0D && !(place + 1 < raw.count && raw[place + 1] == 0x0A) {
            count += 1
          }
        }
      }
      return count
    }
  }
}
