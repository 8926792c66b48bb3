import ArgumentParser
import Glibc
import Kelvin
import KelvinVision

/// What a process of ours ends with; the numbers are part of the command line's contract.
enum ExitCode: Int32 {
  case success = 0
  /// A figure is worse than it was, beyond what the user allows. Everything was done and said.
  case regression = 1
  /// The command line itself: an unknown option, a value that is not of its kind.
  case usage = 64
  /// What the command line names: a model, an image, a tensor, a plan that is unreadable or does not fit.
  case badData = 65
  /// A device that is not on this machine, or stopped working.
  case missingDevice = 69
  /// Our own fault, or the machine's: a full disk, memory that ran out.
  case internalFault = 70
  /// A limit that the user set for the model was reached: --max-seconds or --max-memory.
  case limit = 75
  /// Ctrl-C or SIGTERM: what had been done by then stands.
  case interrupted = 130
}

/// The command line is well formed and cannot be served as it stands.
struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Something that the command line names cannot be used.
struct InputError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// The command has said everything already and ends with this status.
struct ReportedFailure: Error {
  let status: ExitCode
}

/// The exit code that an error of any module stands for.
struct ExitStatus {
  let code: ExitCode
  /// Whether the argument parser itself refused the command line.
  let isParsing: Bool

  init(_ error: any Error) {
    var isParsing = false
    code =
      switch error {
      case is UsageError: .usage
      case is InputError: .badData
      case let error as ImageError:
        error.code == .decoderMissing || error.code == .encodingFailed ? .internalFault : .badData
      case let error as ModelError: Self.code(error.fault)
      case let error as PhotoIndexError: Self.code(error.code)
      default:
        if KelvinTool.exitCode(for: error) == .validationFailure { .usage } else { .internalFault }
      }
    if KelvinTool.exitCode(for: error) == .validationFailure { isParsing = true }
    self.isParsing = isParsing
  }

  private static func code(_ code: PhotoIndexError.Code) -> ExitCode {
    switch code {
    case .query: .usage
    case .absent, .unusable, .otherModel, .notIndexed, .io: .badData
    case .libraryMissing, .noSpace, .busy: .internalFault
    case .cancelled: .interrupted
    }
  }

  private static func code(_ fault: ModelError.Fault) -> ExitCode {
    switch fault {
    case .request: .usage
    case .data: .badData
    case .device: .missingDevice
    case .own: .internalFault
    case .limit: .limit
    case .cancelled: .interrupted
    }
  }
}

/// An error as one line.
func describe(_ error: any Error) -> String { describe("\(error)") }

/// An error's words as one line.
func describe(_ words: String) -> String { words.split(whereSeparator: \.isNewline).joined(separator: "; ") }
