public import EideticCore
import Glibc

extension DiskCache {
    /// All entries, in no order; blocks on file work.
    ///
    /// Complexity: O(*n*) file reads.
    public func entries() throws(EideticError) -> [EntryInfo] {
        do throws(SystemError) {
            var entries: [EntryInfo] = []
            for path in try entryFiles() {
                if case .success(let info)? = try existing(path) { entries.append(info) }
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
                guard let file = try contents(path) else { continue }
                result.checked += 1
                if let reason = flaw(in: file.bytes, at: path) {
                    result.damaged.append(Damage(file: path, reason: reason))
                }
            }
        } catch {
            throw EideticError(error)
        }
        return result
    }

    private func flaw(in file: [UInt8], at path: String) -> String? {
        do throws(EntryFile.Flaw) {
            let entry = try EntryFile.entry(file, expecting: nil)
            return self.path(for: entry.key) == path ? nil : "it stands under the name of another key"
        } catch {
            return error.description
        }
    }

    /// What the cache holds.
    public var usage: Usage {
        var usage = Usage()
        for path in (try? entryFiles()) ?? [] {
            guard let status = try? files.linkStatus(of: path) else { continue }
            usage.entries += 1
            usage.logical = usage.logical + ByteCount(status.size)
            usage.allocated = usage.allocated + ByteCount(status.allocated)
        }
        return usage
    }

    private func existing(_ path: String) throws(SystemError) -> Result<EntryInfo, EntryFile.Flaw>? {
        do throws(SystemError) {
            return try info(at: path)
        } catch {
            guard [ENOENT, ELOOP].contains(error.number) else { throw error }
            return nil
        }
    }

    /// The files that have the name of an entry.
    func entryFiles() throws(SystemError) -> [String] {
        var paths: [String] = []
        for number in DiskLayout.shards {
            let shard = layout.shard(number)
            for name in try names(in: shard) where DiskLayout.key(named: name)?.shard == number {
                paths.append("\(shard)/\(name)")
            }
        }
        return paths
    }

    private func names(in shard: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try files.names(in: shard)
        } catch {
            guard [ENOENT, ENOTDIR].contains(error.number) else { throw error }
            return []
        }
    }
}
