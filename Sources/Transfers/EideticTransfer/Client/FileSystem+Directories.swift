package import EideticCore
import Glibc

extension FileSystem {
    /// Makes the names in the directory of a file safe after a loss of power.
    package func synchronizeDirectory(of path: String) throws(SystemError) {
        let directory = path.parentPath.map { "\($0)/" } ?? "."
        try synchronize(open(directory, flags: O_RDONLY | O_DIRECTORY))
    }

    /// Removes a file if it exists.
    package func removeIfPresent(_ path: String) { try? unlink(path) }
}
