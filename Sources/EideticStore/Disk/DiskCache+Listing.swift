public import EideticCore

extension DiskCache {
    /// What the cache holds, over all processes that use the directory; blocks on file work.
    ///
    /// Where the ledger cannot be read, what was known last. Complexity: O(1), and what others wrote since.
    public var usage: Usage {
        if configuration.isReadOnly { return countedUsage() }
        if let usage = try? change({ $0.usage }) { return usage }
        return ledger.withLock { $0.usage }
    }

    /// All entries, in no order; blocks on file work.
    ///
    /// Complexity: O(*n*) file reads.
    public func entries() throws(EideticError) -> [EntryInfo] {
        do throws(SystemError) {
            var entries: [EntryInfo] = []
            for path in try entryFiles() {
                if case .success(let heading)? = try reader.heading(of: path) { entries.append(info(heading, path)) }
            }
            return entries
        } catch {
            throw EideticError(error)
        }
    }

    /// Reads and verifies every entry, and leaves all as it is; blocks on file work.
    ///
    /// Gives how many files were looked at, and which of them are damaged and why.
    public func verify() throws(EideticError) -> (checked: Int, damaged: [Damage]) {
        var result: (checked: Int, damaged: [Damage]) = (0, [])
        do throws(SystemError) {
            for path in try entryFiles() {
                guard let file = try reader.contents(of: path) else { continue }
                result.checked += 1
                if let reason = flaw(in: file, at: path) {
                    result.damaged.append(Damage(file: path, reason: reason))
                }
            }
        } catch {
            throw EideticError(error)
        }
        return result
    }

    private func flaw(in file: consuming EntryReader.LoadedFile, at path: String) -> String? {
        do throws(EntryFile.Flaw) {
            let entry = try file.takeEntry(expecting: nil)
            return self.path(for: entry.key) == path ? nil : "it stands under the name of another key"
        } catch {
            return error.description
        }
    }

    /// The usage of a directory whose ledger may not be touched.
    private func countedUsage() -> Usage {
        var usage = Usage()
        for path in (try? entryFiles()) ?? [] {
            guard let status = try? files.linkStatus(of: path) else { continue }
            usage.entries += 1
            usage.logical = usage.logical + ByteCount(status.size)
            usage.allocated = usage.allocated + ByteCount(status.allocated)
        }
        return usage
    }

    /// The files that have the name of an entry.
    func entryFiles() throws(SystemError) -> [String] {
        var paths: [String] = []
        for number in DiskLayout.shards {
            let shard = layout.shard(number)
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
        usage.entries = index.count
        usage.logical = ByteCount(index.logical)
        usage.allocated = ByteCount(index.allocated)
        return usage
    }
}
