internal import Synchronization

/// Keeps the programs of up to `limit` contexts of the process apart, for drivers that confuse programs of different
/// contexts.
///
/// PoCL (3.1 and 5.0) caches the code of a kernel by the hash of its program, its group size and the widest grid that
/// it serves, but counts the users of the code by hash and group size alone. If two queues run a kernel and a later
/// queue needs a wider grid, the counts become wrong and the driver ends the process ("pocl_release_dlhandle_cache:
/// Assertion `found->ref_count > 0' failed").
///
/// The hash covers the build options, so an unused definition is enough to separate contexts. A single queue runs one
/// command at a time and is safe, so the first context needs no definition.
final class ContextPrefix: Sendable {
  /// With more, a process that creates many contexts would compile every program again for each of them.
  private static let limit = 4
  /// For each set of build options, the number of living contexts with each definition.
  private static let users = Mutex<[String: [Int]]>([:])

  private let number: Int
  /// The build options; nil for drivers that do not need the prefix.
  private let options: String?

  /// Takes the definition that the fewest living contexts with these build options have, the smallest of them if there
  /// are several.
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

  /// The definition to add to the options of every build.
  var definition: String? { number == 0 ? nil : "-DKELVIN_CONTEXT=\(number)" }
}
