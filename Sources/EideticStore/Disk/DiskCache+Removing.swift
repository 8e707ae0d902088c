public import EideticCore
import Glibc

extension DiskCache {
    /// Removes an entry; blocks on file work.
    ///
    /// Gives whether there was one.
    @discardableResult
    public func remove(_ key: String) throws(EideticError) -> Bool {
        do throws(SystemError) {
            try files.unlink(path(for: key))
            return true
        } catch {
            if error.number == ENOENT { return false }
            throw EideticError(error)
        }
    }

    /// Removes all entries; blocks on file work.
    ///
    /// Files that are not the cache's own stay.
    public func removeAll() throws(EideticError) {
        do throws(SystemError) {
            for path in try entryFiles() { try files.unlink(path) }
        } catch {
            throw EideticError(error)
        }
    }

    /// Removes all entries that are too old to be served; blocks on file work.
    ///
    /// Gives how many went.
    @discardableResult
    public func removeExpired() throws(EideticError) -> Int {
        var count = 0
        for entry in try entries() where entry.isExpired {
            if try remove(entry.key) { count += 1 }
        }
        return count
    }

    /// Takes a damaged file away, unless another has taken its place meanwhile.
    func discard(_ key: CacheKey, inode: UInt64) {
        let path = layout.path(of: key)
        guard !configuration.isReadOnly, (try? files.linkStatus(of: path).inode) == inode else { return }
        try? files.unlink(path)
    }
}
