import Glibc
import Synchronization

/// A line on stderr that tells how far something has come. It appears only on a terminal, and only once the work has
/// taken longer than a second; `finish` takes it away again.
final class Progress: Sendable {
  private struct State {
    var shown = false
    var lastUpdate: ContinuousClock.Instant
  }

  private let began = ContinuousClock.now
  private let label: String
  private let state: Mutex<State>
  private static let patience = Duration.seconds(1)
  private static let interval = Duration.milliseconds(100)

  init(_ label: String) {
    self.label = label
    state = Mutex(State(lastUpdate: ContinuousClock.now))
  }

  /// - Parameters:
  ///   - fraction: 0…1; nil where it is not known.
  ///   - detail: what is being done now.
  func update(_ fraction: Double?, _ detail: String = "") {
    guard Console.isErrorTerminal else { return }
    let now = ContinuousClock.now
    state.withLock { state in
      guard now - began >= Self.patience, !state.shown || now - state.lastUpdate >= Self.interval else { return }
      state.shown = true
      state.lastUpdate = now
      let share = fraction.map { " \(Int((min(max($0, 0), 1) * 100).rounded())) %" } ?? ""
      let text = "\(label)\(share)\(detail.isEmpty ? "" : "  \(detail)")"
      Console.write("\r\u{1B}[K" + text.truncatedInMiddle(to: 79), to: STDERR_FILENO)
    }
  }

  func finish() {
    state.withLock { state in
      if state.shown { Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
      state.shown = false
    }
  }
}
