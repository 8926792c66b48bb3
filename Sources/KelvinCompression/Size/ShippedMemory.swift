import FoundationEssentials
import Glibc
package import Kelvin
import KelvinImport
import KelvinMeasurements

/// The memory of a process that loads a model and predicts, and nothing else.
package struct ShippedMemory: Hashable, Sendable, Codable {
  /// The resident bytes after the model is loaded.
  package var afterLoad: Int
  /// The most resident bytes while the model predicts; nil if a prediction with made-up inputs fails.
  package var whilePredicting: Int?
  /// The reason of such a failure.
  package var failure: String?
  /// The bytes of the packed weights in the compiled cache.
  package var packs: Int

  private static let predictionCount = 3

  /// Loads a model in this process, which has loaded none before, and makes a few predictions with made-up inputs.
  ///
  /// - Parameters:
  ///   - file: The model.
  ///   - configuration: How it is loaded, with a cache of its own that an earlier process has filled.
  /// - Throws: `ModelError` as loading a model does, or if the system does not report the memory of processes.
  package init(loading file: ReadModel, configuration: ModelConfiguration) throws(ModelError) {
    let model = try Model(file, configuration: configuration)
    guard let resident = Self.residentByteCount else {
      throw ModelError(.io, "the system does not report this process's memory (VmRSS in /proc/self/status)")
    }
    afterLoad = resident
    packs = Self.packByteCount(in: configuration.cacheDirectory?.relativePath)
    Self.forgetPeak()
    do throws(ModelError) {
      let input = try model.completed(DictionaryFeatureProvider(dictionary: [:]), seed: 0).values
      for _ in 0..<Self.predictionCount { _ = try model.timedPrediction(from: input) }
      whilePredicting = SystemFiles().peakResidentBytes
    } catch { failure = error.description }
  }

  private static func packByteCount(in cache: String?) -> Int {
    let files = cache.flatMap { try? ShippedFile.list(below: $0, allowsLinks: false) } ?? []
    return files.filter { $0.name.hasExtension("pack") }.reduce(0) { $0 + $1.byteCount }
  }

  private static var residentByteCount: Int? {
    let line = SystemFiles().text("proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }

  /// Lets the system count the peak of resident memory anew. If it cannot, the peak is that of the whole process.
  private static func forgetPeak() {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = write(file, "5", 1)
  }
}
