import EideticCore
import EideticStore
import Glibc

/// A process that tries each operation on a directory with the rights of its user, and reports the outcomes.
struct PermissionWorker {
    let directory: String

    /// Prints `STEP=OUTCOME` for opening, reading, writing and removing, with a writable and with a read-only cache.
    func run() -> Int32 {
        attempt("open", isReadOnly: false)
        attempt("look", isReadOnly: true)
        return 0
    }

    private func attempt(_ name: String, isReadOnly: Bool) {
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.isReadOnly = isReadOnly
        let cache = outcome(of: name) { () throws(EideticError) in try DiskCache(configuration) }
        guard let cache else { return }
        _ = outcome(of: "\(name)-read") { () throws(EideticError) in try cache.blocking.read("a")?.bytes.count ?? -1 }
        _ = outcome(of: "\(name)-write") { () throws(EideticError) in try cache.blocking.insert([1], for: "b") }
        _ = outcome(of: "\(name)-remove") { () throws(EideticError) in try cache.blocking.remove("a") }
    }

    private func outcome<Value>(of name: String, operation: () throws(EideticError) -> Value) -> Value? {
        do throws(EideticError) {
            let value = try operation()
            print("\(name)=\(value is DiskCache || value is Void ? "done" : "\(value)")")
            return value
        } catch {
            print("\(name)=\(error.code)")
            return nil
        }
    }
}
