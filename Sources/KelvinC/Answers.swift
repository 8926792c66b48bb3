// swift-format-ignore-file: AlwaysUseLowerCamelCase

import CKelvin
import Glibc
import Kelvin
import KelvinBasics

/// The output parameter for an error message, which the caller frees.
public typealias ErrorText = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// Runs the body of a function and returns its code. In a process that was forked from one that used Kelvin, the call
/// is refused, because threads and devices do not survive a fork.
func answer(_ error: ErrorText?, _ work: () throws -> Void) -> kelvin_code {
  do {
    try Handles.checkProcess()
    try work()
    return kelvin_code(KELVIN_OK)
  } catch let failure {
    let words = failure is CancellationError ? "the call was cancelled" : "\(failure)"
    error?.pointee = allocated(words.printable)
    return code(of: failure)
  }
}

/// Returns a copy of a string that the caller frees.
func allocated(_ text: String) -> UnsafeMutablePointer<CChar>? { strdup(text) }

/// Returns a result's output pointer.
///
/// - Throws: `HandleError` for NULL.
func place<Result>(_ pointer: UnsafeMutablePointer<Result>?, _ name: String) throws -> UnsafeMutablePointer<Result> {
  guard let pointer else { throw HandleError("'\(name)' is NULL: expected a pointer to memory for the result") }
  return pointer
}

/// Converts a C string.
///
/// - Throws: `HandleError` for NULL; `ModelError` with code `parameters` for invalid UTF-8.
func text(_ pointer: UnsafePointer<CChar>?, _ name: @autoclosure () -> String) throws -> String {
  guard let pointer else { throw HandleError("'\(name())' is NULL: expected a string") }
  guard let text = String(validatingCString: pointer) else {
    throw ModelError(.parameters, "'\(name())' is not UTF-8: '\(String(cString: pointer))'")
  }
  return text
}

/// Converts a `kelvin_text`.
///
/// - Throws: `HandleError` if the pointer is NULL and the count is not 0; `ModelError` with code `parameters` for
///   invalid UTF-8.
func text(_ text: kelvin_text, _ name: @autoclosure () -> String) throws -> String {
  let bytes = UnsafeRawBufferPointer(try elements(text.bytes, text.count, "\(name()).bytes"))
  guard let result = String(validating: bytes, as: UTF8.self) else {
    throw ModelError(.parameters, "'\(name())' is not UTF-8: '\(String(decoding: bytes, as: UTF8.self))'")
  }
  return result
}

/// Returns a null-terminated copy of a string.
///
/// - Throws: `ModelError` with code `featureType` for a string with a zero byte, which would end the C string early.
func terminated(_ text: String, in memory: CMemory, remedy: @autoclosure () -> String) throws -> UnsafePointer<CChar> {
  if let zero = text.utf8.firstIndex(of: 0) {
    let before = text.utf8.distance(from: text.utf8.startIndex, to: zero)
    throw ModelError(
      .featureType,
      "expected a string without a zero byte, got one after \(before) of \(text.utf8.count) bytes; \(remedy())")
  }
  return memory.text(text)
}

/// Converts a path, which may contain arbitrary bytes.
///
/// - Throws: `HandleError` for NULL.
func path(_ pointer: UnsafePointer<CChar>?) throws -> String {
  guard let pointer else { throw HandleError("'path' is NULL: expected a path") }
  return String(path: pointer)
}

/// Returns a view of the caller's elements, valid during the call.
///
/// - Throws: `HandleError` if the pointer is NULL and the count is not 0, and for an invalid count.
func elements<Element>(
  _ pointer: UnsafePointer<Element>?, _ count: Int, _ name: @autoclosure () -> String
) throws -> UnsafeBufferPointer<Element> {
  try check(count, MemoryLayout<Element>.stride, name())
  guard pointer != nil || count == 0 else { throw HandleError("'\(name())' is NULL: expected \(count) elements") }
  return UnsafeBufferPointer(start: pointer, count: count)
}

/// Runs `work` and adds the feature's name to its errors.
func naming<Result>(_ name: String, _ work: () throws -> Result) throws -> Result {
  do { return try work() } catch let error as ModelError {
    throw ModelError(error.code, "feature '\(name)': \(error.description)")
  }
}

/// Checks that a count can be the size of an array. A negative difference that was converted to `size_t` fails the
/// check.
///
/// - Throws: `HandleError`.
func check(_ count: Int, _ stride: Int, _ name: @autoclosure () -> String) throws {
  guard count >= 0, !count.multipliedReportingOverflow(by: stride).overflow else {
    throw HandleError("'\(name())': \(UInt(bitPattern: count)) elements do not fit memory")
  }
}

private func code(of error: any Error) -> kelvin_code {
  let code =
    switch error {
    case is HandleError: KELVIN_ERROR_HANDLE
    case is ImageError: KELVIN_ERROR_IO
    case is CancellationError: KELVIN_ERROR_CANCELLED
    case let error as ModelError:
      switch error.code {
      case .io: KELVIN_ERROR_IO
      // A program in C gives no code for custom layers.
      case .unsupported, .customLayer, .customModel: KELVIN_ERROR_UNSUPPORTED
      case .featureType: KELVIN_ERROR_FEATURE
      case .parameters: KELVIN_ERROR_PARAMETERS
      case .device: KELVIN_ERROR_DEVICE
      case .predictionCancelled: KELVIN_ERROR_CANCELLED
      case .limit: KELVIN_ERROR_LIMIT
      case .generic: KELVIN_ERROR_GENERIC
      }
    default: KELVIN_ERROR_GENERIC
    }
  return kelvin_code(code)
}

@c @implementation
public func kelvin_free(_ text: UnsafeMutablePointer<CChar>?) { free(text) }

@c @implementation
public func kelvin_abi_version() -> Int32 { KELVIN_ABI_VERSION }

private nonisolated(unsafe) let version = UnsafePointer(strdup(kelvinVersion))

@c @implementation
public func kelvin_version() -> UnsafePointer<CChar>? { version }
