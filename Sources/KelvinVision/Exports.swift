#if Collections
// What evaluations and searches find is part of the public vocabulary: `ClassificationScores`, `PhotoMatch`, `PhotoCategory`.
@_exported public import KelvinEvaluation
@_exported public import KelvinIndex
#endif
