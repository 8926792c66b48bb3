// The results of evaluations and searches are part of the public API: `ClassificationScores`, `PhotoMatch`,
// `PhotoCategory`.
@_exported public import KelvinEvaluation
@_exported public import KelvinIndex
