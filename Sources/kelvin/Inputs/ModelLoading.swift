import Kelvin
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime

/// A model as a command uses it.
///
/// Notes what the user should know of it: measurements that no longer hold, a cache that cannot be used.
///
/// - Throws: what `LoadedModel` throws.
func loadModel(_ path: String, _ options: LoadOptions) throws -> LoadedModel {
  let model = try LoadedModel(path: path, options: options)
  model.remarks.forEach(Console.note)
  return model
}

extension LoadedModel {
  /// The plan the options ask for.
  ///
  /// - Throws: `InputError` where it is a saved plan that does not fit.
  func explainOrRefuse(_ request: PlanRequest? = nil) throws -> PlanExplanation {
    do { return try explain(request) } catch RuntimeError.invalidChoice(let reason) where options.plan != nil {
      throw InputError(reason)
    }
  }

  /// `explainOrRefuse`, with progress on a terminal.
  func explainWithProgress() throws -> PlanExplanation {
    let progress = Progress("planning")
    defer { progress.finish() }
    return try explainOrRefuse()
  }

  /// The plan as it is about to be run: notes which nodes run outside the units asked for, and why.
  func explainToRun() throws -> PlanExplanation {
    let explanation = try explainWithProgress()
    try remarks(on: explanation).forEach(Console.note)
    return explanation
  }

  /// Compiles a plan, with progress on a terminal.
  func compileWithProgress(_ explanation: PlanExplanation) throws -> CompiledModel {
    let progress = Progress("compiling")
    defer { progress.finish() }
    let compiled = try compile(explanation, observer: .init(progress: { progress.update($0) }))
    noteCacheComplaint()
    return compiled
  }

  /// Plans and compiles, with progress on a terminal, for predictions one after another.
  ///
  /// - Parameter function: as `Predictor` takes it.
  func predictorWithProgress(for function: Function? = nil) throws -> Predictor {
    let compiled = try compiledGraphs(try compileWithProgress(try explainToRun()))
    return Predictor(self, compiled, specializationLimit: 1, function: function)
  }

  /// Says once why the cache could not be used.
  func noteCacheComplaint() {
    guard let complaint = context.cache?.directory.complaint else { return }
    Console.note("nothing is kept for the next run: \(complaint)")
  }
}
