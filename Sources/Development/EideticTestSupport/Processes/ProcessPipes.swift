internal import CTestSupport
import EideticCore
import Glibc

/// The pipes to a program's standard input, and from its standard output and error.
struct ProcessPipes: ~Copyable {
    /// One pipe, with this process's end and the program's end.
    struct Pipe: ~Copyable {
        let parent: FileDescriptor
        let child: FileDescriptor

        init(childReads: Bool) throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            guard eidetic_test_pipe(&ends) == 0 else { throw SystemError(.open, errorNumber: errno, path: "pipe") }
            parent = FileDescriptor(adopting: ends[childReads ? 1 : 0])
            child = FileDescriptor(adopting: ends[childReads ? 0 : 1])
        }

        /// Closes the program's end, and returns the descriptor of this process's end, which the caller closes.
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

    /// Closes the program's ends, and returns the descriptors of this process's ends, which the caller closes.
    consuming func relinquishParents() -> (input: Int32, output: Int32, errors: Int32) {
        (input.relinquishParent(), output.relinquishParent(), errors.relinquishParent())
    }
}
