internal import Synchronization

/// Keeps the programs of one context apart from those of other contexts of the process, as many as `limit`, for drivers
/// that would mix them up.
///
/// PoCL (3.1 and 5.0) keeps the code of a kernel by the hash of its program, its group size and the widest grid it serves,
/// but counts its users by hash and group size alone. Where two queues run a kernel and a third, or with 5.0 the second,
/// asks for a wider grid than any before, the one takes from the other's count, and the driver ends the process
/// ("pocl_release_dlhandle_cache: Assertion `found->ref_count > 0' failed"). The hash covers the options of the build, so
/// a definition that no source reads is enough. A queue alone is safe, as it has one command running at a time, and so
/// the first context needs no definition.
final class ContextPrefix: Sendable {
  /// More would have a process that goes through many contexts compile everything again for each.
  private static let limit = 4
  /// For the options of a build, how many living contexts have each number.
  private static let users = Mutex<[String: [Int]]>([:])

  private let number: Int
  /// Nil where it counts for nothing.
  private let options: String?

  /// Takes the number that the fewest living contexts with these options of the build have, the smallest of such.
  ///
  /// - Parameter platform: the driver's name, `CL_PLATFORM_NAME`.
  init(platform: String, options: String) {
    guard platform == PoCL.platform else {
      (self.options, number) = (nil, 0)
      return
    }
    self.options = options
    number = Self.users.withLock { users in
      var counts = users[options] ?? [Int](repeating: 0, count: Self.limit)
      let least = counts.indices.min { (counts[$0], $0) < (counts[$1], $1) } ?? 0
      counts[least] += 1
      users[options] = counts
      return least
    }
  }

  deinit {
    guard let options else { return }
    Self.users.withLock { [number] in $0[options]?[number] -= 1 }
  }

  /// What to add to the options of every build.
  var definition: String? { number == 0 ? nil : "-DKELVIN_CONTEXT=\(number)" }
}
