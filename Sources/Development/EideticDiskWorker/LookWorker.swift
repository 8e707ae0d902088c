import EideticCore
import EideticStore
import Glibc

/// Tries to use a directory as whoever runs the process may, and says how each step ended.
struct PermissionWorker {
    let directory: String

    /// Prints `STEP=OUTCOME` for opening, reading and writing, and for opening and reading without a wish to write.
    func run() -> Int32 {
        attempt("open", isReadOnly: false)
        attempt("look", isReadOnly: true)
        return 0
    }

    private func attempt(_ name: String, isReadOnly: Bool) {
        var configuration = DiskCache.Configuration(directory: directory)
        configuration.isReadOnly = isReadOnly
        guard let cache = outcome(of: name, operation: { () throws(EideticError) in try DiskCache(configuration) })
        else { return }
        _ = outcome(of: "\(name)-read") { () throws(EideticError) in try cache.read("a")?.bytes.count ?? -1 }
        _ = outcome(of: "\(name)-write") { () throws(EideticError) in try cache.write([1], for: "b") }
        _ = outcome(of: "\(name)-remove") { () throws(EideticError) in try cache.remove("a") }
    }

    private func outcome<Value>(of name: String, operation body: () throws(EideticError) -> Value) -> Value? {
        do throws(EideticError) {
            let value = try body()
            print("\(name)=\(value is DiskCache || value is Void ? "done" : "\(value)")")
            return value
        } catch {
            print("\(name)=\(error.code)")
            return nil
        }
    }
}
