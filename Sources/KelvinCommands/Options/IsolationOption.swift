import ArgumentParser

/// The option that decodes images and models in a child process first.
struct IsolationOption: ParsableArguments {
  @Flag(
    help:
      """
      Decode images and read models in a restricted child process first. A file that crashes or stalls its decoder \
      is then an error. Use it for files from strangers.
      """)
  var isolate = false
}

/// A command that takes images or models.
protocol IsolatedCommand {
  var isolation: IsolationOption { get }
}

extension ModelCommand {
  var isolation: IsolationOption { options.isolation }
}
