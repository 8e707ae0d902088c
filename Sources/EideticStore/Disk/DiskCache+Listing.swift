public import EideticCore

extension DiskCache {
    /// What the cache holds, over all processes that use the directory; blocks on file work.
    ///
    /// Where the ledger cannot be read, what was known last. Complexity: O(1), and what others wrote since.
    public var usage: Usage {
        if configuration.isReadOnly { return measuredUsage() }
        if let usage = try? inTransaction({ $0.usage }) { return usage }
        return ledger.withLock { $0.usage }
    }

    /// All entries, in no order; blocks on file work.
    ///
    /// Complexity: O(*n*) file reads.
    public func entries() throws(EideticError) -> [EntryInfo] {
        do throws(SystemError) {
            var entries: [EntryInfo] = []
            for path in try entryPaths() {
                if case .success(let heading)? = try reader.summary(of: path) {
                    entries.append(info(from: heading, path: path))
                }
            }
            return entries
        } catch {
            throw EideticError(error)
        }
    }

    /// Reads and verifies every entry, and leaves all as it is; blocks on file work.
    ///
    /// Gives how many files were looked at, and which of them are damaged and why.
    public func verify() throws(EideticError) -> (checked: Int, damaged: [DamagedEntry]) {
        var result: (checked: Int, damaged: [DamagedEntry]) = (0, [])
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
            return self.path(for: entry.key) == path ? nil : "it stands under the name of another key"
        } catch {
            return error.description
        }
    }

    /// The usage of a directory whose ledger may not be touched.
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

    /// The files that have the name of an entry.
    func entryPaths() throws(SystemError) -> [String] {
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
    /// What the index adds up to.
    fileprivate var usage: DiskCache.Usage {
        var usage = DiskCache.Usage()
        usage.entryCount = index.count
        usage.logicalSize = ByteCount(index.logicalSize)
        usage.allocatedSize = ByteCount(index.allocatedSize)
        return usage
    }
}
