/// The bytes of an encoded image, in memory or in a file. Only requested bytes are read.
struct ImageSource {
  /// The name of the image in errors.
  let name: String
  let count: Int
  private let fetch: (_ offset: Int, UnsafeMutableRawBufferPointer) throws(ImageError) -> Void

  /// - Parameter fetch: Fills the buffer with the bytes from an offset on, all of which are within `count`.
  init(
    name: String, count: Int, fetch: @escaping (Int, UnsafeMutableRawBufferPointer) throws(ImageError) -> Void
  ) {
    self.name = name
    self.count = count
    self.fetch = fetch
  }

  /// Creates a source from memory that the caller keeps valid.
  init(name: String, memory: UnsafeRawBufferPointer) {
    self.init(name: name, count: memory.count) { offset, target in
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[offset..<offset + target.count]))
    }
  }

  func read(at offset: Int, into target: UnsafeMutableRawBufferPointer) throws(ImageError) {
    guard offset >= 0, target.count <= count, offset <= count - target.count else { throw ended("the header") }
    if !target.isEmpty { try fetch(offset, target) }
  }

  /// Returns at most `limit` bytes from an offset on; fewer near the end, none beyond it.
  func bytes(at offset: Int, atMost limit: Int) throws(ImageError) -> [UInt8] {
    guard offset >= 0, offset < count, limit > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: min(limit, count - offset))
    var failure: ImageError?
    bytes.withUnsafeMutableBytes { target in
      do throws(ImageError) { try fetch(offset, target) } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  func corrupt(_ reason: String) -> ImageError { ImageError(.corrupt, name, reason) }
  func ended(_ part: String) -> ImageError { corrupt("the file ends inside \(part), after \(count) bytes") }
}

/// A buffered sequential reader of a source. Skipped parts are not read.
struct ImageReader {
  let source: ImageSource
  private(set) var position = 0
  private var window: [UInt8] = []
  private var windowStart = 0
  private static let windowSize = 1 << 16

  init(_ source: ImageSource, at position: Int = 0) {
    self.source = source
    self.position = position
  }

  /// Creates a reader at a later position that keeps the buffer of another reader.
  init(_ source: ImageSource, at position: Int, keepingWindowOf other: ImageReader) {
    self.init(source, at: position)
    (window, windowStart) = (other.window, other.windowStart)
  }

  var left: Int { source.count - position }

  /// Returns the next byte; nil at the end.
  mutating func byte() throws(ImageError) -> UInt8? {
    guard position < source.count else { return nil }
    if position < windowStart || position - windowStart >= window.count {
      window = try source.bytes(at: position, atMost: Self.windowSize)
      windowStart = position
    }
    defer { position += 1 }
    return window[position - windowStart]
  }

  /// Skips everything up to and including the next byte of a value.
  ///
  /// - Returns: False where there is no such byte; the reader is then at the end.
  mutating func pass(to value: UInt8) throws(ImageError) -> Bool {
    while position < source.count {
      guard try byte() != value else { return true }
      let rest = window[(position - windowStart)...]
      if let found = rest.firstIndex(of: value) {
        position = windowStart + found + 1
        return true
      }
      position = windowStart + window.count
    }
    return false
  }

  /// Returns exactly the next `count` bytes.
  ///
  /// - Parameter part: The part of the file, for the error where the file is truncated.
  mutating func bytes(_ count: Int, of part: String) throws(ImageError) -> [UInt8] {
    guard count <= left else { throw source.ended(part) }
    if position >= windowStart, position + count <= windowStart + window.count {
      defer { position += count }
      return Array(window[position - windowStart..<position - windowStart + count])
    }
    guard count <= 64 else {
      defer { position += count }
      return try source.bytes(at: position, atMost: count)
    }
    var bytes: [UInt8] = []
    while bytes.count < count, let next = try byte() { bytes.append(next) }
    return bytes
  }

  mutating func bigEndian(_ count: Int, of part: String) throws(ImageError) -> Int {
    try bytes(count, of: part).reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func littleEndian(_ count: Int, of part: String) throws(ImageError) -> Int {
    try bytes(count, of: part).reversed().reduce(0) { $0 << 8 | Int($1) }
  }

  mutating func skip(_ count: Int, of part: String) throws(ImageError) {
    guard count >= 0, count <= left else { throw source.ended(part) }
    position += count
  }
}
