package import EideticCore

extension DiskCache {
    /// Copies the entries of another cache's directory.
    ///
    /// Damaged, expired and private entries (``EntryInfo/isPrivate``) are left out, as are entries whose keys this
    /// cache contains already. The other directory is not changed. The copy stops at the first error, with `cancelled`
    /// when the background time expires.
    ///
    /// - Parameter directory: The absolute path of the directory of a disk cache.
    /// - Returns: The number of copied entries.
    /// - Throws: The errors of opening a cache, reading and writing.
    /// - Complexity: O(*n*) in the bytes of the other cache.
    @discardableResult
    nonisolated(nonsending) package func importEntries(from directory: String) async throws(EideticError) -> Int {
        try await perform { () throws(EideticError) in try self.copyEntries(from: directory) }
    }

    /// Copies entries one by one, until the background time expires.
    func copyEntries(from directory: String) throws(EideticError) -> Int {
        let source = try openSource(directory: directory).blocking
        var count = 0
        for info in try source.entries() where !info.isPrivate {
            if try blocking.contains(info.key) { continue }
            guard let entry = try source.read(info.key) else { continue }
            try blocking.insert(entry.bytes, for: entry.key, metadata: entry.metadata)
            count += 1
        }
        return count
    }

    /// Opens a directory to import its entries, with the expiration settings of this cache.
    func openSource(directory: String) throws(EideticError) -> DiskCache {
        var source = Configuration(directory: directory)
        source.isReadOnly = true
        (source.maximumAge, source.ageBasis) = (configuration.maximumAge, configuration.ageBasis)
        return try DiskCache(source, fileSystem: files, time: time)
    }
}
