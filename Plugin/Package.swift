// swift-tools-version: 6.2
import PackageDescription

/// The plugin that writes a Swift class for each model of a target. `make plugin` makes an archive of this package with the
/// program in it, so that a client compiles nothing of Kelvin for the machine that builds.
let package = Package(
  name: "KelvinModels",
  products: [.plugin(name: "KelvinModels", targets: ["KelvinModels"])],
  targets: [
    .binaryTarget(name: "kelvin", path: "kelvin.artifactbundle"),
    .plugin(name: "KelvinModels", capability: .buildTool(), dependencies: ["kelvin"]),
  ])
