import EideticCore
import EideticTestSupport
import Glibc

/// The built program, in the directory of the test executable.
enum EideticProgram {
    /// The path of the executable file.
    static let path: String = {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let tests = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let directory = tests.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
        return "\(directory)/eidetic"
    }()

    /// Runs the program until it exits.
    static func run(
        _ arguments: String...,
        input: [UInt8] = [],
        environment: [String: String?] = [:]
    ) async throws -> Subprocess.Result {
        try await Subprocess.run(path, arguments: arguments, environment: environment, input: input)
    }
}
