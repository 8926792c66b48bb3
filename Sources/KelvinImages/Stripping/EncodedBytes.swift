internal import Glibc

/// A memory buffer for an encoded image. It is filled by appending, or at any offsets of a file's own layout.
final class EncodedBytes {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private(set) var count = 0

  init() {}

  /// Creates a buffer of zeros. The system allocates memory only for pages that are written.
  ///
  /// - Throws: `tooLarge` where the memory cannot be allocated.
  init(zeros count: Int, name: String) throws(ImageError) {
    base = calloc(max(count, 1), 1)
    guard base != nil else { throw Self.exhausted(name, count) }
    (self.count, capacity) = (count, count)
  }

  deinit { free(base) }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Returns a writable part of a buffer created by `init(zeros:name:)`.
  func slots(_ range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      rebasing: UnsafeMutableRawBufferPointer(start: base, count: count)[range])
  }

  func append(_ new: [UInt8], name: String) throws(ImageError) {
    try reserve(new.count, name)
    new.withUnsafeBytes { slots(count..<count + $0.count, beyond: $0.count).copyMemory(from: $0) }
    count += new.count
  }

  /// Appends a part of a source.
  func append(_ source: ImageSource, _ range: Range<Int>) throws(ImageError) {
    try reserve(range.count, source.name)
    try source.read(at: range.lowerBound, into: slots(count..<count + range.count, beyond: range.count))
    count += range.count
  }

  private func slots(_ range: Range<Int>, beyond extra: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      rebasing: UnsafeMutableRawBufferPointer(start: base, count: count + extra)[range])
  }

  private func reserve(_ extra: Int, _ name: String) throws(ImageError) {
    guard count + extra > capacity else { return }
    let wanted = max(count + extra, capacity * 2, 4096)
    guard let moved = realloc(base, wanted) else { throw Self.exhausted(name, wanted) }
    (base, capacity) = (moved, wanted)
  }

  private static func exhausted(_ name: String, _ count: Int) -> ImageError {
    ImageError(.tooLarge, name, "there is no memory for \(count) bytes of it")
  }
}
