public import EideticCore

extension DiskCache {
    /// Copies the entries of another cache's directory.
    ///
    /// Damaged and expired entries are left out, as are entries whose keys this cache contains already. The other
    /// directory is not changed. The copy stops at the first error.
    ///
    /// - Parameter directory: The absolute path of the directory of a disk cache.
    /// - Returns: The number of copied entries.
    /// - Throws: The errors of opening a cache, reading and writing.
    /// - Complexity: O(*n*) in the bytes of the other cache.
    @discardableResult
    public func importEntries(from directory: String) async throws(EideticError) -> Int {
        try await perform { () throws(EideticError) in try self.blocking.importEntries(from: directory) }
    }

    /// Opens a directory to import its entries, with the expiration settings of this cache.
    func openSource(directory: String) throws(EideticError) -> DiskCache {
        var source = Configuration(directory: directory)
        source.isReadOnly = true
        (source.maximumAge, source.ageBasis) = (configuration.maximumAge, configuration.ageBasis)
        return try DiskCache(source, fileSystem: files, time: time)
    }
}
