public import Kelvin
import KelvinBasics

/// A picture could not be analysed.
public enum VisionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The model is not one for pictures.
  case invalidModel(String)
  /// The model's input is a plain tensor, and nothing says how pixels enter it.
  case missingNormalization(String)
  /// A request asks for something that cannot be, such as a region outside the picture.
  case invalidRequest(String)
  /// The picture cannot be read.
  case image(ImageError)
  /// The model could not be run.
  case prediction(ModelError)

  /// One line, in which names from outside are escaped where a terminal or a log would act on them.
  public var description: String {
    switch self {
    case .invalidModel(let reason), .missingNormalization(let reason), .invalidRequest(let reason): reason.printable
    case .image(let error): "\(error)"
    case .prediction(let error): error.description
    }
  }
}
