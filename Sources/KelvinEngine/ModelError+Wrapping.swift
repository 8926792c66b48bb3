import KelvinDevices
package import KelvinFeatures
import KelvinFormats
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension ModelError {
  /// Gives an error of any of Kelvin's modules its public form.
  package init(_ error: any Error) {
    let code: Code =
      switch error {
      case let error as ModelError: error.code
      case is FileError: .io
      case let error as FormatError:
        switch error.code {
        case .unsupported, .missing: .unsupported
        case .shapes: .featureType
        case .unreadable, .malformed: .io
        }
      case is GraphError: .unsupported
      case is StepError: .featureType
      case let error as RuntimeError: error.publicCode
      case is DeviceError: .device
      case is PlanningError: .parameters
      case is MeasurementError: .io
      default: .generic
      }
    self.init(code, (error as? ModelError)?.description ?? "\(error)")
  }

  package static func wrapping<Result>(_ body: () throws -> Result) throws(ModelError) -> Result {
    do { return try body() } catch { throw ModelError(error) }
  }
}

extension RuntimeError {
  fileprivate var publicCode: ModelError.Code {
    switch self {
    case .unknownDevice, .deviceAbsent, .device: .device
    case .unplaceable: .unsupported
    case .invalidChoice, .invalidPlan: .parameters
    case .invalidInput: .featureType
    case .cancelled: .predictionCancelled
    }
  }
}
