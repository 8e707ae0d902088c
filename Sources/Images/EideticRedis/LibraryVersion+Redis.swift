#if Redis
import CHiredis
#endif
package import EideticCore

extension LibraryVersion {
    /// The library of this module; none without its trait.
    package static var redis: [LibraryVersion] {
        #if Redis
        [LibraryVersion("hiredis", version: "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)")]
        #else
        []
        #endif
    }
}
