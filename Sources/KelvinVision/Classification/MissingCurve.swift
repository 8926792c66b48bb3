import Glibc
import KelvinBasics
import Synchronization

/// The message that a filter left out a class because the class has no curve.
enum MissingCurve {
  private static let isReported = Atomic<Bool>(false)

  /// Prints a line to standard error at the first call in this process.
  static func report(_ label: String) {
    guard !isReported.exchange(true, ordering: .relaxed) else { return }
    let line =
      "kelvin: a filter by precision or recall leaves out '\(label.printable)' and every other class without precision "
      + "and recall curves (precisionRecallCurveShare of a request); \(PrecisionRecallCurves.remedy)\n"
    _ = Array(line.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
