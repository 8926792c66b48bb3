// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import FoundationEssentials
import Kelvin
import KelvinBasics
import Synchronization

/// Options for loading, planning and measuring models.
final class OptionsHandle: HandleValue {
  static let noun = "options"

  private let state = Mutex(ModelConfiguration())

  var configuration: ModelConfiguration { state.withLock(\.self) }

  /// - Throws: `ModelError` with code `parameters`.
  func set(_ name: String, _ value: String) throws {
    guard let option = Option.byName[name] else {
      throw ModelError(
        .parameters, "there is no option '\(name)'; use \(Option.byName.keys.sorted().joined(separator: ", "))")
    }
    try state.withLock { configuration in
      do { try option.set(&configuration, value) } catch let meaning as Option.Meaning {
        throw ModelError(.parameters, "option '\(name)': expected \(meaning.expected), got '\(value)'")
      }
    }
  }
}

/// An option with its command-line syntax.
private struct Option: Sendable {
  /// An error that describes the expected value.
  struct Meaning: Error {
    let expected: String
  }

  let set: @Sendable (inout ModelConfiguration, String) throws -> Void

  /// Creates an option from a function that parses its value.
  init<Value>(
    _ path: any WritableKeyPath<ModelConfiguration, Value> & Sendable, _ expected: String,
    _ meaning: @escaping @Sendable (String) -> Value?
  ) {
    set = { configuration, text in
      guard let value = meaning(text) else { throw Meaning(expected: expected) }
      configuration[keyPath: path] = value
    }
  }

  /// Creates an option for an optional property from a function that parses its value.
  init<Value>(
    optional path: any WritableKeyPath<ModelConfiguration, Value?> & Sendable, _ expected: String,
    _ meaning: @escaping @Sendable (String) -> Value?
  ) {
    set = { configuration, text in
      guard let value = meaning(text) else { throw Meaning(expected: expected) }
      configuration[keyPath: path] = value
    }
  }

  init(_ set: @escaping @Sendable (inout ModelConfiguration, String) throws -> Void) { self.set = set }

  static func flag(_ path: any WritableKeyPath<ModelConfiguration, Bool> & Sendable, isOpposite: Bool = false) -> Option
  {
    Option(path, "true or false") { text in
      switch text {
      case "true": !isOpposite
      case "false": isOpposite
      default: nil
      }
    }
  }

  static func file(_ path: any WritableKeyPath<ModelConfiguration, URL?> & Sendable) -> Option {
    Option(optional: path, "a path") { $0.isEmpty ? nil : URL(filePath: $0) }
  }

  static func name(_ path: any WritableKeyPath<ModelConfiguration, String?> & Sendable) -> Option {
    Option(optional: path, "a name") { $0.isEmpty ? nil : $0 }
  }

  static let byName: [String: Option] = [
    "units": Option(\.computeUnits, "all, cpu-only, cpu-and-gpu, cpu-and-neural-engine or devices as in cpu,vulkan:0") {
      ComputeUnits($0)
    },
    "precision": Option(\.precision, ComputePrecision.choices.map(\.rawValue).joined(separator: ", ")) {
      ComputePrecision(rawValue: $0)
    },
    "goal": Option(\.goal, names(ComputePlan.Goal.self)) { ComputePlan.Goal(rawValue: $0) },
    "runs": Option(\.expectedPredictions, "a whole number, at least 0") { Int($0).flatMap { $0 >= 0 ? $0 : nil } },
    "trips": Option(optional: \.expectedIterations, "a number from 0 to 1000000") { number($0, in: 0...1e6) },
    "envelope": name(\.thermalEnvelope),
    "threads": Option(optional: \.threadCount, "a number from 1 to 1024") {
      Int($0).flatMap { (1...1024) ~= $0 ? $0 : nil }
    },
    "function": name(\.functionName),
    "part": name(\.graphName),
    "device-timeout": Option(optional: \.deviceTimeout, "a time above 0 as in 10, 500ms or 2m", duration),
    "no-canary": flag(\.checksDevices, isOpposite: true),
    "plan": file(\.plan),
    "profile": file(\.profile),
    "cache-dir": file(\.cacheDirectory),
    "no-cache": flag(\.usesCache, isOpposite: true),
    "strict": flag(\.isStrict),
    "deterministic": flag(\.isDeterministic),
    "tuning": Option(\.tuning, names(ComputeTuning.self)) { ComputeTuning(rawValue: $0) },
    "allow-links": flag(\.allowsLinks),
    "isolation": Option(\.isolation, names(Isolation.self)) { Isolation(rawValue: $0) },
    "plan-every-size": flag(\.plansEverySize),
    "reshape-frequency": Option(\.optimizationHints.reshapeFrequency, "frequent or infrequent") {
      OptimizationHints.ReshapeFrequency(rawValue: $0)
    },
    "max-seconds": Option(optional: \.timeLimit, "a time above 0 as in 10, 500ms or 2m", duration),
    "max-memory": Option(optional: \.maximumMemory, "bytes above 0") { Int($0).flatMap { $0 > 0 ? $0 : nil } },
    "exclude": Option { configuration, text in
      guard !text.isEmpty else { throw Meaning(expected: "a device") }
      configuration.excludedDevices.append(text)
    },
    "pin": Option { configuration, text in
      guard let (node, device) = halves(text) else { throw Meaning(expected: "NODE=DEVICE") }
      configuration.pins[node] = device
    },
    "shape": Option { configuration, text in
      guard let (name, sizes) = halves(text) else { throw Meaning(expected: "NAME=1x3x224x224") }
      let shape = sizes.split(separator: "x", omittingEmptySubsequences: false).map {
        Int($0).flatMap { $0 >= 0 ? $0 : nil }
      }
      guard !shape.contains(nil) else { throw Meaning(expected: "NAME=1x3x224x224 with sizes of 0 or more") }
      configuration.inputShapes[name] = shape.compactMap(\.self)
    },
  ]

  private static func names<Value: CaseIterable & RawRepresentable<String>>(_ type: Value.Type) -> String {
    type.allCases.map(\.rawValue).joined(separator: ", ")
  }

  private static func duration(_ text: String) -> Duration? {
    DurationText.seconds(text).flatMap { (1e-3...1e9).contains($0) ? .seconds($0) : nil }
  }

  private static func number(_ text: String, in range: ClosedRange<Double>) -> Double? {
    NumberText.number(text).flatMap { range.contains($0) ? $0 : nil }
  }

  /// Splits a string at its last `=`, because node names may contain one.
  private static func halves(_ text: String) -> (String, String)? {
    guard let sign = text.lastIndex(of: "=") else { return nil }
    let (name, value) = (String(text[..<sign]), String(text[text.index(after: sign)...]))
    return name.isEmpty || value.isEmpty ? nil : (name, value)
  }
}

/// Returns a handle's configuration, or the default configuration for NULL.
func configuration(_ options: OpaquePointer?) throws -> ModelConfiguration {
  try Handles.findOptional(options, as: OptionsHandle.self)?.configuration ?? ModelConfiguration()
}

@c @implementation
public func kelvin_options_new() -> OpaquePointer? { try? Handles.add(OptionsHandle()) }

@c @implementation
public func kelvin_options_set(
  _ options: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafePointer<CChar>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let options = try Handles.find(options, as: OptionsHandle.self)
    let name = try text(name, "name")
    // Paths need not be UTF-8.
    guard let value else { throw HandleError("'value' is NULL: expected a string") }
    try options.set(name, String(path: value))
  }
}

@c @implementation
public func kelvin_options_release(_ options: OpaquePointer?) { Handles.release(options, as: OptionsHandle.self) }
