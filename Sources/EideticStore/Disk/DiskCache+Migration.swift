public import EideticCore

extension DiskCache {
    /// Takes over the entries of another cache's directory; blocks on file work.
    ///
    /// Entries that are damaged or expired are left out, and those whose key is here already. The other directory is
    /// left as it is. Stops at the first error.
    ///
    /// - Parameter directory: The absolute path of a directory of this kind.
    /// - Returns: How many entries were taken.
    /// - Throws: What opening, reading and writing throw.
    /// - Complexity: O(*n*) in the bytes of the other cache.
    @discardableResult
    public func importEntries(from directory: String) throws(EideticError) -> Int {
        var sourceConfiguration = Configuration(directory: directory)
        sourceConfiguration.isReadOnly = true
        (sourceConfiguration.maximumAge, sourceConfiguration.ageBasis) = (
            configuration.maximumAge, configuration.ageBasis
        )
        let source = try DiskCache(sourceConfiguration, fileSystem: files, time: time)
        var count = 0
        for info in try source.entries() where try !contains(info.key) {
            guard let entry = try source.read(info.key) else { continue }
            try write(entry.bytes, for: entry.key, metadata: entry.metadata)
            count += 1
        }
        return count
    }
}
