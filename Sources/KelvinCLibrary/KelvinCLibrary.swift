// The library consists of KelvinC alone. This target has the options by which it is linked, which other programs that
// contain KelvinC must not have.
