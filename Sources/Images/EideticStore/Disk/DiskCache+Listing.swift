public import EideticCore

extension DiskCache {
    /// The number and size of all entries, over all processes that use the directory.
    ///
    /// If the ledger cannot be read, or background time has expired, these are the last known values. For a read-only
    /// directory without a ledger the files are counted.
    /// - Complexity: O(1), and O(*n*) in the number of changes by other processes since the last access.
    public var usage: Usage {
        get async throws(EideticError) {
            try await pool.run { _ throws(EideticError) in self.currentUsage() }
        }
    }

    /// Returns all entries, in no order.
    ///
    /// - Complexity: O(*n*) file reads in the number of entries.
    nonisolated(nonsending) public func entries() async throws(EideticError) -> [EntryInfo] {
        try await pool.run { _ throws(EideticError) in try self.listEntries() }
    }

    /// Reads and verifies all entries, and changes none.
    ///
    /// - Returns: The number of verified files, and the damaged ones.
    package func verify() async throws(EideticError) -> (checked: Int, damaged: [DamagedEntry]) {
        try await pool.run { _ throws(EideticError) in try self.verifyEntries() }
    }
}

extension DiskCache {
    func currentUsage() -> Usage {
        if configuration.isReadOnly { return recordedUsage() ?? measuredUsage() }
        if let usage = try? coveredTransaction({ $0.usage }) { return usage }
        return ledger.withLock { $0.usage }
    }

    func listEntries() throws(EideticError) -> [EntryInfo] {
        try checkOpened()
        do throws(SystemError) {
            var entries: [EntryInfo] = []
            for path in try entryPaths() {
                if case .success(let summary)? = try reader.summary(of: path) {
                    entries.append(entryInfo(from: summary, path: path))
                }
            }
            return entries
        } catch {
            throw EideticError(error)
        }
    }

    func verifyEntries() throws(EideticError) -> (checked: Int, damaged: [DamagedEntry]) {
        var result: (checked: Int, damaged: [DamagedEntry]) = (0, [])
        try checkOpened()
        do throws(SystemError) {
            for path in try entryPaths() {
                guard let file = try reader.contents(of: path) else { continue }
                result.checked += 1
                if let reason = formatError(in: file, at: path) {
                    result.damaged.append(DamagedEntry(path: path, reason: reason))
                }
            }
        } catch {
            throw EideticError(error)
        }
        return result
    }

    private func formatError(in file: consuming EntryReader.LoadedFile, at path: String) -> String? {
        do throws(EntryFile.FormatError) {
            let entry = try file.extractEntry(expecting: nil)
            return self.path(for: entry.key) == path ? nil : "the file has the name of another key"
        } catch {
            return error.description
        }
    }

    /// Returns the usage of a read-only directory by its ledger; `nil` if there is none that can be read.
    private func recordedUsage() -> Usage? {
        ledger.withLock { ledger in
            guard (try? ledger.readAppendedRecords()) == true else { return nil }
            return ledger.usage
        }
    }

    /// Returns the usage of a read-only directory, counted from its files.
    private func measuredUsage() -> Usage {
        var usage = Usage()
        for path in (try? entryPaths()) ?? [] {
            guard let status = try? files.linkStatus(of: path) else { continue }
            usage.entryCount += 1
            usage.logicalSize = usage.logicalSize + ByteCount(status.size)
            usage.allocatedSize = usage.allocatedSize + ByteCount(status.allocatedSize)
        }
        return usage
    }

    /// Returns the paths of all files that have the name of an entry.
    private func entryPaths() throws(SystemError) -> [String] {
        var paths: [String] = []
        for number in DiskLayout.shards {
            let shard = layout.shardPath(number)
            for name in try files.existingNames(in: shard) where DiskLayout.key(named: name)?.shard == number {
                paths.append("\(shard)/\(name)")
            }
        }
        return paths
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
