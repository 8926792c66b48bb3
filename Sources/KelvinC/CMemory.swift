import CKelvin

/// What getters hand out, freed together. Its owner sees to it that one thread at a time adds to it.
final class CMemory: Sendable {
  private nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []
  private nonisolated(unsafe) var held: [any Sendable] = []

  deinit { for block in blocks { block.deallocate() } }

  /// A copy of elements, at a place of their own.
  func elements<Element: BitwiseCopyable>(_ values: some Collection<Element>) -> UnsafeMutablePointer<Element> {
    let place = UnsafeMutablePointer<Element>.allocate(capacity: Swift.max(values.count, 1))
    _ = UnsafeMutableBufferPointer(start: place, count: values.count).initialize(from: values)
    blocks.append(UnsafeMutableRawPointer(place))
    return place
  }

  /// A string with a zero at its end.
  func text(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(elements(text.utf8CString)) }

  /// Strings with their lengths, each with a zero at its end besides.
  func texts(_ texts: some Collection<String>) -> UnsafePointer<kelvin_text> {
    UnsafePointer(elements(texts.map { kelvin_text(bytes: text($0), count: $0.utf8.count) }))
  }

  /// Keeps something that pointers lead into.
  func hold(_ object: some Sendable) { held.append(object) }
}
