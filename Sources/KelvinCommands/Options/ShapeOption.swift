import ArgumentParser
import Kelvin
import KelvinBasics

/// The option for the shapes of flexible inputs.
struct ShapeOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The shape of an input: NAME=1x3x224x224. Repeatable.", valueName: "name=shape"),
    transform: NamedShape.init)
  var shape: [NamedShape] = []

  struct NamedShape {
    var name: String
    var shape: [Int]

    init(_ argument: String) throws {
      let named = try NamedText(argument, option: "shape", form: "NAME=1x3x224x224")
      let parts = named.text.split(separator: "x", omittingEmptySubsequences: false)
      name = named.name
      shape = parts.compactMap { Int($0) }.filter { $0 > 0 }
      guard shape.count == parts.count, ModelConfiguration.isAddressable(shape) else {
        throw ValidationError("--shape takes NAME=1x3x224x224 with positive sizes, got '\(argument)'")
      }
    }
  }

  /// Returns the shapes by input name.
  ///
  /// - Throws: `UsageError` for an input named twice.
  func dictionary() throws -> [String: [Int]] {
    var shapes: [String: [Int]] = [:]
    for item in shape {
      guard shapes[exact: item.name] == nil else { throw UsageError("--shape names '\(item.name)' twice") }
      shapes[exact: item.name] = item.shape
    }
    return shapes
  }
}

/// An argument `NAME=TEXT`, split at the last '=' because names may contain one.
struct NamedText {
  var name: String
  var text: String

  init(_ argument: String, option: String, form: String) throws {
    guard let sign = argument.lastIndex(of: "="), sign > argument.startIndex,
      argument.index(after: sign) < argument.endIndex
    else { throw ValidationError("--\(option) takes \(form), got '\(argument)'") }
    name = String(argument[..<sign])
    text = String(argument[argument.index(after: sign)...])
  }
}
