// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import FoundationEssentials
import Kelvin
import KelvinBasics

/// A loaded model.
final class ModelHandle: Handled {
  static let noun = "a model"

  let model: Model

  init(_ model: Model) { self.model = model }
}

@c @implementation
public func kelvin_model_load(
  _ path: UnsafePointer<CChar>?, _ options: OpaquePointer?, _ cancellation: OpaquePointer?,
  _ model: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(model, "model")
    let url = URL(filePath: try KelvinC.path(path))
    result.pointee = try load(ModelAsset(url: url), options, cancellation)
  }
}

@c @implementation
public func kelvin_model_load_bytes(
  _ bytes: UnsafeRawPointer?, _ count: Int, _ files: UnsafePointer<kelvin_file>?, _ file_count: Int,
  _ options: OpaquePointer?, _ cancellation: OpaquePointer?, _ model: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(model, "model")
    var blobs: [URL: Data] = [:]
    for file in try elements(files, file_count, "files") {
      blobs[URL(filePath: try path(file.path))] = try data(file.bytes, file.count, "files.bytes")
    }
    let asset = try ModelAsset(specification: try data(bytes, count, "bytes"), blobMapping: blobs)
    result.pointee = try load(asset, options, cancellation)
  }
}

private func data(_ bytes: UnsafeRawPointer?, _ count: Int, _ name: String) throws -> Data {
  try check(count, 1, name)
  guard let bytes else {
    if count == 0 { return Data() }
    throw HandleError("'\(name)' is NULL: expected \(count) bytes")
  }
  return Data(bytes: bytes, count: count)
}

private func load(
  _ asset: ModelAsset, _ options: OpaquePointer?, _ cancellation: OpaquePointer?
) throws -> OpaquePointer {
  let configuration = try configuration(options)
  let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
  let model = try waiting(cancellation) { try await Model.load(asset: asset, configuration: configuration) }
  return try Handles.add(ModelHandle(model))
}

@c @implementation
public func kelvin_model_description(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let model = try Handles.find(model, as: ModelHandle.self).model
    let document = DescriptionDocument(model.modelDescription)
    result.pointee = allocated(String(decoding: try JSONText.encode(document), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_plan(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let model = try Handles.find(model, as: ModelHandle.self).model
    result.pointee = allocated(String(decoding: try model.computePlan.json(), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_plan_html(
  _ model: OpaquePointer?, _ html: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(html, "html")
    result.pointee = allocated(try Handles.find(model, as: ModelHandle.self).model.computePlan.htmlReport())
  }
}

@c @implementation
public func kelvin_model_remarks(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let remarks = try Handles.find(model, as: ModelHandle.self).model.remarks
    result.pointee = allocated(String(decoding: try JSONText.encode(remarks), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_release(_ model: OpaquePointer?) { Handles.release(model, as: ModelHandle.self) }
