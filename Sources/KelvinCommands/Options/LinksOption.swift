import ArgumentParser

/// The option that allows symbolic links among a model's files.
struct LinksOption: ParsableArguments {
  @Flag(
    help: """
      Follow links among the files that the model names. They may lead to any file of this machine, so that otherwise \
      they are refused.
      """)
  var allowLinks = false
}
