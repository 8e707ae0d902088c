import EideticCore
import Glibc

extension DetachedCalls {
    /// Creates the calls of one codec: as many at a time as there are processors, and 256 MiB.
    ///
    /// Each codec has its own, so that images that keep one library busy do not delay other formats.
    static func forFormat(_ format: ImageFormat) -> DetachedCalls {
        DetachedCalls(
            name: "eidetic \(format.rawValue)",
            maximumConcurrentCalls: Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))),
            memory: .mebibytes(256)
        )
    }
}
