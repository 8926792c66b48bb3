import Glibc
package import Testing

/// A sanitizer that the tests were built with (`dev/sanitize.sh`), and what they cannot do under it.
package enum Sanitizer: CaseIterable {
  case address, thread, undefined

  /// The one whose runtime is part of this process; nil in a plain build.
  package static let current = allCases.first { dlsym(nil, $0.entry) != nil }

  private var entry: String {
    switch self {
    case .address: "__asan_init"
    case .thread: "__tsan_init"
    case .undefined: "__ubsan_handle_add_overflow"
    }
  }
}

extension Trait where Self == ConditionTrait {
  /// A condition for tests that limit the addresses of a process.
  package static var boundsAddresses: Self {
    .disabled(
      if: Sanitizer.current == .address || Sanitizer.current == .thread,
      "the sanitizer's shadow of the memory takes terabytes of addresses")
  }

  /// For a test that bounds the size of files a process may write.
  package static var boundsFiles: Self {
    .disabled(
      if: Sanitizer.current == .thread, "ThreadSanitizer maps a file as a process starts, which the limit would cut")
  }
}
