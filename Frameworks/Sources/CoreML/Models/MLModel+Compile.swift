public import Foundation
import Kelvin

extension MLModel {
  /// Writes a folder `NAME.mlmodelc` for a model and returns its location, in a temporary folder. Blocks the calling
  /// thread.
  ///
  /// The folder contains the model as it is, so that Kelvin reads it on any machine. The model is also compiled for the
  /// default configuration into Kelvin's cache, which later loads use.
  ///
  /// - Parameter modelURL: an `.mlpackage`, or a file of Core ML of any name.
  /// - Throws: `MLModelError`: as loading does, `io` for a model of another format or if the folder cannot be written.
  public class func compileModel(at modelURL: URL) throws -> URL { try CompiledFolder.write(modelURL) }

  /// Writes a folder `NAME.mlmodelc` for a model without blocking a thread.
  ///
  /// - Throws: as the blocking method.
  public class func compileModel(at modelURL: URL) async throws -> URL {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try CompiledFolder.write(modelURL) }) }
    }
  }

  /// Writes a folder `NAME.mlmodelc` for a model and calls `handler` on another thread.
  public class func compileModel(
    at modelURL: URL, completionHandler handler: @escaping (Result<URL, any Error>) -> Void
  ) {
    answer(handler) { try await compileModel(at: modelURL) }
  }
}

/// A `.mlmodelc` that Kelvin reads as a package.
private enum CompiledFolder {
  static func write(_ model: URL) throws -> URL {
    let files = FileManager.default
    let place = files.temporaryDirectory.appendingPathComponent("kelvin-\(UUID().uuidString)")
    let name = model.deletingPathExtension().lastPathComponent
    let folder = place.appendingPathComponent("\(name).mlmodelc")
    do {
      try fill(folder, from: model)
      _ = try MLModel(contentsOf: folder)
      return folder
    } catch {
      try? files.removeItem(at: place)
      // The error of the source is about the path that the caller knows.
      _ = try MLModel(contentsOf: model)
      throw MLModelError(
        .io, "'\(model.path)' cannot be compiled: \(error.localizedDescription); expected an .mlpackage or .mlmodel")
    }
  }

  private static func fill(_ folder: URL, from model: URL) throws {
    let files = FileManager.default
    var isFolder: ObjCBool = false
    guard files.fileExists(atPath: model.path, isDirectory: &isFolder) else {
      throw MLModelError(.io, "'\(model.path)': there is no such file or folder")
    }
    try files.createDirectory(at: folder.deletingLastPathComponent(), withIntermediateDirectories: true)
    if isFolder.boolValue {
      return try files.copyItem(at: model.resolvingSymlinksInPath(), to: folder)
    }
    let place = folder.appendingPathComponent("Data/com.apple.CoreML")
    try files.createDirectory(at: place, withIntermediateDirectories: true)
    try files.copyItem(at: model.resolvingSymlinksInPath(), to: place.appendingPathComponent("model.mlmodel"))
    try manifest.write(to: folder.appendingPathComponent("Manifest.json"), atomically: true, encoding: .utf8)
  }

  /// The manifest of a package with one model file.
  private static let manifest = """
    {
      "fileFormatVersion": "1.0.0",
      "itemInfoEntries": {
        "model": {
          "author": "com.apple.CoreML",
          "description": "CoreML Model Specification",
          "name": "model.mlmodel",
          "path": "com.apple.CoreML/model.mlmodel"
        }
      },
      "rootModelIdentifier": "model"
    }

    """
}
