// A file that imports both Testing and CoreGraphics also imports a module of this name: the toolchain says so, but has the
// module on Apple's systems only.
