import FoundationEssentials
import Kelvin
import KelvinRuntime

extension ModelContext {
  /// Stores a plan's file in the user's cache.
  ///
  /// - Parameter purpose: the use that the plan is best for, such as `stream`.
  /// - Returns: the file's path; nil if it was not stored.
  func keep(_ plan: Data, for purpose: String) -> String? {
    guard let directory = cache?.directory else { return nil }
    let base = self.name.split(separator: "/").last.map(String.init) ?? self.name
    let name = "plans/\(LocalFile.sanitized("\(base)-\(purpose)"))-\(graphKey.description.prefix(8)).json"
    return plan.withUnsafeBytes { directory.write(name, [$0]) } ? "\(directory.path)/\(name)" : nil
  }
}
