public import Kelvin
import KelvinBasics

#if Collections
public import KelvinIndex
#endif

/// An image could not be analysed.
public enum VisionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The model is not one for images.
  case invalidModel(String)
  /// The model's input is a plain tensor, and nothing says how pixels enter it.
  case missingNormalization(String)
  /// No model was named, and none is configured.
  case missingModel(String)
  /// A request asks for something that cannot be, such as a region outside the image.
  case invalidRequest(String)
  /// The image cannot be read.
  case image(ImageError)
  /// The model could not be run.
  case prediction(ModelError)
  #if Collections
  /// An index of images could not be made, kept or asked.
  case index(PhotoIndexError)
  #endif

  /// One line, in which names from outside are escaped where a terminal or a log would act on them.
  public var description: String {
    switch self {
    case .invalidModel(let reason), .missingNormalization(let reason), .missingModel(let reason),
      .invalidRequest(let reason):
      reason.printable
    case .image(let error): "\(error)"
    case .prediction(let error): error.description
    #if Collections
    case .index(let error): error.description
    #endif
    }
  }
}
