import Glibc

/// Detection of sanitizers, which change a program's memory use, system calls, files and timing.
package enum Sanitizer {
    /// A Boolean value indicating whether this build uses the thread or address sanitizer.
    package static let isActive = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
}
