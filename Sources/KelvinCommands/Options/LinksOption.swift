import ArgumentParser

/// The option that allows symbolic links among a model's files.
struct LinksOption: ParsableArguments {
  @Flag(
    help:
      """
      Follow links among the model's files. They may lead to any file of this machine, so they are refused \
      otherwise.
      """)
  var allowLinks = false
}
