import FoundationEssentials
import KelvinGraph
import KelvinPlanning

/// Small files that the command line names.
enum InputFile {
  /// Documents beyond this are not ours.
  static let largestDocument = 256 << 20

  /// - Throws: `FileError`, or `InputError` for a file too large to be a document.
  static func read(_ path: String) throws -> [UInt8] {
    let bytes = try Bytes(mapping: path)
    guard bytes.count <= largestDocument else {
      throw InputError("'\(path)' has \(bytes.count) bytes, at most \(largestDocument) are read; is it the right file?")
    }
    return bytes.withUnsafeBytes { Array($0) }
  }
}

/// Plans as files.
enum SavedPlan {
  /// Reads a plan, or the plan inside a bench's report: the one its verdict chose.
  ///
  /// - Throws: `FileError`, `InputError` or `PlanningError`, naming the file.
  static func read(_ path: String) throws -> Plan {
    let data = Data(try InputFile.read(path))
    if let report = try? JSONDecoder().decode(Report.self, from: data) {
      return try Plan(json: try report.plan.json())
    }
    do { return try Plan(json: data) } catch {
      throw InputError("\(error) ('\(path)')")
    }
  }

  private struct Report: Decodable {
    var configurations: [Configuration]
    var plan: Plan
    struct Configuration: Decodable {}
  }
}
