import ArgumentParser
import Glibc
import Kelvin
import KelvinPackaging
import KelvinStore
import KelvinVideo
import KelvinVision

/// The exit codes of the program. The numbers are part of the command line's contract.
enum ExitCode: Int32 {
  case success = 0
  /// A figure is worse than the earlier one by more than the threshold. The command is complete otherwise.
  case regression = 1
  /// An error in the command line: an unknown option or an invalid value.
  case usage = 64
  /// A file named by the command line, such as a model, image, tensor or plan, is unreadable or unsuitable.
  case badData = 65
  /// A device is not on this machine or stopped working.
  case missingDevice = 69
  /// An internal error or a failure of the machine, such as a full disk or a lack of memory.
  case internalFault = 70
  /// A limit was reached: `--max-seconds`, `--max-memory`, or nine tenths of the free memory.
  case limit = 75
  /// Ctrl-C or SIGTERM ended the command. Finished work is kept.
  case interrupted = 130
}

/// An error in the command line that the parser does not detect.
struct UsageError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// An error in a file or another object that the command line names.
struct InputError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A failure that has already been reported; the process ends with this status.
struct ReportedFailure: Error {
  let status: ExitCode
}

/// The exit code for an error of any module.
struct ExitStatus {
  let code: ExitCode
  /// Whether the argument parser rejected the command line.
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
      case let error as PackagingError: Self.code(error.modelError.fault)
      case let error as StoreError: Self.code(error.code)
      case let error as VideoError: Self.code(error.code)
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

  private static func code(_ code: StoreError.Code) -> ExitCode {
    switch code {
    case .request: .usage
    case .absent, .network, .integrity, .invalid, .busy, .io: .badData
    case .libraryMissing, .noSpace: .internalFault
    case .quota: .limit
    case .cancelled: .interrupted
    }
  }

  private static func code(_ code: VideoError.Code) -> ExitCode {
    switch code {
    case .request: .usage
    case .absent, .unreadable, .endedEarly, .silent: .badData
    case .toolMissing, .toolFailed, .noSpace, .io: .internalFault
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

/// Returns the description of an error as one line.
func describe(_ error: any Error) -> String { describe("\(error)") }

/// Joins the lines of a message into one line.
func describe(_ words: String) -> String { words.split(whereSeparator: \.isNewline).joined(separator: "; ") }
