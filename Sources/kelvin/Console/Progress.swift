import Dispatch
import Glibc
import Synchronization

/// A line on stderr that tells how far something has come. It appears only on a terminal, and only once the work has
/// taken longer than a second, whether or not the work reports anything; `finish` takes it away again.
final class Progress: Sendable {
  private struct State {
    var isShown = false
    var isFinished = false
    var text: String
  }

  private let began = ContinuousClock.now
  private let label: String
  private let state: Mutex<State>
  private static let patience = 1.0
  private static let interval = 0.25

  init(_ label: String) {
    self.label = label
    state = Mutex(State(text: label))
    if Console.isErrorTerminal { showLater(Self.patience) }
  }

  /// - Parameters:
  ///   - fraction: 0…1; nil where it is not known.
  ///   - detail: what is being done now.
  func update(_ fraction: Double?, _ detail: String = "") {
    let share = fraction.map { " \(Int((min(max($0, 0), 1) * 100).rounded())) %" } ?? ""
    state.withLock { $0.text = "\(label)\(share)\(detail.isEmpty ? "" : "  \(detail)")" }
  }

  func finish() {
    state.withLock { state in
      if state.isShown { Console.write("\r\u{1B}[K", to: STDERR_FILENO) }
      state.isShown = false
      state.isFinished = true
    }
  }

  private func showLater(_ seconds: Double) {
    DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak self] in self?.show() }
  }

  private func show() {
    let elapsed = (ContinuousClock.now - began).components.seconds
    let isFinished = state.withLock { state in
      guard !state.isFinished else { return true }
      state.isShown = true
      Console.write("\r\u{1B}[K" + "\(state.text)  \(elapsed) s".truncatedInMiddle(to: 79), to: STDERR_FILENO)
      return false
    }
    if !isFinished { showLater(Self.interval) }
  }
}
