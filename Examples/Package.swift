// swift-tools-version: 6.2
import PackageDescription

/// Small programs on the public interface of Kelvin, built beside the library:
/// `swift build -c release --package-path Examples --scratch-path .build`.
func example(_ name: String, _ modules: String..., exclude: [String] = []) -> Target {
  .executableTarget(
    name: name, dependencies: modules.map { .product(name: $0, package: "Kelvin") }, path: name, exclude: exclude,
    swiftSettings: [.treatAllWarnings(as: .error)])
}

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "Kelvin", path: "..")],
  targets: [
    example("TenLines", "Kelvin", "KelvinVision"),
    example("Images", "Kelvin", "KelvinVision"),
    example("Measuring", "Kelvin", "KelvinMeasuring"),
    example("GeneratedClass", "Kelvin"),
    example("TokenSequences", "Kelvin", exclude: ["Licence.mlpackage", "README.md", "train.py"]),
  ])
