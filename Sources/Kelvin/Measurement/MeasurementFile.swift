import FoundationEssentials
import KelvinFeatures

/// Files that measuring leaves.
enum MeasurementFile {
  /// Puts a file in place in one step.
  ///
  /// - Throws: `ModelError` with code `io`.
  static func write(_ data: Data, to url: URL) throws(ModelError) {
    do { try data.write(to: url, options: .atomic) } catch {
      throw ModelError(.io, "cannot write '\(url.path)': \(error)")
    }
  }
}
