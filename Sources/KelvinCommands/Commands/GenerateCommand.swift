import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinGeneration

struct GenerateCommand: ParsableCommand, LimitedCommand, IsolatedCommand, KeyedCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Write a Swift class for a model, with a property for each input and output.",
    usage: "kelvin generate [<options>] <model>",
    discussion: """
      Example: kelvin generate MobileNetV2.mlpackage --output Sources/App/MobileNetV2.swift

      The source code goes to standard output, unless --output names a file. A file with the same contents is not \
      touched. The plugin KelvinModels runs the command when a Swift package is built.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Option(
    name: .customLong("class"),
    help: ArgumentHelp("The name of the class. (default: the name of the model's file)", valueName: "name"))
  var className: String?

  @Option(
    help: ArgumentHelp("The access level of the class: public, internal or package.", valueName: "level"),
    transform: Self.access)
  var access: ModelClassGenerator.Access = .internal

  @Option(
    help: ArgumentHelp(
      """
      The interface to write for: kelvin, for the module Kelvin, or coreml, for the module CoreML with the classes \
      that Xcode writes.
      """, valueName: "name"), transform: Self.dialect)
  var dialect: ModelClassGenerator.Dialect = .kelvin

  @Option(
    help: ArgumentHelp(
      """
      The model's path in the sources of its target. The class then finds the model among the resources of its \
      module.
      """, valueName: "path"))
  var resource: String?

  @Option(
    help: ArgumentHelp(
      "The name in Swift of an input or output: 'a/b=other'. Repeatable.", valueName: "name=other"),
    transform: { try NamedText($0, option: "rename", form: "NAME=OTHER") })
  var rename: [NamedText] = []

  @Option(help: ArgumentHelp("Write the source code to this file.", valueName: "file"))
  var output: String?

  @OptionGroup var links: LinksOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions

  func run() throws {
    let file = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: links.allowLinks)
    let description = try file.modelDescription()
    var generator = ModelClassGenerator(className: className ?? model.pathStem)
    generator.dialect = dialect
    generator.access = access
    generator.resourcePath = resource
    for item in rename {
      if let other = generator.memberNames[exact: item.name], other != item.text {
        throw UsageError("'\(item.name)' is renamed to both \(other) and \(item.text)")
      }
      generator.memberNames[exact: item.name] = item.text
    }
    if let output {
      try generator.write(description, modelName: model.lastPathPart, to: URL(filePath: output))
    } else {
      Console.write(try generator.source(for: description, modelName: model.lastPathPart), to: STDOUT_FILENO)
    }
  }

  private static func access(_ text: String) throws -> ModelClassGenerator.Access {
    guard let access = ModelClassGenerator.Access(rawValue: text) else {
      throw ValidationError("'\(text)' is not an access level; use public, internal or package")
    }
    return access
  }

  private static func dialect(_ text: String) throws -> ModelClassGenerator.Dialect {
    guard let dialect = ModelClassGenerator.Dialect(rawValue: text) else {
      throw ValidationError("'\(text)' is not a dialect; use kelvin or coreml")
    }
    return dialect
  }
}
