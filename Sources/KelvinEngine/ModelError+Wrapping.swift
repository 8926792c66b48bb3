import Glibc
package import KelvinBasics
import KelvinDevices
package import KelvinFeatures
import KelvinGraph
import KelvinImages
import KelvinImport
import KelvinIsolation
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension ModelError {
  /// Converts an error of any Kelvin module to the public error type.
  package init(_ error: any Error) {
    let (code, fault): (Code, Fault) =
      switch (error as? DynamicShapeControlFlow)?.error ?? error {
      case let error as ModelError: (error.code, error.fault)
      case is WorkBudget.Excess: (.limit, .limit)
      case let error as FileError: (.io, error.fault)
      // Lack of memory or of descriptors is no fault of the file.
      case let error as FormatError: (error.publicCode, error.cause?.fault == .own ? .own : .data)
      case let error as ModelWorkerError: error.failure.publicForm
      case is GraphError: (.unsupported, .data)
      case let error as HostOperationError: (error.publicCode, .data)
      case let error as RuntimeError: error.publicForm
      case let error as DeviceError: (.device, error.fault)
      case is PlanningError: (.parameters, .data)
      case is MeasurementError: (.io, .data)
      case let error as ImageError: (.io, error.fault)
      default: (.generic, .own)
      }
    self.init(code, (error as? ModelError)?.description ?? "\(error)", fault: fault)
  }

  /// Does the same as `wrapping(_:)`, within a budget.
  package static func wrapping<Result>(
    within budget: WorkBudget?, _ body: () throws -> Result
  ) throws(ModelError) -> Result {
    try WorkBudget.governing(budget) { () throws(ModelError) in try wrapping(body) }
  }

  package static func wrapping<Result>(_ body: () throws -> Result) throws(ModelError) -> Result {
    // Reports a reached limit as such, unless the error already names the limit and its place.
    do { return try body() } catch {
      if let excess = WorkBudget.current?.excess, (error as? ModelError)?.code != .limit { throw ModelError(excess) }
      throw ModelError(error)
    }
  }
}

extension FormatError {
  fileprivate var publicCode: ModelError.Code {
    switch code {
    case .unsupported, .missing: .unsupported
    case .shapes: .featureType
    case .unreadable, .link, .malformed: .io
    }
  }
}

extension HostOperationError {
  fileprivate var publicCode: ModelError.Code {
    switch customCode {
    case .layer: .customLayer
    case .model: .customModel
    case nil: .featureType
    }
  }
}

extension WorkerFailure {
  fileprivate var publicForm: (ModelError.Code, ModelError.Fault) {
    switch kind {
    case .unavailable: (.generic, .own)
    case .crashed, .invalidAnswer: (.io, .data)
    case .limit: (.limit, .limit)
    }
  }
}

extension RuntimeError {
  fileprivate var publicForm: (ModelError.Code, ModelError.Fault) {
    switch self {
    case .unknownDevice, .deviceAbsent: (.device, .device)
    case .device(let error): (.device, error.fault)
    case .unplaceable: (.unsupported, .data)
    case .invalidChoice: (.parameters, .request)
    case .invalidPlan: (.parameters, .data)
    case .invalidInput: (.featureType, .data)
    case .cancelled: (.predictionCancelled, .cancelled)
    case .file(let error): (.io, error.fault)
    }
  }
}

extension DeviceError {
  fileprivate var fault: ModelError.Fault {
    switch code {
    case .unavailable, .lost, .hung, .wrong: .device
    case .outOfMemory, .compilation, .unsupported, .execution, .cancelled: .own
    }
  }
}

extension FileError {
  fileprivate var fault: ModelError.Fault {
    switch code {
    case ENOSPC, EFBIG, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE: .own
    default: .data
    }
  }
}

extension ImageError {
  fileprivate var fault: ModelError.Fault {
    code == .decoderMissing || code == .encodingFailed ? .own : .data
  }
}
