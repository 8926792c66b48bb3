public import Foundation
public import Kelvin

/// A model in a file or in memory that is not loaded yet.
public final class MLModelAsset: NSObject, Sendable {
  /// Kelvin's asset.
  public let kelvin: ModelAsset

  /// Creates an asset from one of Kelvin's.
  public init(_ asset: ModelAsset) { kelvin = asset }

  /// Creates an asset for a model file or package, without reading it.
  public convenience init(url: URL) throws { self.init(ModelAsset(url: url)) }

  /// Creates an asset for the bytes of an `.mlmodel` file, without parsing them.
  ///
  /// - Throws: `MLModelError` (`io`) if there are no bytes.
  public convenience init(specification: Data) throws { try self.init(specification: specification, blobMapping: [:]) }

  /// Creates an asset for the specification of a package and its weight files, without parsing them.
  ///
  /// - Parameters:
  ///   - specificationData: the bytes of the specification.
  ///   - blobMapping: the bytes of the files that it refers to, by their paths relative to the model.
  /// - Throws: `MLModelError` (`io`) if there are no bytes.
  public convenience init(specification specificationData: Data, blobMapping: [URL: Data]) throws {
    self.init(
      try MLModelError.wrapping { () throws(ModelError) in
        try ModelAsset(specification: specificationData, blobMapping: blobMapping)
      })
  }

  /// The names of the model's functions, sorted.
  public var functionNames: [String] {
    get async throws {
      do throws(ModelError) { return try await kelvin.functionNames } catch { throw MLModelError(error) }
    }
  }

  /// The description of the model's default function.
  public var modelDescription: MLModelDescription {
    get async throws {
      do throws(ModelError) { return MLModelDescription(try await kelvin.modelDescription) } catch {
        throw MLModelError(error)
      }
    }
  }

  /// Describes one of the model's functions.
  ///
  /// - Throws: `MLModelError`: `parameters` for a function that the model does not have.
  public func modelDescription(of functionName: String) async throws -> MLModelDescription {
    do throws(ModelError) { return MLModelDescription(try await kelvin.modelDescription(of: functionName)) } catch {
      throw MLModelError(error)
    }
  }

  /// Describes the model's default function and calls `handler` on another thread.
  public func modelDescription(completionHandler handler: @escaping (MLModelDescription?, (any Error)?) -> Void) {
    answer({ handler(try? $0.get(), $0.failure) }) { try await self.modelDescription }
  }
}
