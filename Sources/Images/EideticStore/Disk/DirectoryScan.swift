package import EideticCore

/// A pass over the files of a cache's directory, which changes none; it blocks.
package struct DirectoryScan: Sendable {
    /// An entry whose file is damaged.
    package struct DamagedEntry: Sendable, Hashable {
        /// The absolute path of the file.
        package let path: String
        package let reason: String
    }

    let directory: SharedDirectory

    /// Returns all entries, in no order.
    func entries() throws(EideticError) -> [DiskCache.EntryInfo] {
        try directory.checkOpened()
        var entries: [DiskCache.EntryInfo] = []
        try forEachPath { path throws(SystemError) in
            if case .success(let summary)? = try directory.reader.summary(of: path) {
                entries.append(DiskCache.EntryInfo(summary, path: path, in: directory))
            }
        }
        return entries
    }

    /// Reads and verifies all entries; returns the number of verified files, and the damaged ones.
    package func verify() throws(EideticError) -> (checked: Int, damaged: [DamagedEntry]) {
        try directory.checkOpened()
        var result: (checked: Int, damaged: [DamagedEntry]) = (0, [])
        try forEachPath { path throws(SystemError) in
            guard let file = try directory.reader.contents(of: path) else { return }
            result.checked += 1
            if let reason = formatError(in: file, at: path) {
                result.damaged.append(DamagedEntry(path: path, reason: reason))
            }
        }
        return result
    }

    /// Returns the number and size of all entries: of the ledger, or of the files if a read-only directory has none.
    func usage() -> DiskCache.Usage {
        if directory.configuration.isReadOnly { return recordedUsage() ?? measuredUsage() }
        if let usage = try? directory.coveredTransaction({ $0.usage }) { return usage }
        return directory.ledger.withLock { $0.usage }
    }

    private func formatError(in file: consuming EntryReader.LoadedFile, at path: String) -> String? {
        do throws(EntryFile.FormatError) {
            let entry = try file.extractEntry(expecting: nil)
            let isOwnPath = directory.layout.path(of: CacheKey(directory.key.keyForReading(entry.key))) == path
            return isOwnPath ? nil : "the file has the name of another key"
        } catch {
            return error.description
        }
    }

    private func recordedUsage() -> DiskCache.Usage? {
        directory.ledger.withLock { (try? $0.readAppendedRecords()) == true ? $0.usage : nil }
    }

    private func measuredUsage() -> DiskCache.Usage {
        var usage = DiskCache.Usage()
        try? forEachPath { path in
            guard let status = try? directory.files.linkStatus(of: path) else { return }
            usage.entryCount += 1
            usage.logicalSize = usage.logicalSize + ByteCount(status.size)
            usage.allocatedSize = usage.allocatedSize + ByteCount(status.allocatedSize)
        }
        return usage
    }

    /// Calls `body` with the path of each file that has the name of an entry.
    private func forEachPath(_ body: (String) throws(SystemError) -> Void) throws(EideticError) {
        do throws(SystemError) {
            let layout = directory.layout
            var keys: [CacheKey] = []
            for shard in DiskLayout.shards { keys += try layout.keys(inShard: shard, files: directory.files) }
            for key in keys { try body(layout.path(of: key)) }
        } catch {
            throw EideticError(error)
        }
    }
}

extension Ledger {
    /// The totals of the index.
    fileprivate var usage: DiskCache.Usage {
        var usage = DiskCache.Usage()
        usage.entryCount = index.count
        usage.logicalSize = ByteCount(index.logicalSize)
        usage.allocatedSize = ByteCount(index.allocatedSize)
        return usage
    }
}
