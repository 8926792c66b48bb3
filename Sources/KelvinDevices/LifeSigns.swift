internal import Glibc
internal import Synchronization

/// The signs of life of a driver: the processor time that it uses.
///
/// Only a software driver has them, because it computes on this process's own processor time. A slow or busy machine
/// delays such a driver, but does not stop it. A driver that waits for ever uses none.
struct LifeSigns {
  /// The processor time of one core that counts as a sign of life, as a share of the time between two looks.
  /// Timers and waiting threads of the process itself use less.
  private static let share = 0.05
  /// The shortest time between two looks, as a share of the device's limit.
  private static let shortest = 0.2

  private var look: (moment: Double, used: Double)?
  /// The moment of the latest sign; negative infinity if there was none.
  private(set) var latest = -Double.infinity

  /// Compares the processor time with that of the previous look, if that is long enough ago: the clocks of the threads
  /// are read one after the other, which is too coarse for short intervals.
  mutating func look(at moment: Double, _ health: DeviceHealth) {
    if let look, moment - look.moment < Self.shortest * health.patience { return }
    guard let used = health.processorTime?() else { return }
    if let look, used - look.used >= Self.share * (moment - look.moment) { latest = moment }
    look = (moment, used)
  }
}

/// The processor time that drivers use in this process.
///
/// It is that of all threads except two kinds: threads that existed before the first driver thread, and the CPU
/// device's own threads. A program may start other threads later. Their time counts as well, so signs of life extend a
/// limit only up to a multiple of it (`DeviceHealth.aliveFactor`).
package enum DriverProcessorTime {
  /// The name that `thread_pool.c` gives to its threads.
  private static let ownThreads = "kelvin-cpu\n"
  private static let earlier = Mutex<Set<pid_t>?>(nil)

  /// Notes the threads that are not a driver's, at the first call.
  static func begin() { earlier.withLock { $0 = $0 ?? Set(threads) } }

  /// Returns the seconds that drivers have used so far, as far as their threads still exist.
  @Sendable package static func used() -> Double {
    let earlier = earlier.withLock { $0 ?? [] }
    return threads.reduce(0) { sum, thread in
      guard !earlier.contains(thread), name(of: thread) != ownThreads else { return sum }
      var time = timespec()
      guard clock_gettime(clock(of: thread), &time) == 0 else { return sum }
      return sum + Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
  }

  /// The processor-time clock of a thread of this process, as the kernel encodes it.
  private static func clock(of thread: pid_t) -> clockid_t { ~thread << 3 | 6 }

  private static var threads: [pid_t] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var threads: [pid_t] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if let thread = pid_t(name) { threads.append(thread) }
    }
    return threads
  }

  private static func name(of thread: pid_t) -> String {
    let file = open("/proc/self/task/\(thread)/comm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}
