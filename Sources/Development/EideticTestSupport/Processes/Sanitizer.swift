import Glibc

/// Whether a sanitizer is at work, in this process and in the programs that are built with it.
///
/// Their memory, calls, files and time are then not the program's own.
package enum Sanitizer {
    package static let isActive = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
