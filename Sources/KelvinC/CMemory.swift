import CKelvin

/// Memory that getters return pointers to, freed with the object. The owner ensures that only one thread at a time adds
/// to it.
final class CMemory: Sendable {
  private nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []
  private nonisolated(unsafe) var held: [any Sendable] = []

  deinit { for block in blocks { block.deallocate() } }

  /// Allocates a copy of elements.
  func elements<Element: BitwiseCopyable>(_ values: some Collection<Element>) -> UnsafeMutablePointer<Element> {
    let place = UnsafeMutablePointer<Element>.allocate(capacity: Swift.max(values.count, 1))
    _ = UnsafeMutableBufferPointer(start: place, count: values.count).initialize(from: values)
    blocks.append(UnsafeMutableRawPointer(place))
    return place
  }

  /// Allocates a copy of a string with a terminating zero byte.
  func text(_ text: String) -> UnsafePointer<CChar> { UnsafePointer(elements(text.utf8CString)) }

  /// Allocates copies of strings with their lengths. Each string also has a terminating zero byte.
  func texts(_ texts: some Collection<String>) -> UnsafePointer<kelvin_text> {
    UnsafePointer(elements(texts.map { kelvin_text(bytes: text($0), count: $0.utf8.count) }))
  }

  /// Retains an object that returned pointers refer to.
  func hold(_ object: some Sendable) { held.append(object) }
}
