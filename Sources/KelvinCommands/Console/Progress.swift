import Dispatch
import Glibc
import KelvinBasics
import Synchronization

/// A progress display on stderr, redrawn in place.
///
/// On a terminal the display appears after one second, even if the work reports nothing, and `finish` removes it.
/// Without a terminal nothing is displayed.
final class Progress: Sendable {
  private struct State {
    /// The number of lines on the screen.
    var shown = 0
    var isFinished = false
    var headline: String
    /// The estimated end of the work.
    var end: ContinuousClock.Instant?
    var rows: [String] = []
  }

  private let began = ContinuousClock.now
  private let label: String
  private let state: Mutex<State>
  private static let delay = 1.0
  private static let interval = 0.25
  private static let current = Mutex<Progress?>(nil)

  init(_ label: String) {
    self.label = label
    state = Mutex(State(headline: label))
    if Console.isErrorTerminal { showLater(Self.delay) }
  }

  /// Updates the display.
  ///
  /// - Parameters:
  ///   - fraction: The finished fraction, 0…1; nil where unknown.
  ///   - detail: The current activity.
  ///   - secondsLeft: The remaining time, which is counted down until the next update.
  ///   - rows: Intermediate results, one line each.
  func update(_ fraction: Double?, _ detail: String = "", secondsLeft: Double? = nil, rows: [String] = []) {
    let share = fraction.map { " \(Int((min(max($0, 0), 1) * 100).rounded())) %" } ?? ""
    state.withLock { state in
      state.headline = "\(label)\(share)\(detail.isEmpty ? "" : "  \(detail)")"
      state.end = secondsLeft.map { .now + .seconds(min($0, 1e9)) }
      state.rows = rows
    }
  }

  /// Shows progress while a closure runs.
  static func during<Value>(_ label: String, _ work: () throws -> Value) rethrows -> Value {
    let progress = Progress(label)
    defer { progress.finish() }
    return try work()
  }

  func finish() {
    state.withLock { state in
      Self.erase(&state)
      state.isFinished = true
    }
    Self.current.withLock { if $0 === self { $0 = nil } }
  }

  /// Removes the display so that other output can be printed. The display reappears by itself.
  static func makeWay() {
    guard let progress = current.withLock({ $0 }) else { return }
    progress.state.withLock { erase(&$0) }
  }

  private static func erase(_ state: inout State) {
    guard state.shown > 0 else { return }
    let up = state.shown > 1 ? "\u{1B}[\(state.shown - 1)A" : ""
    Console.write("\r\(up)\u{1B}[J", to: STDERR_FILENO)
    state.shown = 0
  }

  private func showLater(_ seconds: Double) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.show() }
  }

  private func show() {
    let elapsed = (ContinuousClock.now - began).components.seconds
    let isFinished = state.withLock { state in
      guard !state.isFinished else { return true }
      // Set while holding the lock, so that a finished display never replaces its successor.
      Self.current.withLock { $0 = self }
      let left = state.end.map { max(1, ContinuousClock.now.duration(to: $0).inSeconds.rounded(.up)) }
      let outlook = left.map { ", \(HumanReadable.seconds($0)) left" } ?? ""
      let headline = "\(state.headline)\(outlook)  \(elapsed) s"
      let width = min(Console.errorWidth, 80) - 1
      let rows = Array(state.rows.prefix(max(0, Console.errorHeight - 2)))
      let lines = ([headline] + rows).map { $0.printable.truncatedInMiddle(to: width) }
      // Written at once, so that the screen never shows a partial display.
      let up = state.shown > 1 ? "\u{1B}[\(state.shown - 1)A" : ""
      let back = state.shown > 0 ? "\r\(up)" : "\r"
      Console.write(back + "\u{1B}[J" + lines.joined(separator: "\n"), to: STDERR_FILENO)
      state.shown = lines.count
      return false
    }
    if !isFinished { showLater(Self.interval) }
  }
}
