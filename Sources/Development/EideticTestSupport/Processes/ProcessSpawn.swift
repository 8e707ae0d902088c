internal import CTestSupport
import EideticCore
import Glibc

/// The pipes to a program's input, and from its output and errors.
struct ProcessPipes: ~Copyable {
    /// One pipe: this process's end, and the program's.
    struct Pipe: ~Copyable {
        let parent: FileDescriptor
        let child: FileDescriptor

        init(childReads: Bool) throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            guard eidetic_test_pipe(&ends) == 0 else { throw SystemError(.open, errorNumber: errno, path: "pipe") }
            parent = FileDescriptor(adopting: ends[childReads ? 1 : 0])
            child = FileDescriptor(adopting: ends[childReads ? 0 : 1])
        }

        /// Closes the program's end, and gives away this process's one.
        consuming func relinquishParent() -> Int32 { parent.relinquish() }
    }

    let input: Pipe
    let output: Pipe
    let errors: Pipe

    init() throws(SystemError) {
        let input = try Pipe(childReads: true)
        let output = try Pipe(childReads: false)
        let errors = try Pipe(childReads: false)
        self.input = input
        self.output = output
        self.errors = errors
    }

    /// Closes the program's ends, and gives away this process's ones.
    consuming func relinquishParents() -> (input: Int32, output: Int32, errors: Int32) {
        (input.relinquishParent(), output.relinquishParent(), errors.relinquishParent())
    }
}

/// What to start.
struct ProcessConfiguration {
    let path: String
    let arguments: [String]
    let environment: [String: String?]
    let directory: String?

    /// Starts the program at the other ends of the pipes.
    func spawn(with pipes: borrowing ProcessPipes) throws(SystemError) -> pid_t {
        let arguments = CStrings(arguments)
        let environment = CStrings(mergedEnvironment())
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

    /// "NAME=value" of this process's environment with the changes made.
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

/// A null-terminated list of C strings.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() { (pointers + index).initialize(to: strdup(string)) }
        (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }
}
