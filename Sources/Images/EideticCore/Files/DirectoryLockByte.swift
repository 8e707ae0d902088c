/// The bytes of the lock file of a cache directory, by which a supervisor recognises the locks of a stopped process.
package enum DirectoryLockByte {
    /// The byte whose lock admits changes to the directory.
    package static let changes = 0
    /// The byte on which every open lock file has a shared lock, beyond those of the cache instances.
    package static let mark = 1 << 30
}
