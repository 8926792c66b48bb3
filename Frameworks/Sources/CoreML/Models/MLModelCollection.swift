public import Foundation

/// A set of models that Apple's servers deliver. Linux has no such service, so that access always fails.
public final class MLModelCollection: NSObject, Sendable {
  /// The name of a model in a collection, and the location of its folder.
  public final class Entry: NSObject, Sendable {
    /// The name of the model.
    public let modelIdentifier: String
    /// The model's folder.
    public let modelURL: URL

    init(_ identifier: String, _ url: URL) { (modelIdentifier, modelURL) = (identifier, url) }
  }

  /// The name of the collection.
  public let identifier: String
  /// The models, by name.
  public let entries: [String: Entry]

  init(_ identifier: String, _ entries: [String: Entry]) { (self.identifier, self.entries) = (identifier, entries) }

  /// Calls `completionHandler` with an error of the code `modelCollection`.
  @discardableResult
  public class func beginAccessing(
    identifier: String, completionHandler: @escaping (Result<MLModelCollection, any Error>) -> Void
  ) -> Progress {
    completionHandler(.failure(refusal(identifier)))
    return Progress(totalUnitCount: 1)
  }

  /// Calls `completionHandler` with an error of the code `modelCollection`.
  public class func endAccessing(
    identifier: String, completionHandler: @escaping (Result<Void, any Error>) -> Void
  ) {
    completionHandler(.failure(refusal(identifier)))
  }

  private class func refusal(_ identifier: String) -> MLModelError {
    MLModelError(
      .modelCollection,
      "the collection '\(identifier)' is delivered by Apple's servers only; download its models from a server of your own"
    )
  }
}
