import ArgumentParser

/// Whether a model's files may be links.
struct LinksOption: ParsableArguments {
  @Flag(
    help: """
      Follow links among the files that the model names. They may lead to any file of this machine, so that otherwise \
      they are refused.
      """)
  var allowLinks = false
}
