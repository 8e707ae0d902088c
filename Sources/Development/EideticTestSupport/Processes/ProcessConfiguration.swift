internal import CTestSupport
import EideticCore
import Glibc

/// A program to start, with its arguments, environment and working directory.
struct ProcessConfiguration {
    let path: String
    let arguments: [String]
    let environment: [String: String?]
    let directory: String?

    /// Starts the program with the pipes as its standard streams, and returns its process identifier.
    func spawn(with pipes: borrowing ProcessPipes) throws(SystemError) -> pid_t {
        let arguments = CStringList(arguments)
        let environment = CStringList(mergedEnvironment())
        let streams = [pipes.input.child.rawValue, pipes.output.child.rawValue, pipes.errors.child.rawValue]
        var identifier: pid_t = 0
        let error = eidetic_test_spawn(
            &identifier,
            path,
            arguments.pointers,
            environment.pointers,
            directory,
            streams
        )
        guard error == 0 else { throw SystemError(.open, errorNumber: error, path: path) }
        return identifier
    }

    /// This process's environment with the changes applied, as "NAME=value" strings.
    private func mergedEnvironment() -> [String] {
        var values: [String: String] = [:]
        var entry = eidetic_test_environment()
        while let line = entry?.pointee {
            let parts = String(cString: line).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values[String(parts[0])] = String(parts[1]) }
            entry = entry.map { $0 + 1 }
        }
        for (name, value) in environment { values[name] = value }
        return values.map { "\($0)=\($1)" }.sorted()
    }
}
