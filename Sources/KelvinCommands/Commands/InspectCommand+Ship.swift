import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinCompression
import KelvinMeasuring

extension InspectCommand {
  /// Prints the size of a model; or measures its memory, in the child process that `CandidateMeter` starts.
  func printSize(of file: ReadModel, _ shapes: [String: [Int]]) throws {
    if let measuredShip {
      ChildProcess.endWithParent()
      var configuration = ModelConfiguration(computeUnits: units.units)
      configuration.inputShapes = shapes
      configuration.allowsLinks = links.allowLinks
      configuration.cacheDirectory = URL(filePath: measuredShip)
      return try CandidateMeter.answer(try ShippedMemory(loading: file, configuration: configuration))
    }
    var size = try SizeReport(of: file, allowsLinks: links.allowLinks)
    try compress(&size)
    do throws(StartFailure) { size.memory = try Self.memory() } catch {
      Console.note("the memory is not known, because the model could not be run: \(error)")
    }
    size.notes.forEach(Console.note)
    // Results are printed first, so that they are not lost where a file cannot be written.
    if output.json {
      try printJSON(size)
    } else {
      Console.print(size.text(width: Console.width, isVerbose: output.verbose))
    }
    if let report {
      try LocalFile.write(size.page(kelvinVersion: kelvinVersion).utf8, to: report)
      Console.note("wrote \(report)")
    }
  }

  private func compress(_ size: inout SizeReport) throws {
    let progress = Progress("compressing")
    defer { progress.finish() }
    try size.measureDownload { progress.update($0) }
  }

  /// Loads the model in two processes with a temporary cache: one fills the cache, and the other is measured.
  private static func memory() throws(StartFailure) -> ShippedMemory {
    let folder = try ScratchFolder("kelvin-size")
    defer { folder.remove() }
    let progress = Progress("measuring")
    defer { progress.finish() }
    let arguments = ["--measured-ship=\(folder.path)"]
    let _: ShippedMemory = try CandidateMeter.measure(arguments)
    return try CandidateMeter.measure(arguments)
  }
}
