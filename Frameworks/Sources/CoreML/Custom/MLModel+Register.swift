import Foundation
import Kelvin
import Synchronization

extension MLModel {
  /// Registers a class for the custom layers that name it. A name that is registered again gets the new class.
  ///
  /// On Apple's systems the name is that of an Objective-C class. Here a class of the program's main module whose name
  /// in Swift is the same needs no registration.
  public static func register(_ layer: any MLCustomLayer.Type, className: String) {
    CustomClasses.registered.withLock { $0[className] = layer }
  }

  /// Registers a class for the custom models that name it. A name that is registered again gets the new class.
  public static func register(_ model: any MLCustomModel.Type, className: String) {
    CustomClasses.registered.withLock { $0[className] = model }
  }
}

/// The program's classes for custom layers and models.
enum CustomClasses {
  /// The registered classes, by name.
  static let registered = Mutex<[String: any AnyObject.Type]>([:])

  /// Kelvin's access to the classes.
  static let code = CustomCode(
    layer: { description in
      try (find(description.className) as? any MLCustomLayer.Type).map { try RegisteredLayer($0, description) }
    },
    model: { description in
      try (find(description.className) as? any MLCustomModel.Type).map { try RegisteredModel($0, description) }
    })

  /// Returns a registered class, or one of the program's main module; nil if there is none.
  private static func find(_ name: String) -> (any AnyObject.Type)? {
    if let registered = registered.withLock({ $0[name] }) { return registered }
    let module = ProcessInfo.processInfo.processName.map { $0.isLetter || $0.isNumber ? $0 : "_" }
    return NSClassFromString(name) ?? NSClassFromString("\(String(module)).\(name)")
  }
}
